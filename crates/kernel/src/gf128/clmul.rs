//! Inner products by carry-less multiplication.

use super::{Gf128, reduce};
use std::arch::x86_64::*;

/// [`super::weigh`]: an element at a time.
#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn weigh_avx2(weights: &[Gf128], columns: &[u64], sums: &mut [Gf128]) {
    for (index, sum) in sums.iter_mut().enumerate() {
        let column = &columns[2 * weights.len() * index..][..2 * weights.len()];
        let [mut low, mut middle, mut high] = [_mm_setzero_si128(); 3];
        for (weight, pair) in weights.iter().zip(column.as_chunks::<2>().0) {
            let (a, b) = (load(std::ptr::from_ref(weight).cast()), load(pair.as_ptr().cast()));
            low = _mm_xor_si128(low, _mm_clmulepi64_si128::<0x00>(a, b));
            high = _mm_xor_si128(high, _mm_clmulepi64_si128::<0x11>(a, b));
            let crossed =
                _mm_xor_si128(_mm_clmulepi64_si128::<0x01>(a, b), _mm_clmulepi64_si128::<0x10>(a, b));
            middle = _mm_xor_si128(middle, crossed);
        }
        *sum = sum.plus(reduced([low, middle, high].map(|vector| value(vector))));
    }
}

/// Sixteen bytes of a slice's element.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: *const [u8; 16]) -> __m128i {
    // SAFETY: callers point to an element of sixteen bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn value(vector: __m128i) -> u128 {
    let (low, high) = (_mm_cvtsi128_si64(vector) as u64, _mm_extract_epi64::<1>(vector) as u64);
    u128::from(high) << 64 | u128::from(low)
}

/// The element of products of low words, crossed ones and high ones.
#[inline]
fn reduced([low, middle, high]: [u128; 3]) -> Gf128 {
    Gf128(reduce(low ^ middle << 64, high ^ middle >> 64))
}

/// [`super::weigh`]: four elements at a time.
#[target_feature(enable = "avx512f,avx512dq,vpclmulqdq")]
pub(super) fn weigh_avx512(weights: &[Gf128], columns: &[u64], sums: &mut [Gf128]) {
    let (whole, rest) = weights.as_chunks::<4>();
    for (index, sum) in sums.iter_mut().enumerate() {
        let column = &columns[2 * weights.len() * index..][..2 * weights.len()];
        let (lines, tail) = column.as_chunks::<8>();
        let mut products = [_mm512_setzero_si512(); 4];
        for (weights, line) in whole.iter().zip(lines) {
            add(&mut products, wide(weights), load_wide(line));
        }
        if !rest.is_empty() {
            let (mut weights, mut line) = ([Gf128::ZERO; 4], [0; 8]);
            weights[..rest.len()].copy_from_slice(rest);
            line[..tail.len()].copy_from_slice(tail);
            add(&mut products, wide(&weights), load_wide(&line));
        }
        let [low, first, second, high] = products;
        let middle = _mm512_xor_si512(first, second);
        *sum = sum.plus(reduced([low, middle, high].map(|vector| fold(vector))));
    }
}

/// Adds products of low words, of crossed ones in both ways, and of high words.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn add(products: &mut [__m512i; 4], a: __m512i, b: __m512i) {
    let [low, first, second, high] = products;
    *low = _mm512_xor_si512(*low, _mm512_clmulepi64_epi128::<0x00>(a, b));
    *first = _mm512_xor_si512(*first, _mm512_clmulepi64_epi128::<0x01>(a, b));
    *second = _mm512_xor_si512(*second, _mm512_clmulepi64_epi128::<0x10>(a, b));
    *high = _mm512_xor_si512(*high, _mm512_clmulepi64_epi128::<0x11>(a, b));
}

/// The sum of a vector's four blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn fold(vector: __m512i) -> u128 {
    let mut words = [0_u128; 4];
    // SAFETY: four words are 64 bytes that may be written, at any alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
    words.into_iter().fold(0, |sum, word| sum ^ word)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn wide(elements: &[Gf128; 4]) -> __m512i {
    // SAFETY: four elements are 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(elements.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_wide(line: &[u64; 8]) -> __m512i {
    // SAFETY: eight words are 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}
