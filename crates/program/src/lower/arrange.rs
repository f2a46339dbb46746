//! Sums over axes, matrix products, joins: what goes by the places of elements.

use std::sync::Arc;

use super::term::limbs;
use super::{Lowering, View};
use crate::plan::{Domain, Kind, Layout, Local, MatrixShape, Reg};
use crate::program::NodeId;
use crate::shape;
use crate::types::Type;

impl Lowering<'_> {
    /// Axes that follow on one another are summed where they are; others are first brought to the end.
    pub(super) fn sum(&mut self, id: NodeId, axes: &[usize], ty: &Type) -> View {
        let operand = self.ty(id);
        let terms: usize = axes.iter().map(|&axis| operand.shape[axis]).product();
        if terms == 1 {
            return self.reshape(id, &ty.shape);
        }
        let follow = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let (a, outer, inner) = if follow {
            let (first, last) = (axes[0], axes[axes.len() - 1]);
            let outer = operand.shape[..first].iter().product();
            (self.whole(id), outer, operand.shape[last + 1..].iter().product())
        } else {
            let kept = (0..operand.rank()).filter(|axis| !axes.contains(axis));
            let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
            let View { reg, layout } = self.walk(id, |layout| layout.transpose(&order));
            (self.gathered(reg, layout), ty.len(), 1)
        };
        let dst = self.fresh(self.domain(id), ty.len());
        self.plan.local(Local::Sum { a, outer, axis: terms, inner, dst });
        View { reg: dst, layout: Layout::whole(&ty.shape) }
    }

    /// A batch on the left alone is one tall matrix.
    pub(super) fn matmul(&mut self, operands: &[NodeId], domain: Domain) -> Reg {
        let (a, b) = (operands[0], operands[1]);
        let Ok(shapes) = shape::matmul(&self.ty(a).shape, &self.ty(b).shape) else {
            unreachable!("typing checked the shapes");
        };
        let MatrixShape { batch, m, k, n } = shapes.matrix;
        let tall = self.ty(b).rank() <= 2;
        let right_batch = if tall { &[][..] } else { &shapes.batch };
        let left = walk(&shapes.batch, m, k);
        let right = walk(right_batch, k, n);
        let shape = if tall { MatrixShape { batch: 1, m: batch * m, k, n } } else { shapes.matrix };
        let dst = self.fresh(domain, batch * m * n);
        match (self.ty(a).secret, self.ty(b).secret) {
            (true, true) => {
                let (a, b) = (self.matrices(a, &left), self.matrices(b, &right));
                self.plan.interact(Kind::MatMul { a, b, shape, dst });
            }
            (true, false) => {
                let (a, c) = (self.matrices(a, &left), self.public_matrices(b, &right, domain));
                self.plan.local(Local::MatMulPublic { a, c, left: false, shape, dst });
            }
            (false, _) => {
                let (c, a) = (self.public_matrices(a, &left, domain), self.matrices(b, &right));
                self.plan.local(Local::MatMulPublic { a, c, left: true, shape, dst });
            }
        }
        dst
    }

    /// The joined axis stands first in memory, so that every operand is one block.
    pub(super) fn concatenate(&mut self, operands: &[NodeId], axis: usize, ty: &Type) -> View {
        let rank = ty.rank();
        let order: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&at| at != axis)).collect();
        let domain = operands.iter().find(|id| self.ty(**id).secret).map(|id| self.domain(*id));
        let Some(domain) = domain else { unreachable!("a secret node has a secret operand") };
        let dst = self.fresh(domain, ty.len());
        let mut at = 0;
        for &id in operands {
            let operand = self.ty(id);
            let View { reg, layout } = if operand.secret {
                self.view(id).clone()
            } else {
                let public = self.term(id, &operand.shape, domain);
                View { reg: self.register(&public), layout: Layout::whole(&operand.shape) }
            };
            self.plan.local(Local::Copy { a: reg, layout: layout.transpose(&order), at, dst });
            at += operand.len();
        }
        let stored: Vec<usize> = order.iter().map(|&at| ty.shape[at]).collect();
        let mut back = vec![0; rank];
        order.iter().enumerate().for_each(|(place, &at)| back[at] = place);
        View { reg: dst, layout: Layout::whole(&stored).transpose(&back) }
    }

    /// A secret operand's matrices, one after another.
    fn matrices(&mut self, id: NodeId, target: &Target) -> Reg {
        let own = target.own(self.ty(id));
        let View { reg, layout } = self.reshape(id, &own);
        self.gathered(reg, layout.broadcast(&target.full))
    }

    fn public_matrices(&self, id: NodeId, target: &Target, domain: Domain) -> Arc<[u64]> {
        let walk = Layout::whole(&target.own(self.ty(id))).broadcast(&target.full);
        limbs(&self.public_raw(id, &walk, domain), domain)
    }
}

/// The batch and the matrix that an operand of a product becomes.
struct Target {
    full: Vec<usize>,
}

fn walk(batch: &[usize], rows: usize, columns: usize) -> Target {
    Target { full: batch.iter().copied().chain([rows, columns]).collect() }
}

impl Target {
    /// An operand's own shape with a vector as a matrix.
    fn own(&self, ty: &Type) -> Vec<usize> {
        let batch = &ty.shape[..ty.rank().saturating_sub(2)];
        let matrix = &self.full[self.full.len() - 2..];
        batch.iter().chain(matrix).copied().collect()
    }
}
