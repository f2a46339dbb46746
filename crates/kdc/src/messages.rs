//! Kerberos' messages (RFC 4120, section 5), as far as a KDC reads and writes them.

mod further;
mod parts;

pub use further::{ApRequest, Authenticator, TicketPart, ticket_key_at};
pub use parts::{Encrypted, Name};

use crate::circuits::Form;
use crate::der::{Malformed, Reader, element, field, flags, integer, octets, sequence, tag, text, time};
use crate::enctype::Enctype;
use parts::{MAX_LIST, PVNO, no_key};

/// Types of pre-authentication data.
pub mod padata {
    /// PA-ENC-TIMESTAMP.
    pub const TIMESTAMP: i32 = 2;
    /// PA-TGS-REQ.
    pub const TICKET: i32 = 1;
    /// PA-ETYPE-INFO2.
    pub const ETYPES: i32 = 19;
}

/// Options of a request, and flags of tickets.
pub mod flag {
    const fn bit(number: u32) -> u32 {
        1 << (31 - number)
    }

    /// The ticket was issued by the AS.
    pub const INITIAL: u32 = bit(9);
    /// The client was authenticated before it was.
    pub const PRE_AUTHENT: u32 = bit(10);
    /// A later ticket may begin later.
    pub const MAY_POSTDATE: u32 = bit(5);
    /// The ticket begins later than it was issued.
    pub const POSTDATED: u32 = bit(6);
    /// The ticket is worth nothing before it is validated.
    pub const INVALID: u32 = bit(7);
    /// The ticket can be renewed.
    pub const RENEWABLE: u32 = bit(8);
    /// A renewable ticket will do, if none lives as long as is asked for.
    pub const RENEWABLE_OK: u32 = bit(27);
    /// The ticket is to be renewed.
    pub const RENEW: u32 = bit(30);
    /// The ticket is to be validated.
    pub const VALIDATE: u32 = bit(31);
    /// Options that can't be met and mustn't be ignored: forwarded, proxy, cname-in-addl-tkt, anonymous, enc-tkt-in-skey.
    pub const REFUSED: u32 = bit(2) | bit(4) | bit(14) | bit(16) | bit(28);
}

/// Which exchange a request begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// AS-REQ: who has a long-term key asks for a ticket.
    Initial,
    /// TGS-REQ: who has a ticket asks for another.
    Further,
}

impl Exchange {
    /// The one that a message begins, by its first byte, and that message's number.
    fn of(bytes: &[u8]) -> Option<(Self, u8)> {
        let all = [(Self::Initial, 10), (Self::Further, 12)];
        all.into_iter().find(|(_, number)| bytes.first() == Some(&tag::application(*number)))
    }
}

/// Whether a message begins as requests do. What doesn't may be a reply: who answered those by UDP would have two KDCs answer
/// one another for ever.
pub fn begins_request(bytes: &[u8]) -> bool {
    Exchange::of(bytes).is_some()
}

/// A KDC-REQ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which exchange.
    pub exchange: Exchange,
    /// Pre-authentication data, by type.
    pub padata: Vec<(i32, Vec<u8>)>,
    /// Options ([`flag`]).
    pub options: u32,
    /// The client, in an AS-REQ.
    pub client: Option<Name>,
    /// The realm of the service, and of the client in an AS-REQ.
    pub realm: String,
    /// The service.
    pub service: Option<Name>,
    /// When the ticket is to begin, if not now.
    pub from: Option<i64>,
    /// When the ticket is to end; 0 for as late as may be.
    pub till: i64,
    /// Until when it is to be renewable.
    pub rtime: Option<i64>,
    /// A number that the reply repeats.
    pub nonce: u32,
    /// Encryption types that the client knows.
    pub etypes: Vec<i32>,
    /// Whether it has authorization data or additional tickets: a ticket that heeds neither would give more than was asked for.
    pub wants_more: bool,
    /// The body as it was sent, which a checksum is of.
    pub body: Vec<u8>,
}

impl Request {
    /// Reads one.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let (exchange, number) = Exchange::of(bytes).ok_or(Malformed("neither AS-REQ nor TGS-REQ"))?;
        let mut whole = Reader::new(bytes);
        let mut fields = whole.inside(tag::application(number))?.inside(tag::SEQUENCE)?;
        whole.end()?;
        let version = fields.field(1)?.integer()?;
        let kind = fields.field(2)?.integer()?;
        if version != PVNO || kind != i64::from(number) {
            return Err(Malformed("version or type of the message"));
        }
        let mut padata = Vec::new();
        if let Some(mut list) = fields.optional(3)? {
            let mut list = list.inside(tag::SEQUENCE)?;
            while !list.is_empty() && padata.len() < MAX_LIST {
                let mut one = list.inside(tag::SEQUENCE)?;
                let kind = one.field(1)?.int32()?;
                padata.push((kind, one.field(2)?.content(tag::OCTETS)?.to_vec()));
            }
            list.end()?;
        }
        let mut body = fields.field(4)?;
        let sent = body.rest().to_vec();
        let mut body = body.inside(tag::SEQUENCE)?;
        fields.end()?;
        let options = body.field(0)?.flags()?;
        let client = body.optional(1)?.map(|mut name| Name::read(&mut name)).transpose()?;
        let realm = body.field(2)?.text()?;
        let service = body.optional(3)?.map(|mut name| Name::read(&mut name)).transpose()?;
        let from = body.optional(4)?.map(|mut from| from.time()).transpose()?;
        let till = body.field(5)?.time()?;
        let rtime = body.optional(6)?.map(|mut rtime| rtime.time()).transpose()?;
        // Some clients send a signed number.
        let nonce = body.field(7)?.integer()? as u32;
        let mut list = body.field(8)?.inside(tag::SEQUENCE)?;
        let mut etypes = Vec::new();
        while !list.is_empty() && etypes.len() < MAX_LIST {
            etypes.push(list.int32()?);
        }
        list.end()?;
        // Addresses: tickets aren't bound to them.
        body.optional(9)?;
        let (data, tickets) = (body.optional(10)?, body.optional(11)?);
        let wants_more = data.is_some() || tickets.is_some();
        body.end()?;
        let body = sent;
        Ok(Self {
            exchange,
            padata,
            options,
            client,
            realm,
            service,
            from,
            till,
            rtime,
            nonce,
            etypes,
            wants_more,
            body,
        })
    }

    /// The first pre-authentication data of a type.
    pub fn padata(&self, kind: i32) -> Option<&[u8]> {
        self.padata.iter().find(|(other, _)| *other == kind).map(|(_, value)| &value[..])
    }
}

/// The time in a PA-ENC-TS-ENC, in seconds since 1970.
///
/// # Errors
/// If it is none.
pub fn read_timestamp(bytes: &[u8]) -> Result<i64, Malformed> {
    let mut fields = Reader::new(bytes).inside(tag::SEQUENCE)?;
    let time = fields.field(0)?.time()?;
    fields.optional(1)?;
    fields.end()?;
    Ok(time)
}

fn encrypted(enctype: Enctype, kvno: Option<u64>, cipher: &[u8]) -> Vec<u8> {
    let etype = field(0, &integer(enctype.number().into()));
    let kvno = kvno.map_or_else(Vec::new, |kvno| field(1, &integer(kvno as i64)));
    sequence(&[&etype, &kvno, &field(2, &octets(cipher))])
}

/// What a ticket and its reply say alike.
#[derive(Clone, Debug)]
pub struct Grant<'a> {
    /// The realm.
    pub realm: &'a str,
    /// Whose ticket it is.
    pub client: &'a Name,
    /// For which service.
    pub service: &'a Name,
    /// The type of the session key.
    pub enctype: Enctype,
    /// Flags of the ticket ([`flag`]).
    pub flags: u32,
    /// When the client was authenticated.
    pub authtime: i64,
    /// When the ticket begins, if not then.
    pub starttime: Option<i64>,
    /// When the ticket ends.
    pub endtime: i64,
    /// Until when it can be renewed, if it can.
    pub renew_till: Option<i64>,
}

impl Grant<'_> {
    /// Fields 5 to 8 of tickets and replies alike.
    fn times(&self) -> Vec<u8> {
        let optional = |number, at: Option<i64>| at.map_or_else(Vec::new, |at| field(number, &time(at)));
        let (start, renew) = (optional(6, self.starttime), optional(8, self.renew_till));
        [field(5, &time(self.authtime)), start, field(7, &time(self.endtime)), renew].concat()
    }

    /// A message of these fields around a session key of zeros, and where that is.
    fn around_key(&self, application: u8, before: &[u8], number: u8, behind: &[u8]) -> (Vec<u8>, Form) {
        let key = field(number, &no_key(self.enctype));
        let message = element(tag::application(application), &[&sequence(&[before, &key, behind])]);
        let key_at = message.len() - behind.len() - self.enctype.key_bytes();
        let form = Form { bytes: message.len(), key_at };
        (message, form)
    }

    /// EncTicketPart, with zeros for its key.
    pub fn ticket_part(&self) -> (Vec<u8>, Form) {
        // No realm was transited: DOMAIN-X500-COMPRESS of nothing.
        let transited = sequence(&[&field(0, &integer(1)), &field(1, &octets(&[]))]);
        let behind =
            [field(2, &text(self.realm)), field(3, &self.client.bytes()), field(4, &transited), self.times()];
        self.around_key(3, &field(0, &flags(self.flags)), 1, &behind.concat())
    }

    /// EncASRepPart or EncTGSRepPart, with zeros for its key.
    pub fn reply_part(&self, exchange: Exchange, nonce: u32) -> (Vec<u8>, Form) {
        // Nothing is known of earlier requests.
        let last = sequence(&[&sequence(&[&field(0, &integer(0)), &field(1, &time(self.authtime))])]);
        let behind = [
            field(1, &last),
            field(2, &integer(nonce.into())),
            field(4, &flags(self.flags)),
            self.times(),
            field(9, &text(self.realm)),
            field(10, &self.service.bytes()),
        ];
        let number = if exchange == Exchange::Initial { 25 } else { 26 };
        self.around_key(number, &[], 0, &behind.concat())
    }

    /// An AS-REP, of both ciphertexts with the versions of their keys.
    pub fn initial_reply(&self, ticket: (u64, &[u8]), part: (u64, &[u8]), hashed: (&str, u32)) -> Vec<u8> {
        let padata = field(2, &sequence(&[&etype_info(self.enctype, hashed)]));
        self.reply(11, &padata, ticket, &encrypted(self.enctype, Some(part.0), part.1))
    }

    /// A TGS-REP; the key of its part has no version.
    pub fn further_reply(&self, ticket: (u64, &[u8]), part: &[u8]) -> Vec<u8> {
        self.reply(13, &[], ticket, &encrypted(self.enctype, None, part))
    }

    fn reply(&self, number: u8, padata: &[u8], ticket: (u64, &[u8]), part: &[u8]) -> Vec<u8> {
        let ticket = sequence(&[
            &field(0, &integer(PVNO)),
            &field(1, &text(self.realm)),
            &field(2, &self.service.bytes()),
            &field(3, &encrypted(self.enctype, Some(ticket.0), ticket.1)),
        ]);
        let fields = [
            field(0, &integer(PVNO)),
            field(1, &integer(number.into())),
            padata.to_vec(),
            field(3, &text(self.realm)),
            field(4, &self.client.bytes()),
            field(5, &element(tag::application(1), &[&ticket])),
            field(6, part),
        ];
        element(tag::application(number), &[&sequence(&[&fields.concat()])])
    }
}

/// PA-ETYPE-INFO2: how a password makes the key, with which salt and how many iterations; 0 of these for keys of no password.
fn etype_info(enctype: Enctype, (salt, iterations): (&str, u32)) -> Vec<u8> {
    let iterations = if iterations == 0 { enctype.iterations() } else { iterations };
    let entry = [
        field(0, &integer(enctype.number().into())),
        field(1, &text(salt)),
        field(2, &octets(&iterations.to_be_bytes())),
    ];
    pa_data(padata::ETYPES, &sequence(&[&sequence(&[&entry.concat()])]))
}

fn pa_data(kind: i32, value: &[u8]) -> Vec<u8> {
    sequence(&[&field(1, &integer(kind.into())), &field(2, &octets(value))])
}

/// What an error says of pre-authentication: METHOD-DATA.
pub fn methods(enctype: Enctype, hashed: (&str, u32)) -> Vec<u8> {
    sequence(&[&etype_info(enctype, hashed), &pa_data(padata::TIMESTAMP, &[])])
}

/// Errors (RFC 4120, section 7.5.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Code {
    ClientUnknown = 6,
    ServiceUnknown = 7,
    NeverValid = 11,
    CannotPostdate = 10,
    Policy = 12,
    BadOption = 13,
    EtypeUnsupported = 14,
    PadataUnsupported = 16,
    ClientRevoked = 18,
    ServiceRevoked = 19,
    PreauthFailed = 24,
    PreauthRequired = 25,
    KeyExpired = 23,
    NoService = 27,
    Unavailable = 29,
    BadIntegrity = 31,
    TicketExpired = 32,
    NotYetValid = 33,
    Repeat = 34,
    NotUs = 35,
    BadMatch = 36,
    Skew = 37,
    BadVersion = 39,
    MessageType = 40,
    Modified = 41,
    BadKeyVersion = 44,
    NoChecksum = 50,
    TooBig = 52,
    Generic = 60,
    TooLong = 61,
    WrongRealm = 68,
}

/// A KRB-ERROR.
pub fn error(code: Code, now: i64, realm: &str, service: Option<&Name>, data: Option<&[u8]>) -> Vec<u8> {
    let krbtgt = Name { kind: 2, parts: vec!["krbtgt".to_owned(), realm.to_owned()] };
    let fields = [
        field(0, &integer(PVNO)),
        field(1, &integer(30)),
        field(4, &time(now)),
        field(5, &integer(0)),
        field(6, &integer(code as i64)),
        field(9, &text(realm)),
        field(10, &service.unwrap_or(&krbtgt).bytes()),
        data.map_or_else(Vec::new, |data| field(12, &octets(data))),
    ];
    element(tag::application(30), &[&sequence(&[&fields.concat()])])
}

/// What a KRB-ERROR of this KDC says but for its times, which each server writes by its own clock; `None` if it is none.
pub fn but_for_times(bytes: &[u8]) -> Option<Vec<u8>> {
    read_error(bytes)?;
    let mut whole = Reader::new(bytes);
    let mut message = whole.inside(tag::application(30)).ok()?;
    let mut fields = message.inside(tag::SEQUENCE).ok()?;
    message.end().and(whole.end()).ok()?;
    let all = fields.rest();
    fields.field(0).and_then(|_| fields.field(1)).ok()?;
    let before = &all[..all.len() - fields.rest().len()];
    let (mut seconds, mut micros) = (fields.field(4).ok()?, fields.field(5).ok()?);
    seconds.time().and(seconds.end()).ok()?;
    micros.integer().and(micros.end()).ok()?;
    Some([before, fields.rest()].concat())
}

/// The code of a KRB-ERROR; `None` if it is none.
pub fn read_error(bytes: &[u8]) -> Option<i64> {
    let mut fields = Reader::new(bytes).inside(tag::application(30)).ok()?.inside(tag::SEQUENCE).ok()?;
    fields.field(0).ok()?;
    fields.field(1).ok()?;
    for number in 2..=5 {
        fields.optional(number).ok()?;
    }
    fields.field(6).ok()?.integer().ok()
}
