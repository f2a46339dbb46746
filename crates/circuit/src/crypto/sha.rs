//! SHA-1, SHA-256 and SHA-512 (FIPS 180-4), and HMAC on them (FIPS 198-1, RFC 2104).
//!
//! | operation | ANDs, small | depth | ANDs, shallow | depth |
//! | --- | --- | --- | --- | --- |
//! | [`compress`], `Sha1` | 11,035 | 2,165 | 20,100 | 487 |
//! | [`compress`], `Sha256` | 22,335 | 1,607 | 47,940 | 456 |
//! | [`compress`], `Sha512` | 57,652 | 3,303 | 133,286 | 649 |
//! | [`digest`], `Sha1`, 32 bytes | 10,430 | 2,163 | 19,314 | 485 |
//! | [`digest`], `Sha256`, 32 bytes | 21,077 | 1,604 | 46,128 | 455 |
//! | [`digest`], `Sha512`, 32 bytes | 54,362 | 3,301 | 128,245 | 650 |
//! | [`hmac`], `Sha1`, 32 and 32 bytes | 42,602 | 6,456 | 78,062 | 1,476 |
//! | [`hmac`], `Sha256`, 32 and 32 bytes | 86,288 | 4,779 | 186,736 | 1,364 |
//! | [`hmac`], `Sha512`, 32 and 32 bytes | 222,582 | 9,820 | 520,437 | 1,948 |
//!
//! A message has a fixed length in bytes, and so its padding is of constants. Words in a standard's string have
//! their most significant byte first; where a word is taken out of a string or put into one, its bytes are turned.

pub mod circuits;
mod hmac;
mod sha1;
mod sha2;
#[cfg(test)]
mod tests;

pub use hmac::hmac;

use crate::arith::{Style, constant};
use crate::{Builder, Wire};

use super::bytes;

/// Which hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-1: 20 bytes. Collisions are known; HMAC and old protocols use it still.
    Sha1,
    /// SHA-256: 32 bytes.
    Sha256,
    /// SHA-512: 64 bytes.
    Sha512,
}

impl Hash {
    /// The length of a digest, and of the chaining value.
    pub fn digest_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }

    /// The length of a block.
    pub fn block_bytes(self) -> usize {
        16 * self.word_bytes()
    }

    fn word_bytes(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha256 => 4,
            Self::Sha512 => 8,
        }
    }

    /// The chaining value before the first block (section 5.3).
    fn initial(self, b: &mut Builder) -> Vec<Wire> {
        let words: Vec<u64> = match self {
            Self::Sha1 => sha1::INITIAL.map(u64::from).to_vec(),
            Self::Sha256 => sha2::INITIAL.map(|word| word >> 32).to_vec(),
            Self::Sha512 => sha2::INITIAL.to_vec(),
        };
        let bits = 8 * self.word_bytes();
        let words: Vec<_> = words.iter().map(|&word| constant(b, word.into(), bits)).collect();
        to_string(&words)
    }
}

/// The compression function: the next chaining value, from a chaining value and a block (section 6).
pub fn compress(b: &mut Builder, style: Style, hash: Hash, chaining: &[Wire], block: &[Wire]) -> Vec<Wire> {
    assert_eq!(chaining.len(), 8 * hash.digest_bytes(), "a chaining value is as long as a digest");
    assert_eq!(block.len(), 8 * hash.block_bytes(), "a block has the length that its hash function says");
    let chaining = to_words(chaining, hash.word_bytes());
    let block = to_words(block, hash.word_bytes());
    let next = match hash {
        Hash::Sha1 => sha1::compress(b, style, &chaining, block),
        Hash::Sha256 => sha2::compress(b, style, &sha2::SHA256, &chaining, block),
        Hash::Sha512 => sha2::compress(b, style, &sha2::SHA512, &chaining, block),
    };
    to_string(&next)
}

/// The digest of a message of whole bytes.
pub fn digest(b: &mut Builder, style: Style, hash: Hash, message: &[Wire]) -> Vec<Wire> {
    let initial = hash.initial(b);
    absorb(b, style, hash, initial, 0, message)
}

/// The digest of a message whose first bytes, in whole blocks, are in the chaining value already.
fn absorb(
    b: &mut Builder,
    style: Style,
    hash: Hash,
    mut chaining: Vec<Wire>,
    absorbed_bytes: usize,
    rest: &[Wire],
) -> Vec<Wire> {
    assert_eq!(rest.len() % 8, 0, "a message has whole bytes");
    let padded = pad(b, hash, 8 * absorbed_bytes + rest.len(), rest);
    for block in padded.chunks_exact(8 * hash.block_bytes()) {
        chaining = compress(b, style, hash, &chaining, block);
    }
    chaining
}

/// The end of a message of so many bits, with a 1, zeros, and the number in two words up to a whole block
/// (section 5.1).
fn pad(b: &mut Builder, hash: Hash, bits: usize, end: &[Wire]) -> Vec<Wire> {
    let block = 8 * hash.block_bytes();
    let length = 16 * hash.word_bytes();
    let mut padded = end.to_vec();
    padded.extend(constant(b, 0x80, 8));
    let filled = (padded.len() + length).next_multiple_of(block) - length;
    padded.resize(filled, b.constant(false));
    padded.extend(to_string(&[constant(b, bits as u128, length)]));
    padded
}

/// The words of a string.
fn to_words(string: &[Wire], word_bytes: usize) -> Vec<Vec<Wire>> {
    string.chunks_exact(8 * word_bytes).map(turn).collect()
}

/// The string of some words.
fn to_string(words: &[Vec<Wire>]) -> Vec<Wire> {
    words.iter().flat_map(|word| turn(word)).collect()
}

/// Bytes in the opposite order.
fn turn(word: &[Wire]) -> Vec<Wire> {
    bytes(word).rev().flatten().copied().collect()
}
