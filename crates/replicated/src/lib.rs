//! Replicated secret sharing among three parties: semi-honest, with one element a party for a product; and verified,
//! with one bit a party for an AND.
//!
//! The protocol is that of Araki, Furukawa, Lindell, Nof, Ohara, "High-Throughput Semi-Honest Secure Three-Party
//! Computation with an Honest Majority" (CCS 2016), in the form that Li et al. 2023 (sections 2.2.2 and 3.1.1) use.
//! That form has the same cost, needs no division by 3, and a verifier can be put on top of it.
//!
//! **Sharing.** `x = x_0 + x_1 + x_2`, in a ring Z_2^n, in a prime field, or of bits under XOR. Party `P_i` holds `x_i`
//! and `x_(i-1)`. So `P_i` and `P_(i+1)` know component `x_i`, and share the key `k_i` of a PRSS stream. In the code
//! the two components that a party holds are `own` and `prev`.
//!
//! **Why a message tells nothing.** Every message that `P_j` receives is masked with the stream of the one key that
//! `P_j` doesn't hold. That is so whatever `P_j` sends. So one server that deviates learns no more than one that
//! doesn't, as long as no server learns an output (Araki et al., section 4), and nothing is opened in the middle of the run:
//! what a sort opens is what it should be only if nobody deviates.

#[cfg(feature = "planted")]
pub mod attackers;
mod checks;
mod circuit;
mod compose;
mod conversions;
mod cost;
mod engine;
mod fresh;
mod inputs;
mod noted;
mod opened;
mod openings;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(not(feature = "planted"))]
mod planted;
mod products;
mod reads;
mod scheme;
mod segments;
mod shuffle;
mod state;
pub mod step;
mod turns;
mod verified;
mod verify;
mod zero_sharing;

pub use verified::ReplicatedMalicious;
#[cfg(feature = "planted")]
pub use verify::order_of_products;

use inputs::give_seeds;
use scheme::SCHEME;
use state::ReplicatedEngine;
use std::sync::Arc;
use tacit_engine::{
    Auto, Checks, Client, Engine, Error, KeptShare, Parameter, Participants, Protocol, ProtocolSpec,
    Security, Threshold,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Op, OpKind, Plan};
use tacit_program::{Capabilities, Feature};
use tacit_session::Session;
use tacit_threeparty::cost::COUNT_BITS;
use tacit_threeparty::{ComponentsClient, PARTIES, refresh, same};
use zero_sharing::ZeroSharing;

/// The protocol `replicated`.
#[derive(Debug, Clone, Copy)]
pub struct Replicated {
    zero_sharing: ZeroSharing,
}

impl Replicated {
    /// With `ZeroSharing::Computational`.
    pub const COMPUTATIONAL: Self = Self { zero_sharing: ZeroSharing::Computational };
    /// With `ZeroSharing::InformationTheoretic`.
    pub const INFORMATION_THEORETIC: Self = Self { zero_sharing: ZeroSharing::InformationTheoretic };
}

/// The parameter that says which, and its values.
const ZERO_SHARING: Parameter = Parameter {
    name: "zero-sharing",
    about: "Where masks of products come from: keys that pairs share, or fresh elements that each sends another",
    values: &[COMPUTATIONAL, INFORMATION_THEORETIC],
    auto: Auto::Never,
};
const COMPUTATIONAL: &str = "computational";
const INFORMATION_THEORETIC: &str = "information-theoretic";

static SPEC: ProtocolSpec = ProtocolSpec {
    name: "replicated",
    parties: 3..=3,
    corruptions: Threshold::HonestMajority,
    security: Security::SemiHonest,
    source: "Araki et al. 2016",
};

impl Protocol for Replicated {
    fn spec(&self) -> &ProtocolSpec {
        &SPEC
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[ZERO_SHARING]
    }

    fn value(&self, _: &str) -> &'static str {
        match self.zero_sharing {
            ZeroSharing::Computational => COMPUTATIONAL,
            ZeroSharing::InformationTheoretic => INFORMATION_THEORETIC,
        }
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<Arc<dyn Protocol>> {
        let zero_sharing = match value {
            COMPUTATIONAL => ZeroSharing::Computational,
            INFORMATION_THEORETIC => ZeroSharing::InformationTheoretic,
            _ => return None,
        };
        (parameter == ZERO_SHARING.name).then(|| Arc::new(Self { zero_sharing }) as Arc<dyn Protocol>)
    }

    /// A shuffle's orders come from streams, so there is none where zero-sharing has to do without.
    fn capabilities(&self) -> Capabilities {
        let all = Capabilities::TWO_COMPONENTS
            .with(Feature::Compose)
            .with(Feature::Keep)
            .with(Feature::Guard)
            .with(Feature::PublicInputs)
            .with(Feature::PublicSteps);
        match self.zero_sharing {
            ZeroSharing::Computational => all.with_shuffle(PARTIES as u8).with_sorts(),
            ZeroSharing::InformationTheoretic => all,
        }
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        cost::price(&SCHEME, self.zero_sharing, plan, participants, step)
    }

    /// A mask that two parties draw takes none.
    fn has_online_messages(&self, op: &Op, _: u32) -> bool {
        !matches!(op.kind, OpKind::PairMask { .. })
    }

    fn checks(&self, _: &Plan, _: &Participants) -> Checks {
        let mut checks = Checks::default();
        checks.round(Phase::Verify, SCHEME.to_all(COUNT_BITS));
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
        Ok(Box::new(ReplicatedEngine::new(session, plan, participants, self.zero_sharing, None)?))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        Ok(Box::new(ComponentsClient::new(session, plan, participants, SCHEME, give_seeds)))
    }
}
