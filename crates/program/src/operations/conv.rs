//! Convolutions: inner products of windows with filters.

use super::arithmetic::{exact_product, matmul, raw_product};
use super::entry::Entry;
use super::tensor::Tensor;
use crate::error::Fault;
use crate::plan::MatrixShape;
use crate::types::Type;

/// `(groups, places.., window..)` by `(groups, window.., outputs)`: `(groups, places.., outputs)`.
pub(super) fn conv() -> Entry<'static> {
    Entry::new("conv", 60, Some(2))
        .typed(|operation, x| {
            let (a, b) = (x[0], x[1]);
            let fault = || Fault::Shapes { operation, a: a.shape.clone(), b: b.shape.clone() };
            let flat = Flat::of(&a.shape, &b.shape).ok_or_else(fault)?;
            let of = |ty: &Type, shape: &[usize]| Type { shape: shape.to_vec(), ..ty.clone() };
            let (kind, _, range) = matmul().infer(&[&of(a, &flat.left()), &of(b, &flat.right())])?;
            Ok((kind, flat.result, range))
        })
        .all(
            |x, ty| {
                let flat = Flat::known(x[0].shape, x[1].shape);
                let (a, b) = (flat.left(), flat.right());
                let (a, b) = (Tensor { shape: &a, ..x[0] }, Tensor { shape: &b, ..x[1] });
                raw_product(&a, &b, ty.kind)
            },
            |x, _| {
                let flat = Flat::known(x[0].shape, x[1].shape);
                let (a, b) = (flat.left(), flat.right());
                exact_product(&Tensor { shape: &a, ..x[0] }, &Tensor { shape: &b, ..x[1] })
            },
        )
}

/// A convolution as a batch of products of matrices, one for each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flat {
    /// For each group places, elements of a window, outputs.
    pub(crate) shape: MatrixShape,
    /// Of the result.
    pub(crate) result: Vec<usize>,
}

impl Flat {
    /// From the operands' shapes, if they fit each other.
    pub(crate) fn of(a: &[usize], b: &[usize]) -> Option<Self> {
        let [groups, window @ .., outputs] = b else { return None };
        let [first, rest @ ..] = a else { return None };
        let places = rest.strip_suffix(window)?;
        if first != groups || window.is_empty() {
            return None;
        }
        let (m, k) = (places.iter().product(), window.iter().product());
        let result = [&[*groups], places, &[*outputs]].concat();
        Some(Self { shape: MatrixShape { batch: *groups, m, k, n: *outputs }, result })
    }

    /// The shape of the windows: groups, places, elements of a window.
    pub(crate) fn left(&self) -> Vec<usize> {
        vec![self.shape.batch, self.shape.m, self.shape.k]
    }

    /// The shape of the filters: groups, elements of a window, outputs.
    pub(crate) fn right(&self) -> Vec<usize> {
        vec![self.shape.batch, self.shape.k, self.shape.n]
    }

    /// From the shapes of operands that typing has looked at.
    pub(crate) fn known(a: &[usize], b: &[usize]) -> Self {
        match Self::of(a, b) {
            Some(flat) => flat,
            None => unreachable!("typing checked the shapes"),
        }
    }
}
