//! Vectors over a ring or a field, element by element, and walks over them.
//!
//! All slices of a call have the same length unless it says otherwise; the functions panic if they haven't.

use crate::layout::Walk;
use crate::{Element, Word, cpu};

/// `out = a + b`.
pub fn add<E: Element>(a: &[E], b: &[E], out: &mut [E]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y, _| x.wrapping_add(y),
    );
}

/// `out = a - b`.
pub fn sub<E: Element>(a: &[E], b: &[E], out: &mut [E]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y, _| x.wrapping_sub(y),
    );
}

/// `out = a * b`.
pub fn mul<E: Element>(a: &[E], b: &[E], out: &mut [E]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y, _| x.wrapping_mul(y),
    );
}

/// `out += a * b`.
pub fn mul_add<E: Element>(a: &[E], b: &[E], out: &mut [E]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y, o| o.wrapping_add(x.wrapping_mul(y)),
    );
}

/// `out -= a * b`.
pub fn mul_sub<E: Element>(a: &[E], b: &[E], out: &mut [E]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y, o| o.wrapping_sub(x.wrapping_mul(y)),
    );
}

/// `out = -a`.
pub fn neg<E: Element>(a: &[E], out: &mut [E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| x.wrapping_neg(),
    );
}

/// `out += a`.
pub fn add_assign<E: Element>(out: &mut [E], a: &[E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, o| o.wrapping_add(x),
    );
}

/// `out -= a`.
pub fn sub_assign<E: Element>(out: &mut [E], a: &[E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, o| o.wrapping_sub(x),
    );
}

/// `out *= a`.
pub fn mul_assign<E: Element>(out: &mut [E], a: &[E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, o| o.wrapping_mul(x),
    );
}

/// `out = a + c`, with one `c` for all.
pub fn add_splat<E: Element>(a: &[E], c: E, out: &mut [E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| x.wrapping_add(c),
    );
}

/// `out = a * c`, with one `c` for all.
pub fn mul_splat<E: Element>(a: &[E], c: E, out: &mut [E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| x.wrapping_mul(c),
    );
}

/// `out += a * c`, with one `c` for all.
pub fn mul_add_splat<E: Element>(a: &[E], c: E, out: &mut [E]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, o| o.wrapping_add(x.wrapping_mul(c)),
    );
}

/// `out = a << by`.
///
/// # Panics
/// If `by` isn't less than the word's bits.
pub fn shl<W: Word>(a: &[W], by: u32, out: &mut [W]) {
    check_shift::<W>(by);
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| x.shl(by),
    );
}

/// `out = a >> by`, zeros coming in.
///
/// # Panics
/// If `by` isn't less than the word's bits.
pub fn shr<W: Word>(a: &[W], by: u32, out: &mut [W]) {
    check_shift::<W>(by);
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| x.shr(by),
    );
}

/// `out = a >> by`, copies of the top bit coming in.
///
/// # Panics
/// If `by` isn't less than the word's bits.
pub fn sar<W: Word>(a: &[W], by: u32, out: &mut [W]) {
    check_shift::<W>(by);
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| x.sar(by),
    );
}

/// A party's part of a product of replicated sharings, on top of the mask that `out` holds:
/// `out += xi yi + xi yp + xp yi`, where a party has the shares `xi` and `xp` of x, `yi` and `yp` of y.
///
/// Two multiplications an element, as `xi (yi + yp) + xp yi` (Li et al. 2023, section 2.2.2).
pub fn cross<E: Element>(xi: &[E], xp: &[E], yi: &[E], yp: &[E], out: &mut [E]) {
    let n = out.len();
    assert!(
        xi.len() == n && xp.len() == n && yi.len() == n && yp.len() == n,
        "shares and masks have the same length"
    );
    cpu::run(
        #[inline(always)]
        || {
            let (xi, xp, yi, yp, out) = (&xi[..n], &xp[..n], &yi[..n], &yp[..n], &mut out[..n]);
            for i in 0..n {
                out[i] = E::cross(xi[i], xp[i], yi[i], yp[i], out[i]);
            }
        },
    );
}

/// The same of scalar products of `terms` terms each, one after another: `out += sum of xi (yi + yp) + xp yi`.
///
/// # Panics
/// If an operand hasn't `terms` elements for each of `out`.
pub fn cross_sums<E: Element>(xi: &[E], xp: &[E], yi: &[E], yp: &[E], terms: usize, out: &mut [E]) {
    let n = out.len().checked_mul(terms);
    let fits = |operand: &[E]| Some(operand.len()) == n;
    assert!([xi, xp, yi, yp].into_iter().all(fits), "each scalar product has all its terms");
    if terms == 0 {
        return;
    }
    cpu::run(
        #[inline(always)]
        || {
            let each = xi.chunks_exact(terms).zip(xp.chunks_exact(terms));
            let other = yi.chunks_exact(terms).zip(yp.chunks_exact(terms));
            for (out, ((xi, xp), (yi, yp))) in out.iter_mut().zip(each.zip(other)) {
                for at in 0..terms {
                    *out = E::cross(xi[at], xp[at], yi[at], yp[at], *out);
                }
            }
        },
    );
}

/// Sums over the middle axis: `out[o, i]` = the sum over `a` of `src[o, a, i]`, all in row-major order.
///
/// # Panics
/// If `src` hasn't `outer * axis * inner` elements or `out` hasn't `outer * inner`.
pub fn sum<E: Element>(src: &[E], outer: usize, axis: usize, inner: usize, out: &mut [E]) {
    let sums = outer.checked_mul(inner);
    assert_eq!(
        sums.and_then(|sums| sums.checked_mul(axis)),
        Some(src.len()),
        "the source has the shape's length"
    );
    assert_eq!(sums, Some(out.len()), "there is a sum for every outer and inner index");
    out.fill(E::ZERO);
    if src.is_empty() {
        return;
    }
    cpu::run(
        #[inline(always)]
        || {
            if inner == 1 {
                for (row, total) in src.chunks_exact(axis).zip(out) {
                    *total = row.iter().fold(
                        E::ZERO,
                        #[inline(always)]
                        |sum, &x| sum.wrapping_add(x),
                    );
                }
                return;
            }
            for (block, totals) in src.chunks_exact(axis * inner).zip(out.chunks_exact_mut(inner)) {
                for row in block.chunks_exact(inner) {
                    for (total, &x) in totals.iter_mut().zip(row) {
                        *total = total.wrapping_add(x);
                    }
                }
            }
        },
    );
}

/// Copies a strided walk: element `(i_0, i_1, ...)` of `shape`, in row-major order, is
/// `src[offset + sum of i_j * strides[j]]`. A stride may be 0 (broadcast) or negative (reversal).
///
/// # Panics
/// If `dst` hasn't the shape's number of elements, or the walk leaves `src`.
pub fn copy_strided<E: Element>(src: &[E], offset: usize, shape: &[usize], strides: &[isize], dst: &mut [E]) {
    let walk = Walk::new(offset, shape, strides, src.len());
    assert_eq!(walk.elements(), dst.len(), "a layout has as many elements as its destination");
    let (run, step) = (walk.run(), walk.step());
    match step {
        1 => walk.for_each_run(|from, to| dst[to..to + run].copy_from_slice(&src[from..from + run])),
        0 => walk.for_each_run(|from, to| dst[to..to + run].fill(src[from])),
        _ => walk.for_each_run(|from, to| {
            let mut at = from as isize;
            for place in &mut dst[to..to + run] {
                *place = src[at as usize];
                at += step;
            }
        }),
    }
}

fn check_shift<W: Word>(by: u32) {
    assert!(by < W::BITS, "a shift by {by} bits leaves nothing of a word of {} bits", W::BITS);
}

/// `out = f(a, out)`, element by element.
#[inline(always)]
fn zip1<E: Element>(a: &[E], out: &mut [E], f: impl Fn(E, E) -> E) {
    assert_eq!(a.len(), out.len(), "operand and result have the same length");
    cpu::run(
        #[inline(always)]
        || {
            for (o, &x) in out.iter_mut().zip(a) {
                *o = f(x, *o);
            }
        },
    );
}

/// `out = f(a, b, out)`, element by element.
#[inline(always)]
fn zip2<E: Element>(a: &[E], b: &[E], out: &mut [E], f: impl Fn(E, E, E) -> E) {
    let n = out.len();
    assert!(a.len() == n && b.len() == n, "operands and result have the same length");
    cpu::run(
        #[inline(always)]
        || {
            let (a, b, out) = (&a[..n], &b[..n], &mut out[..n]);
            for i in 0..n {
                out[i] = f(a[i], b[i], out[i]);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::field::{Fp61, Fp128};
    use crate::gf128::Gf128;
    use crate::layout::tests::{indices, layouts};
    use crate::noise::{lengths, noise};
    use proptest::prelude::*;

    /// Lengths around vectors' edges.
    const LENGTHS: [usize; 9] = [0, 1, 7, 31, 63, 64, 65, 127, 1000];

    /// Every function against 64-bit arithmetic, at every level, on slices that aren't aligned.
    fn agrees<W: Word>() {
        let word = W::from_u64;
        for length in lengths(31, LENGTHS) {
            let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(|seed| noise::<W>(seed, length + 1));
            let [a, b, c, d, e] = [&a[1..], &b[1..], &c[1..], &d[1..], &e[1..]];
            let expect = |f: &dyn Fn(u64, u64, u64) -> u64| -> Vec<W> {
                (0..length).map(|i| word(f(a[i].to_u64(), b[i].to_u64(), e[i].to_u64()))).collect()
            };
            let check = |run: &dyn Fn(&mut [W]), expected: Vec<W>| {
                for level in available() {
                    let mut out = e.to_vec();
                    at(level, || run(&mut out));
                    assert_eq!(out, expected, "{level:?}, {length} words of {} bits", W::BITS);
                }
            };
            check(&|out| add(a, b, out), expect(&|a, b, _| a.wrapping_add(b)));
            check(&|out| sub(a, b, out), expect(&|a, b, _| a.wrapping_sub(b)));
            check(&|out| mul(a, b, out), expect(&|a, b, _| a.wrapping_mul(b)));
            check(&|out| mul_add(a, b, out), expect(&|a, b, e| e.wrapping_add(a.wrapping_mul(b))));
            check(&|out| mul_sub(a, b, out), expect(&|a, b, e| e.wrapping_sub(a.wrapping_mul(b))));
            check(&|out| neg(a, out), expect(&|a, _, _| a.wrapping_neg()));
            check(&|out| add_assign(out, a), expect(&|a, _, e| e.wrapping_add(a)));
            check(&|out| sub_assign(out, a), expect(&|a, _, e| e.wrapping_sub(a)));
            check(&|out| mul_assign(out, a), expect(&|a, _, e| e.wrapping_mul(a)));
            check(&|out| add_splat(a, word(77), out), expect(&|a, _, _| a.wrapping_add(77)));
            check(&|out| mul_splat(a, word(77), out), expect(&|a, _, _| a.wrapping_mul(77)));
            check(
                &|out| mul_add_splat(a, word(77), out),
                expect(&|a, _, e| e.wrapping_add(a.wrapping_mul(77))),
            );
            for by in [0, 1, W::BITS / 2, W::BITS - 1] {
                let sign = 64 - W::BITS;
                check(&|out| shl(a, by, out), expect(&|a, _, _| a << by));
                check(&|out| shr(a, by, out), expect(&|a, _, _| a >> by));
                check(&|out| sar(a, by, out), expect(&|a, _, _| ((a << sign) as i64 >> sign >> by) as u64));
            }
            let products = (0..length).map(|i| {
                let [a, b, c, d, e] = [a, b, c, d, e].map(|x| x[i].to_u64());
                let products = [(a, c), (a, d), (b, c)].map(|(x, y)| x.wrapping_mul(y));
                word(products.into_iter().fold(e, u64::wrapping_add))
            });
            check(&|out| cross(a, b, c, d, out), products.collect());
        }
    }

    #[test]
    fn every_level_agrees_with_integers_at_every_width() {
        agrees::<u8>();
        agrees::<u16>();
        agrees::<u32>();
        agrees::<u64>();
    }

    /// Every function that is defined for all elements, against the element's own operations, at every level.
    fn agrees_with_the_element<E: Element>() {
        for length in lengths(31, LENGTHS) {
            let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(|seed| noise::<E>(seed, length));
            let check = |run: &dyn Fn(&mut [E]), expected: &dyn Fn(usize) -> E| {
                let expected: Vec<E> = (0..length).map(expected).collect();
                for level in available() {
                    let mut out = e.clone();
                    at(level, || run(&mut out));
                    assert_eq!(out, expected, "{level:?}, {length} elements");
                }
            };
            let times = |x: E, y: E| x.wrapping_mul(y);
            check(&|out| add(&a, &b, out), &|i| a[i].wrapping_add(b[i]));
            check(&|out| sub(&a, &b, out), &|i| a[i].wrapping_sub(b[i]));
            check(&|out| mul(&a, &b, out), &|i| times(a[i], b[i]));
            check(&|out| mul_add(&a, &b, out), &|i| e[i].wrapping_add(times(a[i], b[i])));
            check(&|out| neg(&a, out), &|i| a[i].wrapping_neg());
            check(&|out| mul_splat(&a, c.first().copied().unwrap_or(E::ONE), out), &|i| times(a[i], c[0]));
            check(&|out| cross(&a, &b, &c, &d, out), &|i| {
                [times(a[i], c[i]), times(a[i], d[i]), times(b[i], c[i])]
                    .into_iter()
                    .fold(e[i], E::wrapping_add)
            });
            let mut total = [E::ZERO];
            sum(&a, 1, length, 1, &mut total);
            assert_eq!(total[0], a.iter().fold(E::ZERO, |sum, &x| sum.wrapping_add(x)));
        }
    }

    #[test]
    fn every_level_agrees_with_wide_words_and_fields() {
        agrees_with_the_element::<u128>();
        agrees_with_the_element::<Fp61>();
        agrees_with_the_element::<Fp128>();
        agrees_with_the_element::<Gf128>();
    }

    #[test]
    fn sums_run_over_the_middle_axis() {
        for (outer, axis, inner) in
            [(1, 1, 1), (3, 65, 1), (1, 64, 63), (2, 3, 65), (4, 0, 5), (0, 2, 2), (2, 2, 0)]
        {
            let src: Vec<u32> = noise(9, outer * axis * inner);
            let expected: Vec<u32> = (0..outer * inner)
                .map(|i| {
                    let place = |a| (i / inner * axis + a) * inner + i % inner;
                    (0..axis).fold(0, |sum: u32, a| sum.wrapping_add(src[place(a)]))
                })
                .collect();
            for level in available() {
                let mut out = vec![7; outer * inner];
                at(level, || sum(&src, outer, axis, inner, &mut out));
                assert_eq!(out, expected, "{outer} x {axis} x {inner} at {level:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_strided_copy_is_its_definition((offset, shape, strides, source) in layouts()) {
            let src: Vec<u16> = noise(3, source);
            let expected: Vec<u16> = indices(offset, &shape, &strides).into_iter().map(|i| src[i]).collect();
            let mut out = vec![0; expected.len()];
            copy_strided(&src, offset, &shape, &strides, &mut out);
            prop_assert_eq!(out, expected);
        }
    }

    #[test]
    #[should_panic(expected = "operands and result have the same length")]
    fn operands_of_different_lengths_are_refused() {
        add(&[1_u8, 2], &[1], &mut [0, 0]);
    }

    #[test]
    #[should_panic(expected = "leaves nothing of a word of 8 bits")]
    fn a_shift_by_the_whole_word_is_refused() {
        shr(&[1_u8], 8, &mut [0]);
    }

    #[test]
    #[should_panic(expected = "as many elements as its destination")]
    fn a_destination_of_another_length_is_refused() {
        copy_strided(&[1_u8, 2, 3], 0, &[3], &[1], &mut [0, 0]);
    }
}
