//! Sums over axes, matrix products, joins: what goes by the places of elements.

use super::lowering::{Lowering, View};
use super::term::limbs;
use crate::node::NodeId;
use crate::plan::{Domain, Layout, Local, MatrixShape, OpKind, Reg};
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

    /// Matrices or vectors by others.
    pub(super) fn matmul(&mut self, operands: &[NodeId], domain: Domain) -> Reg {
        let (a, b) = (operands[0], operands[1]);
        let (x, y) = (self.ty(a), self.ty(b));
        if !x.secret || !y.secret {
            let (secret, public) = if x.secret { (a, b) } else { (b, a) };
            let own = &self.ty(public).shape;
            let words = self.public_raw(public, &Layout::whole(own), domain);
            let view = self.view(secret).clone();
            let weights = Weights { shape: own, words: &words };
            return self.weighed(view, &self.ty(secret).shape, &weights, !x.secret);
        }
        let views = [self.view(a).clone(), self.view(b).clone()];
        self.matrix_product(views, [&x.shape, &y.shape], domain)
    }

    /// Secret matrices or vectors by others, of these shapes.
    pub(super) fn matrix_product(&mut self, [a, b]: [View; 2], [x, y]: [&[usize]; 2], domain: Domain) -> Reg {
        let Product { shape, left, right } = Product::of(x, y);
        let (a, b) = (self.matrices(a, x, &left), self.matrices(b, y, &right));
        let dst = self.fresh(domain, shape.batch * shape.m * shape.n);
        self.plan.interact(OpKind::MatMul { a, b, shape, dst });
        dst
    }

    /// Secret elements of this shape by public matrices, which stand on the right or on the left.
    pub(super) fn weighed(&mut self, view: View, own: &[usize], weights: &Weights<'_>, left: bool) -> Reg {
        let domain = self.plan.shape(view.reg).domain;
        let (x, y) = if left { (weights.shape, own) } else { (own, weights.shape) };
        let product = Product::of(x, y);
        let (secret, public) =
            if left { (&product.right, &product.left) } else { (&product.left, &product.right) };
        let a = self.matrices(view, own, secret);
        let walk = Layout::whole(&public.own(weights.shape)).broadcast(&public.full);
        let (c, shape) = (limbs(&walk.gather(weights.words), domain), product.shape);
        let dst = self.fresh(domain, shape.batch * shape.m * shape.n);
        self.plan.local(Local::MatMulPublic { a, c, left, shape, dst });
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
    fn matrices(&mut self, view: View, own: &[usize], target: &Target) -> Reg {
        let View { reg, layout } = view;
        let matrices = target.own(own);
        if let Some(layout) = layout.reshape(&matrices) {
            return self.gathered(reg, layout.broadcast(&target.full));
        }
        let whole = self.gathered(reg, layout);
        self.gathered(whole, Layout::whole(&matrices).broadcast(&target.full))
    }
}

/// Public matrices: ring elements in row-major order.
pub(super) struct Weights<'a> {
    pub(super) shape: &'a [usize],
    pub(super) words: &'a [u128],
}

/// A product of matrices, and what its operands become for it. A batch on the left alone is one tall matrix.
struct Product {
    shape: MatrixShape,
    left: Target,
    right: Target,
}

impl Product {
    fn of(left: &[usize], right: &[usize]) -> Self {
        let Ok(shapes) = shape::matmul(left, right) else {
            unreachable!("typing checked the shapes");
        };
        let MatrixShape { batch, m, k, n } = shapes.matrix;
        let tall = right.len() <= 2;
        Self {
            shape: if tall { MatrixShape { batch: 1, m: batch * m, k, n } } else { shapes.matrix },
            left: walk(&shapes.batch, m, k),
            right: walk(if tall { &[] } else { &shapes.batch }, k, n),
        }
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
    fn own(&self, shape: &[usize]) -> Vec<usize> {
        let batch = &shape[..shape.len().saturating_sub(2)];
        let matrix = &self.full[self.full.len() - 2..];
        batch.iter().chain(matrix).copied().collect()
    }
}
