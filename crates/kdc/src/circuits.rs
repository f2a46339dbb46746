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

pub use further::{Expected, Sizes, opens_authenticator, replies_further, verifies_further};
pub use further::{open_authenticator, reply_further, verify_further};
pub use initial::{replies, reply, seal, seals, verifies, verify};
pub(crate) use public::fits;
pub use public::{Class, Form};

use crate::enctype::{CONFOUNDER, Enctype, Usage};
use keys::{Base, Derived, Keys};
use tacit::circuit::arith::Style;
use tacit::circuit::{Builder, Circuit, Wire};

/// Few rounds: a request waits for each of them.
const STYLE: Style = Style::Shallow;
/// Servers, each of which draws parts of what nobody knows.
const SERVERS: usize = 3;

/// Bytes that a record has for one usage.
pub fn keys_bytes(enctype: Enctype) -> usize {
    enctype.cipher().schedule_bytes() + 2 * enctype.hash().digest_bytes()
}

/// Bytes of a long-term key's record: the keys of each usage, in the order of [`Usage::ALL`].
pub fn record_bytes(enctype: Enctype) -> usize {
    Usage::ALL.len() * keys_bytes(enctype)
}

/// Bytes that each server draws for a reply: of the session key, and of two confounders.
pub fn drawn_bytes(enctype: Enctype) -> usize {
    enctype.key_bytes() + 2 * CONFOUNDER
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

/// What each server draws.
fn drawn(b: &mut Builder, enctype: Enctype) -> [Vec<Wire>; SERVERS] {
    std::array::from_fn(|_| input(b, 8 * drawn_bytes(enctype)))
}

/// The session key and two confounders: sums of what all servers drew.
fn sums(b: &mut Builder, enctype: Enctype, all: &[Vec<Wire>; SERVERS]) -> [Vec<Wire>; 3] {
    let sum: Vec<Wire> = (0..all[0].len())
        .map(|at| {
            let two = b.xor(all[0][at], all[1][at]);
            b.xor(two, all[2][at])
        })
        .collect();
    let (session, confounders) = sum.split_at(8 * enctype.key_bytes());
    let (first, second) = confounders.split_at(8 * CONFOUNDER);
    [session.to_vec(), first.to_vec(), second.to_vec()]
}

/// Bits where a condition holds, and else zeros.
fn masked(b: &mut Builder, condition: Wire, bits: &[Wire]) -> Vec<Wire> {
    bits.iter().map(|&bit| b.and(condition, bit)).collect()
}

/// Bytes of which one bit each says whether they are there, and else zeros.
fn masked_bytes(b: &mut Builder, conditions: &[Wire], bytes: &[Wire]) -> Vec<Wire> {
    conditions.iter().zip(bytes.chunks(8)).flat_map(|(&condition, byte)| masked(b, condition, byte)).collect()
}

/// Adds bits to others.
fn add(b: &mut Builder, sum: &mut [Wire], bits: &[Wire]) {
    for (sum, &bit) in sum.iter_mut().zip(bits) {
        *sum = b.xor(*sum, bit);
    }
}

fn input(b: &mut Builder, bits: usize) -> Vec<Wire> {
    b.input(u32::try_from(bits).expect("messages are short"))
}
