//! Bodies that are repeated, and what authors know of ranges. [`crate::loops`] says when which node is computed.

use super::check::ordered;
use super::entry::Entry;
use crate::codec::{put_range, put_u32};
use crate::error::Fault;
use crate::types::Range;

const NO_ARM: &str =
    "a body that is repeated can't stand in an arm, nor may an arm's value go on to its next step";

pub(super) fn state(range: Range) -> Entry<'static> {
    Entry::new("repeat", 42, Some(1))
        .written(move |out| put_range(out, range))
        .typed(move |_, x| {
            let kind = x[0].kind;
            let held = if kind.is_ranged() { range.covers(x[0].range) } else { range == kind.whole() };
            if !held || !kind.whole().covers(range) {
                return Err(Fault::Range { lo: range.lo(), hi: range.hi(), kind });
            }
            Ok((kind, x[0].shape.clone(), range))
        })
        .secret()
        .not_in_arms(NO_ARM)
}

pub(super) fn step() -> Entry<'static> {
    Entry::new("repeat", 43, Some(1))
        .typed(|_, x| match x[0].shape.split_first() {
            Some((_, shape)) => Ok((x[0].kind, shape.to_vec(), x[0].range)),
            None => Err(Fault::Axis { axis: 0, rank: 0 }),
        })
        .secret()
        .not_in_arms(NO_ARM)
}

pub(super) fn repeat(times: u32) -> Entry<'static> {
    Entry::new("repeat", 44, None)
        .written(move |out| put_u32(out, times as usize))
        .typed(move |operation, x| {
            let (states, results) = x.split_at(x.len() / 2);
            if times == 0 || states.is_empty() || states.len() != results.len() {
                return Err(Fault::Arity { operation, given: x.len() });
            }
            for (state, result) in states.iter().zip(results) {
                if state.kind != result.kind {
                    return Err(Fault::Kinds { operation, a: state.kind, b: result.kind });
                }
                if state.shape != result.shape {
                    let (a, b) = (state.shape.clone(), result.shape.clone());
                    return Err(Fault::Shapes { operation, a, b });
                }
                if state.kind.is_ranged() && !state.range.covers(result.range) {
                    let frac = state.kind.frac();
                    return Err(Fault::Grows { before: state.range, after: result.range, frac });
                }
            }
            Ok((results[0].kind, results[0].shape.clone(), results[0].range))
        })
        .secret()
        .not_in_arms(NO_ARM)
}

pub(super) fn after() -> Entry<'static> {
    Entry::new("repeat", 45, Some(2))
        .typed(|_, x| Ok((x[1].kind, x[1].shape.clone(), x[1].range)))
        .secret()
        .not_in_arms(NO_ARM)
}

pub(super) fn assume(range: Range, watched: bool) -> Entry<'static> {
    Entry::new("assume", if watched { 46 } else { 66 }, Some(1))
        .written(move |out| put_range(out, range))
        .typed(move |name, x| {
            let kind = ordered(name, x[0].kind)?;
            let (lo, hi) = (range.lo().max(x[0].range.lo()), range.hi().min(x[0].range.hi()));
            let both = Range::new(lo, hi).ok_or(Fault::Range { lo: range.lo(), hi: range.hi(), kind })?;
            Ok((kind, x[0].shape.clone(), both))
        })
        .each(|_, x| x[0], |x| x[0].clone())
        .not_in_arms("nothing can be assumed in an arm: its values may be anything where it isn't taken")
}
