//! A party's state, its inputs and outputs, and which operation goes where.

use std::collections::HashMap;
use std::sync::Arc;

use tacit_engine::bank::{Bank, Part};
use tacit_engine::tile::Tiles;
use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Engine, Error, Job, Participants, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::{Local, OpKind, Plan, Reg, Register};
use tacit_session::{At, Draw, Session, step};

use super::FIRST;
use super::dealer::{Dealer, Supply};
use super::products::Opening;

/// One party of any number.
pub(super) struct AdditiveEngine {
    pub(super) session: Session,
    pub(super) plan: Arc<Plan>,
    participants: Participants,
    /// Its shares.
    pub(super) bank: Bank,
    /// The circuits' tiles that are under way.
    pub(super) tiles: Tiles,
    /// Once it has met the dealer.
    pub(super) dealer: Option<Dealer>,
    /// Masked operands that others are still to send their shares of, by the messages' address.
    pub(super) openings: HashMap<At, Opening>,
    /// Checks that the plan still asks for.
    checks: usize,
}

impl AdditiveEngine {
    pub(super) fn new(session: Session, plan: Arc<Plan>, participants: Participants) -> Self {
        let mut bank = Bank::new(plan.clone(), Part::Component(session.me() as u8));
        bank.reserve();
        let (tiles, openings, checks) = (Tiles::new(1), HashMap::new(), plan.checks());
        Self { session, plan, participants, bank, tiles, dealer: None, openings, checks }
    }

    /// Whether this is the party that takes public values into its share.
    pub(super) fn is_first(&self) -> bool {
        self.session.me() == FIRST
    }

    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.session.me();
        (0..self.session.parties()).filter(move |&party| party != me)
    }

    /// This party's shares of what the dealer gives, for the message of an address.
    pub(super) fn supplied(&mut self, at: At, supply: Supply) -> Vec<Buffer> {
        let op = self.session.first_operation().wrapping_add(at.op);
        let dealer = self.dealer.as_mut().expect("a party meets the dealer before it computes");
        dealer.draw(At { op, ..at }, supply)
    }

    pub(super) fn send_to_all(&mut self, at: At, message: &[u8]) -> Result<(), Error> {
        for party in self.others() {
            self.session.mesh().send(party, at, message)?;
        }
        Ok(())
    }

    fn input_shape(&self, input: u32) -> (usize, Reg, Register) {
        let operation = &self.plan.inputs[input as usize];
        (self.participants.endpoint(operation.owner), operation.reg, self.plan.register(operation.reg))
    }
}

impl Engine for AdditiveEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.session)
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        if self.dealer.is_none() {
            self.dealer = Some(Dealer::meet(&mut self.session)?);
        }
        Ok(false)
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner != self.session.me() {
            return Ok(());
        }
        let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
        if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
            return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
        }
        let mut rest = values.data().clone();
        let mut share = Buffer::new(rest.len());
        for party in self.others() {
            fill(self.session.stream(party), input_draw(input), shape, &mut share);
            sub_assign(shape, &mut rest, &share);
        }
        self.bank.put(reg, rest);
        Ok(())
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner == self.session.me() {
            return Ok(());
        }
        let mut share = self.bank.take(reg);
        if self.is_first() && owner >= self.session.parties() {
            for (batch, range) in pieces(shape) {
                let bytes = message_bytes(shape.domain, range.len());
                let message = self.session.mesh().recv(owner, input_at(input, batch), bytes)?;
                unpack_columns(shape, &message, range, &mut share);
            }
        } else {
            fill(self.session.stream(owner), input_draw(input), shape, &mut share);
        }
        self.bank.put(reg, share);
        Ok(())
    }

    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        self.bank.write_public(self.plan.public_inputs[input as usize].reg, values);
        Ok(())
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        let mesh = self.session.mesh();
        self.bank.run(step, &mut || Ok(mesh.tick()?))
    }

    fn has_online_messages(&self, op: u32, _: u32) -> bool {
        has_messages(&self.plan.ops[op as usize].kind)
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.plan.clone();
        match &plan.ops[job.op as usize].kind {
            &OpKind::And { a, b, dst } => self.and_begin(job, a, b, dst),
            &OpKind::Mul { a, b, dst } => self.mul_begin(job, a, b, dst),
            &OpKind::MatMul { a, b, shape, dst } => self.matmul_begin(job, a, b, shape, dst),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            &OpKind::Open { a, dst, .. } => self.open_begin(job, a, dst),
            &OpKind::Random { dst, bits } => {
                self.random(job, dst, bits);
                Ok(())
            }
            OpKind::Split { .. } | OpKind::Inject { .. } | OpKind::Shift { .. } | OpKind::Msb { .. } => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let kind = &self.plan.ops[job.op as usize].kind;
        if !has_messages(kind) || matches!(kind, OpKind::MatMul { .. }) && !job.last {
            return Ok(true);
        }
        for party in self.others() {
            if !self.session.mesh().arrived(party)? {
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
            &OpKind::MatMul { dst, .. } => self.matmul_finish(job, dst),
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, circuit),
            &OpKind::Open { dst, .. } => self.open_finish(job, dst),
            OpKind::Random { .. } => Ok(()),
            OpKind::Split { .. } | OpKind::Inject { .. } | OpKind::Shift { .. } | OpKind::Msb { .. } => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn free(&mut self, reg: Reg) {
        self.bank.free(reg);
    }

    /// Nobody deviates, so all is right; at the end of a plan the parties compare what they drew.
    fn check(&mut self) -> Result<(), Error> {
        self.checks -= 1;
        if self.checks == 0 { Ok(self.session.compare_draws(&[])?) } else { Ok(()) }
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        let operation = self.plan.outputs[output as usize].clone();
        let shape = self.plan.register(operation.reg);
        let parties = self.others().filter(|&party| self.participants.learns(party, operation.to));
        let learners: Vec<usize> =
            parties.chain(self.participants.clients_that_learn(operation.to)).collect();
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, self.bank.get(operation.reg), &range);
            for &learner in &learners {
                self.session.mesh().send(learner, output_at(output, batch), &message)?;
            }
        }
        Ok(())
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let operation = self.plan.outputs[output as usize].clone();
        if !self.participants.learns(self.session.me(), operation.to) {
            return Ok(None);
        }
        let shape = self.plan.register(operation.reg);
        let mut sum = self.bank.get(operation.reg).clone();
        let mut share = Buffer::new(bytes_of(shape.domain, shape.cols));
        for party in self.others() {
            for (batch, range) in pieces(shape) {
                let bytes = message_bytes(shape.domain, range.len());
                let message = self.session.mesh().recv(party, output_at(output, batch), bytes)?;
                unpack_columns(shape, &message, range, &mut share);
            }
            add_assign(shape, &mut sum, &share);
        }
        Ok(Some(Clear::new(shape.domain, shape.cols, sum)))
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        self.bank.next(plan.clone());
        self.checks = plan.checks();
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}

/// Whether an operation has messages: what is random is the dealer's to give.
pub(super) const fn has_messages(kind: &OpKind) -> bool {
    !matches!(kind, OpKind::Random { .. })
}

/// The address of a job's messages.
pub(super) fn at(job: &Job) -> At {
    At { part: step::OPERATION + job.stage as u16, op: job.op, batch: job.batch, ..At::default() }
}

/// The address of a piece of an input.
pub(super) fn input_at(input: u32, batch: u32) -> At {
    At { part: step::INPUT, op: input, batch, ..At::default() }
}

/// The address of the randomness of an input's shares.
pub(super) fn input_draw(input: u32) -> Draw {
    Draw { part: step::INPUT, op: input }
}

/// The address of a piece of an output.
pub(super) fn output_at(output: u32, batch: u32) -> At {
    At { part: step::OUTPUT, op: output, batch, ..At::default() }
}
