//! The AS exchange: an encrypted timestamp, and a ticket with its reply. Where servers know session keys, tickets are opened as
//! timestamps are, and sealed as any message that they know.

use super::keys::Keys;
use super::public::{Bits, Class, Feed, Form, KEY_IN_PART, KEY_IN_TICKET, Plain, Sealed, Whole};
use super::wires::{drawn, input, keys_bytes, masked, sums};
use crate::enctype::{CONFOUNDER, Enctype};
use tacit::circuit::{Builder, Circuit};

/// What all know of a ciphertext, such as an encrypted timestamp, and a record's keys of its usage, to one bit, whether the code
/// is right, and the plaintext without its confounder, if it is, with zeros behind its end.
pub fn verify(enctype: Enctype, class: Class) -> Circuit {
    let mut b = Builder::new();
    let public = input(&mut b, Sealed::bits(enctype, class));
    let keys = input(&mut b, 8 * keys_bytes(enctype));
    let sealed = Sealed::read(&mut Feed(&public), enctype, class);
    let keys = Keys::of(enctype, &keys);
    let plain = keys.decrypt(&mut b, &sealed);
    let is_right = keys.verify(&mut b, &sealed, &plain);
    let opened = masked(&mut b, is_right, &plain[8 * CONFOUNDER..]);
    b.finish(vec![vec![is_right], opened])
}

/// What all know of a ciphertext, which has two blocks at least.
pub fn verifies(enctype: Enctype, class: Class, sealed: &[u8]) -> Vec<bool> {
    let mut out = Bits::default();
    Sealed::write(&mut out, enctype, class, sealed);
    out.0
}

/// A ticket and a reply's encrypted part with one session key, which nobody learns.
///
/// Takes what all know of both plaintexts; what each server drew ([`super::drawn_bytes`]), whose sum is the session key and two
/// confounders; the service's keys for tickets; and the client's for replies. Gives both ciphertexts and both codes.
pub fn reply(enctype: Enctype, class: Class) -> Circuit {
    let mut b = Builder::new();
    let public = input(&mut b, 2 * Plain::bits(enctype, class));
    let drawn = drawn(&mut b, enctype);
    let [service, client] = std::array::from_fn(|_| input(&mut b, 8 * keys_bytes(enctype)));
    let [session, first, second] = sums(&mut b, enctype, &drawn);
    let mut feed = Feed(&public);
    let mut outputs = Vec::new();
    for (confounder, keys, from) in [(first, service, KEY_IN_TICKET), (second, client, KEY_IN_PART)] {
        let plain = Plain::read(&mut feed, enctype, class, from);
        outputs.extend(Keys::of(enctype, &keys).seal(&mut b, &plain, &confounder, &session));
    }
    b.finish(outputs)
}

/// What all know of a ticket and a reply's part that are to be made.
pub fn replies(enctype: Enctype, class: Class, ticket: (&[u8], Form), part: (&[u8], Form)) -> Vec<bool> {
    let mut out = Bits::default();
    Plain::write(&mut out, enctype, class, ticket, KEY_IN_TICKET);
    Plain::write(&mut out, enctype, class, part, KEY_IN_PART);
    out.0
}

/// So many messages that all know, session keys and confounders in them, each under other keys. Gives of each its ciphertext and
/// its code.
pub fn seal(enctype: Enctype, class: Class, count: usize) -> Circuit {
    let mut b = Builder::new();
    let public = input(&mut b, count * Whole::bits(enctype, class));
    let keys: Vec<_> = (0..count).map(|_| input(&mut b, 8 * keys_bytes(enctype))).collect();
    let mut feed = Feed(&public);
    let mut outputs = Vec::new();
    for keys in &keys {
        let plain = Whole::read(&mut feed, enctype, class);
        outputs.extend(Keys::of(enctype, keys).seal_whole(&mut b, plain.bytes, &plain));
    }
    b.finish(outputs)
}

/// What all know of messages that are to be sealed: of each its confounder and its plaintext.
pub fn seals(enctype: Enctype, class: Class, messages: &[([u8; CONFOUNDER], &[u8])]) -> Vec<bool> {
    // Room for all: a vector that grows leaves copies behind.
    let mut out = Bits(Vec::with_capacity(messages.len() * Whole::bits(enctype, class)));
    for (confounder, plain) in messages {
        Whole::write(&mut out, enctype, class, *confounder, plain);
    }
    out.0
}
