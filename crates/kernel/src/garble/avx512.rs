//! Half gates by VAES: eight vectors of four blocks in flight.

use super::{LABEL, TABLE, sigma};
use crate::aes::x86::{broadcast, encrypt_avx512, expand};
use std::arch::x86_64::*;

/// Labels of a vector.
const LANES: usize = 4;

/// Vectors of a row at a time in [`garble`]: each is hashed for both bits, and there are two rows.
const GARBLED: usize = 2;

/// Vectors of a row at a time in [`hash`].
const HASHED: usize = 8;

/// Vectors of a row at a time in [`evaluate`].
const EVALUATED: usize = 4;

/// [`super::garble`].
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
pub(super) fn garble(
    memory: &mut [u128],
    width: usize,
    delta: u128,
    gates: &[[u32; 3]],
    keys: &[[u8; 16]],
    tables: &mut [u8],
) {
    let other = spread(sigma(delta));
    let delta = spread(delta);
    for ((gate, key), table) in gates.iter().zip(keys).zip(tables.chunks_exact_mut(width * TABLE)) {
        let keys = broadcast(&expand(key));
        let [a, b, to] = gate.map(|slot| slot as usize * width);
        let (left, right) = table.split_at_mut(width * LABEL);
        let mut tweak = first_tweak();
        for first in (0..width).step_by(GARBLED * LANES) {
            let count = (width - first).min(GARBLED * LANES);
            let bytes = first * LABEL..(first + count) * LABEL;
            let a: [__m512i; GARBLED] = load(bytemuck::cast_slice(&memory[a + first..][..count]));
            let b: [__m512i; GARBLED] = load(bytemuck::cast_slice(&memory[b + first..][..count]));
            let inputs: [__m512i; 2 * GARBLED] = inputs(&mut tweak, &a, &b);
            let both = [
                inputs[0],
                inputs[1],
                inputs[2],
                inputs[3],
                _mm512_xor_si512(inputs[0], other),
                _mm512_xor_si512(inputs[1], other),
                _mm512_xor_si512(inputs[2], other),
                _mm512_xor_si512(inputs[3], other),
            ];
            let hashes: [__m512i; 4 * GARBLED] = self::hashes(&keys, &both);
            let (mut generator, mut evaluator, mut falses) = (a, b, a);
            for i in 0..GARBLED {
                let (ha, hb) = (hashes[i], hashes[GARBLED + i]);
                let (other_ha, other_hb) = (hashes[2 * GARBLED + i], hashes[3 * GARBLED + i]);
                let (p, q) = (mask(a[i]), mask(b[i]));
                let differ = _mm512_xor_si512(hb, other_hb);
                generator[i] = xor3(ha, other_ha, _mm512_and_si512(delta, q));
                evaluator[i] = _mm512_xor_si512(differ, a[i]);
                // E ^ A is what the hashes differ by.
                let left = _mm512_and_si512(generator[i], p);
                let right = _mm512_and_si512(differ, q);
                falses[i] = _mm512_xor_si512(xor3(ha, left, hb), right);
            }
            store(&mut left[bytes.clone()], &generator);
            store(&mut right[bytes], &evaluator);
            store(bytemuck::cast_slice_mut(&mut memory[to + first..][..count]), &falses);
        }
    }
}

/// [`super::evaluate`].
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
pub(super) fn evaluate(
    memory: &mut [u128],
    width: usize,
    gates: &[[u32; 3]],
    keys: &[[u8; 16]],
    tables: &[u8],
) {
    for ((gate, key), table) in gates.iter().zip(keys).zip(tables.chunks_exact(width * TABLE)) {
        let keys = broadcast(&expand(key));
        let [a, b, to] = gate.map(|slot| slot as usize * width);
        let (left, right) = table.split_at(width * LABEL);
        let mut tweak = first_tweak();
        for first in (0..width).step_by(EVALUATED * LANES) {
            let count = (width - first).min(EVALUATED * LANES);
            let bytes = first * LABEL..(first + count) * LABEL;
            let a: [__m512i; EVALUATED] = load(bytemuck::cast_slice(&memory[a + first..][..count]));
            let b: [__m512i; EVALUATED] = load(bytemuck::cast_slice(&memory[b + first..][..count]));
            prefetch(&left[bytes.clone()], table.len());
            prefetch(&right[bytes.clone()], table.len());
            let generator: [__m512i; EVALUATED] = load(&left[bytes.clone()]);
            let evaluator: [__m512i; EVALUATED] = load(&right[bytes]);
            let hashes: [__m512i; 2 * EVALUATED] = self::hashes(&keys, &inputs(&mut tweak, &a, &b));
            let mut active = a;
            for i in 0..EVALUATED {
                let left = _mm512_and_si512(generator[i], mask(a[i]));
                let right = _mm512_and_si512(_mm512_xor_si512(evaluator[i], a[i]), mask(b[i]));
                active[i] = _mm512_xor_si512(xor3(hashes[i], left, hashes[EVALUATED + i]), right);
            }
            store(bytemuck::cast_slice_mut(&mut memory[to + first..][..count]), &active);
        }
    }
}

/// [`super::hash`].
#[target_feature(enable = "avx2,aes,avx512f,avx512bw,vaes")]
pub(super) fn hash(key: &[u8; 16], labels: &mut [[u8; LABEL]]) {
    let keys = broadcast(&expand(key));
    let mut tweak = first_tweak();
    for labels in labels.chunks_mut(HASHED * LANES) {
        let labels = labels.as_flattened_mut();
        let mut inputs: [__m512i; HASHED] = load(labels);
        for input in &mut inputs {
            *input = _mm512_xor_si512(sigma_each(*input), tweak);
            tweak = next_tweak(tweak);
        }
        store(labels, &hashes(&keys, &inputs));
    }
}

/// The tweaks of the first halves of the first four instances.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_tweak() -> __m512i {
    _mm512_set_epi64(0, 6, 0, 4, 0, 2, 0, 0)
}

/// Those of the four after them.
#[inline]
#[target_feature(enable = "avx512f")]
fn next_tweak(tweak: __m512i) -> __m512i {
    _mm512_add_epi64(tweak, _mm512_set_epi64(0, 8, 0, 8, 0, 8, 0, 8))
}

/// What of labels the cipher is given: those of all left operands, then those of all right ones. Counts `tweak` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn inputs<const N: usize, const M: usize>(
    tweak: &mut __m512i,
    a: &[__m512i; N],
    b: &[__m512i; N],
) -> [__m512i; M] {
    const { assert!(M == 2 * N) };
    let second = _mm512_set_epi64(0, 1, 0, 1, 0, 1, 0, 1);
    let mut inputs = [*tweak; M];
    for i in 0..N {
        inputs[i] = _mm512_xor_si512(sigma_each(a[i]), *tweak);
        inputs[N + i] = xor3(sigma_each(b[i]), *tweak, second);
        *tweak = next_tweak(*tweak);
    }
    inputs
}

/// The hashes of labels whose [`inputs`] these are.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn hashes<const N: usize>(keys: &[__m512i; 11], inputs: &[__m512i; N]) -> [__m512i; N] {
    let mut hashes = encrypt_avx512(keys, inputs);
    for (hash, input) in hashes.iter_mut().zip(inputs) {
        *hash = _mm512_xor_si512(*hash, *input);
    }
    hashes
}

/// [`sigma`] of each label.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sigma_each(labels: __m512i) -> __m512i {
    // The higher half goes to the lower place, and their sum to the higher one.
    let exchanged = _mm512_shuffle_epi32::<0b0100_1110>(labels);
    _mm512_mask_xor_epi64(exchanged, 0b1010_1010, exchanged, labels)
}

/// For each label all ones if its lowest bit is 1.
#[inline]
#[target_feature(enable = "avx512f")]
fn mask(labels: __m512i) -> __m512i {
    let low = _mm512_unpacklo_epi64(labels, labels);
    _mm512_srai_epi64::<63>(_mm512_slli_epi64::<63>(low))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// The label in every place.
#[inline]
#[target_feature(enable = "avx512f")]
fn spread(label: u128) -> __m512i {
    let [low, high] = [label as i64, (label >> 64) as i64];
    _mm512_set_epi64(high, low, high, low, high, low, high, low)
}

/// Loads labels; where there are too few, zeros follow.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<const N: usize>(bytes: &[u8]) -> [__m512i; N] {
    let mut vectors = [_mm512_setzero_si512(); N];
    if bytes.len() == N * 64 {
        for (vector, bytes) in vectors.iter_mut().zip(bytes.as_chunks::<64>().0) {
            // SAFETY: `bytes` is 64 bytes that may be read, at any alignment.
            *vector = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        }
    } else {
        let mut whole = [[0; 64]; N];
        whole.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        for (vector, bytes) in vectors.iter_mut().zip(&whole) {
            // SAFETY: as above.
            *vector = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        }
    }
    vectors
}

/// Asks for the bytes that are so much further on, without reading them: the next AND's table.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch(bytes: &[u8], further: usize) {
    for line in bytes.chunks(64) {
        // A hint may name any address, also one after the last table.
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_add(further).cast());
    }
}

/// Stores labels, or as many of them as there is room for.
#[inline]
#[target_feature(enable = "avx512f")]
fn store<const N: usize>(bytes: &mut [u8], vectors: &[__m512i; N]) {
    if bytes.len() == N * 64 {
        for (bytes, vector) in bytes.as_chunks_mut::<64>().0.iter_mut().zip(vectors) {
            // SAFETY: `bytes` is 64 bytes that may be written, at any alignment.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), *vector) };
        }
    } else {
        let mut whole = [[0; 64]; N];
        for (bytes, vector) in whole.iter_mut().zip(vectors) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), *vector) };
        }
        bytes.copy_from_slice(&whole.as_flattened()[..bytes.len()]);
    }
}
