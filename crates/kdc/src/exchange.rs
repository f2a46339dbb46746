//! What one server makes of a request: the AS and the TGS exchange (RFC 4120, sections 3.1 and 3.3).
//!
//! Every server reads the request and decides by itself. Whatever it decides before [`Shares`] come in follows from the request and
//! its copy of the realm alone, so servers decide alike. The rest is in three steps, each after acceptance of the one before: the
//! verdict on codes, with the median of the servers' clocks; what was sealed, but for keys; ticket and reply. All three servers
//! give the public bytes of each step, which are compared under MPC; so one that deviates gets nothing for bytes of its own.

mod further;
mod initial;
#[cfg(test)]
mod tests;

pub use further::Replays;

use crate::circuits::{Form, Layout, Sizes};
use crate::messages::{self, Code, Exchange, Name, Request, flag};
use crate::realm::{Principal, Principals, Settings};
use tacit::Error;

/// A ticket and an authenticator that a client gives.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The ticket's ciphertext.
    pub ticket: &'a [u8],
    /// The authenticator's.
    pub authenticator: &'a [u8],
    /// Their lengths.
    pub sizes: Sizes,
}

/// Ciphertexts with their codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Of the new ticket.
    pub ticket: Vec<u8>,
    /// Of the reply's encrypted part.
    pub part: Vec<u8>,
}

/// What is computed on shared keys. Keys are named as their records are kept.
pub trait Shares {
    /// Whether a timestamp was sealed under the client's key, and the median of the servers' clocks.
    ///
    /// # Errors
    /// If the run is aborted.
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(bool, i64), Error>;
    /// What such a timestamp is.
    ///
    /// # Errors
    /// If the run is aborted.
    fn open(&mut self, client: &str, sealed: &[u8]) -> Result<Vec<u8>, Error>;
    /// Ciphertexts of a ticket and a reply's part, of these plaintexts and a session key.
    ///
    /// # Errors
    /// If the run is aborted.
    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error>;

    /// Whether a ticket was sealed under krbtgt's key, and an authenticator under the ticket's; and the median of the clocks.
    ///
    /// # Errors
    /// If the run is aborted.
    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(bool, i64), Error>;
    /// What such a ticket says, with zeros for its key.
    ///
    /// # Errors
    /// If the run is aborted.
    fn open_ticket(&mut self, krbtgt: &str, given: Given<'_>) -> Result<Vec<u8>, Error>;
    /// What such an authenticator says, with zeros for its checksum and its subkey.
    ///
    /// # Errors
    /// If the run is aborted.
    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        layout: Layout,
    ) -> Result<Vec<u8>, Error>;
    /// As [`Shares::reply`], under the ticket's key or the authenticator's; `None` unless the body has the authenticator's
    /// checksum.
    ///
    /// # Errors
    /// If the run is aborted.
    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        asked: (Given<'_>, Layout, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error>;
}

/// What became of a request.
#[derive(Debug)]
pub struct Answer {
    /// What the client gets.
    pub bytes: Vec<u8>,
    /// A line for the server's log, without secrets.
    pub line: String,
    /// Why shares couldn't be computed on, if that was so.
    pub failed: Option<Box<Error>>,
}

/// Why a client gets no ticket.
struct Refusal {
    code: Code,
    now: i64,
    data: Option<Vec<u8>>,
    failed: Option<Box<Error>>,
}

impl Refusal {
    fn new(code: Code, now: i64) -> Self {
        Self { code, now, data: None, failed: None }
    }

    /// Of a run that was aborted.
    fn aborted(error: Error, now: i64) -> Self {
        Self { failed: Some(Box::new(error)), ..Self::new(Code::Unavailable, now) }
    }
}

/// Answers a request. `clock` is this server's, and stands in errors that come before servers agree on a time.
pub fn answer(
    settings: &Settings,
    principals: &Principals,
    bytes: &[u8],
    clock: i64,
    replays: &mut Replays,
    shares: &mut dyn Shares,
) -> Answer {
    let realm = settings.realm.as_str();
    let request = match Request::read(bytes) {
        Ok(request) => request,
        Err(malformed) => {
            let bytes = messages::error(Code::Generic, clock, realm, None, None);
            return Answer { bytes, line: format!("refused: {malformed}"), failed: None };
        }
    };
    let text = |name: Option<&Name>| name.and_then(Name::text).unwrap_or_else(|| "?".to_owned());
    let service = text(request.service.as_ref());
    let issued = common(settings, &request).map_err(|code| Refusal::new(code, clock)).and_then(|()| {
        match request.exchange {
            Exchange::Initial => initial::issue(settings, principals, &request, clock, shares)
                .map(|bytes| (bytes, request.client.clone())),
            Exchange::Further => further::issue(settings, principals, &request, clock, replays, shares)
                .map(|(bytes, client)| (bytes, Some(client))),
        }
    });
    match issued {
        Ok((bytes, client)) => {
            let line = format!("{} for {service}: issued", text(client.as_ref()));
            Answer { bytes, line, failed: None }
        }
        Err(Refusal { code, now, data, failed }) => {
            let line = format!("{} for {service}: {code:?}", text(request.client.as_ref()));
            // What can't be read isn't repeated.
            let service = request.service.as_ref().filter(|service| service.text().is_some());
            Answer { bytes: messages::error(code, now, realm, service, data.as_deref()), line, failed }
        }
    }
}

/// A principal that takes part.
struct Known<'a> {
    name: &'a Name,
    principal: &'a Principal,
}

fn known<'a>(principals: &'a Principals, name: Option<&'a Name>) -> Option<Known<'a>> {
    let name = name?;
    Some(Known { name, principal: principals.find(name)? })
}

/// The service that a request is for.
fn service<'a>(principals: &'a Principals, request: &'a Request) -> Result<Known<'a>, Code> {
    let service = known(principals, request.service.as_ref()).ok_or(Code::ServiceUnknown)?;
    if service.principal.revoked {
        return Err(Code::ServiceRevoked);
    }
    // A ticket under a password's key would let its holder try passwords.
    if service.principal.salt.is_empty() { Ok(service) } else { Err(Code::NoService) }
}

/// What both exchanges refuse.
fn common(settings: &Settings, request: &Request) -> Result<(), Code> {
    if request.realm != settings.realm {
        return Err(Code::WrongRealm);
    }
    if request.options & flag::REFUSED != 0 {
        return Err(Code::BadOption);
    }
    if !request.etypes.contains(&settings.enctype.number()) {
        return Err(Code::EtypeUnsupported);
    }
    Ok(())
}

/// When a ticket ends that is to end no later than `latest`.
fn ending(request: &Request, latest: i64, now: i64) -> Result<i64, Refusal> {
    let endtime = if request.till == 0 { latest } else { latest.min(request.till) };
    if endtime <= now { Err(Refusal::new(Code::NeverValid, now)) } else { Ok(endtime) }
}
