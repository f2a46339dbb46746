//! What the paper's fair reconstruction leaves open, planted: then one that deviates breaks fairness.

use std::sync::Arc;

use tacit_astra::AstraFair;
use tacit_astra::planted::{Mistake, plant};
use tacit_engine::{Checks, Client, Engine, Error, Protocol, ProtocolSpec, Roles};
use tacit_program::Native;
use tacit_program::cost::Flow;
use tacit_program::plan::{InputOp, Op, OutputOp, Plan};
use tacit_session::Session;
use tacit_testkit::conformance::{Subject, fairness};

/// The protocol with mistakes in it.
struct Mistaken(&'static [Mistake]);

static RIGHT: AstraFair = AstraFair::IN_ORDER;

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

/// How often one that deviates breaks fairness.
fn unfair(mistakes: &'static [Mistake]) -> usize {
    let protocol: &'static dyn Protocol = Box::leak(Box::new(Mistaken(mistakes)));
    let subject = Subject { protocol, told: |_, _, _| false, fresh_masks: false, baseline: "none".into() };
    fairness::random(&subject, 0..300).unfair
}

#[test]
fn without_mistakes_it_is_fair() {
    assert_eq!(unfair(&[]), 0);
}

/// A corrupt `P_0` fails one evaluator's check, as the paper has it.
#[test]
fn evaluators_that_do_not_tell_each_other_their_verdicts() {
    assert!(unfair(&[Mistake::NoVerdicts]) > 0);
}

/// A corrupt `P_0` says nothing to one evaluator.
#[test]
fn silence_that_counts_as_an_abort() {
    assert!(unfair(&[Mistake::SilenceAborts]) > 0);
}

/// Anybody claims that `P_0` aborted.
#[test]
fn aborts_that_nobody_proves() {
    assert!(unfair(&[Mistake::AbortWithoutProof]) > 0);
}
