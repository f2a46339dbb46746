//! Products by multiply-adds of 52 bits.
//!
//! An instruction multiplies the low 52 bits of two words and adds the low or the high 52 bits of the product to a third word. With
//! `a = a_0 + 2^52 a_1` and `b` likewise a product is `a_0 b_0 + 2^52 (a_0 b_1 + a_1 b_0) + 2^104 a_1 b_1`: seven multiply-adds for
//! eight products, since the last one has no high part, into sums of what counts 1, 2^52 and 2^104. They are divided by 2^64 in
//! two steps, of 52 bits and of 12.

use super::{Prime, Weight};
use crate::field::avx512::{load, store};
use std::arch::x86_64::*;

/// Rows of products that are added up before a sum is reduced: of more a word would overflow.
const ROWS: usize = 1024;

/// Eight sums of products.
#[derive(Clone, Copy)]
struct Sum {
    low: __m512i,
    /// What counts 2^52.
    middle: __m512i,
    /// What counts 2^104.
    high: __m512i,
}

/// Eight words, of which multiply-adds take the low 52 bits, and what is above.
#[derive(Clone, Copy)]
struct Halves {
    low: __m512i,
    high: __m512i,
}

impl Halves {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(words: __m512i) -> Self {
        Self { low: words, high: _mm512_srli_epi64::<52>(words) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(word: u64) -> Self {
        Self::new(_mm512_set1_epi64(word as i64))
    }
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        let zero = _mm512_setzero_si512();
        Self { low: zero, middle: zero, high: zero }
    }

    /// Adds less than 2^52, 2^54 and 2^25.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(self, a: Halves, b: Halves) -> Self {
        let low = _mm512_madd52lo_epu64(self.low, a.low, b.low);
        let middle = _mm512_madd52hi_epu64(self.middle, a.low, b.low);
        let middle = _mm512_madd52lo_epu64(middle, a.low, b.high);
        let middle = _mm512_madd52lo_epu64(middle, a.high, b.low);
        let high = _mm512_madd52hi_epu64(self.high, a.low, b.high);
        let high = _mm512_madd52hi_epu64(high, a.high, b.low);
        let high = _mm512_madd52lo_epu64(high, a.high, b.high);
        Self { low, middle, high }
    }

    /// The eight sums, less than 2^127, divided by 2^64 modulo p and below 2^63 + 2^61, as [`Prime::redc`] does.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduced(self, modulus: &Modulus) -> __m512i {
        let Modulus { p, negated_inverse } = *modulus;
        let (zero, twelve) = (_mm512_setzero_si512(), _mm512_set1_epi64((1 << 12) - 1));
        // The low 52 bits become 0, and what is above them is carried.
        let m = _mm512_madd52lo_epu64(zero, self.low, negated_inverse);
        let low = _mm512_madd52lo_epu64(self.low, m, p.low);
        let middle = _mm512_add_epi64(self.middle, _mm512_srli_epi64::<52>(low));
        let middle = _mm512_madd52hi_epu64(middle, m, p.low);
        let middle = _mm512_madd52lo_epu64(middle, m, p.high);
        let high = _mm512_madd52hi_epu64(self.high, m, p.high);
        // Then 12 bits more.
        let m = _mm512_and_si512(_mm512_madd52lo_epu64(zero, middle, negated_inverse), twelve);
        let middle = _mm512_madd52lo_epu64(middle, m, p.low);
        let high = _mm512_madd52hi_epu64(high, m, p.low);
        let high = _mm512_madd52lo_epu64(high, m, p.high);
        _mm512_add_epi64(_mm512_srli_epi64::<12>(middle), _mm512_slli_epi64::<40>(high))
    }

    /// The sum of all eight, of at most [`TILE`] products together, as [`Prime::add_inner_products`] adds them up.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total(self, prime: &Prime) -> u128 {
        let all = [self.low, self.middle, self.high].map(|words| _mm512_reduce_add_epi64(words) as u64);
        quotient(prime, all)
    }

    /// Each of the eight, of at most [`ROWS`] products.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn each(self, prime: &Prime) -> [u128; 8] {
        let mut parts = [[0; 8]; 3];
        for (out, words) in parts.iter_mut().zip([self.low, self.middle, self.high]) {
            store(out, words);
        }
        std::array::from_fn(|lane| quotient(prime, parts.map(|part| part[lane])))
    }
}

/// A sum divided by 2^64 modulo p, below 2^90: of what counts 2^104 there is 2^40 left.
#[inline(always)]
fn quotient(prime: &Prime, [low, middle, high]: [u64; 3]) -> u128 {
    u128::from(prime.redc(u128::from(low) + (u128::from(middle) << 52))) + (u128::from(high) << 40)
}

#[derive(Clone, Copy)]
struct Modulus {
    p: Halves,
    negated_inverse: __m512i,
}

impl Modulus {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(prime: &Prime) -> Self {
        Self { p: Halves::of(prime.p), negated_inverse: _mm512_set1_epi64(prime.negated_inverse as i64) }
    }

    /// Numbers less `2^shift p` where they aren't below that.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn less<const SHIFT: u32>(&self, x: __m512i) -> __m512i {
        _mm512_min_epu64(x, _mm512_sub_epi64(x, _mm512_slli_epi64::<SHIFT>(self.p.low)))
    }
}

/// [`Prime::weigh`] of whole vectors; how many words these are.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn weigh(prime: &Prime, weight: Weight, words: &[u64], out: &mut [u64]) -> usize {
    let (modulus, weight) = (Modulus::new(prime), Halves::of(weight.0));
    let (words, out) = (words.as_chunks().0, out.as_chunks_mut().0);
    for (out, words) in out.iter_mut().zip(words) {
        store(out, weighed(&modulus, weight, words));
    }
    8 * words.len()
}

/// [`Prime::weigh_each`] of whole vectors; how many words these are.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn weigh_each(prime: &Prime, weights: &[u64], words: &[u64], out: &mut [u64]) -> usize {
    let modulus = Modulus::new(prime);
    let (weights, words, out) = (weights.as_chunks().0, words.as_chunks().0, out.as_chunks_mut().0);
    for ((out, words), weights) in out.iter_mut().zip(words).zip(weights) {
        store(out, weighed(&modulus, Halves::new(load(weights)), words));
    }
    8 * words.len()
}

/// Eight of [`Prime::weighed`].
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn weighed(modulus: &Modulus, weight: Halves, words: &[u64; 8]) -> __m512i {
    let product = Sum::zero().add(weight, Halves::new(load(words)));
    modulus.less::<0>(modulus.less::<1>(product.reduced(modulus)))
}

/// [`Prime::combine`] of whole vectors of a block; how many elements of it these are.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn combine(prime: &Prime, u: &[u64], weights: &[Weight], out: &mut [u64]) -> usize {
    let (modulus, length) = (Modulus::new(prime), out.len());
    let out = out.as_chunks_mut().0;
    for (index, out) in out.iter_mut().enumerate() {
        let mut sum = Sum::zero();
        for (l, weight) in weights.iter().enumerate() {
            let row = u[l * length + 8 * index..].first_chunk();
            if let Some(row) = row {
                sum = sum.add(Halves::of(weight.0), Halves::new(load(row)));
            }
        }
        let sums = modulus.less::<2>(modulus.less::<3>(sum.reduced(&modulus)));
        store(out, modulus.less::<0>(modulus.less::<1>(sums)));
    }
    8 * out.len()
}

/// [`Prime::combine_words`] of whole vectors; how many elements these are.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn combine_words(prime: &Prime, blocks: &[&[u64]], weights: &[Weight], out: &mut [u64]) -> usize {
    let modulus = Modulus::new(prime);
    let out = out.as_chunks_mut().0;
    for (index, out) in out.iter_mut().enumerate() {
        let mut sum = Sum::zero();
        for (block, weight) in blocks.iter().zip(weights) {
            if let Some(words) = block[8 * index..].first_chunk() {
                sum = sum.add(Halves::of(weight.0), Halves::new(load(words)));
            }
        }
        // Below 2^64 + 2^61. What may have a 65th bit, of sums that are 2^127 or more, is above 4 p.
        let carried = _mm512_add_epi64(sum.high, _mm512_srli_epi64::<52>(sum.middle));
        let large = _mm512_cmpge_epu64_mask(carried, _mm512_set1_epi64(1 << 23));
        let sums = sum.reduced(&modulus);
        let sums = _mm512_mask_sub_epi64(sums, large, sums, _mm512_slli_epi64::<2>(modulus.p.low));
        let sums = modulus.less::<2>(modulus.less::<3>(sums));
        store(out, modulus.less::<0>(modulus.less::<1>(sums)));
    }
    8 * out.len()
}

/// The sum of products of whole vectors as [`Prime::weighted_sum`] adds them up; how many words these are.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn weighted_sum(prime: &Prime, weights: &[u64], words: &[u64]) -> (u128, usize) {
    let (weights, words) = (weights.as_chunks().0, words.as_chunks().0);
    let mut total = 0;
    for (weights, words) in weights.chunks(ROWS / 8).zip(words.chunks(ROWS / 8)) {
        let mut sum = Sum::zero();
        for (weights, words) in weights.iter().zip(words) {
            sum = sum.add(Halves::new(load(weights)), Halves::new(load(words)));
        }
        total += sum.total(prime);
    }
    (total, 8 * words.len())
}

/// [`Prime::add_columns`], or [`Prime::add_rows`] if there is a weight for each row alone, of whole vectors of columns; how many
/// columns these are.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_columns(prime: &Prime, weights: &[u64], words: &[u64], sums: &mut [u128]) -> usize {
    let columns = sums.len();
    let by_row = weights.len() < words.len();
    let whole = columns / 8 * 8;
    for (index, sums) in sums.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let mut rows = words.chunks_exact(columns).enumerate();
        loop {
            let (mut sum, mut count) = (Sum::zero(), 0);
            for (row, words) in rows.by_ref().take(ROWS) {
                let at = row * columns + 8 * index;
                let (weight, words) = if by_row {
                    (Some(Halves::of(weights[row])), words[8 * index..].first_chunk())
                } else {
                    let each = weights[at..].first_chunk();
                    (each.map(|weights| Halves::new(load(weights))), words[8 * index..].first_chunk())
                };
                if let (Some(weight), Some(words)) = (weight, words) {
                    sum = sum.add(weight, Halves::new(load(words)));
                }
                count += 1;
            }
            sums.iter_mut().zip(sum.each(prime)).for_each(|(sum, more)| *sum += more);
            if count < ROWS {
                break;
            }
        }
    }
    whole
}

/// [`Prime::add_inner_products`].
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_inner_products(prime: &Prime, u: &[&[u64]], v: &[&[u64]], sums: &mut [u128]) {
    let blocks = u.len();
    for l in (0..blocks).step_by(2) {
        for k in (0..blocks).step_by(2) {
            // Of an odd number of blocks the last one stands in for the one behind it, whose products nobody takes.
            let pair = |first: usize| [first, (first + 1).min(blocks - 1)];
            let (left, right) = (pair(l).map(|block| u[block]), pair(k).map(|block| v[block]));
            for (at, sum) in four_products(left, right).into_iter().enumerate() {
                let (row, column) = (l + at / 2, k + at % 2);
                if row < blocks && column < blocks {
                    sums[row * blocks + column] += sum.total(prime);
                }
            }
        }
    }
}

/// Both vectors of the left side by both of the right one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn four_products(u: [&[u64]; 2], v: [&[u64]; 2]) -> [Sum; 4] {
    let mut sums = [Sum::zero(); 4];
    let whole = [u[0], u[1], v[0], v[1]].map(|words| words.as_chunks::<8>());
    for index in 0..whole[0].0.len() {
        add_four(&mut sums, whole.map(|(words, _)| &words[index]));
    }
    let rest = whole.map(|(_, rest)| {
        let mut padded = [0; 8];
        padded[..rest.len()].copy_from_slice(rest);
        padded
    });
    if !whole[0].1.is_empty() {
        add_four(&mut sums, rest.each_ref());
    }
    sums
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_four(sums: &mut [Sum; 4], words: [&[u64; 8]; 4]) {
    let [u, other_u, v, other_v] = [
        Halves::new(load(words[0])),
        Halves::new(load(words[1])),
        Halves::new(load(words[2])),
        Halves::new(load(words[3])),
    ];
    *sums =
        [sums[0].add(u, v), sums[1].add(u, other_v), sums[2].add(other_u, v), sums[3].add(other_u, other_v)];
}
