//! A party's state, and which operation goes where.

use crate::reads::Reads;
use crate::verified::Verified;
use crate::{PARTIES, ZeroSharing, next, prev};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tacit_engine::bank::{Bank, Part, row_words};
use tacit_engine::cross::RightMatrices;
use tacit_engine::profile::{Section, section};
use tacit_engine::tile::Tiles;
use tacit_engine::{Clear, Engine, Error, Job, Participants};
use tacit_program::plan::{Domain, Local, OpKind, Plan, Reg, Width};
use tacit_session::{At, Draw, PrssStream, Session, step};

/// One party of three.
pub(crate) struct ReplicatedEngine {
    pub(crate) session: Session,
    pub(crate) plan: Arc<Plan>,
    pub(crate) participants: Participants,
    pub(crate) zero_sharing: ZeroSharing,
    /// `i` of `P_i`.
    pub(crate) me: usize,
    /// Components `x_i`.
    pub(crate) own: Bank,
    /// Components `x_(i-1)`.
    pub(crate) prev: Bank,
    /// Which components this party's part of the plan reads.
    reads: Reads,
    /// For every client the streams of `x_0` and `x_1`, as far as this party has them.
    pub(crate) clients: HashMap<usize, ClientStreams>,
    /// The right matrices of the product that is being computed.
    pub(crate) right: RightMatrices,
    /// The circuits' tiles that are under way.
    pub(crate) tiles: Tiles,
    /// What is still to be verified, in the protocol that does so.
    pub(crate) verified: Option<Verified>,
}

/// The streams that a client's components `x_0` and `x_1` come from: `P_0` has the first, `P_2` the second, `P_1` both.
pub(crate) struct ClientStreams {
    pub(crate) zero: Option<PrssStream>,
    pub(crate) one: Option<PrssStream>,
}

impl ReplicatedEngine {
    pub(crate) fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        zero_sharing: ZeroSharing,
        verified: Option<Verified>,
    ) -> Result<Self, Error> {
        if session.parties() != PARTIES {
            return Err(Error::Refused(format!(
                "replicated sharing is for three parties; this deployment has {}",
                session.parties()
            )));
        }
        let me = session.me();
        let bank = |component: usize| Bank::new(plan.clone(), Part::Component(component as u8));
        let (mut own, mut prev) = (bank(me), bank(prev(me)));
        own.reserve();
        prev.reserve();
        Ok(Self {
            me,
            own,
            prev,
            reads: Reads::new(&plan, me),
            clients: HashMap::new(),
            right: RightMatrices::default(),
            tiles: Tiles::new(2),
            session,
            plan,
            participants,
            zero_sharing,
            verified,
        })
    }

    /// The streams of `k_i` and `k_(i-1)`.
    pub(crate) fn keys(&mut self) -> (&mut PrssStream, &mut PrssStream) {
        self.session.two_streams(next(self.me), prev(self.me))
    }

    /// A vector's domain.
    pub(crate) fn domain(&self, reg: Reg) -> Domain {
        self.plan.register(reg).domain
    }

    /// The stream that this party shares with `peer`.
    pub(crate) fn key(&mut self, peer: usize) -> &mut PrssStream {
        self.session.stream(peer)
    }

    pub(crate) fn width(&self, reg: Reg) -> Width {
        match self.plan.register(reg).domain {
            Domain::Ring(width) => width,
            Domain::Bits | Domain::Modular(_) => unreachable!("lowering gives conversions rings of words"),
        }
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

/// The words of a row that hold columns `cols`; the last ones to the row's end.
pub(crate) fn words_of(cols: &Range<usize>, total: usize) -> Range<usize> {
    let end = if cols.end == total { row_words(total) } else { cols.end / 64 };
    cols.start / 64..end
}

impl Engine for ReplicatedEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.session)
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        self.give_input(input, values)
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        self.take_input(input)
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        let mesh = self.session.mesh();
        let mut tick = || Ok(mesh.tick()?);
        section(Section::Gates, || {
            if self.reads.own(step.writes()) {
                self.own.run(step, &mut tick)?;
            }
            if self.reads.prev(step.writes()) {
                self.prev.run(step, &mut tick)?;
            }
            Ok(())
        })
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.plan.clone();
        match &plan.ops[job.op as usize].kind {
            &OpKind::And { a, b, dst } => self.and_begin(job, a, b, dst),
            &OpKind::Mul { a, b, dst } => self.mul_begin(job, a, b, dst),
            &OpKind::MatMul { a, b, shape, dst } => self.matmul_begin(job, a, b, shape, dst),
            &OpKind::Split { a, bits, s } => self.split_begin(job, a, bits, s),
            &OpKind::Inject { a, dst } => self.inject_begin(job, a, dst),
            &OpKind::Shift { a, by, dst } => self.shift_begin(job, a, by, dst),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            OpKind::Msb { .. } => unreachable!("lowering takes signs by circuits here"),
        }
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let awaited: &[usize] = match (&self.plan.ops[job.op as usize].kind, self.me, job.stage) {
            (
                OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. } | OpKind::Circuit { .. },
                me,
                _,
            ) => match self.zero_sharing {
                ZeroSharing::Computational => &[prev(me)],
                ZeroSharing::InformationTheoretic => &[prev(me), next(me)],
            },
            (OpKind::Split { .. }, 0, _) => &[1],
            (OpKind::Inject { .. } | OpKind::Shift { .. }, 0, 0) => &[1, 2],
            (OpKind::Inject { .. } | OpKind::Shift { .. }, 2, 1) => &[0],
            (
                OpKind::Split { .. } | OpKind::Inject { .. } | OpKind::Shift { .. } | OpKind::Msb { .. },
                ..,
            ) => &[],
        };
        for &peer in awaited {
            if !self.session.mesh().arrived(peer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.plan.clone();
        match &plan.ops[job.op as usize].kind {
            &OpKind::And { dst, .. } => self.and_finish(job, dst),
            &OpKind::Mul { dst, .. } => self.mul_finish(job, dst),
            &OpKind::MatMul { shape, dst, .. } => self.matmul_finish(job, shape, dst),
            &OpKind::Split { bits, s, .. } => self.split_finish(job, bits, s),
            &OpKind::Inject { a, dst } => self.inject_finish(job, a, dst),
            &OpKind::Shift { a, dst, .. } => self.shift_finish(job, a, dst),
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, circuit),
            OpKind::Msb { .. } => unreachable!("lowering takes signs by circuits here"),
        }
    }

    fn free(&mut self, reg: Reg) {
        self.own.free(reg);
        self.prev.free(reg);
    }

    fn check(&mut self) -> Result<(), Error> {
        match &mut self.verified {
            None => Ok(self.session.compare_draws(&[])?),
            Some(verified) => verified.check(&mut self.session, &self.plan, &self.participants),
        }
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        self.offer_output(output)
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        self.reveal_output(output)
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        if let Some(verified) = &mut self.verified {
            verified.next(&plan)?;
        }
        self.own.next(plan.clone());
        self.prev.next(plan.clone());
        self.reads = Reads::new(&plan, self.me);
        // Clients give new seeds.
        self.clients.clear();
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}
