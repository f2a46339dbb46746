//! Rows in ascending order of keys, each with what belongs to it.
//!
//! Keys are the elements of a matrix; each of its rows is sorted by itself. Equal keys keep their order.

use super::check::with_order;
use super::entry::Entry;
use super::tensor::Tensor;
use crate::error::Fault;
use crate::rational::Rational;

const NO_ARM: &str = "an arm can't sort but by a network of comparisons";

pub(super) fn sort() -> Entry<'static> {
    Entry::new("sort", 64, Some(1))
        .typed(|operation, x| match x[0].rank() {
            2 => Ok((with_order(operation, x[0].kind)?, x[0].shape.clone(), x[0].range)),
            rank => Err(Fault::Axis { axis: 1, rank }),
        })
        .secret()
        .not_in_arms(NO_ARM)
        .all(|x, _| sorted(&x[0], &x[0], i128::cmp), |x, _| sorted(&x[0], &x[0], Rational::order))
}

pub(super) fn sort_too() -> Entry<'static> {
    Entry::new("sort", 65, Some(3))
        .typed(|operation, x| {
            if !x[2].shape.starts_with(&x[0].shape) || x[0].shape != x[1].shape {
                return Err(Fault::Shapes { operation, a: x[0].shape.clone(), b: x[2].shape.clone() });
            }
            Ok((x[2].kind, x[2].shape.clone(), x[2].range))
        })
        .secret()
        .not_in_arms(NO_ARM)
        .all(|x, _| sorted(&x[1], &x[2], i128::cmp), |x, _| sorted(&x[1], &x[2], Rational::order))
}

/// Blocks in the order of their keys, row by row.
fn sorted<T: Clone>(
    keys: &Tensor<'_, T>,
    blocks: &Tensor<'_, T>,
    order_of: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Vec<T> {
    let length = keys.shape[1];
    let block = blocks.data.len() / keys.data.len().max(1);
    let mut order: Vec<usize> = (0..keys.data.len()).collect();
    for row in order.chunks_mut(length.max(1)) {
        row.sort_by(|&a, &b| order_of(&keys.data[a], &keys.data[b]));
    }
    order.into_iter().flat_map(|at| blocks.data[at * block..(at + 1) * block].iter().cloned()).collect()
}
