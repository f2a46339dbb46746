//! Every operation as a whole circuit: its words are the inputs, in order, each `width` bits.

use crate::{Builder, Circuit, Wire};

use super::Style;

/// `x + y`, modulo 2^width.
pub fn add(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![super::add(b, style, x, y)])
}

/// `x + y + carry`: the inputs are two words and a bit; the outputs are a word and a bit.
pub fn add_with_carry(style: Style, width: u32) -> Circuit {
    let mut b = Builder::new();
    let (x, y, carry) = (b.input(width), b.input(width), b.input(1));
    let (sum, carry) = super::add_with_carry(&mut b, style, &x, &y, carry[0]);
    b.finish(vec![sum, vec![carry]])
}

/// `x - y`, modulo 2^width.
pub fn subtract(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![super::subtract(b, style, x, y)])
}

/// `-x`, modulo 2^width.
pub fn negate(style: Style, width: u32) -> Circuit {
    let mut b = Builder::new();
    let x = b.input(width);
    let negated = super::negate(&mut b, style, &x);
    b.finish(vec![negated])
}

/// The sum of `words` words, modulo 2^width.
pub fn sum(style: Style, width: u32, words: usize) -> Circuit {
    let mut b = Builder::new();
    let words: Vec<_> = (0..words).map(|_| b.input(width)).collect();
    let sum = super::sum(&mut b, style, &words);
    b.finish(vec![sum])
}

/// The highest bit of the sum of `words` words, modulo 2^width, exclusive or'd with `masks` bits, each an input of its
/// own after the words: the sign of a number in two's complement that is shared additively, masked. ASTRA, section 5.4.
///
/// As few ANDs as [`super::sum`] has in its small style, for all but the highest column: width - 1 for two words,
/// 2 width - 3 for three of 2 bits or more.
pub fn masked_msb(width: u32, words: usize, masks: usize) -> Circuit {
    let mut b = Builder::new();
    let words: Vec<_> = (0..words).map(|_| b.input(width)).collect();
    let masks: Vec<_> = (0..masks).flat_map(|_| b.input(1)).collect();
    let sum = super::sum(&mut b, Style::Small, &words);
    let sign = sum.last().copied().unwrap_or_else(|| b.constant(false));
    let masked = masks.iter().fold(sign, |sign, &mask| b.xor(sign, mask));
    b.finish(vec![vec![masked]])
}

/// `x * y`, modulo 2^width.
pub fn multiply(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![super::multiply(b, style, x, y)])
}

/// `x * y`, all 2 width bits.
pub fn multiply_wide(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![super::multiply_wide(b, style, x, y)])
}

/// The quotient and the remainder of `x / y`, unsigned; see [`super::divide`] for `y` = 0.
pub fn divide(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| {
        let (quotient, remainder) = super::divide(b, style, x, y);
        vec![quotient, remainder]
    })
}

/// Whether `x < y`, unsigned.
pub fn less(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![vec![super::less(b, style, x, y)]])
}

/// Whether `x < y`, in two's complement.
pub fn less_signed(style: Style, width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![vec![super::less_signed(b, style, x, y)]])
}

/// Whether `x = y`.
pub fn equal(width: u32) -> Circuit {
    two_words(width, |b, x, y| vec![vec![super::equal(b, x, y)]])
}

/// The first word if the third input, a bit, is set, else the second.
pub fn select(width: u32) -> Circuit {
    let mut b = Builder::new();
    let (x, y, condition) = (b.input(width), b.input(width), b.input(1));
    let chosen = super::select(&mut b, condition[0], &x, &y);
    b.finish(vec![chosen])
}

/// How many bits of a word are set.
pub fn popcount(style: Style, width: u32) -> Circuit {
    let mut b = Builder::new();
    let bits = b.input(width);
    let count = super::popcount(&mut b, style, &bits);
    b.finish(vec![count])
}

fn two_words(
    width: u32,
    operation: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Vec<Wire>>,
) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input(width), b.input(width));
    let outputs = operation(&mut b, &x, &y);
    b.finish(outputs)
}
