//! What a party still has to verify before outputs are opened.

use crate::opened::Opened;
use crate::planted::{Mistake, planted};
use crate::segments::segments;
use crate::turns::Turn;
use crate::verify::{Challenges, Counts, Limits, ProofParams, Proofs, is_too_large};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use tacit_engine::Error;
use tacit_program::plan::{Modulus, OpKind, Opening, Plan};
use tacit_session::{At, Session, step};
use tacit_threeparty::hiding::{Hiding, clients_learn};
use tacit_threeparty::{PARTIES, Party, next, prev};

/// What a party still has to verify.
pub(crate) struct Verified {
    pub(crate) proofs: Proofs,
    challenges: Challenges,
    /// Turns of shuffles that haven't ended, by their operations.
    pub(crate) turns: HashMap<u32, Turn>,
    /// What is being opened, by its operations.
    pub(crate) opened: HashMap<u32, Opened>,
    limits: Limits,
    /// What the plan has to prove from its beginning to each check that is still to come.
    counts: VecDeque<Counts>,
    /// Checks before openings that have passed.
    passed: u32,
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
        let (proofs, limits) = (Proofs::new(cut, challenges, me), Limits::of(cut.batch_words));
        let counts = sums(plan, limits);
        let (turns, opened, given, hiding) = Default::default();
        Ok(Self { proofs, challenges, turns, opened, limits, counts, passed: 0, given, hiding })
    }

    /// Begins another plan.
    pub(crate) fn next(&mut self, plan: &Plan) -> Result<(), Error> {
        refuse_unverified(plan, self.challenges)?;
        self.proofs.next_plan();
        (self.counts, self.passed) = (sums(plan, self.limits), 0);
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

    /// Proves and verifies all that is left, accepts, and waits until the others do: before verified openings, and before
    /// outputs.
    pub(crate) fn check(&mut self, party: &mut Party) -> Result<(), Error> {
        let counts = self.counts.pop_front().unwrap_or_default();
        if self.counts.is_empty() { self.check_all(counts, party) } else { self.check_opened(counts, party) }
    }

    /// Before verified openings.
    fn check_opened(&mut self, counts: Counts, party: &mut Party) -> Result<(), Error> {
        if planted(Mistake::OpenedUnproved) {
            return Ok(());
        }
        let session = &mut party.session;
        self.proofs.complete(counts, session)?;
        self.passed += 1;
        if planted(Mistake::OpenedUnaccepted) {
            return Ok(());
        }
        let at = At { lane: 0, part: step::ACCEPT, op: 0, batch: self.passed };
        Ok(session.accept_at(at, &counts.bytes())?)
    }

    /// Before outputs.
    fn check_all(&mut self, counts: Counts, party: &mut Party) -> Result<(), Error> {
        let learn = clients_learn(&party.plan, &party.participants);
        let is_late =
            planted(Mistake::OutputsEarly) || planted(Mistake::GuardEarly) && party.plan.guard.is_some();
        let (session, scheme) = (&mut party.session, &party.scheme);
        if !is_late {
            self.proofs.complete(counts, session)?;
        }
        if planted(Mistake::GivenComparedLate) {
            self.compare(session)?;
        }
        let accept = |session: &mut Session| if is_late { Ok(()) } else { accept(counts, session) };
        self.hiding = Hiding::after(accept, session, scheme, learn)?;
        Ok(())
    }

    /// What mistakes leave for after the outputs, or after the guard.
    #[cfg(feature = "planted")]
    pub(crate) fn check_late(&mut self, party: &mut Party) -> Result<(), Error> {
        let counts = sums(&party.plan, self.limits).pop_back().unwrap_or_default();
        self.proofs.complete(counts, &mut party.session)?;
        accept(counts, &mut party.session)
    }
}

/// Accepts, and waits until the others do.
fn accept(counts: Counts, session: &mut Session) -> Result<(), Error> {
    if planted(Mistake::SilenceAccepts) {
        return Ok(());
    }
    Ok(session.accept(&counts.bytes())?)
}

/// What a plan has to prove from its beginning to each check.
fn sums(plan: &Plan, limits: Limits) -> VecDeque<Counts> {
    let mut sum = Counts::default();
    let mut until = |counts: Counts| {
        sum = sum.and(counts);
        sum
    };
    segments(plan, limits).into_iter().map(|segment| until(segment.counts)).collect()
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
        OpKind::And { .. } | OpKind::Circuit { .. } | OpKind::Open { how: Opening::Verified, .. } => None,
        OpKind::Shuffle { .. } if challenges == Challenges::FiatShamir => Some(
            "proves shuffles with coins that its verifiers toss: with challenges=fiat-shamir it has none",
        ),
        // With fewer somebody knows all of the order.
        OpKind::Shuffle { turns, .. } if usize::from(*turns) != PARTIES => {
            Some("shuffles by an order of every two parties, and this plan leaves some out")
        }
        OpKind::Shuffle { .. } if is_too_large(plan, kind) => {
            Some("can't prove a shuffle as long as this plan's: a column has more than 2^24 elements")
        }
        OpKind::Shuffle { dst, .. } => {
            let is_proved = |reg| matches!(plan.register(reg).domain.modulus(), Modulus::PowerOfTwo(1..=64));
            let all = dst.iter().copied().all(is_proved);
            (!all).then_some(
                "verifies shuffles of numbers modulo powers of two up to 2^64, and this plan has others",
            )
        }
        OpKind::Mul { .. } | OpKind::MatMul { .. } => match (domain().modulus(), challenges) {
            (_, Challenges::FiatShamir) => Some(
                "proves products of numbers with coins that its verifiers toss: with challenges=fiat-shamir a prover \
                 could try for as long as it likes",
            ),
            (Modulus::PowerOfTwo(1..=64), _) if is_too_large(plan, kind) => Some(
                "can't prove a product of matrices as large as this plan's: their terms are more than 2^38",
            ),
            (Modulus::PowerOfTwo(1..=64), _) => None,
            _ => Some("verifies products modulo powers of two up to 2^64, and this plan has others"),
        },
        _ => Some("verifies ANDs of bits, products and shuffles; this plan has other operations"),
    }
}
