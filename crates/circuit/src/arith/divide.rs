//! Division with remainder.

use crate::{Builder, Wire};

use super::compare::all;
use super::{Style, add_with_carry, not, select};

/// The quotient and the remainder of `x / y`, unsigned. Division by zero has the quotient 2^n - 1 and the
/// remainder `x`.
///
/// Restoring division: the remainder takes in the bits of `x` from the highest down, and what is at least `y` loses
/// `y`. After i bits it is smaller than 2^i, and so step i works on i bits and asks apart whether `y` has others:
/// half of the ANDs that n steps on n bits take. For n > 1, `Small` has n^2 + 3 n - 3 ANDs and depth n (n + 1) / 2 + 2 n - 3;
/// `Shallow` has 152, 3,006, 13,062 ANDs and depth 35, 197, 454 at n = 8, 32, 64.
pub fn divide(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
    assert_eq!(x.len(), y.len(), "words that meet have the same width");
    let not_y = not(b, y);
    let fits = fits(b, style, &not_y);
    let one = b.constant(true);
    let mut quotient = vec![one; x.len()];
    let mut remainder: Vec<Wire> = Vec::new();
    for bits in 1..=x.len() {
        let at = x.len() - bits;
        remainder.insert(0, x[at]);
        let (difference, not_less) = add_with_carry(b, style, &remainder, &not_y[..bits], one);
        quotient[at] = b.and(not_less, fits[bits]);
        remainder = select(b, quotient[at], &difference, &remainder);
    }
    (quotient, remainder)
}

/// For each `i` whether `y` fits in its lowest i bits.
fn fits(b: &mut Builder, style: Style, not_y: &[Wire]) -> Vec<Wire> {
    let mut fits = vec![b.constant(true); not_y.len() + 1];
    for i in (0..not_y.len()).rev() {
        fits[i] = match style {
            Style::Small => b.and(fits[i + 1], not_y[i]),
            Style::Shallow => all(b, &not_y[i..]),
        };
    }
    fits
}
