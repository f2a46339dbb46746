//! Replicated bits among three parties, right or with a fault. At most 64 columns and one row to a register.

use std::sync::Arc;

use tacit_engine::bank::{Bank, Part};
use tacit_engine::{
    Checks, Clear, Client, Engine, Error, Job, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_program::Capabilities;
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::{InputOp, Local, OpKind, Plan, Reg};
use tacit_session::{At, Draw, Session, step};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Products of shares are sent as they are.
    NoMask,
    /// They are masked by the stream that sender and receiver share.
    KnownMask,
    /// All operations are masked by the first one's mask.
    SameMask,
    /// Only the first bit of a mask is random.
    OneBitOfMask,
    /// A bit of the mask is set only if another one is.
    BiasedMask,
    /// The last byte's unused bits carry something.
    Padding,
    /// A product of shares is missing.
    WrongTerm,
}

/// The protocol.
pub(crate) struct PlantedBits(pub(crate) Fault);

static SPEC: ProtocolSpec = ProtocolSpec {
    name: "planted-bits",
    parties: 3..=3,
    corruptions: Threshold::HonestMajority,
    security: Security::SemiHonest,
    source: "Araki et al. 2016",
};

const fn next(party: usize) -> usize {
    (party + 1) % 3
}

const fn prev(party: usize) -> usize {
    (party + 2) % 3
}

impl Protocol for PlantedBits {
    fn spec(&self) -> &ProtocolSpec {
        &SPEC
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::BITS
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        let around = |bits| (0..3).map(|from| Flow { from, to: next(from), bits }).collect();
        let (phase, flows): (Phase, Vec<Flow>) = match step {
            Step::Stage { op, .. } => (Phase::Online, around(op.kind.extent(plan) as u64)),
            Step::Output(output) => (Phase::Output, around(plan.register(output.reg).cols as u64)),
            Step::Seeds { .. } => (Phase::Input, vec![]),
            Step::Input(input) => {
                let from = participants.endpoint(input.owner);
                let bits = plan.register(input.reg).cols as u64;
                (Phase::Input, vec![Flow { from, to: prev(from), bits }])
            }
        };
        in_phase(phase, flows).collect()
    }

    fn checks(&self, _: &Plan, _: &Participants) -> Checks {
        Checks::default()
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        let bank = |component: usize| Bank::new(Arc::clone(&plan), Part::Component(component as u8));
        let (own, prev) = (bank(session.me()), bank(prev(session.me())));
        Ok(Box::new(Party { session, plan, participants, own, prev, fault: self.0, first_mask: None }))
    }

    fn client(&self, _: Session, _: Arc<Plan>, _: Participants) -> Result<Box<dyn Client>, Error> {
        Err(Error::Refused("there are no clients here".to_owned()))
    }
}

/// One party of three. `P_i` holds `x_i` (`own`) and `x_(i-1)` (`prev`).
struct Party {
    session: Session,
    plan: Arc<Plan>,
    participants: Participants,
    own: Bank,
    prev: Bank,
    fault: Fault,
    first_mask: Option<u64>,
}

impl Party {
    /// 64 bits of the stream shared with `peer`.
    fn draw(&mut self, peer: usize, part: u16, op: u32) -> u64 {
        let mut bytes = [0; 8];
        self.session.stream(peer).fill(Draw { part, op }, 0, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// `rho_i ^ rho_(i-1)`, or what the fault makes of it.
    fn mask(&mut self, op: u32) -> u64 {
        let me = self.session.me();
        let (own, prev) =
            (self.draw(next(me), step::OPERATION, op), self.draw(prev(me), step::OPERATION, op));
        match self.fault {
            Fault::None | Fault::Padding | Fault::WrongTerm => own ^ prev,
            Fault::NoMask => 0,
            Fault::KnownMask => own,
            Fault::SameMask => *self.first_mask.get_or_insert(own ^ prev),
            Fault::OneBitOfMask => (own ^ prev) & 1,
            Fault::BiasedMask => (own ^ prev) & (own >> 8 ^ prev >> 8),
        }
    }

    fn send(&mut self, to: usize, at: At, word: u64, cols: usize) -> Result<(), Error> {
        let unused = if self.fault == Fault::Padding { 0 } else { u64::MAX << cols };
        let message = (word & !unused).to_le_bytes();
        Ok(self.session.mesh().send(to, at, &message[..cols.div_ceil(8)])?)
    }

    fn recv(&mut self, from: usize, at: At, cols: usize) -> Result<u64, Error> {
        let message = self.session.mesh().recv(from, at, cols.div_ceil(8))?;
        Ok(message.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)) & !(u64::MAX << cols))
    }

    fn cols(&self, reg: Reg) -> usize {
        self.plan.register(reg).cols
    }
}

fn at(part: u16, op: u32) -> At {
    At { lane: 0, part, op, batch: 0 }
}

fn get(bank: &Bank, reg: Reg) -> u64 {
    bank.get(reg).words::<u64>()[0]
}

fn set(bank: &mut Bank, reg: Reg, word: u64) {
    bank.make(reg).words_mut::<u64>().fill(0);
    bank.make(reg).words_mut::<u64>()[0] = word;
}

impl Engine for Party {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.session)
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let InputOp { owner, reg, .. } = self.plan.inputs[input as usize];
        let (Some(values), me) = (values, self.session.me()) else { return Ok(()) };
        debug_assert_eq!(self.participants.endpoint(owner), me);
        let own = self.draw(next(me), step::INPUT, input);
        let rest = values.data().words::<u64>()[0] ^ own;
        set(&mut self.own, reg, own);
        set(&mut self.prev, reg, rest);
        self.send(prev(me), at(step::INPUT, input), rest, self.cols(reg))
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        let InputOp { owner, reg, .. } = self.plan.inputs[input as usize];
        let (owner, me) = (self.participants.endpoint(owner), self.session.me());
        if me == next(owner) {
            let component = self.draw(owner, step::INPUT, input);
            set(&mut self.own, reg, 0);
            set(&mut self.prev, reg, component);
        } else if me == prev(owner) {
            let component = self.recv(owner, at(step::INPUT, input), self.cols(reg))?;
            set(&mut self.own, reg, component);
            set(&mut self.prev, reg, 0);
        }
        Ok(())
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        self.own.run(step, &mut || Ok(()))?;
        self.prev.run(step, &mut || Ok(()))
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let OpKind::And { a, b, dst } = self.plan.ops[job.op as usize].kind else {
            return Err(Error::Refused("there is only AND here".to_owned()));
        };
        let (x, x_prev) = (get(&self.own, a.reg), get(&self.prev, a.reg));
        let (y, y_prev) = (get(&self.own, b.reg), get(&self.prev, b.reg));
        let last = if self.fault == Fault::WrongTerm { 0 } else { x_prev & y };
        let z = x & y ^ x & y_prev ^ last ^ self.mask(job.op);
        set(&mut self.own, dst.reg, z);
        let to = next(self.session.me());
        self.send(to, at(step::OPERATION, job.op), z, job.cols.len())
    }

    fn arrived(&mut self, _job: &Job) -> Result<bool, Error> {
        Ok(false)
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let from = prev(self.session.me());
        let z = self.recv(from, at(step::OPERATION, job.op), job.cols.len())?;
        let dst = self.plan.ops[job.op as usize].kind.writes()[0];
        set(&mut self.prev, dst, z);
        Ok(())
    }

    fn free(&mut self, reg: Reg) {
        self.own.free(reg);
        self.prev.free(reg);
    }

    fn check(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        let reg = self.plan.outputs[output as usize].reg;
        let (to, component) = (next(self.session.me()), get(&self.prev, reg));
        self.send(to, at(step::OUTPUT, output), component, self.cols(reg))
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let reg = self.plan.outputs[output as usize].reg;
        let shape = self.plan.register(reg);
        let third = self.recv(prev(self.session.me()), at(step::OUTPUT, output), shape.cols)?;
        let word = get(&self.own, reg) ^ get(&self.prev, reg) ^ third;
        let words: Vec<u64> = (0..shape.cols).map(|bit| word >> bit & 1).collect();
        Ok(Some(Clear::from_words(shape.domain, &words)))
    }

    fn next(&mut self, _plan: Arc<Plan>, _roles: Participants) -> Result<(), Error> {
        Err(Error::Refused("one plan is enough for a planted fault".to_owned()))
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}
