//! Shapes as `NumPy` reckons them: broadcasting, axes, slices, matrix products.

use crate::error::Fault;
use crate::plan::MatrixShape;
use crate::types::{MAX_ELEMENTS, MAX_RANK};

/// One entry of an index, as in `x[1, ::-1, None]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// An integer: takes one place, and the axis goes away. Negative ones count from the end.
    At(i64),
    /// `start:stop:step` with Python's meaning; the step isn't 0.
    Slice {
        /// Where it begins.
        start: Option<i64>,
        /// Where it ends, without that place.
        stop: Option<i64>,
        /// From one place to the next.
        step: i64,
    },
    /// A new axis of length 1.
    NewAxis,
    /// As many whole axes as are left.
    Ellipsis,
}

/// The places that a slice takes on one axis: `start`, `start + step`, ... (`count` of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first place.
    pub start: usize,
    /// From one place to the next.
    pub step: isize,
    /// How many.
    pub count: usize,
}

/// Refuses a shape of too many axes or elements, or of none.
pub(crate) fn check(shape: &[usize]) -> Result<(), Fault> {
    if shape.len() > MAX_RANK {
        return Err(Fault::Rank { rank: shape.len() });
    }
    if shape.contains(&0) {
        return Err(Fault::Empty { shape: shape.to_vec() });
    }
    match shape.iter().try_fold(1usize, |total, &length| total.checked_mul(length)) {
        Some(total) if total <= MAX_ELEMENTS => Ok(()),
        _ => Err(Fault::Elements { shape: shape.to_vec() }),
    }
}

/// The shape that both broadcast to.
pub(crate) fn broadcast(operation: &'static str, a: &[usize], b: &[usize]) -> Result<Vec<usize>, Fault> {
    let rank = a.len().max(b.len());
    let length =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank)
        .map(|axis| match (length(a, axis), length(b, axis)) {
            (1, other) | (other, 1) => Ok(other),
            (one, other) if one == other => Ok(one),
            _ => Err(Fault::Shapes { operation, a: a.to_vec(), b: b.to_vec() }),
        })
        .collect()
}

/// An axis given as in Python, where -1 is the last.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, Fault> {
    let resolved = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    resolved
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|&axis| axis < rank)
        .ok_or(Fault::Axis { axis, rank })
}

/// Several axes, sorted; none may come twice.
pub(crate) fn axes(given: &[i64], rank: usize) -> Result<Vec<usize>, Fault> {
    let mut axes = given.iter().map(|&one| axis(one, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    match axes.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Fault::AxisTwice { axis: pair[0] }),
        None => Ok(axes),
    }
}

/// The shape without some axes, or with 1 in their place.
pub(crate) fn reduce(shape: &[usize], axes: &[usize], keepdims: bool) -> Vec<usize> {
    let reduced = shape.iter().enumerate().map(|(axis, &length)| (axes.contains(&axis), length));
    if keepdims {
        reduced.map(|(gone, length)| if gone { 1 } else { length }).collect()
    } else {
        reduced.filter(|(gone, _)| !gone).map(|(_, length)| length).collect()
    }
}

/// The shape of a reshape, in which one length may be -1: what is left.
pub(crate) fn reshape(from: &[usize], to: &[i64]) -> Result<Vec<usize>, Fault> {
    let fault = || Fault::Reshape { from: from.to_vec(), to: to.to_vec() };
    let total: usize = from.iter().product();
    let mut known = 1usize;
    let mut open = None;
    for (axis, &length) in to.iter().enumerate() {
        match usize::try_from(length) {
            Ok(length) => known = known.checked_mul(length).ok_or_else(fault)?,
            Err(_) if length == -1 && open.is_none() => open = Some(axis),
            Err(_) => return Err(fault()),
        }
    }
    let mut shape: Vec<usize> = to.iter().map(|&length| usize::try_from(length).unwrap_or(1)).collect();
    if let Some(axis) = open {
        shape[axis] = total.checked_div(known).ok_or_else(fault)?;
        known *= shape[axis];
    }
    if known == total { Ok(shape) } else { Err(fault()) }
}

/// What an index means for a shape: a span for every axis, and the shape once integers have taken their axes
/// away and new ones have come.
pub(crate) fn index(shape: &[usize], entries: &[Index]) -> Result<(Vec<Span>, Vec<usize>), Fault> {
    let taken = entries.iter().filter(|entry| matches!(entry, Index::At(_) | Index::Slice { .. })).count();
    let ellipses = entries.iter().filter(|entry| matches!(entry, Index::Ellipsis)).count();
    if taken > shape.len() || ellipses > 1 {
        return Err(Fault::TooManyIndices { rank: shape.len() });
    }
    let whole = |axis: usize| Span { start: 0, step: 1, count: shape[axis] };
    let mut spans = Vec::with_capacity(shape.len());
    let mut result = Vec::new();
    let explicit = (ellipses == 0).then_some(Index::Ellipsis);
    for entry in entries.iter().copied().chain(explicit) {
        match entry {
            Index::NewAxis => result.push(1),
            Index::Ellipsis => {
                let left = shape.len() - taken;
                for _ in 0..left {
                    let span = whole(spans.len());
                    result.push(span.count);
                    spans.push(span);
                }
            }
            Index::At(place) => spans.push(at(place, spans.len(), shape[spans.len()])?),
            Index::Slice { start, stop, step } => {
                let span = slice(start, stop, step, shape[spans.len()])?;
                result.push(span.count);
                spans.push(span);
            }
        }
    }
    Ok((spans, result))
}

fn at(place: i64, axis: usize, length: usize) -> Result<Span, Fault> {
    let resolved = if place < 0 { i128::from(place) + length as i128 } else { i128::from(place) };
    match usize::try_from(resolved) {
        Ok(start) if start < length => Ok(Span { start, step: 1, count: 1 }),
        _ => Err(Fault::Index { index: place, axis, length }),
    }
}

/// Python's `slice.indices`.
fn slice(start: Option<i64>, stop: Option<i64>, step: i64, length: usize) -> Result<Span, Fault> {
    if step == 0 {
        return Err(Fault::StepZero);
    }
    let (length, stride) = (length as i128, i128::from(step));
    let (least, most) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let end = |given: Option<i64>, default: i128| match given.map(i128::from) {
        None => default,
        Some(place) => (if place < 0 { place + length } else { place }).clamp(least, most),
    };
    let first = end(start, if step > 0 { least } else { most });
    let last = end(stop, if step > 0 { most } else { least });
    let way = if step > 0 { last - first } else { first - last };
    let count = if way <= 0 { 0 } else { (way - 1) / stride.abs() + 1 };
    // One place needs no step, and an axis never needs one longer than itself.
    let step = if count > 1 { step as isize } else { 1 };
    Ok(Span { start: first.max(0) as usize, step, count: count as usize })
}

/// How `NumPy`'s `@` reads its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatMulShape {
    /// Batch axes that both broadcast to.
    pub(crate) batch: Vec<usize>,
    /// One product of the batch (its `batch` is that of all axes together).
    pub(crate) matrix: MatrixShape,
    /// The shape of the result.
    pub(crate) result: Vec<usize>,
}

/// A vector on the left is a row, on the right a column; other axes are a batch.
pub(crate) fn matmul(a: &[usize], b: &[usize]) -> Result<MatMulShape, Fault> {
    let fault = || Fault::Shapes { operation: "@", a: a.to_vec(), b: b.to_vec() };
    let (a_batch, m, k) = match *a {
        [] => return Err(fault()),
        [k] => (&a[..0], 1, k),
        [ref batch @ .., m, k] => (batch, m, k),
    };
    let (b_batch, inner, n) = match *b {
        [] => return Err(fault()),
        [k] => (&b[..0], k, 1),
        [ref batch @ .., k, n] => (batch, k, n),
    };
    if k != inner {
        return Err(fault());
    }
    let batch = broadcast("@", a_batch, b_batch).map_err(|_| fault())?;
    let mut result = batch.clone();
    if a.len() > 1 {
        result.push(m);
    }
    if b.len() > 1 {
        result.push(n);
    }
    let matrix = MatrixShape { batch: batch.iter().product(), m, k, n };
    Ok(MatMulShape { batch, matrix, result })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_as_numpys_do() {
        let cases: [(&[usize], &[usize], &[usize]); 4] = [
            (&[3], &[], &[3]),
            (&[2, 1], &[3], &[2, 3]),
            (&[4, 1, 5], &[7, 1], &[4, 7, 5]),
            (&[1], &[1, 1], &[1, 1]),
        ];
        for (a, b, expected) in cases {
            assert_eq!(broadcast("+", a, b).unwrap(), expected);
            assert_eq!(broadcast("+", b, a).unwrap(), expected);
        }
        assert!(matches!(broadcast("+", &[2], &[3]), Err(Fault::Shapes { .. })));
    }

    #[test]
    fn slices_take_the_places_that_pythons_do() {
        let python = |start: Option<i64>, stop: Option<i64>, step: i64, length: i64| -> Vec<i64> {
            let clip = |place: i64| if place < 0 { place + length } else { place };
            let first = start.map_or(if step > 0 { 0 } else { length - 1 }, clip);
            let last = stop.map_or(if step > 0 { length } else { -1 }, |p| {
                if step < 0 { clip(p).max(-1) } else { clip(p) }
            });
            let first = if step > 0 { first.max(0) } else { first.min(length - 1) };
            std::iter::successors(Some(first), |place| Some(place + step))
                .take_while(|place| if step > 0 { *place < last.min(length) } else { *place > last })
                .filter(|place| (0..length).contains(place))
                .collect()
        };
        let ends: Vec<Option<i64>> = std::iter::once(None).chain((-7..=7).map(Some)).collect();
        for &start in &ends {
            for &stop in &ends {
                for step in [-6, -3, -2, -1, 1, 2, 3, 6] {
                    let span = slice(start, stop, step, 5).unwrap();
                    let places: Vec<i64> =
                        (0..span.count).map(|i| span.start as i64 + i as i64 * span.step as i64).collect();
                    assert_eq!(places, python(start, stop, step, 5), "{start:?}:{stop:?}:{step}");
                }
            }
        }
        assert!(matches!(slice(None, None, 0, 5), Err(Fault::StepZero)));
        assert_eq!(slice(Some(i64::MIN), Some(i64::MAX), i64::MAX, 5).unwrap().count, 1);
    }

    #[test]
    fn an_index_takes_axes_away_and_adds_them() {
        let all = Index::Slice { start: None, stop: None, step: 1 };
        let (spans, shape) =
            index(&[4, 5, 6], &[Index::At(-1), Index::Ellipsis, Index::NewAxis, all]).unwrap();
        assert_eq!(spans[0], Span { start: 3, step: 1, count: 1 });
        assert_eq!(shape, [5, 1, 6]);
        assert!(matches!(index(&[4], &[Index::At(4)]), Err(Fault::Index { .. })));
        assert!(matches!(index(&[4], &[Index::At(0); 2]), Err(Fault::TooManyIndices { .. })));
    }

    #[test]
    fn a_reshape_fills_in_one_length() {
        assert_eq!(reshape(&[4, 6], &[3, -1]).unwrap(), [3, 8]);
        assert_eq!(reshape(&[1], &[]).unwrap(), Vec::<usize>::new());
        for bad in [&[5, -1][..], &[-1, -1], &[-2], &[0, -1], &[i64::MAX, i64::MAX]] {
            assert!(matches!(reshape(&[4, 6], bad), Err(Fault::Reshape { .. })), "{bad:?}");
        }
    }

    #[test]
    fn matrix_products_have_numpys_shapes() {
        let result = |a: &[usize], b: &[usize]| matmul(a, b).map(|shape| shape.result);
        assert_eq!(result(&[3], &[3]).unwrap(), Vec::<usize>::new());
        assert_eq!(result(&[2, 3], &[3]).unwrap(), [2]);
        assert_eq!(result(&[3], &[3, 4]).unwrap(), [4]);
        assert_eq!(result(&[5, 2, 3], &[3, 4]).unwrap(), [5, 2, 4]);
        assert_eq!(result(&[5, 1, 2, 3], &[6, 3, 4]).unwrap(), [5, 6, 2, 4]);
        assert!(result(&[2, 3], &[2, 3]).is_err());
        assert!(result(&[], &[3]).is_err());
    }

    #[test]
    fn a_shape_is_bounded() {
        assert!(check(&[]).is_ok());
        assert!(matches!(check(&[1; MAX_RANK + 1]), Err(Fault::Rank { .. })));
        assert!(matches!(check(&[usize::MAX, usize::MAX]), Err(Fault::Elements { .. })));
        assert!(matches!(check(&[2, 0]), Err(Fault::Empty { .. })));
    }
}
