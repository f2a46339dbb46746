//! Keccak-f\[1600\], SHA-3 and SHAKE (FIPS 202).
//!
//! | operation | ANDs | depth | XORs | NOTs |
//! | --- | --- | --- | --- | --- |
//! | [`permute`] | 38,400 | 24 | 115,200 | 38,486 |
//! | [`digest`], `Sha3_256`, 32 bytes | 37,056 | 24 | 109,824 | 37,127 |
//! | [`digest`], `Sha3_512`, 32 bytes | 37,312 | 24 | 110,400 | 37,387 |
//! | [`digest`], `Shake128`, 32 bytes to 32 | 37,056 | 24 | 109,824 | 37,113 |
//! | [`digest`], `Shake256`, 32 bytes to 64 | 37,312 | 24 | 110,400 | 37,372 |
//!
//! There is nothing to trade: a round is a layer of 1,600 ANDs, and all else is exclusive ors. The standard's bit
//! strings are those of this crate already: lane (x, y) is on wires 64 (x + 5 y) to 64 (x + 5 y) + 63.

pub mod circuits;
#[cfg(test)]
mod tests;

use crate::arith::{and, constant, not, rotate_left, xor};
use crate::{Builder, Wire};

/// A function on messages of any length: Keccak's sponge with the capacity and the suffix that tell it apart
/// (section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA3-256.
    Sha3_256,
    /// SHA3-512.
    Sha3_512,
    /// SHAKE128, with digests of any length.
    Shake128,
    /// SHAKE256, with digests of any length.
    Shake256,
}

impl Hash {
    /// The length of a block, which goes into the state at a time or comes out of it.
    pub fn rate_bytes(self) -> usize {
        match self {
            Self::Sha3_256 | Self::Shake256 => 136,
            Self::Sha3_512 => 72,
            Self::Shake128 => 168,
        }
    }

    /// The length of a digest; `None` if the caller says.
    pub fn digest_bytes(self) -> Option<usize> {
        match self {
            Self::Sha3_256 => Some(32),
            Self::Sha3_512 => Some(64),
            Self::Shake128 | Self::Shake256 => None,
        }
    }

    /// The bits after the message, and the first 1 of the padding.
    fn suffix(self) -> u8 {
        match self {
            Self::Sha3_256 | Self::Sha3_512 => 0b110,
            Self::Shake128 | Self::Shake256 => 0b1_1111,
        }
    }
}

/// The length of a state.
pub const STATE_BYTES: usize = 200;

/// Keccak-f\[1600\] (section 3.3): 24 rounds.
pub fn permute(b: &mut Builder, state: &[Wire]) -> Vec<Wire> {
    assert_eq!(state.len(), 8 * STATE_BYTES, "a state has 200 bytes");
    let mut lanes: Vec<Vec<Wire>> = state.chunks_exact(LANE).map(<[Wire]>::to_vec).collect();
    let mut register = 1;
    for _ in 0..24 {
        lanes = theta(b, &lanes);
        lanes = rho_and_pi(&lanes);
        lanes = chi(b, &lanes);
        iota(b, &mut lanes[0], &mut register);
    }
    lanes.concat()
}

/// The first `digest_bytes` bytes of the digest of a message of whole bytes (section 4).
///
/// # Panics
/// If the function has digests of another length, or the message has a part of a byte.
pub fn digest(b: &mut Builder, hash: Hash, message: &[Wire], digest_bytes: usize) -> Vec<Wire> {
    assert_eq!(message.len() % 8, 0, "a message has whole bytes");
    assert_eq!(
        hash.digest_bytes().unwrap_or(digest_bytes),
        digest_bytes,
        "a digest has its function's length"
    );
    let rate = 8 * hash.rate_bytes();
    let mut state = vec![b.constant(false); 8 * STATE_BYTES];
    for block in pad(b, hash, message).chunks_exact(rate) {
        let sum = xor(b, &state[..rate], block);
        state[..rate].copy_from_slice(&sum);
        state = permute(b, &state);
    }
    let mut digest = state[..rate].to_vec();
    while digest.len() < 8 * digest_bytes {
        state = permute(b, &state);
        digest.extend(&state[..rate]);
    }
    digest.truncate(8 * digest_bytes);
    digest
}

const LANE: usize = 64;

/// The message, the suffix, and 10*1 up to a whole block (section 5.1).
fn pad(b: &mut Builder, hash: Hash, message: &[Wire]) -> Vec<Wire> {
    let mut padded = message.to_vec();
    padded.extend(constant(b, hash.suffix().into(), 8));
    let end = padded.len().next_multiple_of(8 * hash.rate_bytes());
    padded.resize(end, b.constant(false));
    // The suffix may be in the last byte, but it leaves the highest bit free.
    padded[end - 1] = b.constant(true);
    padded
}

/// Every bit plus the parities of two columns (section 3.2.1).
fn theta(b: &mut Builder, lanes: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let parities: Vec<Vec<Wire>> = (0..5)
        .map(|x| (1..5).fold(lanes[x].clone(), |parity, y| xor(b, &parity, &lanes[x + 5 * y])))
        .collect();
    let sums: Vec<Vec<Wire>> =
        (0..5).map(|x| xor(b, &parities[(x + 4) % 5], &rotate_left(&parities[(x + 1) % 5], 1))).collect();
    lanes.iter().enumerate().map(|(at, lane)| xor(b, lane, &sums[at % 5])).collect()
}

/// Every lane turned and put in another's place (sections 3.2.2 and 3.2.3): along the way of lane (1, 0), the turns
/// are the triangular numbers.
fn rho_and_pi(lanes: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let mut moved = lanes.to_vec();
    let (mut x, mut y) = (1, 0);
    for step in 1..=24 {
        let next = (y, (2 * x + 3 * y) % 5);
        moved[next.0 + 5 * next.1] = rotate_left(&lanes[x + 5 * y], step * (step + 1) / 2);
        (x, y) = next;
    }
    moved
}

/// Every bit plus a product of the next two in its row (section 3.2.4).
fn chi(b: &mut Builder, lanes: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let in_row = |at: usize, by: usize| at - at % 5 + (at % 5 + by) % 5;
    (0..25)
        .map(|at| {
            let next = not(b, &lanes[in_row(at, 1)]);
            let product = and(b, &next, &lanes[in_row(at, 2)]);
            xor(b, &lanes[at], &product)
        })
        .collect()
}

/// A round's constant on lane (0, 0): bits 2^j - 1, from a shift register with the polynomial
/// x^8 + x^6 + x^5 + x^4 + 1 (section 3.2.5).
fn iota(b: &mut Builder, lane: &mut [Wire], register: &mut u8) {
    for j in 0..7 {
        if *register & 1 == 1 {
            let bit = (1 << j) - 1;
            lane[bit] = b.not(lane[bit]);
        }
        *register = *register << 1 ^ if *register >> 7 == 1 { 0x71 } else { 0 };
    }
}
