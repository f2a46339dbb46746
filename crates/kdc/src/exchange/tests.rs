//! Requests, with keys in the clear.

use super::*;
use crate::clear::Key;
use crate::der::{Reader, element, field, flags, integer, octets, sequence, tag, text, time};
use crate::enctype::{CONFOUNDER, Enctype};
use crate::messages::read_error;
use proptest::prelude::*;
use std::collections::BTreeMap;

const NOW: i64 = 1_795_521_599;
const REALM: &str = "TEST.EXAMPLE";

/// Keys as nobody has them.
struct Clear {
    keys: BTreeMap<String, Key>,
    session: Vec<u8>,
    asked: Vec<&'static str>,
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
        let seal = |key: &str, usage, (plain, form): (&[u8], Form)| {
            let mut plain = plain.to_vec();
            assert_eq!(plain.len(), form.bytes);
            plain[form.key_at..form.key_at + self.session.len()].copy_from_slice(&self.session);
            self.keys[key].seal(usage, [usage as u8; CONFOUNDER], &plain)
        };
        Ok(Sealed { ticket: seal(service, 2, ticket), part: seal(client, 3, part) })
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
        assert!(expected.subkey_at.is_none());
        self.keys.insert("session".into(), session);
        let sealed = |key: &Key, usage, plain: &[u8]| key.seal(usage, [usage as u8; CONFOUNDER], plain);
        let ticket = sealed(&self.keys[service], 2, ticket.0);
        Ok(Some(Sealed { ticket, part: sealed(&self.keys["session"], 8, part.0) }))
    }
}

impl Clear {
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
    enctype: Enctype,
}

impl World {
    fn new(enctype: Enctype) -> Self {
        let settings = Settings {
            realm: REALM.into(),
            enctype,
            protocol: "replicated-malicious".into(),
            listen: String::new(),
            orders: String::new(),
            servers: Default::default(),
            max_life: 36000,
            max_renewable_life: 100_000,
            max_password_age: 0,
            max_wrong_passwords: 10,
            max_skew: 300,
            max_datagram: 1400,
        };
        let (mut principals, mut keys) = (Principals::default(), BTreeMap::new());
        for (kvno, name, revoked) in
            [(3, "ann", false), (1, "krbtgt/TEST.EXAMPLE", false), (2, "gone", true), (1, "host/a.b", false)]
        {
            let record = format!("key {name}");
            let salt = if name.contains('/') { String::new() } else { format!("{REALM}{name}") };
            principals.put_key(name, (kvno, record.clone()), salt, 0, 0);
            principals.get_mut(name).unwrap().revoked = revoked;
            keys.insert(record, Key::of_password(enctype, name.as_bytes(), b"salt", 2));
        }
        let session = (0..enctype.key_bytes()).map(|at| at as u8 + 1).collect();
        Self {
            settings,
            principals,
            shares: Clear { keys, session, asked: Vec::new(), gone: false },
            memory: Memory::default(),
            enctype,
        }
    }

    fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        self.shares.asked.clear();
        let answer =
            answer(&self.settings, &self.principals, request, NOW - 7, &self.memory, &mut self.shares);
        assert!(answer.failed.is_none());
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
    let cases: [Case; 21] = [
        (6, &[], |_, asked| asked.client = Some("ben")),
        (6, &[], |_, asked| asked.client = None),
        (6, &[], |_, asked| asked.client = Some("a[1]")),
        (7, &[], |_, asked| asked.service = "host/c.d"),
        (11, &["verify"], |_, asked| asked.till = NOW),
        (13, &[], |_, asked| asked.options = flag::RENEW),
        (13, &[], |_, asked| asked.options = 1 << 29),
        (10, &["verify"], |_, asked| asked.from = Some(NOW + 301)),
        (10, &["verify"], |_, asked| asked.options = flag::POSTDATED),
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

#[test]
fn without_servers_that_agree_there_is_no_ticket() {
    let mut world = World::new(Enctype::Aes128Sha1);
    let request = Asked::new(&world).bytes();
    world.shares.gone = true;
    let (replays, shares) = (&mut world.replays, &mut world.shares);
    let answer = answer(&world.settings, &world.principals, &request, NOW, replays, shares);
    assert_eq!(read_error(&answer.bytes), Some(29));
    assert!(answer.failed.is_some());
}

/// What a client gives with a TGS-REQ.
struct Further {
    realm: &'static str,
    service: &'static str,
    kvno: i64,
    client: &'static str,
    /// Whom the authenticator names.
    named: &'static str,
    flags: u32,
    starttime: Option<i64>,
    endtime: i64,
    renew_till: Option<i64>,
    time: i64,
    /// Version and type of the AP-REQ.
    head: (i64, i64),
    /// Whether there is no checksum.
    bare: bool,
    /// What the request says besides.
    wish: fn(&mut Asked),
    /// What the checksum is of; the request's body if it isn't said.
    body: Option<Vec<u8>>,
    /// A byte of the ticket's ciphertext that is changed.
    changed: Option<usize>,
}

impl Further {
    fn new() -> Self {
        let (service, endtime, time) = ("krbtgt/TEST.EXAMPLE", NOW + 600, NOW - 30);
        let (client, named, body, changed) = ("ann", "ann", None, None);
        let (flags, starttime, renew_till) = (flag::PRE_AUTHENT, None, None);
        let (realm, kvno, head, bare, wish) = (REALM, 1, (5, 14), false, (|_| ()) as fn(&mut Asked));
        Self {
            realm,
            service,
            kvno,
            client,
            named,
            flags,
            starttime,
            endtime,
            renew_till,
            time,
            head,
            bare,
            wish,
            body,
            changed,
        }
    }

    /// The PA-TGS-REQ.
    fn bytes(&self, world: &World, body: &[u8]) -> Vec<u8> {
        let enctype = world.enctype;
        let session = Key::new(enctype, &world.shares.session).unwrap();
        let name = |text: &str| Name { kind: 1, parts: text.split('/').map(str::to_owned).collect() };
        let (client, service) = (name(self.client), name(self.service));
        let grant = messages::Grant {
            realm: REALM,
            client: &client,
            service: &service,
            enctype,
            flags: self.flags,
            authtime: NOW - 500,
            starttime: self.starttime,
            endtime: self.endtime,
            renew_till: self.renew_till,
        };
        let (mut plain, form) = grant.ticket_part();
        plain[form.key_at..form.key_at + session.bytes().len()].copy_from_slice(session.bytes());
        let mut ticket = world.shares.keys["key krbtgt/TEST.EXAMPLE"].seal(2, [1; CONFOUNDER], &plain);
        if let Some(at) = self.changed {
            ticket[at] ^= 1;
        }
        let names = |text_of: &str| {
            let parts: Vec<u8> = text_of.split('/').flat_map(text).collect();
            sequence(&[&field(0, &integer(1)), &field(1, &sequence(&[&parts]))])
        };
        let code = session.checksum(6, self.body.as_deref().unwrap_or(body));
        let checksum =
            sequence(&[&field(0, &integer(enctype.checksum_type().into())), &field(1, &octets(&code))]);
        let authenticator = [
            field(0, &integer(5)),
            field(1, &text(REALM)),
            field(2, &names(self.named)),
            if self.bare { Vec::new() } else { field(3, &checksum) },
            field(4, &integer(123_456)),
            field(5, &time(self.time)),
        ];
        let authenticator = element(tag::application(2), &[&sequence(&[&authenticator.concat()])]);
        let authenticator = session.seal(7, [2; CONFOUNDER], &authenticator);
        let etype = field(0, &integer(enctype.number().into()));
        let sealed = sequence(&[&etype, &field(1, &integer(self.kvno)), &field(2, &octets(&ticket))]);
        let ticket = [
            field(0, &integer(5)),
            field(1, &text(self.realm)),
            field(2, &names(self.service)),
            field(3, &sealed),
        ];
        let ticket = element(tag::application(1), &[&sequence(&[&ticket.concat()])]);
        let fields = [
            field(0, &integer(self.head.0)),
            field(1, &integer(self.head.1)),
            field(2, &flags(0)),
            field(3, &ticket),
            field(4, &sequence(&[&etype, &field(2, &octets(&authenticator))])),
        ];
        element(tag::application(14), &[&sequence(&[&fields.concat()])])
    }
}

fn further(world: &World, given: &Further) -> Vec<u8> {
    let mut asked = Asked { message: 12, client: None, timestamp: None, ..Asked::new(world) };
    asked.service = "host/a.b";
    (given.wish)(&mut asked);
    asked.ticket = Some(given.bytes(world, &asked.body()));
    asked.bytes()
}

#[test]
fn who_has_a_ticket_gets_another() {
    for enctype in Enctype::ALL {
        let mut world = World::new(enctype);
        let request = further(&world, &Further::new());
        let reply = world.answer(&request);
        assert_eq!(world.shares.asked, ["verify", "authenticator", "reply"]);
        let mut fields =
            Reader::new(&reply).inside(tag::application(13)).unwrap().inside(tag::SEQUENCE).unwrap();
        assert_eq!(fields.field(0).unwrap().integer().unwrap(), 5);
        assert_eq!(fields.field(1).unwrap().integer().unwrap(), 13);
        fields.field(3).unwrap();
        fields.field(4).unwrap();
        let mut ticket =
            fields.field(5).unwrap().inside(tag::application(1)).unwrap().inside(tag::SEQUENCE).unwrap();
        for number in 0..3 {
            ticket.field(number).unwrap();
        }
        let (_, ticket) = cipher(ticket.field(3).unwrap());
        let ticket = world.shares.keys["key host/a.b"].open(2, &ticket).unwrap();
        let ticket = messages::TicketPart::read(&ticket, enctype, REALM).unwrap();
        assert_eq!((ticket.client.text().unwrap().as_str(), ticket.authtime), ("ann", NOW - 500));
        assert_eq!(ticket.endtime, NOW + 600, "no longer than the first ticket");

        assert_eq!(read_error(&world.answer(&request)), Some(34), "a second time");
    }
}

#[test]
fn tickets_that_are_not_right_are_refused() {
    const OPENED: &[&str] = &["verify"];
    const ALL: &[&str] = &["verify", "authenticator"];
    type Case = (i64, &'static [&'static str], fn(&mut Further));
    let cases: [Case; 26] = [
        (6, OPENED, |given| (given.client, given.named) = ("ben", "ben")),
        (18, OPENED, |given| (given.client, given.named) = ("gone", "gone")),
        (31, &["verify"], |given| given.changed = Some(40)),
        (32, OPENED, |given| given.endtime = NOW),
        (35, &[], |given| given.service = "host/a.b"),
        (35, &[], |given| given.service = "krbtgt/OTHER"),
        (35, &[], |given| given.realm = "OTHER"),
        (36, ALL, |given| given.named = "bob"),
        (36, OPENED, |given| given.named = "someone-else"),
        (6, OPENED, |given| (given.client, given.named) = ("someone", "someone")),
        (37, ALL, |given| given.time = NOW - 301),
        (37, ALL, |given| given.time = NOW + 301),
        (41, &["verify", "authenticator", "reply"], |given| given.body = Some(b"another".to_vec())),
        (44, &[], |given| given.kvno = 2),
        (39, &[], |given| given.head = (4, 14)),
        (40, &[], |given| given.head = (5, 10)),
        (50, OPENED, |given| given.bare = true),
        (33, ALL, |given| given.flags |= flag::INVALID),
        (33, ALL, |given| given.starttime = Some(NOW + 301)),
        (33, ALL, |given| {
            (given.flags, given.starttime) = (flag::INVALID, Some(NOW + 301));
            given.wish = |asked| (asked.options, asked.service) = (flag::VALIDATE, "krbtgt/TEST.EXAMPLE");
        }),
        (13, ALL, |given| given.wish = |asked| asked.options = flag::RENEW),
        (13, ALL, |given| {
            given.wish = |asked| (asked.options, asked.service) = (flag::RENEW, "krbtgt/TEST.EXAMPLE");
        }),
        (13, ALL, |given| {
            given.wish = |asked| (asked.options, asked.service) = (flag::VALIDATE, "krbtgt/TEST.EXAMPLE");
        }),
        (32, ALL, |given| {
            (given.flags, given.renew_till) = (flag::RENEWABLE, Some(NOW));
            given.wish = |asked| (asked.options, asked.service) = (flag::RENEW, "krbtgt/TEST.EXAMPLE");
        }),
        (10, ALL, |given| given.wish = |asked| asked.options = flag::POSTDATED),
        (11, ALL, |given| {
            given.flags |= flag::MAY_POSTDATE;
            given.wish = |asked| (asked.options, asked.from) = (flag::POSTDATED, Some(NOW + 601));
        }),
    ];
    let mut world = World::new(Enctype::Aes256Sha1);
    for (code, computed, change) in cases {
        let mut given = Further::new();
        change(&mut given);
        let request = further(&world, &given);
        let reply = world.answer(&request);
        assert_eq!(read_error(&reply), Some(code));
        assert_eq!(world.shares.asked, computed, "{code}");
    }
}

/// What a TGS-REP says under the session key: flags, begin, end, and until when it can be renewed.
fn said(world: &World, reply: &[u8]) -> (u32, Option<i64>, i64, Option<i64>) {
    let mut fields = Reader::new(reply).inside(tag::application(13)).unwrap().inside(tag::SEQUENCE).unwrap();
    for number in [0, 1, 3, 4, 5] {
        fields.field(number).unwrap();
    }
    let mut sealed = fields.field(6).unwrap().inside(tag::SEQUENCE).unwrap();
    sealed.field(0).unwrap();
    let sealed = sealed.field(2).unwrap().content(tag::OCTETS).unwrap();
    let part = world.shares.keys["session"].open(8, sealed).unwrap();
    let mut part = Reader::new(&part).inside(tag::application(26)).unwrap().inside(tag::SEQUENCE).unwrap();
    for number in [0, 1, 2] {
        part.field(number).unwrap();
    }
    let flags = part.field(4).unwrap().flags().unwrap();
    part.field(5).unwrap();
    let start = part.optional(6).unwrap().map(|mut start| start.time().unwrap());
    let end = part.field(7).unwrap().time().unwrap();
    (flags, start, end, part.optional(8).unwrap().map(|mut until| until.time().unwrap()))
}

#[test]
fn wrong_passwords_cost_their_principal_a_minute() {
    let mut world = World::new(Enctype::Aes128Sha1);
    let right = Asked::new(&world).bytes();
    let wrong = Asked { timestamp: Some(world.sealed("key host/a.b", NOW)), ..Asked::new(&world) }.bytes();
    for _ in 0..10 {
        assert_eq!(read_error(&world.answer(&wrong)), Some(24));
    }
    assert_eq!((read_error(&world.answer(&right)), world.shares.asked.len()), (Some(18), 0));
}

#[test]
fn a_password_that_is_too_old_gives_no_tickets() {
    let mut world = World::new(Enctype::Aes128Sha1);
    world.settings.max_password_age = 1000;
    let request = Asked::new(&world).bytes();
    assert_eq!(read_error(&world.answer(&request)), Some(23));
    world.principals.put_key("ann", (4, "key ann".into()), "salt".into(), NOW - 1000, 0);
    assert_eq!(read_error(&world.answer(&request)), None);
    // Keys of no password don't age; and a server that isn't there is none of the client's faults.
    world.shares.gone = true;
    let answer = answer(&world.settings, &world.principals, &request, NOW, &world.memory, &mut world.shares);
    assert_eq!((read_error(&answer.bytes), answer.failed.is_some()), (Some(29), true));
}

#[test]
fn tickets_are_renewed_and_validated() {
    let mut world = World::new(Enctype::Aes128Sha1);
    // It lived for 1,100 seconds, and does so again; but no longer than it can be renewed.
    let flags = flag::PRE_AUTHENT | flag::INITIAL | flag::RENEWABLE;
    for (renew_till, endtime, time) in [(NOW + 5000, NOW + 1100, NOW), (NOW + 700, NOW + 700, NOW + 1)] {
        let again = Further {
            flags,
            renew_till: Some(renew_till),
            time,
            wish: |asked| (asked.options, asked.service) = (flag::RENEW, "krbtgt/TEST.EXAMPLE"),
            ..Further::new()
        };
        let reply = world.answer(&further(&world, &again));
        assert_eq!(said(&world, &reply), (flags, Some(NOW), endtime, Some(renew_till)));
    }
    let begins = Further {
        flags: flag::PRE_AUTHENT | flag::INVALID | flag::POSTDATED,
        starttime: Some(NOW - 10),
        wish: |asked| (asked.options, asked.service) = (flag::VALIDATE, "krbtgt/TEST.EXAMPLE"),
        ..Further::new()
    };
    let reply = world.answer(&further(&world, &begins));
    assert_eq!(said(&world, &reply), (flag::PRE_AUTHENT | flag::POSTDATED, Some(NOW - 10), NOW + 600, None));
    // One that may begin later gives one that does, and a renewable one renewable ones, within its own bounds.
    let later = Further {
        flags: flag::MAY_POSTDATE | flag::RENEWABLE,
        renew_till: Some(NOW + 5000),
        wish: |asked| {
            asked.options = flag::POSTDATED | flag::RENEWABLE;
            (asked.from, asked.rtime) = (Some(NOW + 400), Some(NOW + 9000));
        },
        ..Further::new()
    };
    let reply = world.answer(&further(&world, &later));
    let flags = flag::PRE_AUTHENT | flag::POSTDATED | flag::INVALID | flag::RENEWABLE;
    assert_eq!(said(&world, &reply), (flags, Some(NOW + 400), NOW + 600, Some(NOW + 5000)));
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
