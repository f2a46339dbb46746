//! A tweakable correlation-robust hash of 128-bit rows, from a block cipher with a public key: the construction of Guo,
//! Katz, Wang, Yu, "Efficient and secure multiparty computation from fixed-key block ciphers", 2020, section 7.4.
//!
//! ```text
//! H(x, i) = pi(pi(x) ^ i) ^ pi(x)        pi = AES-128 under the key, i the row's index
//! ```
//!
//! Seen as a random function, also by whoever chose the rows: `x` and `x ^ delta` under a hidden `delta` give hashes that
//! look independent, though a malicious party picks the rows and knows the key. Plain `pi(x) ^ x` doesn't: equal rows at
//! two indices would have equal hashes, and `pi(x ^ i) ^ x ^ i` lets whoever chooses rows make two inputs meet.
//!
//! **What is left.** In the ideal-cipher model, with `m` rows hashed under each key (a pair counts twice): an attacker that
//! asks the cipher `t` times hits one of the hidden inputs of either call with probability at most `4 m t / 2^128`, for each
//! question is of one key; inputs of the second calls meet by accident with at most `m^2 / 2^128` a key. Callers change
//! keys so often that `m` stays small.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
use crate::aes::x86::RoundKeys;
#[cfg(target_arch = "x86_64")]
use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use aes::Aes128Enc;
use aes::cipher::KeyInit;
use std::fmt;

/// The hash under a key, which is public.
pub struct RobustHash {
    portable: Aes128Enc,
    /// For this machine's AES instructions, if it has them.
    #[cfg(target_arch = "x86_64")]
    hardware: Option<RoundKeys>,
}

impl fmt::Debug for RobustHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RobustHash").finish_non_exhaustive()
    }
}

impl RobustHash {
    /// The hash under `key`.
    pub fn new(key: &[u8; 16]) -> Self {
        Self {
            portable: Aes128Enc::new(key.into()),
            #[cfg(target_arch = "x86_64")]
            hardware: RoundKeys::new(key),
        }
    }

    /// Hashes rows where they stand; the first has index `first`, and indices count on.
    pub fn hash(&self, first: u64, rows: &mut [u128]) {
        #[cfg(target_arch = "x86_64")]
        match (cpu::level(), &self.hardware) {
            // SAFETY: the machine has the instructions of this level.
            (Level::Avx512, Some(keys)) => return unsafe { x86::hash_avx512(keys, first, rows) },
            // SAFETY: as above.
            (Level::Avx2, Some(keys)) => return unsafe { x86::hash_avx2(keys, first, rows) },
            _ => {}
        }
        portable::hash(&self.portable, first, rows);
    }

    /// Hashes rows where they stand, and to `others` what differs from each by `delta`, with the same indices.
    ///
    /// # Panics
    /// If there isn't as much room for the others.
    pub fn hash_both(&self, first: u64, delta: u128, rows: &mut [u128], others: &mut [u128]) {
        assert_eq!(rows.len(), others.len(), "another for every row");
        #[cfg(target_arch = "x86_64")]
        if let (Level::Avx512, Some(keys)) = (cpu::level(), &self.hardware) {
            // SAFETY: the machine has the instructions of this level.
            return unsafe { x86::hash_both_avx512(keys, first, delta, rows, others) };
        }
        for (other, row) in others.iter_mut().zip(&*rows) {
            *other = row ^ delta;
        }
        self.hash(first, rows);
        self.hash(first, others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};
    use ::aes::cipher::BlockCipherEncrypt;

    const KEY: [u8; 16] = *b"anybody may know";
    const COUNTS: [usize; 11] = [0, 1, 3, 4, 5, 16, 31, 32, 33, 64, 100];

    /// The hash by its definition.
    fn reference(row: u128, index: u64) -> u128 {
        let cipher = Aes128Enc::new(&KEY.into());
        let pi = |x: u128| {
            let mut block = x.to_le_bytes().into();
            cipher.encrypt_block(&mut block);
            u128::from_le_bytes(block.into())
        };
        pi(pi(row) ^ u128::from(index)) ^ pi(row)
    }

    #[test]
    fn rows_are_hashed_with_their_indices() {
        let hash = RobustHash::new(&KEY);
        for (count, first) in lengths(5, COUNTS).zip([0, 1, u64::MAX - 200].into_iter().cycle()) {
            let rows = noise::<u128>(1, count);
            let expected: Vec<u128> = (first..).zip(&rows).map(|(i, &row)| reference(row, i)).collect();
            for level in available() {
                let mut hashed = rows.clone();
                at(level, || hash.hash(first, &mut hashed));
                assert_eq!(hashed, expected, "{count} rows at {level:?}");
            }
        }
    }

    #[test]
    fn both_rows_of_a_pair_are_hashed() {
        let (hash, delta) = (RobustHash::new(&KEY), noise::<u128>(2, 1)[0]);
        for count in lengths(5, COUNTS) {
            let rows = noise::<u128>(3, count);
            let expected = |delta| (7..).zip(&rows).map(|(i, &row)| reference(row ^ delta, i)).collect();
            let expected: [Vec<u128>; 2] = [0, delta].map(expected);
            for level in available() {
                let (mut zeros, mut ones) = (rows.clone(), vec![0; count]);
                at(level, || hash.hash_both(7, delta, &mut zeros, &mut ones));
                assert_eq!([zeros, ones], expected, "{count} rows at {level:?}");
            }
        }
    }
}
