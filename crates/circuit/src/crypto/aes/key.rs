//! Key expansion (FIPS 197, section 5.2).

use crate::arith::{Style, xor};
use crate::{Builder, Wire};

use super::super::bytes;
use super::{Variant, sbox};

/// All round keys, one after another, from the key: 40, 32 or 52 S-boxes.
pub fn key_schedule(b: &mut Builder, style: Style, variant: Variant, key: &[Wire]) -> Vec<Wire> {
    assert_eq!(key.len(), 8 * variant.key_bytes(), "a key has the length that its variant says");
    let key_words = variant.key_bytes() / 4;
    let mut words: Vec<Vec<Wire>> = key.chunks_exact(32).map(<[Wire]>::to_vec).collect();
    let mut round_constant = 1_u8;
    for at in key_words..variant.schedule_bytes() / 4 {
        let mut word = words[at - 1].clone();
        if at % key_words == 0 {
            word.rotate_left(8);
            word = substitute(b, style, &word);
            for (bit, wire) in word.iter_mut().take(8).enumerate() {
                if round_constant >> bit & 1 == 1 {
                    *wire = b.not(*wire);
                }
            }
            round_constant = round_constant << 1 ^ if round_constant >> 7 == 1 { 0x1b } else { 0 };
        } else if key_words > 6 && at % key_words == 4 {
            word = substitute(b, style, &word);
        }
        words.push(xor(b, &words[at - key_words], &word));
    }
    words.concat()
}

fn substitute(b: &mut Builder, style: Style, word: &[Wire]) -> Vec<Wire> {
    bytes(word).flat_map(|byte| sbox::forward(b, style, byte)).collect()
}
