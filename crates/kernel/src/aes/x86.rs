//! Streams by AES instructions: enough blocks in flight to hide an instruction's latency.

use super::XOR;
use crate::Word;
use crate::cpu::{self, Level};
use std::arch::x86_64::*;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The keys of the cipher's rounds (FIPS 197, section 5.2).
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct RoundKeys([[u8; 16]; 11]);

impl RoundKeys {
    /// The expanded key, if this machine has AES instructions.
    pub(crate) fn new(key: &[u8; 16]) -> Option<Self> {
        // SAFETY: from this level on the machine has them. (A thread held to a lower level has no need of them.)
        (cpu::detected() >= Level::Avx2).then(|| unsafe { expand(key) })
    }

    /// A round's key, in all four blocks of a vector.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn wide(&self, round: usize) -> __m512i {
        _mm512_broadcast_i32x4(load(&self.0[round]))
    }

    /// All rounds' keys.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn narrow(&self) -> [__m128i; 11] {
        self.0.each_ref().map(load)
    }
}

/// The expanded key.
#[target_feature(enable = "avx2,aes")]
pub(crate) fn expand(key: &[u8; 16]) -> RoundKeys {
    let mut keys = RoundKeys([[0; 16]; 11]);
    let mut last = load(key);
    store(&mut keys.0[0], last);
    macro_rules! round {
        ($($round:literal, $constant:literal);*) => {$(
            // Every word is the exclusive or of all words before it, and of the transformed last one.
            let transformed = _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<$constant>(last));
            last = _mm_xor_si128(last, _mm_slli_si128::<4>(last));
            last = _mm_xor_si128(last, _mm_slli_si128::<8>(last));
            last = _mm_xor_si128(last, transformed);
            store(&mut keys.0[$round], last);
        )*};
    }
    round!(1, 0x01; 2, 0x02; 3, 0x04; 4, 0x08; 5, 0x10; 6, 0x20; 7, 0x40; 8, 0x80; 9, 0x1b; 10, 0x36);
    keys
}

/// Vectors in flight in [`fill_avx512`]: 32 blocks.
const WIDE: usize = 8;
/// Vectors in flight of each of the two streams in [`combine_avx512`].
const WIDE_EACH: usize = 4;

/// [`Aes128Ctr::fill`](super::Aes128Ctr::fill).
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn fill_avx512(keys: &RoundKeys, nonce: u64, first_block: u64, out: &mut [u8]) {
    let keys = broadcast(keys);
    let mut counter = counter_avx512(nonce, first_block);
    let mut groups = out.chunks_exact_mut(64 * WIDE);
    for group in &mut groups {
        let blocks = encrypt_avx512(&keys, &count_avx512::<WIDE>(&mut counter));
        store_avx512(group.as_chunks_mut().0, &blocks);
    }
    let rest = groups.into_remainder();
    if rest.len() > 64 {
        store_part_avx512(rest, &encrypt_avx512(&keys, &count_avx512::<WIDE>(&mut counter)));
    } else if !rest.is_empty() {
        store_part_avx512(rest, &encrypt_avx512(&keys, &[counter]));
    }
}

/// [`Aes128Ctr::fill_at`](super::Aes128Ctr::fill_at).
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn fill_at_avx512(keys: &RoundKeys, nonce: u64, numbers: &[u64], out: &mut [[u8; 16]]) {
    let keys = broadcast(keys);
    let (groups, rest) = out.as_chunks_mut::<{ 4 * WIDE }>();
    let (numbers, others) = numbers.as_chunks();
    for (group, numbers) in groups.iter_mut().zip(numbers) {
        let blocks = encrypt_avx512(&keys, &numbered_avx512(nonce, numbers));
        store_avx512(group.as_flattened_mut().as_chunks_mut().0, &blocks);
    }
    if !rest.is_empty() {
        let mut last = [0; 4 * WIDE];
        last[..others.len()].copy_from_slice(others);
        store_part_avx512(rest.as_flattened_mut(), &encrypt_avx512(&keys, &numbered_avx512(nonce, &last)));
    }
}

/// The input of the blocks of these numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbered_avx512(nonce: u64, numbers: &[u64; 4 * WIDE]) -> [__m512i; WIDE] {
    let nonce = _mm512_set1_epi64(nonce as i64);
    let mut counters = [nonce; WIDE];
    for (counter, numbers) in counters.iter_mut().zip(numbers.as_chunks::<4>().0) {
        // SAFETY: `numbers` is 32 bytes that may be read, at any alignment.
        let numbers = unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) };
        *counter = _mm512_mask_expand_epi64(nonce, 0b1010_1010, _mm512_castsi256_si512(numbers));
    }
    counters
}

/// [`super::combine`].
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn combine_avx512<W: Word, const HOW: bool>(
    a: &RoundKeys,
    b: &RoundKeys,
    nonce: u64,
    first_block: u64,
    out: &mut [u8],
) {
    let (a, b) = (broadcast(a), broadcast(b));
    let mut counter = counter_avx512(nonce, first_block);
    let mut groups = out.chunks_exact_mut(64 * WIDE_EACH);
    for group in &mut groups {
        let counters = count_avx512::<WIDE_EACH>(&mut counter);
        let blocks = merge_avx512::<W, HOW, WIDE_EACH>(&a, &b, &counters);
        store_avx512(group.as_chunks_mut().0, &blocks);
    }
    let rest = groups.into_remainder();
    if rest.len() > 64 {
        let counters = count_avx512::<WIDE_EACH>(&mut counter);
        store_part_avx512(rest, &merge_avx512::<W, HOW, WIDE_EACH>(&a, &b, &counters));
    } else if !rest.is_empty() {
        store_part_avx512(rest, &merge_avx512::<W, HOW, 1>(&a, &b, &[counter]));
    }
}

/// Round keys, each in all four blocks of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast(keys: &RoundKeys) -> [__m512i; 11] {
    keys.0.each_ref().map(|key| _mm512_broadcast_i32x4(load(key)))
}

/// The first four blocks' input: the nonce below, the counter above.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn counter_avx512(nonce: u64, first_block: u64) -> __m512i {
    let [nonce, first] = [nonce, first_block].map(|word| word as i64);
    let at = |block| first.wrapping_add(block);
    _mm512_set_epi64(at(3), nonce, at(2), nonce, at(1), nonce, at(0), nonce)
}

/// The next `4 N` blocks' input.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn count_avx512<const N: usize>(counter: &mut __m512i) -> [__m512i; N] {
    let four = _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0);
    let mut counters = [*counter; N];
    for place in &mut counters {
        *place = *counter;
        *counter = _mm512_add_epi64(*counter, four);
    }
    counters
}

/// The cipher of each block, under keys that [`broadcast`] made.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn encrypt_avx512<const N: usize>(keys: &[__m512i; 11], counters: &[__m512i; N]) -> [__m512i; N] {
    let mut blocks = *counters;
    for block in &mut blocks {
        *block = _mm512_xor_si512(*block, keys[0]);
    }
    for key in &keys[1..10] {
        for block in &mut blocks {
            *block = _mm512_aesenc_epi128(*block, *key);
        }
    }
    for block in &mut blocks {
        *block = _mm512_aesenclast_epi128(*block, keys[10]);
    }
    blocks
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn merge_avx512<W: Word, const HOW: bool, const N: usize>(
    a: &[__m512i; 11],
    b: &[__m512i; 11],
    counters: &[__m512i; N],
) -> [__m512i; N] {
    let mut merged = encrypt_avx512(a, counters);
    for (x, y) in merged.iter_mut().zip(encrypt_avx512(b, counters)) {
        *x = match (HOW, W::BITS) {
            (XOR, _) => _mm512_xor_si512(*x, y),
            (_, 8) => _mm512_sub_epi8(*x, y),
            (_, 16) => _mm512_sub_epi16(*x, y),
            (_, 32) => _mm512_sub_epi32(*x, y),
            _ => _mm512_sub_epi64(*x, y),
        };
    }
    merged
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_avx512<const N: usize>(out: &mut [[u8; 64]], blocks: &[__m512i; N]) {
    for (place, block) in out.iter_mut().zip(blocks) {
        // SAFETY: `place` is 64 bytes that may be written, at any alignment.
        unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), *block) };
    }
}

/// Stores less than all of the blocks.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_part_avx512<const N: usize>(out: &mut [u8], blocks: &[__m512i; N]) {
    let mut bytes = [[0; 64]; N];
    store_avx512(&mut bytes, blocks);
    out.copy_from_slice(&bytes.as_flattened()[..out.len()]);
}

/// Blocks in flight in [`fill_avx2`].
const NARROW: usize = 8;
/// Blocks in flight of each of the two streams in [`combine_avx2`].
const NARROW_EACH: usize = 4;

/// [`Aes128Ctr::fill`](super::Aes128Ctr::fill).
#[target_feature(enable = "avx2,aes")]
pub(super) fn fill_avx2(keys: &RoundKeys, nonce: u64, first_block: u64, out: &mut [u8]) {
    let keys = keys.0.each_ref().map(load);
    let mut counter = counter_avx2(nonce, first_block);
    for group in out.chunks_mut(16 * NARROW) {
        store_avx2(group, &encrypt_avx2(&keys, &count_avx2::<NARROW>(&mut counter)));
    }
}

/// [`Aes128Ctr::fill_at`](super::Aes128Ctr::fill_at).
#[target_feature(enable = "avx2,aes")]
pub(super) fn fill_at_avx2(keys: &RoundKeys, nonce: u64, numbers: &[u64], out: &mut [[u8; 16]]) {
    let keys = keys.0.each_ref().map(load);
    for (group, numbers) in out.chunks_mut(NARROW).zip(numbers.chunks(NARROW)) {
        let mut counters = [keys[0]; NARROW];
        for (counter, &number) in counters.iter_mut().zip(numbers) {
            *counter = counter_avx2(nonce, number);
        }
        store_avx2(group.as_flattened_mut(), &encrypt_avx2(&keys, &counters));
    }
}

/// [`super::combine`].
#[target_feature(enable = "avx2,aes")]
pub(super) fn combine_avx2<W: Word, const HOW: bool>(
    a: &RoundKeys,
    b: &RoundKeys,
    nonce: u64,
    first_block: u64,
    out: &mut [u8],
) {
    let (a, b) = (a.0.each_ref().map(load), b.0.each_ref().map(load));
    let mut counter = counter_avx2(nonce, first_block);
    for group in out.chunks_mut(16 * NARROW_EACH) {
        let counters = count_avx2::<NARROW_EACH>(&mut counter);
        let mut blocks = encrypt_avx2(&a, &counters);
        for (x, y) in blocks.iter_mut().zip(encrypt_avx2(&b, &counters)) {
            *x = match (HOW, W::BITS) {
                (XOR, _) => _mm_xor_si128(*x, y),
                (_, 8) => _mm_sub_epi8(*x, y),
                (_, 16) => _mm_sub_epi16(*x, y),
                (_, 32) => _mm_sub_epi32(*x, y),
                _ => _mm_sub_epi64(*x, y),
            };
        }
        store_avx2(group, &blocks);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn counter_avx2(nonce: u64, first_block: u64) -> __m128i {
    _mm_set_epi64x(first_block as i64, nonce as i64)
}

/// The next `N` blocks' input.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn count_avx2<const N: usize>(counter: &mut __m128i) -> [__m128i; N] {
    let one = _mm_set_epi64x(1, 0);
    let mut counters = [*counter; N];
    for place in &mut counters {
        *place = *counter;
        *counter = _mm_add_epi64(*counter, one);
    }
    counters
}

#[inline]
#[target_feature(enable = "avx2,aes")]
pub(crate) fn encrypt_avx2<const N: usize>(keys: &[__m128i; 11], counters: &[__m128i; N]) -> [__m128i; N] {
    let mut blocks = *counters;
    for block in &mut blocks {
        *block = _mm_xor_si128(*block, keys[0]);
    }
    for key in &keys[1..10] {
        for block in &mut blocks {
            *block = _mm_aesenc_si128(*block, *key);
        }
    }
    for block in &mut blocks {
        *block = _mm_aesenclast_si128(*block, keys[10]);
    }
    blocks
}

/// Stores the blocks, or as much of them as there is room for.
#[inline]
#[target_feature(enable = "avx2")]
fn store_avx2<const N: usize>(out: &mut [u8], blocks: &[__m128i; N]) {
    let (whole, part) = out.as_chunks_mut();
    for (place, block) in whole.iter_mut().zip(blocks) {
        store(place, *block);
    }
    if let (false, Some(block)) = (part.is_empty(), blocks.get(whole.len())) {
        let mut bytes = [0; 16];
        store(&mut bytes, *block);
        part.copy_from_slice(&bytes[..part.len()]);
    }
}

#[inline]
pub(crate) fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: sixteen bytes that may be read, at any alignment; SSE2 is part of the target.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
pub(crate) fn store(bytes: &mut [u8; 16], block: __m128i) {
    // SAFETY: sixteen bytes that may be written, at any alignment; SSE2 is part of the target.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), block) };
}
