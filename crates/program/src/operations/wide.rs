//! Products of fixed point that take more bits than values have before they are rounded: one operation with its truncation.
//!
//! A value has 64 bits, and a truncation in rings takes numbers below 2^62. A product that is beyond either is no value of its
//! own. It is rounded where there is room for it: in a field, or where numbers are bits.

use super::arithmetic::{exact_product, matmul, mul};
use super::check::ordered;
use super::convert::{guarded, half};
use super::entry::{Entry, Parts};
use super::parameters::Rounding;
use super::tensor::{Tensor, matmul as product_of};
use crate::error::Fault;
use crate::types::{Dtype, Range, Type};

/// Bits of the largest exact product, without its sign: so many that twice as much is less than the order of the larger field,
/// and that no number here leaves 128 bits.
pub(crate) const BITS: u32 = 126;

/// Fraction bits that the exact product may have.
const MAX_FRACTION: u8 = 126;

pub(super) fn product(matrix: bool, by: u8) -> Entry<'static> {
    let (name, code) = if matrix { ("@", 53) } else { ("*", 52) };
    let entry = Entry::new(name, code, Some(2))
        .written(move |out| out.push(by))
        .typed(move |operation, x| {
            let (kind, shape, range) = exact(matrix, x)?;
            let frac = ordered(operation, kind)?.frac();
            let left = frac.checked_sub(by).filter(|_| by > 0 && is_wide(range, by));
            let left = left.ok_or(Fault::Shift { operation, by, kind })?;
            if frac > MAX_FRACTION {
                return Err(Fault::Fraction { frac });
            }
            let raised = range.add(Range::point(half(by)));
            if raised.lo() < -1 << BITS || raised.hi() >= 1 << BITS {
                return Err(Fault::TruncationGuard { operation, range, frac, bits: BITS });
            }
            Ok((Dtype::with_frac(left), shape, raised.shift_right(by)))
        })
        .holds(|_| Dtype::Int.whole())
        .rounds(Rounding::Nearest);
    let rounded = move |product: i128| (product + half(by)) >> by;
    if !matrix {
        return entry.each(move |_, x| rounded(x[0] * x[1]), |x| x[0].mul(&x[1]));
    }
    let raw = move |x: &[Tensor<'_, i128>], _: &Type| {
        let sums = product_of(&x[0], &x[1], &0, |sum, &a, &b| sum + a * b);
        sums.into_iter().map(rounded).collect()
    };
    entry.all(raw, |x, _| exact_product(&x[0], &x[1]))
}

/// Dtype, shape and range of the product before it is rounded.
pub(crate) fn exact(matrix: bool, operands: &[&Type]) -> Result<Parts, Fault> {
    if matrix { matmul() } else { mul() }.infer(operands)
}

/// Bits that a truncation in a ring of 64 takes away at most.
const MOST_IN_RINGS: u8 = 62;

/// Whether an exact product, of which so many bits go, is beyond what values hold, or truncations in rings.
pub(crate) fn is_wide(range: Range, by: u8) -> bool {
    by > MOST_IN_RINGS || !Dtype::Int.whole().covers(range) || guarded(range, by, half(by)).width().is_none()
}
