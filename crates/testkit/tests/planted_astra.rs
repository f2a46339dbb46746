//! Mistakes planted in the checks of `astra-malicious`: each lets an attacker through whom the right form notices. So the
//! suite would notice them.

use tacit_astra::AstraMalicious;
use tacit_astra::planted::{Mistake, plant};
use tacit_testkit::Altered;
use tacit_testkit::conformance::{Subject, attacks};

/// The protocol with mistakes in it.
fn subject(mistakes: &'static [Mistake]) -> Subject {
    Subject {
        protocol: Altered::beginning_with(&AstraMalicious::IN_ORDER, move || plant(mistakes)),
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
