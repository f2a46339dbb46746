//! Strided walks over a vector, cut into runs along their innermost axis.

/// The walk `offset + sum of i_j * strides[j]` over all `(i_0, i_1, ...)` of a shape in row-major order, with
/// its bounds checked and its axes merged where one is the continuation of the next.
pub(crate) struct Walk {
    offset: usize,
    /// Lengths and steps of the outer axes.
    outer: Vec<(usize, isize)>,
    /// Elements in a run; 0 if the whole walk is empty.
    run: usize,
    /// From one element of a run to the next.
    step: isize,
    elements: usize,
}

impl Walk {
    /// The walk over a source of `source` elements.
    ///
    /// # Panics
    /// If there isn't a stride for every axis, if the shape's elements can't be counted, or if the walk leaves
    /// the source.
    pub(crate) fn new(offset: usize, shape: &[usize], strides: &[isize], source: usize) -> Self {
        assert_eq!(shape.len(), strides.len(), "a layout has a stride for every axis");
        if shape.contains(&0) {
            return Self { offset, outer: Vec::new(), run: 0, step: 1, elements: 0 };
        }
        let elements = shape
            .iter()
            .try_fold(1_usize, |product, &length| product.checked_mul(length))
            .expect("a layout's elements must fit the address space");
        let (mut lowest, mut highest) = (offset as i128, offset as i128);
        let mut axes: Vec<(usize, isize)> = Vec::with_capacity(shape.len());
        for (&length, &stride) in shape.iter().zip(strides) {
            let reach = (length - 1) as i128 * stride as i128;
            if reach < 0 {
                lowest += reach;
            } else {
                highest += reach;
            }
            if length == 1 {
                continue;
            }
            match axes.last_mut() {
                // One step of the axis before is as far as all of this one.
                Some(last) if last.1 as i128 == stride as i128 * length as i128 => {
                    *last = (last.0 * length, stride);
                }
                _ => axes.push((length, stride)),
            }
        }
        assert!(
            lowest >= 0 && highest < source as i128,
            "a layout stays inside its source of {source} elements"
        );
        let (run, step) = axes.pop().unwrap_or((1, 1));
        Self { offset, outer: axes, run, step, elements }
    }

    /// Elements in all.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Elements in every run.
    pub(crate) fn run(&self) -> usize {
        self.run
    }

    /// From one element of a run to the next, in the source.
    pub(crate) fn step(&self) -> isize {
        self.step
    }

    /// Calls `visit` for every run, with its first element's place in the source and in the destination.
    #[inline]
    pub(crate) fn for_each_run(&self, mut visit: impl FnMut(usize, usize)) {
        if self.run == 0 {
            return;
        }
        let mut index = vec![0; self.outer.len()];
        let (mut from, mut to) = (self.offset as isize, 0);
        loop {
            visit(from as usize, to);
            to += self.run;
            let mut axis = self.outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                let (length, stride) = self.outer[axis];
                index[axis] += 1;
                from += stride;
                if index[axis] < length {
                    break;
                }
                from -= stride * length as isize;
                index[axis] = 0;
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every index of a walk, by its definition.
    pub(crate) fn indices(offset: usize, shape: &[usize], strides: &[isize]) -> Vec<usize> {
        let mut all = vec![offset as isize];
        for (&length, &stride) in shape.iter().zip(strides) {
            all = all.iter().flat_map(|&base| (0..length as isize).map(move |i| base + i * stride)).collect();
        }
        all.into_iter().map(|index| index as usize).collect()
    }

    /// Layouts with an offset and a source's length that just hold them.
    pub(crate) fn layouts() -> impl Strategy<Value = (usize, Vec<usize>, Vec<isize>, usize)> {
        proptest::collection::vec((0_usize..6, -20_isize..20), 0..4).prop_map(|axes| {
            let (shape, strides): (Vec<usize>, Vec<isize>) = axes.into_iter().unzip();
            let reach = |sign: isize| -> usize {
                let parts = shape.iter().zip(&strides);
                parts.map(|(&n, &s)| n.saturating_sub(1) * (s * sign).max(0) as usize).sum()
            };
            let offset = reach(-1);
            let source = offset + reach(1) + 1;
            (offset, shape, strides, source)
        })
    }

    proptest! {
        #[test]
        fn runs_visit_what_the_definition_says((offset, shape, strides, source) in layouts()) {
            let expected = indices(offset, &shape, &strides);
            let walk = Walk::new(offset, &shape, &strides, source);
            prop_assert_eq!(walk.elements(), expected.len());
            let mut visited = vec![];
            walk.for_each_run(|from, to| {
                assert_eq!(to, visited.len());
                visited.extend((0..walk.run() as isize).map(|i| (from as isize + i * walk.step()) as usize));
            });
            prop_assert_eq!(visited, expected);
        }
    }

    #[test]
    fn contiguous_axes_become_one_run() {
        let walk = Walk::new(5, &[2, 1, 3, 4], &[12, 100, 4, 1], 29);
        assert_eq!((walk.run(), walk.step()), (24, 1));
    }

    #[test]
    #[should_panic(expected = "stays inside its source of 9 elements")]
    fn a_walk_past_the_end_is_refused() {
        Walk::new(0, &[2, 5], &[5, 1], 9);
    }

    #[test]
    #[should_panic(expected = "stays inside its source")]
    fn a_walk_before_the_beginning_is_refused() {
        Walk::new(3, &[5], &[-1], 9);
    }

    #[test]
    #[should_panic(expected = "must fit the address space")]
    fn a_shape_beyond_the_address_space_is_refused() {
        Walk::new(0, &[usize::MAX, 3], &[0, 0], 9);
    }
}
