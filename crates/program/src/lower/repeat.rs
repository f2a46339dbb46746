//! Bodies that are repeated: a plan has their steps one after another.
//!
//! What a state or a result takes over is where it was, so that a step costs what its body costs and nothing beside.

use super::term::Term;
use super::{Lowering, View};
use crate::loops::Visit;
use crate::plan::Layout;
use crate::program::NodeId;
use crate::shape::Span;
use crate::types::Dtype;
use crate::width::Format;

impl Lowering<'_> {
    /// A node that is another one as it is.
    pub(super) fn take(&mut self, id: NodeId, from: NodeId) {
        let (ty, own) = (self.ty(id), self.ty(from));
        if self.strategy.is_bits() && ty.kind != Dtype::Bool {
            let (number, format) = (self.number(from), Format::of(ty));
            let wide = number.format().bits > format.bits;
            self.numbers[id.index()] = Some(if wide { self.formatted(&number, format) } else { number });
        } else if own.secret {
            self.views[id.index()] = Some(self.view(from).clone());
        } else {
            self.share(id, from, &Layout::whole(&own.shape));
        }
    }

    /// A step's slice of what a loop goes over.
    pub(super) fn slice_of_step(&mut self, Visit { node: id, step }: Visit, from: NodeId) {
        let (ty, own) = (self.ty(id), self.ty(from));
        let mut spans = vec![Span { start: step as usize, step: 1, count: 1 }];
        spans.extend(ty.shape.iter().map(|&count| Span { start: 0, step: 1, count }));
        if self.strategy.is_bits() && ty.kind != Dtype::Bool {
            let number = self.number(from).slice(&spans);
            self.numbers[id.index()] = Some(self.reshaped(&number, &ty.shape));
        } else if own.secret {
            let View { reg, layout } = self.walk(from, |layout| layout.slice(&spans));
            self.views[id.index()] = Some(View { reg, layout: layout.first() });
        } else {
            self.share(id, from, &Layout::whole(&own.shape).slice(&spans));
        }
    }

    /// A register with a sharing of public elements.
    fn share(&mut self, id: NodeId, from: NodeId, walk: &Layout) {
        let domain = self.domain(id);
        let reg = self.register(&Term::vector(self.public_raw(from, walk, domain), domain));
        self.views[id.index()] = Some(View { reg, layout: Layout::whole(&self.ty(id).shape) });
    }
}
