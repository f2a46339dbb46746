//! Endpoints that deviate under `mascot`: few runs each time, for preprocessing takes a while; the model tenant with MACs, whose
//! code is the same but for where its triples come from, has them by the thousand.

use tacit_program::Field;
use tacit_spdz::MASCOT;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::attacks::{self, reacting};
use tacit_testkit::macs::{order, sorts};

/// A circuit of 12 ANDs on eight instances: larger ones take thousands of triples.
fn subject(parties: usize) -> Subject {
    Subject { broadcasts: true, sorts: sorts::of(parties), longest: 8, ..Subject::new(&MASCOT, parties) }
}

/// Coins that preprocessing tosses before the first check on values of the table's plan: 3 in the setup, 2 for input masks,
/// and 5 for triples.
const COINS: u32 = 10;

#[test]
fn random_deviations() {
    attacks::random(&subject(2), 0..10);
}

#[test]
fn random_deviations_where_numbers_are_compared() {
    attacks::random_comparisons(&subject(2), 0..4);
}

#[test]
fn all_but_one_together() {
    let caught = attacks::coalitions(&subject(3), 0..4);
    assert!(caught > 1, "only {caught}");
}

#[test]
fn a_party_and_a_client_together() {
    let caught = attacks::together(&subject(2), 0..5);
    assert!(caught > 2, "only {caught}");
}

#[test]
fn reacting_to_what_comes() {
    let caught = reacting::random(&subject(2), 0..6);
    assert!(caught > 1, "only {caught}");
}

#[test]
fn nothing_leaves_before_what_it_waits_for() {
    order::held_to_the_table_after::<COINS>(&MASCOT, Field::Fp128.domain(), 25);
}

/// Parties, and seeds for each kind of deviation.
const MORE: [(usize, std::ops::Range<u64>); 3] = [(2, 1000..1030), (3, 1000..1010), (5, 1000..1002)];

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn more_deviations() {
    for (parties, seeds) in MORE {
        attacks::random(&subject(parties), seeds);
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn more_deviations_where_numbers_are_compared() {
    for (parties, seeds) in MORE {
        attacks::random_comparisons(&subject(parties), seeds);
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn more_of_all_but_one_together() {
    for (parties, seeds) in MORE {
        attacks::coalitions(&subject(parties), seeds);
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn more_of_a_party_and_a_client_together() {
    for (parties, seeds) in MORE {
        attacks::together(&subject(parties), seeds);
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn more_that_react_to_what_comes() {
    for (parties, seeds) in MORE {
        reacting::random(&subject(parties), seeds);
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn nothing_at_all_leaves_before_what_it_waits_for() {
    order::held_to_the_table_after::<COINS>(&MASCOT, Field::Fp128.domain(), 1);
}
