//! The TGS exchange: who has a ticket for krbtgt gets one for another service.

use super::{Given, Memory, Refusal, Shares, Times, fit, fits, known, krbtgt_of, service, times};
use crate::circuits::{self, Form};
use crate::enctype::{CONFOUNDER, Enctype};
use crate::messages::{
    ApRequest, Authenticator, Code, Encrypted, Exchange, Grant, Name, Request, TicketPart, flag, padata,
    ticket_key_at,
};
use crate::realm::{Principals, Settings};

/// The reply, and whose ticket it is.
pub(super) fn issue(
    settings: &Settings,
    principals: &Principals,
    request: &Request,
    clock: i64,
    memory: &Memory,
    shares: &mut dyn Shares,
) -> Result<(Vec<u8>, Name), Refusal> {
    let refuse = |code| Refusal::new(code, clock);
    let (enctype, realm) = (settings.enctype, settings.realm.as_str());
    let service = service(settings, principals, request).map_err(refuse)?;
    let given = request.padata(padata::TICKET).ok_or_else(|| refuse(Code::PadataUnsupported))?;
    let asked = ApRequest::read(given).map_err(|_| refuse(Code::Generic))?;
    if asked.version != 5 || asked.kind != 14 {
        return Err(refuse(if asked.version == 5 { Code::MessageType } else { Code::BadVersion }));
    }
    let krbtgt = krbtgt(settings, principals, &asked, clock).map_err(refuse)?;
    let given =
        sealed(enctype, asked.ticket, asked.authenticator).ok_or_else(|| refuse(Code::BadIntegrity))?;
    if memory.replays().has(given.authenticator) {
        return Err(refuse(Code::Repeat));
    }
    fit(enctype, &[given.ticket.len(), given.authenticator.len()], request.body.len()).map_err(refuse)?;

    let aborted = |error| Refusal::aborted(error, clock);
    let (ticket, now) = shares.verify_further(krbtgt, given).map_err(aborted)?;
    let refuse = |code| Refusal::new(code, now);
    let ticket = ticket.ok_or_else(|| refuse(Code::BadIntegrity))?;
    let ticket = TicketPart::read(&ticket, enctype, realm).map_err(|_| refuse(Code::BadIntegrity))?;
    if ticket.endtime <= now {
        return Err(refuse(Code::TicketExpired));
    }
    // A client that was struck off has tickets still.
    match principals.find(&ticket.client) {
        None => return Err(refuse(Code::ClientUnknown)),
        Some(client) if client.revoked => return Err(refuse(Code::ClientRevoked)),
        // Nor are those of another one that had its name before.
        Some(client) if ticket.authtime < client.since => return Err(refuse(Code::ClientUnknown)),
        Some(client) => shares.relies_on(&client.record),
    }
    let plain = given.authenticator.len() - enctype.sealed_bytes(0);
    let expected = Authenticator::expected(enctype, realm, &ticket.client, plain).ok_or_else(|| {
        let bare = Authenticator::lacks_checksum(enctype, realm, &ticket.client, plain);
        refuse(if bare { Code::NoChecksum } else { Code::BadMatch })
    })?;
    let opened = shares.open_authenticator(krbtgt, given, expected.as_given()).map_err(aborted)?;
    let opened = opened.ok_or_else(|| refuse(Code::BadMatch))?;
    let time = expected.time(&opened).map_err(|_| refuse(Code::BadMatch))?;
    if time.abs_diff(now) > settings.max_skew.unsigned_abs() {
        return Err(refuse(Code::Skew));
    }
    let times = granted(settings, request, (&asked.service, &ticket), now).map_err(refuse)?;
    let grant = Grant {
        realm,
        client: &ticket.client,
        service: service.name,
        enctype,
        flags: flag::PRE_AUTHENT | times.flags,
        authtime: ticket.authtime,
        starttime: times.starttime,
        endtime: times.endtime,
        renew_till: times.renew_till,
    };
    let (new, new_form) = grant.ticket_part();
    let (part, part_form) = grant.reply_part(Exchange::Further, request.nonce);
    fits(&grant, (&new, new_form), (&part, part_form)).map_err(refuse)?;
    let sent = (given, expected.as_given(), &request.body[..]);
    let sealed = shares
        .reply_further(krbtgt, &service.principal.record, sent, (&new, new_form), (&part, part_form))
        .map_err(aborted)?;
    let new = sealed.ok_or_else(|| refuse(Code::Modified))?;
    // Only now: who sees a request could else have another one with its authenticator refused, and the honest one with it.
    if !memory.replays().note(given.authenticator, time, now, settings.max_skew) {
        return Err(refuse(Code::Repeat));
    }
    let reply = grant.further_reply((service.principal.kvno, &new.ticket), &new.part);
    Ok((reply, ticket.client))
}

/// What a ticket gives a right to: another one that ends no later, or itself again for as long as it lived, or from now on.
fn granted(
    settings: &Settings,
    request: &Request,
    (service, ticket): (&Name, &TicketPart),
    now: i64,
) -> Result<Times, Code> {
    let again = request.options & (flag::RENEW | flag::VALIDATE);
    let start = ticket.starttime.unwrap_or(ticket.authtime);
    if again == 0 {
        if ticket.flags & flag::INVALID != 0 || start > now + settings.max_skew {
            return Err(Code::NotYetValid);
        }
        let gives_later = ticket.flags & flag::MAY_POSTDATE != 0;
        if request.options & flag::POSTDATED != 0 && !gives_later {
            return Err(Code::CannotPostdate);
        }
        if request.options & flag::MAY_POSTDATE != 0 && !gives_later {
            return Err(Code::BadOption);
        }
        let renewable = ticket.renew_till.filter(|_| ticket.flags & flag::RENEWABLE != 0);
        let latest = ticket.endtime - now;
        let times = times(settings, request, latest.min(settings.max_life), renewable, now)?;
        let endtime = times.endtime.min(ticket.endtime);
        if endtime <= times.starttime.unwrap_or(now) {
            return Err(Code::NeverValid);
        }
        // It began now, and not when its client was authenticated: so it lives as long as it says when it is renewed.
        return Ok(Times { endtime, starttime: times.starttime.or(Some(now)), ..times });
    }
    // Only the ticket itself comes again.
    if request.service.as_ref().and_then(Name::text) != service.text() {
        return Err(Code::BadOption);
    }
    let kept = flag::INITIAL | flag::MAY_POSTDATE | flag::POSTDATED | flag::RENEWABLE;
    let (renew_till, flags) = (ticket.renew_till, ticket.flags & kept);
    if again & flag::VALIDATE != 0 {
        if ticket.flags & flag::INVALID == 0 {
            return Err(Code::BadOption);
        }
        if start > now {
            return Err(Code::NotYetValid);
        }
        return Ok(Times { starttime: ticket.starttime, endtime: ticket.endtime, renew_till, flags });
    }
    let is_renewable = ticket.flags & flag::RENEWABLE != 0 && ticket.flags & flag::INVALID == 0;
    let until = renew_till.filter(|_| is_renewable).ok_or(Code::BadOption)?;
    if until <= now {
        return Err(Code::TicketExpired);
    }
    let endtime = until.min(now + (ticket.endtime - start).min(settings.max_life));
    Ok(Times { starttime: Some(now), endtime, renew_till, flags })
}

/// krbtgt, if the ticket is for it.
fn krbtgt<'a>(
    settings: &Settings,
    principals: &'a Principals,
    asked: &'a ApRequest<'_>,
    clock: i64,
) -> Result<&'a str, Code> {
    let text = asked.service.text();
    let is_ours = asked.realm == settings.realm && text == Some(krbtgt_of(settings));
    let krbtgt = known(principals, Some(&asked.service)).filter(|_| is_ours).ok_or(Code::NotUs)?;
    if krbtgt.principal.revoked {
        return Err(Code::ServiceRevoked);
    }
    asked.ticket.kvno.and_then(|kvno| krbtgt.principal.key(kvno, clock)).ok_or(Code::BadKeyVersion)
}

/// Ticket and authenticator, if they are of the realm's type and of a length that they can have.
fn sealed<'a>(enctype: Enctype, ticket: Encrypted<'a>, authenticator: Encrypted<'a>) -> Option<Given<'a>> {
    let fits = |sealed: Encrypted<'_>| {
        let plain = sealed.cipher.len().checked_sub(CONFOUNDER + enctype.mac_bytes())?;
        (sealed.etype == enctype.number() && plain > CONFOUNDER).then_some(plain)
    };
    let bytes = fits(ticket)?;
    let key_at = ticket_key_at(enctype, bytes)?;
    fits(authenticator)?;
    // Of a key elsewhere a circuit would take zeros, which everybody has.
    circuits::fits(true, Form { bytes, key_at }).then_some(())?;
    Some(Given { ticket: ticket.cipher, authenticator: authenticator.cipher, key_at })
}
