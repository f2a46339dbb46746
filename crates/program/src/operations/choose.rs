//! Comparisons, logic, and what chooses by them.

use super::check::{bool, common, difference, number, ordered, pair, reduced, with_bits};
use super::entry::{Entry, Parts};
use super::parameters::Extreme;
use crate::codec::{put_flag, put_u32};
use crate::error::Fault;
use crate::rational::Rational;
use crate::shape;
use crate::types::{Dtype, Range, Type};

pub(super) fn less() -> Entry<'static> {
    Entry::new("<", 8, Some(2))
        .typed(|name, x| Ok((Dtype::Bool, pair(name, x, ordered)?.1, Dtype::Bool.whole())))
        .holds(difference)
        .each(|_, x| i128::from(x[0] < x[1]), |x| Rational::bit(x[0].less(&x[1])))
}

pub(super) fn equal() -> Entry<'static> {
    Entry::new("==", 9, Some(2))
        .typed(|name, x| {
            let (_, shape) = pair(name, x, |name, kind| number(name, with_bits(name, kind)?))?;
            Ok((Dtype::Bool, shape, Dtype::Bool.whole()))
        })
        .holds(|x| x[0].range.hull(x[1].range))
        .each(|_, x| i128::from(x[0] == x[1]), |x| Rational::bit(x[0].sub(&x[1]).is_zero()))
}

pub(super) fn and() -> Entry<'static> {
    logic("&", 10, |a, b| a && b)
}

pub(super) fn or() -> Entry<'static> {
    logic("|", 11, |a, b| a || b)
}

pub(super) fn xor() -> Entry<'static> {
    logic("^", 12, |a, b| a != b)
}

pub(super) fn not() -> Entry<'static> {
    Entry::new("~", 13, Some(1))
        .typed(|name, x| Ok((bool(name, x[0].kind)?, x[0].shape.clone(), x[0].range)))
        .each(|_, x| 1 - x[0], |x| Rational::bit(x[0].is_zero()))
}

pub(super) fn select() -> Entry<'static> {
    Entry::new("where", 14, Some(3))
        .typed(|name, x| {
            bool(name, x[0].kind)?;
            let (kind, arms) = pair(name, &x[1..], with_bits)?;
            Ok((kind, shape::broadcast(name, &x[0].shape, &arms)?, x[1].range.hull(x[2].range)))
        })
        .each(
            |_, x| if x[0] == 1 { x[1] } else { x[2] },
            |x| if x[0].is_zero() { x[2].clone() } else { x[1].clone() },
        )
}

pub(super) fn pick(which: Extreme) -> Entry<'static> {
    let (name, code, range): (_, _, fn(Range, Range) -> Range) = match which {
        Extreme::Min => ("minimum", 15, Range::min),
        Extreme::Max => ("maximum", 16, Range::max),
    };
    Entry::new(name, code, Some(2))
        .typed(move |name, x| {
            let (kind, shape) = pair(name, x, ordered)?;
            Ok((kind, shape, range(x[0].range, x[1].range)))
        })
        .holds(move |x| if which == Extreme::Max { difference(x) } else { difference(&[x[1], x[0]]) })
        .each(move |_, x| x[first(x, which, i128::lt)], move |x| x[first(x, which, Rational::less)].clone())
}

pub(super) fn clip() -> Entry<'static> {
    Entry::new("clip", 33, Some(3))
        .typed(|name, x| {
            let (a, low, high) = (x[0], x[1], x[2]);
            let kind = common(name, a, low, ordered)?;
            common(name, a, high, ordered)?;
            if low.range.hi() > high.range.lo() {
                return Err(Fault::CrossedBounds { low: low.range, high: high.range });
            }
            let range = a.range.max(low.range).min(high.range);
            let bounds = shape::broadcast(name, &low.shape, &high.shape)?;
            Ok((kind, shape::broadcast(name, &a.shape, &bounds)?, range))
        })
        .holds(|x| difference(x).hull(difference(&[x[2], x[0]])))
        .each(
            |_, x| x[0].max(x[1]).min(x[2]),
            |x| {
                let outside = if x[0].less(&x[1]) { 1 } else { 2 * usize::from(x[2].less(&x[0])) };
                x[outside].clone()
            },
        )
}

pub(super) fn extremum(which: Extreme, axis: &usize, keepdims: bool) -> Entry<'_> {
    let (name, code) = if which == Extreme::Min { ("min", 17) } else { ("max", 18) };
    along(name, code, axis, keepdims)
        .typed(move |name, x| {
            if x[0].kind != Dtype::Bool {
                ordered(name, x[0].kind)?;
            }
            Ok((x[0].kind, reduced(x[0], &[*axis], keepdims)?, x[0].range))
        })
        .rows(
            std::slice::from_ref(axis),
            move |_, row| row[first(row, which, i128::lt)],
            move |row| row[first(row, which, Rational::less)].clone(),
        )
}

pub(super) fn arg_extremum(which: Extreme, axis: &usize, keepdims: bool) -> Entry<'_> {
    let (name, code) = if which == Extreme::Min { ("argmin", 19) } else { ("argmax", 20) };
    along(name, code, axis, keepdims)
        .typed(move |name, x| {
            ordered(name, x[0].kind)?;
            let shape = reduced(x[0], &[*axis], keepdims)?;
            let last = x[0].shape[*axis] as i128 - 1;
            Ok((Dtype::Int, shape, Range::point(0).hull(Range::point(last))))
        })
        .apart()
        .rows(
            std::slice::from_ref(axis),
            move |_, row| first(row, which, i128::lt) as i128,
            move |row| Rational::whole(first(row, which, Rational::less).into()),
        )
}

pub(super) fn abs() -> Entry<'static> {
    Entry::new("abs", 21, Some(1))
        .typed(|name, x| by_sign(name, x, Range::abs))
        .each(|_, x| x[0].abs(), |x| if x[0].less(&Rational::default()) { x[0].neg() } else { x[0].clone() })
}

pub(super) fn relu() -> Entry<'static> {
    Entry::new("relu", 22, Some(1)).typed(|name, x| by_sign(name, x, Range::relu)).each(
        |_, x| x[0].max(0),
        |x| if x[0].less(&Rational::default()) { Rational::default() } else { x[0].clone() },
    )
}

fn logic(name: &'static str, code: u8, f: fn(bool, bool) -> bool) -> Entry<'static> {
    Entry::new(name, code, Some(2))
        .typed(|name, x| {
            let (kind, shape) = pair(name, x, bool)?;
            Ok((kind, shape, kind.whole()))
        })
        .each(
            move |_, x| f(x[0] == 1, x[1] == 1).into(),
            move |x| Rational::bit(f(!x[0].is_zero(), !x[1].is_zero())),
        )
}

/// An extreme along an axis.
fn along<'a>(name: &'static str, code: u8, axis: &'a usize, keepdims: bool) -> Entry<'a> {
    Entry::new(name, code, Some(1))
        .written(move |out| {
            put_u32(out, *axis);
            put_flag(out, keepdims);
        })
        .holds(|x| difference(&[x[0], x[0]]))
}

fn by_sign(name: &'static str, x: &[&Type], range: fn(Range) -> Range) -> Result<Parts, Fault> {
    Ok((ordered(name, x[0].kind)?, x[0].shape.clone(), range(x[0].range)))
}

/// The first place of a row's extreme.
fn first<T>(row: &[T], which: Extreme, less: fn(&T, &T) -> bool) -> usize {
    let beats = |a: &T, b: &T| if which == Extreme::Max { less(b, a) } else { less(a, b) };
    (1..row.len()).fold(0, |best, place| if beats(&row[place], &row[best]) { place } else { best })
}
