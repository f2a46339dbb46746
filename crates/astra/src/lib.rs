//! ASTRA: three parties, of which one prepares and two compute, with two elements a product online.
//!
//! Chaudhari, Choudhury, Patra, Suresh, "ASTRA: High Throughput 3PC over Rings with Application to Secure Prediction"
//! (CCSW 2019).
//!
//! **Sharing.** A masked value is `v = m - lambda_1 - lambda_2`, in a ring Z_2^n, in a prime field, or of bits under
//! XOR. `P_1` and `P_2` hold `m`; `P_0` and `P_1` hold `lambda_1`; `P_0` and `P_2` hold `lambda_2`.
//!
//! The code keeps the negatives `x_1 = -lambda_1` and `x_2 = -lambda_2`, and calls `m` `x_0`. So `v = x_0 + x_1 + x_2`
//! is a sum of three components of which each party holds two, as in replicated secret sharing. Linear steps are the
//! same in all of them.
//!
//! **Two phases.** `lambda_1` and `lambda_2` come from PRSS, so they are known before any input is. Offline, `P_0`
//! computes what depends on them alone and sends `P_2` its share of it. Online, `P_1` and `P_2` compute `m`; `P_0` has
//! nothing to do between its own inputs and the outputs.
//!
//! **`astra-malicious`** computes the same and checks it. Offline all parties check products of masks by cut and choose
//! (`triples`, `verify`). Online `P_0` computes along on values that are masked once more (`masked`). Two parties
//! make each garbled circuit (`checked_garbling`).

#[cfg(feature = "planted")]
pub mod attackers;
mod checked_garbling;
mod checks;
mod choice;
mod circuit;
mod client_masks;
mod conversions;
mod cost;
mod counts;
mod digests;
mod draws;
mod engine;
mod fair;
mod flat;
mod garbled;
mod garbling;
mod groups;
mod inputs;
mod masked;
mod msb;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(not(feature = "planted"))]
mod planted;
mod prepared;
mod products;
mod seats;
mod state;
pub mod step;
mod triples;
mod verify;

use checks::refuse_unverified;
use choice::{Choice, Comparison};
use fair::room::{refuse_clients, refuse_large};
use inputs::take_seeds;
use state::AstraEngine;
use std::sync::Arc;
use tacit_engine::{
    Checks, Client, Engine, Error, KeptShare, Parameter, Participants, Protocol, ProtocolSpec, Security,
    Threshold, offers_all,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Op, Plan};
use tacit_program::{Capabilities, Feature};
use tacit_session::Session;
use tacit_threeparty::{ComponentsClient, refresh, same};

/// A protocol of the family: `astra`, `astra-malicious` or `astra-fair`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Astra(Choice);

impl Astra {
    /// `astra`: private, and right if all follow the protocol.
    pub const SEMI_HONEST: Self = Self(Choice::usual(Security::SemiHonest));
    /// The same, with garbled comparisons.
    pub const SEMI_HONEST_GARBLED: Self = Self(Self::SEMI_HONEST.0.garbled());

    /// `astra-malicious`: every product is checked, or nobody has an output.
    pub const MALICIOUS: Self = Self(Choice::usual(Security::MaliciousAbort));
    /// The same, with garbled comparisons.
    pub const MALICIOUS_GARBLED: Self = Self(Self::MALICIOUS.0.garbled());

    /// `astra-fair`: all honest parties have the outputs, or nobody has.
    pub const FAIR: Self = Self(Choice::usual(Security::Fair));
    /// The same, with garbled comparisons.
    pub const FAIR_GARBLED: Self = Self(Self::FAIR.0.garbled());
}

static SEMI_HONEST: ProtocolSpec = spec("astra", Security::SemiHonest);
static MALICIOUS: ProtocolSpec = spec("astra-malicious", Security::MaliciousAbort);
static FAIR: ProtocolSpec = spec("astra-fair", Security::Fair);

const fn spec(name: &'static str, security: Security) -> ProtocolSpec {
    let (parties, corruptions) = (3..=3, Threshold::HonestMajority);
    ProtocolSpec { name, parties, corruptions, security, source: "Chaudhari et al. 2019" }
}

impl Protocol for Astra {
    fn spec(&self) -> &ProtocolSpec {
        match self.0.security {
            Security::SemiHonest => &SEMI_HONEST,
            Security::MaliciousAbort => &MALICIOUS,
            Security::Fair => &FAIR,
        }
    }

    fn parameters(&self) -> &'static [Parameter] {
        Choice::OFFERED
    }

    fn value(&self, parameter: &str) -> &'static str {
        self.0.value(parameter)
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<Arc<dyn Protocol>> {
        Some(Arc::new(Self(self.0.with(parameter, value)?)))
    }

    fn roles(&self) -> Vec<usize> {
        self.0.seats.parties()
    }

    fn capabilities(&self) -> Capabilities {
        // Splitting numbers into bits by two additive components trusts the party that knows the first.
        let verified = self.0.is_verified();
        let usual = if verified {
            Capabilities::THREE_COMPONENTS.holding_ranges()
        } else {
            Capabilities::TWO_COMPONENTS
        };
        // Where all have the outputs or nobody has, nothing may come between the check and them, nor after
        // them.
        let is_fair = self.0.security == Security::Fair;
        let usual = if is_fair { usual } else { usual.with(Feature::Keep).with(Feature::Guard) };
        match self.0.comparison {
            Comparison::Prefix => usual,
            Comparison::Garbled => usual.with(Feature::Msb),
        }
    }

    fn prepares(&self) -> bool {
        true
    }

    fn has_online_messages(&self, op: &Op, stage: u32) -> bool {
        cost::has_online_messages(&op.kind, stage)
    }

    fn offline_rounds(&self, plan: &Plan, _: &Participants) -> u64 {
        u64::from(plan.ops.iter().any(|op| op.kind.extent(plan) > 0))
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        cost::price(self.0, plan, participants, step)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        cost::checks(self.0, plan, participants)
    }

    fn checks_together(&self, plan: &Plan, _: &Participants, runs: u64, lanes: u16) -> Checks {
        if self.0.is_verified() {
            cost::checked_together(self.0.seats, plan, runs, lanes)
        } else {
            Checks::default()
        }
    }

    fn admit(&self, plan: &Plan, participants: &Participants) -> Result<(), Error> {
        if self.0.is_verified() {
            refuse_unverified(plan)?;
        }
        offers_all(self.capabilities(), plan)?;
        if self.0.security == Security::Fair { refuse_clients(plan, participants) } else { Ok(()) }
    }

    fn admit_lanes(&self, count: u16) -> Result<(), Error> {
        if count > 1 && self.0.security == Security::Fair {
            let refused = "protocol \"astra-fair\" runs in one lane: what one of several opens the others could still withhold";
            return Err(Error::Refused(refused.into()));
        }
        Ok(())
    }

    fn refresh(&self, session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
        refresh(session, share)
    }

    fn same(&self, session: &mut Session, old: &KeptShare, fresh: &KeptShare) -> Result<(), Error> {
        same(session, old, fresh)
    }

    fn engine(
        &self,
        mut session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        self.admit(&plan, &participants)?;
        self.admit_lanes(session.mesh().lane().count)?;
        if self.0.security == Security::Fair
            && let Err(refused) = refuse_large(self.0.seats, &plan, &participants, &session)
        {
            // Clients, who see no outputs, hear why.
            session.abort(&refused.to_string());
            return Err(refused);
        }
        Ok(Box::new(AstraEngine::new(session, plan, participants, self.0)?))
    }

    fn client(
        &self,
        mut session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        self.admit(&plan, &participants)?;
        self.admit_lanes(session.mesh().lane().count)?;
        let scheme = self.0.seats.scheme(self.0.is_verified());
        Ok(Box::new(ComponentsClient::new(session, plan, participants, scheme, take_seeds)))
    }
}
