//! The protocol `astra-malicious`: every product is checked, or nobody has an output.

use crate::checks::refuse_unverified;
use crate::choice::{Choice, Comparison};
use crate::cost;
use crate::inputs::take_seeds;
use crate::state::AstraEngine;
use std::sync::Arc;
use tacit_engine::{
    Checks, Client, Engine, Error, Parameter, Participants, Protocol, ProtocolSpec, Security, Threshold,
    offers_all,
};
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::Plan;
use tacit_program::{Capabilities, Feature};
use tacit_session::Session;
use tacit_threeparty::ComponentsClient;

/// The protocol `astra-malicious`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AstraMalicious(pub(crate) Choice);

impl AstraMalicious {
    /// The parties are `P_0`, `P_1` and `P_2` in their order.
    pub const IN_ORDER: Self = Self(Choice::DEFAULT);

    /// Comparisons are garbled.
    pub const GARBLED: Self = Self(Choice::GARBLED);
}

static SPEC: ProtocolSpec = ProtocolSpec {
    name: "astra-malicious",
    parties: 3..=3,
    corruptions: Threshold::HonestMajority,
    security: Security::MaliciousAbort,
    source: "Chaudhari et al. 2019",
};

impl Protocol for AstraMalicious {
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

    fn prepares(&self) -> bool {
        true
    }

    fn roles(&self) -> Vec<usize> {
        self.0.seats.parties()
    }

    fn capabilities(&self) -> Capabilities {
        // Splitting numbers into bits by two additive components trusts the party that knows the first.
        match self.0.comparison {
            Comparison::Prefix => Capabilities::THREE_COMPONENTS,
            Comparison::Garbled => Capabilities::THREE_COMPONENTS.with(Feature::Msb),
        }
    }

    fn offline_rounds(&self, plan: &Plan, _: &Participants) -> u64 {
        u64::from(plan.ops.iter().any(|op| op.kind.extent(plan) > 0))
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        match step {
            Step::Stage { op, stage } => {
                let offline = cost::offline_of_each(self.0.seats, plan, &op.kind, stage);
                let mut online = cost::operation(self.0.seats, plan, &op.kind, stage);
                online.extend(cost::masked_opening(self.0.seats, plan, &op.kind, stage));
                in_phase(Phase::Offline, offline).chain(in_phase(Phase::Online, online)).collect()
            }
            Step::Output(output) => {
                in_phase(Phase::Output, self.0.seats.scheme(true).output_flows(plan, participants, output))
                    .collect()
            }
            Step::Seeds { client } => {
                in_phase(Phase::Input, cost::confirmed_seeds(self.0.seats, client)).collect()
            }
            Step::Input(input) => {
                in_phase(Phase::Input, cost::input(self.0.seats, plan, participants, input)).collect()
            }
        }
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        cost::verified_checks(self.0.seats, plan, participants)
    }

    fn checks_together(&self, plan: &Plan, _: &Participants, runs: u64, lanes: u16) -> Checks {
        cost::checked_together(self.0.seats, plan, runs, lanes)
    }

    fn admit(&self, plan: &Plan, _roles: &Participants) -> Result<(), Error> {
        refuse_unverified(plan)?;
        offers_all(self.capabilities(), plan)
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        self.admit(&plan, &participants)?;
        Ok(Box::new(AstraEngine::new(session, plan, participants, self.0.seats, true)?))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        self.admit(&plan, &participants)?;
        let scheme = self.0.seats.scheme(true);
        Ok(Box::new(ComponentsClient::new(session, plan, participants, scheme, take_seeds)))
    }
}
