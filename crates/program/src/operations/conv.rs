//! Convolutions: inner products of windows with filters.

use super::arithmetic::{exact_product, matmul, raw_product};
use super::entry::Entry;
use super::tensor::Tensor;
use crate::error::Fault;
use crate::types::Type;

/// `(groups, places.., window..)` by `(groups, window.., outputs)`: `(groups, places.., outputs)`.
pub(super) fn conv() -> Entry<'static> {
    Entry::new("conv", 60, Some(2))
        .typed(|operation, x| {
            let (a, b) = (x[0], x[1]);
            let fault = || Fault::Shapes { operation, a: a.shape.clone(), b: b.shape.clone() };
            let flat = Flat::of(&a.shape, &b.shape).ok_or_else(fault)?;
            let of = |ty: &Type, shape: &[usize]| Type { shape: shape.to_vec(), ..ty.clone() };
            let (kind, _, range) = matmul().infer(&[&of(a, &flat.left), &of(b, &flat.right)])?;
            Ok((kind, flat.result, range))
        })
        .all(
            |x, ty| {
                let flat = Flat::known(x[0].shape, x[1].shape);
                let [a, b] = [(x[0].data, &flat.left), (x[1].data, &flat.right)];
                raw_product(&Tensor { data: a.0, shape: a.1 }, &Tensor { data: b.0, shape: b.1 }, ty.kind)
            },
            |x, _| {
                let flat = Flat::known(x[0].shape, x[1].shape);
                let [a, b] = [(x[0].data, &flat.left), (x[1].data, &flat.right)];
                exact_product(&Tensor { data: a.0, shape: a.1 }, &Tensor { data: b.0, shape: b.1 })
            },
        )
}

/// A convolution as a batch of products of matrices, one for each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flat {
    /// Groups, places, elements of a window.
    pub(crate) left: [usize; 3],
    /// Groups, elements of a window, outputs.
    pub(crate) right: [usize; 3],
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
        let (place, terms) = (places.iter().product(), window.iter().product());
        let result = [&[*groups], places, &[*outputs]].concat();
        Some(Self { left: [*groups, place, terms], right: [*groups, terms, *outputs], result })
    }

    /// From the shapes of operands that typing has looked at.
    pub(crate) fn known(a: &[usize], b: &[usize]) -> Self {
        match Self::of(a, b) {
            Some(flat) => flat,
            None => unreachable!("typing checked the shapes"),
        }
    }
}
