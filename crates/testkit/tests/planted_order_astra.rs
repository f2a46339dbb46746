//! Mistakes that let something out too early, where the release-order table of `astra-malicious` shows it.

#[path = "../../astra/tests/order/cases.rs"]
mod cases;
#[path = "../../astra/tests/order/table.rs"]
mod table;

use std::collections::BTreeSet;

use table::{Checks, SEATS, table};
use tacit_astra::Astra;
use tacit_astra::planted::{Mistake, plant};
use tacit_engine::Protocol;
use tacit_testkit::conformance::order::withheld;
use tacit_testkit::{Altered, Case};

fn mistaken(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    Altered::beginning_with(&Astra::MALICIOUS_GARBLED, move |_| plant(mistakes))
}

/// What leaves early.
fn early(mistakes: &'static [Mistake]) -> BTreeSet<&'static str> {
    early_in(&cases::mixed(mistaken(mistakes), 5), Checks::One)
}

fn early_in(case: &Case, checks: Checks) -> BTreeSet<&'static str> {
    let tried = withheld(case, &table::<0>(checks), 1, None);
    tried.early.into_iter().map(|early| early.what).collect()
}

#[test]
fn without_a_mistake_nothing() {
    assert_eq!(early(&[]), BTreeSet::new());
    assert_eq!(SEATS[0], "012");
}

#[test]
fn coins_before_triples() {
    let coin = ["a commitment to a coin", "an opening of a coin"];
    assert!(early(&[Mistake::CoinBeforeTriples]).is_superset(&BTreeSet::from(coin)));
}

/// The same where batches are small: of a first one, one in the middle and a last one that isn't full.
#[test]
fn coins_before_triples_of_every_batch() {
    let coin = ["a commitment to a coin", "an opening of a coin"];
    let early = |mistakes| early_in(&cases::ands(mistaken(mistakes), 150), Checks::Many);
    assert_eq!(early(&[Mistake::SmallBatches]), BTreeSet::new());
    let mistakes = &[Mistake::SmallBatches, Mistake::CoinBeforeTriples];
    assert!(early(mistakes).is_superset(&BTreeSet::from(coin)));
}

#[test]
fn results_before_operands() {
    let results = ["P_0's digests of what it computed"];
    assert_eq!(early(&[Mistake::ResultsBeforeOperands]), BTreeSet::from(results));
}

#[test]
fn outputs_before_verdicts() {
    let outputs = ["a component of an output, or its hash"];
    assert_eq!(early(&[Mistake::OutputsBeforeVerdicts]), BTreeSet::from(outputs));
}

/// Inputs are compared last then, when all was computed and sent.
#[test]
fn what_is_computed_before_inputs_are_compared() {
    assert!(early(&[Mistake::GivenComparedLast]).contains("what an evaluator computes"));
}
