//! One endpoint deviates from `replicated-malicious`: nobody has a wrong output.

#[path = "order/sorts.rs"]
mod sorts;

use sorts::SORTS;
use tacit_replicated::ReplicatedMalicious;
use tacit_replicated::step;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::attacks::{self, reacting};
use tacit_testkit::links::Medium;
use tacit_testkit::with_parameters;

/// Batches are so small that the largest circuits here have several, but for others' proofs, whose batches are fixed.
fn subject(parameter: &str, value: &str) -> Subject {
    let protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, &[(parameter, value)]);
    let has_batches = protocol.with_parameter("batch", "64").is_some();
    Subject {
        sorts: &SORTS,
        ..Subject::new(if has_batches { with_parameters(protocol, &[("batch", "64")]) } else { protocol }, 3)
    }
}

fn all() -> Vec<&'static str> {
    SORTS.iter().map(|sort| sort.what).collect()
}

/// What may be done to a message of any sort.
const KINDS_OF_CHANGES: usize = 14;

/// All proofs of ANDs.
const PROOFS: [(&str, &str); 5] = [
    ("soundness", "50"),
    ("soundness", "100"),
    ("challenges", "fiat-shamir"),
    ("proofs", "li-2023"),
    ("proofs", "boyle-2019"),
];

#[test]
fn the_message_of_every_and() {
    for (parameter, value) in PROOFS {
        attacks::every_and(&subject(parameter, value), 7);
    }
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn every_bit_of_every_and() {
    for (parameter, value) in PROOFS {
        attacks::every_and(&subject(parameter, value), 1);
    }
}

#[test]
fn ands_of_a_large_circuit() {
    attacks::random_ands(&subject("soundness", "50"), 0..100);
}

#[test]
fn every_byte() {
    attacks::every_byte(&subject("soundness", "50"), 7);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn really_every_byte() {
    attacks::every_byte(&subject("soundness", "50"), 1);
}

/// Products have proofs of their own, and all of these messages.
#[test]
fn random_of_products() {
    for (soundness, seeds) in [("50", 5000..5150), ("100", 5300..5400)] {
        assert_eq!(attacks::random_products(&subject("soundness", soundness), seeds).sorts(), all());
    }
}

#[test]
fn every_byte_of_products() {
    attacks::every_byte_of_products(&subject("soundness", "50"), 37);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn every_single_byte_of_products() {
    for soundness in ["50", "100"] {
        attacks::every_byte_of_products(&subject("soundness", soundness), 1);
    }
}

#[test]
fn every_byte_with_hashed_points() {
    attacks::every_byte(&subject("challenges", "fiat-shamir"), 23);
}

#[test]
fn random() {
    assert_eq!(attacks::random(&subject("soundness", "50"), 0..500).sorts(), all());
}

#[test]
fn random_with_two_repetitions_and_with_hashed_points() {
    assert_eq!(attacks::random(&subject("soundness", "100"), 1000..1200).sorts(), all());
    assert_eq!(attacks::random(&subject("challenges", "fiat-shamir"), 1200..1400).sorts(), all());
}

#[test]
fn random_with_the_proofs_of_others() {
    assert_eq!(attacks::random(&subject("proofs", "li-2023"), 1400..1600).sorts(), all());
    assert_eq!(attacks::random(&subject("proofs", "boyle-2019"), 1600..1800).sorts(), all());
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_random() {
    let tally = attacks::random(&subject("soundness", "50"), 10_000..20_000);
    assert_eq!(tally.kinds(), SORTS.len() * KINDS_OF_CHANGES);
}

#[test]
fn a_party_and_a_client_together() {
    assert!(attacks::together(&subject("soundness", "50"), 0..200) > 50);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn a_party_and_a_client_together_many_times() {
    attacks::together(&subject("soundness", "50"), 1000..10_000);
}

#[test]
fn over_tls() {
    attacks::over(&subject("soundness", "50"), Medium::Tls, 0..36);
}

#[test]
fn a_key_that_one_party_changes_is_refused() {
    attacks::output_key_changed(&subject("soundness", "50"), step::OUTPUT_KEY);
}

#[test]
fn reacting_to_what_comes() {
    let caught = reacting::random(&subject("soundness", "50"), 0..150);
    assert!(caught > 50, "only {caught}");
}

#[test]
fn reacting_to_what_comes_with_other_proofs() {
    for (parameter, value) in
        [("soundness", "100"), ("challenges", "fiat-shamir"), ("proofs", "li-2023"), ("proofs", "boyle-2019")]
    {
        assert!(reacting::random(&subject(parameter, value), 300..400) > 30);
    }
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn reacting_to_what_comes_many_times() {
    reacting::random(&subject("soundness", "50"), 10_000..20_000);
}

#[test]
fn reacting_to_what_comes_of_numbers() {
    for (soundness, seeds) in [("50", 0..50), ("100", 100..150)] {
        let subject = subject("soundness", soundness);
        for reacting in [reacting::random_products, reacting::random_layers, reacting::random_sorts] {
            let (caught, runs) = (reacting(&subject, seeds.clone()), seeds.end - seeds.start);
            assert!(caught as u64 > runs / 3, "only {caught} of {runs}, {soundness}");
        }
    }
}

#[test]
#[ignore = "takes some minutes; `make test-long` runs it"]
fn reacting_to_what_comes_of_numbers_many_times() {
    for (soundness, seeds) in [("50", 10_000..18_000), ("100", 18_000..20_000)] {
        let subject = subject("soundness", soundness);
        for reacting in [reacting::random_products, reacting::random_layers, reacting::random_sorts] {
            println!("{} of {seeds:?}", reacting(&subject, seeds.clone()));
        }
    }
}
