//! The same elements in other places.

use super::check::common;
use super::entry::Entry;
use super::tensor::Tensor;
use crate::codec::{put_dims, put_u32, put_u64};
use crate::error::Fault;
use crate::plan::Layout;
use crate::shape::{self, Span};

pub(super) fn reshape(shape: &[usize]) -> Entry<'_> {
    Entry::new("reshape", 28, Some(1))
        .written(move |out| put_dims(out, shape))
        .typed(move |_, x| {
            shape::check(shape)?;
            if shape.iter().product::<usize>() != x[0].len() {
                let to = shape.iter().map(|&length| length as i64).collect();
                return Err(Fault::Reshape { from: x[0].shape.clone(), to });
            }
            Ok((x[0].kind, shape.to_vec(), x[0].range))
        })
        .moved(Layout::clone)
}

pub(super) fn transpose(axes: &[usize]) -> Entry<'_> {
    Entry::new("transpose", 29, Some(1))
        .written(move |out| put_dims(out, axes))
        .typed(move |_, x| {
            let mut sorted = axes.to_vec();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(0..x[0].rank()) {
                return Err(Fault::Permutation { axes: axes.to_vec(), rank: x[0].rank() });
            }
            Ok((x[0].kind, axes.iter().map(|&axis| x[0].shape[axis]).collect(), x[0].range))
        })
        .moved(move |layout| layout.transpose(axes))
}

pub(super) fn slice(spans: &[Span]) -> Entry<'_> {
    Entry::new("slice", 30, Some(1))
        .written(move |out| {
            out.push(spans.len() as u8);
            for span in spans {
                put_u64(out, span.start as u64);
                put_u64(out, span.step as u64);
                put_u64(out, span.count as u64);
            }
        })
        .typed(move |_, x| {
            if spans.len() != x[0].rank() {
                return Err(Fault::TooManyIndices { rank: x[0].rank() });
            }
            for (axis, (span, &length)) in spans.iter().zip(&x[0].shape).enumerate() {
                let reach = (span.count as i128 - 1).max(0) * span.step as i128;
                let last = span.start as i128 + reach;
                let outside = span.start >= length || last < 0 || last >= length as i128;
                if span.count > 0 && (outside || span.step.unsigned_abs() > length) {
                    return Err(Fault::Index { index: last as i64, axis, length });
                }
            }
            Ok((x[0].kind, spans.iter().map(|span| span.count).collect(), x[0].range))
        })
        .moved(move |layout| layout.slice(spans))
}

pub(super) fn broadcast_to(shape: &[usize]) -> Entry<'_> {
    Entry::new("broadcast_to", 31, Some(1))
        .written(move |out| put_dims(out, shape))
        .typed(move |operation, x| {
            shape::check(shape)?;
            if shape::broadcast(operation, &x[0].shape, shape)? != *shape {
                return Err(Fault::Shapes { operation, a: x[0].shape.clone(), b: shape.to_vec() });
            }
            Ok((x[0].kind, shape.to_vec(), x[0].range))
        })
        .moved(move |layout| layout.broadcast(shape))
}

pub(super) fn windows<'a>(lengths: &'a [usize], axes: &'a [usize]) -> Entry<'a> {
    Entry::new("windows", 47, Some(1))
        .written(move |out| {
            put_dims(out, lengths);
            put_dims(out, axes);
        })
        .typed(move |_, x| {
            let mut shape = x[0].shape.clone();
            let fault = || Fault::Windows { lengths: lengths.to_vec(), shape: x[0].shape.clone() };
            if lengths.len() != axes.len() {
                return Err(fault());
            }
            for (&axis, &length) in axes.iter().zip(lengths) {
                let places = shape.get_mut(axis).filter(|_| axis < x[0].rank());
                let places = places.ok_or(Fault::Axis { axis: axis as i64, rank: x[0].rank() })?;
                let begins = (*places + 1).checked_sub(length).filter(|&begins| length > 0 && begins > 0);
                *places = begins.ok_or_else(fault)?;
                shape.push(length);
            }
            Ok((x[0].kind, shape, x[0].range))
        })
        .moved(move |layout| layout.windows(axes, lengths))
}

pub(super) fn concatenate(axis: usize) -> Entry<'static> {
    Entry::new("concatenate", 32, None)
        .written(move |out| put_u32(out, axis))
        .typed(move |operation, x| {
            let &[first, ref rest @ ..] = x else {
                return Err(Fault::Arity { operation, given: 0 });
            };
            let mut shape = first.shape.clone();
            let mut range = first.range;
            let length = shape.get(axis).copied();
            let mut length = length.ok_or(Fault::Axis { axis: axis as i64, rank: first.rank() })?;
            for other in rest {
                common(operation, first, other, |_, kind| Ok(kind))?;
                let joins = other.rank() == shape.len()
                    && (0..shape.len()).all(|at| at == axis || other.shape[at] == shape[at]);
                if !joins {
                    let (a, b) = (first.shape.clone(), other.shape.clone());
                    return Err(Fault::Shapes { operation, a, b });
                }
                length = length.saturating_add(other.shape[axis]);
                range = range.hull(other.range);
            }
            shape[axis] = length;
            Ok((first.kind, shape, range))
        })
        .all(move |x, _| joined(x, axis), move |x, _| joined(x, axis))
}

fn joined<T: Clone>(operands: &[Tensor<'_, T>], axis: usize) -> Vec<T> {
    let outer: usize = operands[0].shape[..axis].iter().product();
    let block = |at: usize| {
        operands.iter().flat_map(move |operand| {
            let length = operand.data.len() / outer;
            operand.data[at * length..(at + 1) * length].iter().cloned()
        })
    };
    (0..outer).flat_map(block).collect()
}
