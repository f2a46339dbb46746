//! Two words added or subtracted.

use crate::{Builder, Wire};

use super::carry::{full_adder, prefix_carries};
use super::word::pairs;
use super::{Style, not};

/// `x + y`, modulo 2^n.
pub fn add(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let carry = b.constant(false);
    add_modulo(b, style, x, y, carry)
}

/// `x - y`, modulo 2^n: `x + !y + 1`.
pub fn subtract(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let y = not(b, y);
    let carry = b.constant(true);
    add_modulo(b, style, x, &y, carry)
}

/// `-x`, modulo 2^n.
pub fn negate(b: &mut Builder, style: Style, x: &[Wire]) -> Vec<Wire> {
    let zero = vec![b.constant(false); x.len()];
    subtract(b, style, &zero, x)
}

/// `x + y + carry` modulo 2^n, and the carry that is left over.
pub fn add_with_carry(
    b: &mut Builder,
    style: Style,
    x: &[Wire],
    y: &[Wire],
    carry: Wire,
) -> (Vec<Wire>, Wire) {
    match style {
        Style::Small => ripple(b, x, y, carry),
        Style::Shallow => prefix(b, x, y, carry),
    }
}

/// `x + y + carry`, modulo 2^n: nothing is carried out of the highest bit.
pub fn add_modulo(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire], carry: Wire) -> Vec<Wire> {
    assert_eq!(x.len(), y.len(), "words that meet have the same width");
    let (Some((&x_high, x)), Some((&y_high, y))) = (x.split_last(), y.split_last()) else {
        return Vec::new();
    };
    let (mut sum, carry) = add_with_carry(b, style, x, y, carry);
    let half = b.xor(x_high, y_high);
    sum.push(b.xor(half, carry));
    sum
}

fn ripple(b: &mut Builder, x: &[Wire], y: &[Wire], mut carry: Wire) -> (Vec<Wire>, Wire) {
    let mut sums = Vec::with_capacity(x.len());
    for (x, y) in pairs(x, y) {
        let (sum, next) = full_adder(b, x, y, carry);
        sums.push(sum);
        carry = next;
    }
    (sums, carry)
}

fn prefix(b: &mut Builder, x: &[Wire], y: &[Wire], carry: Wire) -> (Vec<Wire>, Wire) {
    let mut carries = vec![carry];
    carries.extend(prefix_carries(b, x, y, carry));
    let sums = pairs(x, y)
        .zip(&carries)
        .map(|((x, y), &carry)| {
            let half = b.xor(x, y);
            b.xor(half, carry)
        })
        .collect();
    (sums, carries[x.len()])
}
