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
use super::dealer::Dealer;
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
}

impl AdditiveEngine {
    pub(super) fn new(session: Session, plan: Arc<Plan>, participants: Participants) -> Self {
        let mut bank = Bank::new(plan.clone(), Part::Component(session.me() as u8));
        bank.reserve();
        let (tiles, openings) = (Tiles::new(1), HashMap::new());
        Self { session, plan, participants, bank, tiles, dealer: None, openings }
    }

    /// Whether this is the party that takes public values into its share.
    pub(super) fn is_first(&self) -> bool {
        self.session.me() == FIRST
    }

    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.session.me();
        (0..self.session.parties()).filter(move |&party| party != me)
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

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        let mesh = self.session.mesh();
        self.bank.run(step, &mut || Ok(mesh.tick()?))
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.plan.clone();
        match &plan.op(job.op).kind {
            &OpKind::And { a, b, dst } => self.and_begin(job, a, b, dst),
            &OpKind::Mul { a, b, dst } => self.mul_begin(job, a, b, dst),
            &OpKind::MatMul { a, b, shape, dst } => self.matmul_begin(job, a, b, shape, dst),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            _ => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let is_matrix = matches!(self.plan.op(job.op).kind, OpKind::MatMul { .. });
        if is_matrix && !job.last {
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
        match &plan.op(job.op).kind {
            &OpKind::And { dst, .. } => self.and_finish(job, dst),
            &OpKind::Mul { dst, .. } => self.mul_finish(job, dst),
            &OpKind::MatMul { dst, .. } => self.matmul_finish(job, dst),
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, circuit),
            _ => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn free(&mut self, reg: Reg) {
        self.bank.free(reg);
    }

    fn check(&mut self) -> Result<(), Error> {
        Ok(self.session.compare_draws(&[])?)
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
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
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
