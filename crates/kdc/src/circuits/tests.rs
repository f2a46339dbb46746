//! Circuits against the same in the clear.

use super::*;
use crate::clear::Key;

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

#[test]
fn timestamps_are_verified_and_opened_as_in_the_clear() {
    for enctype in Enctype::ALL {
        let key = key(enctype, 5);
        let keys = keys_of(&key, Usage::Timestamp);
        for length in [22, 28, 32] {
            let message = pattern(3, length);
            let sealed = key.seal(1, [9; CONFOUNDER], &message);
            let verify = verify(enctype, sealed.len());
            let open = open(enctype, sealed.len(), None);
            let give = |copies: [&[u8]; 3]| {
                let mut given: Vec<Vec<bool>> = copies.into_iter().map(bits).collect();
                given.push(keys.clone());
                given
            };
            let all = give([&sealed; 3]);
            assert_eq!(verify.evaluate(&all).unwrap(), [[true]]);
            assert_eq!(bytes(&open.evaluate(&all).unwrap()[0]), message);
            for at in [0, 16, sealed.len() - 13, sealed.len() - 1] {
                let mut changed = sealed.clone();
                changed[at] ^= 0x10;
                assert_eq!(verify.evaluate(&give([&changed; 3])).unwrap(), [[false]], "{enctype}, {at}");
                for copies in
                    [[&changed, &sealed, &sealed], [&sealed, &changed, &sealed], [&sealed, &sealed, &changed]]
                {
                    let given = give(copies.map(|copy| &copy[..]));
                    assert_eq!(verify.evaluate(&given).unwrap(), [[false]], "{enctype}, {at}");
                    assert_eq!(bytes(&open.evaluate(&given).unwrap()[0]), vec![0; length], "{enctype}, {at}");
                }
            }
        }
    }
}

#[test]
fn tickets_and_replies_are_those_of_the_clear() {
    for enctype in Enctype::ALL {
        let (service, client) = (key(enctype, 1), key(enctype, 2));
        let (ticket, part) = (Form { bytes: 83, key_at: 21 }, Form { bytes: 112, key_at: 30 });
        let circuit = reply(enctype, ticket, part);
        let public = pattern(9, ticket.bytes + part.bytes);
        let drawn: Vec<Vec<u8>> = (0..3).map(|who| pattern(who, drawn_bytes(enctype))).collect();
        let mut given: Vec<Vec<bool>> = vec![bits(&public); 3];
        given.extend(drawn.iter().map(|drawn| bits(drawn)));
        given.push(keys_of(&service, Usage::Ticket));
        given.push(keys_of(&client, Usage::Reply));
        let outputs = circuit.evaluate(&given).unwrap();
        let sum: Vec<u8> =
            (0..drawn_bytes(enctype)).map(|at| drawn[0][at] ^ drawn[1][at] ^ drawn[2][at]).collect();
        let (session, confounders) = sum.split_at(enctype.key_bytes());
        let expected = |key: &Key, usage, confounder: &[u8], plain: &[u8], at: usize| {
            let mut plain = plain.to_vec();
            plain[at..at + session.len()].copy_from_slice(session);
            key.seal(usage, confounder.try_into().unwrap(), &plain)
        };
        let (first, second) = public.split_at(ticket.bytes);
        assert_eq!(bytes(&outputs[0]), expected(&service, 2, &confounders[..16], first, 21), "{enctype}");
        assert_eq!(bytes(&outputs[1]), expected(&client, 3, &confounders[16..], second, 30), "{enctype}");
        assert_eq!(outputs[2], [true]);
        given[1][40] ^= true;
        assert!(circuit.evaluate(&given).unwrap().iter().flatten().all(|&bit| !bit));
    }
}

/// A ticket under krbtgt's key, and an authenticator under the ticket's, with the body's checksum and a subkey.
struct Asked {
    krbtgt: Key,
    session: Key,
    subkey: Key,
    sizes: Sizes,
    layout: Layout,
    ticket: Vec<u8>,
    plain: Vec<u8>,
    authenticator: Vec<u8>,
    body: Vec<u8>,
}

impl Asked {
    fn new(enctype: Enctype, has_subkey: bool) -> Self {
        let [krbtgt, session, subkey] = [4, 5, 6].map(|seed| key(enctype, seed));
        let (key_at, body) = (19, pattern(8, 61));
        let mut ticket = pattern(1, 90);
        ticket[key_at..key_at + enctype.key_bytes()].copy_from_slice(session.bytes());
        let mut plain = pattern(2, 100);
        let layout = Layout { checksum_at: 23, subkey_at: has_subkey.then_some(100 - enctype.key_bytes()) };
        plain[23..23 + enctype.mac_bytes()].copy_from_slice(&session.checksum(6, &body));
        if let Some(at) = layout.subkey_at {
            plain[at..].copy_from_slice(subkey.bytes());
        }
        let ticket = krbtgt.seal(2, [1; CONFOUNDER], &ticket);
        let authenticator = session.seal(7, [2; CONFOUNDER], &plain);
        let sizes = Sizes { ticket: ticket.len(), key_at, authenticator: authenticator.len() };
        Self { krbtgt, session, subkey, sizes, layout, ticket, plain, authenticator, body }
    }

    fn sent(&self) -> Vec<u8> {
        [&self.ticket[..], &self.authenticator].concat()
    }
}

#[test]
fn tickets_and_authenticators_are_verified_together() {
    for enctype in Enctype::ALL {
        let asked = Asked::new(enctype, true);
        let keys = keys_of(&asked.krbtgt, Usage::Ticket);
        let verify = verify_further(enctype, asked.sizes);
        let give = |sent: [&[u8]; 3]| {
            let mut given: Vec<Vec<bool>> = sent.into_iter().map(bits).collect();
            given.push(keys.clone());
            given
        };
        let sent = asked.sent();
        assert_eq!(verify.evaluate(&give([&sent; 3])).unwrap(), [[true]]);
        let last = sent.len() - 1;
        for at in [0, 40, asked.sizes.ticket - 1, asked.sizes.ticket, asked.sizes.ticket + 40, last] {
            let mut changed = sent.clone();
            changed[at] ^= 4;
            assert_eq!(verify.evaluate(&give([&changed; 3])).unwrap(), [[false]], "{enctype}, {at}");
            assert_eq!(
                verify.evaluate(&give([&sent, &sent, &changed])).unwrap(),
                [[false]],
                "{enctype}, {at}"
            );
        }

        let open = open_authenticator(enctype, asked.sizes, asked.layout);
        let opened = bytes(&open.evaluate(&give([&sent; 3])).unwrap()[0]);
        let mut expected = asked.plain.clone();
        expected[23..23 + enctype.mac_bytes()].fill(0);
        expected[100 - enctype.key_bytes()..].fill(0);
        assert_eq!(opened, expected, "{enctype}");
        let mut changed = sent.clone();
        changed[last] ^= 1;
        assert!(open.evaluate(&give([&sent, &changed, &sent])).unwrap()[0].iter().all(|&bit| !bit));

        let ticket = super::open(enctype, asked.sizes.ticket, Some(asked.sizes.key_at));
        let opened = bytes(&ticket.evaluate(&give([&asked.ticket; 3])).unwrap()[0]);
        let mut expected = pattern(1, 90);
        expected[asked.sizes.key_at..asked.sizes.key_at + enctype.key_bytes()].fill(0);
        assert_eq!(opened, expected, "{enctype}");
    }
}

#[test]
fn further_replies_are_under_the_subkey_if_there_is_one() {
    for (enctype, has_subkey) in
        Enctype::ALL.into_iter().flat_map(|enctype| [(enctype, true), (enctype, false)])
    {
        let asked = Asked::new(enctype, has_subkey);
        let service = key(enctype, 7);
        let (ticket, part) = (Form { bytes: 83, key_at: 21 }, Form { bytes: 97, key_at: 30 });
        let circuit = reply_further(enctype, asked.sizes, asked.layout, asked.body.len(), ticket, part);
        let plains = pattern(9, ticket.bytes + part.bytes);
        let public = [asked.sent(), asked.body.clone(), plains.clone()].concat();
        let drawn: Vec<Vec<u8>> = (0..3).map(|who| pattern(who, drawn_bytes(enctype))).collect();
        let mut given: Vec<Vec<bool>> = vec![bits(&public); 3];
        given.extend(drawn.iter().map(|drawn| bits(drawn)));
        given.push(keys_of(&asked.krbtgt, Usage::Ticket));
        given.push(keys_of(&service, Usage::Ticket));
        let outputs = circuit.evaluate(&given).unwrap();
        assert_eq!(outputs[2], [true]);
        let sum: Vec<u8> =
            (0..drawn_bytes(enctype)).map(|at| drawn[0][at] ^ drawn[1][at] ^ drawn[2][at]).collect();
        let new = &sum[..enctype.key_bytes()];
        let (key, usage) = if has_subkey { (&asked.subkey, 9) } else { (&asked.session, 8) };
        for (key, usage, sealed, form, plain) in [
            (&service, 2, &outputs[0], ticket, &plains[..ticket.bytes]),
            (key, usage, &outputs[1], part, &plains[ticket.bytes..]),
        ] {
            let mut expected = plain.to_vec();
            expected[form.key_at..form.key_at + new.len()].copy_from_slice(new);
            assert_eq!(*key.open(usage, &bytes(sealed)).unwrap(), expected, "{enctype}");
        }
        // Another body, and another server's wish.
        let at = 8 * (asked.sizes.ticket + asked.sizes.authenticator + 5);
        for copies in [0..1, 0..3] {
            let mut changed = given.clone();
            changed[copies].iter_mut().for_each(|copy| copy[at] ^= true);
            assert!(circuit.evaluate(&changed).unwrap().iter().flatten().all(|&bit| !bit), "{enctype}");
        }
    }
}

/// ANDs and depths that `docs/kerberos.md` says, for a ticket of 150 bytes, a reply's part of 160, an authenticator of 150 and a
/// body of 120.
#[test]
fn circuits_are_as_large_as_the_page_says() {
    let form = |bytes| Form { bytes, key_at: 30 };
    let all = Enctype::ALL.map(|enctype| {
        let key_at = 30;
        let (ticket, authenticator) = (enctype.sealed_bytes(150), enctype.sealed_bytes(150));
        let sizes = Sizes { ticket, key_at, authenticator };
        let layout = Layout { checksum_at: 60, subkey_at: Some(150 - enctype.key_bytes()) };
        [
            enrol(enctype),
            verify(enctype, enctype.sealed_bytes(28)),
            super::open(enctype, enctype.sealed_bytes(28), None),
            reply(enctype, form(150), form(160)),
            verify_further(enctype, sizes),
            super::open(enctype, ticket, Some(key_at)),
            open_authenticator(enctype, sizes, layout),
            reply_further(enctype, sizes, layout, 120, form(150), form(160)),
        ]
        .map(|circuit| (circuit.ands(), circuit.depth()))
    });
    assert_eq!(all, SIZES);
}

const SIZES: [[(usize, u32); 8]; 3] = [
    [
        (152_296, 558),
        (56_752, 1034),
        (11_999, 81),
        (286_799, 1946),
        (346_443, 2549),
        (57_503, 81),
        (78_343, 201),
        (505_664, 2702),
    ],
    [
        (213_574, 592),
        (63_280, 1066),
        (16_351, 113),
        (334_671, 1946),
        (426_981, 2599),
        (71_519, 113),
        (107_523, 277),
        (623_220, 2868),
    ],
    [
        (1_328_134, 1823),
        (131_281, 1371),
        (12_063, 81),
        (543_317, 2305),
        (661_647, 3688),
        (57_567, 81),
        (246_234, 1525),
        (1_646_230, 5617),
    ],
];
