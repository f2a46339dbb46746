//! Clear tensors of raw values or of exact numbers, and walks over them.

use crate::plan::{Layout, MatrixShape};
use crate::shape;

/// Elements in row-major order.
#[derive(Clone, Copy)]
pub(crate) struct Tensor<'a, T> {
    pub(crate) shape: &'a [usize],
    pub(crate) data: &'a [T],
}

impl<T: Clone> Tensor<'_, T> {
    /// The elements as a layout walks them.
    pub(crate) fn walk(&self, layout: &Layout) -> Vec<T> {
        layout.places().map(|place| self.data[place].clone()).collect()
    }

    /// The elements, broadcast.
    pub(crate) fn spread(&self, shape: &[usize]) -> Vec<T> {
        self.walk(&Layout::whole(self.shape).broadcast(shape))
    }
}

/// Elements of a shape, each from the operands' elements at its place.
pub(crate) fn each<T: Clone>(
    operands: &[Tensor<'_, T>],
    shape: &[usize],
    element: impl Fn(&[T]) -> T,
) -> Vec<T> {
    let spread: Vec<Vec<T>> = operands.iter().map(|operand| operand.spread(shape)).collect();
    let mut here = Vec::with_capacity(spread.len());
    let at = |place: usize| {
        here.clear();
        here.extend(spread.iter().map(|operand| operand[place].clone()));
        element(&here)
    };
    (0..shape.iter().product()).map(at).collect()
}

/// For each place on the other axes what becomes of the elements along some.
pub(crate) fn rows<T: Clone>(a: &Tensor<'_, T>, axes: &[usize], row: impl Fn(&[T]) -> T) -> Vec<T> {
    let kept = (0..a.shape.len()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let terms = axes.iter().map(|&axis| a.shape[axis]).product();
    a.walk(&Layout::whole(a.shape).transpose(&order)).chunks(terms).map(row).collect()
}

/// A product of matrices, vectors, or batches of them, whose sums begin with `zero` and go on with `plus_product`.
pub(crate) fn matmul<A, B, T: Clone>(
    a: &Tensor<'_, A>,
    b: &Tensor<'_, B>,
    zero: &T,
    plus_product: impl Fn(T, &A, &B) -> T,
) -> Vec<T> {
    let Ok(shapes) = shape::matmul(a.shape, b.shape) else {
        unreachable!("typing checked the shapes");
    };
    let MatrixShape { batch, m, k, n } = shapes.matrix;
    let places = |own: &[usize], rows: usize, columns: usize| -> Vec<usize> {
        let own = &own[..own.len().saturating_sub(2)];
        let full = [&shapes.batch[..], &[rows, columns]].concat();
        Layout::whole(&[own, &[rows, columns]].concat()).broadcast(&full).places().collect()
    };
    let (left, right) = (places(a.shape, m, k), places(b.shape, k, n));
    let entry = |line: usize, column: usize| {
        let row = &left[line * k..(line + 1) * k];
        let others = right[line / m * k * n + column..].iter().step_by(n);
        row.iter().zip(others).fold(zero.clone(), |sum, (&x, &y)| plus_product(sum, &a.data[x], &b.data[y]))
    };
    (0..batch * m)
        .flat_map(|line| (0..n).map(move |column| (line, column)))
        .map(|(line, column)| entry(line, column))
        .collect()
}
