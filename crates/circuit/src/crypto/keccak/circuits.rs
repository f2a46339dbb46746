//! Keccak as whole circuits.

use crate::{Builder, Circuit};

use super::{Hash, STATE_BYTES};

/// State to state.
pub fn permute() -> Circuit {
    let mut b = Builder::new();
    let state = b.input(8 * STATE_BYTES as u32);
    let state = super::permute(&mut b, &state);
    b.finish(vec![state])
}

/// A message of so many bytes to the first bytes of its digest; see [`super::digest`].
pub fn digest(hash: Hash, message_bytes: usize, digest_bytes: usize) -> Circuit {
    let mut b = Builder::new();
    let message = b.input(u32::try_from(8 * message_bytes).expect("a circuit has fewer than 2^32 wires"));
    let digest = super::digest(&mut b, hash, &message, digest_bytes);
    b.finish(vec![digest])
}
