//! The protocol `replicated-malicious`: as `replicated`, and nothing is revealed before everything is proved.
//!
//! Li et al., "Efficient 3PC for Binary Circuits with Application to Maliciously-Secure DNN Inference" (USENIX Security
//! 2023), protocol B.0.1. One of three parties may do what it likes; then the honest ones have the right outputs or end
//! with an error.
//!
//! **Inputs.** A party's own input takes one message to one party, so it can't tell two parties different things. Two
//! parties compare what a client gave both of them, by a digest, before anything is computed. Otherwise whether a proof
//! passes would depend on secrets, if there is a difference.
//!
//! **ANDs** are proved in batches while others are computed ([`crate::verify`]).
//!
//! **Acceptance.** When all proofs that it verifies have passed, a party tells both others that it accepts. It reveals
//! nothing before it has heard the same from both.
//!
//! **Outputs.** Each component comes from the two parties that hold it, from one of them as a digest. Every party also
//! tells clients that it accepts, in a message that is bound to the session: to the program, to the clients and to the
//! nonces of all parties. A zero-sharing that all parties know hides the components from clients. Inputs of parties
//! have a component that is zero, so the components of several outputs can tell more than the outputs.

use crate::client::ReplicatedClient;
use crate::engine::ReplicatedEngine;
use crate::planted::{Mistake, planted};
use crate::verify::{Challenges, ProofParams, Proofs, traffic};
use crate::{ZeroSharing, cost, next, prev};
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::{
    Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_kernel::{Buffer, bits};
use tacit_program::Native;
use tacit_program::cost::{Flow, Phase};
use tacit_program::plan::{InputOp, Op, OpKind, OutputOp, Plan};
use tacit_session::{At, Draw, PrssStream, Session, step};
use zeroize::Zeroize;

/// The protocol `replicated-malicious`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicatedMalicious {
    cut: ProofParams,
    challenges: Challenges,
}

impl ReplicatedMalicious {
    /// A wrong AND goes unnoticed with a chance of at most 2^-53.
    pub const SOUNDNESS_50: Self = Self { cut: ProofParams::DEFAULT, challenges: ONCE };
    /// A wrong AND goes unnoticed with a chance of at most 2^-106.
    pub const SOUNDNESS_100: Self = Self { cut: ProofParams::DEFAULT, challenges: TWICE };
    /// Proofs are compared at points from hashes: fewer rounds, and a chance of at most 2^-113 for each attempt of a
    /// prover, which can make as many as it has time for.
    pub const FIAT_SHAMIR: Self = Self { cut: ProofParams::DEFAULT, challenges: Challenges::FiatShamir };
    /// With the blocks and batches of Li et al. 2023, section 4.4: what the usual ones are measured against. The chances
    /// are no larger.
    pub const LI_2023: Self = Self { cut: ProofParams::LI_2023, ..Self::SOUNDNESS_50 };

    /// With the proofs of Boyle et al. 2019 over GF(2^64), in the parameters that Li et al. 2023 compare with: a wrong AND
    /// goes unnoticed with a chance of at most 2^-57.
    pub const BOYLE_2019: Self = Self { cut: ProofParams::BOYLE_2019, challenges: Challenges::Binary };
}

/// All that parameters can choose.
static ALL: LazyLock<Vec<ReplicatedMalicious>> = LazyLock::new(|| {
    let sizes = (LEAST_BATCH.ilog2()..=ProofParams::DEFAULT.batch_words.ilog2()).map(|log| 1 << log);
    let cuts: Vec<ProofParams> = sizes
        .map(|batch_words| ProofParams { batch_words, ..ProofParams::DEFAULT })
        .chain([ProofParams::LI_2023])
        .collect();
    let with = |challenges| cuts.iter().map(move |&cut| ReplicatedMalicious { cut, challenges });
    let all = [ONCE, TWICE, Challenges::FiatShamir].into_iter().flat_map(with);
    all.chain([ReplicatedMalicious::BOYLE_2019]).collect()
});

/// Words of a batch whose first compression's blocks are a word each.
const LEAST_BATCH: usize = 1 << 6;

/// Words of 64 ANDs that are proved together, a power of two from 2^6 to 2^16, which is the usual one. Smaller batches
/// need less memory, 56 bytes a word, and more messages: each has all of a proof's. If a message of ANDs completes several,
/// operations wait for their proofs' messages, in rounds that the cost doesn't count.
const BATCH: &str = "batch";

/// How unlikely it is that a wrong AND goes unnoticed, in bits, and the values. Not with hashed points.
const SOUNDNESS: &str = "soundness";

/// A proof, and the same compared at two points of every round.
const ONCE: Challenges = Challenges::Interactive { repetitions: 1 };
const TWICE: Challenges = Challenges::Interactive { repetitions: 2 };

/// Where points come from, and the values.
const CHALLENGES: &str = "challenges";
const INTERACTIVE: &str = "interactive";
const FIAT_SHAMIR: &str = "fiat-shamir";

/// How ANDs are proved: as usual, or as a paper has it.
const PROOFS: &str = "proofs";
const DEFAULT: &str = "usual";
const LI_2023: &str = "li-2023";
const BOYLE_2019: &str = "boyle-2019";

static SPEC: ProtocolSpec = ProtocolSpec {
    name: "replicated-malicious",
    parties: 3..=3,
    corruptions: Threshold::HonestMajority,
    security: Security::MaliciousAbort,
    source: "Li et al. 2023",
};

impl Protocol for ReplicatedMalicious {
    fn spec(&self) -> &ProtocolSpec {
        &SPEC
    }

    fn parameters(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[
            (SOUNDNESS, &["50", "100"]),
            (CHALLENGES, &[INTERACTIVE, FIAT_SHAMIR]),
            (PROOFS, &[DEFAULT, LI_2023, BOYLE_2019]),
            (BATCH, &["64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"]),
        ]
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<&'static dyn Protocol> {
        let mut wanted = *self;
        match (self.challenges, parameter, value) {
            // Repetitions of a hashed proof could be tried one by one.
            (Challenges::Interactive { .. }, SOUNDNESS, "50") => wanted.challenges = ONCE,
            (Challenges::Interactive { .. }, SOUNDNESS, "100") => wanted.challenges = TWICE,
            (ONCE, CHALLENGES, INTERACTIVE) => {}
            (ONCE, CHALLENGES, FIAT_SHAMIR) => wanted.challenges = Challenges::FiatShamir,
            (ONCE, PROOFS, BOYLE_2019) => wanted = Self::BOYLE_2019,
            (_, PROOFS, DEFAULT) => wanted.cut = ProofParams::DEFAULT,
            (_, PROOFS, LI_2023) => wanted.cut = ProofParams::LI_2023,
            (_, BATCH, words) => wanted.cut.batch_words = words.parse().ok()?,
            _ => return None,
        }
        ALL.iter().find(|known| **known == wanted).map(|known| known as &dyn Protocol)
    }

    fn parameter_values(&self) -> String {
        let challenges = match self.challenges {
            Challenges::Interactive { repetitions: 1 } | Challenges::Binary => None,
            Challenges::Interactive { .. } => Some(format!("{SOUNDNESS}=100")),
            Challenges::FiatShamir => Some(format!("{CHALLENGES}={FIAT_SHAMIR}")),
        };
        let proofs = match self.cut {
            ProofParams::DEFAULT => None,
            ProofParams::LI_2023 => Some(format!("{PROOFS}={LI_2023}")),
            ProofParams::BOYLE_2019 => Some(format!("{PROOFS}={BOYLE_2019}")),
            cut => Some(format!("{BATCH}={}", cut.batch_words)),
        };
        challenges.into_iter().chain(proofs).collect::<Vec<_>>().join(" ")
    }

    fn native(&self) -> Native {
        Native::BITS
    }

    fn operation(&self, plan: &Plan, op: &Op, stage: u32, _: usize) -> Vec<Flow> {
        cost::operation(plan, &op.kind, stage, ZeroSharing::Computational)
    }

    fn input(&self, plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
        cost::input(plan, participants, input)
    }

    fn seeds(&self, client: usize, _: usize) -> Vec<Flow> {
        cost::seeds(client)
    }

    fn output(&self, plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
        let mut flows = cost::output(plan, participants, output);
        flows.extend(cost::output_digests(participants, output));
        flows
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        let mut checks = Checks::default();
        if participants.clients().iter().any(|&client| participants.gives(plan, client)) {
            checks.round(Phase::Input, cost::to_both(DIGEST_BITS, DIGEST_BITS));
        }
        let proofs = traffic(noted_words(plan), self.cut, self.challenges);
        checks.rounds(Phase::Verify, proofs.tail, cost::to_both(8 * proofs.back, 8 * proofs.forth));
        checks.round(Phase::Verify, cost::to_both(DIGEST_BITS, DIGEST_BITS));
        if clients_learn(plan, participants) {
            // In the round of the acceptances.
            let key = |from| (Phase::Verify, Flow { from, to: 2, bits: 8 * KEY_BYTES as u64 });
            checks.flows.extend([0, 1].map(key));
        }
        checks
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        let verified = Verified::new(&plan, *self)?;
        #[cfg(feature = "planted")]
        crate::planted::seated(&session);
        let (inbox, ands) =
            (session.limits().inbox, plan.ops.iter().any(|op| matches!(op.kind, OpKind::And { .. })));
        if ands && inbox < LEAST_INBOX {
            return Err(Error::Refused(format!(
                "with inbox_bytes = {inbox} proofs could be stuck behind messages that nobody reads yet; protocol \
                 \"replicated-malicious\" takes {LEAST_INBOX} at least for this program"
            )));
        }
        let zero_sharing = ZeroSharing::Computational;
        Ok(Box::new(ReplicatedEngine::new(session, plan, participants, zero_sharing, Some(verified))?))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        refuse_unverified(&plan)?;
        Ok(Box::new(ReplicatedClient::new(session, plan, participants, true)))
    }
}

/// The least inbox for ANDs outside of circuits, of which up to [`MAX_IN_FLIGHT`] messages of 64 KiB may come before
/// the proofs that a party waits for; circuits have their window.
const LEAST_INBOX: usize = 2 * MAX_IN_FLIGHT * (64 << 10);

/// Bits of a digest.
pub(crate) const DIGEST_BITS: u64 = 256;

/// Bytes of a stream's block.
const BLOCK_BYTES: usize = 16;

/// Bytes of a key.
const KEY_BYTES: usize = 16;

/// Whether a client learns anything.
fn clients_learn(plan: &Plan, participants: &Participants) -> bool {
    plan.outputs.iter().any(|output| participants.clients_that_learn(output.to).next().is_some())
}

/// What a party still has to verify.
pub(crate) struct Verified {
    pub(crate) proofs: Proofs,
    /// Words of ANDs that the plan has.
    words: u64,
    /// What clients gave, of the component that is shared with the next party, and of that with the previous one.
    given: Option<[Sha256; 2]>,
    /// What hides outputs' components from clients, once everybody has accepted.
    hiding: Option<PrssStream>,
}

impl Verified {
    fn new(plan: &Plan, protocol: ReplicatedMalicious) -> Result<Self, Error> {
        refuse_unverified(plan)?;
        let proofs = Proofs::new(protocol.cut, protocol.challenges);
        Ok(Self { proofs, words: noted_words(plan), given: None, hiding: None })
    }

    /// Begins another plan.
    pub(crate) fn next(&mut self, plan: &Plan) -> Result<(), Error> {
        refuse_unverified(plan)?;
        self.proofs.next_plan();
        self.words = noted_words(plan);
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

    /// Proves and verifies all that is left, accepts, and waits until the others do. If clients learn anything, the
    /// parties then have a key that clients don't: `P_0` and `P_1` draw it from theirs, and both send it to `P_2`. From
    /// `P_0` alone it could be one that `P_0` chose by what it does to an output of few bits.
    pub(crate) fn check(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        participants: &Participants,
    ) -> Result<(), Error> {
        if !planted(Mistake::OutputsEarly) {
            self.proofs.complete(self.words, session)?;
        }
        if planted(Mistake::GivenComparedLate) {
            self.compare(session)?;
        }
        let (me, learn) = (session.me(), clients_learn(plan, participants));
        let mut key = [0; KEY_BYTES];
        if learn && me != 2 {
            session.stream(1 - me).fill(Draw { part: step::OUTPUT_KEY, op: 0 }, 0, &mut key);
        }
        if learn && me != 2 {
            session.give_key(2, step::OUTPUT_KEY, &key)?;
        }
        if !planted(Mistake::OutputsEarly) {
            self.accept(session)?;
        }
        if learn && me == 2 {
            key = take_key(session)?;
        }
        self.hiding = learn.then(|| PrssStream::new(&key, session.lane()));
        key.zeroize();
        Ok(())
    }

    /// What the mistake of the name leaves for after the outputs.
    #[cfg(feature = "planted")]
    pub(crate) fn check_late(&mut self, session: &mut Session) -> Result<(), Error> {
        self.proofs.complete(self.words, session)?;
        self.accept(session)
    }

    /// Accepts, and waits until the others do.
    fn accept(&self, session: &mut Session) -> Result<(), Error> {
        if planted(Mistake::SilenceAccepts) {
            return Ok(());
        }
        Ok(session.accept(&self.words.to_le_bytes())?)
    }

    /// Hides this party's two components of an output from clients. The components of what is added are
    /// `m_0`, `m_1` and `m_0 ^ m_1`.
    pub(crate) fn hide(&mut self, me: usize, output: u32, components: [&mut Buffer; 2]) {
        let stream = self.hiding.as_mut().expect("all parties have accepted before an output is offered");
        let [mut zero, mut one] = [(); 2].map(|()| Buffer::new(components[0].len()));
        let draw = Draw { part: step::OUTPUT, op: output };
        stream.fill(draw, 0, zero.bytes_mut());
        stream.fill(draw, zero.len().div_ceil(BLOCK_BYTES) as u64, one.bytes_mut());
        for (component, hidden) in [me, prev(me)].into_iter().zip(components) {
            for (number, mask) in [&zero, &one].into_iter().enumerate() {
                if component == number || component == 2 {
                    bits::xor_assign(hidden.words_mut(), mask.words());
                }
            }
        }
    }
}

/// `P_2` takes the key that hides outputs' components, which both others say.
fn take_key(session: &mut Session) -> Result<[u8; KEY_BYTES], Error> {
    if planted(Mistake::KeyFromOne) {
        let at = At { lane: 0, part: step::OUTPUT_KEY, op: 0, batch: 0 };
        let mut key = [0; KEY_BYTES];
        key.copy_from_slice(&session.mesh().recv(0, at, KEY_BYTES)?);
        session.mesh().recv(1, at, KEY_BYTES)?;
        return Ok(key);
    }
    Ok(session.take_key(step::OUTPUT_KEY)?)
}

/// Refuses what has no proof.
fn refuse_unverified(plan: &Plan) -> Result<(), Error> {
    let unverified =
        plan.ops.iter().find(|op| !matches!(op.kind, OpKind::And { .. } | OpKind::Circuit { .. }));
    match unverified {
        None => Ok(()),
        Some(_) => Err(Error::Refused(
            "protocol \"replicated-malicious\" verifies ANDs of bits; this plan has products or conversions of numbers"
                .into(),
        )),
    }
}

/// Words of ANDs that a party notes: those of every message begin a word.
fn noted_words(plan: &Plan) -> u64 {
    let of = |op: &Op, index: u32| -> u64 {
        tacit_engine::jobs(plan, index, 0)
            .map(|job| match &op.kind {
                OpKind::Circuit { circuit, .. } => {
                    circuit.layers.iter().map(|layer| crate::circuit::noted_words(layer, &job)).sum()
                }
                OpKind::And { dst, .. } => (dst.count as usize * job.cols.len()).div_ceil(64) as u64,
                _ => 0,
            })
            .sum()
    };
    plan.ops.iter().zip(0..).map(|(op, index)| of(op, index)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameters after these are given in turn; `None` if one is refused.
    fn with(given: &[(&str, &str)]) -> Option<String> {
        let usual: &dyn Protocol = &ReplicatedMalicious::SOUNDNESS_50;
        let all = given
            .iter()
            .try_fold(usual, |protocol, (parameter, value)| protocol.with_parameter(parameter, value));
        all.map(Protocol::parameter_values)
    }

    #[test]
    fn parameters_are_chosen_one_by_one() {
        let (high, hashed, li) = (("soundness", "100"), ("challenges", "fiat-shamir"), ("proofs", "li-2023"));
        let is = |given: &[(&str, &str)], parameters: &str| {
            assert_eq!(with(given).as_deref(), Some(parameters), "{given:?}");
        };
        is(&[], "");
        is(&[("soundness", "50"), ("proofs", "usual"), ("challenges", "interactive")], "");
        is(&[high], "soundness=100");
        is(&[li], "proofs=li-2023");
        is(&[li, high], "soundness=100 proofs=li-2023");
        is(&[("proofs", "boyle-2019")], "proofs=boyle-2019");
        is(&[hashed, li], "challenges=fiat-shamir proofs=li-2023");
        is(&[high, li, ("proofs", "usual")], "soundness=100");
        is(&[("batch", "64"), high], "soundness=100 batch=64");
        is(&[hashed, ("batch", "64"), ("batch", "65536")], "challenges=fiat-shamir");
        for wrong in [
            ("soundness", "51"),
            ("proofs", ""),
            ("batch", "32"),
            ("batch", "65"),
            ("batch", "131072"),
            ("batch", "-64"),
            ("challenges", "none"),
            ("zero-sharing", "computational"),
        ] {
            assert_eq!(with(&[wrong]), None, "{wrong:?}");
        }
        assert_eq!(with(&[hashed, ("soundness", "50")]), None);
        assert_eq!(with(&[high, hashed]), None);
        for other in [high, hashed, li] {
            assert_eq!(with(&[("proofs", "boyle-2019"), other]), None);
        }
        assert_eq!(with(&[high, ("proofs", "boyle-2019")]), None);
    }
}
