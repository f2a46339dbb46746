//! SHA-1's compression function (FIPS 180-4, section 6.1.2).

use crate::arith::{Style, add, constant, rotate_left, sum, xor};
use crate::{Builder, Wire};

use super::sha2::{choice, majority};

/// The chaining value before the first block (section 5.3.1).
pub(super) const INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

pub(super) fn compress(
    b: &mut Builder,
    style: Style,
    chaining: &[Vec<Wire>],
    block: Vec<Vec<Wire>>,
) -> Vec<Vec<Wire>> {
    let schedule = schedule(b, block);
    let mut state = chaining.to_vec();
    for (round, word) in schedule.into_iter().enumerate() {
        let [x, y, z] = [1, 2, 3].map(|at| &state[at]);
        let (mixed, k) = match round / 20 {
            0 => (choice(b, x, y, z), 0x5a82_7999),
            1 => (parity(b, x, y, z), 0x6ed9_eba1),
            2 => (majority(b, x, y, z), 0x8f1b_bcdc),
            _ => (parity(b, x, y, z), 0xca62_c1d6),
        };
        let k = constant(b, k, 32);
        let next = sum(b, style, &[rotate_left(&state[0], 5), mixed, state[4].clone(), k, word]);
        state[1] = rotate_left(&state[1], 30);
        state.pop();
        state.insert(0, next);
    }
    chaining.iter().zip(state).map(|(before, after)| add(b, style, before, &after)).collect()
}

fn schedule(b: &mut Builder, mut words: Vec<Vec<Wire>>) -> Vec<Vec<Wire>> {
    for at in words.len()..80 {
        let [w, x, y, z] = [3, 8, 14, 16].map(|back| &words[at - back]);
        let (left, right) = (xor(b, w, x), xor(b, y, z));
        let word = xor(b, &left, &right);
        words.push(rotate_left(&word, 1));
    }
    words
}

fn parity(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let sum = xor(b, x, y);
    xor(b, &sum, z)
}
