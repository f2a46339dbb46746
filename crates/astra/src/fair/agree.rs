//! What comes before outputs are opened: all honest parties go on to open them, or none.

use super::promise::proof_commitment;
use super::terms::{ACCEPTANCE, COMMITMENT, PROOF, REPORT, SIGNAL, lacking};
use super::waits::{COMMITTED, OPENED, OPENED_TO_FIRST, READY, REPORTED, SIGNALLED, STAY, VERDICT};
use crate::planted::{Mistake, planted};
use crate::state::AstraEngine;
use crate::step;
use std::time::Duration;
use subtle::ConstantTimeEq;
use tacit_engine::Error;
use tacit_threeparty::messages::at;
use zeroize::Zeroizing;

/// A message that says by its coming that its sender has got so far.
const SO_FAR: [u8; 1] = [1];

impl AstraEngine {
    /// Checks what the outputs depend on, and makes sure that all honest parties go on to open them, or none.
    pub(crate) fn agree(&mut self) -> Result<(), Error> {
        let (seats, plan) = (self.seats, self.party.plan.clone());
        match &mut self.verified {
            Some(verified) => verified.verify(&mut self.party.session, seats, &plan)?,
            None => 0,
        };
        if self.me == 0 { self.decide() } else { self.follow() }
    }

    /// Says that this party is done with computing, and that its check passed.
    fn accept(&mut self, role: usize) -> Result<(), Error> {
        let acceptance = self.party.session.acceptance(self.seats.party(role));
        self.tell(role, step::ACCEPT, &acceptance)
    }

    /// Waits for the like, for as long as the other one computes.
    fn hear(&mut self, role: usize) -> Result<(), Error> {
        let party = self.seats.party(role);
        let theirs = self.party.session.mesh().recv(party, at(step::ACCEPT, 0), ACCEPTANCE)?;
        Ok(self.party.session.check_acceptance(party, &theirs)?)
    }

    /// `P_0`'s part of steps 0 to 4.
    fn decide(&mut self) -> Result<(), Error> {
        for component in self.held_masks() {
            self.fair().openings[component] = self.draw_opening(component);
        }
        [1, 2].into_iter().try_for_each(|role| self.accept(role))?;
        if !planted(Mistake::VerdictBeforeWords) {
            [1, 2].into_iter().try_for_each(|role| self.hear(role))?;
        }
        let mut start = self.party.session.mesh().now();
        // From its verdict on others may go on without it: it must not stop without its proofs.
        self.stay(start);
        for role in 1..=2 {
            self.tell(role, step::FAIR_VERDICT, &SO_FAR)?;
        }
        if planted(Mistake::VerdictBeforeWords) {
            for role in 1..=2 {
                let deadline = self.after(start, 2 * STAY);
                self.hear_by(role, step::ACCEPT, ACCEPTANCE, deadline)?;
            }
            start = self.party.session.mesh().now();
        }
        let deadline = self.after(start, COMMITTED);
        let mut receive = |role| self.hear_by(role, step::FAIR_COMMITMENT, COMMITMENT, deadline);
        let commitments = [receive(1)?, receive(2)?];
        if let [Some(first), Some(second)] = &commitments
            && (first == second || planted(Mistake::CommitmentsDiffer))
        {
            self.fair().promised.copy_from_slice(first);
            for role in 1..=2 {
                self.tell(role, step::FAIR_SIGNAL, &[0; SIGNAL])?;
            }
            self.fair().deadline = self.within(OPENED_TO_FIRST);
            return Ok(());
        }
        for role in 1..=2 {
            // Also one whose commitment is late hears of it: it may be honest, and have waited for the other.
            if planted(Mistake::NoWordToTheLate) && commitments[role - 1].is_none() {
                continue;
            }
            // Whoever lacks a component holds the commitment to its proof.
            let proof = self.draw_proof(lacking(role));
            let mut signal = Zeroizing::new([1; SIGNAL]);
            signal[1..].copy_from_slice(proof.as_slice());
            self.tell(role, step::FAIR_SIGNAL, signal.as_slice())?;
        }
        // That one says nothing may be its link's fault.
        if commitments.iter().any(Option::is_none) {
            return Err(self.abort("an evaluator did not commit to the outputs"));
        }
        Err(self.party.session.reject("the evaluators committed to different outputs").into())
    }

    /// From now on whoever fails is left out; others count on what this party sends.
    fn stay(&mut self, start: Duration) {
        let stay = if planted(Mistake::LeavesAtOnce) { start } else { self.after(start, STAY) };
        self.party.session.mesh().tolerate_failures(stay);
    }

    /// `P_1`'s and `P_2`'s part of steps 0 to 5.
    fn follow(&mut self) -> Result<(), Error> {
        let (me, other) = (self.me, 3 - self.me);
        // All that takes long is done before others wait for this party by the clock.
        for component in self.party.held() {
            self.fair().openings[component] = self.draw_opening(component);
        }
        let opening = self.fair().openings[0].clone();
        let commitment = self.commit(0, opening.as_slice())?;
        let own = self.draw_proof(me);
        self.hear(0)?;
        self.accept(0)?;
        if !planted(Mistake::NoVerdicts) {
            self.accept(other)?;
            self.hear(other)?;
        }
        self.await_verdict()?;
        let start = self.party.session.mesh().now();
        // Once the other is told, it may go on without this party.
        self.stay(start);
        if !planted(Mistake::NoVerdicts) {
            self.tell(other, step::FAIR_READY, &SO_FAR)?;
            let deadline = self.after(start, READY);
            if self.hear_by(other, step::FAIR_READY, SO_FAR.len(), deadline)?.is_none() {
                return Err(self.abort("the other evaluator is not ready to open outputs"));
            }
        }
        self.tell(0, step::FAIR_COMMITMENT, &commitment)?;
        let deadline = self.after(start, if planted(Mistake::LateSignals) { OPENED } else { SIGNALLED });
        let signal = self.hear_by(0, step::FAIR_SIGNAL, SIGNAL, deadline)?;
        if planted(Mistake::SilenceAborts) && signal.is_none() {
            return Err(self.abort("no signal"));
        }
        let proof = self.proof_of(signal.as_deref())?;
        let mut report = Zeroizing::new([0; REPORT]);
        if let Some(proof) = &proof {
            report[0] = 1;
            report[1..].copy_from_slice(proof.as_slice());
        }
        self.tell(other, step::FAIR_REPORT, report.as_slice())?;
        let deadline = self.after(start, REPORTED);
        let theirs = self.hear_by(other, step::FAIR_REPORT, REPORT, deadline)?;
        let reported = theirs.is_some_and(|theirs| match theirs.split_first() {
            Some((1, proof)) => planted(Mistake::AbortWithoutProof) || bool::from(proof.ct_eq(&own[..PROOF])),
            _ => false,
        });
        if proof.is_some() || reported {
            return Err(self.abort("the party that prepares aborted, and proved it"));
        }
        let promised = self.ahead()?.promised.bytes()[..COMMITMENT].to_vec();
        self.fair().promised.copy_from_slice(&promised);
        self.fair().deadline = self.after(start, OPENED);
        Ok(())
    }

    /// Waits for `P_0`'s verdict, whatever signs of life it gives: the other evaluator counts on it. Nobody is left out yet:
    /// who is late ends the run.
    fn await_verdict(&mut self) -> Result<(), Error> {
        if planted(Mistake::VerdictAwaited) {
            let first = self.seats.party(0);
            self.party.session.mesh().recv(first, at(step::FAIR_VERDICT, 0), SO_FAR.len())?;
            return Ok(());
        }
        let deadline = self.within(VERDICT);
        self.hear_by(0, step::FAIR_VERDICT, SO_FAR.len(), deadline)?;
        Ok(())
    }

    /// The proof in a signal of `P_0`, if it says that it aborts and proves it.
    fn proof_of(&mut self, signal: Option<&[u8]>) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let component = lacking(self.me);
        let ahead = self.ahead()?;
        let Some((1, opened)) = signal.and_then(<[u8]>::split_first) else {
            return Ok(None);
        };
        let (proof, opening) = opened.split_at(PROOF);
        let commitment = proof_commitment(ahead, component, proof, opening);
        let fits = bool::from(commitment.ct_eq(&ahead.promised.bytes()[COMMITMENT..]));
        let counts = fits || planted(Mistake::AbortWithoutProof);
        Ok(counts.then(|| Zeroizing::new(proof.to_vec())))
    }
}
