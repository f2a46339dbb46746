//! A party's state, and where its messages and draws are.

use crate::checks::Verified;
use crate::choice::Choice;
use crate::client_masks::ClientMasks;
use crate::draws::{Drawn, Walk};
use crate::fair::terms::Fair;
use crate::flat::Batch;
use crate::garbling;
use crate::planted::tell;
use crate::prepared::{Keys, Places, Prepared};
use crate::seats::{Seats, role_of};
use crate::step;
use std::sync::Arc;
use tacit_engine::tile::Tiles;
use tacit_engine::{Error, Job, Participants, Security, bank};
use tacit_kernel::Buffer;
use tacit_program::plan::{Domain, OpKind, Plan};
use tacit_session::{At, Draw, PrssStream, Session};
use tacit_threeparty::{PARTIES, Party};

/// One party of three.
pub(crate) struct AstraEngine {
    /// Its components, `x_2` and `x_1` of `P_0`, `x_1` and `m` of `P_1`, `m` and `x_2` of `P_2`. The square of the first
    /// is in its part of a product.
    pub(crate) party: Party,
    pub(crate) seats: Seats,
    /// `i` of `P_i`.
    pub(crate) me: usize,
    /// The part of a product that `P_0` is computing.
    pub(crate) part: Buffer,
    pub(crate) walk: Walk,
    /// The instance that is being made or run; none before.
    pub(crate) ahead: Option<Prepared>,
    /// The streams of the instance's keys, by role.
    pub(crate) streams: [PrssStream; PARTIES],
    /// Memory of the last instance.
    pub(crate) spare: Buffer,
    /// Whether addresses of this plan were used by an instance that was made.
    pub(crate) used: bool,
    /// The circuits' tiles that are under way of masks alone, of an evaluator that makes triples.
    pub(crate) mask_tiles: Tiles,
    /// Where the masks of clients' inputs come from.
    pub(crate) clients: Vec<ClientMasks>,
    /// What is still to be checked, in the protocol that does so.
    pub(crate) verified: Option<Verified>,
    /// What opens outputs, in the protocol that does so for all or nobody.
    pub(crate) fair: Option<Fair>,
}

impl AstraEngine {
    pub(crate) fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        choice: Choice,
    ) -> Result<Self, Error> {
        let (seats, verified) = (choice.seats, choice.is_verified());
        let party = Party::new(session, plan, participants, seats.scheme(verified))?;
        let me = role_of(party.number);
        let mut spare = Buffer::new(Places::new(&party.plan, me, verified).share_bytes());
        bank::touch(spare.bytes_mut());
        let streams = Keys::default().streams(party.session.lane());
        tell(step::HELLO, party.session.id());
        let verified = verified.then(|| Verified::new(me, seats, &party.plan, party.session.lanes()));
        Ok(Self {
            party,
            seats,
            me,
            part: Buffer::default(),
            walk: Walk::Online,
            ahead: None,
            streams,
            spare,
            used: false,
            mask_tiles: Tiles::new(1),
            clients: Vec::new(),
            verified,
            fair: (choice.security == Security::Fair).then(Fair::default),
        })
    }

    /// Where everything is that this party keeps.
    pub(crate) fn places(&self) -> Places {
        Places::new(&self.party.plan, self.me, self.verified.is_some()).promising(self.fair.is_some())
    }

    /// Whom this party sends its part of a product: `P_0` sends to `P_2`, and `P_1` and `P_2` to each other.
    pub(crate) fn receiver(&self) -> usize {
        self.seats.party(if self.me == 2 { 1 } else { 2 })
    }

    /// Whose part of a job this party receives in the walk that is on: `P_2` that of `P_0` offline, `P_1` and `P_2` each
    /// other's online.
    pub(crate) fn sender(&self, job: &Job) -> Option<usize> {
        let kind = &self.party.plan.op(job.op).kind;
        if matches!(kind, OpKind::Msb { .. }) && !garbling::receives(self.me, job.stage) {
            return None;
        }
        match (self.walk, self.me) {
            // Where triples are made, shares are taken with them.
            (Walk::Offline, 2) if self.verified.is_none() => Some(self.seats.party(0)),
            (Walk::Online, 1 | 2) => Some(self.receiver()),
            _ => None,
        }
    }

    /// Which of the components `x_1` and `x_2` this party holds.
    pub(crate) fn held_masks(&self) -> std::ops::RangeInclusive<usize> {
        if self.me == 0 { 1..=2 } else { self.me..=self.me }
    }

    /// Whether this party has no part in the walk that is on: only `P_0` computes offline, and it doesn't online. Where
    /// products are checked, all compute in both.
    pub(crate) fn idle(&self) -> bool {
        self.verified.is_none() && (self.walk == Walk::Offline) != (self.me == 0)
    }

    /// Whether this party walks on masks that it holds one of.
    pub(crate) fn has_one_mask(&self) -> bool {
        self.walk == Walk::Offline && self.me != 0
    }

    /// What is still to be checked. Asked for only where something is.
    pub(crate) fn verified(&mut self) -> &mut Verified {
        self.verified.as_mut().expect("only the protocol that checks products makes triples")
    }

    /// A message's address in a job.
    pub(crate) fn address(&self, job: &Job) -> At {
        let ahead = if self.walk == Walk::Offline { step::OFFLINE } else { 0 };
        At { lane: 0, part: step::OPERATION + job.stage as u16 + ahead, op: job.op, batch: job.batch }
    }

    /// The address of a job's randomness.
    pub(crate) fn draw(job: &Job, drawn: Drawn) -> Draw {
        Draw { part: step::OPERATION + 16 * (1 + drawn as u16) + job.stage as u16, op: job.op }
    }

    /// Products of a job, whose draws and messages are the operation's.
    pub(crate) fn batch(job: &Job, domain: Domain, count: usize, first: usize) -> Batch {
        let at = At { lane: 0, part: step::OPERATION + job.stage as u16, op: job.op, batch: job.batch };
        Batch { domain, count, op: job.op, first, draws: (Self::draw(job, Drawn::Mask), 16), at }
    }

    /// The instance that is being made or run.
    pub(crate) fn ahead(&mut self) -> Result<&mut Prepared, Error> {
        self.ahead.as_mut().ok_or_else(no_material)
    }
}

/// A walk on masked values that nothing was made for.
pub(crate) fn no_material() -> Error {
    Error::Refused("no material was loaded".to_owned())
}
