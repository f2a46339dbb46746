//! Products by multiply-adds of 52 bits.
//!
//! An instruction multiplies the low 52 bits of two words and adds the low or the high 52 bits of the product to a
//! third word. With `u = u_0 + 2^31 u_1` a product modulo p is `u_0 v + u_1 (2^31 v)`, where `2^31 v` is a rotation
//! of v's 61 bits; and with `v = v_0 + 2^52 v_1`, `u_i v` is the low and the high part of `u_i v_0`, and `u_i v_1`,
//! whose high part is zero. These are six multiply-adds for eight products, into a sum of low parts and a sum of
//! what counts 2^52.

use super::TILE;
use crate::Element;
use crate::field::Fp61;
use crate::field::avx512::{fold_words, load, once, rotate, store};
use std::arch::x86_64::*;

/// [`super::inner_products`], added to `out`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn inner_products(u: &[Fp61], v: &[Fp61], blocks: usize, out: &mut [Fp61]) {
    let length = u.len() / blocks;
    for first in (0..length).step_by(TILE) {
        let part = Part { blocks, length, first, count: TILE.min(length - first) };
        let mut l = 0;
        while l < blocks {
            l += match blocks - l {
                4.. => rows::<4>(u, v, part, l, out),
                2.. => rows::<2>(u, v, part, l, out),
                _ => rows::<1>(u, v, part, l, out),
            };
        }
    }
}

/// Some elements of each block.
#[derive(Clone, Copy)]
struct Part {
    blocks: usize,
    /// Elements of a block.
    length: usize,
    first: usize,
    /// At most [`TILE`], for which no sum of products overflows.
    count: usize,
}

impl Part {
    /// The part of blocks `block`, `block + 1`, ...
    fn of<'a, const COUNT: usize>(&self, x: &'a [Fp61], block: usize) -> [&'a [u64]; COUNT] {
        std::array::from_fn(|i| {
            bytemuck::cast_slice(&x[(block + i) * self.length + self.first..][..self.count])
        })
    }
}

/// The inner products of `ROWS` blocks of `u` from `l` on with all blocks of `v`; returns `ROWS`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn rows<const ROWS: usize>(u: &[Fp61], v: &[Fp61], part: Part, l: usize, out: &mut [Fp61]) -> usize {
    let u = part.of::<ROWS>(u, l);
    let mut k = 0;
    while k < part.blocks {
        let out = &mut out[l * part.blocks + k..];
        if k + 2 <= part.blocks {
            add_products(u, part.of::<2>(v, k), out, part.blocks);
        } else {
            add_products(u, part.of::<1>(v, k), out, part.blocks);
        }
        k += 2;
    }
    ROWS
}

/// Adds the inner products of rows and columns, all of one length, to an array with `stride` columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_products<const ROWS: usize, const COLUMNS: usize>(
    u: [&[u64]; ROWS],
    v: [&[u64]; COLUMNS],
    out: &mut [Fp61],
    stride: usize,
) {
    let mut sums = [[Sum::zero(); COLUMNS]; ROWS];
    let (whole_u, whole_v) = (u.map(|u| u.as_chunks().0), v.map(|v| v.as_chunks().0));
    for i in 0..whole_u[0].len() {
        step(&mut sums, whole_u.map(|u| &u[i]), whole_v.map(|v| &v[i]));
    }
    if !u[0].len().is_multiple_of(8) {
        let (rest_u, rest_v) = (u.map(padded), v.map(padded));
        step(&mut sums, rest_u.each_ref(), rest_v.each_ref());
    }
    for (row, sums) in sums.into_iter().enumerate() {
        for (out, sum) in out[row * stride..].iter_mut().zip(sums) {
            *out = out.wrapping_add(sum.total());
        }
    }
}

/// What is left of a slice after whole vectors, and zeros.
fn padded(words: &[u64]) -> [u64; 8] {
    let rest = words.as_chunks::<8>().1;
    let mut padded = [0; 8];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

/// Adds eight products to every sum.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn step<const ROWS: usize, const COLUMNS: usize>(
    sums: &mut [[Sum; COLUMNS]; ROWS],
    u: [&[u64; 8]; ROWS],
    v: [&[u64; 8]; COLUMNS],
) {
    let mut factors = [Factor::new(_mm512_setzero_si512()); COLUMNS];
    for (factor, v) in factors.iter_mut().zip(v) {
        *factor = Factor::new(load(v));
    }
    for (sums, u) in sums.iter_mut().zip(u) {
        let halves = Halves::new(load(u));
        for (sum, factor) in sums.iter_mut().zip(factors) {
            *sum = sum.add(halves, factor);
        }
    }
}

/// [`super::combine`].
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn combine(u: &[Fp61], weights: &[Fp61], out: &mut [Fp61]) {
    let length = out.len();
    let u: &[u64] = bytemuck::cast_slice(u);
    let (wide, rest) = bytemuck::cast_slice_mut::<Fp61, u64>(out).as_chunks_mut::<WIDE>();
    for (index, out) in wide.iter_mut().enumerate() {
        let mut sums = [Sum::zero(); WIDE / 8];
        for (l, weight) in weights.iter().enumerate() {
            let row = &u[l * length + index * WIDE..][..WIDE];
            add_weighted(&mut sums, row.as_chunks().0, *weight);
        }
        for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
            store(out, sum.reduced());
        }
    }
    let first = length - rest.len();
    for (index, out) in rest.chunks_mut(8).enumerate() {
        let mut sums = [Sum::zero()];
        for (l, weight) in weights.iter().enumerate() {
            let row = &u[l * length + first + 8 * index..][..out.len()];
            let mut padded = [0; 8];
            padded[..row.len()].copy_from_slice(row);
            add_weighted(&mut sums, &[padded], *weight);
        }
        let mut reduced = [0; 8];
        store(&mut reduced, sums[0].reduced());
        out.copy_from_slice(&reduced[..out.len()]);
    }
}

/// Elements that are combined at a time: four chains of multiply-adds hide one another's delay.
const WIDE: usize = 32;

/// Adds products with a weight to the sums.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_weighted(sums: &mut [Sum], u: &[[u64; 8]], weight: Fp61) {
    let factor = Factor::new(_mm512_set1_epi64(weight.word() as i64));
    for (sum, u) in sums.iter_mut().zip(u) {
        *sum = sum.add(Halves::new(load(u)), factor);
    }
}

/// Eight sums of products.
#[derive(Clone, Copy)]
struct Sum {
    low: __m512i,
    /// What counts 2^52.
    high: __m512i,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        Self { low: _mm512_setzero_si512(), high: _mm512_setzero_si512() }
    }

    /// Adds less than 2^53 to each low word and less than 2^42 to each high one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(self, u: Halves, v: Factor) -> Self {
        let low = _mm512_madd52lo_epu64(self.low, u.low, v.once);
        let high = _mm512_madd52hi_epu64(self.high, u.low, v.once);
        let high = _mm512_madd52lo_epu64(high, u.low, v.once_above);
        let low = _mm512_madd52lo_epu64(low, u.high, v.turned);
        let high = _mm512_madd52hi_epu64(high, u.high, v.turned);
        let high = _mm512_madd52lo_epu64(high, u.high, v.turned_above);
        Self { low, high }
    }

    /// The sum of all eight, of at most [`TILE`] / 8 products each: low words are below 2^60, and their sum below
    /// 2^63.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total(self) -> Fp61 {
        let [low, high] = [_mm512_reduce_add_epi64(self.low), _mm512_reduce_add_epi64(self.high)];
        Fp61::from_u128(u128::from(low as u64) + (u128::from(high as u64) << 52))
    }

    /// The eight sums, reduced, of at most [`super::MAX_WEIGHTS`] products each: low words are below 2^63, high ones
    /// below 2^52, whose product with 2^52 is a rotation.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn reduced(self) -> __m512i {
        once(fold_words(_mm512_add_epi64(self.low, rotate::<52, 9>(self.high))))
    }
}

/// `u_0` and `u_1`: the low 31 bits and the others.
#[derive(Clone, Copy)]
struct Halves {
    low: __m512i,
    high: __m512i,
}

impl Halves {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(u: __m512i) -> Self {
        let low = _mm512_and_si512(u, _mm512_set1_epi64((1 << 31) - 1));
        Self { low, high: _mm512_srli_epi64::<31>(u) }
    }
}

/// `v` and `2^31 v`, of which multiply-adds take the low 52 bits, and what is above.
#[derive(Clone, Copy)]
struct Factor {
    once: __m512i,
    once_above: __m512i,
    turned: __m512i,
    turned_above: __m512i,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(v: __m512i) -> Self {
        let turned = rotate::<31, 30>(v);
        let [once_above, turned_above] = [_mm512_srli_epi64::<52>(v), _mm512_srli_epi64::<52>(turned)];
        Self { once: v, once_above, turned, turned_above }
    }
}
