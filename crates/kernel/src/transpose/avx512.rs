//! Transposes by byte shuffles and GF(2) affine transforms of 8 x 8 bits.
//!
//! A chunk is eight blocks of 64 elements. Two shapes of the same 512-bit vectors meet here: *bytes* `[block][k]`,
//! whose vector `k` holds byte `k` of something 64 times, and *lines*, whose eight words are one plane's.
//!
//! Vectors are written out one by one: what is given to `array::map` isn't compiled into its caller here.

use super::{CHUNK, LINE, Tile};
use crate::Word;
use std::arch::x86_64::*;

/// Elements to planes; those beyond the word's width are zero.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub(super) fn split<W: Word>(src: &[W; CHUNK], tile: &mut Tile) {
    let mut blocks = [[_mm512_setzero_si512(); 8]; LINE];
    for (block, elements) in blocks.iter_mut().zip(src.as_chunks::<64>().0) {
        let mut bytes = [_mm512_setzero_si512(); 8];
        // Byte `p` of vector `k`: the bits of elements 8k to 8k + 7 at place `p`.
        for (vector, eight) in bytes.iter_mut().zip(elements.as_chunks().0) {
            *vector = transpose_bits(load(eight));
        }
        *block = interleave(&bytes);
    }
    for vector in 0..8 {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (row, block) in rows.iter_mut().zip(&blocks) {
            *row = block[vector];
        }
        let lines = transpose_words(&rows);
        for (word, line) in lines.into_iter().enumerate() {
            store(&mut tile[place(vector, word)], line);
        }
    }
}

/// Planes to elements; bits beyond the word's width are dropped.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub(super) fn join<W: Word>(tile: &Tile, dst: &mut [W; CHUNK]) {
    // Byte `i` of vector `k`: byte `k` of element `i`.
    let mut blocks = [[_mm512_setzero_si512(); 8]; LINE];
    for (byte, lines) in tile.as_chunks::<8>().0.iter().enumerate() {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (row, line) in rows.iter_mut().zip(lines) {
            *row = load(line);
        }
        let planes = transpose_words(&rows);
        for (block, planes) in blocks.iter_mut().zip(planes) {
            block[byte] = _mm512_permutexvar_epi8(index(&ORDER), transpose_bits(planes));
        }
    }
    for (block, elements) in blocks.iter().zip(dst.as_chunks_mut::<64>().0) {
        for (vector, eight) in interleave(block).into_iter().zip(elements.as_chunks_mut().0) {
            store(eight, vector);
        }
    }
}

/// Where [`interleave`] takes its results from: the byte of its operands that word `word` of result `vector`
/// is made of.
const fn place(vector: usize, word: usize) -> usize {
    word / 2 * 16 + vector * 2 + word % 2
}

/// Puts byte `8 v + w` where [`interleave`] makes word `w` of result `v` of it.
const ORDER: [u8; 64] = {
    let mut order = [0; 64];
    let mut i = 0;
    while i < 64 {
        order[place(i / 8, i % 8)] = i as u8;
        i += 1;
    }
    order
};

/// Byte `e` of word `c` from byte `c` of word `7 - e`.
const REVERSED_COLUMNS: [u8; 64] = {
    let mut order = [0; 64];
    let mut i = 0;
    while i < 64 {
        order[i] = (8 * (7 - i % 8) + i / 8) as u8;
        i += 1;
    }
    order
};

/// Eight words to 64 bytes: bit `w` of byte `p` is bit `p` of word `w`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_bits(words: __m512i) -> __m512i {
    let columns = _mm512_permutexvar_epi8(index(&REVERSED_COLUMNS), words);
    // Each word of `columns` is the matrix, its last row first; it is applied to the unit vectors.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
    _mm512_gf2p8affine_epi64_epi8::<0>(units, columns)
}

/// Word `w` of result `v` is byte [`place`]`(v, w)` of all eight operands, in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn interleave(bytes: &[__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = *bytes;
    let [ab, cd, ef, gh] = [unpack8(a, b), unpack8(c, d), unpack8(e, f), unpack8(g, h)];
    let [ac, bd] = [unpack16(ab[0], cd[0]), unpack16(ab[1], cd[1])];
    let [eg, fh] = [unpack16(ef[0], gh[0]), unpack16(ef[1], gh[1])];
    let [first, second] = [unpack32(ac[0], eg[0]), unpack32(ac[1], eg[1])];
    let [third, fourth] = [unpack32(bd[0], fh[0]), unpack32(bd[1], fh[1])];
    [first[0], first[1], second[0], second[1], third[0], third[1], fourth[0], fourth[1]]
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

/// Transposes 8 x 8 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_words(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = *rows;
    // Pairs of words, then quarters of vectors, then halves.
    let [ab, cd, ef, gh] = [pairs(a, b), pairs(c, d), pairs(e, f), pairs(g, h)];
    // [odd][half]: words odd + 2 half and odd + 2 half + 4 of rows a to d, and of e to h.
    let top = [quarters(ab[0], cd[0]), quarters(ab[1], cd[1])];
    let bottom = [quarters(ef[0], gh[0]), quarters(ef[1], gh[1])];
    let [first, second] = [quarters(top[0][0], bottom[0][0]), quarters(top[1][0], bottom[1][0])];
    let [third, fourth] = [quarters(top[0][1], bottom[0][1]), quarters(top[1][1], bottom[1][1])];
    [first[0], second[0], third[0], fourth[0], first[1], second[1], third[1], fourth[1]]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn pairs(x: __m512i, y: __m512i) -> [__m512i; 2] {
    [_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(x: __m512i, y: __m512i) -> [__m512i; 2] {
    [_mm512_shuffle_i64x2::<0b10_00_10_00>(x, y), _mm512_shuffle_i64x2::<0b11_01_11_01>(x, y)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn index(order: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes that may be read, at any alignment.
    unsafe { _mm512_loadu_si512(order.as_ptr().cast()) }
}

/// Eight words, widened to 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn load<W: Word>(words: &[W; 8]) -> __m512i {
    let from = words.as_ptr();
    // SAFETY: the words are 8, 16, 32 or 64 bytes that may be read, at any alignment.
    unsafe {
        match W::BYTES {
            1 => _mm512_cvtepu8_epi64(_mm_loadl_epi64(from.cast())),
            2 => _mm512_cvtepu16_epi64(_mm_loadu_si128(from.cast())),
            4 => _mm512_cvtepu32_epi64(_mm256_loadu_si256(from.cast())),
            _ => _mm512_loadu_si512(from.cast()),
        }
    }
}

/// Eight words, narrowed from 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn store<W: Word>(words: &mut [W; 8], vector: __m512i) {
    let to = words.as_mut_ptr();
    // SAFETY: the words are 8, 16, 32 or 64 bytes that may be written, at any alignment.
    unsafe {
        match W::BYTES {
            1 => _mm_storel_epi64(to.cast(), _mm512_cvtepi64_epi8(vector)),
            2 => _mm_storeu_si128(to.cast(), _mm512_cvtepi64_epi16(vector)),
            4 => _mm256_storeu_si256(to.cast(), _mm512_cvtepi64_epi32(vector)),
            _ => _mm512_storeu_si512(to.cast(), vector),
        }
    }
}
