//! Convolutions: the windows are brought in order tile by tile, and never stand in memory all at once.

use std::sync::Arc;

use super::lowering::{Lowering, View};
use crate::node::NodeId;
use crate::operations::FlatConv;
use crate::plan::{Domain, Layout, Local, MatrixShape, OpKind, Reg};
use crate::shape::Span;

/// Filters of a convolution, one matrix for each group.
enum Filters {
    Secret(Reg),
    Public(Arc<[u64]>),
}

impl Lowering<'_> {
    /// Windows by filters.
    pub(super) fn conv(&mut self, operands: &[NodeId], domain: Domain) -> View {
        let (a, b) = (operands[0], operands[1]);
        let shape = &self.ty(a).shape;
        let window = self.ty(b).rank() - 2;
        let flat = FlatConv::known(shape, &self.ty(b).shape);
        let filters = if self.ty(b).secret {
            Filters::Secret(self.whole(b))
        } else {
            let words = self.public_raw(b, &Layout::whole(&self.ty(b).shape), domain);
            Filters::Public(super::term::limbs(&words, domain))
        };
        let windows = if self.ty(a).secret {
            self.view(a).clone()
        } else {
            let public = self.term(a, shape, domain);
            View { reg: self.register(&public), layout: Layout::whole(shape) }
        };
        self.conv_tile(windows, &filters, window, &flat)
    }

    /// Some of the places, whose windows have `window` axes: at once if they are few enough, else one half after the other.
    fn conv_tile(&mut self, windows: View, filters: &Filters, window: usize, flat: &FlatConv) -> View {
        let domain = self.plan.shape(windows.reg).domain;
        let shape = windows.layout.shape.clone();
        let places = 1..shape.len() - window;
        let longest = places.clone().max_by_key(|&axis| shape[axis]).filter(|&axis| shape[axis] > 1);
        if let Some(axis) = longest
            && windows.layout.len().saturating_mul(domain.bits() as usize) > self.slab_bits
        {
            return self.conv_halves(&windows, filters, window, flat, axis);
        }
        let result = [&shape[..places.end], &[flat.shape.n]].concat();
        let a = self.gathered(windows.reg, windows.layout);
        let m = shape[places].iter().product();
        let shape = MatrixShape { m, ..flat.shape };
        let dst = self.fresh(domain, shape.batch * shape.m * shape.n);
        match filters {
            &Filters::Secret(b) => self.plan.interact(OpKind::MatMul { a, b, shape, dst }),
            Filters::Public(c) => {
                self.plan.local(Local::MatMulPublic { a, c: c.clone(), left: false, shape, dst });
            }
        }
        View { reg: dst, layout: Layout::whole(&result) }
    }

    /// Both halves of an axis, one after the other; they stand one behind the other along that axis.
    fn conv_halves(
        &mut self,
        windows: &View,
        filters: &Filters,
        window: usize,
        flat: &FlatConv,
        axis: usize,
    ) -> View {
        let (domain, shape) = (self.plan.shape(windows.reg).domain, &windows.layout.shape);
        let whole: Vec<Span> = shape.iter().map(|&count| Span { start: 0, step: 1, count }).collect();
        let rank = shape.len() - window + 1;
        let order: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&at| at != axis)).collect();
        let (before, middle) = (self.slab, shape[axis] / 2);
        let mut parts = Vec::with_capacity(2);
        for (start, count) in [(0, middle), (middle, shape[axis] - middle)] {
            let mut spans = whole.clone();
            spans[axis] = Span { start, step: 1, count };
            let half = View { reg: windows.reg, layout: windows.layout.slice(&spans) };
            let View { reg, layout } = self.conv_tile(half, filters, window, flat);
            self.slab = Some(reg);
            parts.push((reg, layout.transpose(&order)));
        }
        self.slab = before;
        let reg = self.joined(domain, &parts);
        let full = [&shape[..rank - 1], &[flat.shape.n]].concat();
        let stored: Vec<usize> = order.iter().map(|&at| full[at]).collect();
        let mut back = vec![0; rank];
        order.iter().enumerate().for_each(|(place, &at)| back[at] = place);
        View { reg, layout: Layout::whole(&stored).transpose(&back) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;
    use crate::testing::{self, Clear};
    use crate::{Builder, Capabilities, Dtype, Fault, Index, Program, Range, Recipient, reference};

    const KIND: Dtype = Dtype::Fixed { frac: 4 };

    fn seeded() -> TestRng {
        TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32])
    }

    /// Two groups of two filters of 2 x 3 over every place of two images, by `conv` and as matrix products.
    fn program(secret: bool) -> Program {
        let mut b = Builder::new();
        let images = b.input("alice", "x", KIND, &[2, 2, 5, 4], Range::new(-40, 40)).unwrap();
        let filters = if secret {
            b.input("bob", "w", KIND, &[2, 2, 3, 2], Range::new(-20, 20)).unwrap()
        } else {
            b.public(KIND, vec![2, 2, 3, 2], (0..24).map(|raw| raw * 5 - 50).collect()).unwrap()
        };
        let windows = b.windows(images, &[2, 3], Some(&[2, 3])).unwrap();
        let windows = b.transpose(windows, Some(&[1, 0, 2, 3, 4, 5])).unwrap();
        let made = b.conv(windows, filters).unwrap();
        b.reveal(made, Recipient::All).unwrap();
        for group in 0..2 {
            let of = |id, b: &mut Builder, shape: &[i64]| {
                let one = b.index(id, &[Index::At(group)]).unwrap();
                b.reshape(one, shape).unwrap()
            };
            let (rows, matrix) = (of(windows, &mut b, &[-1, 6]), of(filters, &mut b, &[6, 2]));
            let product = b.matmul_raw(rows, matrix).unwrap();
            let product = b.rescale(product, 4).unwrap();
            let own = of(made, &mut b, &[-1, 2]);
            let same = b.equal(product, own).unwrap();
            let all = b.min(same, None, false).unwrap();
            b.reveal(all, Recipient::All).unwrap();
        }
        b.finish().unwrap()
    }

    #[test]
    fn it_is_right_under_every_lowering_and_in_tiles() {
        for program in [program(true), program(false)] {
            let inputs = testing::inputs(&program.input_types(), &mut seeded());
            let values = reference::run(&program, &inputs).unwrap();
            assert_eq!(values[0].shape, [2, 2, 4, 2, 2]);
            let mut depths = Vec::new();
            for capabilities in
                [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS, Capabilities::BITS]
            {
                testing::check(&program, capabilities, &inputs, seeded());
            }
            for slab_bits in [1, 3000, usize::MAX] {
                let mut lowering = Lowering::new(&program, Capabilities::TWO_COMPONENTS);
                lowering.slab_bits = slab_bits;
                let lowered = lowering.run(false).unwrap();
                for (output, value) in
                    Clear::run(&lowered.plan, &inputs, seeded()).iter().zip(&values).skip(1)
                {
                    assert_eq!((output, &value.shape[..]), (&vec![1], &[][..]));
                }
                depths.push(lowered.plan.depth());
            }
            let secret = program.input_types().len() == 2;
            assert_eq!(secret, depths.is_sorted_by(|a, b| a > b), "{depths:?}");
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let mut b = Builder::new();
        let mut of = |name, shape: &[usize]| b.input("alice", name, KIND, shape, Range::new(0, 1)).unwrap();
        let (a, other_group) = (of("a", &[2, 5, 3]), of("b", &[1, 3, 4]));
        let (other_window, no_window) = (of("c", &[2, 4, 4]), of("d", &[2, 4]));
        for filters in [other_group, other_window, no_window] {
            assert!(matches!(*b.conv(a, filters).unwrap_err().fault, Fault::Shapes { .. }));
        }
    }
}
