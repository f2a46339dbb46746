//! Requests with tickets.

use super::*;

/// What a request says besides.
type Wish = fn(&mut Asked);

/// What a client gives with a TGS-REQ.
pub(super) struct Further {
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
    wish: Wish,
    /// What the checksum is of; the request's body if it isn't said.
    body: Option<Vec<u8>>,
    /// A byte of the ticket's ciphertext that is changed.
    changed: Option<usize>,
    /// A key of the client's own for the reply.
    subkey: Option<Key>,
}

impl Further {
    pub(super) fn new() -> Self {
        let (service, endtime, time) = ("krbtgt/TEST.EXAMPLE", NOW + 600, NOW - 30);
        let (client, named, body, changed) = ("ann", "ann", None, None);
        let (flags, starttime, renew_till) = (flag::PRE_AUTHENT, None, None);
        let (realm, kvno, head, bare, wish) = (REALM, 1, (5, 14), false, (|_| ()) as Wish);
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
            subkey: None,
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
            self.subkey.as_ref().map_or_else(Vec::new, |subkey| {
                let kind = field(0, &integer(enctype.number().into()));
                field(6, &sequence(&[&kind, &field(1, &octets(subkey.bytes()))]))
            }),
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

pub(super) fn further(world: &World, given: &Further) -> Vec<u8> {
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
        assert_eq!(world.shares.relied, ["key ann"; 2], "whatever servers know");
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
        // It has the key that was drawn.
        let key_at = messages::ticket_key_at(enctype, ticket.len()).unwrap();
        let (mut ticket, place) = (ticket.to_vec(), key_at..key_at + enctype.key_bytes());
        assert_eq!(ticket[place.clone()], world.shares.session);
        ticket[place].fill(0);
        let ticket = messages::TicketPart::read(&ticket, enctype, REALM).unwrap();
        assert_eq!((ticket.client.text().unwrap().as_str(), ticket.authtime), ("ann", NOW - 500));
        assert_eq!(ticket.endtime, NOW + 600, "no longer than the first ticket");

        assert_eq!(read_error(&world.answer(&request)), Some(34), "a second time");
    }
}

/// MIT's clients always give a key of their own: the reply is under that one, for another usage.
#[test]
fn who_gives_a_subkey_has_the_reply_under_it() {
    for enctype in Enctype::ALL {
        let mut world = World::new(enctype);
        let subkey = || Key::of_password(enctype, b"subkey", b"salt", 2);
        let reply = world.answer(&further(&world, &Further { subkey: Some(subkey()), ..Further::new() }));
        assert_eq!(world.shares.asked, ["verify", "authenticator", "reply"]);
        assert_eq!(said_under(&subkey(), 9, &reply), (flag::PRE_AUTHENT, Some(NOW), NOW + 600, None));
    }
}

#[test]
fn tickets_that_are_not_right_are_refused() {
    const OPENED: &[&str] = &["verify"];
    const ALL: &[&str] = &["verify", "authenticator"];
    type Case = (i64, &'static [&'static str], fn(&mut Further));
    let cases: [Case; 31] = [
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
        (61, &[], |given| given.wish = |asked| asked.etypes.extend([1 << 24; 60])),
        (39, &[], |given| given.head = (4, 14)),
        (40, &[], |given| given.head = (5, 10)),
        (50, OPENED, |given| given.bare = true),
        (33, ALL, |given| given.flags |= flag::INVALID),
        (33, ALL, |given| given.starttime = Some(NOW + 301)),
        (33, ALL, |given| {
            (given.flags, given.starttime) = (flag::INVALID, Some(NOW + 1));
            given.wish = |asked| (asked.options, asked.service) = (flag::VALIDATE, "krbtgt/TEST.EXAMPLE");
        }),
        (13, &[], |given| given.wish = |asked| asked.more = &[10]),
        (13, &[], |given| given.wish = |asked| asked.more = &[11]),
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
        (10, ALL, |given| {
            given.wish = |asked| (asked.options, asked.service) = (flag::POSTDATED, "krbtgt/TEST.EXAMPLE");
        }),
        (10, &[], |given| given.wish = |asked| asked.options = flag::POSTDATED),
        (13, ALL, |given| given.wish = |asked| asked.options = flag::MAY_POSTDATE),
        (11, ALL, |given| {
            given.flags |= flag::MAY_POSTDATE;
            given.wish = |asked| {
                (asked.options, asked.service) = (flag::POSTDATED, "krbtgt/TEST.EXAMPLE");
                asked.from = Some(NOW + 601);
            };
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

/// A ticket that a ticket gave begins when it was given: renewed, it lives no longer than any may.
#[test]
fn no_ticket_lives_longer_than_any_may() {
    let mut world = World::new(Enctype::Aes128Sha1);
    let renewable = Further { flags: flag::RENEWABLE, renew_till: Some(NOW + 90_000), ..Further::new() };
    let reply = world.answer(&further(&world, &renewable));
    let (_, start, end, _) = said(&world, &reply);
    assert_eq!((start, end), (Some(NOW), NOW + 600));
    // One that says of itself that it has lived for days has `max_life` when it is renewed.
    let old = Further {
        flags: flag::RENEWABLE,
        starttime: Some(NOW - 50_000),
        renew_till: Some(NOW + 90_000),
        time: NOW - 1,
        wish: |asked| (asked.options, asked.service) = (flag::RENEW, "krbtgt/TEST.EXAMPLE"),
        ..Further::new()
    };
    let reply = world.answer(&further(&world, &old));
    let (_, start, end, until) = said(&world, &reply);
    assert_eq!((start, end, until), (Some(NOW), NOW + world.settings.max_life, Some(NOW + 90_000)));
}

/// What a TGS-REP says under the session key: flags, begin, end, and until when it can be renewed.
fn said(world: &World, reply: &[u8]) -> (u32, Option<i64>, i64, Option<i64>) {
    said_under(&world.shares.keys["session"], 8, reply)
}

fn said_under(key: &Key, usage: u32, reply: &[u8]) -> (u32, Option<i64>, i64, Option<i64>) {
    let mut fields = Reader::new(reply).inside(tag::application(13)).unwrap().inside(tag::SEQUENCE).unwrap();
    for number in [0, 1, 3, 4, 5] {
        fields.field(number).unwrap();
    }
    let mut sealed = fields.field(6).unwrap().inside(tag::SEQUENCE).unwrap();
    sealed.field(0).unwrap();
    let sealed = sealed.field(2).unwrap().content(tag::OCTETS).unwrap();
    let part = key.open(usage, sealed).unwrap();
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
    // Who asks how to log in is told, and so nobody is kept out who doesn't try passwords.
    let asks = Asked { timestamp: None, ..Asked::new(&world) }.bytes();
    assert_eq!(read_error(&world.answer(&asks)), Some(25));
    // Right passwords don't count; runs without a verdict do, since who ended them may have learnt it.
    let mut world = World::new(Enctype::Aes128Sha1);
    for number in 0..40 {
        world.shares.gone = number % 3 == 2;
        let answer =
            answer(&world.settings, &world.principals, &right, NOW, &world.memory, &mut world.shares);
        let expected = if number < 30 { world.shares.gone.then_some(29) } else { Some(18) };
        assert_eq!(read_error(&answer.bytes), expected, "login {number}");
    }
}

#[test]
fn a_password_that_is_too_old_gives_no_tickets() {
    let mut world = World::new(Enctype::Aes128Sha1);
    world.settings.max_password_age = 1000;
    let request = Asked::new(&world).bytes();
    assert_eq!(read_error(&world.answer(&request)), Some(23));
    world.principals.put_key("ann", (4, "key ann".into()), ("salt".into(), 4096), NOW - 1000, 0);
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
    let begins: [(i64, Wish); 3] = [
        (NOW + 400, |asked| later(asked, NOW + 400)),
        // It begins when it is asked for, not now, if that is soon, too.
        (NOW + 40, |asked| later(asked, NOW + 40)),
        (NOW - 300, |asked| later(asked, NOW - 300)),
    ];
    for (from, wish) in begins {
        let given = Further {
            flags: flag::MAY_POSTDATE | flag::RENEWABLE,
            renew_till: Some(NOW + 5000),
            wish,
            ..Further::new()
        };
        let reply = world.answer(&further(&world, &given));
        let flags = flag::PRE_AUTHENT | flag::POSTDATED | flag::INVALID | flag::RENEWABLE;
        let endtime = NOW + 600 + (from - NOW).min(0);
        assert_eq!(said(&world, &reply), (flags, Some(from), endtime, Some(NOW + 5000)));
    }
}

/// A ticket that begins at such a time, and can be renewed.
fn later(asked: &mut Asked, from: i64) {
    (asked.options, asked.service) = (flag::POSTDATED | flag::RENEWABLE, "krbtgt/TEST.EXAMPLE");
    (asked.from, asked.rtime) = (Some(from), Some(NOW + 9000));
}
