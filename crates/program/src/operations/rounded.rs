//! Products with public numbers and quotients by them, rounded once.

use num_bigint::BigInt;

use super::arithmetic::{exact_product, repeated};
use super::entry::Entry;
use super::parameters::Rounding;
use super::tensor::{Tensor, matmul};
use crate::codec::put_reals;
use crate::error::Fault;
use crate::plan::Layout;
use crate::ratio::{Elementwise, Ratio, nearest, saturated, weighed};
use crate::rational::Rational;
use crate::real::Reals;
use crate::shape;
use crate::types::{Dtype, Range, Type};

pub(super) fn times(numbers: &Reals) -> Entry<'_> {
    elementwise("*", 35, Elementwise::times(numbers), Rational::mul)
}

pub(super) fn over(divisors: &Reals, rounding: Rounding) -> Entry<'_> {
    let (name, code) = if rounding == Rounding::Nearest { ("/", 37) } else { ("//", 36) };
    elementwise(name, code, Elementwise::over(divisors, rounding), Rational::div)
}

pub(super) fn weigh(matrix: &Reals, left: bool) -> Entry<'_> {
    Entry::new("@", if left { 39 } else { 38 }, Some(1))
        .written(move |out| put_reals(out, matrix))
        .typed(move |name, x| {
            suits(name, x[0], Rounding::Nearest)?;
            let too_large = |number: f64| number.abs() >= 2_f64.powi(64);
            if let Some(number) = matrix.numbers().iter().find(|number| too_large(number.to_float())) {
                let number = Range::point(saturated(&number.scaled(0)));
                return Err(Fault::Overflow { operation: name, range: number, frac: 0 });
            }
            let own = matrix.shape();
            shape::check(own)?;
            let (a, b) = if left { (own, &x[0].shape[..]) } else { (&x[0].shape[..], own) };
            let shapes = shape::matmul(a, b)?;
            repeated(&shapes, b.len())?;
            Ok((x[0].kind, shapes.result, weighed(matrix, left, x[0].range)))
        })
        .rounds(Rounding::Nearest)
        .all(
            move |x, _| {
                let fraction = matrix.fraction();
                let weights: Vec<BigInt> =
                    matrix.numbers().iter().map(|number| number.scaled(fraction)).collect();
                let weights = Tensor { shape: matrix.shape(), data: &weights };
                let sums = if left {
                    matmul(&weights, &x[0], &BigInt::ZERO, |sum, weight, x| sum + weight * x)
                } else {
                    matmul(&x[0], &weights, &BigInt::ZERO, |sum, x, weight| sum + weight * x)
                };
                sums.into_iter().map(|sum| saturated(&nearest(sum, fraction))).collect()
            },
            move |x, _| {
                let weights = exact(matrix);
                let weights = Tensor { shape: matrix.shape(), data: &weights };
                if left { exact_product(&weights, &x[0]) } else { exact_product(&x[0], &weights) }
            },
        )
}

/// Element by element, each with its own number.
fn elementwise<'a>(
    name: &'static str,
    code: u8,
    of: Elementwise<'a>,
    exactly: fn(&Rational, &Rational) -> Rational,
) -> Entry<'a> {
    let Elementwise { numbers, rounding, .. } = of;
    let places = move |ty: &Type| -> Vec<usize> {
        Layout::whole(numbers.shape()).broadcast(&ty.shape).places().collect()
    };
    Entry::new(name, code, Some(1))
        .written(move |out| put_reals(out, numbers))
        .typed(move |name, x| {
            suits(name, x[0], rounding)?;
            shape::check(numbers.shape())?;
            if of.divides && numbers.numbers().iter().any(|number| number.is_zero()) {
                return Err(Fault::DivisionByZero);
            }
            let ends = numbers.numbers().iter().flat_map(|&number| {
                let ratio = of.ratio(number);
                [x[0].range.lo(), x[0].range.hi()]
                    .map(|end| Range::point(saturated(&ratio.of(end, rounding))))
            });
            let range = ends.reduce(Range::hull).unwrap_or(x[0].range);
            Ok((x[0].kind, shape::broadcast(name, &x[0].shape, numbers.shape())?, range))
        })
        .rounds(rounding)
        .all(
            move |x, ty| {
                let ratios: Vec<Ratio> = numbers.numbers().iter().map(|&number| of.ratio(number)).collect();
                let each = x[0].spread(&ty.shape).into_iter().zip(places(ty));
                each.map(|(x, place)| saturated(&ratios[place].of(x, rounding))).collect()
            },
            move |x, ty| {
                let numbers = exact(numbers);
                let each = x[0].spread(&ty.shape).into_iter().zip(places(ty));
                each.map(|(x, place)| exactly(&x, &numbers[place])).collect()
            },
        )
}

/// Integers are rounded down, and fixed point to the nearest.
fn suits(operation: &'static str, x: &Type, rounding: Rounding) -> Result<(), Fault> {
    match (x.kind, rounding) {
        (Dtype::Int, Rounding::Floor) | (Dtype::Fixed { .. }, Rounding::Nearest) => Ok(()),
        (kind, _) => Err(Fault::NotDefined { operation, kind }),
    }
}

fn exact(numbers: &Reals) -> Vec<Rational> {
    let real =
        |number: &crate::real::Real| Rational::binary(number.mantissa().into(), number.exponent().into());
    numbers.numbers().iter().map(real).collect()
}
