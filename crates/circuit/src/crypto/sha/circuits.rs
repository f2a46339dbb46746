//! Hash functions as whole circuits.

use crate::arith::Style;
use crate::{Builder, Circuit, Wire};

use super::Hash;

/// Chaining value and block to the next chaining value.
pub fn compress(style: Style, hash: Hash) -> Circuit {
    let mut b = Builder::new();
    let (chaining, block) = (bytes(&mut b, hash.digest_bytes()), bytes(&mut b, hash.block_bytes()));
    let next = super::compress(&mut b, style, hash, &chaining, &block);
    b.finish(vec![next])
}

/// A message of so many bytes to its digest.
pub fn digest(style: Style, hash: Hash, message_bytes: usize) -> Circuit {
    let mut b = Builder::new();
    let message = bytes(&mut b, message_bytes);
    let digest = super::digest(&mut b, style, hash, &message);
    b.finish(vec![digest])
}

/// A key and a message of so many bytes to the authentication code.
pub fn hmac(style: Style, hash: Hash, key_bytes: usize, message_bytes: usize) -> Circuit {
    let mut b = Builder::new();
    let (key, message) = (bytes(&mut b, key_bytes), bytes(&mut b, message_bytes));
    let code = super::hmac(&mut b, style, hash, &key, &message);
    b.finish(vec![code])
}

fn bytes(b: &mut Builder, count: usize) -> Vec<Wire> {
    b.input(u32::try_from(8 * count).expect("a circuit has fewer than 2^32 wires"))
}
