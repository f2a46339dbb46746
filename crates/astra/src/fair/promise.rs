//! What is promised of outputs: commitments to components, and to proofs that `P_0` aborts.

use super::terms::{COMMITMENT, Fair, OPENING, PROOF, holder_beside, lacking};
use crate::planted::{Mistake, planted};
use crate::prepared::Prepared;
use crate::state::AstraEngine;
use crate::step;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tacit_engine::Error;
use tacit_engine::wire::{message_of, pieces};
use tacit_program::plan::OutputOp;
use tacit_session::Draw;
use tacit_threeparty::messages::at;
use zeroize::{Zeroize, Zeroizing};

/// The beginning of a commitment to something of a component. What follows has a length that the plan says.
pub(super) fn commitment_to(ahead: &Prepared, component: usize, label: &[u8], opening: &[u8]) -> Sha256 {
    let mut hash = Sha256::new_with_prefix(b"tacit astra fair 1");
    // The component says whose it is: the pair that holds it.
    for field in [&ahead.instance()[..], &(component as u64).to_le_bytes(), label, opening] {
        hash.update((field.len() as u64).to_le_bytes());
        hash.update(field);
    }
    hash
}

/// A commitment to a proof that `P_0` aborts.
pub(super) fn proof_commitment(
    ahead: &Prepared,
    component: usize,
    proof: &[u8],
    opening: &[u8],
) -> [u8; COMMITMENT] {
    commitment_to(ahead, component, b"proof", opening).chain_update(proof).finalize().into()
}

impl AstraEngine {
    /// Outputs that a role learns.
    pub(super) fn learned(&self, role: usize) -> Vec<u32> {
        let learns = |output: &&OutputOp| self.party.participants.learns(self.seats.party(role), output.to);
        let outputs = (0..).zip(&self.party.plan.outputs);
        outputs.filter(|(_, output)| learns(output)).map(|(index, _)| index).collect()
    }

    /// So many limits of silence after a time.
    pub(super) fn after(&self, start: Duration, silences: u32) -> Duration {
        let limit = self.party.session.limits().silence;
        start + silences * if planted(Mistake::LimitOfItsOwn) { 2 * limit } else { limit }
    }

    /// Sends a role a message of which there is one of a kind.
    pub(super) fn tell(&mut self, role: usize, part: u16, message: &[u8]) -> Result<(), Error> {
        let to = self.seats.party(role);
        Ok(self.party.session.mesh().send(to, at(part, 0), message)?)
    }

    /// Receives such a message, if it comes in time.
    pub(super) fn hear_by(
        &mut self,
        role: usize,
        part: u16,
        bytes: usize,
        deadline: Duration,
    ) -> Result<Option<Vec<u8>>, Error> {
        let from = self.seats.party(role);
        Ok(self.party.session.mesh().recv_by(from, at(part, 0), bytes, deadline)?)
    }

    /// So many limits of silence from now on.
    pub(super) fn within(&mut self, silences: u32) -> Duration {
        let now = self.party.session.mesh().now();
        self.after(now, silences)
    }

    /// Ends the run, by what this party has seen.
    pub(super) fn abort(&mut self, reason: &str) -> Error {
        self.party.session.mesh().abort(reason).into()
    }

    pub(super) fn fair(&mut self) -> &mut Fair {
        self.fair.get_or_insert_default()
    }

    /// Draws what opens the commitment to a component.
    pub(super) fn draw_opening(&mut self, component: usize) -> Zeroizing<[u8; OPENING]> {
        let mut opening = Zeroizing::new([0; OPENING]);
        let draw = Draw { part: step::FAIR_OPENING, op: component as u32 };
        self.streams[holder_beside(self.me, component)].fill(draw, 0, opening.as_mut_slice());
        opening
    }

    /// Draws a proof that `P_0` aborts, and what opens the commitment to it.
    pub(super) fn draw_proof(&mut self, component: usize) -> Zeroizing<[u8; PROOF + OPENING]> {
        let mut proof = Zeroizing::new([0; PROOF + OPENING]);
        let draw = Draw { part: step::FAIR_PROOF, op: component as u32 };
        self.streams[holder_beside(self.me, component)].fill(draw, 0, proof.as_mut_slice());
        proof
    }

    /// The commitment to a component that this party holds, of all outputs that the third party learns.
    pub(super) fn commit(&self, component: usize, opening: &[u8]) -> Result<[u8; COMMITMENT], Error> {
        let ahead = self.ahead.as_ref().ok_or_else(crate::state::no_material)?;
        let mut hash = commitment_to(ahead, component, b"outputs", opening);
        for output in self.learned(lacking(component)) {
            let reg = self.party.plan.outputs[output as usize].reg;
            let shape = self.party.plan.register(reg);
            for (_, range) in pieces(shape) {
                let mut message = message_of(shape, self.party.component(component).get(reg), &range);
                hash.update(&message);
                message.zeroize();
            }
        }
        Ok(hash.finalize().into())
    }

    /// Offline: commits to the masks of outputs and to proofs, and keeps what the others commit to.
    pub(crate) fn promise(&mut self) -> Result<(), Error> {
        if self.ahead.is_none() {
            return Ok(());
        }
        for component in self.held_masks() {
            let opening = self.draw_opening(component);
            let outputs = self.commit(component, opening.as_slice())?;
            let proof = self.draw_proof(component);
            let (proof, opening) = proof.split_at(PROOF);
            let proof = proof_commitment(self.ahead()?, component, proof, opening);
            self.tell(lacking(component), step::FAIR_PROMISE, [outputs, proof].as_flattened())?;
        }
        if self.me == 0 {
            return Ok(());
        }
        let [first, second] = [0, 3 - self.me].map(|role| self.seats.party(role));
        let mut receive =
            |from| self.party.session.mesh().recv(from, at(step::FAIR_PROMISE, 0), 2 * COMMITMENT);
        let (first, second) = (receive(first)?, receive(second)?);
        if first != second && !planted(Mistake::PromisesUncompared) {
            let differs = "two parties committed to different masks of outputs";
            return Err(self.party.session.reject(differs).into());
        }
        self.ahead()?.promised.bytes_mut().copy_from_slice(&first);
        Ok(())
    }
}
