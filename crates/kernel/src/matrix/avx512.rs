//! Panels by AVX-512: a tile of the product, eight rows by two vectors, stays in registers.

use super::{Columns, Left, PANEL, panel_width};
use crate::Element;
use std::arch::x86_64::*;

/// [`super::multiply_panel`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn multiply_panel<E: Element>(a: Left<'_, E>, panel: &[E], c: &mut [E], columns: Columns) {
    let panel = bytemuck::cast_slice(panel).as_chunks().0;
    if (columns.total - columns.first) * E::BYTES > PANEL / 2 {
        multiply_vectors::<E, 2>(a, panel, c, columns);
    } else {
        multiply_vectors::<E, 1>(a, panel, c, columns);
    }
}

/// The same for the panel's first `VECTORS` vectors, if no more are used.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn multiply_vectors<E: Element, const VECTORS: usize>(
    a: Left<'_, E>,
    panel: &[[u8; PANEL]],
    c: &mut [E],
    columns: Columns,
) {
    let rows = a.words.len() / a.stride;
    let mut row = 0;
    while row < rows {
        row += match rows - row {
            8.. => multiply_tile::<E, VECTORS, 8>(a, panel, c, columns, row),
            4.. => multiply_tile::<E, VECTORS, 4>(a, panel, c, columns, row),
            2.. => multiply_tile::<E, VECTORS, 2>(a, panel, c, columns, row),
            _ => multiply_tile::<E, VECTORS, 1>(a, panel, c, columns, row),
        };
    }
}

/// The same for `ROWS` rows, whose number it returns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn multiply_tile<E: Element, const VECTORS: usize, const ROWS: usize>(
    a: Left<'_, E>,
    panel: &[[u8; PANEL]],
    c: &mut [E],
    columns: Columns,
    row: usize,
) -> usize {
    let factors = a.rows::<ROWS>(row);
    let mut sums = [[_mm512_setzero_si512(); VECTORS]; ROWS];
    for (i, b) in panel[..a.depth].iter().enumerate() {
        let b: [__m512i; VECTORS] = std::array::from_fn(|v| load(&b.as_chunks().0[v]));
        for (sums, factors) in sums.iter_mut().zip(factors) {
            // SAFETY: `rows` gives `depth` factors a row, and `i` is less than that.
            let factor = splat(unsafe { *factors.get_unchecked(i) });
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = mul_add::<E>(*sum, factor, b);
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        let c: &mut [u8] = bytemuck::cast_slice_mut(columns.of(c, row + i, panel_width::<E>()));
        for (c, &sum) in c.chunks_mut(PANEL / 2).zip(sums) {
            add_to::<E>(c, sum);
        }
    }
    ROWS
}

/// `x` in every word; a byte is put into words of two bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn splat<E: Element>(x: E) -> __m512i {
    match E::BYTES {
        1 | 2 => _mm512_set1_epi16(x.to_u128() as i16),
        4 => _mm512_set1_epi32(x.to_u128() as i32),
        _ => _mm512_set1_epi64(x.to_u128() as i64),
    }
}

/// `sum + factor * x`, where all of `factor` is one word by [`splat`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn mul_add<E: Element>(sum: __m512i, factor: __m512i, x: __m512i) -> __m512i {
    let products = match E::BYTES {
        1 => {
            // There is no product of bytes: those at even places are the low halves of products of two bytes,
            // those at odd places the high halves, if nothing comes from below.
            let even = _mm512_mullo_epi16(factor, x);
            let odd = _mm512_mullo_epi16(factor, _mm512_and_si512(x, _mm512_set1_epi16(0xff00_u16 as i16)));
            _mm512_mask_blend_epi8(0xaaaa_aaaa_aaaa_aaaa, even, odd)
        }
        2 => _mm512_mullo_epi16(factor, x),
        4 => _mm512_mullo_epi32(factor, x),
        _ => _mm512_mullo_epi64(factor, x),
    };
    add::<E>(sum, products)
}

/// Adds a vector's words to memory: 64 bytes, or as many as there are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_to<E: Element>(bytes: &mut [u8], x: __m512i) {
    let unused = 64_u32.saturating_sub(bytes.len() as u32);
    let mask = u64::MAX.checked_shr(unused).unwrap_or(0);
    let place = bytes.as_mut_ptr().cast();
    // SAFETY: the mask has a bit for every byte that may be read and written, and no other.
    let sum = add::<E>(unsafe { _mm512_maskz_loadu_epi8(mask, place) }, x);
    // SAFETY: as above.
    unsafe { _mm512_mask_storeu_epi8(place, mask, sum) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add<E: Element>(x: __m512i, y: __m512i) -> __m512i {
    match E::BYTES {
        1 => _mm512_add_epi8(x, y),
        2 => _mm512_add_epi16(x, y),
        4 => _mm512_add_epi32(x, y),
        _ => _mm512_add_epi64(x, y),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
