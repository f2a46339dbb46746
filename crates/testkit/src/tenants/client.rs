//! The client's half: it shares its inputs among all parties and adds up what they send it.

use std::sync::Arc;

use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Client, Error, Participants, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::Plan;
use tacit_session::Session;

use super::FIRST;
use super::engine::{input_at, input_draw, output_at};

/// A client of any number of parties.
pub(super) struct AdditiveClient {
    session: Session,
    plan: Arc<Plan>,
    participants: Participants,
}

impl AdditiveClient {
    pub(super) fn new(session: Session, plan: Arc<Plan>, participants: Participants) -> Self {
        Self { session, plan, participants }
    }
}

impl Client for AdditiveClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let shape = self.plan.register(self.plan.inputs[input as usize].reg);
        let mut rest = values.data().clone();
        let mut share = Buffer::new(rest.len());
        for party in (0..self.session.parties()).filter(|&party| party != FIRST) {
            fill(self.session.stream(party), input_draw(input), shape, &mut share);
            sub_assign(shape, &mut rest, &share);
        }
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, &rest, &range);
            self.session.mesh().send(FIRST, input_at(input, batch), &message)?;
        }
        Ok(())
    }

    fn open_output(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.participants.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
        let mut share = sum.clone();
        for party in 0..self.session.parties() {
            for (batch, range) in pieces(shape) {
                let bytes = message_bytes(shape.domain, range.len());
                let message = self.session.mesh().recv(party, output_at(output, batch), bytes)?;
                unpack_columns(shape, &message, range, &mut share);
            }
            add_assign(shape, &mut sum, &share);
        }
        Ok(Clear::new(shape.domain, shape.cols, sum))
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}
