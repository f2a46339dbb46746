//! Which outputs are refused: those for clients, and those that are too large to be opened at once.
//!
//! A party takes each component that it lacks from two senders, in turn and by one deadline. So what one of them opens has
//! to be in the inbox while the other one, who may send nothing, is waited for: beyond `inbox_bytes` the link would be
//! held, and the rest come too late. And it has to pass within one limit of silence, computing included: that so much does
//! is what parties agree to that agree on both limits.

use super::terms::{OPENING, REPORT, SIGNAL};
use crate::planted::{Mistake, planted};
use crate::seats::Seats;
use tacit_engine::wire::{message_bytes, pieces};
use tacit_engine::{Error, Participants};
use tacit_program::plan::{OutputOp, Plan};
use tacit_session::{Limits, Session};
use tacit_threeparty::PARTIES;
use tacit_threeparty::hiding::clients_learn;

/// Refuses outputs that no party could be sure a client has, nor the client.
pub(crate) fn refuse_clients(plan: &Plan, participants: &Participants) -> Result<(), Error> {
    if clients_learn(plan, participants) {
        let refused = "protocol \"astra-fair\" reveals outputs to parties alone, and this plan reveals one to a client; reveal it to \
             the parties: reveal(..., to=[\"P0\", \"P1\", \"P2\"]), by the names that they have in parties.toml";
        return Err(Error::Refused(refused.into()));
    }
    Ok(())
}

/// Refuses outputs of which a party is opened more than its inbox holds, and messages that links don't carry.
///
/// All parties have the same inboxes, and so all refuse.
pub(crate) fn refuse_large(
    seats: Seats,
    plan: &Plan,
    participants: &Participants,
    session: &Session,
) -> Result<(), Error> {
    let limits = session.limits();
    for role in (0..PARTIES).filter(|_| !planted(Mistake::LargeOutputs)) {
        let party = seats.party(role);
        let lengths: Vec<usize> = lengths(plan, |output| participants.learns(party, output.to)).collect();
        let (bytes, longest) =
            (Limits::inbox_bytes(lengths.iter().copied()), lengths.iter().max().copied().unwrap_or_default());
        if bytes > limits.inbox {
            let (name, inbox) = (session.name(party), limits.inbox);
            return Err(Error::Refused(format!(
                "protocol \"astra-fair\" opens outputs all at once, and those of {name} take {bytes} bytes of its inbox, which \
                 has {inbox}; raise inbox_bytes under [limits] in every party's parties.toml (so much has to pass within \
                 silence_seconds), or reveal less in a run"
            )));
        }
        if longest > limits.frame {
            let frame = limits.frame;
            return Err(Error::Refused(format!(
                "outputs travel in messages of {longest} bytes, and this party takes no more than frame_bytes = {frame} under \
                 [limits] in its parties.toml; raise it"
            )));
        }
    }
    Ok(())
}

/// The lengths of all that a link may carry before its receiver comes to it, which learns these outputs.
fn lengths(plan: &Plan, learns: impl Fn(&OutputOp) -> bool) -> impl Iterator<Item = usize> {
    let learned = plan.outputs.iter().filter(move |output| learns(output));
    let messages = learned.flat_map(|output| {
        let shape = plan.register(output.reg);
        pieces(shape).map(move |(_, range)| message_bytes(shape.domain, range.len()))
    });
    [SIGNAL, REPORT, OPENING].into_iter().chain(messages)
}
