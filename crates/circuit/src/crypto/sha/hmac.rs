//! HMAC (RFC 2104).

use crate::arith::{Style, constant, xor};
use crate::{Builder, Wire};

use super::{Hash, absorb, compress, digest};

/// The authentication code of a message of whole bytes under a key of whole bytes. A key longer than a block is
/// hashed first. Beside the message's blocks there are the two of the key, and the outer one of the inner digest.
pub fn hmac(b: &mut Builder, style: Style, hash: Hash, key: &[Wire], message: &[Wire]) -> Vec<Wire> {
    assert_eq!(key.len() % 8, 0, "a key has whole bytes");
    let block = 8 * hash.block_bytes();
    let mut key = if key.len() > block { digest(b, style, hash, key) } else { key.to_vec() };
    key.resize(block, b.constant(false));
    let inner = keyed(b, style, hash, &key, 0x36, message);
    keyed(b, style, hash, &key, 0x5c, &inner)
}

/// The digest of a message after the key plus a byte repeated.
fn keyed(b: &mut Builder, style: Style, hash: Hash, key: &[Wire], pad: u8, message: &[Wire]) -> Vec<Wire> {
    let pad = constant(b, pad.into(), 8).repeat(hash.block_bytes());
    let block = xor(b, key, &pad);
    let initial = hash.initial(b);
    let chaining = compress(b, style, hash, &initial, &block);
    absorb(b, style, hash, chaining, hash.block_bytes(), message)
}
