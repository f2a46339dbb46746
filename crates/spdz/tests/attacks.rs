//! Endpoints that deviate under `mascot`: few runs each time, for preprocessing takes a while; the model tenant with MACs, whose
//! code is the same but for where its triples come from, has them by the thousand.

use tacit_engine::Protocol;
use tacit_net::Phase;
use tacit_ot::step;
use tacit_program::{Builder, Dtype, Field, Modulus, Recipient, lower};
use tacit_spdz::MASCOT;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::attacks::{self, reacting};
use tacit_testkit::macs::{order, sorts};
use tacit_testkit::{Case, Draws, Fate, Run};

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

/// Whenever a client is lost while triples are made, parties make and check them all before their run ends: nobody is left in a
/// check of which another one may know the verdict.
#[test]
fn a_client_that_is_lost_while_triples_are_made_ends_no_check() {
    const ALICE: usize = 2;
    let mut build = Builder::new();
    let kind = Dtype::Modular(Modulus::Prime128);
    let [a, b] = ["P0", "alice"].map(|owner| build.input(owner, owner, kind, &[3], None).expect("an input"));
    let product = build.mul(a, b).expect("a product");
    build.reveal(product, Recipient::All).expect("the node is there");
    let program = build.finish().expect("something is revealed");
    let plan = lower(&program, MASCOT.capabilities()).expect("the protocol has all of it").plan;
    let case = Case::new(&MASCOT, 2, plan, &[vec![3, 0, 4, 0, 5, 0], vec![7, 0, 0, 1, 9, 0]]);
    let made = |run: &Run| {
        let sent = |party: usize| {
            let ending = run.endings[party].as_ref().expect("it took part");
            (ending.counters.with_peer(Phase::Offline, 1 - party).sent_bytes, ending.result.is_ok())
        };
        [0, 1].map(sent)
    };
    let run = case.run(&Draws::fixed(1));
    let whole = made(&run);
    assert!(whole.iter().all(|(bytes, has_result)| *bytes > 0 && *has_result));
    let parts: Vec<u16> = run.trace.link(1, 0).map(|delivery| delivery.at.part).collect();
    let first = parts.iter().position(|part| *part == step::COIN).expect("transfers are checked");
    let last = parts.iter().rposition(|part| *part == step::ANSWER).expect("and the check answered");
    assert!(last > first);
    for nth in first..=last {
        let world = case.world().intercept(Box::new(move |message| {
            if (message.from, message.to, message.nth) == (1, 0, nth) {
                Fate::Lose(ALICE)
            } else {
                Fate::Deliver
            }
        }));
        let run = case.run_in(&world, &Draws::fixed(1));
        assert_eq!(made(&run), whole.map(|(bytes, _)| (bytes, false)), "after message {nth}");
    }
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
