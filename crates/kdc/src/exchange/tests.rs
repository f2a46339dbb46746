//! Requests, with keys in the clear.

use super::*;
use crate::circuits::Expected;
use crate::clear::Key;
use crate::der::{Reader, element, field, flags, integer, octets, sequence, tag, text, time};
use crate::enctype::{CONFOUNDER, Enctype};
use crate::messages::read_error;
use crate::testing::settings;
use proptest::prelude::*;
use std::collections::BTreeMap;

mod further;

use further::{Further, further};

const NOW: i64 = 1_795_521_599;
const REALM: &str = "TEST.EXAMPLE";

/// Confounders of tickets and of replies.
const DRAWN: [[u8; CONFOUNDER]; 2] = [[2; CONFOUNDER], [3; CONFOUNDER]];

/// Keys as nobody has them.
struct Clear {
    keys: BTreeMap<String, Key>,
    session: Vec<u8>,
    asked: Vec<&'static str>,
    /// On what requests relied whose keys weren't read.
    relied: Vec<String>,
    /// Whether a server is missing.
    gone: bool,
}

impl Shares for Clear {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(Option<Vec<u8>>, i64), Error> {
        self.asked.push("verify");
        if self.gone {
            return Err(Error::Refused("a server is missing".into()));
        }
        Ok((self.keys[client].open(1, sealed).map(|opened| opened.to_vec()), NOW))
    }

    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error> {
        self.asked.push("reply");
        let ticket = self.sealed(&self.keys[service], 2, 0, ticket);
        Ok(Sealed { ticket, part: self.sealed(&self.keys[client], 3, 1, part) })
    }

    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(Option<Vec<u8>>, i64), Error> {
        self.asked.push("verify");
        let session = self.session_of(krbtgt, given);
        let right = session.is_some_and(|session| session.open(7, given.authenticator).is_some());
        let plain = self.keys[krbtgt].open(2, given.ticket).filter(|_| right).map(|plain| {
            let mut plain = plain.to_vec();
            plain[given.key_at..given.key_at + self.session.len()].fill(0);
            plain
        });
        Ok((plain, NOW))
    }

    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.asked.push("authenticator");
        let session = self.session_of(krbtgt, given).unwrap();
        let plain = session.open(7, given.authenticator).unwrap();
        let all = || plain.iter().enumerate();
        let fits = all().all(|(at, byte)| !expected.is_fixed[at] || *byte == expected.bytes[at]);
        let opened = all().map(|(at, byte)| if expected.is_opened[at] { *byte } else { 0 }).collect();
        Ok((fits && plain.len() == expected.bytes.len()).then_some(opened))
    }

    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        (given, expected, body): (Given<'_>, Expected<'_>, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error> {
        self.asked.push("reply");
        let session = self.session_of(krbtgt, given).unwrap();
        let plain = session.open(7, given.authenticator).unwrap();
        let at = expected.checksum_at;
        if plain[at..at + session.enctype().mac_bytes()] != session.checksum(6, body) {
            return Ok(None);
        }
        // The client's own key, if it gave one, is what the reply is under.
        let subkey = expected.subkey_at.map(|at| &plain[at..at + session.bytes().len()]);
        let subkey = subkey.and_then(|key| Key::new(session.enctype(), key));
        let usage = if subkey.is_some() { 9 } else { 8 };
        self.keys.insert("session".into(), subkey.unwrap_or(session));
        let ticket = self.sealed(&self.keys[service], 2, 0, ticket);
        Ok(Some(Sealed { ticket, part: self.sealed(&self.keys["session"], usage, 1, part) }))
    }

    fn relies_on(&mut self, record: &str) {
        self.relied.push(record.to_owned());
    }
}

/// The same keys, where servers know those of sessions.
impl Steps for &mut Clear {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<Verified, Error> {
        self.asked.push("verify");
        Ok(self.verified(client, 1, sealed))
    }

    fn open_ticket(&mut self, krbtgt: &str, sealed: &[u8]) -> Result<Verified, Error> {
        self.asked.push("verify");
        Ok(self.verified(krbtgt, 2, sealed))
    }

    fn seal(&mut self, messages: &[Message<'_>]) -> Result<Vec<Vec<u8>>, Error> {
        self.asked.push("reply");
        let seal = |((record, confounder, plain), usage): (&Message<'_>, u32)| {
            self.keys[*record].seal(usage, *confounder, plain)
        };
        Ok(messages.iter().zip(2..).map(seal).collect())
    }

    fn relies_on(&mut self, record: &str) {
        Shares::relies_on(&mut **self, record);
    }
}

impl Clear {
    fn verified(&self, record: &str, usage: u32, sealed: &[u8]) -> Verified {
        let drawn = [&self.session[..], &DRAWN.concat()].concat().into();
        Verified { plain: self.keys[record].open(usage, sealed), now: NOW, drawn }
    }

    fn sealed(&self, key: &Key, usage: u32, confounder: usize, (plain, form): (&[u8], Form)) -> Vec<u8> {
        let mut plain = plain.to_vec();
        assert_eq!(plain.len(), form.bytes);
        plain[form.key_at..form.key_at + self.session.len()].copy_from_slice(&self.session);
        key.seal(usage, DRAWN[confounder], &plain)
    }

    fn session_of(&self, krbtgt: &str, given: Given<'_>) -> Option<Key> {
        let key = &self.keys[krbtgt];
        let plain = key.open(2, given.ticket)?;
        let at = given.key_at;
        Key::new(key.enctype(), &plain[at..at + key.enctype().key_bytes()])
    }
}

struct World {
    settings: Settings,
    principals: Principals,
    shares: Clear,
    memory: Memory,
    /// That of servers which know session keys.
    knowing: Memory,
    enctype: Enctype,
}

impl World {
    fn new(enctype: Enctype) -> Self {
        let settings = settings(REALM, enctype);
        let (mut principals, mut keys) = (Principals::default(), BTreeMap::new());
        for (kvno, name, revoked) in
            [(3, "ann", false), (1, "krbtgt/TEST.EXAMPLE", false), (2, "gone", true), (1, "host/a.b", false)]
        {
            let record = format!("key {name}");
            let salt = if name.contains('/') { String::new() } else { format!("{REALM}{name}") };
            principals.put_key(name, (kvno, record.clone()), (salt, 4096), 0, 0);
            principals.get_mut(name).unwrap().revoked = revoked;
            keys.insert(record, Key::of_password(enctype, name.as_bytes(), b"salt", 2));
        }
        let session = (0..enctype.key_bytes()).map(|at| at as u8 + 1).collect();
        Self {
            settings,
            principals,
            shares: Clear { keys, session, asked: Vec::new(), relied: Vec::new(), gone: false },
            memory: Memory::default(),
            knowing: Memory::default(),
            enctype,
        }
    }

    /// What servers answer whether they know session keys or not: where they do, one run less asks for the same.
    fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        self.shares.asked.clear();
        let mut knowing = Knowing::new(self.enctype, &mut self.shares);
        let (settings, principals) = (&self.settings, &self.principals);
        let known = answer(settings, principals, request, NOW - 7, &self.knowing, &mut knowing);
        let known_asked = std::mem::take(&mut self.shares.asked);
        let answer = answer(settings, principals, request, NOW - 7, &self.memory, &mut self.shares);
        assert!(answer.failed.is_none() && known.failed.is_none());
        assert_eq!((&known.bytes, &known.line), (&answer.bytes, &answer.line));
        let mut asked = self.shares.asked.clone();
        asked.retain(|run| *run != "authenticator");
        if read_error(&answer.bytes) == Some(Code::Modified as i64) {
            // Without a run for it.
            asked.pop();
        }
        assert_eq!(known_asked, asked);
        answer.bytes
    }

    fn sealed(&self, client: &str, when: i64) -> Vec<u8> {
        let timestamp = sequence(&[&field(0, &time(when)), &field(1, &integer(123_456))]);
        let sealed = self.shares.keys[client].seal(1, [5; CONFOUNDER], &timestamp);
        let etype = integer(self.enctype.number().into());
        sequence(&[&field(0, &etype), &field(2, &octets(&sealed))])
    }
}

/// An AS-REQ in parts.
struct Asked {
    message: u8,
    options: u32,
    client: Option<&'static str>,
    realm: &'static str,
    service: &'static str,
    from: Option<i64>,
    till: i64,
    rtime: Option<i64>,
    etypes: Vec<i32>,
    /// Fields behind those, by number.
    more: &'static [u8],
    timestamp: Option<Vec<u8>>,
    /// PA-TGS-REQ.
    ticket: Option<Vec<u8>>,
}

impl Asked {
    fn new(world: &World) -> Self {
        let timestamp = Some(world.sealed("key ann", NOW + 20));
        let etypes = vec![world.enctype.number(), 23];
        let service = "krbtgt/TEST.EXAMPLE";
        Self {
            message: 10,
            options: 0,
            client: Some("ann"),
            realm: REALM,
            service,
            from: None,
            till: 0,
            rtime: None,
            etypes,
            more: &[],
            timestamp,
            ticket: None,
        }
    }

    fn body(&self) -> Vec<u8> {
        let name = |name: &str| {
            let parts: Vec<u8> = name.split('/').flat_map(text).collect();
            sequence(&[&field(0, &integer(1)), &field(1, &sequence(&[&parts]))])
        };
        let etypes: Vec<u8> = self.etypes.iter().flat_map(|&etype| integer(etype.into())).collect();
        let body = [
            field(0, &flags(self.options)),
            self.client.map_or_else(Vec::new, |client| field(1, &name(client))),
            field(2, &text(self.realm)),
            field(3, &name(self.service)),
            self.from.map_or_else(Vec::new, |from| field(4, &time(from))),
            field(5, &time(self.till)),
            self.rtime.map_or_else(Vec::new, |rtime| field(6, &time(rtime))),
            field(7, &integer(77)),
            field(8, &sequence(&[&etypes])),
            self.more.iter().flat_map(|number| field(*number, &sequence(&[]))).collect(),
        ];
        sequence(&[&body.concat()])
    }

    fn bytes(&self) -> Vec<u8> {
        let given = [(2, &self.timestamp), (1, &self.ticket)];
        let padata: Vec<u8> = given
            .into_iter()
            .filter_map(|(kind, value)| Some((kind, value.as_ref()?)))
            .flat_map(|(kind, value)| sequence(&[&field(1, &integer(kind)), &field(2, &octets(value))]))
            .collect();
        let padata = if padata.is_empty() { padata } else { field(3, &sequence(&[&padata])) };
        let message =
            [field(1, &integer(5)), field(2, &integer(self.message.into())), padata, field(4, &self.body())];
        element(tag::application(self.message), &[&sequence(&[&message.concat()])])
    }
}

/// The ciphertext in an EncryptedData, and its key's version.
fn cipher(mut reader: Reader<'_>) -> (i64, Vec<u8>) {
    let mut fields = reader.inside(tag::SEQUENCE).unwrap();
    fields.field(0).unwrap();
    let kvno = fields.field(1).unwrap().integer().unwrap();
    (kvno, fields.field(2).unwrap().content(tag::OCTETS).unwrap().to_vec())
}

#[test]
fn who_knows_the_password_gets_a_ticket_and_its_key() {
    for enctype in Enctype::ALL {
        let mut world = World::new(enctype);
        let request = Asked::new(&world).bytes();
        let reply = world.answer(&request);
        assert_eq!(world.shares.asked, ["verify", "reply"]);
        let mut fields =
            Reader::new(&reply).inside(tag::application(11)).unwrap().inside(tag::SEQUENCE).unwrap();
        assert_eq!(fields.field(0).unwrap().integer().unwrap(), 5);
        assert_eq!(fields.field(1).unwrap().integer().unwrap(), 11);
        fields.field(2).unwrap();
        assert_eq!(fields.field(3).unwrap().text().unwrap(), REALM);
        fields.field(4).unwrap();
        let mut ticket =
            fields.field(5).unwrap().inside(tag::application(1)).unwrap().inside(tag::SEQUENCE).unwrap();
        for number in 0..3 {
            ticket.field(number).unwrap();
        }
        let (kvno, ticket) = cipher(ticket.field(3).unwrap());
        assert_eq!(kvno, 1);
        let ticket = world.shares.keys["key krbtgt/TEST.EXAMPLE"].open(2, &ticket).unwrap();
        let (kvno, part) = cipher(fields.field(6).unwrap());
        assert_eq!(kvno, 3);
        let part = world.shares.keys["key ann"].open(3, &part).unwrap();

        let key = |mut reader: Reader<'_>| {
            let mut fields = reader.inside(tag::SEQUENCE).unwrap();
            assert_eq!(fields.field(0).unwrap().int32().unwrap(), enctype.number());
            fields.field(1).unwrap().content(tag::OCTETS).unwrap().to_vec()
        };
        let mut ticket =
            Reader::new(&ticket).inside(tag::application(3)).unwrap().inside(tag::SEQUENCE).unwrap();
        assert_eq!(ticket.field(0).unwrap().flags().unwrap(), flag::INITIAL | flag::PRE_AUTHENT);
        assert_eq!(key(ticket.field(1).unwrap()), world.shares.session);
        assert_eq!(ticket.field(2).unwrap().text().unwrap(), REALM);
        for number in 3..5 {
            ticket.field(number).unwrap();
        }
        assert_eq!(ticket.field(5).unwrap().time().unwrap(), NOW);
        assert_eq!(ticket.field(7).unwrap().time().unwrap(), NOW + 36000);
        let mut part =
            Reader::new(&part).inside(tag::application(25)).unwrap().inside(tag::SEQUENCE).unwrap();
        assert_eq!(key(part.field(0).unwrap()), world.shares.session);
        part.field(1).unwrap();
        assert_eq!(part.field(2).unwrap().integer().unwrap(), 77);
    }
}

/// A code, what was computed on shares, and what asks for it.
type Case = (i64, &'static [&'static str], fn(&World, &mut Asked));

/// Each error, and what was computed on shares before it.
#[test]
fn everything_else_is_refused_as_the_rfc_says() {
    let mut world = World::new(Enctype::Aes256Sha1);
    let cases: [Case; 25] = [
        (6, &[], |_, asked| asked.client = Some("ben")),
        (6, &[], |_, asked| asked.client = None),
        (6, &[], |_, asked| asked.client = Some("a[1]")),
        (7, &[], |_, asked| asked.service = "host/c.d"),
        (11, &["verify"], |_, asked| asked.till = NOW),
        (13, &[], |_, asked| asked.options = flag::RENEW),
        (13, &[], |_, asked| asked.options = 1 << 29),
        // cname-in-addl-tkt, authorization data, additional tickets.
        (13, &[], |_, asked| asked.options = 1 << 17),
        (13, &[], |_, asked| asked.more = &[10]),
        (13, &[], |_, asked| asked.more = &[9, 11]),
        (10, &["verify"], |_, asked| asked.from = Some(NOW + 301)),
        (10, &["verify"], |_, asked| asked.options = flag::POSTDATED),
        (10, &["verify"], |_, asked| (asked.options, asked.from) = (flag::POSTDATED, Some(NOW - 301))),
        (12, &["verify"], |_, asked| (asked.options, asked.from) = (flag::POSTDATED, Some(NOW + 100_001))),
        (14, &[], |_, asked| asked.etypes = vec![17, 23]),
        (16, &[], |_, asked| asked.message = 12),
        (18, &[], |_, asked| asked.client = Some("gone")),
        (24, &["verify"], |world, asked| asked.timestamp = Some(world.sealed("key host/a.b", NOW))),
        (24, &[], |_, asked| asked.timestamp = Some(vec![0x30, 0])),
        (25, &[], |_, asked| asked.timestamp = None),
        (27, &[], |_, asked| asked.service = "ann"),
        (37, &["verify"], |world, asked| asked.timestamp = Some(world.sealed("key ann", NOW + 301))),
        (37, &["verify"], |world, asked| asked.timestamp = Some(world.sealed("key ann", NOW - 301))),
        (68, &[], |_, asked| asked.realm = "OTHER.EXAMPLE"),
        (60, &[], |_, asked| asked.message = 14),
    ];
    for (code, computed, change) in cases {
        let mut asked = Asked::new(&world);
        change(&world, &mut asked);
        let reply = world.answer(&asked.bytes());
        assert_eq!(read_error(&reply), Some(code));
        assert_eq!(world.shares.asked, computed, "{code}");
    }
}

/// Who asks how to log in is told how often the password is hashed: as often as it was when it was given.
#[test]
fn clients_are_told_how_a_password_is_hashed() {
    let mut world = World::new(Enctype::Aes256Sha1);
    for (iterations, told) in [(100_000_u32, 100_000_u32), (0, 4096)] {
        world.principals.get_mut("ann").unwrap().iterations = iterations;
        let asked = Asked { timestamp: None, ..Asked::new(&world) };
        let reply = world.answer(&asked.bytes());
        assert_eq!(read_error(&reply), Some(25));
        let entry = [&text(&format!("{REALM}ann"))[..], &field(2, &octets(&told.to_be_bytes()))].concat();
        assert!(reply.windows(entry.len()).any(|window| window == entry));
    }
}

#[test]
fn without_servers_that_agree_there_is_no_ticket() {
    let mut world = World::new(Enctype::Aes128Sha1);
    let request = Asked::new(&world).bytes();
    world.shares.gone = true;
    let (memory, shares) = (&world.memory, &mut world.shares);
    let answer = answer(&world.settings, &world.principals, &request, NOW, memory, shares);
    assert_eq!(read_error(&answer.bytes), Some(29));
    assert!(answer.failed.is_some());
}

proptest! {
    #[test]
    fn no_request_makes_it_panic(at in 0usize..400, byte: u8, cut in 0usize..400, noise: Vec<u8>) {
        let mut world = World::new(Enctype::Aes128Sha256);
        let whole = if byte & 1 == 0 { Asked::new(&world).bytes() } else { further(&world, &Further::new()) };
        let mut changed = whole.clone();
        let at = at % whole.len();
        changed[at] = byte;
        for request in [&changed[..], &whole[..cut % whole.len()], &noise[..]] {
            let reply = world.answer(request);
            prop_assert!(read_error(&reply).is_some() || [11, 13].map(tag::application).contains(&reply[0]));
        }
    }
}
