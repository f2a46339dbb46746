//! What a party still has to verify before outputs are opened.

use crate::planted::{Mistake, planted};
use crate::verify::{Challenges, Counts, ProofParams, Proofs, counts, is_too_large};
use sha2::{Digest, Sha256};
use tacit_circuit::Layer;
use tacit_engine::layer::pieces;
use tacit_engine::{Error, Job};
use tacit_program::plan::{Modulus, Op, OpKind, Plan};
use tacit_session::Session;
use tacit_threeparty::hiding::{Hiding, clients_learn};
use tacit_threeparty::{Party, next, prev};

/// What a party still has to verify.
pub(crate) struct Verified {
    pub(crate) proofs: Proofs,
    challenges: Challenges,
    /// What the plan has to prove.
    counts: Counts,
    /// What clients gave, of the component that is shared with the next party, and of that with the previous one.
    given: Option<[Sha256; 2]>,
    /// What hides outputs' components from clients, once everybody has accepted.
    pub(crate) hiding: Option<Hiding>,
}

impl Verified {
    pub(crate) fn new(
        plan: &Plan,
        cut: ProofParams,
        challenges: Challenges,
        me: usize,
    ) -> Result<Self, Error> {
        refuse_unverified(plan, challenges)?;
        let proofs = Proofs::new(cut, challenges, me);
        Ok(Self { proofs, challenges, counts: noted_counts(plan), given: None, hiding: None })
    }

    /// Begins another plan.
    pub(crate) fn next(&mut self, plan: &Plan) -> Result<(), Error> {
        refuse_unverified(plan, self.challenges)?;
        self.proofs.next_plan();
        self.counts = noted_counts(plan);
        Ok(())
    }

    /// Notes what a client gave: this party's own component, and the previous party's.
    pub(crate) fn given(&mut self, components: [Vec<u8>; 2]) {
        for (hash, bytes) in self.given.get_or_insert_default().iter_mut().zip(components) {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }

    /// Compares with both neighbours what clients gave, once all inputs are here.
    pub(crate) fn compare_given(&mut self, session: &mut Session) -> Result<(), Error> {
        if planted(Mistake::GivenNotCompared) || planted(Mistake::GivenComparedLate) {
            return Ok(());
        }
        self.compare(session)
    }

    fn compare(&mut self, session: &mut Session) -> Result<(), Error> {
        let Some(hashes) = self.given.take() else { return Ok(()) };
        let [own, before] = hashes.map(Sha256::finalize);
        let me = session.me();
        Ok(session.compare_shared(&[(next(me), &own), (prev(me), &before)], "what a client gave")?)
    }

    /// Proves and verifies all that is left, accepts, and waits until the others do.
    pub(crate) fn check(&mut self, party: &mut Party) -> Result<(), Error> {
        let learn = clients_learn(&party.plan, &party.participants);
        let (session, scheme) = (&mut party.session, &party.scheme);
        if !planted(Mistake::OutputsEarly) {
            self.proofs.complete(self.counts, session)?;
        }
        if planted(Mistake::GivenComparedLate) {
            self.compare(session)?;
        }
        let accept = |session: &mut Session| {
            if planted(Mistake::OutputsEarly) { Ok(()) } else { self.accept(session) }
        };
        self.hiding = Hiding::after(accept, session, scheme, learn)?;
        Ok(())
    }

    /// What the mistake of the name leaves for after the outputs.
    #[cfg(feature = "planted")]
    pub(crate) fn check_late(&mut self, session: &mut Session) -> Result<(), Error> {
        self.proofs.complete(self.counts, session)?;
        self.accept(session)
    }

    /// Accepts, and waits until the others do.
    fn accept(&self, session: &mut Session) -> Result<(), Error> {
        if planted(Mistake::SilenceAccepts) {
            return Ok(());
        }
        Ok(session.accept(&self.counts.bytes())?)
    }
}

/// Refuses what has no proof.
pub(crate) fn refuse_unverified(plan: &Plan, challenges: Challenges) -> Result<(), Error> {
    plan.ops.iter().try_for_each(|op| match why_unverified(plan, &op.kind, challenges) {
        None => Ok(()),
        Some(reason) => Err(Error::Refused(format!("protocol \"replicated-malicious\" {reason}"))),
    })
}

/// Why an operation has no proof, if it has none.
fn why_unverified(plan: &Plan, kind: &OpKind, challenges: Challenges) -> Option<&'static str> {
    let domain = || plan.register(kind.writes()[0]).domain;
    match kind {
        OpKind::And { .. } | OpKind::Circuit { .. } => None,
        OpKind::Mul { .. } | OpKind::MatMul { .. } => match (domain().modulus(), challenges) {
            (_, Challenges::FiatShamir) => Some(
                "proves products of numbers with coins that its verifiers toss: with challenges=fiat-shamir a prover \
                 could try for as long as it likes",
            ),
            (Modulus::PowerOfTwo(1..=64), _) if is_too_large(kind) => Some(
                "can't prove a product of matrices as large as this plan's: their terms are more than 2^38",
            ),
            (Modulus::PowerOfTwo(1..=64), _) => None,
            _ => Some("verifies products modulo powers of two up to 2^64, and this plan has others"),
        },
        _ => Some("verifies ANDs of bits and products; this plan has other operations"),
    }
}

/// What there is to prove of a plan.
fn noted_counts(plan: &Plan) -> Counts {
    Counts { words: noted_words(plan), ..counts(plan) }
}

/// Words of ANDs that a party notes: those of every message begin a word.
pub(crate) fn noted_words(plan: &Plan) -> u64 {
    let of = |op: &Op, address: u32| -> u64 {
        tacit_engine::jobs(plan, address, 0)
            .map(|job| match &op.kind {
                OpKind::Circuit { circuit, .. } => {
                    circuit.layers.iter().map(|layer| words_of_layer(layer, &job)).sum()
                }
                OpKind::And { dst, .. } => (dst.count as usize * job.cols.len()).div_ceil(64) as u64,
                _ => 0,
            })
            .sum()
    };
    plan.counted_ops().map(|(op, address, times)| times * of(op, address)).sum()
}

/// Words in which the ANDs of a layer of a tile are noted for the proofs.
fn words_of_layer(layer: &Layer, job: &Job) -> u64 {
    pieces(layer, job).map(|(_, ands)| (ands.len() * job.cols.len()).div_ceil(64) as u64).sum()
}
