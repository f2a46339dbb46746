//! The client's half over links: [`tacit_client::additive`] with a session that moves its messages.

use crate::bit_masks::failed;
use crate::demand::single;
use crate::messages::{input_at, output_at, receive, send};
use crate::ranges::{Digits, digits_of};
use crate::share::FIRST;
use crate::vectors::row;
use std::sync::Arc;
use tacit_client::additive::{Told, masked, masked_bits, rest_of};
use tacit_client::components::opened;
use tacit_engine::vector::sub_assign;
use tacit_engine::{Clear, Client, Error, Participants};
use tacit_kernel::Buffer;
use tacit_program::plan::{Domain, Plan, Register};
use tacit_session::{At, Session};

/// A client of any number of parties.
pub(crate) struct AdditiveClient {
    authenticated: bool,
    session: Session,
    plan: Arc<Plan>,
    participants: Participants,
}

impl AdditiveClient {
    pub(crate) fn new(
        authenticated: bool,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Self {
        Self { authenticated, session, plan, participants }
    }

    /// Draws all shares but one, and sends that.
    fn send_shares(&mut self, input: u32, shape: Register, values: &Buffer) -> Result<(), Error> {
        let mut rest = values.clone();
        for party in (0..self.session.parties()).filter(|&party| party != FIRST) {
            rest = rest_of([self.session.stream(party)], input, shape, &rest);
        }
        send(self.session.mesh(), FIRST, shape, &rest, |batch| input_at(input, batch))
    }

    /// Gets a mask, and tells all what is left.
    fn share_masked(&mut self, input: u32, shape: Register, values: &Buffer) -> Result<(), Error> {
        let told = Told { shape, triple: true, said: false };
        let (mask, _) = self.hear_mask(told, |batch| input_at(input, batch))?;
        self.tell(input, shape, &masked(shape, values, &mask))
    }

    /// Gets masks for the bits of numbers that have to be in a range, and tells all what is left ([`crate::bit_masks`]).
    fn share_bits(
        &mut self,
        input: u32,
        digits: &Digits,
        shape: Register,
        values: &Buffer,
    ) -> Result<(), Error> {
        let count = digits.count() * shape.cols;
        let told = Told { shape: row(shape.domain, count), triple: true, said: true };
        let (mask, opened) = self.hear_mask(told, |batch| input_at(input, batch))?;
        let bits = masked_bits(digits, (input, shape), values, [&mask, &opened]);
        let bits = bits.map_err(|fault| failed(&mut self.session, fault))?;
        self.tell(input, row(Domain::Bits, count), &bits)
    }

    fn tell(&mut self, input: u32, shape: Register, told: &Buffer) -> Result<(), Error> {
        for party in 0..self.session.parties() {
            send(self.session.mesh(), party, shape, told, |batch| input_at(input, batch))?;
        }
        Ok(())
    }

    /// What all parties say to have opened, less the mask of an output for this client alone.
    fn hear_checked(&mut self, output: u32, shape: Register) -> Result<Buffer, Error> {
        let is_single = single(&self.participants, &self.plan.outputs[output as usize]).is_some();
        let told = Told { shape, triple: is_single, said: true };
        let (mask, mut opened) = self.hear_mask(told, |batch| output_at(output, batch))?;
        if is_single {
            sub_assign(shape, &mut opened, &mask);
        }
        Ok(opened)
    }

    /// A mask, if the parties send shares of a triple, and then what all of them say alike, if anything.
    fn hear_mask(&mut self, told: Told, at: impl Fn(u32) -> At) -> Result<(Buffer, Buffer), Error> {
        let mut messages = Vec::with_capacity(self.session.parties());
        for party in 0..self.session.parties() {
            messages.push(receive(self.session.mesh(), party, told.message(), &at)?);
        }
        let read = told.read(&messages, |party| self.session.name(party).to_owned());
        read.map_err(|fault| failed(&mut self.session, fault))
    }
}

impl Client for AdditiveClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let shape = self.plan.register(self.plan.inputs[input as usize].reg);
        match digits_of(&self.plan, &self.plan.inputs[input as usize]) {
            _ if !self.authenticated => self.send_shares(input, shape, values.data()),
            None => self.share_masked(input, shape, values.data()),
            Some(digits) => self.share_bits(input, &digits, shape, values.data()),
        }
    }

    fn open_output(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.participants.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        if self.authenticated {
            return Ok(Clear::new(shape.domain, shape.cols, self.hear_checked(output, shape)?));
        }
        let mut shares = Vec::with_capacity(self.session.parties());
        for party in 0..self.session.parties() {
            shares.push(receive(self.session.mesh(), party, shape, |batch| output_at(output, batch))?);
        }
        Ok(Clear::new(shape.domain, shape.cols, opened(shape, &shares)))
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
