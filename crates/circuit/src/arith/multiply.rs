//! Products, as in school: every bit times every bit, and the columns summed.

use crate::{Builder, Wire};

use super::Style;
use super::sum::total;

/// `x * y`, modulo 2^n. `Small` has n^2 - n + 1 ANDs and depth n - 1; `Shallow` has 66, 1,098, 4,292 ANDs and depth
/// 6, 11, 13 at n = 8, 32, 64.
pub fn multiply(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    assert_eq!(x.len(), y.len(), "words that meet have the same width");
    let columns = products(b, x, y, x.len());
    total(b, style, columns)
}

/// `x * y`, in as many bits as both have together; they may differ in width. For two words of n bits `Small` has
/// 2 n^2 - n ANDs and depth 2 n - 1; `Shallow` has 157, 2,275, 8,723 ANDs and depth 8, 12, 14 at n = 8, 32, 64.
pub fn multiply_wide(b: &mut Builder, style: Style, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let columns = products(b, x, y, x.len() + y.len());
    total(b, style, columns)
}

/// The products of bits, by weight.
fn products(b: &mut Builder, x: &[Wire], y: &[Wire], width: usize) -> Vec<Vec<Wire>> {
    let mut columns = vec![Vec::new(); width];
    for (i, &x) in x.iter().enumerate() {
        for (&y, column) in y.iter().zip(columns.iter_mut().skip(i)) {
            column.push(b.and(x, y));
        }
    }
    columns
}
