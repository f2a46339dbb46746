//! Mistakes planted in the checks of `astra-malicious`: each lets an attacker through whom the right form notices. So the
//! suite would notice them.

use tacit_astra::AstraMalicious;
use tacit_astra::planted::{Mistake, plant};
use tacit_testkit::Altered;
use tacit_testkit::conformance::{Subject, attacks};

/// The protocol with mistakes in it.
fn subject(mistakes: &'static [Mistake]) -> Subject {
    Subject {
        protocol: Altered::beginning_with(&AstraMalicious::IN_ORDER, move |_| plant(mistakes)),
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

/// The protocol with garbled comparisons, and mistakes in it: of each party's, by role.
fn garbled(mistakes: [&'static [Mistake]; 3]) -> Subject {
    let plant = move |endpoint: usize| plant(mistakes.get(endpoint).copied().unwrap_or_default());
    Subject { protocol: Altered::beginning_with(&AstraMalicious::GARBLED, plant), ..subject(&[]) }
}

/// A corrupt `P_1` changes labels of masked numbers, and doesn't mind what comes of it.
#[test]
fn wrong_labels_are_noticed_by_who_evaluates_them() {
    let careless = garbled([&[], &[Mistake::TagsUnchecked], &[]]);
    assert_eq!(attacks::unnoticed_in_comparisons(&careless, 1, 53), 0);
}

#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn labels_that_nobody_checks() {
    let mistakes = garbled([&[], &[Mistake::TagsUnchecked], &[Mistake::LabelsUnchecked]]);
    attacks::unnoticed_in_comparisons(&mistakes, 1, 53);
}

/// A corrupt `P_2` says that a sign is another.
#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn signs_whose_tags_nobody_checks() {
    attacks::unnoticed_in_comparisons(&garbled([&[], &[Mistake::TagsUnchecked], &[]]), 2, 1);
}

/// A corrupt `P_0` makes one commitment wrong: if `P_2` stops, a bit of the masked number is the one that it stands for.
#[test]
#[should_panic(expected = "who stops depends on the input")]
fn commitments_that_are_left_out_of_what_garblers_vouch_for() {
    const MISTAKES: &[Mistake] = &[Mistake::CommitmentsUncompared];
    attacks::selective_failure(&garbled([&[], MISTAKES, MISTAKES]), 0);
}

/// A corrupt `P_0` makes one table wrong: the evaluator has a wrong label if it uses that.
#[test]
#[should_panic(expected = "who stops depends on the input")]
fn garblers_that_nobody_compares() {
    attacks::selective_failure(&garbled([&[], &[], &[Mistake::GarblersUncompared]]), 0);
}
