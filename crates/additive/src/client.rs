//! The client's half: it shares its inputs among all parties, and adds up what they send it. Where values are authenticated
//! the parties send it shares of masks, which it checks before it uses any.

use std::sync::Arc;

use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::{Clear, Client, Error, Participants, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::{Plan, Register};
use tacit_session::Session;

use super::dealer::{Product, row};
use super::engine::{input_at, input_draw, output_at};
use super::inputs::{receive, send};
use super::{FIRST, single};

/// A client of any number of parties.
pub(super) struct AdditiveClient {
    authenticated: bool,
    session: Session,
    plan: Arc<Plan>,
    participants: Participants,
}

impl AdditiveClient {
    pub(super) fn new(
        authenticated: bool,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Self {
        Self { authenticated, session, plan, participants }
    }

    /// Draws all shares but one, and sends that.
    fn give(&mut self, input: u32, shape: Register, values: &Buffer) -> Result<(), Error> {
        let mut rest = values.clone();
        let mut share = Buffer::new(rest.len());
        for party in (0..self.session.parties()).filter(|&party| party != FIRST) {
            fill(self.session.stream(party), input_draw(input), shape, &mut share);
            sub_assign(shape, &mut rest, &share);
        }
        send(self.session.mesh(), FIRST, shape, &rest, |batch| input_at(input, batch))
    }

    /// Gets a mask, and tells all what is left.
    fn give_masked(&mut self, input: u32, shape: Register, values: &Buffer) -> Result<(), Error> {
        let triple = row(shape.domain, 3 * shape.cols);
        let mut sum = Buffer::new(bytes_of(triple.domain, triple.cols));
        for party in 0..self.session.parties() {
            let share = receive(self.session.mesh(), party, triple, |batch| input_at(input, batch))?;
            add_assign(triple, &mut sum, &share);
        }
        let mask = self.checked_mask(shape, sum.bytes())?;
        let mut told = values.clone();
        sub_assign(shape, &mut told, &mask);
        for party in 0..self.session.parties() {
            send(self.session.mesh(), party, shape, &told, |batch| input_at(input, batch))?;
        }
        Ok(())
    }

    /// What all parties say to have opened, less the mask of an output for this client alone.
    fn hear_checked(&mut self, output: u32, shape: Register) -> Result<Buffer, Error> {
        let is_single = single(&self.participants, &self.plan.outputs[output as usize]).is_some();
        let vectors = if is_single { 4 } else { 1 };
        let all = row(shape.domain, vectors * shape.cols);
        let bytes = bytes_of(shape.domain, shape.cols);
        let masks = (vectors - 1) * bytes;
        let triple = row(shape.domain, (vectors - 1) * shape.cols);
        let mut sum = Buffer::new(masks);
        let mut opened: Option<Buffer> = None;
        for party in 0..self.session.parties() {
            let message = receive(self.session.mesh(), party, all, |batch| output_at(output, batch))?;
            let said = buffer(&message.bytes()[masks..]);
            if opened.get_or_insert_with(|| said.clone()).bytes() != said.bytes() {
                let what = format!("{} says another output", self.session.name(party));
                return Err(self.session.reject(&what).into());
            }
            add_assign(triple, &mut sum, &buffer(&message.bytes()[..masks]));
        }
        let mut opened = opened.unwrap_or_default();
        if is_single {
            let mask = self.checked_mask(shape, sum.bytes())?;
            sub_assign(shape, &mut opened, &mask);
        }
        Ok(opened)
    }

    /// The first factor of a triple, whose vectors follow one another.
    fn checked_mask(&mut self, shape: Register, triple: &[u8]) -> Result<Buffer, Error> {
        let bytes = bytes_of(shape.domain, shape.cols);
        let [mask, factor, product] = [0, 1, 2].map(|which| buffer(&triple[which * bytes..][..bytes]));
        let mut expected = Buffer::new(bytes);
        let elements = Product::Elements { domain: shape.domain, count: shape.cols };
        elements.add(&mask, &factor, &mut expected);
        if expected.bytes() != product.bytes() {
            return Err(self.session.reject("the parties' mask doesn't fit its proof").into());
        }
        Ok(mask)
    }
}

impl Client for AdditiveClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let shape = self.plan.register(self.plan.inputs[input as usize].reg);
        if self.authenticated {
            self.give_masked(input, shape, values.data())
        } else {
            self.give(input, shape, values.data())
        }
    }

    fn open_output(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.participants.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        if self.authenticated {
            return Ok(Clear::new(shape.domain, shape.cols, self.hear_checked(output, shape)?));
        }
        let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
        for party in 0..self.session.parties() {
            let share = receive(self.session.mesh(), party, shape, |batch| output_at(output, batch))?;
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

fn buffer(bytes: &[u8]) -> Buffer {
    let mut buffer = Buffer::new(bytes.len());
    buffer.bytes_mut().copy_from_slice(bytes);
    buffer
}
