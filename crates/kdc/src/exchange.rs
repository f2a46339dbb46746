//! What one server makes of a request: the AS and the TGS exchange (RFC 4120, sections 3.1 and 3.3).
//!
//! Every server reads the request and decides by itself. Whatever it decides before [`Shares`] come in follows from the request
//! and its copy of the realm alone, so servers decide alike.
//!
//! The rest is in three steps, each after acceptance of the one before: the verdict on codes, with the median of the servers'
//! clocks; what was sealed, but for keys; ticket and reply. What all know of a step are its run's public inputs, which the
//! session compares before anything is computed; so one that deviates gets nothing for bytes of its own. Where servers know
//! session keys, they take some of these steps alone ([`Knowing`]), in the same order and with the same errors.

mod further;
mod initial;
mod knowing;
mod memory;
mod shares;
#[cfg(test)]
mod tests;

pub use knowing::{Knowing, Message, Steps, Verified, Wiped};
pub use memory::Memory;
pub use shares::{Given, Sealed, Shares};

use crate::circuits::{self, Class, Form};
use crate::messages::{self, Code, Exchange, Name, Request, flag, padata};
use crate::realm::{Principal, Principals, Settings};
use tacit::Error;

/// Refuses messages that no program is for.
fn fit(enctype: crate::enctype::Enctype, sealed: &[usize], public: usize) -> Result<(), Code> {
    let overhead = enctype.mac_bytes();
    let longest = sealed.iter().map(|bytes| bytes.saturating_sub(overhead)).chain([public]).max();
    Class::of(longest.unwrap_or_default()).map(|_| ()).ok_or(Code::TooLong)
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

/// Whether a request may take more than words: that follows from its bytes alone, so all servers say the same.
pub fn asks_for_shares(bytes: &[u8]) -> bool {
    let kind = |exchange| match exchange {
        Exchange::Initial => padata::TIMESTAMP,
        Exchange::Further => padata::TICKET,
    };
    Request::read(bytes).is_ok_and(|request| request.padata(kind(request.exchange)).is_some())
}

/// Answers a request. `clock` is this server's, and stands in errors that come before servers agree on a time.
pub fn answer(
    settings: &Settings,
    principals: &Principals,
    bytes: &[u8],
    clock: i64,
    memory: &Memory,
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
            Exchange::Initial => initial::issue(settings, principals, &request, clock, memory, shares)
                .map(|bytes| (bytes, request.client.clone())),
            Exchange::Further => further::issue(settings, principals, &request, clock, memory, shares)
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
fn service<'a>(
    settings: &Settings,
    principals: &'a Principals,
    request: &'a Request,
) -> Result<Known<'a>, Code> {
    let service = known(principals, request.service.as_ref()).ok_or(Code::ServiceUnknown)?;
    // Only tickets for krbtgt can be validated, so another one that begins later would never be worth anything.
    let is_krbtgt = service.name.text() == Some(krbtgt_of(settings));
    if request.options & flag::POSTDATED != 0 && !is_krbtgt {
        return Err(Code::CannotPostdate);
    }
    if service.principal.revoked {
        return Err(Code::ServiceRevoked);
    }
    // A ticket under a password's key would let its holder try passwords.
    if service.principal.salt.is_empty() { Ok(service) } else { Err(Code::NoService) }
}

/// The name of the service whose tickets give others.
fn krbtgt_of(settings: &Settings) -> String {
    format!("krbtgt/{}", settings.realm)
}

/// What both exchanges refuse.
fn common(settings: &Settings, request: &Request) -> Result<(), Code> {
    if request.realm != settings.realm {
        return Err(Code::WrongRealm);
    }
    if request.options & flag::REFUSED != 0 || request.wants_more {
        return Err(Code::BadOption);
    }
    if !request.etypes.contains(&settings.enctype.number()) {
        return Err(Code::EtypeUnsupported);
    }
    Ok(())
}

/// Refuses a ticket and a reply that no program is for.
fn fits(grant: &messages::Grant<'_>, ticket: (&[u8], Form), part: (&[u8], Form)) -> Result<(), Code> {
    let sealed = [ticket, part].map(|(plain, _)| grant.enctype.sealed_bytes(plain.len()));
    fit(grant.enctype, &sealed, 0)?;
    // Whatever has room has its key where a circuit can put it; it is checked all the same.
    if circuits::fits(true, ticket.1) && circuits::fits(false, part.1) { Ok(()) } else { Err(Code::TooLong) }
}

/// When a ticket begins and ends, and until when it can be renewed, with the flags that say so.
struct Times {
    starttime: Option<i64>,
    endtime: i64,
    renew_till: Option<i64>,
    flags: u32,
}

/// What a request says of times, for a ticket that can be no longer than `latest` from its beginning, and be renewed no longer
/// than `renewable`, if at all.
fn times(
    settings: &Settings,
    request: &Request,
    latest: i64,
    renewable: Option<i64>,
    now: i64,
) -> Result<Times, Code> {
    let mut flags = request.options & flag::MAY_POSTDATE;
    let mut starttime = None;
    if request.options & flag::POSTDATED != 0 {
        let from =
            request.from.filter(|from| *from >= now - settings.max_skew).ok_or(Code::CannotPostdate)?;
        if from > now + settings.max_renewable_life {
            return Err(Code::Policy);
        }
        // However soon that is (RFC 4120, section 3.1.3): clients refuse a ticket that begins at another time.
        flags |= flag::POSTDATED | flag::INVALID;
        starttime = Some(from);
    } else if request.from.is_some_and(|from| from > now + settings.max_skew) {
        return Err(Code::CannotPostdate);
    }
    let start = starttime.unwrap_or(now);
    let latest = latest.saturating_add(start);
    let endtime = if request.till == 0 { latest } else { latest.min(request.till) };
    if endtime <= start {
        return Err(Code::NeverValid);
    }
    let wished = match request.rtime {
        Some(rtime) if request.options & flag::RENEWABLE != 0 && rtime != 0 => Some(rtime),
        _ if request.options & flag::RENEWABLE != 0 => Some(i64::MAX),
        _ if request.options & flag::RENEWABLE_OK != 0 && request.till > endtime => Some(request.till),
        _ => None,
    };
    let renew_till =
        wished.zip(renewable).map(|(wished, most)| wished.min(most)).filter(|till| *till > endtime);
    if renew_till.is_some() {
        flags |= flag::RENEWABLE;
    }
    Ok(Times { starttime, endtime, renew_till, flags })
}
