//! What the paper's fair reconstruction leaves open, planted: then one that deviates breaks fairness.

#[path = "../../astra/tests/fair/fairness.rs"]
mod fairness;

use tacit_astra::Astra;
use tacit_astra::planted::{Mistake, plant};
use tacit_testkit::Altered;
use tacit_testkit::conformance::Subject;

/// How often one that deviates breaks fairness.
fn unfair(mistakes: &'static [Mistake]) -> usize {
    let protocol = Altered::beginning_with(&Astra::FAIR, move |_| plant(mistakes));
    let subject = Subject::new(protocol, 3);
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
