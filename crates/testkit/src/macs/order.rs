//! What a protocol with MACs releases, and what must be where before: for a plan that checks once before outputs and once with
//! them.

use std::collections::BTreeSet;

use tacit_additive::{BIT_MASKS, MAC_COMMIT, MAC_OPEN};
use tacit_engine::Protocol;
use tacit_program::Range;
use tacit_program::plan::{Builder, Domain, Form, OpKind, Opening, Plan, To};
use tacit_session::step;

use crate::Case;
use crate::conformance::order::{Early, Release, Sent, held_to, withheld};

/// The table, for so many parties; clients have higher numbers. The first coin that a check on values tosses has the number
/// `COIN`: the supply's come before.
const fn table<const SIZE: usize, const COIN: u32>() -> [Release; 7] {
    [
        Release {
            what: "a coin's opening",
            after: "all that it weighs is at this party: what owners told and what products opened, or outputs",
            is: |sent| is(sent, step::COIN_OPEN) && sent.at.op >= COIN,
            waits_for: |coin, held| {
                held.to == coin.from && is_weighed(held, coin.at.op - COIN) && held.to < SIZE
            },
        },
        Release {
            what: "a coin's opening",
            after: "all commitments to it are at this party",
            is: |sent| is(sent, step::COIN_OPEN) && sent.at.op >= COIN,
            waits_for: |coin, held| {
                held.to == coin.from && is(held, step::COIN_COMMIT) && held.at.op == coin.at.op
            },
        },
        Release {
            what: "a commitment of a MAC check",
            after: "all openings of its coin are at this party",
            is: |sent| is(sent, MAC_COMMIT),
            waits_for: |commitment, held| {
                held.to == commitment.from
                    && is(held, step::COIN_OPEN)
                    && held.at.op == commitment.at.op + COIN
            },
        },
        Release {
            what: "the opening of a MAC check",
            after: "everybody's commitment is at everybody",
            is: |sent| is(sent, MAC_OPEN),
            waits_for: |opening, held| is(held, MAC_COMMIT) && held.at.op == opening.at.op,
        },
        Release {
            what: "an output's opening",
            after: "the check of all before is over at this party",
            is: |sent| is(sent, step::OUTPUT) && sent.to < SIZE,
            waits_for: |output, held| held.to == output.from && is(held, MAC_OPEN) && held.at.op == 0,
        },
        Release {
            what: "an output for a client",
            after: "its check is over at this party",
            is: |sent| is(sent, step::OUTPUT) && sent.to >= SIZE,
            waits_for: |output, held| held.to == output.from && is(held, MAC_OPEN) && held.at.op == 1,
        },
        Release {
            what: "what a client tells of its input",
            after: "all parties' shares of the mask are there",
            is: |sent| is(sent, step::INPUT) && sent.from >= SIZE,
            waits_for: |told, held| is(held, step::INPUT) && held.to == told.from,
        },
    ]
}

/// What is released besides where inputs are in ranges: their bits are hidden by what a check before them has shown to be bits.
const fn table_of_ranges<const SIZE: usize>() -> [Release; 2] {
    [
        Release {
            what: "a coin's opening",
            after: "all openings of what hides bits are at this party",
            is: |sent| is(sent, step::COIN_OPEN) && sent.at.op == 0,
            waits_for: |coin, held| held.to == coin.from && hides_bits(held),
        },
        Release {
            what: "what is told of bits, or shown to a client of what hides them",
            after: "the check of what hides them is over at this party",
            is: |sent| is(sent, step::INPUT) && sent.from < SIZE,
            waits_for: |told, held| held.to == told.from && is(held, MAC_OPEN) && held.at.op == 0,
        },
    ]
}

/// What is released after hashes are compared, where a supply compares none: the first is of what owners told, and of
/// each check there are one of what was opened and one of all commitments.
const AFTER_HASHES: [Release; 3] = [
    Release {
        what: "a coin's commitment",
        after: "all have compared a hash of what owners told",
        is: |sent| is(sent, step::COIN_COMMIT),
        waits_for: |coin, held| held.to == coin.from && is_hash(held, 0),
    },
    Release {
        what: "a coin's commitment",
        after: "all have compared a hash of what was opened",
        is: |sent| is(sent, step::COIN_COMMIT),
        waits_for: |coin, held| held.to == coin.from && is_hash(held, 1 + 2 * coin.at.op),
    },
    Release {
        what: "the opening of a MAC check",
        after: "all have compared a hash of all commitments",
        is: |sent| is(sent, MAC_OPEN),
        waits_for: |opening, held| held.to == opening.from && is_hash(held, 2 + 2 * opening.at.op),
    },
];

/// What [`opened`] opens.
const OPENINGS: [Release; 1] = [Release {
    what: "an opening under a mask of a range",
    after: "the check of all before is over at this party",
    is: |sent| is_online(sent) && sent.at.op == 1,
    waits_for: |opening, held| held.to == opening.from && is(held, MAC_OPEN) && held.at.op == 0,
}];

/// Whether a message is a hash that is compared, of this number.
fn is_hash(sent: Sent, number: u32) -> bool {
    is(sent, step::ECHO) && sent.at.op == number
}

fn is(sent: Sent, part: u16) -> bool {
    sent.at.part == part
}

/// Whether a message opens what hides the bits of inputs.
pub(super) fn hides_bits(sent: Sent) -> bool {
    (BIT_MASKS..BIT_MASKS + 2).contains(&sent.at.part)
}

/// Whether a message tells what the first coin weighs, or the second.
fn is_weighed(sent: Sent, coin: u32) -> bool {
    if coin == 0 { is(sent, step::INPUT) || is_online(sent) } else { is(sent, step::OUTPUT) }
}

/// Whether a message is an operation's.
pub(super) fn is_online(sent: Sent) -> bool {
    sent.at.part >= step::OPERATION && !step::is_offline(sent.at.part)
}

/// A product of inputs of the first party and a client, which are in a range or aren't, for all, for the first party and for
/// another client.
fn plan(domain: Domain, range: Option<Range>) -> Plan {
    let mut build = Builder::new();
    let [x, y, product] = [(); 3].map(|()| build.row(domain, 3));
    for (owner, reg) in [("P0", x), ("alice", y)] {
        let owner = build.role(owner);
        match range {
            Some(range) => build.input_in(owner, reg, Form::Signed, range),
            None => build.input(owner, reg),
        }
    }
    build.interact(OpKind::Mul { a: x, b: y, dst: product });
    build.output(product, To::All);
    for learner in ["P0", "carol"] {
        let learner = build.role(learner);
        build.output(product, To::One(learner));
    }
    build.finish()
}

/// A product, which the second operation opens under a mask of a range, as it says.
fn opened(domain: Domain) -> Plan {
    let mut build = Builder::new();
    let [x, y, product] = [(); 3].map(|()| build.row(domain, 3));
    let public = build.public(domain, 3);
    for (owner, reg) in [("P0", x), ("alice", y)] {
        let owner = build.role(owner);
        build.input(owner, reg);
    }
    build.interact(OpKind::Mul { a: x, b: y, dst: product });
    build.interact(OpKind::Open { a: product, dst: public, how: Opening::Verified });
    build.output(product, To::All);
    build.finish()
}

fn case(protocol: &'static dyn Protocol, domain: Domain, range: Option<Range>, parties: usize) -> Case {
    case_of(protocol, domain, plan(domain, range), parties)
}

fn case_of(protocol: &'static dyn Protocol, domain: Domain, plan: Plan, parties: usize) -> Case {
    let values =
        |values: [u64; 3]| values.iter().flat_map(|&low| [low, 0].into_iter().take(domain.limbs())).collect();
    Case::new(protocol, parties, plan, &[values([1, 2, 3]), values([7, 8, 9])])
}

/// Nothing leaves early, of two, three and five parties, where a supply tosses no coins; of five one in so many is tried.
///
/// # Panics
/// At the first that does.
pub fn held_to_the_table(protocol: &'static dyn Protocol, domain: Domain) {
    held_to(&[case(protocol, domain, None, 2)], &table::<2, 0>(), 1);
    held_to(&[case(protocol, domain, None, 3)], &table::<3, 0>(), 1);
    held_to(&[case(protocol, domain, None, 5)], &table::<5, 0>(), 3);
    held_to(&[2, 3].map(|parties| case(protocol, domain, None, parties)), &AFTER_HASHES, 1);
    let openings = |parties| case_of(protocol, domain, opened(domain), parties);
    held_to(&[2, 3].map(openings), &OPENINGS, 1);
    let in_range = |parties| [case(protocol, domain, Range::new(-9, 20), parties)];
    held_to(&in_range(2), &table_of_ranges::<2>(), 1);
    held_to(&in_range(3), &table_of_ranges::<3>(), 1);
}

/// The same of two parties and of three, where a supply tosses `COIN` coins in the run; one in so many is tried.
///
/// # Panics
/// At the first that does.
pub fn held_to_the_table_after<const COIN: u32>(
    protocol: &'static dyn Protocol,
    domain: Domain,
    one_in: usize,
) {
    held_to(&[case(protocol, domain, None, 2)], &table::<2, COIN>(), one_in);
    held_to(&[case(protocol, domain, None, 3)], &table::<3, COIN>(), one_in);
}

/// What leaves early among three.
pub fn early(protocol: &'static dyn Protocol, domain: Domain) -> Vec<&'static str> {
    let table = [&table::<3, 0>()[..], &AFTER_HASHES].concat();
    names(withheld(&case(protocol, domain, None, 3), &table, 1, None).early)
}

/// What leaves early among three where an opening is under a mask of a range.
pub fn early_openings(protocol: &'static dyn Protocol, domain: Domain) -> Vec<&'static str> {
    let case = case_of(protocol, domain, opened(domain), 3);
    names(withheld(&case, &OPENINGS, 1, None).early)
}

fn names(early: Vec<Early>) -> Vec<&'static str> {
    early.into_iter().map(|early| early.what).collect::<BTreeSet<_>>().into_iter().collect()
}
