//! Requests where servers know session keys: what is under those alone, each server opens, checks and makes by itself.
//!
//! # Security
//! Whatever comes of a run is the same at all servers that don't deviate, and so is all that follows from it here. So one that
//! deviates has no say in what the others do next: they agree on it before each run. But it knows what they know.

use super::shares::{Given, Sealed, Shares};
use crate::circuits::{Expected, Form};
use crate::clear::Key;
use crate::enctype::{CONFOUNDER, Enctype, session_usage};
use subtle::ConstantTimeEq;
use tacit::Error;
use zeroize::Zeroizing;

/// Bytes that are wiped in the end.
pub type Wiped = Zeroizing<Vec<u8>>;

/// What was sealed under a long-term key.
#[derive(Default)]
pub struct Verified {
    /// Its plaintext, if the code is right.
    pub plain: Option<Wiped>,
    /// The median of the servers' clocks.
    pub now: i64,
    /// What all servers have drawn together ([`crate::circuits::drawn_bytes`]): a session key, and two confounders.
    pub drawn: Wiped,
}

/// A message to be sealed: what the record of its key is kept as, its confounder, and its plaintext.
pub type Message<'a> = (&'a str, [u8; CONFOUNDER], &'a [u8]);

/// What is computed on shares at this level: long-term keys alone are.
pub trait Steps {
    /// Of an encrypted timestamp.
    ///
    /// # Errors
    /// If the run is aborted.
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<Verified, Error>;
    /// Of a ticket.
    ///
    /// # Errors
    /// If the run is aborted.
    fn open_ticket(&mut self, krbtgt: &str, sealed: &[u8]) -> Result<Verified, Error>;
    /// Ciphertexts with their codes: of a ticket, and in the AS exchange of the reply's part behind it.
    ///
    /// # Errors
    /// If the run is aborted.
    fn seal(&mut self, messages: &[Message<'_>]) -> Result<Vec<Vec<u8>>, Error>;
    /// As [`Shares::relies_on`].
    fn relies_on(&mut self, record: &str);
}

/// A request's way through those steps.
pub struct Knowing<S> {
    enctype: Enctype,
    steps: S,
    drawn: Wiped,
    /// The key of the ticket that came, and the plaintext of its authenticator.
    opened: Option<(Key, Wiped)>,
}

impl<S: Steps> Knowing<S> {
    /// One that begins.
    pub fn new(enctype: Enctype, steps: S) -> Self {
        Self { enctype, steps, drawn: Wiped::default(), opened: None }
    }

    /// The new session key, and one of two confounders.
    fn drawn(&self, confounder: usize) -> Result<(&[u8], [u8; CONFOUNDER]), Error> {
        let parts = self.drawn.split_at_checked(self.enctype.key_bytes());
        let parts = parts.and_then(|(key, all)| Some((key, *all.as_chunks().0.get(confounder)?)));
        parts.ok_or_else(|| Error::Refused("a reply comes after its request was verified".to_owned()))
    }

    /// A plaintext with the new session key in it, and its confounder.
    fn filled(
        &self,
        (plain, form): (&[u8], Form),
        confounder: usize,
    ) -> Result<([u8; CONFOUNDER], Wiped), Error> {
        let (key, confounder) = self.drawn(confounder)?;
        let mut plain = Zeroizing::new(plain.to_vec());
        let place = plain.get_mut(form.key_at..form.key_at + key.len());
        place
            .ok_or_else(|| Error::Refused("a message has no room for its key".to_owned()))?
            .copy_from_slice(key);
        Ok((confounder, plain))
    }
}

impl<S: Steps> Shares for Knowing<S> {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(Option<Vec<u8>>, i64), Error> {
        let Verified { plain, now, drawn } = self.steps.verify(client, sealed)?;
        self.drawn = drawn;
        Ok((plain.map(|plain| plain.to_vec()), now))
    }

    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error> {
        let (ticket, part) = (self.filled(ticket, 0)?, self.filled(part, 1)?);
        Sealed::of(self.steps.seal(&[(service, ticket.0, &ticket.1), (client, part.0, &part.1)])?)
    }

    /// One verdict for ticket and authenticator, as where nobody knows the ticket's key.
    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(Option<Vec<u8>>, i64), Error> {
        let Verified { plain, now, drawn } = self.steps.open_ticket(krbtgt, given.ticket)?;
        self.drawn = drawn;
        let Some(mut ticket) = plain else { return Ok((None, now)) };
        let place = ticket.get_mut(given.key_at..given.key_at + self.enctype.key_bytes());
        let Some((place, session)) =
            place.and_then(|place| Key::new(self.enctype, place).map(|key| (place, key)))
        else {
            return Ok((None, now));
        };
        place.fill(0);
        let authenticator = session.open(session_usage::AUTHENTICATOR, given.authenticator);
        self.opened = authenticator.map(|authenticator| (session, authenticator));
        Ok((self.opened.is_some().then(|| ticket.to_vec()), now))
    }

    fn open_authenticator(
        &mut self,
        _: &str,
        _: Given<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some((_, plain)) = &self.opened else { return Ok(None) };
        let looks = || plain.iter().zip(expected.bytes).zip(expected.is_fixed);
        let fits =
            plain.len() == expected.bytes.len() && looks().all(|((own, due), fixed)| !fixed || own == due);
        let shown = plain.iter().zip(expected.is_opened).map(|(own, shown)| if *shown { *own } else { 0 });
        Ok(fits.then(|| shown.collect()))
    }

    fn reply_further(
        &mut self,
        _: &str,
        service: &str,
        (_, expected, body): (Given<'_>, Expected<'_>, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error> {
        let Some((session, plain)) = &self.opened else { return Ok(None) };
        let code = plain.get(expected.checksum_at..).and_then(|rest| rest.get(..self.enctype.mac_bytes()));
        let own = session.checksum(session_usage::BODY, body);
        if !code.is_some_and(|code| bool::from(own.ct_eq(code))) {
            return Ok(None);
        }
        let subkey = expected.subkey_at.and_then(|at| Key::new(self.enctype, plain.get(at..)?));
        let (key, usage) = match &subkey {
            Some(subkey) => (subkey, session_usage::REPLY_BY_SUBKEY),
            None => (session, session_usage::REPLY),
        };
        let (confounder, part) = self.filled(part, 1)?;
        let part = key.seal(usage, confounder, &part);
        let (confounder, ticket) = self.filled(ticket, 0)?;
        let mut both = self.steps.seal(&[(service, confounder, &ticket)])?;
        both.push(part);
        Sealed::of(both).map(Some)
    }

    fn relies_on(&mut self, record: &str) {
        self.steps.relies_on(record);
    }
}
