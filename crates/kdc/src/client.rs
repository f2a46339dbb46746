//! A client with a key: what it asks, and what it makes of replies. For the bench and for tests.

use crate::clear::Key;
use crate::der::{Malformed, Reader, element, field, flags, integer, octets, sequence, tag, text, time};
use crate::enctype::{CONFOUNDER, Enctype, Usage, session_usage};
use crate::wire;
use std::io::{self, Write};
use std::net::TcpStream;

/// Who asks, and for what.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    /// The realm.
    pub realm: &'a str,
    /// The client's name.
    pub name: &'a str,
    /// Its key.
    pub key: &'a Key,
}

/// A ticket, and the session key in it.
pub struct Ticket {
    /// As it came, with its tag.
    pub bytes: Vec<u8>,
    /// The session key.
    pub session: Key,
    /// The reply's flags.
    pub flags: u32,
    /// When it ends.
    pub endtime: i64,
    /// Until when it can be renewed, if it can.
    pub renew_till: Option<i64>,
}

/// A request's body.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The service.
    pub service: &'a str,
    /// Options.
    pub options: u32,
    /// When the ticket is to end; 0 for as late as may be.
    pub till: i64,
    /// Until when it is to be renewable, if at all.
    pub rtime: Option<i64>,
    /// A number that comes back.
    pub nonce: u32,
}

impl<'a> Wish<'a> {
    /// A ticket for a service.
    pub fn of(service: &'a str, nonce: u32) -> Self {
        Self { service, options: 0, till: 0, rtime: None, nonce }
    }
}

fn name(text_of: &str) -> Vec<u8> {
    let parts: Vec<u8> = text_of.split('/').flat_map(text).collect();
    let kind = if text_of.contains('/') { 2 } else { 1 };
    sequence(&[&field(0, &integer(kind)), &field(1, &sequence(&[&parts]))])
}

fn encrypted(enctype: Enctype, cipher: &[u8]) -> Vec<u8> {
    sequence(&[&field(0, &integer(enctype.number().into())), &field(2, &octets(cipher))])
}

impl Client<'_> {
    fn body(&self, wish: &Wish<'_>, names_client: bool) -> Vec<u8> {
        let body = [
            field(0, &flags(wish.options)),
            if names_client { field(1, &name(self.name)) } else { Vec::new() },
            field(2, &text(self.realm)),
            field(3, &name(wish.service)),
            field(5, &time(wish.till)),
            wish.rtime.map_or_else(Vec::new, |rtime| field(6, &time(rtime))),
            field(7, &integer(wish.nonce.into())),
            field(8, &sequence(&[&integer(self.key.enctype().number().into())])),
        ];
        sequence(&[&body.concat()])
    }

    /// An AS-REQ whose timestamp says this time.
    pub fn initial(&self, wish: &Wish<'_>, now: i64, confounder: [u8; CONFOUNDER]) -> Vec<u8> {
        let stamp = sequence(&[&field(0, &time(now)), &field(1, &integer(123_456))]);
        let sealed = self.key.seal(Usage::Timestamp.number(), confounder, &stamp);
        request(10, 2, &encrypted(self.key.enctype(), &sealed), &self.body(wish, true))
    }

    /// A TGS-REQ with a ticket, whose authenticator says this time, with a subkey if there is one.
    pub fn further(
        &self,
        ticket: &Ticket,
        wish: &Wish<'_>,
        (now, micros): (i64, u32),
        subkey: Option<&Key>,
        confounder: [u8; CONFOUNDER],
    ) -> Vec<u8> {
        let (enctype, body) = (ticket.session.enctype(), self.body(wish, false));
        let code = ticket.session.checksum(session_usage::BODY, &body);
        let kind = field(0, &integer(enctype.checksum_type().into()));
        let key = |key: &Key| {
            let kind = field(0, &integer(enctype.number().into()));
            field(6, &sequence(&[&kind, &field(1, &octets(key.bytes()))]))
        };
        let authenticator = [
            field(0, &integer(5)),
            field(1, &text(self.realm)),
            field(2, &name(self.name)),
            field(3, &sequence(&[&kind, &field(1, &octets(&code))])),
            field(4, &integer(micros.into())),
            field(5, &time(now)),
            subkey.map_or_else(Vec::new, key),
        ];
        let authenticator = element(tag::application(2), &[&sequence(&[&authenticator.concat()])]);
        let sealed = ticket.session.seal(session_usage::AUTHENTICATOR, confounder, &authenticator);
        let fields = [
            field(0, &integer(5)),
            field(1, &integer(14)),
            field(2, &flags(0)),
            field(3, &ticket.bytes),
            field(4, &encrypted(enctype, &sealed)),
        ];
        let given = element(tag::application(14), &[&sequence(&[&fields.concat()])]);
        request(12, 1, &given, &body)
    }

    /// The ticket in an AS-REP.
    ///
    /// # Errors
    /// If it isn't one for this client and this wish.
    pub fn initial_reply(&self, reply: &[u8], wish: &Wish<'_>) -> Result<Ticket, Malformed> {
        Ticket::read(reply, 11, self.key, Usage::Reply.number(), wish)
    }

    /// The ticket in a TGS-REP to a request with this ticket, and with this subkey if there was one.
    ///
    /// # Errors
    /// As [`Client::initial_reply`].
    pub fn further_reply(
        &self,
        reply: &[u8],
        ticket: &Ticket,
        subkey: Option<&Key>,
        wish: &Wish<'_>,
    ) -> Result<Ticket, Malformed> {
        match subkey {
            Some(subkey) => Ticket::read(reply, 13, subkey, session_usage::REPLY_BY_SUBKEY, wish),
            None => Ticket::read(reply, 13, &ticket.session, session_usage::REPLY, wish),
        }
    }
}

fn request(number: u8, padata: i64, given: &[u8], body: &[u8]) -> Vec<u8> {
    let padata = sequence(&[&field(1, &integer(padata)), &field(2, &octets(given))]);
    let fields = [
        field(1, &integer(5)),
        field(2, &integer(number.into())),
        field(3, &sequence(&[&padata])),
        field(4, body),
    ];
    element(tag::application(number), &[&sequence(&[&fields.concat()])])
}

impl Ticket {
    fn read(reply: &[u8], number: u8, key: &Key, usage: u32, wish: &Wish<'_>) -> Result<Self, Malformed> {
        const OTHER: Malformed = Malformed("the reply is to another request, or under another key");
        let mut fields = Reader::new(reply).inside(tag::application(number))?.inside(tag::SEQUENCE)?;
        fields.field(0)?;
        fields.field(1)?;
        fields.optional(2)?;
        fields.field(3)?;
        fields.field(4)?;
        let bytes = fields.field(5)?.rest().to_vec();
        let mut sealed = fields.field(6)?.inside(tag::SEQUENCE)?;
        sealed.field(0)?;
        sealed.optional(1)?;
        let sealed = sealed.field(2)?.content(tag::OCTETS)?;
        let part = key.open(usage, sealed).ok_or(OTHER)?;
        let number = if number == 11 { 25 } else { 26 };
        let mut part = Reader::new(&part).inside(tag::application(number))?.inside(tag::SEQUENCE)?;
        let mut session = part.field(0)?.inside(tag::SEQUENCE)?;
        session.field(0)?;
        let session = session.field(1)?.content(tag::OCTETS)?;
        let session = Key::new(key.enctype(), session).ok_or(OTHER)?;
        part.field(1)?;
        if part.field(2)?.integer()? != i64::from(wish.nonce) {
            return Err(OTHER);
        }
        let flags = part.field(4)?.flags()?;
        part.field(5)?;
        part.optional(6)?;
        let endtime = part.field(7)?.time()?;
        let renew_till = part.optional(8)?.map(|mut time| time.time()).transpose()?;
        Ok(Self { bytes, session, flags, endtime, renew_till })
    }

    /// The ticket's ciphertext.
    ///
    /// # Errors
    /// If it is none.
    pub fn sealed(&self) -> Result<&[u8], Malformed> {
        let mut fields = Reader::new(&self.bytes).inside(tag::application(1))?.inside(tag::SEQUENCE)?;
        for number in 0..3 {
            fields.field(number)?;
        }
        let mut sealed = fields.field(3)?.inside(tag::SEQUENCE)?;
        sealed.field(0)?;
        sealed.optional(1)?;
        sealed.field(2)?.content(tag::OCTETS)
    }
}

/// Asks a KDC over a link by TCP, and waits for its reply.
///
/// # Errors
/// If the link is lost.
pub fn ask(link: &mut TcpStream, request: &[u8]) -> io::Result<Vec<u8>> {
    link.write_all(&[&(request.len() as u32).to_be_bytes()[..], request].concat())?;
    let mut head = [0; 4];
    io::Read::read_exact(link, &mut head)?;
    wire::read_bytes(link, u32::from_be_bytes(head) as usize, wire::MAX_FRAME)
}
