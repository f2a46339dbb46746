//! The client's half: it shares its inputs among the three parties and adds up what they send it.

use crate::inout::{
    DIGEST_BYTES, SEED_BYTES, check_component, digest_at, fill, input_at, message_bytes, output_at, seed_at,
    store_message,
};
use crate::planted::{Mistake, planted};
use crate::{PARTIES, next};
use std::sync::Arc;
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::wire::{message_of, pieces};
use tacit_engine::{Clear, Client, Error, Participants};
use tacit_kernel::Buffer;
use tacit_program::plan::Plan;
use tacit_session::{PrssStream, Session};
use zeroize::Zeroize;

/// A client of three parties.
pub(crate) struct ReplicatedClient {
    session: Session,
    plan: Arc<Plan>,
    /// The streams of `x_0` and `x_1`, once the parties have their seeds.
    streams: Option<[PrssStream; 2]>,
    participants: Participants,
    /// Whether the parties verify, and confirm outputs.
    verified: bool,
}

impl ReplicatedClient {
    pub(crate) fn new(session: Session, plan: Arc<Plan>, participants: Participants, verified: bool) -> Self {
        Self { session, plan, streams: None, participants, verified }
    }

    /// Draws the two seeds and gives each to the two parties that hold its component.
    fn give_seeds(&mut self) -> Result<[PrssStream; 2], Error> {
        let mut seeds = [[0; SEED_BYTES]; 2];
        for seed in &mut seeds {
            self.session.entropy().fill(seed)?;
        }
        let mesh = self.session.mesh();
        mesh.send(0, seed_at(), &seeds[0])?;
        mesh.send(1, seed_at(), seeds.as_flattened())?;
        mesh.send(2, seed_at(), &seeds[1])?;
        let streams = seeds.each_ref().map(|seed| PrssStream::new(seed, self.session.lane()));
        seeds.zeroize();
        Ok(streams)
    }
}

impl Client for ReplicatedClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let shape = self.plan.register(self.plan.inputs[input as usize].reg);
        if self.streams.is_none() {
            self.streams = Some(self.give_seeds()?);
        }
        let mut rest = values.data().clone();
        for stream in self.streams.iter_mut().flatten() {
            let mut component = Buffer::new(rest.len());
            fill(stream, shape, input, &mut component);
            sub_assign(shape, &mut rest, &component);
        }
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, &rest, &range);
            for party in [2, 0] {
                self.session.mesh().send(party, input_at(input, batch), &message)?;
            }
        }
        Ok(())
    }

    fn open_output(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.participants.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        let mut sum = Buffer::new(tacit_engine::bytes_of(shape.domain, shape.cols));
        let mut component = sum.clone();
        let mut confirmations = Vec::new();
        for party in (0..PARTIES).filter(|_| self.verified) {
            // Nothing of an output counts before all parties have accepted.
            let message = self.session.mesh().recv(party, digest_at(output), 2 * DIGEST_BYTES)?;
            if !planted(Mistake::UnacceptedTaken) {
                self.session.check_acceptance(party, &message[..DIGEST_BYTES])?;
            }
            confirmations.push(message[DIGEST_BYTES..].to_vec());
        }
        for party in 0..PARTIES {
            for (batch, range) in pieces(shape) {
                let bytes = message_bytes(shape, &range);
                let message = self.session.mesh().recv(party, output_at(output, batch), bytes)?;
                store_message(shape, &message, &range, &mut component);
                self.session.mesh().recycle(message);
            }
            if self.verified {
                // The next party has the component, too.
                check_component(&mut self.session, output, shape, &component, &confirmations[next(party)])?;
            }
            add_assign(shape, &mut sum, &component);
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
