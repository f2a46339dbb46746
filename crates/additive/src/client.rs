//! The client's half: it shares its inputs among all parties, and adds up what they send it. Where values are authenticated
//! the parties send it shares of masks, which it checks before it uses any.

use crate::bit_masks::masked_bits;
use crate::demand::single;
use crate::messages::{input_at, input_draw, output_at, receive, send};
use crate::ranges::Digits;
use crate::share::FIRST;
use crate::vectors::{buffer, mul_add, row};
use std::sync::Arc;
use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::{Clear, Client, Error, Participants, bytes_of};
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
        let (mask, _) = self.hear_mask(shape, (3, 0), |batch| input_at(input, batch))?;
        let mut told = values.clone();
        sub_assign(shape, &mut told, &mask);
        self.tell(input, shape, &told)
    }

    /// Gets masks for the bits of numbers that have to be in a range, and tells all what is left ([`crate::bit_masks`]).
    fn give_bits(
        &mut self,
        input: u32,
        digits: &Digits,
        shape: Register,
        values: &Buffer,
    ) -> Result<(), Error> {
        let count = digits.count() * shape.cols;
        let (mask, opened) =
            self.hear_mask(row(shape.domain, count), (3, 1), |batch| input_at(input, batch))?;
        let told = masked_bits(&mut self.session, digits, (input, shape), values, [&mask, &opened])?;
        self.tell(input, row(Domain::Bits, count), &told)
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
        let triple = if is_single { 3 } else { 0 };
        let (mask, mut opened) = self.hear_mask(shape, (triple, 1), |batch| output_at(output, batch))?;
        if is_single {
            sub_assign(shape, &mut opened, &mask);
        }
        Ok(opened)
    }

    /// A mask, if the parties send shares of a triple, and then what all of them say alike, if anything.
    fn hear_mask(
        &mut self,
        shape: Register,
        (triple, said): (usize, usize),
        at: impl Fn(u32) -> At,
    ) -> Result<(Buffer, Buffer), Error> {
        let all = row(shape.domain, (triple + said) * shape.cols);
        let triple = row(shape.domain, triple * shape.cols);
        let masks = bytes_of(triple.domain, triple.cols);
        let mut sum = Buffer::new(masks);
        let mut opened: Option<Buffer> = None;
        for party in 0..self.session.parties() {
            let message = receive(self.session.mesh(), party, all, &at)?;
            let said = buffer(&message.bytes()[masks..]);
            if opened.get_or_insert_with(|| said.clone()).bytes() != said.bytes() {
                let what = format!("{} says something else than others", self.session.name(party));
                return Err(self.session.reject(&what).into());
            }
            add_assign(triple, &mut sum, &buffer(&message.bytes()[..masks]));
        }
        let mask = if masks == 0 { Buffer::default() } else { self.checked_mask(shape, sum.bytes())? };
        sum.wipe();
        Ok((mask, opened.unwrap_or_default()))
    }

    /// The first factor of a triple, whose vectors follow one another.
    fn checked_mask(&mut self, shape: Register, triple: &[u8]) -> Result<Buffer, Error> {
        let bytes = bytes_of(shape.domain, shape.cols);
        let [mask, factor, product] = [0, 1, 2].map(|which| buffer(&triple[which * bytes..][..bytes]));
        let mut expected = Buffer::new(bytes);
        mul_add(shape.domain, &mask, &factor, &mut expected);
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
        match Digits::of_input(&self.plan, &self.plan.inputs[input as usize]) {
            _ if !self.authenticated => self.give(input, shape, values.data()),
            None => self.give_masked(input, shape, values.data()),
            Some(digits) => self.give_bits(input, &digits, shape, values.data()),
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
