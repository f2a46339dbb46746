//! The protocol `astra-fair`: as `astra-malicious`, and all honest parties have the outputs, or nobody has (section 4.3,
//! figure 10, mended).
//!
//! **Offline**, for an instance: of every output's components, `P_0` and `P_1` have `x_1` and `P_0` and `P_2` have `x_2`.
//! Each pair sends the third party a commitment to its component of all outputs that this party learns, and one to a
//! proof, 128 random bits: `r_1` of `P_0` and `P_1`, `r_2` of `P_0` and `P_2`. All that is random comes from the pair's key, so
//! both send the same; who is sent two different things aborts, and nothing is lost.
//!
//! **Online**, after the check of products:
//!
//! 0. `P_0`, whose check passed, says so to both; `P_1` and `P_2` say so to each other.
//! 1. `P_1` and `P_2`, who have heard that from both, tell each other. Who isn't told stops.
//! 2. `P_1` and `P_2` send `P_0` a commitment to `m` of the outputs that it learns.
//! 3. If both are the same `P_0` says *continue* and opens `x_1` to `P_2` and `x_2` to `P_1`. Else it aborts, with `r_2` opened
//!    to `P_1` and `r_1` to `P_2`.
//! 4. `P_1` tells `P_2` whether it got an abort, with `r_2`; `P_2` tells `P_1`, with `r_1`. Who got an abort from either stops.
//! 5. `P_1` opens `m` to `P_0` and `x_1` to `P_2`, and `P_2` opens `m` to `P_0` and `x_2` to `P_1`. Of two openings each takes one that
//!    fits the commitment: one of the two senders is honest.
//!
//! **What counts as an abort.** That of `P_0` to `P_1` counts if it opens the commitment to `r_2`, which `P_1` holds. `P_1` can
//! then convince `P_2`, who drew `r_2`: only `P_0` can have told it. Anything else from `P_0`, and nothing from it, counts as
//! *continue*: what one evaluator can't show the other it must not act on. A lie about it changes nothing, for who
//! lies hasn't the proof.
//!
//! **Why fair.** Nobody has more than two components before it is sent an opening. *`P_0` corrupt*: it lacks `m`, which
//! is opened in step 5 by honest parties alone that both passed 1 (one that stopped there hadn't told the other, or the
//! other is told nothing by it and stops) and that agree in 4: the same proof convinces both. Then each opens to the
//! other what it lacks. *`P_1` corrupt* (or `P_2`): if `P_0` continues, `P_2` learns of no valid abort, and opens; `P_0`
//! has its opening of `m`, `P_2` that of `x_1` from `P_0`. If `P_0` doesn't, it opens nothing, its proof reaches `P_2`,
//! and `P_1` never has `x_2`. If `P_2` stops before 1 there is one commitment at most, and `P_0` aborts.
//!
//! **Departures from the paper.** Step 1: without it a corrupt `P_0` fails one evaluator's check, who stops without a proof
//! that it could show, while the other goes on and opens `m` to `P_0`. Silence of `P_0`, which the paper leaves open.
//! `P_0` opens with its *continue*: after that nothing can stop an honest evaluator.
//!
//! **Time.** A party stays to the end once others may count on it: `P_0` from its word in 0, evaluators from 1 on. Whoever then
//! fails is left out ([`Mesh::leave_out_failed`](tacit_session::Mesh::leave_out_failed)). Messages between honest parties
//! must come within the limit of silence; waits are multiples of it such that whoever waits outlasts an honest party
//! that waits for a silent one before it sends ([`SIGNALLED`] and those beside it).

use crate::ahead::Ahead;
use crate::choice::Choice;
use crate::client::AstraClient;
use crate::engine::AstraEngine;
use crate::inout::{held, output_at};
use crate::planted::{Mistake, planted};
use crate::verified::{AstraMalicious, clients_learn};
use crate::{PARTIES, cost};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use subtle::ConstantTimeEq;
use tacit_engine::vector::add_assign;
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Checks, Clear, Client, Engine, Error, Protocol, ProtocolSpec, Roles, Security, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::Native;
use tacit_program::cost::Flow;
use tacit_program::plan::{InputOp, Op, OutputOp, Plan};
use tacit_session::{At, Draw, Session, step};
use zeroize::{Zeroize, Zeroizing};

/// The protocol `astra-fair`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AstraFair(Choice);

/// One for each choice.
static ALL: [AstraFair; Choice::ALL.len()] = {
    let mut all = [AstraFair::IN_ORDER; Choice::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = AstraFair(Choice::ALL[at]);
        at += 1;
    }
    all
};

impl AstraFair {
    /// The parties are `P_0`, `P_1` and `P_2` in their order.
    pub const IN_ORDER: Self = Self(Choice::USUAL);

    /// Comparisons are garbled.
    pub const GARBLED: Self = Self(Choice::GARBLED);

    /// The protocol that it is but for outputs.
    const fn unfair(self) -> AstraMalicious {
        AstraMalicious(self.0)
    }
}

static SPEC: ProtocolSpec = ProtocolSpec {
    name: "astra-fair",
    parties: 3..=3,
    corruptions: "one of three",
    security: Security::Fair,
    source: "Chaudhari et al. 2019",
};

impl Protocol for AstraFair {
    fn spec(&self) -> &ProtocolSpec {
        &SPEC
    }

    fn offered(&self) -> &'static [(&'static str, &'static [&'static str])] {
        Choice::OFFERED
    }

    fn with(&self, parameter: &str, value: &str) -> Option<&'static dyn Protocol> {
        let wanted = Self(self.0.with(parameter, value)?);
        ALL.iter().find(|known| **known == wanted).map(|known| known as &dyn Protocol)
    }

    fn parameters(&self) -> String {
        self.unfair().parameters()
    }

    fn prepares(&self) -> bool {
        self.unfair().prepares()
    }

    fn native(&self) -> Native {
        self.unfair().native()
    }

    fn offline(&self, plan: &Plan, op: &Op, stage: u32) -> Vec<Flow> {
        self.unfair().offline(plan, op, stage)
    }

    fn offline_rounds(&self, plan: &Plan) -> u64 {
        self.unfair().offline_rounds(plan)
    }

    fn operation(&self, plan: &Plan, op: &Op, stage: u32) -> Vec<Flow> {
        self.unfair().operation(plan, op, stage)
    }

    fn input(&self, plan: &Plan, roles: &Roles, input: &InputOp) -> Vec<Flow> {
        self.unfair().input(plan, roles, input)
    }

    fn seeds(&self, client: usize) -> Vec<Flow> {
        self.unfair().seeds(client)
    }

    fn output(&self, plan: &Plan, roles: &Roles, output: &OutputOp) -> Vec<Flow> {
        cost::fair_output(self.0.seats, plan, roles, output)
    }

    fn checks(&self, plan: &Plan, roles: &Roles) -> Checks {
        cost::fair_checks(self.0.seats, plan, roles)
    }

    fn checks_together(&self, plan: &Plan, runs: u64, lanes: u16) -> Checks {
        self.unfair().checks_together(plan, runs, lanes)
    }

    fn admit(&self, plan: &Plan, roles: &Roles) -> Result<(), Error> {
        self.unfair().admit(plan, roles)?;
        refuse_clients(plan, roles)
    }

    fn admit_lanes(&self, count: u16) -> Result<(), Error> {
        if count > 1 {
            let refused = "protocol \"astra-fair\" runs in one lane: what one of several opens the others could still withhold";
            return Err(Error::Refused(refused.into()));
        }
        Ok(())
    }

    fn seat(&self, mut session: Session, plan: Arc<Plan>, roles: Roles) -> Result<Box<dyn Engine>, Error> {
        self.admit(&plan, &roles)?;
        self.admit_lanes(session.mesh().lane().count)?;
        Ok(Box::new(AstraEngine::new(session, plan, roles, self.0.seats, true)?.with_fair_outputs()))
    }

    fn client(&self, mut session: Session, plan: Arc<Plan>, roles: Roles) -> Result<Box<dyn Client>, Error> {
        self.admit(&plan, &roles)?;
        self.admit_lanes(session.mesh().lane().count)?;
        Ok(Box::new(AstraClient::new(session, plan, roles, self.0.seats, true)))
    }
}

/// Refuses outputs that no party could be sure a client has, nor the client.
pub(crate) fn refuse_clients(plan: &Plan, roles: &Roles) -> Result<(), Error> {
    if clients_learn(plan, roles) {
        let refused = "protocol \"astra-fair\" reveals outputs to parties alone, and this plan reveals one to a client; reveal it to \
             the parties: reveal(..., to=[\"P0\", \"P1\", \"P2\"]), by the names that they have in parties.toml";
        return Err(Error::Refused(refused.into()));
    }
    Ok(())
}

/// Bytes of a commitment.
const COMMITMENT: usize = 32;

/// Bytes of what opens a commitment, besides what was committed to.
const OPENING: usize = 32;

/// Bytes of a proof that `P_0` aborts.
pub(crate) const PROOF: usize = 16;

/// Bytes of what `P_0` says: whether it aborts, and if so the proof and its opening.
pub(crate) const SIGNAL: usize = 1 + PROOF + OPENING;

/// Bytes of what an evaluator says of it.
pub(crate) const REPORT: usize = 1 + PROOF;

// The longest waits, in limits of silence. A message between honest parties takes one at most. Two honest evaluators
// enter step 1 at most two apart: each has heard the other's word, and waits for no more than that of P_0, for one.

/// Of an evaluator for the other's word in step 1, from when it entered.
const READY: u32 = 3;
/// Of `P_0` for commitments, from its word in step 0.
const COMMITTED: u32 = 4;
/// Of an evaluator for the signal: it entered after `P_0` had given its word, which decides within [`COMMITTED`].
const SIGNALLED: u32 = COMMITTED + 1;
/// Of an evaluator for the other's report: that one may have entered two later, and waited for the signal.
const REPORTED: u32 = SIGNALLED + 3;
/// Of an evaluator for the openings: the other one may have entered two later, and waited for the report.
const OPENED: u32 = REPORTED + 3;
/// Of `P_0` for the openings, from its signal: both evaluators had entered.
const OPENED_TO_FIRST: u32 = REPORTED + 1;

/// What opens outputs to all.
#[derive(Default)]
pub(crate) struct Fair {
    /// What opens the commitments to this party's components.
    openings: [Zeroizing<[u8; OPENING]>; PARTIES],
    /// The commitment to the component that this party lacks.
    promised: [u8; COMMITMENT],
    /// When all openings are here.
    deadline: Duration,
    /// The components that were opened, once they are here; only of outputs that this party learns.
    opened: Vec<Option<Buffer>>,
}

/// What one party opens.
struct Opened {
    /// A component of every output that the receiver learns.
    components: Vec<Buffer>,
    /// The commitment that this opens.
    commitment: [u8; COMMITMENT],
}

/// The role that lacks a component, and the component that a role lacks.
const fn lacking(number: usize) -> usize {
    (PARTIES - number) % PARTIES
}

/// Who else holds a component.
fn holder_beside(me: usize, component: usize) -> usize {
    PARTIES - me - lacking(component)
}

fn at(part: u16, op: u32) -> At {
    At { lane: 0, part, op, batch: 0 }
}

/// The beginning of a commitment to something of a component. What follows has a length that the plan says.
fn commitment_to(ahead: &Ahead, component: usize, label: &[u8], opening: &[u8]) -> Sha256 {
    let mut hash = Sha256::new_with_prefix(b"tacit astra fair 1");
    // The component says whose it is: the pair that holds it.
    for field in [&ahead.instance()[..], &(component as u64).to_le_bytes(), label, opening] {
        hash.update((field.len() as u64).to_le_bytes());
        hash.update(field);
    }
    hash
}

/// A commitment to a proof that `P_0` aborts.
fn proof_commitment(ahead: &Ahead, component: usize, proof: &[u8], opening: &[u8]) -> [u8; COMMITMENT] {
    commitment_to(ahead, component, b"proof", opening).chain_update(proof).finalize().into()
}

impl AstraEngine {
    /// Outputs that a role learns.
    fn learned(&self, role: usize) -> Vec<u32> {
        let learns = |output: &&OutputOp| self.roles.learns(self.seats.party(role), output.to);
        let outputs = (0..).zip(&self.plan.outputs);
        outputs.filter(|(_, output)| learns(output)).map(|(index, _)| index).collect()
    }

    /// Draws what opens the commitment to a component.
    fn draw_opening(&mut self, component: usize) -> Zeroizing<[u8; OPENING]> {
        let mut opening = Zeroizing::new([0; OPENING]);
        let draw = Draw { part: step::FAIR_OPENING, op: component as u32 };
        self.streams[holder_beside(self.me, component)].fill(draw, 0, opening.as_mut_slice());
        opening
    }

    /// Draws a proof that `P_0` aborts, and what opens the commitment to it.
    fn draw_proof(&mut self, component: usize) -> Zeroizing<[u8; PROOF + OPENING]> {
        let mut proof = Zeroizing::new([0; PROOF + OPENING]);
        let draw = Draw { part: step::FAIR_PROOF, op: component as u32 };
        self.streams[holder_beside(self.me, component)].fill(draw, 0, proof.as_mut_slice());
        proof
    }

    /// The commitment to a component that this party holds, of all outputs that the third party learns.
    fn commit(&self, component: usize, opening: &[u8]) -> Result<[u8; COMMITMENT], Error> {
        let ahead = self.ahead.as_ref().ok_or_else(crate::products::no_material)?;
        let mut hash = commitment_to(ahead, component, b"outputs", opening);
        for output in self.learned(lacking(component)) {
            let reg = self.plan.outputs[output as usize].reg;
            let shape = self.plan.register(reg);
            for (_, range) in pieces(shape) {
                let mut message = message_of(shape, self.component(component).get(reg), &range);
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
            let to = self.party(lacking(component));
            self.session.mesh().send(to, at(step::FAIR_PROMISE, 0), [outputs, proof].as_flattened())?;
        }
        if self.me == 0 {
            return Ok(());
        }
        let [first, second] = [0, 3 - self.me].map(|role| self.party(role));
        let mut receive = |from| self.session.mesh().recv(from, at(step::FAIR_PROMISE, 0), 2 * COMMITMENT);
        let (first, second) = (receive(first)?, receive(second)?);
        if first != second {
            return Err(self.session.reject("two parties committed to different masks of outputs").into());
        }
        self.ahead()?.promised.bytes_mut().copy_from_slice(&first);
        Ok(())
    }

    /// Checks what the outputs depend on, and makes sure that all honest parties go on to open them, or none.
    pub(crate) fn agree(&mut self) -> Result<(), Error> {
        let (seats, plan) = (self.seats, self.plan.clone());
        match &mut self.verified {
            Some(verified) => verified.verify(&mut self.session, seats, &plan)?,
            None => 0,
        };
        if self.me == 0 { self.decide() } else { self.follow() }
    }

    /// So many limits of silence after a time.
    fn after(&self, start: Duration, silences: u32) -> Duration {
        start + self.session.limits().silence * silences
    }

    fn accept(&mut self, role: usize) -> Result<(), Error> {
        let party = self.party(role);
        let acceptance = self.session.acceptance(party);
        Ok(self.session.mesh().send(party, at(step::ACCEPT, 0), &acceptance)?)
    }

    /// `P_0`'s part of steps 0 to 3.
    fn decide(&mut self) -> Result<(), Error> {
        for component in self.held_masks() {
            self.fair().openings[component] = self.draw_opening(component);
        }
        // From its first word on others may go on without it: it must not stop without its proofs.
        self.session.mesh().leave_out_failed();
        [1, 2].into_iter().try_for_each(|role| self.accept(role))?;
        let start = self.session.mesh().now();
        let deadline = self.after(start, COMMITTED);
        let mut receive = |role: usize| {
            let from = self.seats.party(role);
            self.session.mesh().recv_by(from, at(step::FAIR_COMMITMENT, 0), COMMITMENT, deadline)
        };
        let commitments = [receive(1)?, receive(2)?];
        if let [Some(first), Some(second)] = &commitments
            && first == second
        {
            self.fair().promised.copy_from_slice(first);
            for role in 1..=2 {
                self.signal(role, &[0; SIGNAL])?;
            }
            let now = self.session.mesh().now();
            self.fair().deadline = self.after(now, OPENED_TO_FIRST);
            return Ok(());
        }
        for role in 1..=2 {
            // Whoever lacks a component holds the commitment to its proof.
            let proof = self.draw_proof(lacking(role));
            let mut signal = Zeroizing::new([1; SIGNAL]);
            signal[1..].copy_from_slice(proof.as_slice());
            self.signal(role, signal.as_slice())?;
        }
        // That one says nothing may be its link's fault.
        if commitments.iter().any(Option::is_none) {
            return Err(self.session.mesh().abort("an evaluator did not commit to the outputs").into());
        }
        Err(self.session.reject("the evaluators committed to different outputs").into())
    }

    fn signal(&mut self, role: usize, signal: &[u8]) -> Result<(), Error> {
        let to = self.party(role);
        Ok(self.session.mesh().send(to, at(step::FAIR_SIGNAL, 0), signal)?)
    }

    /// `P_1`'s and `P_2`'s part of steps 0 to 4.
    fn follow(&mut self) -> Result<(), Error> {
        let (me, first, other) = (self.me, self.party(0), self.party(3 - self.me));
        let accepted =
            |session: &mut Session, party, theirs: Vec<u8>| session.check_acceptance(party, &theirs);
        if !planted(Mistake::NoVerdicts) {
            self.accept(3 - me)?;
            let theirs = self.session.mesh().recv(other, at(step::ACCEPT, 0), COMMITMENT)?;
            accepted(&mut self.session, other, theirs)?;
        }
        let now = self.session.mesh().now();
        let deadline = self.after(now, 1);
        let theirs = self.session.mesh().recv_by(first, at(step::ACCEPT, 0), COMMITMENT, deadline)?;
        // Nobody is left out yet: who fails ends the run.
        accepted(&mut self.session, first, theirs.unwrap_or_default())?;
        for component in held(me) {
            self.fair().openings[component] = self.draw_opening(component);
        }
        let opening = self.fair().openings[0].clone();
        let commitment = self.commit(0, opening.as_slice())?;
        let own = self.draw_proof(me);

        // Once the other is told, it may go on without this party.
        self.session.mesh().leave_out_failed();
        let start = self.session.mesh().now();
        if !planted(Mistake::NoVerdicts) {
            self.session.mesh().send(other, at(step::FAIR_READY, 0), &[1])?;
            let deadline = self.after(start, READY);
            if self.session.mesh().recv_by(other, at(step::FAIR_READY, 0), 1, deadline)?.is_none() {
                return Err(self
                    .session
                    .mesh()
                    .abort("the other evaluator is not ready to open outputs")
                    .into());
            }
        }
        self.session.mesh().send(first, at(step::FAIR_COMMITMENT, 0), &commitment)?;
        let deadline = self.after(start, SIGNALLED);
        let signal = self.session.mesh().recv_by(first, at(step::FAIR_SIGNAL, 0), SIGNAL, deadline)?;
        if planted(Mistake::SilenceAborts) && signal.is_none() {
            return Err(self.session.mesh().abort("no signal").into());
        }
        let proof = self.proof_of(signal.as_deref())?;
        let mut report = Zeroizing::new([0; REPORT]);
        if let Some(proof) = &proof {
            report[0] = 1;
            report[1..].copy_from_slice(proof.as_slice());
        }
        self.session.mesh().send(other, at(step::FAIR_REPORT, 0), report.as_slice())?;
        let deadline = self.after(start, REPORTED);
        let theirs = self.session.mesh().recv_by(other, at(step::FAIR_REPORT, 0), REPORT, deadline)?;
        let reported = theirs.is_some_and(|theirs| match theirs.split_first() {
            Some((1, proof)) => planted(Mistake::AbortWithoutProof) || bool::from(proof.ct_eq(&own[..PROOF])),
            _ => false,
        });
        if proof.is_some() || reported {
            return Err(self.session.mesh().abort("the party that prepares aborted, and proved it").into());
        }
        let promised = self.ahead()?.promised.bytes()[..COMMITMENT].to_vec();
        self.fair().promised.copy_from_slice(&promised);
        self.fair().deadline = self.after(start, OPENED);
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

    fn fair(&mut self) -> &mut Fair {
        self.fair.get_or_insert_default()
    }

    /// Opens this party's components to those that lack them: of all outputs, with the first.
    pub(crate) fn open(&mut self, output: u32) -> Result<(), Error> {
        if output > 0 {
            return Ok(());
        }
        for component in held(self.me) {
            let to = self.party(lacking(component));
            let learned = self.learned(lacking(component));
            if learned.is_empty() {
                continue;
            }
            let opening = self.fair().openings[component].clone();
            let opening_at = at(step::FAIR_OPENING, component as u32);
            self.session.mesh().send(to, opening_at, opening.as_slice())?;
            for output in learned {
                let reg = self.plan.outputs[output as usize].reg;
                let shape = self.plan.register(reg);
                for (batch, range) in pieces(shape) {
                    let message = message_of(shape, self.component(component).get(reg), &range);
                    self.session.mesh().send_vec(to, output_at(output, batch), message)?;
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
        let operation = &self.plan.outputs[output as usize];
        let (reg, shape) = (operation.reg, self.plan.register(operation.reg));
        let Some(mut sum) = self.fair().opened.get_mut(output as usize).and_then(Option::take) else {
            return Ok(None);
        };
        add_assign(shape, &mut sum, self.first.get(reg));
        add_assign(shape, &mut sum, self.second.get(reg));
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
            let fits = |theirs: &Opened| bool::from(theirs.commitment.ct_eq(&promised));
            opened = opened.or(theirs.filter(fits));
        }
        let Some(Opened { components, .. }) = opened else {
            return Err(self.session.reject("nobody opened the outputs").into());
        };
        let mut all = vec![None; self.plan.outputs.len()];
        for (output, component) in learned.into_iter().zip(components) {
            all[output as usize] = Some(component);
        }
        self.fair().opened = all;
        Ok(())
    }

    /// What one party opens, and the commitment that it opens; `None` if the party fails.
    fn take_from(&mut self, role: usize, learned: &[u32]) -> Result<Option<Opened>, Error> {
        let (component, from, deadline) = (lacking(self.me), self.party(role), self.fair().deadline);
        let opening_at = at(step::FAIR_OPENING, component as u32);
        let Some(opening) = self.session.mesh().recv_by(from, opening_at, OPENING, deadline)? else {
            return Ok(None);
        };
        let mut hash = commitment_to(self.ahead()?, component, b"outputs", &opening);
        let mut components = Vec::with_capacity(learned.len());
        for &output in learned {
            let shape = self.plan.register(self.plan.outputs[output as usize].reg);
            let mut values = Buffer::new(bytes_of(shape.domain, shape.cols));
            for (batch, range) in pieces(shape) {
                let bytes = message_bytes(shape.domain, range.len());
                let piece = self.session.mesh().recv_by(from, output_at(output, batch), bytes, deadline)?;
                let Some(piece) = piece else { return Ok(None) };
                hash.update(&piece);
                unpack_columns(shape, &piece, range, &mut values);
                self.session.mesh().recycle(piece);
            }
            components.push(values);
        }
        Ok(Some(Opened { components, commitment: hash.finalize().into() }))
    }
}
