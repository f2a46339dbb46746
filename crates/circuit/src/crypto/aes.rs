//! AES (FIPS 197) with keys of 128, 192 and 256 bits.
//!
//! | operation, bits of the key | ANDs, small | depth | XORs | ANDs, shallow | depth | XORs | NOTs |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | [`encrypt`], 128 | 6,400 | 60 | 22,200 | 6,800 | 40 | 22,000 | 800 |
//! | [`encrypt`], 192 | 7,168 | 72 | 25,328 | 7,616 | 48 | 25,104 | 896 |
//! | [`encrypt`], 256 | 8,832 | 84 | 30,724 | 9,384 | 56 | 30,448 | 1,103 |
//! | [`decrypt`], 128 | 6,400 | 120 | 24,608 | 6,800 | 80 | 24,408 | 800 |
//! | [`decrypt`], 192 | 7,168 | 120 | 28,264 | 7,616 | 80 | 28,040 | 896 |
//! | [`decrypt`], 256 | 8,832 | 162 | 34,188 | 9,384 | 108 | 33,912 | 1,103 |
//! | [`key_schedule`], 128 | 1,280 | 60 | 4,520 | 1,360 | 40 | 4,480 | 160 |
//! | [`key_schedule`], 192 | 1,024 | 48 | 4,064 | 1,088 | 32 | 4,032 | 128 |
//! | [`key_schedule`], 256 | 1,664 | 78 | 5,876 | 1,768 | 52 | 5,824 | 207 |
//! | [`encrypt_expanded`], 128 | 5,120 | 60 | 17,680 | 5,440 | 40 | 17,520 | 640 |
//! | [`encrypt_expanded`], 192 | 6,144 | 72 | 21,264 | 6,528 | 48 | 21,072 | 768 |
//! | [`encrypt_expanded`], 256 | 7,168 | 84 | 24,848 | 7,616 | 56 | 24,624 | 896 |
//! | [`decrypt_expanded`], 128 | 5,120 | 60 | 20,088 | 5,440 | 40 | 19,928 | 640 |
//! | [`decrypt_expanded`], 192 | 6,144 | 72 | 24,200 | 6,528 | 48 | 24,008 | 768 |
//! | [`decrypt_expanded`], 256 | 7,168 | 84 | 28,312 | 7,616 | 56 | 28,088 | 896 |
//!
//! An S-box has 32 ANDs at depth 6, or 34 at depth 4; all else is exclusive ors. The schedule runs beside the rounds
//! that encrypt; what decrypts begins with the last round key, and so the schedule comes first.

pub mod circuits;
mod inversion;
mod key;
mod mix;
mod sbox;
mod sums;
#[cfg(test)]
mod tests;

pub use key::key_schedule;

use crate::arith::{Style, xor};
use crate::{Builder, Wire};

use super::bytes;

/// The key's length, and with it the number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// A key of 16 bytes and 10 rounds.
    Aes128,
    /// A key of 24 bytes and 12 rounds.
    Aes192,
    /// A key of 32 bytes and 14 rounds.
    Aes256,
}

impl Variant {
    /// The length of a key.
    pub fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    /// The number of rounds.
    pub fn rounds(self) -> usize {
        self.key_bytes() / 4 + 6
    }

    /// The length of all round keys together.
    pub fn schedule_bytes(self) -> usize {
        BLOCK_BYTES * (self.rounds() + 1)
    }
}

/// The length of a block.
pub const BLOCK_BYTES: usize = 16;

/// The encrypted block.
pub fn encrypt(b: &mut Builder, style: Style, variant: Variant, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
    let round_keys = key_schedule(b, style, variant, key);
    encrypt_expanded(b, style, variant, &round_keys, block)
}

/// The decrypted block.
pub fn decrypt(b: &mut Builder, style: Style, variant: Variant, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
    let round_keys = key_schedule(b, style, variant, key);
    decrypt_expanded(b, style, variant, &round_keys, block)
}

/// The encrypted block, from the round keys that [`key_schedule`] makes (section 5.1).
pub fn encrypt_expanded(
    b: &mut Builder,
    style: Style,
    variant: Variant,
    round_keys: &[Wire],
    block: &[Wire],
) -> Vec<Wire> {
    let keys = split(variant, round_keys, block);
    let mut state = xor(b, block, keys[0]);
    for (round, key) in keys.iter().enumerate().skip(1) {
        state = bytes(&state).flat_map(|byte| sbox::forward(b, style, byte)).collect();
        state = shift_rows(&state, 1);
        if round < variant.rounds() {
            state = state.chunks_exact(32).flat_map(|column| mix::forward(b, column)).collect();
        }
        state = xor(b, &state, key);
    }
    state
}

/// The decrypted block, from the same round keys (section 5.3).
pub fn decrypt_expanded(
    b: &mut Builder,
    style: Style,
    variant: Variant,
    round_keys: &[Wire],
    block: &[Wire],
) -> Vec<Wire> {
    let keys = split(variant, round_keys, block);
    let mut state = xor(b, block, keys[variant.rounds()]);
    for (round, key) in keys.iter().enumerate().take(variant.rounds()).rev() {
        state = shift_rows(&state, 3);
        state = bytes(&state).flat_map(|byte| sbox::inverse(b, style, byte)).collect();
        state = xor(b, &state, key);
        if round > 0 {
            state = state.chunks_exact(32).flat_map(|column| mix::inverse(b, column)).collect();
        }
    }
    state
}

fn split<'a>(variant: Variant, round_keys: &'a [Wire], block: &[Wire]) -> Vec<&'a [Wire]> {
    assert_eq!(round_keys.len(), 8 * variant.schedule_bytes(), "a round key for every round, and one before");
    assert_eq!(block.len(), 8 * BLOCK_BYTES, "a block has 16 bytes");
    round_keys.chunks_exact(8 * BLOCK_BYTES).collect()
}

/// Row `r` of the state turned by `by * r` columns; byte `r + 4 c` is in row `r`, column `c` (section 5.1.2).
fn shift_rows(state: &[Wire], by: usize) -> Vec<Wire> {
    let bytes: Vec<&[Wire]> = bytes(state).collect();
    let from = |at: usize| (at + 4 * by * (at % 4)) % BLOCK_BYTES;
    (0..BLOCK_BYTES).flat_map(|at| bytes[from(at)]).copied().collect()
}
