//! Quotients, square roots and other functions of secret numbers: on raw values, which are integers, with a circuit for each.

use std::sync::Arc;

use num_bigint::BigInt;

use super::check::{integer, ordered, pair};
use super::entry::Entry;
use crate::codec::put_u64;
use crate::error::Fault;
use crate::piecewise::{Pieces, Piecewise};
use crate::ratio::saturated;
use crate::rational::Rational;
use crate::types::{Dtype, Range};

/// Bits of a quotient, at most: it is at least `-2^47` and less than `2^47`. So sums of many have room.
pub const RATIO_BITS: u8 = 47;

/// Bits by which a dividend or what a root is taken of can be raised.
const MAX_RAISED: u8 = 60;

pub(super) fn raw(by: i8) -> Entry<'static> {
    Entry::new("raw", 54, Some(1))
        .written(move |out| out.extend(by.to_le_bytes()))
        .typed(move |operation, x| {
            let kind = ordered(operation, x[0].kind)?;
            let frac = kind.frac().checked_add_signed(by).filter(|&frac| by != 0 && frac <= 64);
            let frac = frac.ok_or(Fault::Shift { operation, by: by.unsigned_abs(), kind })?;
            Ok((Dtype::with_frac(frac), x[0].shape.clone(), x[0].range))
        })
        .each(|_, x| x[0], move |x| x[0].mul(&Rational::binary(1.into(), -i32::from(by))))
}

pub(super) fn ratio(by: u8, bits: u8) -> Entry<'static> {
    Entry::new("/", 55, Some(2))
        .written(move |out| out.extend([by, bits]))
        .typed(move |operation, x| {
            let (kind, shape) = pair(operation, x, integer)?;
            if by > MAX_RAISED || !(1..=RATIO_BITS).contains(&bits) {
                return Err(Fault::Shift { operation, by, kind });
            }
            let (a, b) = (x[0].range, x[1].range);
            let inner = [-1, 1].into_iter().filter(|&one| b.holds(one) || one == 1 && b.holds(0));
            let divisors = [b.lo(), b.hi()].into_iter().filter(|&end| end != 0).chain(inner);
            let quotients =
                divisors.flat_map(|b| [a.lo(), a.hi()].map(|a| Range::point(nearest(a, b, by, bits))));
            Ok((kind, shape, quotients.reduce(Range::hull).unwrap_or(Range::point(0))))
        })
        .apart()
        .each(
            move |_, x| nearest(x[0], x[1], by, bits),
            move |x| {
                let divisor = if x[1].is_zero() { Rational::bit(true) } else { x[1].clone() };
                let quotient = x[0].mul(&Rational::binary(1.into(), by.into())).div(&divisor);
                let end = 1_i128 << bits;
                let near = saturated(&quotient.add(&Rational::binary(1.into(), -1)).floor());
                Rational::whole(near.clamp(-end, end - 1).into())
            },
        )
}

pub(super) fn root(by: u8) -> Entry<'static> {
    Entry::new("sqrt", 56, Some(1))
        .written(move |out| out.push(by))
        .typed(move |operation, x| {
            let kind = integer(operation, x[0].kind)?;
            if by > MAX_RAISED {
                return Err(Fault::Shift { operation, by, kind });
            }
            let ends = [x[0].range.lo(), x[0].range.hi()].map(|end| Range::point(nearest_root(end, by)));
            Ok((kind, x[0].shape.clone(), ends[0].hull(ends[1])))
        })
        .apart()
        .each(
            move |_, x| nearest_root(x[0], by),
            move |x| {
                let square = x[0].floor().max(BigInt::ZERO) << (by + 2);
                Rational::whole((square.sqrt() + 1) >> 1)
            },
        )
}

pub(super) fn piecewise(function: &Arc<Piecewise>) -> Entry<'_> {
    Entry::new("function", 57, Some(1))
        .written(move |out| write(function, out))
        .typed(move |operation, x| {
            Ok((integer(operation, x[0].kind)?, x[0].shape.clone(), function.range(x[0].range)))
        })
        .apart()
        .each(
            move |_, x| function.at(x[0]),
            move |x| Rational::whole(function.at(saturated(&x[0].floor())).into()),
        )
}

/// `a 2^by / b`, to the nearest, ties up, in so many bits; a `b` of 0 counts as 1.
fn nearest(a: i128, b: i128, by: u8, bits: u8) -> i128 {
    let (a, b) = if b < 0 { (-a, -b) } else { (a, b.max(1)) };
    let end = 1 << bits;
    ((a << (by + 1)) + b).div_euclid(2 * b).clamp(-end, end - 1)
}

/// The root of `x 2^by`, to the nearest; of what is below 0, 0.
fn nearest_root(x: i128, by: u8) -> i128 {
    let square = x.max(0).cast_unsigned() << (by + 2);
    (square.isqrt() as i128 + 1) >> 1
}

fn write(function: &Piecewise, out: &mut Vec<u8>) {
    match function.pieces() {
        Pieces::Even { low, high, bits } => {
            out.extend([0, bits, 0]);
            put_u64(out, low.cast_unsigned());
            put_u64(out, high.cast_unsigned());
        }
        Pieces::Octaves { bits, parts } => {
            out.extend([1, bits, parts]);
            put_u64(out, 0);
            put_u64(out, 0);
        }
    }
    out.extend([function.places(), function.guard(), function.terms() as u8]);
    put_u64(out, function.coefficients().len() as u64);
    for &coefficient in function.coefficients() {
        put_u64(out, coefficient.cast_unsigned());
    }
}
