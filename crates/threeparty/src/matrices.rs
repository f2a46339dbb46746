//! A party's part of a product of two sharings of three components, of which it holds two.
//!
//! `(x_0 + x_1 + x_2)(y_0 + y_1 + y_2)` has nine terms. The party that holds the components `f` and `s` computes three
//! of them, `x_f y_f + x_f y_s + x_s y_f`; three parties that each hold another pair compute all nine. For vectors
//! the kernels do it in one pass ([`tacit_kernel::bits::cross`], [`tacit_kernel::ring::cross`]); here are matrices.

use std::any::Any;
use tacit_engine::{Error, Job};
use tacit_kernel::matrix::Packed;
use tacit_kernel::{Element, matrix, ring};
use tacit_program::plan::MatrixShape;

/// Left matrices with fewer rows, dot products above all, don't earn what packing the right ones takes.
const ROWS_WORTH_PACKING: usize = 8;

/// The right matrices of the product that is being computed, packed; kept from one job to the next.
#[derive(Default)]
pub struct RightMatrices(Option<Prepared>);

struct Prepared {
    op: u32,
    index: usize,
    /// Two `Packed` of the domain's element: `y_f` and `y_f + y_s`.
    packed: Box<dyn Any + Send>,
}

impl RightMatrices {
    /// Adds a party's part of a job's rows to `z`, which has them alone; `a` and `b` are the whole operands, each its
    /// first and its second component. `tick` is called between the parts.
    ///
    /// # Panics
    /// If the operands aren't of the shape.
    pub fn multiply<E: Element>(
        &mut self,
        job: &Job,
        shape: MatrixShape,
        a: [&[E]; 2],
        b: [&[E]; 2],
        z: &mut [E],
        tick: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if (shape.m, shape.n) == (1, 1) {
            // Scalar products, each of a pair of its own.
            let range = job.cols.start * shape.k..job.cols.end * shape.k;
            let [x, x_other, y, y_other] = [a[0], a[1], b[0], b[1]].map(|words| &words[range.clone()]);
            ring::cross_sums(x, x_other, y, y_other, shape.k, z);
            return tick();
        }
        let mut both = Vec::new();
        let mut row = job.cols.start;
        while row < job.cols.end {
            // The rows of the job that belong to one matrix of the batch.
            let index = row / shape.m;
            let end = job.cols.end.min((index + 1) * shape.m);
            let left = row * shape.k..end * shape.k;
            let product = &mut z[(row - job.cols.start) * shape.n..(end - job.cols.start) * shape.n];
            // x_f (y_f + y_s) + x_s y_f: two products for three terms.
            if shape.m < ROWS_WORTH_PACKING {
                let range = index * shape.k * shape.n..(index + 1) * shape.k * shape.n;
                let right = &b[0][range.clone()];
                both.resize(range.len(), E::ZERO);
                ring::add(right, &b[1][range], &mut both);
                matrix::matmul(&a[0][left.clone()], &both, product, end - row, shape.k, shape.n);
                matrix::matmul(&a[1][left], right, product, end - row, shape.k, shape.n);
            } else {
                let (right, both) = self.packed::<E>(job.op, index, shape, b);
                both.multiply(&a[0][left.clone()], product, end - row);
                tick()?;
                right.multiply(&a[1][left], product, end - row);
            }
            tick()?;
            row = end;
        }
        if job.last {
            self.0 = None;
        }
        Ok(())
    }

    /// `y_f` and `y_f + y_s` of one matrix of the batch.
    fn packed<E: Element>(
        &mut self,
        op: u32,
        index: usize,
        shape: MatrixShape,
        b: [&[E]; 2],
    ) -> &(Packed<E>, Packed<E>) {
        let fits = self.0.as_ref().is_some_and(|prepared| {
            prepared.op == op && prepared.index == index && prepared.packed.is::<(Packed<E>, Packed<E>)>()
        });
        if !fits {
            let range = index * shape.k * shape.n..(index + 1) * shape.k * shape.n;
            let mut sum = vec![E::ZERO; range.len()];
            ring::add(&b[0][range.clone()], &b[1][range.clone()], &mut sum);
            let packed = (Packed::new(&b[0][range], shape.k, shape.n), Packed::new(&sum, shape.k, shape.n));
            self.0 = Some(Prepared { op, index, packed: Box::new(packed) });
        }
        self.0
            .as_ref()
            .and_then(|prepared| prepared.packed.downcast_ref())
            .expect("the matrices were packed with this word just now or before")
    }
}
