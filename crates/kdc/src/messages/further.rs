//! What the TGS exchange adds: tickets and authenticators.

use super::parts::{Encrypted, Name, PVNO, no_key};
use crate::circuits::Expected;
use crate::der::{self, Malformed, Reader, element, field, integer, octets, sequence, tag, text, time};
use crate::enctype::Enctype;

/// Bytes of a time's digits.
const TIME: usize = 15;

/// An AP-REQ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApRequest<'a> {
    /// The protocol's version, which has to be 5.
    pub version: i64,
    /// The message's type, which has to be 14.
    pub kind: i64,
    /// The realm of the ticket's service.
    pub realm: String,
    /// That service.
    pub service: Name,
    /// What is in the ticket.
    pub ticket: Encrypted<'a>,
    /// What is in the authenticator.
    pub authenticator: Encrypted<'a>,
}

impl<'a> ApRequest<'a> {
    /// Reads one.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut whole = Reader::new(bytes);
        let mut fields = whole.inside(tag::application(14))?.inside(tag::SEQUENCE)?;
        whole.end()?;
        let (version, kind) = (fields.field(0)?.integer()?, fields.field(1)?.integer()?);
        fields.field(2)?.flags()?;
        let mut ticket = fields.field(3)?.inside(tag::application(1))?.inside(tag::SEQUENCE)?;
        let authenticator = Encrypted::read(&mut fields.field(4)?)?;
        fields.end()?;
        if ticket.field(0)?.integer()? != PVNO {
            return Err(Malformed("version of the ticket"));
        }
        let realm = ticket.field(1)?.text()?;
        let service = Name::read(&mut ticket.field(2)?)?;
        let sealed = Encrypted::read(&mut ticket.field(3)?)?;
        ticket.end()?;
        Ok(Self { version, kind, realm, service, ticket: sealed, authenticator })
    }
}

/// Where a ticket of this KDC has its session key, by the bytes of its plaintext alone; `None` if no ticket has so many.
pub fn ticket_key_at(enctype: Enctype, bytes: usize) -> Option<usize> {
    // Tag and length of an element of so many bytes in all.
    let head = |bytes: usize| {
        (2..=4).find(|&head| {
            let content = bytes.checked_sub(head);
            content.is_some_and(|content| element(0, &[&vec![0; content]]).len() == bytes)
        })
    };
    let first = head(bytes)?;
    let second = head(bytes - first)?;
    let flags = field(0, &der::flags(0)).len();
    let at = first + second + flags + field(1, &no_key(enctype)).len() - enctype.key_bytes();
    (at + enctype.key_bytes() <= bytes).then_some(at)
}

/// What a ticket of this KDC says, but for its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketPart {
    /// Whose it is.
    pub client: Name,
    /// Its flags.
    pub flags: u32,
    /// When the client was authenticated.
    pub authtime: i64,
    /// When it begins, if not then.
    pub starttime: Option<i64>,
    /// When it ends.
    pub endtime: i64,
    /// Until when it can be renewed, if it can.
    pub renew_till: Option<i64>,
}

impl TicketPart {
    /// Reads one whose key was left out.
    ///
    /// # Errors
    /// If it isn't as this KDC writes tickets for this realm.
    pub fn read(bytes: &[u8], enctype: Enctype, realm: &str) -> Result<Self, Malformed> {
        const OTHER: Malformed = Malformed("a ticket is none of this realm's");
        let mut whole = Reader::new(bytes);
        let mut fields = whole.inside(tag::application(3))?.inside(tag::SEQUENCE)?;
        whole.end()?;
        let flags = fields.field(0)?.flags()?;
        if fields.field(1)?.rest() != no_key(enctype) || fields.field(2)?.text()? != realm {
            return Err(OTHER);
        }
        let client = Name::read(&mut fields.field(3)?)?;
        fields.field(4)?;
        let authtime = fields.field(5)?.time()?;
        let starttime = fields.optional(6)?.map(|mut start| start.time()).transpose()?;
        let endtime = fields.field(7)?.time()?;
        let renew_till = fields.optional(8)?.map(|mut until| until.time()).transpose()?;
        fields.end()?;
        Ok(Self { client, flags, authtime, starttime, endtime, renew_till })
    }
}

/// What an authenticator of so many bytes has to look like: everything but the time, the checksum and the subkey follows from the
/// ticket that it comes with, and from its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticator {
    /// Its bytes, with zeros for those that it may have as it likes.
    bytes: Vec<u8>,
    /// Which of them it has to have.
    is_fixed: Vec<bool>,
    /// Which of them tell the time.
    is_opened: Vec<bool>,
    checksum_at: usize,
    subkey_at: Option<usize>,
    time_at: usize,
}

impl Authenticator {
    /// The one of this client that has so many bytes; `None` if there is none.
    pub fn expected(enctype: Enctype, realm: &str, client: &Name, bytes: usize) -> Option<Self> {
        let forms = [true, false].into_iter().flat_map(|subkey| (1..=3).map(move |micros| (subkey, micros)));
        let mut all = forms.map(|(subkey, micros)| Self::form(enctype, realm, client, subkey, micros));
        all.find(|form| form.bytes.len() == bytes)
    }

    /// The one with or without a subkey, and so many bytes of microseconds.
    fn form(enctype: Enctype, realm: &str, client: &Name, subkey: bool, micros: usize) -> Self {
        let checksum_type = field(0, &integer(enctype.checksum_type().into()));
        let checksum = sequence(&[&checksum_type, &field(1, &octets(&vec![0; enctype.mac_bytes()]))]);
        let before = [
            field(0, &integer(PVNO)),
            field(1, &text(realm)),
            field(2, &client.bytes()),
            field(3, &checksum),
        ];
        let micros_field = field(4, &element(tag::INTEGER, &[&vec![0; micros]]));
        let time_field = field(5, &time(0));
        let key = if subkey { field(6, &no_key(enctype)) } else { Vec::new() };
        let content = [&before.concat()[..], &micros_field, &time_field, &key].concat();
        let mut bytes = element(tag::application(2), &[&sequence(&[&content])]);
        let time_end = bytes.len() - key.len();
        let micros_end = time_end - time_field.len();
        let time_at = time_end - TIME;
        bytes[time_at..time_end].fill(0);
        let checksum_at = micros_end - micros_field.len() - enctype.mac_bytes();
        let subkey_at = subkey.then(|| bytes.len() - enctype.key_bytes());
        let subkey_from = subkey_at.unwrap_or(bytes.len());
        let free = [
            checksum_at..checksum_at + enctype.mac_bytes(),
            micros_end - micros..micros_end,
            time_at..time_end,
            subkey_from..bytes.len(),
        ];
        let is_fixed = (0..bytes.len()).map(|at| !free.iter().any(|free| free.contains(&at))).collect();
        let is_opened = (0..bytes.len()).map(|at| (time_at..time_end).contains(&at)).collect();
        Self { bytes, is_fixed, is_opened, checksum_at, subkey_at, time_at }
    }

    /// Whether one of so many bytes has no checksum, though it looks as it should otherwise.
    pub fn lacks_checksum(enctype: Enctype, realm: &str, client: &Name, bytes: usize) -> bool {
        let field_bytes = |form: &Self| {
            let checksum_type = field(0, &integer(enctype.checksum_type().into()));
            let checksum = sequence(&[&checksum_type, &field(1, &octets(&vec![0; enctype.mac_bytes()]))]);
            form.bytes.len() - field(3, &checksum).len()
        };
        let forms = [true, false].into_iter().flat_map(|subkey| (1..=3).map(move |micros| (subkey, micros)));
        // Two lengths before it may take a byte less each.
        let mut all =
            forms.map(|(subkey, micros)| field_bytes(&Self::form(enctype, realm, client, subkey, micros)));
        all.any(|without| (without - 2..=without).contains(&bytes))
    }

    /// What servers tell of it where it is opened.
    pub fn as_given(&self) -> Expected<'_> {
        let Self { bytes, is_fixed, is_opened, checksum_at, subkey_at, .. } = self;
        Expected { bytes, is_fixed, is_opened, checksum_at: *checksum_at, subkey_at: *subkey_at }
    }

    /// The time, of what was opened of one that looks so.
    ///
    /// # Errors
    /// If it is none.
    pub fn time(&self, opened: &[u8]) -> Result<i64, Malformed> {
        let digits =
            opened.get(self.time_at..self.time_at + TIME).ok_or(Malformed("an authenticator's time"))?;
        Reader::new(&element(tag::TIME, &[digits])).time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Grant;

    #[test]
    fn a_tickets_key_is_where_its_length_says() {
        for enctype in Enctype::ALL {
            for length in 1..200 {
                let client = Name { kind: 1, parts: vec!["c".repeat(length)] };
                let (realm, service) = ("R", &client);
                let (flags, authtime, starttime, endtime, renew_till) = (0, 5, Some(6), 7, Some(8));
                let grant = Grant {
                    realm,
                    client: &client,
                    service,
                    enctype,
                    flags,
                    authtime,
                    starttime,
                    endtime,
                    renew_till,
                };
                let (bytes, form) = grant.ticket_part();
                assert_eq!(ticket_key_at(enctype, bytes.len()), Some(form.key_at), "{length}");
                assert!(crate::circuits::fits(true, form));
                for exchange in [crate::messages::Exchange::Initial, crate::messages::Exchange::Further] {
                    assert!(crate::circuits::fits(false, grant.reply_part(exchange, 1 << 31).1));
                }
                let read = TicketPart::read(&bytes, enctype, "R").unwrap();
                assert_eq!(read, TicketPart { client, flags, authtime, starttime, endtime, renew_till });
                assert!(TicketPart::read(&bytes, enctype, "S").is_err());
            }
            assert_eq!(ticket_key_at(enctype, 30), None);
        }
    }

    #[test]
    fn an_authenticators_form_follows_from_its_length() {
        let client = Name { kind: 1, parts: vec!["ann".into()] };
        for enctype in Enctype::ALL {
            for subkey in [false, true] {
                for micros in 1..=3 {
                    let form = Authenticator::form(enctype, "REALM", &client, subkey, micros);
                    let length = form.bytes.len();
                    let found = Authenticator::expected(enctype, "REALM", &client, length).unwrap();
                    assert_eq!(found, form);
                    let mut opened = vec![0; length];
                    opened[form.time_at..form.time_at + TIME].copy_from_slice(b"20261124115959Z");
                    assert_eq!(form.time(&opened).unwrap(), 1_795_521_599);
                    opened[form.time_at] = b'x';
                    assert!(form.time(&opened).is_err() && form.time(&[]).is_err());
                    // Whatever is secret is neither compared nor opened, and what is opened is the time alone.
                    let given = form.as_given();
                    let secret = given.checksum_at..given.checksum_at + enctype.mac_bytes();
                    let subkey = given.subkey_at.unwrap_or(length);
                    for at in 0..length {
                        let is_secret = secret.contains(&at) || at >= subkey;
                        assert!(!(is_secret && (given.is_fixed[at] || given.is_opened[at])));
                    }
                    assert_eq!(given.is_opened.iter().filter(|opened| **opened).count(), TIME);
                    assert_eq!(
                        given.is_fixed.iter().filter(|fixed| !**fixed).count(),
                        TIME + micros
                            + enctype.mac_bytes()
                            + if subkey < length { enctype.key_bytes() } else { 0 }
                    );
                }
            }
            assert_eq!(Authenticator::expected(enctype, "REALM", &client, 50), None);
        }
    }
}
