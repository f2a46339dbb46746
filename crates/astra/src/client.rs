//! The client's half: it masks its inputs for the two evaluators and adds up what they send it.

use crate::inout::{SEED_BYTES, input_at, output_at, recv_vector, seed_at};
use crate::seats::Seats;
use std::sync::Arc;
use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::wire::{message_of, pieces};
use tacit_engine::{Clear, Client, Error, Roles, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::Plan;
use tacit_session::{Draw, Session, Stream, step};
use zeroize::{Zeroize, Zeroizing};

/// A client of three parties.
pub(crate) struct AstraClient {
    session: Session,
    plan: Arc<Plan>,
    roles: Roles,
    seats: Seats,
    /// The streams of `x_1` and `x_2`, once the parties gave their seeds.
    streams: Option<[Stream; 2]>,
}

impl AstraClient {
    pub(crate) fn new(session: Session, plan: Arc<Plan>, roles: Roles, seats: Seats) -> Self {
        Self { session, plan, roles, seats, streams: None }
    }

    /// `P_1` and `P_2`, as the session numbers them.
    fn evaluators(&self) -> [usize; 2] {
        [1, 2].map(|role| self.seats.party(role))
    }

    /// The seeds of the masks, from those that hold them.
    fn take_seeds(&mut self) -> Result<[Stream; 2], Error> {
        let mut seeds = Zeroizing::new([[0; SEED_BYTES]; 2]);
        for (seed, party) in seeds.iter_mut().zip(self.evaluators()) {
            let mut message = self.session.mesh().recv(party, seed_at(), SEED_BYTES)?;
            seed.copy_from_slice(&message);
            message.zeroize();
        }
        Ok(seeds.each_ref().map(|seed| Stream::new(seed, self.session.lane())))
    }
}

impl Client for AstraClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn give(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let shape = self.plan.register(self.plan.inputs[input as usize].reg);
        if self.streams.is_none() {
            self.streams = Some(self.take_seeds()?);
        }
        let mut masked = values.data().clone();
        let mut mask = Buffer::new(masked.len());
        for stream in self.streams.iter_mut().flatten() {
            fill(stream, Draw { part: step::INPUT, op: input }, shape, &mut mask);
            sub_assign(shape, &mut masked, &mask);
        }
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, &masked, &range);
            for party in self.evaluators() {
                self.session.mesh().send(party, input_at(input, batch), &message)?;
            }
        }
        Ok(())
    }

    fn reveal(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.roles.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
        let mut part = sum.clone();
        for party in self.evaluators() {
            recv_vector(&mut self.session, party, |batch| output_at(output, batch), shape, &mut part)?;
            add_assign(shape, &mut sum, &part);
        }
        Ok(Clear::new(shape.domain, shape.cols, sum))
    }

    fn next(&mut self, plan: Arc<Plan>, roles: Roles) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        self.streams = None;
        (self.plan, self.roles) = (plan, roles);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}
