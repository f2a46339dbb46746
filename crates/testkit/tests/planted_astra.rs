//! Mistakes planted in the checks of `astra-malicious`: each lets an attacker through whom the right form notices. So the
//! suite would notice them.

use std::sync::Arc;

use tacit_astra::AstraMalicious;
use tacit_astra::planted::{Mistake, plant};
use tacit_engine::{Checks, Client, Engine, Error, Protocol, ProtocolSpec, Roles};
use tacit_program::Native;
use tacit_program::cost::Flow;
use tacit_program::plan::{InputOp, Op, OutputOp, Plan};
use tacit_session::Session;
use tacit_testkit::conformance::{Subject, attacks};

/// The protocol with mistakes in it.
struct Mistaken(&'static [Mistake]);

const RIGHT: AstraMalicious = AstraMalicious::IN_ORDER;

impl Protocol for Mistaken {
    fn spec(&self) -> &ProtocolSpec {
        RIGHT.spec()
    }

    fn native(&self) -> Native {
        RIGHT.native()
    }

    fn operation(&self, plan: &Plan, op: &Op, stage: u32) -> Vec<Flow> {
        RIGHT.operation(plan, op, stage)
    }

    fn input(&self, plan: &Plan, roles: &Roles, input: &InputOp) -> Vec<Flow> {
        RIGHT.input(plan, roles, input)
    }

    fn seeds(&self, client: usize) -> Vec<Flow> {
        RIGHT.seeds(client)
    }

    fn output(&self, plan: &Plan, roles: &Roles, output: &OutputOp) -> Vec<Flow> {
        RIGHT.output(plan, roles, output)
    }

    fn checks(&self, plan: &Plan, roles: &Roles) -> Checks {
        RIGHT.checks(plan, roles)
    }

    // An endpoint has a thread of its own, which takes its seat before it does anything.
    fn seat(&self, session: Session, plan: Arc<Plan>, roles: Roles) -> Result<Box<dyn Engine>, Error> {
        plant(self.0);
        RIGHT.seat(session, plan, roles)
    }

    fn client(&self, session: Session, plan: Arc<Plan>, roles: Roles) -> Result<Box<dyn Client>, Error> {
        plant(self.0);
        RIGHT.client(session, plan, roles)
    }
}

fn subject(mistakes: &'static [Mistake]) -> Subject {
    Subject {
        protocol: Box::leak(Box::new(Mistaken(mistakes))),
        told: |_, _, _| false,
        fresh_masks: false,
        baseline: "none".into(),
    }
}

/// Attacks that the right form withstands.
fn attack(mistakes: &'static [Mistake]) {
    attacks::random(&subject(mistakes), 0..400);
}

#[test]
fn without_a_mistake_nobody_gets_through() {
    attack(&[]);
}

#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn wrong_products_ahead_of_time() {
    attack(&[Mistake::WrongTriplesPass]);
}

#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn wrong_products_online() {
    // Those of the last layer, which nothing is computed of.
    attacks::every_and(&subject(&[Mistake::WrongResultsPass]));
}

#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn wrong_seeds_for_a_client() {
    attack(&[Mistake::WrongSeedsPass]);
}

#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn wrong_components_of_outputs() {
    attack(&[Mistake::ComponentsUnchecked]);
}
