//! A protocol that offers something else than it does by itself.

use std::sync::Arc;

use tacit_engine::{Checks, Client, Engine, Error, Protocol, ProtocolSpec, Roles};
use tacit_program::Native;
use tacit_program::cost::Flow;
use tacit_program::plan::{InputOp, Op, OutputOp, Plan};
use tacit_session::Session;

/// A protocol that runs plans for these operations, which it must be able to.
pub struct Offering(pub &'static dyn Protocol, pub Native);

impl Protocol for Offering {
    fn native(&self) -> Native {
        self.1
    }

    fn spec(&self) -> &ProtocolSpec {
        self.0.spec()
    }

    fn operation(&self, plan: &Plan, op: &Op, stage: u32) -> Vec<Flow> {
        self.0.operation(plan, op, stage)
    }

    fn input(&self, plan: &Plan, roles: &Roles, input: &InputOp) -> Vec<Flow> {
        self.0.input(plan, roles, input)
    }

    fn seeds(&self, client: usize) -> Vec<Flow> {
        self.0.seeds(client)
    }

    fn output(&self, plan: &Plan, roles: &Roles, output: &OutputOp) -> Vec<Flow> {
        self.0.output(plan, roles, output)
    }

    fn checks(&self, plan: &Plan, roles: &Roles) -> Checks {
        self.0.checks(plan, roles)
    }

    fn seat(&self, session: Session, plan: Arc<Plan>, roles: Roles) -> Result<Box<dyn Engine>, Error> {
        self.0.seat(session, plan, roles)
    }

    fn client(&self, session: Session, plan: Arc<Plan>, roles: Roles) -> Result<Box<dyn Client>, Error> {
        self.0.client(session, plan, roles)
    }
}
