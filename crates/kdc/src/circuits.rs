//! Kerberos' cryptography as Boolean circuits, from what records of long-term keys have ready: an expanded Ke, and the states of
//! HMAC after the two blocks of Ki. Strings are bits of bytes, the least significant first.
//!
//! What all three servers know of a request goes in as public bits (`public`), which the servers have made sure are the same at
//! all of them. They say lengths, too, so one circuit serves all messages of a class ([`Class`]).

mod further;
mod initial;
mod keys;
mod public;
#[cfg(test)]
mod tests;
mod wires;

pub use further::{Expected, Sizes, opens_authenticator, replies_further, verifies_further};
pub use further::{open_authenticator, reply_further, verify_further};
pub use initial::{replies, reply, seal, seals, verifies, verify};
pub(crate) use public::fits;
pub use public::{Class, Form};
pub use wires::{drawn_bytes, keys_bytes};

use crate::enctype::{Enctype, Usage};
use keys::{Base, Derived, Keys};
use tacit::circuit::{Builder, Circuit};
use wires::input;

/// Bytes of a long-term key's record: the keys of each usage, in the order of [`Usage::ALL`].
pub fn record_bytes(enctype: Enctype) -> usize {
    Usage::ALL.len() * keys_bytes(enctype)
}

/// Bytes of a message of a class as it comes out of a circuit, whole blocks with zeros behind it.
pub fn block_bytes(class: Class) -> usize {
    public::BLOCK * class.blocks()
}

/// A base key to its record.
pub fn enrol(enctype: Enctype) -> Circuit {
    let mut b = Builder::new();
    let key = input(&mut b, 8 * enctype.key_bytes());
    let base = Base::new(&mut b, enctype, &key);
    let keys = Usage::ALL.map(|usage| Keys::derive(&mut b, &base, Derived::For(usage.number())).wires());
    b.finish(vec![keys.concat()])
}
