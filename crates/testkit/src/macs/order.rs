//! What `model-macs` releases, and what must be where before: for a plan that checks once before outputs and once with them.

use std::collections::BTreeSet;

use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Modulus, OpKind, Plan, To};
use tacit_session::step;
use tacit_testkit::Case;
use tacit_testkit::conformance::order::{Release, Sent, held_to, withheld};
use tacit_testkit::tenants::{MAC_COMMIT, MAC_OPEN};

/// The table, for so many parties; clients have higher numbers.
const fn table<const PARTIES: usize>() -> [Release; 7] {
    [
        Release {
            what: "a coin's opening",
            after: "all that it weighs is at this party: what owners told and what products opened, or outputs",
            is: |sent| is(sent, step::COIN_OPEN),
            waits_for: |coin, held| held.to == coin.from && is_weighed(held, coin.at.op) && held.to < PARTIES,
        },
        Release {
            what: "a coin's opening",
            after: "all commitments to it are at this party",
            is: |sent| is(sent, step::COIN_OPEN),
            waits_for: |coin, held| {
                held.to == coin.from && is(held, step::COIN_COMMIT) && held.at.op == coin.at.op
            },
        },
        Release {
            what: "a commitment of a MAC check",
            after: "all openings of its coin are at this party",
            is: |sent| is(sent, MAC_COMMIT),
            waits_for: |commitment, held| {
                held.to == commitment.from && is(held, step::COIN_OPEN) && held.at.op == commitment.at.op
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
            is: |sent| is(sent, step::OUTPUT) && sent.to < PARTIES,
            waits_for: |output, held| held.to == output.from && is(held, MAC_OPEN) && held.at.op == 0,
        },
        Release {
            what: "an output for a client",
            after: "its check is over at this party",
            is: |sent| is(sent, step::OUTPUT) && sent.to >= PARTIES,
            waits_for: |output, held| held.to == output.from && is(held, MAC_OPEN) && held.at.op == 1,
        },
        Release {
            what: "what a client tells of its input",
            after: "all parties' shares of the mask are there",
            is: |sent| is(sent, step::INPUT) && sent.from >= PARTIES,
            waits_for: |told, held| is(held, step::INPUT) && held.to == told.from,
        },
    ]
}

fn is(sent: Sent, part: u16) -> bool {
    sent.at.part == part
}

/// Whether a message tells what the first coin weighs, or the second.
fn is_weighed(sent: Sent, coin: u32) -> bool {
    if coin == 0 { is(sent, step::INPUT) || sent.at.part >= step::OPERATION } else { is(sent, step::OUTPUT) }
}

/// A product of inputs of the first party and a client, for all, for the first party and for another client.
fn plan() -> Plan {
    let mut build = Builder::new();
    let [x, y, product] = [(); 3].map(|()| build.row(Modulus::Mersenne61.domain(), 3));
    for (owner, reg) in [("P0", x), ("alice", y)] {
        let owner = build.role(owner);
        build.input(owner, reg);
    }
    build.interact(OpKind::Mul { a: x, b: y, dst: product });
    build.output(product, To::All);
    for learner in ["P0", "carol"] {
        let learner = build.role(learner);
        build.output(product, To::One(learner));
    }
    build.finish()
}

fn case(protocol: &'static dyn Protocol, parties: usize) -> Case {
    Case::new(protocol, parties, plan(), &[vec![1, 2, 3], vec![7, 8, 9]])
}

/// Nothing leaves early, of two, three and five parties.
pub(crate) fn held_to_the_table(protocol: &'static dyn Protocol) {
    held_to(&[case(protocol, 2)], &table::<2>(), 1);
    held_to(&[case(protocol, 3)], &table::<3>(), 1);
    held_to(&[case(protocol, 5)], &table::<5>(), 3);
}

/// What leaves early among three.
pub(crate) fn early(protocol: &'static dyn Protocol) -> Vec<&'static str> {
    let early = withheld(&case(protocol, 3), &table::<3>(), 1, None).early;
    early.into_iter().map(|early| early.what).collect::<BTreeSet<_>>().into_iter().collect()
}
