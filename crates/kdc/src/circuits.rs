//! Kerberos' cryptography as Boolean circuits, from what records of long-term keys have ready: an expanded Ke, and the states of
//! HMAC after the two blocks of Ki. Strings are bits of bytes, the least significant first.
//!
//! What all three servers know goes in as three copies, one from each. Circuits compare them: unless they are the same, whatever
//! comes out is zero.

mod further;
mod keys;
#[cfg(test)]
mod tests;

pub use further::{Layout, Sizes, open_authenticator, reply_further, verify_further};

use crate::enctype::{CONFOUNDER, Enctype, Usage};
use keys::{Base, Keys};
use tacit::circuit::arith::{self, Style};
use tacit::circuit::{Builder, Circuit, Wire};

/// Few rounds: requests are answered one by one.
const STYLE: Style = Style::Shallow;
/// Copies of what all servers give, to be compared.
const COPIES: usize = 3;

/// Bytes that a record has for one usage.
pub fn keys_bytes(enctype: Enctype) -> usize {
    enctype.cipher().schedule_bytes() + 2 * enctype.hash().digest_bytes()
}

/// Bytes of a long-term key's record: the keys of each usage, in the order of [`Usage::ALL`].
pub fn record_bytes(enctype: Enctype) -> usize {
    Usage::ALL.len() * keys_bytes(enctype)
}

/// A base key to its record.
pub fn enrol(enctype: Enctype) -> Circuit {
    let mut b = Builder::new();
    let key = input(&mut b, enctype.key_bytes());
    let base = Base::new(&mut b, enctype, &key);
    let keys = Usage::ALL.map(|usage| Keys::derive(&mut b, &base, usage.number()).wires());
    b.finish(vec![keys.concat()])
}

/// Three copies of a ciphertext of so many bytes, and a record's keys of its usage, to one bit: whether the copies are the same and the
/// code is right.
pub fn verify(enctype: Enctype, sealed_bytes: usize) -> Circuit {
    let mut b = Builder::new();
    let copies: [Vec<Wire>; COPIES] = std::array::from_fn(|_| input(&mut b, sealed_bytes));
    let keys = input(&mut b, keys_bytes(enctype));
    let right = Keys::of(enctype, &keys).verify(&mut b, &copies[0]);
    let same = alike(&mut b, &copies);
    let verdict = b.and(same, right);
    b.finish(vec![vec![verdict]])
}

/// Three copies of a ciphertext of so many bytes, and a record's keys of its usage, to what is in it, without the confounder, and
/// with zeros for the session key, if it has one; all zeros unless the copies are the same. The code isn't looked at: [`verify`]
/// and [`verify_further`] come first.
pub fn open(enctype: Enctype, sealed_bytes: usize, key_at: Option<usize>) -> Circuit {
    let mut b = Builder::new();
    let copies: [Vec<Wire>; COPIES] = std::array::from_fn(|_| input(&mut b, sealed_bytes));
    let keys = input(&mut b, keys_bytes(enctype));
    let sealed = &copies[0][..8 * (sealed_bytes - enctype.mac_bytes())];
    let mut plain = Keys::of(enctype, &keys).decrypt(&mut b, sealed).split_off(8 * CONFOUNDER);
    if let Some(at) = key_at {
        let hidden = b.constant(false);
        plain[8 * at..8 * (at + enctype.key_bytes())].fill(hidden);
    }
    let same = alike(&mut b, &copies);
    let plain = masked(&mut b, same, &plain);
    b.finish(vec![plain])
}

/// A plaintext with a place for a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Its bytes.
    pub bytes: usize,
    /// Where the session key begins.
    pub key_at: usize,
}

impl Form {
    /// The plaintext behind its confounder, and with its session key.
    fn message(self, confounder: &[Wire], plain: &[Wire], session: &[Wire]) -> Vec<Wire> {
        let mut message = confounder.to_vec();
        message.extend(plain);
        let at = 8 * (CONFOUNDER + self.key_at);
        message[at..at + session.len()].copy_from_slice(session);
        message
    }
}

/// Bytes that each server draws for [`reply`]: of the session key, and of two confounders.
pub fn drawn_bytes(enctype: Enctype) -> usize {
    enctype.key_bytes() + 2 * CONFOUNDER
}

/// A ticket and a reply's encrypted part with one session key, which nobody learns.
///
/// Takes three copies of both plaintexts, one behind the other; what each of three servers drew ([`drawn_bytes`]), whose sum is
/// the session key and two confounders; the service's keys for tickets; and the client's for replies. Gives both ciphertexts
/// with their codes, and one bit: whether the copies are the same. Unless they are, all is zero.
pub fn reply(enctype: Enctype, ticket: Form, part: Form) -> Circuit {
    let mut b = Builder::new();
    let copies: [Vec<Wire>; COPIES] = std::array::from_fn(|_| input(&mut b, ticket.bytes + part.bytes));
    let drawn: [Vec<Wire>; COPIES] = std::array::from_fn(|_| input(&mut b, drawn_bytes(enctype)));
    let [service, client] = std::array::from_fn(|_| input(&mut b, keys_bytes(enctype)));
    let sum = arith::xor(&mut b, &drawn[0], &drawn[1]);
    let sum = arith::xor(&mut b, &sum, &drawn[2]);
    let (session, confounders) = sum.split_at(8 * enctype.key_bytes());
    let same = alike(&mut b, &copies);
    let (ticket_plain, part_plain) = copies[0].split_at(8 * ticket.bytes);
    let (first, second) = confounders.split_at(8 * CONFOUNDER);
    let mut outputs = Vec::new();
    for (form, plain, confounder, keys) in
        [(ticket, ticket_plain, first, &service), (part, part_plain, second, &client)]
    {
        let message = form.message(confounder, plain, session);
        let sealed = Keys::of(enctype, keys).seal(&mut b, &message);
        outputs.push(masked(&mut b, same, &sealed));
    }
    outputs.push(vec![same]);
    b.finish(outputs)
}

/// Whether all copies are the same.
fn alike(b: &mut Builder, copies: &[Vec<Wire>; COPIES]) -> Wire {
    let [first, rest @ ..] = copies;
    let same: Vec<Wire> = rest.iter().map(|copy| arith::equal(b, first, copy)).collect();
    arith::all(b, &same)
}

/// Bits where a condition holds, and else zeros.
fn masked(b: &mut Builder, condition: Wire, bits: &[Wire]) -> Vec<Wire> {
    bits.iter().map(|&bit| b.and(condition, bit)).collect()
}

fn input(b: &mut Builder, bytes: usize) -> Vec<Wire> {
    b.input(u32::try_from(8 * bytes).expect("messages are short"))
}
