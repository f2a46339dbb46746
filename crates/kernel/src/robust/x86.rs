//! The hash by AES instructions: enough blocks in flight to hide an instruction's latency.

use crate::aes::x86::{RoundKeys, broadcast, encrypt_avx2, encrypt_avx512, load, store};
use std::arch::x86_64::*;

/// Vectors in flight.
const WIDE: usize = 8;

/// Rows of so many vectors.
const ROWS: usize = 4 * WIDE;

/// [`super::RobustHash::hash`].
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
pub(super) fn hash_avx512(keys: &RoundKeys, first: u64, rows: &mut [u128]) {
    let keys = broadcast(keys);
    let mut index = indices(first);
    let (whole, rest) = rows.as_chunks_mut::<ROWS>();
    for rows in whole {
        let hashed = hashed(&keys, load_rows(rows), &count(&mut index));
        store_rows(rows, &hashed);
    }
    if !rest.is_empty() {
        let mut rows = [0; ROWS];
        rows[..rest.len()].copy_from_slice(rest);
        let hashed = hashed(&keys, load_rows(&rows), &count(&mut index));
        store_rows(&mut rows, &hashed);
        rest.copy_from_slice(&rows[..rest.len()]);
    }
}

/// [`super::RobustHash::hash_both`].
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
pub(super) fn hash_both_avx512(
    keys: &RoundKeys,
    first: u64,
    delta: u128,
    rows: &mut [u128],
    others: &mut [u128],
) {
    let keys = broadcast(keys);
    let [low, high] = [delta as i64, (delta >> 64) as i64];
    let delta = _mm512_set_epi64(high, low, high, low, high, low, high, low);
    let mut index = indices(first);
    let (whole, rest) = rows.as_chunks_mut::<ROWS>();
    let (whole_others, rest_others) = others.as_chunks_mut::<ROWS>();
    for (rows, others) in whole.iter_mut().zip(whole_others) {
        both(&keys, &count(&mut index), delta, rows, others);
    }
    if !rest.is_empty() {
        let (mut rows, mut others) = ([0; ROWS], [0; ROWS]);
        rows[..rest.len()].copy_from_slice(rest);
        both(&keys, &count(&mut index), delta, &mut rows, &mut others);
        rest.copy_from_slice(&rows[..rest.len()]);
        rest_others.copy_from_slice(&others[..rest_others.len()]);
    }
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn both(
    keys: &[__m512i; 11],
    indices: &[__m512i; WIDE],
    delta: __m512i,
    rows: &mut [u128; ROWS],
    others: &mut [u128; ROWS],
) {
    let zeros = load_rows(rows);
    let ones = zeros.map(|row| _mm512_xor_si512(row, delta));
    store_rows(rows, &hashed(keys, zeros, indices));
    store_rows(others, &hashed(keys, ones, indices));
}

/// `pi(pi(x) ^ i) ^ pi(x)` of each row.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn hashed(keys: &[__m512i; 11], rows: [__m512i; WIDE], indices: &[__m512i; WIDE]) -> [__m512i; WIDE] {
    let once = encrypt_avx512(keys, &rows);
    let mut inputs = once;
    for (input, index) in inputs.iter_mut().zip(indices) {
        *input = _mm512_xor_si512(*input, *index);
    }
    let mut twice = encrypt_avx512(keys, &inputs);
    for (hash, once) in twice.iter_mut().zip(once) {
        *hash = _mm512_xor_si512(*hash, once);
    }
    twice
}

/// The first four rows' indices.
#[inline]
#[target_feature(enable = "avx512f")]
fn indices(first: u64) -> __m512i {
    let at = |row| first.wrapping_add(row) as i64;
    _mm512_set_epi64(0, at(3), 0, at(2), 0, at(1), 0, at(0))
}

/// The indices of the next rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn count(index: &mut __m512i) -> [__m512i; WIDE] {
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut indices = [*index; WIDE];
    for place in &mut indices {
        *place = *index;
        *index = _mm512_add_epi64(*index, four);
    }
    indices
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_rows(rows: &[u128; ROWS]) -> [__m512i; WIDE] {
    let mut vectors = [_mm512_setzero_si512(); WIDE];
    for (vector, rows) in vectors.iter_mut().zip(rows.as_chunks::<4>().0) {
        // SAFETY: four rows are 64 bytes that may be read, at any alignment.
        *vector = unsafe { _mm512_loadu_si512(rows.as_ptr().cast()) };
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_rows(rows: &mut [u128; ROWS], vectors: &[__m512i; WIDE]) {
    for (rows, vector) in rows.as_chunks_mut::<4>().0.iter_mut().zip(vectors) {
        // SAFETY: four rows are 64 bytes that may be written, at any alignment.
        unsafe { _mm512_storeu_si512(rows.as_mut_ptr().cast(), *vector) };
    }
}

/// Blocks in flight.
const NARROW: usize = 8;

/// [`super::RobustHash::hash`].
#[target_feature(enable = "avx2,aes")]
pub(super) fn hash_avx2(keys: &RoundKeys, first: u64, rows: &mut [u128]) {
    let keys = keys.narrow();
    for (first, rows) in (first..).step_by(NARROW).zip(rows.chunks_mut(NARROW)) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(rows);
        let (blocks, _) = bytes.as_chunks_mut::<16>();
        let mut inputs = [_mm_setzero_si128(); NARROW];
        for (input, block) in inputs.iter_mut().zip(&*blocks) {
            *input = load(block);
        }
        let once = encrypt_avx2(&keys, &inputs);
        let mut inputs = once;
        for (index, input) in inputs.iter_mut().enumerate() {
            let index = first.wrapping_add(index as u64) as i64;
            *input = _mm_xor_si128(*input, _mm_set_epi64x(0, index));
        }
        let twice = encrypt_avx2(&keys, &inputs);
        for ((block, once), twice) in blocks.iter_mut().zip(once).zip(twice) {
            store(block, _mm_xor_si128(once, twice));
        }
    }
}
