//! Strided walks over row-major data: how reshapes, slices, transposes and broadcasts go without a copy.

use crate::plan::Layout;
use crate::shape::Span;

impl Layout {
    /// All of a row-major array, in order.
    pub fn whole(shape: &[usize]) -> Self {
        let mut strides = vec![0; shape.len()];
        let mut step = 1;
        for (stride, &length) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step *= length as isize;
        }
        Self { offset: 0, shape: shape.to_vec(), strides }
    }

    /// Elements walked.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether nothing is walked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the walk is that of a row-major array of `len` elements, from its first to its last.
    pub fn is_whole(&self, len: usize) -> bool {
        let mut step = 1;
        let in_order = self.shape.iter().zip(&self.strides).rev().all(|(&length, &stride)| {
            let fits = length == 1 || stride == step;
            step *= length as isize;
            fits
        });
        in_order && self.offset == 0 && self.len() == len
    }

    /// The places walked, in order.
    pub fn places(&self) -> Places<'_> {
        Places { layout: self, index: vec![0; self.shape.len()], at: self.offset, left: self.len() }
    }

    /// The elements of `data` as the layout walks them.
    pub(crate) fn gather<T: Copy>(&self, data: &[T]) -> Vec<T> {
        self.places().map(|place| data[place]).collect()
    }

    /// The first place of the first axis, as a walk without that axis.
    #[must_use]
    pub(crate) fn first(&self) -> Self {
        let rest = |axes: &[usize]| axes.get(1..).unwrap_or(&[]).to_vec();
        let strides = self.strides.get(1..).unwrap_or(&[]).to_vec();
        Self { offset: self.offset, shape: rest(&self.shape), strides }
    }

    /// Repeats axes of length 1, and adds axes in front, up to `shape`, to which the layout's shape broadcasts.
    #[must_use]
    pub(crate) fn broadcast(&self, shape: &[usize]) -> Self {
        let added = shape.len() - self.shape.len();
        let strides = shape
            .iter()
            .enumerate()
            .map(|(axis, &length)| match axis.checked_sub(added) {
                Some(own) if self.shape[own] == length => self.strides[own],
                _ => 0,
            })
            .collect();
        Self { offset: self.offset, shape: shape.to_vec(), strides }
    }

    /// Axis `i` of the result is axis `axes[i]` of this.
    #[must_use]
    pub(crate) fn transpose(&self, axes: &[usize]) -> Self {
        Self {
            offset: self.offset,
            shape: axes.iter().map(|&axis| self.shape[axis]).collect(),
            strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
        }
    }

    /// Takes a span of every axis.
    #[must_use]
    pub(crate) fn slice(&self, spans: &[Span]) -> Self {
        let steps = spans.iter().zip(&self.strides);
        let offset = steps.clone().map(|(span, &stride)| span.start as isize * stride).sum::<isize>();
        Self {
            offset: self.offset.wrapping_add_signed(offset),
            shape: spans.iter().map(|span| span.count).collect(),
            strides: steps.map(|(span, &stride)| span.step * stride).collect(),
        }
    }

    /// Windows along some axes, one after another: an axis keeps the places where a window of this length begins, and the
    /// places in the window are a new last axis.
    #[must_use]
    pub(crate) fn windows(&self, axes: &[usize], lengths: &[usize]) -> Self {
        let mut windows = self.clone();
        for (&axis, &length) in axes.iter().zip(lengths) {
            windows.shape[axis] -= length - 1;
            windows.shape.push(length);
            windows.strides.push(windows.strides[axis]);
        }
        windows
    }

    /// The same walk with other axes; `None` if strides can't say it, so that the elements have to be copied.
    pub(crate) fn reshape(&self, shape: &[usize]) -> Option<Self> {
        let mut strides = vec![0; shape.len()];
        let mut axis = 0;
        for (length, stride) in self.runs() {
            let first = axis;
            let mut product = 1;
            while product < length {
                product *= shape.get(axis)?;
                axis += 1;
            }
            if product != length {
                return None;
            }
            let mut step = stride;
            for inner in (first..axis).rev() {
                strides[inner] = step;
                step *= shape[inner] as isize;
            }
        }
        Some(Self { offset: self.offset, shape: shape.to_vec(), strides })
    }

    /// Length and stride of the axes, axes of one place left out and those that follow on merged.
    fn runs(&self) -> Vec<(usize, isize)> {
        let mut runs: Vec<(usize, isize)> = Vec::new();
        for (&length, &stride) in self.shape.iter().zip(&self.strides).filter(|(length, _)| **length != 1) {
            match runs.last_mut() {
                Some(run) if run.1 == stride * length as isize => *run = (run.0 * length, stride),
                _ => runs.push((length, stride)),
            }
        }
        runs
    }
}

/// The places that a [`Layout`] walks. See [`Layout::places`].
#[derive(Debug)]
pub struct Places<'a> {
    layout: &'a Layout,
    index: Vec<usize>,
    at: usize,
    left: usize,
}

impl Iterator for Places<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let place = self.at;
        let axes = self.index.iter_mut().zip(&self.layout.shape).zip(&self.layout.strides);
        for ((index, &length), &stride) in axes.rev() {
            *index += 1;
            self.at = self.at.wrapping_add_signed(stride);
            if *index < length {
                break;
            }
            *index = 0;
            self.at = self.at.wrapping_add_signed(-(stride * length as isize));
        }
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Places<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(layout: &Layout) -> Vec<usize> {
        layout.places().collect()
    }

    #[test]
    fn walks_compose() {
        let whole = Layout::whole(&[2, 3]);
        assert!(whole.is_whole(6));
        assert_eq!(walk(&whole), [0, 1, 2, 3, 4, 5]);
        let turned = whole.transpose(&[1, 0]);
        assert_eq!(walk(&turned), [0, 3, 1, 4, 2, 5]);
        let back = Span { start: 2, step: -2, count: 2 };
        let sliced = turned.slice(&[back, Span { start: 1, step: 1, count: 1 }]);
        assert_eq!(walk(&sliced), [5, 3]);
        assert_eq!(walk(&sliced.broadcast(&[2, 2, 2])), [5, 5, 3, 3, 5, 5, 3, 3]);
        assert!(!turned.is_whole(6));
        assert_eq!(walk(&Layout::whole(&[])), [0]);
    }

    #[test]
    fn windows_meet_their_elements_again() {
        let whole = Layout::whole(&[5]);
        assert_eq!(walk(&whole.windows(&[0], &[3])), [0, 1, 2, 1, 2, 3, 2, 3, 4]);
        assert!(whole.windows(&[0], &[5]).is_whole(5) && whole.windows(&[0], &[1]).is_whole(5));
        let backwards = whole.slice(&[Span { start: 4, step: -2, count: 3 }]);
        assert_eq!(walk(&backwards.windows(&[0], &[2])), [4, 2, 2, 0]);
        let squares = Layout::whole(&[3, 4]).windows(&[0, 1], &[2, 3]);
        assert_eq!((&squares.shape[..], squares.len()), (&[2, 2, 2, 3][..], 24));
        assert_eq!(walk(&squares)[18..], [5, 6, 7, 9, 10, 11]);
        assert_eq!(squares.reshape(&[4, 6]), None);
        // An axis twice: windows of its windows.
        assert_eq!(walk(&whole.windows(&[0, 0], &[4, 2])), [0, 1, 1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn a_reshape_keeps_the_order_or_asks_for_a_copy() {
        let whole = Layout::whole(&[4, 6]);
        assert!(whole.reshape(&[2, 2, 1, 6]).unwrap().is_whole(24));
        let turned = whole.transpose(&[1, 0]);
        assert_eq!(turned.reshape(&[24]), None);
        assert_eq!(walk(&turned.reshape(&[2, 3, 4, 1]).unwrap()), walk(&turned));
        let odd = whole.slice(&[Span { start: 3, step: -2, count: 2 }, Span { start: 0, step: 1, count: 6 }]);
        assert_eq!(walk(&odd.reshape(&[2, 2, 3]).unwrap()), walk(&odd));
        assert_eq!(odd.reshape(&[3, 4]), None);
        assert_eq!(walk(&Layout::whole(&[1]).reshape(&[]).unwrap()), [0]);
    }
}
