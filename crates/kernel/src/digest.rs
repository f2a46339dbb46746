//! A keyed digest that finds any difference between two long messages: a polynomial over GF(2^64), at two points.
//!
//! The words of a message are the coefficients of a polynomial without a constant term, and its value at a point that
//! was drawn at random is its digest. Two different messages of `n` words give the same polynomial value at `n` points
//! at most, so they have the same digest at two independent points with a chance of at most `(n / 2^64)^2`: 2^-60 for
//! [`MAX_BYTES`], of which longer messages have no digest.
//!
//! That holds for messages that were fixed without knowing the key, and only for these: this is no hash function.

use crate::gf64::{Gf64, inner_products};
use zeroize::Zeroize;

/// Bytes of a key: two points.
pub const KEY_BYTES: usize = 16;

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 16;

/// The longest message that has a digest, in whole words: 128 GiB. Two that differ have the same with a chance of 2^-60 at most.
pub const MAX_BYTES: u64 = 8 << 34;

/// Words that are absorbed at once: they and the powers of both points stay in the first cache. An interpreter takes
/// seconds for as many powers.
const CHUNK: usize = if cfg!(miri) { 4 } else { 512 };

/// The digest of a message so far, under a key.
pub struct Digest {
    /// `r, r^2, ...` of each point `r`, `r^CHUNK` at most: as many as the longest piece so far has words, and `r`. They never
    /// move, so that no copy is left behind.
    powers: [Vec<Gf64>; 2],
    values: [Gf64; 2],
    /// Words that were absorbed: the polynomial's degree.
    words: u64,
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Digest").finish_non_exhaustive()
    }
}

impl Drop for Digest {
    fn drop(&mut self) {
        for powers in &mut self.powers {
            bytemuck::cast_slice_mut::<Gf64, u64>(powers).zeroize();
        }
    }
}

impl Digest {
    /// Of the empty message. Two products for each of the message's first 512 words are for powers of the points.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        let powers_of = |point: &[u8]| {
            let mut powers = Vec::with_capacity(CHUNK);
            powers.push(Gf64(bytemuck::pod_read_unaligned(point)));
            powers
        };
        let (first, second) = key.split_at(8);
        Self { powers: [powers_of(first), powers_of(second)], values: [Gf64::ZERO; 2], words: 0 }
    }

    /// Goes on with a part of the message. It counts as whole words, the last one filled up with zeros: digests are
    /// equal if messages are that were given in parts of the same lengths.
    pub fn absorb(&mut self, part: &[u8]) {
        let mut words = [Gf64::ZERO; CHUNK];
        for piece in part.chunks(8 * CHUNK) {
            let words = &mut words[..piece.len().div_ceil(8)];
            if let Some(last) = words.last_mut() {
                *last = Gf64::ZERO;
            }
            bytemuck::cast_slice_mut::<Gf64, u8>(words)[..piece.len()].copy_from_slice(piece);
            self.words = self.words.saturating_add(words.len() as u64);
            for (value, powers) in self.values.iter_mut().zip(&mut self.powers) {
                let point = powers[0];
                while powers.len() < words.len() {
                    powers.push(powers[powers.len() - 1].times(point));
                }
                let powers = &powers[..words.len()];
                let mut sum = [Gf64::ZERO];
                inner_products(words, powers, 1, &mut sum);
                *value = value.times(powers[words.len() - 1]).plus(sum[0]);
            }
        }
    }

    /// The digest of what was absorbed; `None` if that was more than [`MAX_BYTES`].
    pub fn value(&self) -> Option<[u8; DIGEST_BYTES]> {
        let fits = self.words <= MAX_BYTES / 8;
        fits.then(|| bytemuck::cast([self.values[0].0, self.values[1].0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::noise;

    const KEY: [u8; KEY_BYTES] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

    fn digest(parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
        let mut digest = Digest::new(&KEY);
        for part in parts {
            digest.absorb(part);
        }
        digest.value().expect("it is short")
    }

    /// Piece by piece, the words' powers ascending within each and falling from piece to piece.
    fn reference(message: &[u8], point: u64) -> u64 {
        let pieces = message.chunks(8 * CHUNK).map(|piece| {
            let words = piece.chunks(8).map(|bytes| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                Gf64(u64::from_le_bytes(word))
            });
            words.collect::<Vec<_>>()
        });
        let mut value = Gf64::ZERO;
        for words in pieces {
            let mut power = Gf64::ONE;
            let mut sum = Gf64::ZERO;
            for word in words {
                power = power.times(Gf64(point));
                sum = sum.plus(word.times(power));
            }
            value = value.times(power).plus(sum);
        }
        value.0
    }

    #[test]
    fn it_is_the_polynomials_value_at_both_points_at_every_level() {
        let bytes: Vec<u8> = noise(3, 3 * 8 * CHUNK);
        for length in [0, 1, 7, 8, 9, 8 * CHUNK - 1, 8 * CHUNK, 8 * CHUNK + 1, 3 * 8 * CHUNK - 5] {
            let points = [0, 8].map(|at| u64::from_le_bytes(KEY[at..at + 8].try_into().unwrap()));
            let expected = points.map(|point| reference(&bytes[..length], point));
            for level in available() {
                let value = at(level, || digest(&[&bytes[..length]]));
                assert_eq!(bytemuck::cast::<_, [u64; 2]>(value), expected, "{length} at {level:?}");
            }
        }
    }

    #[test]
    fn every_bit_and_the_order_of_parts_matter() {
        let bytes: Vec<u8> = noise(4, if cfg!(miri) { 9 } else { 300 });
        let cut = if cfg!(miri) { 8 } else { 128 };
        let whole = digest(&[&bytes]);
        for bit in (0..8 * bytes.len()).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(digest(&[&other]), whole);
        }
        assert_ne!(digest(&[&bytes[..cut], &bytes[cut..]]), digest(&[&bytes[cut..], &bytes[..cut]]));
    }

    #[test]
    fn the_bound_is_what_the_documentation_says() {
        let log_words = (MAX_BYTES / 8).ilog2();
        assert_eq!(2 * (64 - log_words), 60);
        assert_eq!(MAX_BYTES, 128 << 30);
    }

    #[test]
    fn longer_messages_have_no_digest() {
        let mut digest = Digest::new(&KEY);
        digest.words = MAX_BYTES / 8 - 2;
        digest.absorb(&[1; 9]);
        assert!(digest.value().is_some());
        digest.absorb(&[1]);
        assert_eq!(digest.value(), None);
        digest.words = u64::MAX;
        digest.absorb(&[1; 100]);
        assert_eq!(digest.value(), None);
    }

    #[test]
    fn no_key_in_debug_output() {
        assert_eq!(format!("{:?}", Digest::new(&KEY)), "Digest { .. }");
    }
}
