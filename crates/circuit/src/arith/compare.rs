//! Words compared.

use crate::{Builder, Wire};

use super::carry::{majority, prefix_carries};
use super::word::pairs;
use super::{Style, not, xor};

/// Whether all bits are set, 1 for none at all: n - 1 ANDs, depth ceil(log2 n).
pub fn all(b: &mut Builder, bits: &[Wire]) -> Wire {
    let mut bits = bits.to_vec();
    while bits.len() > 1 {
        bits =
            bits.chunks(2).map(|couple| if let [x, y] = *couple { b.and(x, y) } else { couple[0] }).collect();
    }
    bits.first().copied().unwrap_or_else(|| b.constant(true))
}

/// Whether `x = y`: n - 1 ANDs, depth ceil(log2 n).
pub fn equal(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let differ = xor(b, x, y);
    let same = not(b, &differ);
    all(b, &same)
}

/// Whether `x < y`, both unsigned: the carry that `!x + y` leaves over.
pub fn less(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> Wire {
    let not_x = not(b, x);
    let zero = b.constant(false);
    match style {
        Style::Small => pairs(&not_x, y).fold(zero, |carry, (x, y)| majority(b, x, y, carry)),
        Style::Shallow => prefix_carries(b, &not_x, y, zero).last().copied().unwrap_or(zero),
    }
}

/// Whether `x < y`, both in two's complement: as unsigned, with the signs exchanged.
pub fn less_signed(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> Wire {
    let (mut x, mut y) = (x.to_vec(), y.to_vec());
    if let (Some(x), Some(y)) = (x.last_mut(), y.last_mut()) {
        std::mem::swap(x, y);
    }
    less(b, style, &x, &y)
}
