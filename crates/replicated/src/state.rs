//! A party's state, and where its messages and draws are.

use crate::checks::Verified;
use crate::reads::Reads;
use crate::scheme::SCHEME;
use crate::step;
use crate::zero_sharing::ZeroSharing;
use std::collections::HashMap;
use std::sync::Arc;
use tacit_engine::{Error, Job, Participants};
use tacit_program::plan::Plan;
use tacit_session::{At, Draw, PrssStream, Session};
use tacit_threeparty::{Party, Scheme};

/// One party of three.
pub(crate) struct ReplicatedEngine {
    pub(crate) party: Party,
    pub(crate) zero_sharing: ZeroSharing,
    /// `i` of `P_i`, which holds `x_i` and `x_(i-1)`.
    pub(crate) me: usize,
    /// Which components this party's part of the plan reads.
    pub(crate) reads: Reads,
    /// For every client the streams of the components of its inputs that this party holds.
    pub(crate) clients: HashMap<usize, Vec<(usize, PrssStream)>>,
    /// Checks that are still to come in the run.
    pub(crate) checks: u64,
    /// What is still to be verified, in the protocol that does so.
    pub(crate) verified: Option<Verified>,
    /// For shuffles under way, the orders of their next turns, of which this party knows them.
    pub(crate) orders: HashMap<u32, Vec<u32>>,
}

impl ReplicatedEngine {
    pub(crate) fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        zero_sharing: ZeroSharing,
        verified: Option<Verified>,
    ) -> Result<Self, Error> {
        let scheme = Scheme { confirmed: verified.is_some(), ..SCHEME };
        let party = Party::new(session, plan, participants, scheme)?;
        let (me, reads) = (party.number, Reads::new(&party.plan, party.number));
        let checks = party.plan.checks();
        let (clients, orders) = (HashMap::new(), HashMap::new());
        Ok(Self { party, zero_sharing, me, reads, clients, checks, verified, orders })
    }

    /// The stream that this party shares with `peer`.
    pub(crate) fn key(&mut self, peer: usize) -> &mut PrssStream {
        self.party.session.stream(peer)
    }

    /// A message's address in a job.
    pub(crate) fn at(job: &Job) -> At {
        At { lane: 0, part: step::OPERATION + job.stage as u16, op: job.op, batch: job.batch }
    }

    /// The address of a job's randomness; `which` of an operation's draws.
    pub(crate) fn draw(job: &Job, which: u16) -> Draw {
        Draw { part: step::OPERATION + 16 * (1 + which) + job.stage as u16, op: job.op }
    }
}
