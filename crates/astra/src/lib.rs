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
//! ([`triples`], [`verify`]). Online `P_0` computes along on values that are masked once more ([`masked`]). Two parties
//! make each garbled circuit ([`checked_garbling`]).

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
mod triples;
mod verified;
mod verify;

pub use fair::AstraFair;
pub use verified::AstraMalicious;

use choice::{Choice, Comparison};
use inputs::take_seeds;
use state::AstraEngine;
use std::sync::Arc;
use tacit_engine::{
    Checks, Client, Engine, Error, Parameter, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::{Op, Plan};
use tacit_program::{Capabilities, Feature};
use tacit_session::Session;
use tacit_threeparty::ComponentsClient;

/// The protocol `astra`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Astra(Choice);

impl Astra {
    /// The parties are `P_0`, `P_1` and `P_2` in their order.
    pub const IN_ORDER: Self = Self(Choice::DEFAULT);

    /// Comparisons are garbled.
    pub const GARBLED: Self = Self(Choice::GARBLED);
}

static SPEC: ProtocolSpec = ProtocolSpec {
    name: "astra",
    parties: 3..=3,
    corruptions: Threshold::HonestMajority,
    security: Security::SemiHonest,
    source: "Chaudhari et al. 2019",
};

impl Protocol for Astra {
    fn spec(&self) -> &ProtocolSpec {
        &SPEC
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
        match self.0.comparison {
            Comparison::Prefix => Capabilities::TWO_COMPONENTS,
            Comparison::Garbled => Capabilities::TWO_COMPONENTS.with(Feature::Msb),
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
        match step {
            Step::Stage { op, stage } => {
                let offline = cost::offline(self.0.seats, plan, &op.kind, stage);
                let online = cost::operation(self.0.seats, plan, &op.kind, stage);
                in_phase(Phase::Offline, offline).chain(in_phase(Phase::Online, online)).collect()
            }
            Step::Output(output) => {
                in_phase(Phase::Output, self.0.seats.scheme(false).output_flows(plan, participants, output))
                    .collect()
            }
            Step::Seeds { client } => in_phase(Phase::Input, cost::seeds(self.0.seats, client)).collect(),
            Step::Input(input) => {
                in_phase(Phase::Input, cost::input(self.0.seats, plan, participants, input)).collect()
            }
        }
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        cost::checks(self.0.seats, plan, participants)
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(AstraEngine::new(session, plan, participants, self.0.seats, false)?))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        let scheme = self.0.seats.scheme(false);
        Ok(Box::new(ComponentsClient::new(session, plan, participants, scheme, take_seeds)))
    }
}
