//! The protocol `astra-malicious`: every product is checked, or nobody has an output.

use crate::checks::refuse_unverified;
use crate::choice::{Choice, Comparison};
use crate::cost;
use crate::inputs::take_seeds;
use crate::state::AstraEngine;
use std::sync::Arc;
use tacit_engine::{
    Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_program::Native;
use tacit_program::cost::Flow;
use tacit_program::plan::{InputOp, Op, OutputOp, Plan};
use tacit_session::Session;
use tacit_threeparty::ComponentsClient;

/// The protocol `astra-malicious`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AstraMalicious(pub(crate) Choice);

/// One for each choice.
static ALL: [AstraMalicious; Choice::ALL.len()] = {
    let mut all = [AstraMalicious::IN_ORDER; Choice::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = AstraMalicious(Choice::ALL[at]);
        at += 1;
    }
    all
};

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

    fn parameters(&self) -> &'static [(&'static str, &'static [&'static str])] {
        Choice::OFFERED
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<&'static dyn Protocol> {
        let wanted = Self(self.0.with(parameter, value)?);
        ALL.iter().find(|known| **known == wanted).map(|known| known as &dyn Protocol)
    }

    fn parameter_values(&self) -> String {
        self.0.text()
    }

    fn prepares(&self) -> bool {
        true
    }

    fn roles(&self) -> Vec<usize> {
        self.0.seats.parties()
    }

    fn native(&self) -> Native {
        // Splitting numbers into bits by two additive components trusts the party that knows the first.
        match self.0.comparison {
            Comparison::Prefix => Native::PRODUCTS,
            Comparison::Garbled => Native::PRODUCTS_AND_SIGNS,
        }
    }

    fn offline(&self, plan: &Plan, op: &Op, stage: u32, _: usize) -> Vec<Flow> {
        cost::offline_of_each(self.0.seats, plan, &op.kind, stage)
    }

    fn offline_rounds(&self, plan: &Plan, _: usize) -> u64 {
        u64::from(plan.ops.iter().any(|op| op.kind.extent(plan) > 0))
    }

    fn operation(&self, plan: &Plan, op: &Op, stage: u32, _: usize) -> Vec<Flow> {
        let mut flows = cost::operation(self.0.seats, plan, &op.kind, stage);
        flows.extend(cost::masked_opening(self.0.seats, plan, &op.kind, stage));
        flows
    }

    fn input(&self, plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
        cost::input(self.0.seats, plan, participants, input)
    }

    fn seeds(&self, client: usize, _: usize) -> Vec<Flow> {
        cost::confirmed_seeds(self.0.seats, client)
    }

    fn output(&self, plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
        self.0.seats.scheme(true).output_flows(plan, participants, output)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        cost::verified_checks(self.0.seats, plan, participants)
    }

    fn checks_together(&self, plan: &Plan, runs: u64, lanes: u16, _: usize) -> Checks {
        cost::checked_together(self.0.seats, plan, runs, lanes)
    }

    fn admit(&self, plan: &Plan, _roles: &Participants) -> Result<(), Error> {
        refuse_unverified(plan)
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
