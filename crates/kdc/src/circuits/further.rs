//! The TGS exchange: a ticket, whose session key opens the authenticator that comes with it.

use super::keys::{Base, Derived, Keys};
use super::public::{
    BLOCK, Bits, Body, Class, Feed, Form, KEY_IN_PART, KEY_IN_TICKET, KeyPlace, Plain, Sealed,
};
use super::wires::{add, drawn, input, keys_bytes, masked, masked_bytes, sums};
use crate::enctype::{CONFOUNDER, Enctype, session_usage};
use tacit::circuit::arith;
use tacit::circuit::{Builder, Circuit, Wire};

/// A ticket and an authenticator as a client sends them, and where the ticket has its key.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// What the circuit is for.
    pub class: Class,
    /// Where the ticket's plaintext has the session key.
    pub key_at: usize,
}

/// What an authenticator has to look like.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Which of them it has to have: of each whether it is one.
    pub is_fixed: &'a [bool],
    /// Which of them are opened.
    pub is_opened: &'a [bool],
    /// Where it has the checksum of the request's body.
    pub checksum_at: usize,
    /// Where it has a subkey, if it has one.
    pub subkey_at: Option<usize>,
}

/// Bits of a place in a message.
const PLACE: usize = 9;

/// A request's ticket and authenticator, opened.
struct Opened {
    ticket_is_right: Wire,
    authenticator_is_right: Wire,
    /// The plaintexts, with their confounders.
    ticket: Vec<Wire>,
    authenticator: Vec<Wire>,
    /// What the session key derives.
    session: Base,
}

impl Opened {
    fn bits(enctype: Enctype, class: Class) -> usize {
        2 * Sealed::bits(enctype, class) + KeyPlace::BITS
    }

    fn write(out: &mut Bits, enctype: Enctype, sizes: Sizes, ticket: &[u8], authenticator: &[u8]) {
        Sealed::write(out, enctype, sizes.class, ticket);
        Sealed::write(out, enctype, sizes.class, authenticator);
        KeyPlace::write(out, KEY_IN_TICKET, sizes.key_at);
    }

    fn new(b: &mut Builder, enctype: Enctype, class: Class, feed: &mut Feed<'_>, krbtgt: &[Wire]) -> Self {
        let sealed: [Sealed<'_>; 2] = std::array::from_fn(|_| Sealed::read(feed, enctype, class));
        let place = KeyPlace::read(feed, KEY_IN_TICKET);
        let keys = Keys::of(enctype, krbtgt);
        let ticket = keys.decrypt(b, &sealed[0]);
        let ticket_is_right = keys.verify(b, &sealed[0], &ticket);
        let mut session = vec![b.constant(false); 8 * enctype.key_bytes()];
        for (at, is_it) in place.all() {
            let here = masked(b, is_it, &ticket[8 * at..8 * (at + enctype.key_bytes())]);
            add(b, &mut session, &here);
        }
        let session = Base::new(b, enctype, &session);
        let keys = Keys::derive(b, &session, Derived::For(session_usage::AUTHENTICATOR));
        let authenticator = keys.decrypt(b, &sealed[1]);
        let authenticator_is_right = keys.verify(b, &sealed[1], &authenticator);
        Self { ticket_is_right, authenticator_is_right, ticket, authenticator, session }
    }
}

/// What all know of ticket and authenticator, and krbtgt's keys for tickets, to one bit, whether both codes are
/// right, and if they are, the ticket without its confounder and its key. Two bits would let who has altered a ticket
/// learn what it holds.
pub fn verify_further(enctype: Enctype, class: Class) -> Circuit {
    let mut b = Builder::new();
    let shown = class.blocks() * BLOCK - CONFOUNDER;
    let public = input(&mut b, Opened::bits(enctype, class) + shown);
    let keys = input(&mut b, 8 * keys_bytes(enctype));
    let mut feed = Feed(&public);
    let opened = Opened::new(&mut b, enctype, class, &mut feed, &keys);
    let is_right = b.and(opened.ticket_is_right, opened.authenticator_is_right);
    let ticket = masked_bytes(&mut b, feed.bits(shown), &opened.ticket[8 * CONFOUNDER..]);
    let ticket = masked(&mut b, is_right, &ticket);
    b.finish(vec![vec![is_right], ticket])
}

/// What all know of a ticket and an authenticator.
pub fn verifies_further(enctype: Enctype, sizes: Sizes, ticket: &[u8], authenticator: &[u8]) -> Vec<bool> {
    let mut out = Bits::default();
    Opened::write(&mut out, enctype, sizes, ticket, authenticator);
    let key = sizes.key_at..sizes.key_at + enctype.key_bytes();
    out.set(sizes.class.blocks() * BLOCK - CONFOUNDER, |byte| !key.contains(&byte));
    out.0
}

/// The same, with what all know of the authenticator's form, to one bit, whether it has that form, and if so, those of its bytes
/// that are to be opened.
pub fn open_authenticator(enctype: Enctype, class: Class) -> Circuit {
    let mut b = Builder::new();
    let bytes = class.blocks() * BLOCK - CONFOUNDER;
    let public = input(&mut b, Opened::bits(enctype, class) + 10 * bytes);
    let keys = input(&mut b, 8 * keys_bytes(enctype));
    let mut feed = Feed(&public);
    let plain = Opened::new(&mut b, enctype, class, &mut feed, &keys).authenticator.split_off(8 * CONFOUNDER);
    let (expected, is_fixed) = (feed.bytes(bytes), feed.bits(bytes));
    let differs = arith::xor(&mut b, &plain, expected);
    let differs = masked_bytes(&mut b, is_fixed, &differs);
    let nothing = vec![b.constant(false); differs.len()];
    let fits = arith::equal(&mut b, &differs, &nothing);
    let shown = masked_bytes(&mut b, feed.bits(bytes), &plain);
    let shown = masked(&mut b, fits, &shown);
    b.finish(vec![vec![fits], shown])
}

/// What all know of ticket, authenticator and its form.
pub fn opens_authenticator(
    enctype: Enctype,
    sizes: Sizes,
    ticket: &[u8],
    authenticator: &[u8],
    expected: Expected<'_>,
) -> Vec<bool> {
    let mut out = Bits::default();
    Opened::write(&mut out, enctype, sizes, ticket, authenticator);
    let bytes = sizes.class.blocks() * BLOCK - CONFOUNDER;
    out.bytes(expected.bytes, bytes);
    for bits in [expected.is_fixed, expected.is_opened] {
        out.set(bytes, |byte| bits.get(byte).copied().unwrap_or(false));
    }
    out.0
}

/// A ticket for another service, and a reply's encrypted part under the session key of a ticket, or under the authenticator's
/// subkey.
///
/// Takes what all know of ticket, authenticator, the places in it, the request's body and both plaintexts; what each server drew;
/// krbtgt's and the service's keys for tickets. Gives one bit, whether the body has the authenticator's checksum; and if so, both
/// ciphertexts and both codes.
pub fn reply_further(enctype: Enctype, class: Class) -> Circuit {
    let mut b = Builder::new();
    let places = 2 * PLACE + 1;
    let width = Opened::bits(enctype, class) + places + Body::bits(class) + 2 * Plain::bits(enctype, class);
    let public = input(&mut b, width);
    let drawn = drawn(&mut b, enctype);
    let [krbtgt, service] = std::array::from_fn(|_| input(&mut b, 8 * keys_bytes(enctype)));
    let [session, first, second] = sums(&mut b, enctype, &drawn);
    let mut feed = Feed(&public);
    let opened = Opened::new(&mut b, enctype, class, &mut feed, &krbtgt);

    let [checksum_at, subkey_at] = std::array::from_fn(|_| feed.bits(PLACE));
    let has_subkey = feed.bits(1)[0];
    let own = opened.session.checksum(&mut b, session_usage::BODY, &Body::read(&mut feed, class));
    let given = taken(&mut b, &opened.authenticator, checksum_at, enctype.mac_bytes());
    let is_right = arith::equal(&mut b, &own, &given);

    let subkey = taken(&mut b, &opened.authenticator, subkey_at, enctype.key_bytes());
    let other = arith::xor(&mut b, &subkey, opened.session.key());
    let mut reply_key = masked(&mut b, has_subkey, &other);
    add(&mut b, &mut reply_key, opened.session.key());
    let reply_key = Base::new(&mut b, enctype, &reply_key);
    let usage = Derived::Either {
        which: has_subkey,
        set: session_usage::REPLY_BY_SUBKEY,
        unset: session_usage::REPLY,
    };
    let reply_keys = Keys::derive(&mut b, &reply_key, usage);
    let service = Keys::of(enctype, &service);
    let mut outputs = vec![vec![is_right]];
    for (confounder, keys, from) in [(first, service, KEY_IN_TICKET), (second, reply_keys, KEY_IN_PART)] {
        let plain = Plain::read(&mut feed, enctype, class, from);
        for part in keys.seal(&mut b, &plain, &confounder, &session) {
            outputs.push(masked(&mut b, is_right, &part));
        }
    }
    b.finish(outputs)
}

/// What all know for that.
#[allow(clippy::too_many_arguments)]
pub fn replies_further(
    enctype: Enctype,
    sizes: Sizes,
    (sealed_ticket, authenticator): (&[u8], &[u8]),
    expected: Expected<'_>,
    body: &[u8],
    ticket: (&[u8], Form),
    part: (&[u8], Form),
) -> Vec<bool> {
    let mut out = Bits::default();
    Opened::write(&mut out, enctype, sizes, sealed_ticket, authenticator);
    out.number(CONFOUNDER + expected.checksum_at, PLACE);
    out.number(CONFOUNDER + expected.subkey_at.unwrap_or_default(), PLACE);
    out.set(1, |_| expected.subkey_at.is_some());
    Body::write(&mut out, sizes.class, body);
    Plain::write(&mut out, enctype, sizes.class, ticket, KEY_IN_TICKET);
    Plain::write(&mut out, enctype, sizes.class, part, KEY_IN_PART);
    out.0
}

/// So many bytes of a message, from a place on that all know: it is moved by 256 bytes or not, by 128 or not, and so on.
fn taken(b: &mut Builder, message: &[Wire], place: &[Wire], bytes: usize) -> Vec<Wire> {
    let nothing = b.constant(false);
    let mut rest = message.to_vec();
    for (level, &moves) in place.iter().enumerate().rev() {
        let by = 8 << level;
        let needed = (8 * bytes + by - 8).min(rest.len());
        rest = (0..needed)
            .map(|at| {
                let moved = rest.get(at + by).copied().unwrap_or(nothing);
                let differs = b.xor(rest[at], moved);
                let change = b.and(moves, differs);
                b.xor(rest[at], change)
            })
            .collect();
    }
    rest.resize(8 * bytes, nothing);
    rest
}
