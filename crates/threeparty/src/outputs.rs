//! How outputs are opened.
//!
//! **To a party**: one of the two holders of the component that it lacks sends it ([`Scheme::to_parties`]).
//!
//! **Where outputs are confirmed** the other holder sends a digest of it, and the receiver compares. So one that sends
//! another component is found out. Clients get all three components, each from one holder with a digest from the other,
//! hidden by a sharing of zero ([`crate::hiding`]); with the digest comes that its sender accepts the run.
//!
//! A digest binds the session, the plan within it (a session may run several, one after another), and the output.

use crate::hiding::Hiding;
use crate::messages::{HASH_BYTES, digest_at, output_at, send_vector};
use crate::party::Party;
use crate::planted::{Mistake, planted};
use crate::scheme::{Scheme, other_holder};
use std::ops::Range;
use tacit_client::components::{self, Binding, component_digest};
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::vector::add_assign;
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Error};
use tacit_kernel::Buffer;
use tacit_program::plan::Register;
use tacit_session::Session;

impl Party {
    /// Sends the first pieces of an output to parties that lack a component, and the digests that confirm what others
    /// send.
    pub fn send_output(&mut self, output: u32) -> Result<(), Error> {
        let (reg, shape, to) = self.output(output);
        for piece in pieces(shape).take(MAX_IN_FLIGHT) {
            self.send_piece(output, &piece)?;
        }
        for component in self.held() {
            let receiver = self.scheme.lacking(component);
            let sends = self.scheme.to_parties[component] == self.number;
            if self.scheme.confirmed && !sends && self.participants.learns(receiver, to) {
                let digest =
                    digest(&self.session, &self.scheme, output, shape, self.component(component).get(reg));
                self.session.mesh().send(receiver, digest_at(output), &digest)?;
            }
        }
        Ok(())
    }

    /// The clients that learn an output.
    pub fn clients(&self, output: u32) -> Vec<usize> {
        self.participants.clients_that_learn(self.plan.outputs[output as usize].to).collect()
    }

    /// Sends clients a part of an output, or a component.
    pub fn send_to_clients(&mut self, output: u32, part: &Buffer) -> Result<(), Error> {
        let (clients, (_, shape, _)) = (self.clients(output), self.output(output));
        send_vector(&mut self.session, &clients, |batch| output_at(output, batch), shape, part)
    }

    /// Sends clients this party's acceptance, one of its components and a digest of the other, both hidden.
    pub fn confirm_to_clients(&mut self, output: u32, hiding: Option<&mut Hiding>) -> Result<(), Error> {
        let (clients, (reg, shape, _)) = (self.clients(output), self.output(output));
        if clients.is_empty() {
            return Ok(());
        }
        let hiding = hiding.expect("all parties have accepted before an output is opened");
        let (mut own, mut prev) = (self.own.get(reg).clone(), self.prev.get(reg).clone());
        let [number, before] = self.held();
        hiding.hide(output, shape, [(number, &mut own), (before, &mut prev)]);
        let sends_own = self.scheme.to_clients[number] == number;
        let (sent, confirmed) = if sends_own { (own, prev) } else { (prev, own) };
        let digest = digest(&self.session, &self.scheme, output, shape, &confirmed);
        for client in clients {
            let confirmation = [self.session.acceptance(client), digest];
            self.session.mesh().send(client, digest_at(output), confirmation.as_flattened())?;
        }
        self.send_to_clients(output, &sent)
    }

    /// Receives what this party lacks of an output, and sends the rest of what others lack. The values, if it learns
    /// them.
    pub fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let (reg, shape, to) = self.output(output);
        // What was not sent at once goes out as fast as the like comes in: all parties may be doing the same.
        let mut unsent = pieces(shape).skip(MAX_IN_FLIGHT);
        if !self.participants.learns(self.session.me(), to) {
            for piece in unsent {
                self.send_piece(output, &piece)?;
            }
            return Ok(None);
        }
        let lacking = self.lacked();
        let sender = self.scheme.to_parties[lacking];
        let mut sum = Buffer::new(self.own.get(reg).len());
        for (batch, range) in pieces(shape) {
            let (from, bytes) = (self.scheme.parties[sender], message_bytes(shape.domain, range.len()));
            let message = self.session.mesh().recv(from, output_at(output, batch), bytes)?;
            unpack_columns(shape, &message, range, &mut sum);
            self.session.mesh().recycle(message);
            if let Some(piece) = unsent.next() {
                self.send_piece(output, &piece)?;
            }
        }
        if self.scheme.confirmed {
            let from = self.scheme.parties[other_holder(lacking, sender)];
            let theirs = self.session.mesh().recv(from, digest_at(output), HASH_BYTES)?;
            check_component(&mut self.session, &self.scheme, output, shape, &sum, &theirs)?;
        }
        add_assign(shape, &mut sum, self.own.get(reg));
        add_assign(shape, &mut sum, self.prev.get(reg));
        Ok(Some(Clear::new(shape.domain, shape.cols, sum)))
    }

    /// Sends a piece of an output to parties that lack a component, as far as this party is the one that sends it.
    fn send_piece(&mut self, output: u32, (batch, range): &(u32, Range<usize>)) -> Result<(), Error> {
        let (reg, shape, to) = self.output(output);
        for component in self.held() {
            let receiver = self.scheme.lacking(component);
            if self.scheme.to_parties[component] == self.number && self.participants.learns(receiver, to) {
                let message = message_of(shape, self.component(component).get(reg), range);
                self.session.mesh().send(receiver, output_at(output, *batch), &message)?;
            }
        }
        Ok(())
    }
}

/// A digest of an output's component.
fn digest(
    session: &Session,
    scheme: &Scheme,
    output: u32,
    shape: Register,
    component: &Buffer,
) -> [u8; HASH_BYTES] {
    component_digest(binding(session, scheme), output, shape, component)
}

/// What digests of outputs' components bind.
fn binding<'a>(session: &'a Session, scheme: &Scheme) -> Binding<'a> {
    Binding { family: scheme.family, session: session.id(), plan: session.first_operation() }
}

/// Checks a component that one holder sent by the digest that the other did.
pub(crate) fn check_component(
    session: &mut Session,
    scheme: &Scheme,
    output: u32,
    shape: Register,
    component: &Buffer,
    theirs: &[u8],
) -> Result<(), Error> {
    match components::check_component(binding(session, scheme), output, shape, component, theirs) {
        Err(fault) if !planted(Mistake::ComponentsNotCompared) => {
            Err(session.reject(&fault.to_string()).into())
        }
        _ => Ok(()),
    }
}
