//! One endpoint deviates from `astra-malicious`: nobody has a wrong output.

use tacit_astra::AstraMalicious;
use tacit_program::plan::{Builder, Kind, Rows, To};
use tacit_session::step;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::attacks::{self, Sort};
use tacit_testkit::links::Medium;
use tacit_testkit::{Case, Draws, Fate, Message};

const SUBJECT: fn() -> Subject = || Subject {
    protocol: &AstraMalicious::IN_ORDER,
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: "none".into(),
};

const ALL: [Sort; 13] = [
    Sort::ClientSeeds,
    Sort::ClientInput,
    Sort::PartyInput,
    Sort::GivenDigest,
    Sort::And,
    Sort::Ahead,
    Sort::AheadChecked,
    Sort::Masked,
    Sort::MaskedDigest,
    Sort::Proof,
    Sort::Acceptance,
    Sort::Output,
    Sort::Confirmation,
];

/// What may be done to a message of any sort.
const KINDS_OF_CHANGES: usize = 14;

#[test]
fn the_messages_of_every_and() {
    attacks::every_and(&SUBJECT());
}

#[test]
fn ands_of_a_large_circuit() {
    attacks::random_ands(&SUBJECT(), 0..50);
}

#[test]
fn every_byte() {
    attacks::every_byte(&SUBJECT(), 7);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn really_every_byte() {
    attacks::every_byte(&SUBJECT(), 1);
}

#[test]
fn random() {
    assert_eq!(attacks::random(&SUBJECT(), 0..600).sorts(), ALL);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_random() {
    let tally = attacks::random(&SUBJECT(), 10_000..20_000);
    assert_eq!(tally.kinds(), ALL.len() * KINDS_OF_CHANGES);
}

#[test]
fn over_tls() {
    attacks::over(&SUBJECT(), Medium::Tls, 0..36);
}

/// The key that hides outputs from clients is told by both who have it: from one alone it could be another, chosen by what it
/// does to an output of a bit.
#[test]
fn a_key_that_one_party_changes_is_refused() {
    let mut builder = Builder::new();
    let [p, q, both] = std::array::from_fn(|_| builder.bits(1, 1));
    for (owner, reg) in [("P1", p), ("P2", q)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    builder.interact(Kind::And { a: Rows::one(p, 0), b: Rows::one(q, 0), dst: Rows::one(both, 0) });
    let client = builder.role("client");
    builder.output(both, To::One(client));
    let case = Case::new(&AstraMalicious::IN_ORDER, builder.finish(), &[vec![1], vec![1]]);
    for liar in [0, 1] {
        for bit in 0..128 {
            let world = case.world().intercept(Box::new(move |message: &Message| {
                let mut frame = message.frame.clone();
                if (message.from, message.to, frame.at.part) != (liar, 2, step::OUTPUT_KEY) {
                    return Fate::Deliver;
                }
                frame.payload[bit / 8] ^= 1 << (bit % 8);
                Fate::Replace(vec![frame])
            }));
            let run = case.run_in(&world, &Draws::fixed(1));
            let results: Vec<_> = run.endings.iter().flatten().map(|ending| &ending.result).collect();
            assert!(results[2].as_ref().is_err_and(|error| error.to_string().contains("different keys")));
            assert!(results[3].is_err(), "the client has an output");
        }
    }
}
