//! From one dtype to another.

use super::check::{bool, integer, ordered};
use super::entry::Entry;
use super::parameters::Rounding;
use crate::domain::Width;
use crate::error::Fault;
use crate::modulus::Modulus;
use crate::rational::Rational;
use crate::types::{Dtype, Range, Type};

pub(super) fn from_bool(wrapping: Option<Width>) -> Entry<'static> {
    Entry::new("astype", 23, Some(1))
        .written(move |out| out.push(wrapping.map_or(0, Width::bits)))
        .typed(move |name, x| {
            bool(name, x[0].kind)?;
            let kind = wrapping.map_or(Dtype::Int, |width| Dtype::Modular(Modulus::PowerOfTwo(width.bits())));
            let range = if kind.is_ranged() { x[0].range } else { kind.whole() };
            Ok((kind, x[0].shape.clone(), range))
        })
        .apart()
        .each(|_, x| x[0], same)
}

pub(super) fn scale(by: u8) -> Entry<'static> {
    Entry::new("astype", 24, Some(1))
        .written(move |out| out.push(by))
        .typed(move |operation, x| {
            let kind = ordered(operation, x[0].kind)?;
            let frac = kind.frac().checked_add(by).filter(|frac| (1..=62).contains(&by) && *frac <= 64);
            let frac = frac.ok_or(Fault::Shift { operation, by, kind })?;
            Ok((Dtype::with_frac(frac), x[0].shape.clone(), x[0].range.mul(Range::point(1 << by))))
        })
        .each(move |_, x| x[0] << by, same)
}

pub(super) fn truncate(by: u8, rounding: Rounding) -> Entry<'static> {
    let (code, half) = match rounding {
        Rounding::Floor => (25, 0),
        Rounding::Nearest => (26, half(by)),
    };
    Entry::new("rescale", code, Some(1))
        .written(move |out| out.push(by))
        .typed(move |operation, x| {
            let kind = ordered(operation, x[0].kind)?;
            let frac = kind.frac().checked_sub(by).filter(|_| by > 0);
            let frac = frac.ok_or(Fault::Shift { operation, by, kind })?;
            Ok((Dtype::with_frac(frac), x[0].shape.clone(), shifted(operation, x[0], by, half)?))
        })
        .holds(move |x| guarded(x[0].range, by, half))
        .rounds(rounding)
        .each(move |_, x| (x[0] + half) >> by, same)
}

pub(super) fn shift_right(by: u8) -> Entry<'static> {
    Entry::new(">>", 27, Some(1))
        .written(move |out| out.push(by))
        .typed(move |operation, x| {
            let kind = integer(operation, x[0].kind)?;
            if by == 0 {
                return Err(Fault::Shift { operation, by, kind });
            }
            Ok((kind, x[0].shape.clone(), shifted(operation, x[0], by, 0)?))
        })
        .holds(move |x| guarded(x[0].range, by, 0))
        .rounds(Rounding::Floor)
        .each(move |_, x| x[0] >> by, move |x| x[0].mul(&Rational::binary(1.into(), -i32::from(by))))
}

/// The same number: finer, coarser, of another dtype.
fn same(x: &[Rational]) -> Rational {
    x[0].clone()
}

/// What is added before 2^by divides and rounds down, for the nearest.
pub(super) fn half(by: u8) -> i128 {
    by.checked_sub(1).and_then(|by| 1_i128.checked_shl(by.into())).unwrap_or(0)
}

/// The range after a division by 2^by, if the operand leaves the guard bit free: |x| < 2^62, the rounding's
/// half included.
fn shifted(operation: &'static str, a: &Type, by: u8, half: i128) -> Result<Range, Fault> {
    if by > 62 {
        return Err(Fault::Shift { operation, by, kind: a.kind });
    }
    if guarded(a.range, by, half).width().is_some() {
        Ok(a.range.add(Range::point(half)).shift_right(by))
    } else {
        Err(Fault::TruncationGuard { operation, range: a.range, frac: a.kind.frac(), bits: 62 })
    }
}

/// What a ring of k bits holds if a truncation is exact there: `-2^(k-2) <= x + half < 2^(k-2)` and `by <= k - 2`, so
/// that adding 2^(k-2) makes `x + half` a number that `Shift` takes.
pub(super) fn guarded(range: Range, by: u8, half: i128) -> Range {
    let raised = range.add(Range::point(half));
    let twice = raised.add(raised);
    twice.hull(twice.add(Range::point(1))).hull(Range::point((1 << (by + 1)) - 1))
}
