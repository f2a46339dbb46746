//! Sums under masks, which stay in registers from one number to the next.

use super::{LOW, PART, SOME, SUMS};
use crate::field::avx512::store;
use std::arch::x86_64::*;

/// The sums of the numbers' low and high parts that bits pick.
#[target_feature(enable = "avx512f")]
pub(super) fn picked(words: &[u64], numbers: &[i128]) -> [[u64; SUMS]; 2] {
    let mut sums = [[_mm512_setzero_si512(); SUMS / 8]; 2];
    for (&word, &number) in words.iter().zip(numbers) {
        let parts = [number as u64 % (1 << LOW), (number >> LOW) as u64];
        for (sums, part) in sums.iter_mut().zip(parts) {
            let part = _mm512_set1_epi64(part as i64);
            for (eight, sum) in sums.iter_mut().enumerate() {
                *sum = _mm512_mask_add_epi64(*sum, (word >> (8 * eight)) as u8, *sum, part);
            }
        }
    }
    let mut out = [[0; SUMS]; 2];
    for (out, sums) in out.iter_mut().zip(sums) {
        for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
            store(out, sum);
        }
    }
    out
}

/// The sums of the numbers' three parts that bits pick, of at most [`SOME`] between -2^65 and 2^65; the third one has the sign.
#[target_feature(enable = "avx512f")]
pub(super) fn picked_in_parts(words: &[u64], numbers: &[i128]) -> [[u32; SUMS]; 3] {
    let mut parts = [[0_u32; 3]; SOME];
    for (parts, &number) in parts.iter_mut().zip(numbers) {
        let low = number as u64;
        let part = (1 << PART) - 1;
        *parts = [low as u32 & part, (low >> PART) as u32 & part, (number >> (2 * PART)) as u32];
    }
    let mut sums = [[_mm512_setzero_si512(); SUMS / 16]; 3];
    for (&word, parts) in words.iter().zip(&parts) {
        for (sums, &part) in sums.iter_mut().zip(parts) {
            let part = _mm512_set1_epi32(part.cast_signed());
            for (sixteen, sum) in sums.iter_mut().enumerate() {
                *sum = _mm512_mask_add_epi32(*sum, (word >> (16 * sixteen)) as u16, *sum, part);
            }
        }
    }
    sums.map(|sums| {
        let mut out = [0; SUMS / 2];
        for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
            store(out, sum);
        }
        bytemuck::cast(out)
    })
}
