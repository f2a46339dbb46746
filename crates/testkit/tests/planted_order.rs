//! Mistakes that let something out too early, where the release-order table of `replicated-malicious` shows it. Seeds that
//! go with the wrong step's messages it doesn't tell apart; attackers do, and use them.

#[path = "../../replicated/tests/order/cases.rs"]
mod cases;
#[path = "../../replicated/tests/order/guard.rs"]
mod guard;
#[path = "../../replicated/tests/order/messages.rs"]
mod messages;
#[path = "../../replicated/tests/order/table.rs"]
mod table;

use std::collections::BTreeSet;

use tacit_engine::Protocol;
use tacit_replicated::ReplicatedMalicious;
use tacit_replicated::planted::{Mistake, plant};
use tacit_testkit::conformance::order::{Release, withheld};
use tacit_testkit::{Altered, Case, with_parameters};

fn mistaken(mistakes: &'static [Mistake], parameters: &[(&str, &str)]) -> &'static dyn Protocol {
    let protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, parameters);
    Altered::beginning_with(protocol, move |_| plant(mistakes))
}

/// What leaves early.
fn early(cases: &[Case], table: &[Release]) -> BTreeSet<&'static str> {
    let tried = cases.iter().map(|case| withheld(case, table, 1, None));
    tried.flat_map(|tried| tried.early).map(|early| early.what).collect()
}

#[test]
fn seeds_without_the_left_verifiers_word() {
    for proofs in ["usual", "li-2023", "boyle-2019"] {
        let protocol = mistaken(&[Mistake::LeftWordUnawaited], &[("proofs", proofs)]);
        assert_eq!(
            early(&cases::one_batch(protocol), &table::ONE_BATCH),
            BTreeSet::from(["a seed"]),
            "{proofs}"
        );
        let early = early(&cases::of_products(protocol), &table::ONE_BATCH);
        assert_eq!(early, BTreeSet::from(["a seed"]), "of products, {proofs}");
    }
}

#[test]
fn ands_of_what_clients_gave_before_it_is_compared() {
    for mistake in [&[Mistake::GivenNotCompared], &[Mistake::GivenComparedLate]] {
        let cases = cases::one_batch(mistaken(mistake, &[]));
        let both = [&table::ONE_BATCH[..], &table::ANY].concat();
        let both = early(&cases, &both);
        // Without a comparison there is nothing to withhold.
        let late = mistake.contains(&Mistake::GivenComparedLate);
        assert_eq!(both.contains("a message for an AND"), late);
        assert_eq!(both.contains("a seed"), late);
    }
}

/// A guard that is opened before all is accepted.
#[test]
fn a_guard_before_acceptances() {
    let protocol = mistaken(&[Mistake::GuardEarly], &[]);
    let table = [&guard::GUARDED[..], &table::ANY[4..6]].concat();
    let early = early(&[guard::guarded(protocol, 9)], &table);
    let for_party = "an output's component for a party, or its digest";
    let for_client = "an output's component for a client, its digest and this party's acceptance";
    assert_eq!(early, BTreeSet::from([for_party, for_client]));
}
