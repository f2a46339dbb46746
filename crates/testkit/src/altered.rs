//! A protocol that is another one but for something.

use std::sync::Arc;

use tacit_engine::{Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec};
use tacit_program::Native;
use tacit_program::cost::Flow;
use tacit_program::plan::{InputOp, Op, OutputOp, Plan};
use tacit_session::Session;

/// A protocol, altered: in what it offers, or by what is done before a seat is taken.
pub struct Altered {
    protocol: &'static dyn Protocol,
    native: Option<Native>,
    before: Option<Box<dyn Fn(usize) + Send + Sync>>,
}

impl Altered {
    /// A protocol that runs plans for these operations, which it must be able to.
    pub const fn offering(protocol: &'static dyn Protocol, native: Native) -> Self {
        Self { protocol, native: Some(native), before: None }
    }

    /// A protocol whose endpoints, of which each is told its number, do something first, such as planting mistakes: each has a
    /// thread of its own, which takes its seat before it does anything. Never freed.
    pub fn beginning_with(
        protocol: &'static dyn Protocol,
        before: impl Fn(usize) + Send + Sync + 'static,
    ) -> &'static dyn Protocol {
        Box::leak(Box::new(Self { protocol, native: None, before: Some(Box::new(before)) }))
    }

    fn begin(&self, endpoint: usize) {
        if let Some(before) = &self.before {
            before(endpoint);
        }
    }
}

impl Protocol for Altered {
    fn spec(&self) -> &ProtocolSpec {
        self.protocol.spec()
    }

    fn parameter_values(&self) -> String {
        self.protocol.parameter_values()
    }

    fn roles(&self) -> Vec<usize> {
        self.protocol.roles()
    }

    fn native(&self) -> Native {
        self.native.unwrap_or_else(|| self.protocol.native())
    }

    fn prepares(&self) -> bool {
        self.protocol.prepares()
    }

    fn offline(&self, plan: &Plan, op: &Op, stage: u32, parties: usize) -> Vec<Flow> {
        self.protocol.offline(plan, op, stage, parties)
    }

    fn offline_rounds(&self, plan: &Plan, parties: usize) -> u64 {
        self.protocol.offline_rounds(plan, parties)
    }

    fn operation(&self, plan: &Plan, op: &Op, stage: u32, parties: usize) -> Vec<Flow> {
        self.protocol.operation(plan, op, stage, parties)
    }

    fn has_online_messages(&self, op: &Op, stage: u32) -> bool {
        self.protocol.has_online_messages(op, stage)
    }

    fn input(&self, plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
        self.protocol.input(plan, participants, input)
    }

    fn seeds(&self, client: usize, parties: usize) -> Vec<Flow> {
        self.protocol.seeds(client, parties)
    }

    fn output(&self, plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
        self.protocol.output(plan, participants, output)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        self.protocol.checks(plan, participants)
    }

    fn checks_together(&self, plan: &Plan, runs: u64, lanes: u16, parties: usize) -> Checks {
        self.protocol.checks_together(plan, runs, lanes, parties)
    }

    fn admit(&self, plan: &Plan, participants: &Participants) -> Result<(), Error> {
        self.protocol.admit(plan, participants)
    }

    fn admit_lanes(&self, count: u16) -> Result<(), Error> {
        self.protocol.admit_lanes(count)
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        self.begin(session.me());
        self.protocol.engine(session, plan, participants)
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
