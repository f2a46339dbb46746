//! Rows by byte shuffles and GF(2) affine transforms of 8 x 8 bits, 512 rows at a time.

use super::COLUMNS;
use std::arch::x86_64::*;

/// Groups of eight columns: a byte of every row.
const GROUPS: usize = COLUMNS / 8;

/// [`super::from_columns`], of columns of `words` words, for as many rows as there are: a multiple of 512.
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) fn from_columns(columns: &[u64], words: usize, rows: &mut [u128]) {
    for (tile, rows) in rows.as_chunks_mut::<512>().0.iter_mut().enumerate() {
        let mut groups = [[_mm512_setzero_si512(); 8]; GROUPS];
        for (g, group) in groups.iter_mut().enumerate() {
            // Byte q of lane l of vector v is byte g of row 128 l + 16 v + q.
            *group = bytes_of_rows(std::array::from_fn(|c| line(&columns[(8 * g + c) * words + 8 * tile..])));
        }
        for v in 0..8 {
            let quads = quads(&groups.each_ref().map(|group| group[v]));
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
    let [hg, fe, dc, ba] = [[h, g], [f, e], [d, c], [b, a]].map(|[x, y]| unpack8(x, y));
    let upper = [0, 1].map(|i| unpack16(hg[i], fe[i]));
    let lower = [0, 1].map(|i| unpack16(dc[i], ba[i]));
    let all = [0, 1, 2, 3].map(|i| unpack32(upper[i / 2][i % 2], lower[i / 2][i % 2]));
    [0, 1, 2, 3, 4, 5, 6, 7].map(|i| _mm512_gf2p8affine_epi64_epi8::<0>(units, all[i / 2][i % 2]))
}

/// From a byte of 64 rows in each of 16 vectors to four vectors of four bytes each for 16 of the rows: result `c` has, in
/// each lane, rows `4 c` to `4 c + 3` of the lane's 16.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn quads(bytes: &[__m512i; GROUPS]) -> [[__m512i; 4]; 4] {
    let fours = [0, 1, 2, 3].map(|m| {
        let pairs = [0, 1].map(|p| unpack8(bytes[4 * m + 2 * p], bytes[4 * m + 2 * p + 1]));
        let halves = [0, 1].map(|half| unpack16(pairs[0][half], pairs[1][half]));
        [0, 1, 2, 3].map(|c: usize| halves[c / 2][c % 2])
    });
    [0, 1, 2, 3].map(|c| [0, 1, 2, 3].map(|m: usize| fours[m][c]))
}

/// Puts four bytes each of 16 rows together: result `l` is the four rows of lane `l`.
#[inline]
#[target_feature(enable = "avx512f")]
fn whole_rows([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    let high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    let first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    let second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    let lanes = [low, high]
        .map(|half| [_mm512_permutex2var_epi32(a, half, b), _mm512_permutex2var_epi32(c, half, d)]);
    [0, 1, 2, 3].map(|lane: usize| {
        let [left, right] = lanes[lane / 2];
        _mm512_permutex2var_epi64(left, if lane % 2 == 0 { first } else { second }, right)
    })
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
