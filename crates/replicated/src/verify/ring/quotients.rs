//! Quotients as the prover shares them: 24 bytes each, two's complement.
//!
//! The left verifier's share is uniform below 2^190, from the key that it has in common with the prover. The right one gets
//! the difference, which is shifted by less than 2^110 of these: within 2^-80 of uniform for each. The format bounds what a
//! prover can say, and so how many primes can divide what isn't zero.

use super::statement::COEFFICIENTS;
use crate::planted::{Mistake, planted};
use tacit_kernel::prime::Prime;

/// Bytes of a quotient's share.
const EACH: usize = 24;

/// Shares of all quotients: integers of 192 bits, in words from the lowest one on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares(Vec<[u64; 3]>);

impl Shares {
    /// Bytes of all.
    pub(crate) const BYTES: usize = COEFFICIENTS * EACH;

    /// The left verifier's, of bytes that were drawn.
    pub(crate) fn drawn(bytes: &[u8; Self::BYTES]) -> Self {
        let Self(mut shares) = Self::received(bytes);
        for share in &mut shares {
            share[2] &= u64::MAX >> 2;
            if planted(Mistake::ShortQuotientShares) {
                *share = [share[0], share[1] & u64::from(u32::MAX), 0];
            }
        }
        Self(shares)
    }

    /// The right verifier's, as they came.
    pub(crate) fn received(bytes: &[u8; Self::BYTES]) -> Self {
        let word =
            |bytes: &[u8], at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        Self(
            bytes
                .as_chunks::<EACH>()
                .0
                .iter()
                .map(|bytes| std::array::from_fn(|at| word(bytes, at)))
                .collect(),
        )
    }

    /// The right verifier's: the quotients less the left one's shares.
    pub(crate) fn rest(&self, quotients: &[i128; COEFFICIENTS]) -> Self {
        let less = |(&quotient, left): (&i128, &[u64; 3])| {
            let words = [quotient as u64, (quotient >> 64) as u64, (quotient >> 127) as u64];
            let mut borrow = false;
            std::array::from_fn(|at| {
                let (difference, below) = words[at].overflowing_sub(left[at]);
                let (difference, below_too) = difference.overflowing_sub(u64::from(borrow));
                borrow = below || below_too;
                difference
            })
        };
        Self(quotients.iter().zip(&self.0).map(less).collect())
    }

    /// Appends them to a message.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.0.as_flattened().iter().for_each(|word| out.extend(word.to_le_bytes()));
    }

    /// 2^64 times the value at `point` of the polynomial whose coefficients they are.
    pub(crate) fn value(&self, prime: &Prime, point: u64) -> u64 {
        let coefficient = |words: &[u64; 3]| {
            let high = words[2] as i64;
            let high = if planted(Mistake::QuotientsUnsigned) { words[2].into() } else { i128::from(high) };
            let [low, middle] = [words[0], words[1]].map(|word| prime.reduce(word.into()));
            let upper = prime.add(middle, prime.mul(prime.integer(high), prime.radix(1)));
            prime.add(low, prime.mul(upper, prime.radix(1)))
        };
        let value = self
            .0
            .iter()
            .rev()
            .fold(0, |value, words| prime.add(prime.mul(value, point), coefficient(words)));
        prime.mul(value, prime.radix(1))
    }
}
