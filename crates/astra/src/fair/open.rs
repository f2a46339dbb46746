//! The openings of outputs: of whom two open the same, one that fits what was promised is taken.

use super::promise::commitment_to;
use super::terms::{COMMITMENT, OPENING, lacking};
use crate::planted::{Mistake, planted};
use crate::state::AstraEngine;
use crate::step;
use sha2::Digest;
use subtle::ConstantTimeEq;
use tacit_engine::vector::add_assign;
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Error, bytes_of};
use tacit_kernel::Buffer;
use tacit_threeparty::PARTIES;
use tacit_threeparty::messages::{at, output_at};

/// What one party opens.
struct Opened {
    /// A component of every output that the receiver learns.
    components: Vec<Buffer>,
    /// The commitment that this opens.
    commitment: [u8; COMMITMENT],
}

impl AstraEngine {
    /// Opens this party's components to those that lack them: of all outputs, with the first.
    pub(crate) fn open(&mut self, output: u32) -> Result<(), Error> {
        if output > 0 {
            return Ok(());
        }
        for component in self.party.held() {
            let to = self.seats.party(lacking(component));
            let learned = self.learned(lacking(component));
            if learned.is_empty() {
                continue;
            }
            let opening = self.fair().openings[component].clone();
            let opening_at = at(step::FAIR_OPENING, component as u32);
            self.party.session.mesh().send(to, opening_at, opening.as_slice())?;
            for output in learned {
                let reg = self.party.plan.outputs[output as usize].reg;
                let shape = self.party.plan.register(reg);
                for (batch, range) in pieces(shape) {
                    let message = message_of(shape, self.party.component(component).get(reg), &range);
                    self.party.session.mesh().send_vec(to, output_at(output, batch), message)?;
                }
            }
        }
        Ok(())
    }

    /// Receives what is opened to this party, of all outputs with the first.
    pub(crate) fn take_opened(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if output == 0 {
            self.take_all()?;
        }
        if output as usize + 1 == self.party.plan.outputs.len() && !planted(Mistake::OpeningsQueued) {
            // Others may count on what this party opens, and it may do something else for long now.
            self.party.session.mesh().push_out()?;
        }
        let operation = &self.party.plan.outputs[output as usize];
        let (reg, shape) = (operation.reg, self.party.plan.register(operation.reg));
        let Some(mut sum) = self.fair().opened.get_mut(output as usize).and_then(Option::take) else {
            return Ok(None);
        };
        add_assign(shape, &mut sum, self.party.own.get(reg));
        add_assign(shape, &mut sum, self.party.prev.get(reg));
        Ok(Some(Clear::new(shape.domain, shape.cols, sum)))
    }

    /// Takes the component that this party lacks from whoever opens what was committed to.
    fn take_all(&mut self) -> Result<(), Error> {
        let learned = self.learned(self.me);
        if learned.is_empty() {
            return Ok(());
        }
        let promised = self.fair().promised;
        let mut opened = None;
        let me = self.me;
        for role in (0..PARTIES).filter(|&role| role != me) {
            // Both are received, so that nothing is left on the link.
            let theirs = self.take_from(role, &learned)?;
            let fits = |theirs: &Opened| {
                planted(Mistake::OpeningsUnchecked) || bool::from(theirs.commitment.ct_eq(&promised))
            };
            opened = opened.or(theirs.filter(fits));
        }
        let Some(Opened { components, .. }) = opened else {
            return Err(self.party.session.reject("nobody opened the outputs").into());
        };
        let mut all = vec![None; self.party.plan.outputs.len()];
        for (output, component) in learned.into_iter().zip(components) {
            all[output as usize] = Some(component);
        }
        self.fair().opened = all;
        Ok(())
    }

    /// What one party opens, and the commitment that it opens; `None` if the party fails.
    fn take_from(&mut self, role: usize, learned: &[u32]) -> Result<Option<Opened>, Error> {
        let (component, from, deadline) = (lacking(self.me), self.seats.party(role), self.fair().deadline);
        let opening_at = at(step::FAIR_OPENING, component as u32);
        let Some(opening) = self.party.session.mesh().recv_by(from, opening_at, OPENING, deadline)? else {
            return Ok(None);
        };
        let mut hash = commitment_to(self.ahead()?, component, b"outputs", &opening);
        let mut components = Vec::with_capacity(learned.len());
        for &output in learned {
            let shape = self.party.plan.register(self.party.plan.outputs[output as usize].reg);
            let mut values = Buffer::new(bytes_of(shape.domain, shape.cols));
            for (batch, range) in pieces(shape) {
                let bytes = message_bytes(shape.domain, range.len());
                let piece =
                    self.party.session.mesh().recv_by(from, output_at(output, batch), bytes, deadline)?;
                let Some(piece) = piece else { return Ok(None) };
                hash.update(&piece);
                unpack_columns(shape, &piece, range, &mut values);
                self.party.session.mesh().recycle(piece);
            }
            components.push(values);
        }
        Ok(Some(Opened { components, commitment: hash.finalize().into() }))
    }
}
