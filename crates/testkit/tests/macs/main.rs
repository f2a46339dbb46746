//! The model tenant with MACs: the suite, and n-1 parties that deviate, among two, three and five.

mod attack;
mod ranges;
mod rekey;
mod rushing;

use tacit_additive::planted::{Mistake, plant};
use tacit_engine::Protocol;
use tacit_engine::planted::Mistake as EngineMistake;
use tacit_program::Modulus;
use tacit_program::plan::Domain;
use tacit_session::step;
use tacit_testkit::conformance::attacks::{self, reacting};
use tacit_testkit::conformance::{self, Subject, views};
use tacit_testkit::links::Medium;
use tacit_testkit::macs::{order, sorts};
use tacit_testkit::tenants::MACS;
use tacit_testkit::{Altered, Run};

use rushing::{End, Keys};

const SMALL: Domain = Domain::Modular(Modulus::Mersenne61);

/// The tenant in an engine with a mistake.
fn mistaken_engine(mistakes: &'static [EngineMistake]) -> &'static dyn Protocol {
    Altered::beginning_with(&MACS, move |_| tacit_engine::planted::plant(mistakes))
}

/// The tenant with a mistake.
fn mistaken(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    Altered::beginning_with(&MACS, move |_| plant(mistakes))
}

fn subject(protocol: &'static dyn Protocol, parties: usize, one_in: usize) -> Subject {
    let file = format!("/../../vectors/wire/tenants/{}-{parties}.txt", protocol.spec().name);
    Subject {
        protocol,
        parties,
        // Nobody learns another's seed.
        told: |_, _, _| false,
        fresh_masks: false,
        baseline: (env!("CARGO_MANIFEST_DIR").to_owned() + &file).into(),
        broadcasts: true,
        sorts: sorts::of(parties),
        one_in,
        longest: usize::MAX,
    }
}

mod of_two {
    use crate::{MACS, subject};
    tacit_testkit::conformance!(subject(&MACS, 2, 20); views: input);
}

mod of_three {
    use crate::{MACS, subject};
    tacit_testkit::conformance!(subject(&MACS, 3, 60); views: input);
}

mod of_five {
    use crate::{MACS, subject};
    tacit_testkit::conformance!(subject(&MACS, 5, 150); views: input);
}

const SIZES: [usize; 3] = [2, 3, 5];

/// All but the first together, who follow the protocol or deviate: what the dealer makes of the first one's shares is no
/// message, and so no part of a view.
fn seen_by_all_but_the_first(parties: usize, name: &str) {
    let corrupt: Vec<usize> = (1..parties).collect();
    views::operation_seen(&subject(&MACS, parties, 1), name, &corrupt);
}

#[test]
fn views_of_all_but_the_first() {
    seen_by_all_but_the_first(2, "less");
    seen_by_all_but_the_first(3, "mul");
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn more_views_of_all_but_the_first() {
    for parties in SIZES {
        for name in ["mul", "less", "truncate"] {
            seen_by_all_but_the_first(parties, name);
        }
    }
}

/// All sorts of messages.
fn all() -> Vec<&'static str> {
    sorts::of(2).iter().map(|sort| sort.what).collect()
}

#[test]
fn random_deviations() {
    for (parties, seeds) in SIZES.into_iter().zip([0..150, 300..400, 500..550]) {
        assert_eq!(attacks::random(&subject(&MACS, parties, 1), seeds).sorts(), all(), "{parties} parties");
    }
}

#[test]
fn random_deviations_where_numbers_are_compared() {
    for (parties, seeds) in SIZES.into_iter().zip([0..50, 100..125, 150..160]) {
        attacks::random_comparisons(&subject(&MACS, parties, 1), seeds);
    }
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_random_deviations() {
    for parties in SIZES {
        attacks::random(&subject(&MACS, parties, 1), 10_000..11_000);
        attacks::random_comparisons(&subject(&MACS, parties, 1), 10_000..11_000);
        attacks::coalitions(&subject(&MACS, parties, 1), 10_000..11_000);
    }
}

/// All that the suite tries: each time it's one in so many.
#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn the_whole_suite() {
    for parties in [2, 3] {
        conformance::whole(&subject(&MACS, parties, 1));
    }
}

#[test]
fn all_but_one_of_sixteen_together() {
    let caught = attacks::coalitions(&subject(&MACS, 16, 1), 500..520);
    assert!(caught > 5, "only {caught}");
}

#[test]
fn every_byte_of_two() {
    attacks::every_byte(&subject(&MACS, 2, 1), 23);
}

#[test]
fn all_but_one_together() {
    for (parties, seeds) in SIZES.into_iter().zip([0..200, 200..400, 400..500]) {
        let count = seeds.end - seeds.start;
        let caught = attacks::coalitions(&subject(&MACS, parties, 1), seeds);
        assert!(caught as u64 > count / 2, "{parties} parties: only {caught}");
    }
}

#[test]
fn a_party_and_a_client_together() {
    for (parties, seeds) in SIZES.into_iter().zip([0..60, 60..100, 100..120]) {
        let count = seeds.end - seeds.start;
        let caught = attacks::together(&subject(&MACS, parties, 1), seeds);
        assert!(caught as u64 > count / 2, "{parties} parties: only {caught}");
    }
}

#[test]
fn reacting_to_what_comes() {
    for (parties, seeds) in SIZES.into_iter().zip([0..200, 200..320, 320..400]) {
        let count = seeds.end - seeds.start;
        let caught = reacting::random(&subject(&MACS, parties, 1), seeds);
        assert!(caught as u64 > count / 3, "{parties} parties: only {caught}");
    }
}

#[test]
fn over_tls() {
    attacks::over(&subject(&MACS, 3, 1), Medium::Tls, 0..12);
}

#[test]
fn nothing_leaves_before_what_it_waits_for() {
    order::held_to_the_table(&MACS, SMALL);
}

#[test]
fn a_coin_before_the_last_opened_value_is_noticed() {
    let early = order::early(mistaken(&[Mistake::CoinEarly]), SMALL);
    assert_eq!(early, ["a coin's commitment", "a coin's opening"]);
}

#[test]
fn openings_of_numbers_without_a_check_before_are_noticed() {
    let unchecked = mistaken_engine(&[EngineMistake::OpenedUnchecked]);
    assert_eq!(order::early_openings(unchecked, SMALL), ["an opening under a mask of a range"]);
    assert!(order::early_openings(&MACS, SMALL).is_empty());
}

/// Errors that cancel under weights that are known before outputs are sent: they are, with the mistake.
#[test]
fn errors_that_cancel_under_a_known_coin() {
    let early = mistaken(&[Mistake::CoinEarly]);
    assert_eq!(attack::errors_that_cancel(early), attack::End::WrongOutput);
    assert_eq!(attack::errors_that_cancel(&MACS), attack::End::Noticed);
}

/// A party that stalls one lane's check until another's has told it the key opens what it likes, if checks are made at once.
#[test]
fn a_check_that_is_stalled_beside_another_of_its_key() {
    for corrupt in [&[1][..], &[2], &[1, 2]] {
        let parties = if corrupt == [1] { 2 } else { 3 };
        let end = |mistakes, keys| rushing::stalled(parties, corrupt, mistakes, keys);
        let at_once: &[_] = &[EngineMistake::ChecksAtOnce];
        assert_eq!(end(at_once, Keys::OfTheRun), End::WrongOutput, "{corrupt:?} of {parties}");
        assert_eq!(end(&[], Keys::OfTheRun), End::NoCheck, "{corrupt:?} of {parties}");
        assert_eq!(end(&[], Keys::Stored), End::NoCheck, "{corrupt:?} of {parties}");
        // The store would count one check at a time, too.
        assert_eq!(end(at_once, Keys::Stored), End::Refused, "{corrupt:?} of {parties}");
    }
}

#[test]
fn openings_before_all_hold_all_commitments_are_noticed() {
    let early = mistaken(&[Mistake::OpeningsEarly]);
    assert_eq!(order::early(early, SMALL), ["the opening of a MAC check"]);
}

#[test]
fn openings_in_the_middle_that_are_not_checked_give_wrong_outputs() {
    let unchecked = mistaken(&[Mistake::OpeningsUnrecorded]);
    assert_eq!(attack::an_error_in_an_opening(unchecked), attack::End::WrongOutput);
    assert_eq!(attack::an_error_in_an_opening(&MACS), attack::End::Noticed);
}

/// Whatever leads there, an engine lets no share of a result go as long as something is unchecked.
#[test]
fn no_result_is_told_before_what_was_opened_is_checked() {
    let told = |run: &Run| run.trace.deliveries().iter().any(|delivery| delivery.at.part == step::OUTPUT);
    let run = attack::nothing(mistaken(&[Mistake::ResultsUnchecked]));
    assert!(!told(&run));
    for ending in run.endings.iter().flatten() {
        let error = ending.result.as_ref().expect_err("it isn't checked").to_string();
        assert!(error.contains("isn't checked yet"), "{error}");
    }
    let run = attack::nothing(&MACS);
    assert!(told(&run));
    run.outcomes();
}

#[test]
fn outputs_for_one_that_are_not_checked_are_noticed() {
    for parties in [2, 3] {
        let attacked = std::panic::catch_unwind(|| {
            let unchecked = mistaken(&[Mistake::OutputsForOneUnrecorded]);
            attacks::random(&subject(unchecked, parties, 1), 0..400)
        });
        let told = attacked.expect_err("an attacker gets through");
        let told = told.downcast_ref::<String>().expect("a text");
        assert!(told.contains("wrong outputs") || told.contains("nobody notices"), "{told}");
    }
}
