//! Numbers as bits in a register.

use crate::plan::{Layout, Reg};
use crate::shape::Span;
use crate::width::Format;

/// A node's elements as bits: a walk over a register of one row, whose last axis is the bits of an element.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) reg: Reg,
    pub(crate) layout: Layout,
    pub(crate) signed: bool,
}

impl Number {
    /// All of a register, in order.
    pub(super) fn whole(reg: Reg, shape: &[usize], format: Format) -> Self {
        Self { reg, layout: Layout::whole(&[shape, &[format.bits]].concat()), signed: format.signed }
    }

    pub(crate) fn format(&self) -> Format {
        Format { bits: self.layout.shape.last().copied().unwrap_or(0), signed: self.signed }
    }

    /// Axes of elements.
    pub(super) fn rank(&self) -> usize {
        self.layout.shape.len() - 1
    }

    /// The elements in other places, each with its bits.
    pub(super) fn walked(&self, change: impl FnOnce(&Layout) -> Layout) -> Self {
        let mut elements = self.layout.clone();
        let bits = (elements.shape.pop(), elements.strides.pop());
        let mut layout = change(&elements);
        layout.shape.extend(bits.0);
        layout.strides.extend(bits.1);
        Self { layout, ..*self }
    }

    pub(super) fn broadcast(&self, shape: &[usize]) -> Self {
        self.walked(|elements| elements.broadcast(shape))
    }

    pub(super) fn transpose(&self, axes: &[usize]) -> Self {
        self.walked(|elements| elements.transpose(axes))
    }

    /// Some places of one axis.
    pub(super) fn part(&self, axis: usize, span: Span) -> Self {
        let all = self.layout.shape[..self.rank()].iter();
        let mut spans: Vec<Span> = all.map(|&count| Span { start: 0, step: 1, count }).collect();
        spans[axis] = span;
        self.walked(|elements| elements.slice(&spans))
    }

    /// Some bits of each element.
    pub(super) fn bits(&self, start: usize, count: usize, signed: bool) -> Self {
        let mut layout = self.layout.clone();
        layout.offset += start;
        if let Some(bits) = layout.shape.last_mut() {
            *bits = count;
        }
        Self { layout, signed, ..*self }
    }
}
