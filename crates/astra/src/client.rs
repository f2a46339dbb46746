//! The client's half: it masks its inputs for the two evaluators and adds up what they send it.

use crate::PARTIES;
use crate::inout::{
    HASH_BYTES, SEED_BYTES, check_component, hash_at, held, input_at, output_at, recv_vector, seed_at,
};
use crate::planted::{Mistake, planted};
use crate::seats::Seats;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::wire::{message_of, pieces};
use tacit_engine::{Clear, Client, Error, Participants, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::Plan;
use tacit_session::{Draw, PrssStream, Session, step};
use zeroize::{Zeroize, Zeroizing};

/// A client of three parties.
pub(crate) struct AstraClient {
    session: Session,
    plan: Arc<Plan>,
    participants: Participants,
    seats: Seats,
    /// The streams of `x_1` and `x_2`, once the parties gave their seeds.
    streams: Option<[PrssStream; 2]>,
    /// Whether the parties check products, and confirm seeds and outputs.
    verified: bool,
}

impl AstraClient {
    pub(crate) fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        seats: Seats,
        verified: bool,
    ) -> Self {
        Self { session, plan, participants, seats, streams: None, verified }
    }

    /// `P_1` and `P_2`, as the session numbers them.
    fn evaluators(&self) -> [usize; 2] {
        [1, 2].map(|role| self.seats.party(role))
    }

    /// The seeds of the masks, from those that hold them. `P_0` holds both: a client that would take another seed than the
    /// parties drew would give another input.
    fn take_seeds(&mut self) -> Result<[PrssStream; 2], Error> {
        let mut seeds = Zeroizing::new([[0; SEED_BYTES]; 2]);
        for (seed, party) in seeds.iter_mut().zip(self.evaluators()) {
            let mut message = self.session.mesh().recv(party, seed_at(), SEED_BYTES)?;
            seed.copy_from_slice(&message);
            message.zeroize();
        }
        if self.verified {
            let all =
                Zeroizing::new(self.session.mesh().recv(self.seats.party(0), seed_at(), 2 * SEED_BYTES)?);
            let same = bool::from(seeds.as_flattened().ct_eq(&all));
            if !same && !planted(Mistake::WrongSeedsPass) {
                return Err(self.session.reject("two parties have different seeds for a client").into());
            }
        }
        Ok(seeds.each_ref().map(|seed| PrssStream::new(seed, self.session.lane())))
    }
}

impl Client for AstraClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
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

    fn open_output(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.participants.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
        let mut part = sum.clone();
        let senders = if self.verified { 0..PARTIES } else { 1..PARTIES };
        let mut hashes = [const { [0; HASH_BYTES] }; PARTIES];
        for role in (0..PARTIES).filter(|_| self.verified) {
            // Nothing of an output counts before all parties have accepted.
            let party = self.seats.party(role);
            let message = self.session.mesh().recv(party, hash_at(output), 2 * HASH_BYTES)?;
            if !planted(Mistake::AcceptancesUnchecked) {
                self.session.check_acceptance(party, &message[..HASH_BYTES])?;
            }
            // Of its first component; who has it for the second one sends it.
            let [first, _] = held(role);
            hashes[first].copy_from_slice(&message[HASH_BYTES..]);
        }
        for role in senders {
            let party = self.seats.party(role);
            recv_vector(&mut self.session, party, |batch| output_at(output, batch), shape, &mut part)?;
            if self.verified {
                let [_, second] = held(role);
                check_component(&mut self.session, output, shape, &part, &hashes[second])?;
            }
            add_assign(shape, &mut sum, &part);
        }
        Ok(Clear::new(shape.domain, shape.cols, sum))
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        self.streams = None;
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}
