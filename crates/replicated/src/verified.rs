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
//! **Products and shuffles** likewise, in batches of their own.
//!
//! **Openings** in the middle of a run wait for proofs and acceptances of all before them ([`crate::checks`]), and each component
//! comes from one of its holders with a digest from the other ([`crate::openings`]).
//!
//! **Acceptance.** When all proofs that it verifies have passed, a party tells both others that it accepts. It reveals
//! nothing before it has heard the same from both.
//!
//! **Outputs.** Each component comes from the two parties that hold it, from one of them as a digest. Every party also
//! tells clients that it accepts, in a message that is bound to the session: to the program, to the clients and to the
//! nonces of all parties. A zero-sharing that all parties know hides the components from clients. Inputs of parties
//! have a component that is zero, so the components of several outputs can tell more than the outputs.

use crate::checks::{Verified, refuse_unverified};
use crate::cost;
use crate::inputs::give_seeds;
use crate::scheme::SCHEME;
use crate::segments::segments;
use crate::state::ReplicatedEngine;
use crate::verify::{Challenges, Limits, MOST_ELEMENTS, ProofParams, proved_at_its_end, traffic};
use crate::zero_sharing::ZeroSharing;
use std::sync::Arc;
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::jobs;
use tacit_engine::{
    Auto, Checks, Client, Engine, Error, KeptShare, Parameter, Participants, Protocol, ProtocolSpec,
    Security, Threshold,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Level, OpKind, Plan, Reg};
use tacit_program::{Capabilities, Feature, ProofCosts, Traffic};
use tacit_session::Session;
use tacit_threeparty::cost::HASH_BITS;
use tacit_threeparty::hiding::clients_learn;
use tacit_threeparty::products::Results;
use tacit_threeparty::{ComponentsClient, PARTIES, Scheme, refresh, same};

/// Each party sends a bit of an AND and an element of a part of a product; what an input and an output send is as much.
const TRAFFIC: Traffic = Traffic { ends: PARTIES as u64, and: PARTIES as u64, part: 1 };

/// What proofs make of sorts: an opening waits for those of a segment, and for everybody's acceptance.
const SORTS: ProofCosts = ProofCosts { rounds: 12, many: 1 << 12, shuffled: MOST_ELEMENTS };

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
    pub const BOYLE_2019: Self = Self { cut: ProofParams::BOYLE_2019, challenges: ONCE };
}

/// Outputs are confirmed.
const CONFIRMED: Scheme = Scheme { confirmed: true, ..SCHEME };

impl ReplicatedMalicious {
    /// Whether these parameters go together.
    fn is_offered(self) -> bool {
        let usual = ProofParams { batch_words: self.cut.batch_words, ..ProofParams::DEFAULT };
        match self.cut {
            ProofParams::BOYLE_2019 => self == Self::BOYLE_2019,
            ProofParams::LI_2023 => true,
            cut => cut == usual && BATCH.values.contains(&batch_name(cut)),
        }
    }
}

/// How unlikely it is that a wrong AND goes unnoticed.
const SOUNDNESS: Parameter = Parameter {
    name: "soundness",
    about: "How unlikely it is, in bits, that a wrong AND is overlooked. Not with hashed challenges",
    values: &["50", "100"],
    auto: Auto::Never,
};

/// A proof, and the same compared at two points of every round.
const ONCE: Challenges = Challenges::Interactive { repetitions: 1 };
const TWICE: Challenges = Challenges::Interactive { repetitions: 2 };

/// Where points come from.
const CHALLENGES: Parameter = Parameter {
    name: "challenges",
    about: "Where the points of proofs come from: drawn together, or from hashes (fewer rounds)",
    values: &[INTERACTIVE, FIAT_SHAMIR],
    auto: Auto::Never,
};
const INTERACTIVE: &str = "interactive";
const FIAT_SHAMIR: &str = "fiat-shamir";

/// How ANDs are proved.
const PROOFS: Parameter = Parameter {
    name: "proofs",
    about: "How ANDs are proved: as usual, or as other papers do, to compare with",
    values: &[DEFAULT, LI_2023, BOYLE_2019],
    auto: Auto::Never,
};
const DEFAULT: &str = "usual";
const LI_2023: &str = "li-2023";
const BOYLE_2019: &str = "boyle-2019";

/// How many ANDs are proved together. Smaller batches need less memory, 56 bytes a word, and more messages: each has all of
/// a proof's. If a message of ANDs completes several, operations wait for their proofs' messages, in rounds that the cost
/// doesn't count.
const BATCH: Parameter = Parameter {
    name: "batch",
    about: "Words of 64 ANDs that are proved together: fewer need less memory and more messages",
    values: &["65536", "32768", "16384", "8192", "4096", "2048", "1024", "512", "256", "128", "64"],
    auto: Auto::Never,
};

/// The value of [`BATCH`]; the usual one if it has none.
fn batch_name(cut: ProofParams) -> &'static str {
    let words = cut.batch_words.to_string();
    BATCH.values.iter().find(|known| **known == words).copied().unwrap_or_default()
}

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

    fn parameters(&self) -> &'static [Parameter] {
        &[SOUNDNESS, CHALLENGES, PROOFS, BATCH]
    }

    fn value(&self, parameter: &str) -> &'static str {
        match (parameter, self.challenges, self.cut) {
            ("soundness", TWICE, _) => "100",
            ("soundness", ..) => "50",
            ("challenges", Challenges::FiatShamir, _) => FIAT_SHAMIR,
            ("challenges", ..) => INTERACTIVE,
            ("proofs", _, ProofParams::LI_2023) => LI_2023,
            ("proofs", _, ProofParams::BOYLE_2019) => BOYLE_2019,
            ("proofs", ..) => DEFAULT,
            // Of other proofs it is their own.
            (_, _, ProofParams::LI_2023 | ProofParams::BOYLE_2019) => BATCH.usual(),
            (_, _, cut) => batch_name(cut),
        }
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<Arc<dyn Protocol>> {
        let mut wanted = *self;
        match (self.challenges, parameter, value) {
            // Other parameters don't go with these proofs.
            _ if *self == Self::BOYLE_2019 => return None,
            // Repetitions of a hashed proof could be tried one by one.
            (Challenges::Interactive { .. }, "soundness", "50") => wanted.challenges = ONCE,
            (Challenges::Interactive { .. }, "soundness", "100") => wanted.challenges = TWICE,
            (ONCE, "challenges", INTERACTIVE) => {}
            (ONCE, "challenges", FIAT_SHAMIR) => wanted.challenges = Challenges::FiatShamir,
            (ONCE, "proofs", BOYLE_2019) => wanted = Self::BOYLE_2019,
            (_, "proofs", DEFAULT) => wanted.cut = ProofParams::DEFAULT,
            (_, "proofs", LI_2023) => wanted.cut = ProofParams::LI_2023,
            (_, "batch", words) => wanted.cut.batch_words = words.parse().ok()?,
            _ => return None,
        }
        wanted.is_offered().then(|| Arc::new(wanted) as Arc<dyn Protocol>)
    }

    fn capabilities(&self) -> Capabilities {
        match self.challenges {
            Challenges::Interactive { .. } => Capabilities::THREE_COMPONENTS
                .without(Feature::WideRings)
                .without(Feature::Fp61)
                .without(Feature::Fp128)
                .with(Feature::Keep)
                .with(Feature::Guard)
                .with(Feature::PublicInputs)
                .with_shuffle(PARTIES as u8)
                .with_sorts()
                .with_proofs(SORTS)
                .with_silent_parts()
                .holding_ranges()
                .or_bits(TRAFFIC),
            // Numbers are bits where products have no proof.
            Challenges::FiatShamir => {
                let bits = Capabilities::BITS.with(Feature::Keep).with(Feature::Guard);
                bits.with(Feature::PublicInputs).with(Feature::PublicSteps)
            }
        }
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        cost::price(&CONFIRMED, ZeroSharing::Computational, plan, participants, step)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        let mut checks = Checks::default();
        if participants.clients().iter().any(|&client| participants.gives(plan, client)) {
            checks.round(Phase::Input, CONFIRMED.to_all(HASH_BITS));
        }
        for segment in segments(plan, Limits::of(self.cut.batch_words)) {
            let proofs = traffic(segment.counts.words, &segment.batches, self.cut, self.challenges);
            checks.rounds(Phase::Verify, proofs.tail, cost::to_both(8 * proofs.back, 8 * proofs.forth));
            checks.round(Phase::Verify, CONFIRMED.to_all(HASH_BITS));
        }
        if clients_learn(plan, participants) {
            // In the round of the acceptances.
            checks.flows.extend(CONFIRMED.key_flows().map(|flow| (Phase::Verify, flow)));
        }
        checks
    }

    fn refresh(&self, session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
        refresh(session, share)
    }

    fn same(&self, session: &mut Session, old: &KeptShare, fresh: &KeptShare) -> Result<(), Error> {
        same(session, old, fresh)
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        let verified = Verified::new(&plan, self.cut, self.challenges, session.me())?;
        #[cfg(feature = "planted")]
        crate::planted::seated(&session);
        let (inbox, least) = (session.limits().inbox, least_inbox(&plan));
        if inbox < least {
            return Err(Error::Refused(format!(
                "with inbox_bytes = {inbox} proofs could be stuck behind messages that nobody reads yet; protocol \
                 \"replicated-malicious\" takes {least} at least for this program"
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
        refuse_unverified(&plan, self.challenges)?;
        Ok(Box::new(ComponentsClient::new(session, plan, participants, CONFIRMED, give_seeds)))
    }
}

/// The least inbox for what stands outside of circuits, of which up to [`MAX_IN_FLIGHT`] messages may come before the
/// proofs that a party waits for: messages of 64 KiB, or longer ones of products of matrices. Circuits have their window.
fn least_inbox(plan: &Plan) -> usize {
    let in_flight = |level: &Level| {
        let others =
            level.stages.iter().filter(|stage| !matches!(plan.op(stage.op).kind, OpKind::Circuit { .. }));
        let ops: Vec<u32> = others.map(|stage| stage.op).collect();
        if let [op] = ops[..]
            && proved_at_its_end(&plan.op(op).kind)
        {
            // No batch is complete before its last message has come.
            return 0;
        }
        let jobs = ops.iter().flat_map(|&op| jobs(plan, op, 0).map(move |job| (op, job)));
        let bytes = jobs.map(|(op, job)| match &plan.op(op).kind {
            OpKind::Shuffle { cols, blocks, .. } => {
                let bytes = |&reg: &Reg| {
                    (plan.register(reg).len() as u64 * plan.register(reg).domain.bits()).div_ceil(8)
                };
                (cols.iter().map(bytes).sum::<u64>() as usize / (*blocks).max(1) + 1) * job.cols.len()
            }
            kind => Results::of(&job, kind).message_bytes(plan, &job),
        });
        let (all, longest) =
            bytes.fold((0, 0), |(all, longest): (usize, usize), bytes| (all + bytes, longest.max(bytes)));
        all.min(MAX_IN_FLIGHT * longest)
    };
    let usual = |level: &Level| {
        level.stages.iter().any(|stage| !matches!(plan.op(stage.op).kind, OpKind::Circuit { .. }))
    };
    let least = if plan.levels.iter().any(usual) { MAX_IN_FLIGHT * (64 << 10) } else { 0 };
    2 * plan.levels.iter().map(in_flight).fold(least, usize::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameters after these are given in turn; `None` if one is refused.
    fn with(given: &[(&str, &str)]) -> Option<String> {
        let usual: Arc<dyn Protocol> = Arc::new(ReplicatedMalicious::SOUNDNESS_50);
        let mut all = given.iter();
        let all =
            all.try_fold(usual, |protocol, (parameter, value)| protocol.with_parameter(parameter, value));
        all.map(|protocol| protocol.parameter_values())
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
