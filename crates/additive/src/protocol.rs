//! A protocol on additive shares, as a value.

use crate::client::AdditiveClient;
use crate::cost::{COUNT_BITS, HASH_BITS, bit_masks, price, to_all};
use crate::demand::{demand, refuse_long_arms, seeds_of_branch};
use crate::engine::{AdditiveEngine, has_messages};
use crate::keep;
use crate::macs;
use crate::preprocessing::{Manner, Preprocessing};
use crate::ranges::ranged;
use crate::rekey::rekey;
use std::sync::Arc;
use tacit_engine::executor::output_groups;
use tacit_engine::supply::{Arms, Demand, Supply, SupplyKind};
use tacit_engine::{
    Checks, Client, Engine, Error, KeptShare, Parameter, Participants, Protocol, ProtocolSpec, offers_all,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Domain, Op, Plan};
use tacit_program::{Capabilities, Feature};
use tacit_session::Session;

/// A protocol on additive shares.
#[derive(Clone, Debug)]
pub struct Additive {
    /// What it is.
    pub spec: ProtocolSpec,
    /// What plans for it may ask for. With MACs, elements of [`Self::fields`] alone.
    pub capabilities: Capabilities,
    /// The fields whose elements have MACs, in the order in which a supply has the keys; none if nobody deviates.
    pub fields: &'static [Domain],
    /// What makes its supplies.
    pub preprocessing: &'static dyn Preprocessing,
}

impl Additive {
    fn is_authenticated(&self) -> bool {
        self.manner().is_authenticated()
    }

    fn manner(&self) -> Manner {
        Manner { fields: self.fields, preprocessing: self.preprocessing }
    }
}

impl Protocol for Additive {
    fn spec(&self) -> &ProtocolSpec {
        &self.spec
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.preprocessing.parameters()
    }

    fn value(&self, parameter: &str) -> &'static str {
        self.preprocessing.value(parameter)
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<Arc<dyn Protocol>> {
        let preprocessing = self.preprocessing.with_parameter(parameter, value)?;
        Some(Arc::new(Self { preprocessing, ..self.clone() }))
    }

    /// With masks for arms, or products of bits with vectors, if preprocessing makes them, and there are no MACs.
    fn capabilities(&self) -> Capabilities {
        match self.manner().arms() {
            Arms::Apart => self.capabilities,
            Arms::Shared => self.capabilities.with(Feature::MaskedArms),
            Arms::Zeroed => self.capabilities.with(Feature::ZeroedArms),
        }
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        price(plan, participants, self.is_authenticated(), step)
    }

    fn has_online_messages(&self, op: &Op, _: u32) -> bool {
        has_messages(&op.kind)
    }

    /// What the supply costs, if it is made in the run; then counts of draws at the end, or all checks of MACs.
    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        let parties = participants.parties();
        let mut checks = self.preprocessing.price(&self.demand(plan, participants), parties);
        if !self.is_authenticated() {
            checks.round(Phase::Verify, to_all(COUNT_BITS, parties));
            return checks;
        }
        if !ranged(plan).is_empty() {
            checks.round(Phase::Offline, bit_masks(plan, parties));
            checks.extend(macs::cost(self.fields, parties, Phase::Offline, 1));
        }
        if !plan.inputs.is_empty() {
            checks.round(Phase::Verify, to_all(HASH_BITS, parties));
        }
        let times = plan.checks() + output_groups(plan).len() as u64;
        checks.extend(macs::cost(self.fields, parties, Phase::Verify, times));
        checks
    }

    fn setup(&self, plan: &Plan, participants: &Participants) -> Checks {
        self.preprocessing.setup(&self.demand(plan, participants), participants.parties())
    }

    fn admit(&self, plan: &Plan, participants: &Participants) -> Result<(), Error> {
        offers_all(self.capabilities(), plan)?;
        refuse_long_arms(plan, participants.parties(), self.manner())
    }

    fn keeps_under_key(&self) -> bool {
        self.is_authenticated()
    }

    fn refresh(&self, session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
        keep::refresh(session, share)
    }

    fn rekey(
        &self,
        session: &mut Session,
        share: &KeptShare,
        from: &mut dyn Supply,
        to: &mut dyn Supply,
    ) -> Result<KeptShare, Error> {
        rekey(self.fields, session, share, from, to)
    }

    fn demand(&self, plan: &Plan, participants: &Participants) -> Demand {
        demand(plan, participants, self.manner())
    }

    /// Of all that preprocessing stocks; masks for inputs if there are MACs, and for branches if all have the same length.
    fn stocks(&self, parties: usize) -> Vec<(&'static str, Vec<SupplyKind>)> {
        let domains = self.preprocessing.stocked();
        if domains.is_empty() {
            return Vec::new();
        }
        let of = |kind: fn(Domain) -> SupplyKind| domains.iter().map(|domain| kind(*domain)).collect();
        let masks =
            |&domain: &Domain| (0..parties as u16).map(move |owner| SupplyKind::InputMask { domain, owner });
        let mut stocks = vec![
            ("triples", of(SupplyKind::Triple)),
            ("bits", of(SupplyKind::RandomBit)),
            ("elements", of(SupplyKind::RandomElement)),
        ];
        if self.is_authenticated() {
            stocks.push(("masks", domains.iter().flat_map(masks).collect()));
        }
        if let Some(of_branch) = seeds_of_branch(self.manner(), parties) {
            stocks.push(("branches", vec![of_branch]));
        }
        stocks
    }

    fn material_values(&self) -> String {
        self.preprocessing.material_values().unwrap_or_else(|| self.parameter_values())
    }

    fn live_supply(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        self.preprocessing.live(session)
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(AdditiveEngine::new(self.manner(), session, plan, participants)))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        Ok(Box::new(AdditiveClient::new(self.is_authenticated(), session, plan, participants)))
    }
}
