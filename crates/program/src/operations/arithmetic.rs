//! Sums and products.

use super::check::{common, integer, number, pair, reduced};
use super::entry::{Entry, Parts};
use super::parameters::Rounding;
use super::tensor::{Tensor, matmul as product_of};
use crate::codec::{put_dims, put_flag};
use crate::error::Fault;
use crate::modulus::Modulus;
use crate::plan::MatrixShape;
use crate::rational::Rational;
use crate::shape::{self, MatMulShape};
use crate::types::{Dtype, Range, Type};
use num_integer::Integer;

pub(super) fn add() -> Entry<'static> {
    Entry::new("+", 2, Some(2))
        .typed(|name, x| sums(name, x, Range::add))
        .each(|kind, x| plus(kind, x[0], x[1]), |x| x[0].add(&x[1]))
}

pub(super) fn sub() -> Entry<'static> {
    Entry::new("-", 3, Some(2))
        .typed(|name, x| sums(name, x, Range::sub))
        .each(|kind, x| minus(kind, x[0], x[1]), |x| x[0].sub(&x[1]))
}

pub(super) fn neg() -> Entry<'static> {
    Entry::new("-", 4, Some(1))
        .typed(|name, x| Ok((number(name, x[0].kind)?, x[0].shape.clone(), x[0].range.neg())))
        .each(|kind, x| minus(kind, 0, x[0]), |x| x[0].neg())
}

pub(super) fn mul() -> Entry<'static> {
    Entry::new("*", 5, Some(2))
        .typed(|name, x| {
            let (a, b) = (x[0], x[1]);
            let same = std::ptr::eq(a, b);
            let range = if same { a.range.square() } else { a.range.mul(b.range) };
            Ok((product(name, a, b)?, shape::broadcast(name, &a.shape, &b.shape)?, range))
        })
        .each(|kind, x| times(kind, x[0], x[1]), |x| x[0].mul(&x[1]))
}

pub(super) fn matmul() -> Entry<'static> {
    Entry::new("@", 6, Some(2))
        .typed(|name, x| {
            let (a, b) = (x[0], x[1]);
            let shapes = shape::matmul(&a.shape, &b.shape)?;
            repeated(&shapes, b.rank())?;
            Ok((product(name, a, b)?, shapes.result, a.range.mul(b.range).times(shapes.matrix.k)))
        })
        .all(|x, ty| raw_product(&x[0], &x[1], ty.kind), |x, _| exact_product(&x[0], &x[1]))
}

pub(super) fn sum(axes: &[usize], keepdims: bool) -> Entry<'_> {
    Entry::new("sum", 7, Some(1))
        .written(move |out| {
            put_dims(out, axes);
            put_flag(out, keepdims);
        })
        .typed(move |name, x| {
            let shape = reduced(x[0], axes, keepdims)?;
            let terms = x[0].len() / shape.iter().product::<usize>();
            Ok((number(name, x[0].kind)?, shape, x[0].range.times(terms)))
        })
        .rows(
            axes,
            |kind, row| row.iter().fold(0, |sum, &term| plus(kind, sum, term)),
            |row| row.iter().fold(Rational::default(), |sum, term| sum.add(term)),
        )
}

pub(super) fn divide() -> Entry<'static> {
    Entry::new("//", 40, Some(2))
        .typed(|name, x| {
            let (kind, shape) = divisible(name, x)?;
            let ends = |x: Range| [x.lo(), x.hi()];
            let quotients =
                ends(x[0].range).map(|a| ends(x[1].range).map(|b| Range::point(Integer::div_floor(&a, &b))));
            let range = quotients.into_iter().flatten().reduce(Range::hull).unwrap_or(x[0].range);
            Ok((kind, shape, range))
        })
        .apart()
        .rounds(Rounding::Floor)
        .each(|_, x| Integer::div_floor(&x[0], &x[1]), |x| x[0].div(&x[1]))
}

pub(super) fn remainder() -> Entry<'static> {
    Entry::new("%", 41, Some(2))
        .typed(|name, x| {
            let (kind, shape) = divisible(name, x)?;
            let (a, b) = (x[0].range, x[1].range);
            // Between 0 and the divisor, and no further from 0 than a dividend on the divisor's side of it.
            let rest = if b.lo() > 0 {
                let last = if a.lo() < 0 { b.hi() - 1 } else { a.hi().min(b.hi() - 1) };
                Range::point(0).hull(Range::point(last))
            } else {
                let last = if a.hi() > 0 { b.lo() + 1 } else { a.lo().max(b.lo() + 1) };
                Range::point(0).hull(Range::point(last))
            };
            Ok((kind, shape, rest))
        })
        .apart()
        .each(
            |_, x| Integer::mod_floor(&x[0], &x[1]),
            |x| x[0].sub(&x[1].mul(&Rational::whole(x[0].div(&x[1]).floor()))),
        )
}

/// A product of matrices of raw values.
pub(super) fn raw_product(a: &Tensor<'_, i128>, b: &Tensor<'_, i128>, kind: Dtype) -> Vec<i128> {
    product_of(a, b, &0, |sum, &x, &y| plus(kind, sum, times(kind, x, y)))
}

/// A product of matrices of exact numbers.
pub(super) fn exact_product(a: &Tensor<'_, Rational>, b: &Tensor<'_, Rational>) -> Vec<Rational> {
    product_of(a, b, &Rational::default(), |sum, x, y| sum.add(&x.mul(y)))
}

/// Refuses a matrix product whose operands are repeated too often along the other's batch axes; a matrix on the right
/// stays one.
pub(super) fn repeated(shapes: &MatMulShape, right_rank: usize) -> Result<(), Fault> {
    let MatrixShape { batch, m, k, n } = shapes.matrix;
    shape::check(&[batch, m, k])?;
    if right_rank > 2 { shape::check(&[batch, k, n]) } else { Ok(()) }
}

fn sums(name: &'static str, x: &[&Type], range: fn(Range, Range) -> Range) -> Result<Parts, Fault> {
    let (kind, shape) = pair(name, x, number)?;
    Ok((kind, shape, range(x[0].range, x[1].range)))
}

/// The dtype and the shape of a quotient of integers, whose divisors are all above or all below 0.
fn divisible(name: &'static str, x: &[&Type]) -> Result<(Dtype, Vec<usize>), Fault> {
    let parts = pair(name, x, integer)?;
    if x[1].range.holds(0) { Err(Fault::DivisionByZero) } else { Ok(parts) }
}

/// The dtype of a raw product.
fn product(operation: &'static str, a: &Type, b: &Type) -> Result<Dtype, Fault> {
    number(operation, a.kind)?;
    number(operation, b.kind)?;
    match (a.kind.is_ranged(), b.kind.is_ranged()) {
        (true, true) => Ok(Dtype::with_frac(a.kind.frac().saturating_add(b.kind.frac()))),
        _ => common(operation, a, b, number),
    }
}

fn plus(kind: Dtype, a: i128, b: i128) -> i128 {
    reckoned(kind, a, b, Modulus::add, |a, b| a + b)
}

fn minus(kind: Dtype, a: i128, b: i128) -> i128 {
    reckoned(kind, a, b, Modulus::sub, |a, b| a - b)
}

fn times(kind: Dtype, a: i128, b: i128) -> i128 {
    reckoned(kind, a, b, Modulus::mul, |a, b| a * b)
}

fn reckoned(
    kind: Dtype,
    a: i128,
    b: i128,
    modular: fn(Modulus, u128, u128) -> u128,
    exact: fn(i128, i128) -> i128,
) -> i128 {
    if let Dtype::Modular(modulus) = kind {
        modular(modulus, a as u128, b as u128) as i128
    } else {
        exact(a, b)
    }
}
