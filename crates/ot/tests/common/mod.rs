//! Parties of a world that make OTs, each in a thread.

// Not every test file uses all of it.
#![allow(dead_code)]

use tacit_net::Counters;
use tacit_ot::{Choices, Form, Ot, Params, Received, Request, Roles, Sent, Sink};
use tacit_session::{Agreement, Error, Phase, Session};
use tacit_testkit::{Draws, World, party_names};

/// Lets every party of a world do its part, each in a thread.
pub(crate) fn play<T: Send>(
    world: &World,
    parties: usize,
    params: &Params,
    draws: &Draws,
    part: impl Fn(&mut Session) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    let agreement = Agreement::among(party_names(parties), "ot", params.to_string());
    tacit_testkit::play(world.transports(), &agreement, draws, part)
}

/// OTs that a party has with one peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    /// As sender: both values of each.
    pub(crate) sent: [Vec<u128>; 2],
    /// As receiver: the choices, and what was chosen.
    pub(crate) choices: Vec<u64>,
    pub(crate) values: Vec<u128>,
}

/// Keeps OTs by peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keep(pub(crate) Vec<Kept>);

impl Keep {
    pub(crate) fn of(parties: usize) -> Self {
        Self(vec![Kept::default(); parties])
    }
}

impl Sink for Keep {
    fn sent(&mut self, ots: Sent<'_>) {
        let kept = &mut self.0[ots.peer];
        assert_eq!(kept.sent[0].len(), ots.first, "OTs come in order");
        kept.sent[0].extend_from_slice(ots.zeros);
        kept.sent[1].extend_from_slice(ots.ones);
    }

    fn received(&mut self, ots: Received<'_>) {
        let kept = &mut self.0[ots.peer];
        assert_eq!(kept.values.len(), ots.first, "OTs come in order");
        kept.values.extend_from_slice(ots.values);
        kept.choices.extend_from_slice(ots.choices);
    }
}

/// What a party has at the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Had {
    pub(crate) ots: Keep,
    pub(crate) counters: Counters,
}

/// A whole run: a setup with all others, in the setup phase, and OTs, offline.
pub(crate) fn run(
    session: &mut Session,
    roles: Roles,
    params: Params,
    count: usize,
    given: Option<&[u64]>,
    form: Form,
) -> Result<Had, Error> {
    let (me, parties) = (session.me(), session.parties());
    let others: Vec<usize> = (0..parties).filter(|&party| party != me).collect();
    let mut ot = Ot::setup(session, &others, roles, params, 0)?;
    session.mesh().set_phase(Phase::Offline);
    let mut ots = Keep::of(parties);
    let all: Vec<&[u64]> = others.iter().map(|_| given.unwrap_or_default()).collect();
    let choices = if given.is_some() { Choices::Given(&all) } else { Choices::Random };
    ot.extend(session, &Request { op: 1, count, choices, form }, &mut ots)?;
    Ok(Had { ots, counters: session.mesh().counters() })
}

/// Whether the OTs that a party sent and another one received are `count`, and fit.
pub(crate) fn fit(sender: &Had, receiver: &Had, [from, to]: [usize; 2], count: usize) -> bool {
    let (sent, received) = (&sender.ots.0[to].sent, &receiver.ots.0[from]);
    let long = [sent[0].len(), sent[1].len(), received.values.len()] == [count; 3];
    let bit = |i: usize| (received.choices[i / 64] >> (i % 64) & 1) as usize;
    long && (0..count).all(|i| received.values[i] == sent[bit(i)][i] && sent[0][i] != sent[1][i])
}
