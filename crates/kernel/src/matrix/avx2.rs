//! Panels by AVX2, for words of four and eight bytes: a tile of the product, two rows by two vectors, stays in
//! registers.

use super::{Columns, Left, PANEL, panel_width};
use crate::Element;
use std::arch::x86_64::*;

/// Bytes in the columns of a tile.
const TILE: usize = 64;

/// [`super::multiply_panel`].
#[target_feature(enable = "avx2")]
pub(super) fn multiply_panel<E: Element>(a: Left<'_, E>, panel: &[E], c: &mut [E], columns: Columns) {
    let panel: &[[u8; PANEL]] = bytemuck::cast_slice(panel).as_chunks().0;
    let rows = a.words.len() / a.stride;
    for half in 0..PANEL / TILE {
        for row in (0..rows & !1).step_by(2) {
            multiply_tile::<E, 2>(a, panel, c, columns, row, half);
        }
        if rows % 2 == 1 {
            multiply_tile::<E, 1>(a, panel, c, columns, rows - 1, half);
        }
    }
}

/// The same for `ROWS` rows and half of the columns.
#[inline]
#[target_feature(enable = "avx2")]
fn multiply_tile<E: Element, const ROWS: usize>(
    a: Left<'_, E>,
    panel: &[[u8; PANEL]],
    c: &mut [E],
    columns: Columns,
    row: usize,
    half: usize,
) {
    let factors = a.rows::<ROWS>(row);
    let mut sums = [[Sum { low: _mm256_setzero_si256(), middle: _mm256_setzero_si256() }; 2]; ROWS];
    for (i, b) in panel[..a.depth].iter().enumerate() {
        let b = b.as_chunks::<TILE>().0[half].as_chunks().0;
        let b = [load(&b[0]), load(&b[1])];
        for (sums, factors) in sums.iter_mut().zip(factors) {
            // SAFETY: `rows` gives `depth` factors a row, and `i` is less than that.
            let factor = unsafe { *factors.get_unchecked(i) };
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = mul_add(*sum, factor, b);
            }
        }
    }
    for (i, [left, right]) in sums.into_iter().enumerate() {
        let c: &mut [u8] = bytemuck::cast_slice_mut(columns.of(c, row + i, panel_width::<E>()));
        let c = c.chunks_mut(TILE).nth(half).unwrap_or_default();
        let mut whole = [[0; 32]; 2];
        whole.as_flattened_mut()[..c.len()].copy_from_slice(c);
        for (place, sum) in whole.iter_mut().zip([left, right]) {
            store(place, add_to::<E>(load(place), sum));
        }
        c.copy_from_slice(&whole.as_flattened()[..c.len()]);
    }
}

/// A sum of products, as `low + middle * 2^32`: there is no product of words of eight bytes, but one of halves.
#[derive(Clone, Copy)]
struct Sum {
    low: __m256i,
    middle: __m256i,
}

/// `sum + factor * x`.
#[inline]
#[target_feature(enable = "avx2")]
fn mul_add<E: Element>(sum: Sum, factor: E, x: __m256i) -> Sum {
    let factor = factor.to_u128() as i64;
    if E::BYTES == 4 {
        let products = _mm256_mullo_epi32(_mm256_set1_epi32(factor as i32), x);
        return Sum { low: _mm256_add_epi32(sum.low, products), ..sum };
    }
    let (low, high) = (_mm256_set1_epi64x(factor), _mm256_set1_epi64x(factor >> 32));
    let cross =
        _mm256_add_epi64(_mm256_mul_epu32(high, x), _mm256_mul_epu32(low, _mm256_srli_epi64::<32>(x)));
    Sum {
        low: _mm256_add_epi64(sum.low, _mm256_mul_epu32(low, x)),
        middle: _mm256_add_epi64(sum.middle, cross),
    }
}

/// `words + sum`.
#[inline]
#[target_feature(enable = "avx2")]
fn add_to<E: Element>(words: __m256i, sum: Sum) -> __m256i {
    if E::BYTES == 4 {
        return _mm256_add_epi32(words, sum.low);
    }
    _mm256_add_epi64(_mm256_add_epi64(words, sum.low), _mm256_slli_epi64::<32>(sum.middle))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes that may be read, at any alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; 32], vector: __m256i) {
    // SAFETY: 32 bytes that may be written, at any alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) };
}
