//! One endpoint deviates from `astra-malicious`: nobody has a wrong output. With comparisons by circuits and garbled.

#[path = "order/sorts.rs"]
mod sorts;

use sorts::SORTS;
use tacit_astra::Astra;
use tacit_astra::step;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::attacks::{self, reacting};
use tacit_testkit::links::Medium;

const SUBJECT: fn() -> Subject = || Subject { sorts: &SORTS, ..Subject::new(&Astra::MALICIOUS, 3) };

const GARBLED: fn() -> Subject = || Subject { protocol: &Astra::MALICIOUS_GARBLED, ..SUBJECT() };

fn all() -> Vec<&'static str> {
    sorts::all_but(&["what makes outputs fair"])
}

/// What may be done to a message of any sort.
const KINDS_OF_CHANGES: usize = 14;

#[test]
fn the_messages_of_every_and() {
    attacks::every_and(&SUBJECT(), 7);
}

#[test]
fn ands_of_a_large_circuit() {
    attacks::random_ands(&SUBJECT(), 0..50);
}

#[test]
fn every_byte() {
    attacks::every_byte(&SUBJECT(), 13);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn really_every_byte() {
    attacks::every_and(&SUBJECT(), 1);
    attacks::every_byte(&SUBJECT(), 1);
}

#[test]
fn random() {
    assert_eq!(attacks::random(&SUBJECT(), 0..400).sorts(), all());
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_random() {
    let tally = attacks::random(&SUBJECT(), 10_000..20_000);
    assert_eq!(tally.kinds(), all().len() * KINDS_OF_CHANGES);
}

#[test]
fn a_party_and_a_client_together() {
    assert!(attacks::together(&SUBJECT(), 0..200) > 50);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn a_party_and_a_client_together_many_times() {
    attacks::together(&SUBJECT(), 1000..10_000);
}

#[test]
fn over_tls() {
    attacks::over(&SUBJECT(), Medium::Tls, 0..36);
}

#[test]
fn a_key_that_one_party_changes_is_refused() {
    attacks::output_key_changed(&SUBJECT(), step::OUTPUT_KEY);
}

#[test]
fn every_byte_of_garbled_comparisons() {
    attacks::every_byte_of_comparisons(&GARBLED(), 11);
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn really_every_byte_of_garbled_comparisons() {
    attacks::every_byte_of_comparisons(&GARBLED(), 1);
}

#[test]
fn random_on_garbled_comparisons() {
    assert_eq!(attacks::random_comparisons(&GARBLED(), 0..300).sorts(), all());
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_random_on_garbled_comparisons() {
    let tally = attacks::random_comparisons(&GARBLED(), 10_000..20_000);
    assert_eq!(tally.kinds(), all().len() * KINDS_OF_CHANGES);
}

#[test]
fn what_is_wrong_ahead_of_time_is_found_whatever_the_inputs() {
    attacks::selective_failure(&GARBLED(), 0);
}

#[test]
fn reacting_to_what_comes() {
    let caught = reacting::random(&SUBJECT(), 0..300);
    assert!(caught > 100, "only {caught}");
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn reacting_to_what_comes_many_times() {
    reacting::random(&SUBJECT(), 10_000..20_000);
}

#[test]
fn reacting_to_what_comes_of_garbled_comparisons() {
    assert!(reacting::random_comparisons(&GARBLED(), 0..100) > 30);
}
