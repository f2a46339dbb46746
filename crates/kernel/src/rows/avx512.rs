//! Rows by byte shuffles and GF(2) affine transforms of 8 x 8 bits, 512 rows at a time.

use super::COLUMNS;
use std::arch::x86_64::*;

/// Bytes of a row, each of eight columns.
const BYTES: usize = COLUMNS / 8;

/// [`super::from_columns`], of columns of `words` words, for as many rows as there are: a multiple of 512.
///
/// Loops instead of closures: what isn't inlined here isn't compiled for these instructions.
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) fn from_columns(columns: &[u64], words: usize, rows: &mut [u128]) {
    for (tile, rows) in rows.as_chunks_mut::<512>().0.iter_mut().enumerate() {
        // Byte q of lane l of vector g of group v is byte g of row 128 l + 16 v + q.
        let mut groups = [[_mm512_setzero_si512(); BYTES]; 8];
        for g in 0..BYTES {
            let mut lines = [_mm512_setzero_si512(); 8];
            for (c, vector) in lines.iter_mut().enumerate() {
                *vector = line(&columns[(8 * g + c) * words + 8 * tile..]);
            }
            for (group, bytes) in groups.iter_mut().zip(bytes_of_rows(lines)) {
                group[g] = bytes;
            }
        }
        for (v, bytes) in groups.iter().enumerate() {
            // In each lane of quad c, four bytes each of rows 4 c to 4 c + 3 of the lane's 16.
            let mut quads = [[_mm512_setzero_si512(); 4]; 4];
            for (m, four) in bytes.as_chunks::<4>().0.iter().enumerate() {
                let [[a, b], [c, d]] = [unpack8(four[0], four[1]), unpack8(four[2], four[3])];
                let [[e, f], [g, h]] = [unpack16(a, c), unpack16(b, d)];
                for (quad, vector) in quads.iter_mut().zip([e, f, g, h]) {
                    quad[m] = vector;
                }
            }
            for (c, quad) in quads.into_iter().enumerate() {
                for (lane, four) in whole_rows(quad).into_iter().enumerate() {
                    let at = 128 * lane + 16 * v + 4 * c;
                    let place: &mut [u128] = &mut rows[at..at + 4];
                    // SAFETY: four rows are 64 bytes that may be written, at any alignment.
                    unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), four) };
                }
            }
        }
    }
}

/// From lines of eight columns to those columns' bits of single rows, a byte for each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn bytes_of_rows([a, b, c, d, e, f, g, h]: [__m512i; 8]) -> [__m512i; 8] {
    // An affine transform takes its matrix's last row first. It is applied to the unit vectors.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
    let [[hg0, hg1], [fe0, fe1]] = [unpack8(h, g), unpack8(f, e)];
    let [[dc0, dc1], [ba0, ba1]] = [unpack8(d, c), unpack8(b, a)];
    let [[upper0, upper1], [upper2, upper3]] = [unpack16(hg0, fe0), unpack16(hg1, fe1)];
    let [[lower0, lower1], [lower2, lower3]] = [unpack16(dc0, ba0), unpack16(dc1, ba1)];
    let [[r0, r1], [r2, r3]] = [unpack32(upper0, lower0), unpack32(upper1, lower1)];
    let [[r4, r5], [r6, r7]] = [unpack32(upper2, lower2), unpack32(upper3, lower3)];
    let mut bytes = [r0, r1, r2, r3, r4, r5, r6, r7];
    for vector in &mut bytes {
        *vector = _mm512_gf2p8affine_epi64_epi8::<0>(units, *vector);
    }
    bytes
}

/// Puts four bytes each of 16 rows together: result `l` is the four rows of lane `l`.
#[inline]
#[target_feature(enable = "avx512f")]
fn whole_rows([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    let high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    let first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    let second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    let [ab_low, ab_high] = [_mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b)];
    let [cd_low, cd_high] = [_mm512_permutex2var_epi32(c, low, d), _mm512_permutex2var_epi32(c, high, d)];
    [
        _mm512_permutex2var_epi64(ab_low, first, cd_low),
        _mm512_permutex2var_epi64(ab_low, second, cd_low),
        _mm512_permutex2var_epi64(ab_high, first, cd_high),
        _mm512_permutex2var_epi64(ab_high, second, cd_high),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn unpack8(x: __m512i, y: __m512i) -> [__m512i; 2] {
    [_mm512_unpacklo_epi8(x, y), _mm512_unpackhi_epi8(x, y)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn unpack16(x: __m512i, y: __m512i) -> [__m512i; 2] {
    [_mm512_unpacklo_epi16(x, y), _mm512_unpackhi_epi16(x, y)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn unpack32(x: __m512i, y: __m512i) -> [__m512i; 2] {
    [_mm512_unpacklo_epi32(x, y), _mm512_unpackhi_epi32(x, y)]
}

/// The first eight words of what is left of a column.
#[inline]
#[target_feature(enable = "avx512f")]
fn line(words: &[u64]) -> __m512i {
    let line = &words[..8];
    // SAFETY: 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}
