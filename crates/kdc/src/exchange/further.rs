//! The TGS exchange: who has a ticket for krbtgt gets one for another service.

use super::{Given, Known, Refusal, Shares, ending, known, service};
use crate::circuits::Sizes;
use crate::enctype::{CONFOUNDER, Enctype};
use crate::messages::{
    ApRequest, Authenticator, Code, Encrypted, Exchange, Grant, Name, Request, TicketPart, flag, padata,
    ticket_key_at,
};
use crate::realm::{Principals, Settings};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Bytes that a request's body may have.
const MAX_BODY: usize = 512;
/// Authenticators that are remembered at most; while so many are new, no other is taken.
const MAX_REPLAYS: usize = 1 << 20;

/// Authenticators that came already, by hash, with the time that they say.
#[derive(Debug, Default)]
pub struct Replays(HashMap<[u8; 32], i64>);

impl Replays {
    /// Whether an authenticator is new; then it isn't any more.
    fn is_new(&mut self, authenticator: &[u8], time: i64, now: i64, max_skew: i64) -> bool {
        if self.0.len() >= MAX_REPLAYS {
            self.0.retain(|_, time| time.abs_diff(now) <= max_skew.unsigned_abs());
        }
        let hash = Sha256::digest(authenticator).into();
        self.0.len() < MAX_REPLAYS && self.0.insert(hash, time).is_none()
    }
}

/// The reply, and whose ticket it is.
pub(super) fn issue(
    settings: &Settings,
    principals: &Principals,
    request: &Request,
    clock: i64,
    replays: &mut Replays,
    shares: &mut dyn Shares,
) -> Result<(Vec<u8>, Name), Refusal> {
    let refuse = |code| Refusal::new(code, clock);
    let (enctype, realm) = (settings.enctype, settings.realm.as_str());
    let service = service(principals, request).map_err(refuse)?;
    let given = request.padata(padata::TICKET).ok_or_else(|| refuse(Code::PadataUnsupported))?;
    let asked = ApRequest::read(given).map_err(|_| refuse(Code::Generic))?;
    let krbtgt = krbtgt(settings, principals, &asked).map_err(refuse)?;
    let given = sealed(enctype, asked.ticket, asked.authenticator)
        .filter(|given| request.body.len() <= MAX_BODY && is_somebodys(settings, principals, given.sizes))
        .ok_or_else(|| refuse(Code::BadIntegrity))?;
    let krbtgt = krbtgt.principal.record.as_str();

    let aborted = |error| Refusal::aborted(error, clock);
    let (right, now) = shares.verify_further(krbtgt, given).map_err(aborted)?;
    let refuse = |code| Refusal::new(code, now);
    if !right {
        return Err(refuse(Code::BadIntegrity));
    }
    let ticket = shares.open_ticket(krbtgt, given).map_err(aborted)?;
    let ticket = TicketPart::read(&ticket, enctype, realm).map_err(|_| refuse(Code::BadIntegrity))?;
    if ticket.endtime <= now {
        return Err(refuse(Code::TicketExpired));
    }
    // A client that was struck off has tickets still.
    match principals.find(&ticket.client) {
        None => return Err(refuse(Code::ClientUnknown)),
        Some(client) if client.revoked => return Err(refuse(Code::ClientRevoked)),
        Some(_) => {}
    }
    let plain = given.sizes.authenticator - CONFOUNDER - enctype.mac_bytes();
    let expected = Authenticator::expected(enctype, realm, &ticket.client, plain)
        .ok_or_else(|| refuse(Code::BadMatch))?;
    let opened = shares.open_authenticator(krbtgt, given, expected.layout).map_err(aborted)?;
    let time = expected.time(&opened).map_err(|_| refuse(Code::BadMatch))?;
    if time.abs_diff(now) > settings.max_skew.unsigned_abs() {
        return Err(refuse(Code::Skew));
    }
    if !replays.is_new(given.authenticator, time, now, settings.max_skew) {
        return Err(refuse(Code::Repeat));
    }
    let endtime = ending(request, ticket.endtime.min(now + settings.max_life), now)?;

    let grant = Grant {
        realm,
        client: &ticket.client,
        service: service.name,
        enctype,
        flags: flag::PRE_AUTHENT,
        authtime: ticket.authtime,
        endtime,
    };
    let (new, new_form) = grant.ticket_part();
    let (part, part_form) = grant.reply_part(Exchange::Further, request.nonce);
    let asked = (given, expected.layout, &request.body[..]);
    let sealed = shares
        .reply_further(krbtgt, &service.principal.record, asked, (&new, new_form), (&part, part_form))
        .map_err(aborted)?;
    let new = sealed.ok_or_else(|| refuse(Code::Modified))?;
    let reply = grant.further_reply((service.principal.kvno, &new.ticket), &new.part);
    Ok((reply, ticket.client))
}

/// krbtgt, if the ticket is for it.
fn krbtgt<'a>(
    settings: &Settings,
    principals: &'a Principals,
    asked: &'a ApRequest<'_>,
) -> Result<Known<'a>, Code> {
    let text = asked.service.text();
    let is_ours = asked.realm == settings.realm && text == Some(format!("krbtgt/{}", settings.realm));
    let krbtgt = known(principals, Some(&asked.service)).filter(|_| is_ours).ok_or(Code::NotUs)?;
    if asked.ticket.kvno == Some(krbtgt.principal.kvno as i64) {
        Ok(krbtgt)
    } else {
        Err(Code::BadKeyVersion)
    }
}

/// Ticket and authenticator, if they are of the realm's type and of a length that they can have.
fn sealed<'a>(enctype: Enctype, ticket: Encrypted<'a>, authenticator: Encrypted<'a>) -> Option<Given<'a>> {
    let fits = |sealed: Encrypted<'_>| {
        let plain = sealed.cipher.len().checked_sub(CONFOUNDER + enctype.mac_bytes())?;
        (sealed.etype == enctype.number() && plain > 0).then_some(plain)
    };
    let key_at = ticket_key_at(enctype, fits(ticket)?)?;
    fits(authenticator)?;
    let (ticket, authenticator) = (ticket.cipher, authenticator.cipher);
    let sizes = Sizes { ticket: ticket.len(), key_at, authenticator: authenticator.len() };
    Some(Given { ticket, authenticator, sizes })
}

/// Whether any principal has tickets and authenticators of these lengths. What strangers send has servers compile programs for
/// such lengths alone.
fn is_somebodys(settings: &Settings, principals: &Principals, sizes: Sizes) -> bool {
    let (enctype, realm) = (settings.enctype, settings.realm.as_str());
    let overhead = enctype.sealed_bytes(0);
    principals.names().any(|client| {
        let (flags, authtime, endtime) = (0, 0, 0);
        let grant = Grant { realm, client: &client, service: &client, enctype, flags, authtime, endtime };
        let authenticator = sizes.authenticator - overhead;
        grant.ticket_part().1.bytes == sizes.ticket - overhead
            && Authenticator::expected(enctype, realm, &client, authenticator).is_some()
    })
}
