//! The walk by AES instructions. Running sums stay in registers, planes in the first cache.

use super::{LINE, Leaves};
use crate::aes::x86::{
    count_avx2, count_avx512, counter_avx2, counter_avx512, encrypt_avx2, load as load_block,
    store as store_block,
};
use std::arch::x86_64::*;

/// Vectors in flight in [`sums_avx512`].
const WIDE: usize = 8;

/// [`Leaves::sums`].
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
pub(super) fn sums_avx512(leaves: &Leaves, first_block: u64, sum: &mut [u64], planes: &mut [u64]) {
    planes.fill(0);
    let whole = sum.len() / (WIDE * LINE) * (WIDE * LINE);
    for at in (0..whole).step_by(WIDE * LINE) {
        strip_avx512::<WIDE>(leaves, first_block, at, sum, planes);
    }
    for at in (whole..sum.len()).step_by(LINE) {
        strip_avx512::<1>(leaves, first_block, at, sum, planes);
    }
}

/// The words from `at` on, `N` vectors of them.
#[inline]
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
fn strip_avx512<const N: usize>(
    leaves: &Leaves,
    first_block: u64,
    at: usize,
    sum: &mut [u64],
    planes: &mut [u64],
) {
    let words = sum.len();
    let mut counter = counter_avx512(0, first_block + at as u64 / 2);
    let counters: [__m512i; N] = count_avx512(&mut counter);
    let mut running = [_mm512_setzero_si512(); N];
    for (step, keys) in (leaves.first..).zip(&leaves.hardware) {
        if let Some(plane) = Leaves::changes(step) {
            add_avx512(&mut planes[plane * words + at..][..N * LINE], &running);
        }
        let mut blocks = counters;
        let key = keys.wide(0);
        for block in &mut blocks {
            *block = _mm512_xor_si512(*block, key);
        }
        for round in 1..10 {
            let key = keys.wide(round);
            for block in &mut blocks {
                *block = _mm512_aesenc_epi128(*block, key);
            }
        }
        let key = keys.wide(10);
        for (running, block) in running.iter_mut().zip(blocks) {
            *running = _mm512_xor_si512(*running, _mm512_aesenclast_epi128(block, key));
        }
    }
    let highest = leaves.height - 1;
    add_avx512(&mut planes[highest * words + at..][..N * LINE], &running);
    for (line, running) in sum[at..at + N * LINE].as_chunks_mut::<LINE>().0.iter_mut().zip(running) {
        // SAFETY: `line` is 64 bytes that may be written, at any alignment.
        unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), running) };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_avx512<const N: usize>(row: &mut [u64], running: &[__m512i; N]) {
    for (line, running) in row.as_chunks_mut::<LINE>().0.iter_mut().zip(running) {
        let place = line.as_mut_ptr().cast();
        // SAFETY: `line` is 64 bytes that may be read and written, at any alignment.
        unsafe { _mm512_storeu_si512(place, _mm512_xor_si512(_mm512_loadu_si512(place), *running)) };
    }
}

/// Blocks in flight in [`sums_avx2`].
const NARROW: usize = 4;

/// [`Leaves::sums`].
#[target_feature(enable = "avx2,aes")]
pub(super) fn sums_avx2(leaves: &Leaves, first_block: u64, sum: &mut [u64], planes: &mut [u64]) {
    let words = sum.len();
    planes.fill(0);
    for at in (0..words).step_by(2 * NARROW) {
        let mut counter = counter_avx2(0, first_block + at as u64 / 2);
        let counters: [__m128i; NARROW] = count_avx2(&mut counter);
        let mut running = [_mm_setzero_si128(); NARROW];
        for (step, keys) in (leaves.first..).zip(&leaves.hardware) {
            if let Some(plane) = Leaves::changes(step) {
                add_avx2(&mut planes[plane * words + at..][..2 * NARROW], &running);
            }
            for (running, block) in running.iter_mut().zip(encrypt_avx2(&keys.narrow(), &counters)) {
                *running = _mm_xor_si128(*running, block);
            }
        }
        let highest = leaves.height - 1;
        add_avx2(&mut planes[highest * words + at..][..2 * NARROW], &running);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut sum[at..at + 2 * NARROW]);
        for (block, running) in bytes.as_chunks_mut().0.iter_mut().zip(running) {
            store_block(block, running);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_avx2(row: &mut [u64], running: &[__m128i; NARROW]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(row);
    for (block, running) in bytes.as_chunks_mut().0.iter_mut().zip(running) {
        store_block(block, _mm_xor_si128(load_block(block), *running));
    }
}
