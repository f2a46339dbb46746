//! Words bit by bit: constants, selection, shifts.

use crate::{Builder, Wire};

/// The lowest `width` bits of a constant; zeros above bit 127.
pub fn constant(b: &mut Builder, value: u128, width: usize) -> Vec<Wire> {
    (0..width).map(|bit| b.constant(bit < 128 && value >> bit & 1 == 1)).collect()
}

/// The complement of every bit.
pub fn not(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    x.iter().map(|&x| b.not(x)).collect()
}

/// The exclusive or, bit by bit.
pub fn xor(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    pairs(x, y).map(|(x, y)| b.xor(x, y)).collect()
}

/// The conjunction, bit by bit: n ANDs, depth 1.
pub fn and(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    pairs(x, y).map(|(x, y)| b.and(x, y)).collect()
}

/// `x` where the condition holds, else `y`: n ANDs, depth 1.
pub fn select(b: &mut Builder, condition: Wire, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    pairs(x, y)
        .map(|(x, y)| {
            let difference = b.xor(x, y);
            let chosen = b.and(condition, difference);
            b.xor(y, chosen)
        })
        .collect()
}

/// `x * 2^by`, modulo 2^n.
pub fn shift_left(b: &mut Builder, x: &[Wire], by: usize) -> Vec<Wire> {
    let by = by.min(x.len());
    let mut word = vec![b.constant(false); by];
    word.extend(&x[..x.len() - by]);
    word
}

/// `x / 2^by`, rounded down.
pub fn shift_right(b: &mut Builder, x: &[Wire], by: usize) -> Vec<Wire> {
    let mut word = x[by.min(x.len())..].to_vec();
    word.resize(x.len(), b.constant(false));
    word
}

/// `x / 2^by`, rounded down, of a number in two's complement.
///
/// # Panics
/// If the word has no bits.
pub fn shift_right_signed(x: &[Wire], by: usize) -> Vec<Wire> {
    let sign = *x.last().expect("a signed word has a sign");
    let mut word = x[by.min(x.len())..].to_vec();
    word.resize(x.len(), sign);
    word
}

/// The word turned towards its most significant bit, by any number of places.
pub fn rotate_left(x: &[Wire], by: usize) -> Vec<Wire> {
    let mut word = x.to_vec();
    if !x.is_empty() {
        word.rotate_right(by % x.len());
    }
    word
}

/// The word turned towards its least significant bit, by any number of places.
pub fn rotate_right(x: &[Wire], by: usize) -> Vec<Wire> {
    let mut word = x.to_vec();
    if !x.is_empty() {
        word.rotate_left(by % x.len());
    }
    word
}

/// The bits of two words, side by side.
///
/// # Panics
/// If one is wider than the other.
pub(super) fn pairs(x: &[Wire], y: &[Wire]) -> impl Iterator<Item = (Wire, Wire)> {
    assert_eq!(x.len(), y.len(), "words that meet have the same width");
    x.iter().copied().zip(y.iter().copied())
}
