//! The AS exchange: who has a long-term key gets a ticket.

use super::{Memory, Refusal, Shares, Times, fits, known, service, times};
use crate::der::Reader;
use crate::enctype::{CONFOUNDER, Enctype};
use crate::messages::{self, Code, Encrypted, Exchange, Grant, Request, flag, padata};
use crate::realm::{Principals, Settings};

/// Bytes that a PA-ENC-TS-ENC may have, without and with microseconds.
const TIMESTAMP: std::ops::RangeInclusive<usize> = 21..=28;

pub(super) fn issue(
    settings: &Settings,
    principals: &Principals,
    request: &Request,
    clock: i64,
    memory: &Memory,
    shares: &mut dyn Shares,
) -> Result<Vec<u8>, Refusal> {
    let refuse = |code| Refusal::new(code, clock);
    let enctype = settings.enctype;
    let client = known(principals, request.client.as_ref()).ok_or_else(|| refuse(Code::ClientUnknown))?;
    let service = service(settings, principals, request).map_err(refuse)?;
    if client.principal.revoked {
        return Err(refuse(Code::ClientRevoked));
    }
    let name = client.name.text().unwrap_or_default();
    let hashed = (client.principal.salt.as_str(), client.principal.iterations);
    if request.options & (flag::RENEW | flag::VALIDATE) != 0 {
        // Those are for tickets.
        return Err(refuse(Code::BadOption));
    }
    let with_methods = |code, now| {
        let data = Some(messages::methods(enctype, hashed));
        Refusal { data, ..Refusal::new(code, now) }
    };
    let given =
        request.padata(padata::TIMESTAMP).ok_or_else(|| with_methods(Code::PreauthRequired, clock))?;
    let sealed = sealed_timestamp(enctype, given).ok_or_else(|| with_methods(Code::PreauthFailed, clock))?;

    // Each counts as wrong until it is known to be right: so no more are under way than may be wrong. A run that ends without a
    // verdict stays one: a server that deviates could have learned it.
    if !memory.failures().admit(&name, settings.max_wrong_passwords, clock) {
        return Err(refuse(Code::ClientRevoked));
    }
    let aborted = |error| Refusal::aborted(error, clock);
    let verified = shares.verify(&client.principal.record, sealed);
    if matches!(verified, Ok((Some(_), _))) {
        memory.failures().take_back(&name, clock);
    }
    let (timestamp, now) = verified.map_err(aborted)?;
    let Some(Ok(timestamp)) = timestamp.map(|timestamp| messages::read_timestamp(&timestamp)) else {
        return Err(with_methods(Code::PreauthFailed, now));
    };
    if timestamp.abs_diff(now) > settings.max_skew.unsigned_abs() {
        return Err(Refusal::new(Code::Skew, now));
    }
    // Its key tells who it is, and is too old: a ticket for changing it is none of this KDC's to give.
    let age = now.saturating_sub(client.principal.keyed);
    if !hashed.0.is_empty() && settings.max_password_age > 0 && age > settings.max_password_age {
        return Err(Refusal::new(Code::KeyExpired, now));
    }
    let renewable = now + settings.max_renewable_life;
    let times = times(settings, request, settings.max_life, Some(renewable), now);
    let Times { starttime, endtime, renew_till, flags } = times.map_err(|code| Refusal::new(code, now))?;

    let grant = Grant {
        realm: &settings.realm,
        client: client.name,
        service: service.name,
        enctype,
        flags: flag::INITIAL | flag::PRE_AUTHENT | flags,
        authtime: now,
        starttime,
        endtime,
        renew_till,
    };
    let (ticket, ticket_form) = grant.ticket_part();
    let (part, part_form) = grant.reply_part(Exchange::Initial, request.nonce);
    fits(&grant, (&ticket, ticket_form), (&part, part_form)).map_err(|code| Refusal::new(code, now))?;
    let new = shares
        .reply(
            &service.principal.record,
            &client.principal.record,
            (&ticket, ticket_form),
            (&part, part_form),
        )
        .map_err(aborted)?;
    let (service, client) = (service.principal.kvno, client.principal.kvno);
    Ok(grant.initial_reply((service, &new.ticket), (client, &new.part), hashed))
}

/// The ciphertext of an encrypted timestamp of the realm's type, if its length is that of one.
fn sealed_timestamp(enctype: Enctype, given: &[u8]) -> Option<&[u8]> {
    let sealed = Encrypted::read(&mut Reader::new(given)).ok()?;
    let plain = sealed.cipher.len().checked_sub(CONFOUNDER + enctype.mac_bytes())?;
    (sealed.etype == enctype.number() && TIMESTAMP.contains(&plain)).then_some(sealed.cipher)
}
