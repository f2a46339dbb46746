//! The client's half over links: [`tacit_client::components`] with a session that moves its messages.

use crate::messages::{HASH_BYTES, digest_at, input_at, output_at, recv_vector, send_vector};
use crate::outputs::check_component;
use crate::planted::{Mistake, planted};
use crate::scheme::{PARTIES, Scheme, other_holder};
use std::sync::Arc;
use tacit_client::components::{InputStreams, opened};
use tacit_engine::{Clear, Client, Error, Participants, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::Plan;
use tacit_session::Session;

/// How a client and the parties come to share the streams of two components.
pub type AgreeOnStreams = fn(&mut Session, &Scheme) -> Result<InputStreams, Error>;

/// A client of three parties.
pub struct ComponentsClient {
    session: Session,
    plan: Arc<Plan>,
    participants: Participants,
    scheme: Scheme,
    agree: AgreeOnStreams,
    /// The streams of its inputs' components, once they are agreed on.
    streams: Option<InputStreams>,
}

impl ComponentsClient {
    /// That of a protocol with this scheme.
    pub fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        scheme: Scheme,
        agree: AgreeOnStreams,
    ) -> Self {
        Self { session, plan, participants, scheme, agree, streams: None }
    }

    /// Receives what confirms an output: of each party that it accepts, without which nothing of the output counts,
    /// and the digest of a component. The digests, by component.
    fn confirmations(&mut self, output: u32) -> Result<[[u8; HASH_BYTES]; PARTIES], Error> {
        let mut digests = [[0; HASH_BYTES]; PARTIES];
        for (component, digest) in digests.iter_mut().enumerate() {
            let party = self.scheme.parties[other_holder(component, self.scheme.to_clients[component])];
            let message = self.session.mesh().recv(party, digest_at(output), 2 * HASH_BYTES)?;
            let (acceptance, theirs) = message.split_at(HASH_BYTES);
            if !planted(Mistake::AcceptancesUnchecked) {
                self.session.check_acceptance(party, acceptance)?;
            }
            digest.copy_from_slice(theirs);
        }
        Ok(digests)
    }
}

impl Client for ComponentsClient {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let shape = self.plan.register(self.plan.inputs[input as usize].reg);
        let streams = match &mut self.streams {
            Some(streams) => streams,
            none => none.insert((self.agree)(&mut self.session, &self.scheme)?),
        };
        let masked = streams.masked(input, shape, values.data());
        let holders = self.scheme.holders(self.scheme.masked);
        send_vector(&mut self.session, &holders, |batch| input_at(input, batch), shape, &masked)
    }

    fn open_output(&mut self, output: u32) -> Result<Clear, Error> {
        let operation = &self.plan.outputs[output as usize];
        debug_assert!(self.participants.learns(self.session.me(), operation.to));
        let shape = self.plan.register(operation.reg);
        let mut parts = Vec::new();
        let digests = if self.scheme.confirmed { Some(self.confirmations(output)?) } else { None };
        let senders = if self.scheme.confirmed { &self.scheme.to_clients[..] } else { self.scheme.parts };
        for (component, &sender) in senders.iter().enumerate() {
            let party = self.scheme.parties[sender];
            let mut part = Buffer::new(bytes_of(shape.domain, shape.cols));
            recv_vector(&mut self.session, party, |batch| output_at(output, batch), shape, &mut part)?;
            if let Some(digests) = &digests {
                check_component(&mut self.session, &self.scheme, output, shape, &part, &digests[component])?;
            }
            parts.push(part);
        }
        Ok(Clear::new(shape.domain, shape.cols, opened(shape, &parts)))
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
