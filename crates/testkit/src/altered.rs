//! A protocol that is another one but for something.

use std::sync::Arc;

use tacit_engine::supply::{Demand, Supply};
use tacit_engine::{
    Checks, Client, Engine, Error, KeptShare, Participants, Protocol, ProtocolSpec, offers_all,
};
use tacit_program::Capabilities;
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Op, Plan};
use tacit_session::Session;

/// A protocol, altered: in what it offers, or by what is done before a seat is taken.
pub struct Altered {
    protocol: &'static dyn Protocol,
    capabilities: Option<Capabilities>,
    before: Option<Box<dyn Fn(usize) + Send + Sync>>,
    supply: Option<Supplies>,
    fresh: Option<Freshens>,
}

/// What a party does to its fresh share.
type Changes = Box<dyn Fn(usize, &mut KeptShare) + Send + Sync>;

/// What parties do to their fresh shares, and whether these are compared with the old ones.
struct Freshens {
    changes: Changes,
    compares: bool,
}

/// What a party's engine draws from in a lane.
type Supplies = Box<dyn Fn(usize, u16) -> Box<dyn Supply> + Send + Sync>;

impl Altered {
    /// A protocol that runs plans for these operations, which it must be able to.
    pub const fn offering(protocol: &'static dyn Protocol, capabilities: Capabilities) -> Self {
        Self { protocol, capabilities: Some(capabilities), before: None, supply: None, fresh: None }
    }

    /// A protocol whose endpoints, of which each is told its number, do something first, such as planting mistakes: each has a
    /// thread of its own, which takes its seat before it does anything. Never freed.
    pub fn beginning_with(
        protocol: &'static dyn Protocol,
        before: impl Fn(usize) + Send + Sync + 'static,
    ) -> &'static dyn Protocol {
        Box::leak(Box::new(Self {
            protocol,
            capabilities: None,
            before: Some(Box::new(before)),
            supply: None,
            fresh: None,
        }))
    }

    /// The same, whose parties are given supplies: `supply` is asked for each party's, lane by lane.
    pub fn supplied(
        protocol: &'static dyn Protocol,
        before: impl Fn(usize) + Send + Sync + 'static,
        supply: impl Fn(usize, u16) -> Box<dyn Supply> + Send + Sync + 'static,
    ) -> &'static dyn Protocol {
        Box::leak(Box::new(Self {
            protocol,
            capabilities: None,
            before: Some(Box::new(before)),
            supply: Some(Box::new(supply)),
            fresh: None,
        }))
    }

    /// The same, whose parties do something to their fresh shares of a kept value, and compare them with the old ones or not.
    pub fn freshening(
        protocol: &'static dyn Protocol,
        changes: impl Fn(usize, &mut KeptShare) + Send + Sync + 'static,
        compares: bool,
    ) -> Self {
        let fresh = Some(Freshens { changes: Box::new(changes), compares });
        Self { protocol, capabilities: None, before: None, supply: None, fresh }
    }

    fn begin(&self, endpoint: usize) {
        if let Some(before) = &self.before {
            before(endpoint);
        }
    }
}

/// A protocol with these values of its parameters, as cases take it. Never freed.
///
/// # Panics
/// If it doesn't offer one of them.
pub fn with_parameters(usual: &'static dyn Protocol, parameters: &[(&str, &str)]) -> &'static dyn Protocol {
    parameters.iter().fold(usual, |protocol, (name, value)| {
        let other = protocol.with_parameter(name, value);
        let other = other.unwrap_or_else(|| panic!("{name}={value} is not offered"));
        &**Box::leak(Box::new(other))
    })
}

impl Protocol for Altered {
    fn spec(&self) -> &ProtocolSpec {
        self.protocol.spec()
    }

    fn parameter_values(&self) -> String {
        self.protocol.parameter_values()
    }

    fn material_values(&self) -> String {
        self.protocol.material_values()
    }

    fn roles(&self) -> Vec<usize> {
        self.protocol.roles()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities.unwrap_or_else(|| self.protocol.capabilities())
    }

    fn prepares(&self) -> bool {
        self.protocol.prepares()
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        self.protocol.price(plan, participants, step)
    }

    fn offline_rounds(&self, plan: &Plan, participants: &Participants) -> u64 {
        self.protocol.offline_rounds(plan, participants)
    }

    fn has_online_messages(&self, op: &Op, stage: u32) -> bool {
        self.protocol.has_online_messages(op, stage)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        self.protocol.checks(plan, participants)
    }

    fn setup(&self, plan: &Plan, participants: &Participants) -> Checks {
        self.protocol.setup(plan, participants)
    }

    fn checks_together(&self, plan: &Plan, participants: &Participants, runs: u64, lanes: u16) -> Checks {
        self.protocol.checks_together(plan, participants, runs, lanes)
    }

    fn admit(&self, plan: &Plan, participants: &Participants) -> Result<(), Error> {
        match self.capabilities {
            Some(capabilities) => offers_all(capabilities, plan),
            None => self.protocol.admit(plan, participants),
        }
    }

    fn admit_lanes(&self, count: u16) -> Result<(), Error> {
        self.protocol.admit_lanes(count)
    }

    fn demand(&self, plan: &Plan, participants: &Participants) -> Demand {
        self.protocol.demand(plan, participants)
    }

    fn refresh(&self, session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
        let mut share = self.protocol.refresh(session, share)?;
        if let Some(fresh) = &self.fresh {
            (fresh.changes)(session.me(), &mut share);
        }
        Ok(share)
    }

    fn same(&self, session: &mut Session, old: &KeptShare, fresh: &KeptShare) -> Result<(), Error> {
        if self.fresh.as_ref().is_some_and(|fresh| !fresh.compares) {
            return Ok(());
        }
        self.protocol.same(session, old, fresh)
    }

    fn live_supply(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        self.protocol.live_supply(session)
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        let (me, lane) = (session.me(), session.lane());
        self.begin(me);
        let mut engine = self.protocol.engine(session, plan, participants)?;
        if let Some(supply) = &self.supply {
            engine.supply(supply(me, lane))?;
        }
        Ok(engine)
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        self.begin(session.me());
        self.protocol.client(session, plan, participants)
    }
}
