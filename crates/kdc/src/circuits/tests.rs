//! Circuits against the same in the clear, for messages of all lengths of a class.

use super::public::{KEY_IN_PART, KEY_IN_TICKET};
use super::*;
use crate::clear::Key;
use crate::enctype::CONFOUNDER;

fn bits(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
}

fn bytes(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, &bit| sum << 1 | u8::from(bit))).collect()
}

/// So many bytes, no two runs of them alike.
fn pattern(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (seed * 37 + at * 91 + at * at * 7) as u8).collect()
}

fn key(enctype: Enctype, seed: usize) -> Key {
    Key::new(enctype, &pattern(seed, enctype.key_bytes())).unwrap()
}

/// The keys of a usage, by the circuit that makes the record.
fn keys_of(key: &Key, usage: Usage) -> Vec<bool> {
    let record = enrol(key.enctype()).evaluate(&[bits(key.bytes())]).unwrap().swap_remove(0);
    let at = Usage::ALL.iter().position(|other| *other == usage).unwrap();
    let count = 8 * keys_bytes(key.enctype());
    record[at * count..(at + 1) * count].to_vec()
}

/// So many bytes, and zeros up to `width`.
fn padded(message: &[u8], width: usize) -> Vec<u8> {
    [message, &vec![0; width - message.len()]].concat()
}

#[test]
fn timestamps_are_verified_and_opened_as_in_the_clear() {
    for enctype in Enctype::ALL {
        let key = key(enctype, 5);
        let keys = keys_of(&key, Usage::Timestamp);
        let verify = verify(enctype, Class::TIMESTAMP);
        for length in 21..=28 {
            let message = pattern(3, length);
            let sealed = key.seal(1, [9; CONFOUNDER], &message);
            let told = |sealed: &[u8]| {
                verify.evaluate(&[verifies(enctype, Class::TIMESTAMP, sealed), keys.clone()]).unwrap()
            };
            let opened = told(&sealed);
            assert_eq!(opened[0], [true]);
            assert_eq!(
                bytes(&opened[1]),
                padded(&message, block_bytes(Class::TIMESTAMP) - CONFOUNDER),
                "{enctype}, {length}"
            );
            for at in [0, 16, sealed.len() - 13, sealed.len() - 1] {
                let mut changed = sealed.clone();
                changed[at] ^= 0x10;
                assert!(told(&changed).iter().flatten().all(|&bit| !bit), "{enctype}, {length}, {at}");
            }
        }
    }
}

/// What servers draw, and the session key and confounders that it makes.
fn draws(enctype: Enctype) -> (Vec<Vec<bool>>, Vec<u8>, [[u8; CONFOUNDER]; 2]) {
    let drawn: Vec<Vec<u8>> = (0..3).map(|who| pattern(who, drawn_bytes(enctype))).collect();
    let sum: Vec<u8> =
        (0..drawn_bytes(enctype)).map(|at| drawn[0][at] ^ drawn[1][at] ^ drawn[2][at]).collect();
    let (session, confounders) = sum.split_at(enctype.key_bytes());
    let confounders = [0, 16].map(|at| confounders[at..at + 16].try_into().unwrap());
    (drawn.iter().map(|drawn| bits(drawn)).collect(), session.to_vec(), confounders)
}

/// A message with its session key.
fn filled(plain: &[u8], form: Form, session: &[u8]) -> Vec<u8> {
    let mut plain = plain.to_vec();
    plain[form.key_at..form.key_at + session.len()].copy_from_slice(session);
    plain
}

/// A ciphertext and its code as a circuit gives them.
fn expected(
    key: &Key,
    usage: u32,
    confounder: [u8; CONFOUNDER],
    (plain, form): (&[u8], Form),
    session: &[u8],
    class: Class,
) -> [Vec<u8>; 2] {
    let plain = filled(plain, form, session);
    let sealed = key.seal(usage, confounder, &plain);
    let (cipher, code) = sealed.split_at(CONFOUNDER + plain.len());
    [padded(cipher, block_bytes(class)), code.to_vec()]
}

/// A message with zeros where its session key goes.
fn around_key(seed: usize, enctype: Enctype, form: Form) -> Vec<u8> {
    let mut plain = pattern(seed, form.bytes);
    plain[form.key_at..form.key_at + enctype.key_bytes()].fill(0);
    plain
}

#[test]
fn tickets_and_replies_are_those_of_the_clear_at_all_lengths() {
    for enctype in Enctype::ALL {
        let (service, client) = (key(enctype, 1), key(enctype, 2));
        let (drawn, session, confounders) = draws(enctype);
        for (class, lengths) in
            [(Class::ALL[0], vec![80, 111, 112, 113, 167]), (Class::ALL[1], vec![112, 231])]
        {
            let (circuit, known) = (reply(enctype, class), seal(enctype, class, 2));
            for (at, length) in lengths.into_iter().enumerate() {
                let ticket = Form { bytes: length, key_at: KEY_IN_TICKET + at % 5 };
                let part =
                    Form { bytes: length + 16 - 32 * usize::from(length > 150), key_at: KEY_IN_PART + 4 };
                let plains = [ticket, part].map(|form| (around_key(9, enctype, form), form));
                let [first, second] = plains.each_ref().map(|(plain, form)| (&plain[..], *form));
                let mut given = vec![replies(enctype, class, first, second)];
                given.extend(drawn.clone());
                given.push(keys_of(&service, Usage::Ticket));
                given.push(keys_of(&client, Usage::Reply));
                let outputs: Vec<Vec<u8>> =
                    circuit.evaluate(&given).unwrap().iter().map(|bits| bytes(bits)).collect();
                let own = [
                    expected(&service, 2, confounders[0], first, &session, class),
                    expected(&client, 3, confounders[1], second, &session, class),
                ];
                assert_eq!(outputs, own.concat(), "{enctype}, {length}");
                // The same of servers that know all of it.
                let [first, second] = plains.each_ref().map(|(plain, form)| filled(plain, *form, &session));
                let messages = [(confounders[0], &first[..]), (confounders[1], &second[..])];
                let public = seals(enctype, class, &messages);
                let given = [public, given.swap_remove(4), given.swap_remove(4)];
                let outputs = known.evaluate(&given).unwrap();
                assert!(outputs.iter().map(|bits| bytes(bits)).eq(own.concat()), "{enctype}, {length}");
            }
        }
    }
}

/// A ticket under krbtgt's key, and an authenticator under the ticket's, with the body's checksum and a subkey.
struct Asked {
    krbtgt: Key,
    session: Key,
    subkey: Key,
    sizes: Sizes,
    subkey_at: Option<usize>,
    ticket: Vec<u8>,
    plain: Vec<u8>,
    authenticator: Vec<u8>,
    body: Vec<u8>,
    is_fixed: Vec<bool>,
    is_opened: Vec<bool>,
}

const CHECKSUM_AT: usize = 23;

impl Asked {
    fn new(enctype: Enctype, has_subkey: bool, class: Class, more: usize) -> Self {
        let [krbtgt, session, subkey] = [4, 5, 6].map(|seed| key(enctype, seed));
        let (key_at, body) = (KEY_IN_TICKET + more % 5, pattern(8, 60 + more));
        let mut ticket = pattern(1, 90 + more);
        ticket[key_at..key_at + enctype.key_bytes()].copy_from_slice(session.bytes());
        let length = 100 + more;
        let mut plain = pattern(2, length);
        let subkey_at = has_subkey.then_some(length - enctype.key_bytes());
        let code = CHECKSUM_AT..CHECKSUM_AT + enctype.mac_bytes();
        plain[code.clone()].copy_from_slice(&session.checksum(6, &body));
        if let Some(at) = subkey_at {
            plain[at..].copy_from_slice(subkey.bytes());
        }
        let ticket = krbtgt.seal(2, [1; CONFOUNDER], &ticket);
        let authenticator = session.seal(7, [2; CONFOUNDER], &plain);
        let is_secret = |at: &usize| code.contains(at) || subkey_at.is_some_and(|subkey| *at >= subkey);
        let is_opened: Vec<bool> = (0..length).map(|at| (50..55).contains(&at)).collect();
        let is_fixed = (0..length).map(|at| !is_secret(&at) && !is_opened[at]).collect();
        let sizes = Sizes { class, key_at };
        Self {
            krbtgt,
            session,
            subkey,
            sizes,
            subkey_at,
            ticket,
            plain,
            authenticator,
            body,
            is_fixed,
            is_opened,
        }
    }

    fn expected<'a>(&'a self, bytes: &'a [u8]) -> Expected<'a> {
        let (is_fixed, is_opened) = (&self.is_fixed, &self.is_opened);
        Expected { bytes, is_fixed, is_opened, checksum_at: CHECKSUM_AT, subkey_at: self.subkey_at }
    }
}

#[test]
fn tickets_and_authenticators_are_verified_together() {
    for (enctype, more) in Enctype::ALL.into_iter().zip([0, 7, 67]) {
        let class = Class::ALL[0];
        let asked = Asked::new(enctype, true, class, more);
        let keys = keys_of(&asked.krbtgt, Usage::Ticket);
        let circuit = verify_further(enctype, class);
        let verify = |ticket: &[u8], authenticator: &[u8]| {
            let public = verifies_further(enctype, asked.sizes, ticket, authenticator);
            circuit.evaluate(&[public, keys.clone()]).unwrap()
        };
        let opened = verify(&asked.ticket, &asked.authenticator);
        assert_eq!(opened[0], [true]);
        let mut ticket = pattern(1, 90 + more);
        ticket[asked.sizes.key_at..asked.sizes.key_at + enctype.key_bytes()]
            .copy_from_slice(asked.session.bytes());
        // Servers that know session keys open it with its own, if its code is right, whatever the authenticator is.
        let alone = super::verify(enctype, class);
        let of_ticket =
            |sealed: &[u8]| alone.evaluate(&[verifies(enctype, class, sealed), keys.clone()]).unwrap();
        let own = of_ticket(&asked.ticket);
        assert_eq!(
            (&own[0][..], bytes(&own[1])),
            (&[true][..], padded(&ticket, block_bytes(class) - CONFOUNDER))
        );
        ticket[asked.sizes.key_at..asked.sizes.key_at + enctype.key_bytes()].fill(0);
        assert_eq!(bytes(&opened[1]), padded(&ticket, block_bytes(class) - CONFOUNDER), "{enctype}");
        for (is_ticket, at) in
            [(true, 0), (true, 40), (true, asked.ticket.len() - 1), (false, 0), (false, 50)]
        {
            let (mut ticket, mut authenticator) = (asked.ticket.clone(), asked.authenticator.clone());
            let changed = if is_ticket { &mut ticket } else { &mut authenticator };
            changed[at] ^= 4;
            let is_right = of_ticket(&ticket)[0] == [true];
            assert!(is_right != is_ticket && (is_right || of_ticket(&ticket)[1].iter().all(|&bit| !bit)));
            assert!(verify(&ticket, &authenticator).iter().flatten().all(|&bit| !bit), "{enctype}, {at}");
        }

        let circuit = open_authenticator(enctype, class);
        let open = |expected: Expected<'_>| {
            let public =
                opens_authenticator(enctype, asked.sizes, &asked.ticket, &asked.authenticator, expected);
            circuit.evaluate(&[public, keys.clone()]).unwrap()
        };
        let opened = open(asked.expected(&asked.plain));
        let mut shown = vec![0; asked.plain.len()];
        shown[50..55].copy_from_slice(&asked.plain[50..55]);
        assert_eq!(opened[0], [true], "{enctype}");
        assert_eq!(bytes(&opened[1]), padded(&shown, block_bytes(class) - CONFOUNDER), "{enctype}");
        // Nothing is opened of another form, and what isn't fixed needn't be known.
        for at in [0, 22, 60] {
            let mut other = asked.plain.clone();
            other[at] ^= 1;
            assert!(open(asked.expected(&other)).iter().flatten().all(|&bit| !bit), "{enctype}, {at}");
        }
        let mut blank = asked.plain.clone();
        let is_fixed = asked.is_fixed.iter();
        blank.iter_mut().zip(is_fixed).filter(|(_, is_fixed)| !**is_fixed).for_each(|(byte, _)| *byte = 0);
        assert_eq!(open(asked.expected(&blank)), opened);
    }
}

#[test]
fn further_replies_are_under_the_subkey_if_there_is_one() {
    for enctype in Enctype::ALL {
        let class = Class::ALL[0];
        let circuit = reply_further(enctype, class);
        for (has_subkey, more) in [(true, 9), (false, 64)] {
            let asked = Asked::new(enctype, has_subkey, class, more);
            let service = key(enctype, 7);
            let ticket = Form { bytes: 83 + more, key_at: KEY_IN_TICKET };
            let part = Form { bytes: 97, key_at: KEY_IN_PART + 1 };
            let plains = [ticket, part].map(|form| (around_key(9, enctype, form), form));
            let [first, second] = plains.each_ref().map(|(plain, form)| (&plain[..], *form));
            let (drawn, session, confounders) = draws(enctype);
            let run = |body: &[u8]| {
                let sent = (&asked.ticket[..], &asked.authenticator[..]);
                let expected = asked.expected(&asked.plain);
                let public = replies_further(enctype, asked.sizes, sent, expected, body, first, second);
                let mut given = vec![public];
                given.extend(drawn.clone());
                given.push(keys_of(&asked.krbtgt, Usage::Ticket));
                given.push(keys_of(&service, Usage::Ticket));
                circuit.evaluate(&given).unwrap()
            };
            let outputs = run(&asked.body);
            assert_eq!(outputs[0], [true]);
            let (key, usage) = if has_subkey { (&asked.subkey, 9) } else { (&asked.session, 8) };
            let own = [
                expected(&service, 2, confounders[0], first, &session, class),
                expected(key, usage, confounders[1], second, &session, class),
            ];
            let outputs: Vec<Vec<u8>> = outputs[1..].iter().map(|bits| bytes(bits)).collect();
            assert_eq!(outputs, own.concat(), "{enctype}, {has_subkey}");
            let mut changed = asked.body.clone();
            changed[5] ^= 1;
            for body in [&changed[..], &asked.body[1..]] {
                assert!(run(body).iter().flatten().all(|&bit| !bit), "{enctype}");
            }
        }
    }
}

/// What a program opens of a request is the same whatever the keys are, if its codes are wrong: two worlds with other
/// keys of client, krbtgt and session look alike. What is sent before that is the protocol's to hide, and its suite's
/// to try. A circuit that doesn't mask what it opens by the verdict is told apart.
#[test]
fn what_is_opened_of_wrong_requests_tells_nothing_of_keys() {
    for enctype in Enctype::ALL {
        let class = Class::ALL[0];
        let unlike = |circuit: &Circuit, public: &[bool], usage: Usage| {
            let views = [11, 12, 13].map(|seed| {
                circuit.evaluate(&[public.to_vec(), keys_of(&key(enctype, seed), usage)]).unwrap()
            });
            views.iter().any(|view| *view != views[0])
        };
        let sealed = key(enctype, 3).seal(1, [3; CONFOUNDER], &pattern(5, 28));
        let public = verifies(enctype, Class::TIMESTAMP, &sealed);
        assert!(!unlike(&verify(enctype, Class::TIMESTAMP), &public, Usage::Timestamp), "{enctype}");
        assert!(unlike(&unmasked(enctype), &public, Usage::Timestamp), "{enctype}");

        let asked = Asked::new(enctype, true, class, 7);
        let public = verifies_further(enctype, asked.sizes, &asked.ticket, &asked.authenticator);
        assert!(!unlike(&verify_further(enctype, class), &public, Usage::Ticket), "{enctype}");
        let expected = asked.expected(&asked.plain);
        let public = opens_authenticator(enctype, asked.sizes, &asked.ticket, &asked.authenticator, expected);
        assert!(!unlike(&open_authenticator(enctype, class), &public, Usage::Ticket), "{enctype}");
    }
}

/// [`verify`] with a mistake: it opens what is decrypted, whether the code is right or not.
fn unmasked(enctype: Enctype) -> Circuit {
    let mut b = Builder::new();
    let public = input(&mut b, public::Sealed::bits(enctype, Class::TIMESTAMP));
    let record = input(&mut b, 8 * keys_bytes(enctype));
    let sealed = public::Sealed::read(&mut public::Feed(&public), enctype, Class::TIMESTAMP);
    let keys = keys::Keys::of(enctype, &record);
    let plain = keys.decrypt(&mut b, &sealed);
    let is_right = keys.verify(&mut b, &sealed, &plain);
    b.finish(vec![vec![is_right], plain[8 * CONFOUNDER..].to_vec()])
}
