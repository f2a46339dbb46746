//! The TGS exchange: a ticket, whose session key opens the authenticator that comes with it.

use super::keys::{Base, Keys};
use super::{COPIES, Form, alike, drawn_bytes, input, keys_bytes, masked};
use crate::enctype::{CONFOUNDER, Enctype, session_usage};
use tacit::circuit::arith;
use tacit::circuit::{Builder, Circuit, Wire};

/// Lengths of what a client sends, and where the ticket has its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Bytes of the ticket's ciphertext.
    pub ticket: usize,
    /// Where its plaintext has the session key.
    pub key_at: usize,
    /// Bytes of the authenticator's ciphertext.
    pub authenticator: usize,
}

/// Where an authenticator's plaintext has what stays shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The checksum of the request's body.
    pub checksum_at: usize,
    /// The subkey, if there is one.
    pub subkey_at: Option<usize>,
}

/// A request's ticket and authenticator, as wires.
struct Opened {
    ticket_is_right: Wire,
    authenticator_is_right: Wire,
    /// What the session key derives.
    session: Base,
    /// The authenticator's plaintext, without its confounder.
    authenticator: Vec<Wire>,
}

impl Opened {
    fn new(b: &mut Builder, enctype: Enctype, sizes: Sizes, sealed: &[Wire], keys: &[Wire]) -> Self {
        let (ticket, authenticator) = sealed.split_at(8 * sizes.ticket);
        let without_code = |sealed: &[Wire]| sealed[..sealed.len() - 8 * enctype.mac_bytes()].to_vec();
        let keys = Keys::of(enctype, keys);
        let ticket_is_right = keys.verify(b, ticket);
        let plain = keys.decrypt(b, &without_code(ticket));
        let at = 8 * (CONFOUNDER + sizes.key_at);
        let session = Base::new(b, enctype, &plain[at..at + 8 * enctype.key_bytes()]);
        let keys = Keys::derive(b, &session, session_usage::AUTHENTICATOR);
        let authenticator_is_right = keys.verify(b, authenticator);
        let authenticator = keys.decrypt(b, &without_code(authenticator)).split_off(8 * CONFOUNDER);
        Self { ticket_is_right, authenticator_is_right, session, authenticator }
    }
}

/// Three copies of a ticket's ciphertext with an authenticator's behind it, and krbtgt's keys for tickets, to one bit: whether the
/// copies are the same and both codes are right. Two bits would let who has altered a ticket learn what it holds.
pub fn verify_further(enctype: Enctype, sizes: Sizes) -> Circuit {
    let mut b = Builder::new();
    let copies: [Vec<Wire>; COPIES] =
        std::array::from_fn(|_| input(&mut b, sizes.ticket + sizes.authenticator));
    let keys = input(&mut b, keys_bytes(enctype));
    let opened = Opened::new(&mut b, enctype, sizes, &copies[0], &keys);
    let same = alike(&mut b, &copies);
    let verdict = arith::all(&mut b, &[same, opened.ticket_is_right, opened.authenticator_is_right]);
    b.finish(vec![vec![verdict]])
}

/// The same inputs to the authenticator, with zeros for its checksum and its subkey; all zeros unless the copies are the same.
pub fn open_authenticator(enctype: Enctype, sizes: Sizes, layout: Layout) -> Circuit {
    let mut b = Builder::new();
    let copies: [Vec<Wire>; COPIES] =
        std::array::from_fn(|_| input(&mut b, sizes.ticket + sizes.authenticator));
    let keys = input(&mut b, keys_bytes(enctype));
    let mut plain = Opened::new(&mut b, enctype, sizes, &copies[0], &keys).authenticator;
    let hidden = b.constant(false);
    plain[8 * layout.checksum_at..8 * (layout.checksum_at + enctype.mac_bytes())].fill(hidden);
    if let Some(at) = layout.subkey_at {
        plain[8 * at..8 * (at + enctype.key_bytes())].fill(hidden);
    }
    let same = alike(&mut b, &copies);
    let plain = masked(&mut b, same, &plain);
    b.finish(vec![plain])
}

/// A ticket for another service, and a reply's encrypted part under the session key of a ticket, or under the authenticator's
/// subkey.
///
/// Takes three copies of ticket, authenticator, the request's body of so many bytes and both plaintexts, one behind the other; what
/// each of three servers drew; krbtgt's and the service's keys for tickets. Gives both ciphertexts with their codes, and one bit:
/// whether the copies are the same and the body has the checksum that the authenticator says. Unless that is so, all is zero.
pub fn reply_further(
    enctype: Enctype,
    sizes: Sizes,
    layout: Layout,
    body: usize,
    ticket: Form,
    part: Form,
) -> Circuit {
    let mut b = Builder::new();
    let sealed_bytes = sizes.ticket + sizes.authenticator;
    let all = sealed_bytes + body + ticket.bytes + part.bytes;
    let copies: [Vec<Wire>; COPIES] = std::array::from_fn(|_| input(&mut b, all));
    let drawn: [Vec<Wire>; COPIES] = std::array::from_fn(|_| input(&mut b, drawn_bytes(enctype)));
    let [krbtgt, service] = std::array::from_fn(|_| input(&mut b, keys_bytes(enctype)));
    let (sealed, rest) = copies[0].split_at(8 * sealed_bytes);
    let (body, plains) = rest.split_at(8 * body);
    let (ticket_plain, part_plain) = plains.split_at(8 * ticket.bytes);
    let opened = Opened::new(&mut b, enctype, sizes, sealed, &krbtgt);

    let own = opened.session.checksum(&mut b, session_usage::BODY, body);
    let at = 8 * layout.checksum_at;
    let is_right = arith::equal(&mut b, &own, &opened.authenticator[at..at + own.len()]);
    let same = alike(&mut b, &copies);
    let verdict = b.and(same, is_right);

    let sum = arith::xor(&mut b, &drawn[0], &drawn[1]);
    let sum = arith::xor(&mut b, &sum, &drawn[2]);
    let (session, confounders) = sum.split_at(8 * enctype.key_bytes());
    let (first, second) = confounders.split_at(8 * CONFOUNDER);
    let reply_keys = match layout.subkey_at {
        Some(at) => {
            let subkey = &opened.authenticator[8 * at..8 * (at + enctype.key_bytes())];
            let subkey = Base::new(&mut b, enctype, subkey);
            Keys::derive(&mut b, &subkey, session_usage::REPLY_BY_SUBKEY)
        }
        None => Keys::derive(&mut b, &opened.session, session_usage::REPLY),
    };
    let service = Keys::of(enctype, &service);
    let mut outputs = Vec::new();
    for (form, plain, confounder, keys) in
        [(ticket, ticket_plain, first, &service), (part, part_plain, second, &reply_keys)]
    {
        let message = form.message(confounder, plain, session);
        let sealed = keys.seal(&mut b, &message);
        outputs.push(masked(&mut b, verdict, &sealed));
    }
    outputs.push(vec![verdict]);
    b.finish(outputs)
}
