//! Eight words at a time modulo 2^61 - 1.

use super::Fp61;
use std::arch::x86_64::*;

/// Words of up to 61 bits rotated by `LEFT`, where `RIGHT` is what is left of 61.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn rotate<const LEFT: u32, const RIGHT: u32>(words: __m512i) -> __m512i {
    let high = _mm512_and_si512(_mm512_slli_epi64::<LEFT>(words), modulus());
    _mm512_or_si512(high, _mm512_srli_epi64::<RIGHT>(words))
}

/// [`Fp61::fold_word`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn fold_words(words: __m512i) -> __m512i {
    _mm512_add_epi64(_mm512_and_si512(words, modulus()), _mm512_srli_epi64::<61>(words))
}

/// [`Fp61::once`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn once(words: __m512i) -> __m512i {
    _mm512_min_epu64(words, _mm512_sub_epi64(words, modulus()))
}

/// The modulus in every word.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn modulus() -> __m512i {
    _mm512_set1_epi64(Fp61::MODULUS as i64)
}

/// Eight words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Eight words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(words: &mut [u64; 8], vector: __m512i) {
    // SAFETY: 64 bytes that may be written, at any alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}
