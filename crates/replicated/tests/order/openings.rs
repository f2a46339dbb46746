//! A plan that opens in the middle, and what it releases when.

use super::messages::{is_acceptance, is_and, is_output, is_proof, is_seed};
use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Domain, Local, OpKind, Opening, Public, Reg, Rows, To};
use tacit_testkit::Case;
use tacit_testkit::conformance::order::{Release, Sent};

/// The operations of [`opened`] that open.
pub(crate) const OPENINGS: [u32; 2] = [2, 4];

/// A shuffle, an AND that is opened, an AND of a bit that depends on what was opened, and its opening.
pub(crate) fn opened(protocol: &'static dyn Protocol, cols: usize) -> Case {
    let mut build = Builder::new();
    let [x, y, z, v] = ["P0", "P1", "P2", "alice"].map(|owner| {
        let (owner, reg) = (build.role(owner), build.bits(1, cols));
        build.input(owner, reg);
        reg
    });
    let shuffled = [build.bits(1, cols), build.bits(1, cols)];
    let cols_of = vec![x, y];
    build.interact(OpKind::Shuffle { cols: cols_of, blocks: cols, turns: 3, dst: shuffled.to_vec() });
    let open = |build: &mut Builder, a: Reg, b: Reg| {
        let (dst, known) = (build.bits(1, cols), build.public(Domain::Bits, cols));
        let [a, b, rows] = [a, b, dst].map(|reg| Rows::one(reg, 0));
        build.interact(OpKind::And { a, b, dst: rows });
        build.interact(OpKind::Open { a: dst, dst: known, how: Opening::Verified });
        known
    };
    let first = open(&mut build, shuffled[0], z);
    let moved = build.bits(1, cols);
    build.local(Local::XorPublic { a: v, c: Public::Register(first), dst: moved });
    let second = open(&mut build, shuffled[1], moved);
    let last = build.bits(1, cols);
    build.local(Local::XorPublic { a: z, c: Public::Register(second), dst: last });
    build.output(last, To::All);
    let carol = build.role("carol");
    build.output(last, To::One(carol));
    let inputs: Vec<Vec<u64>> =
        (0..4).map(|input| (0..cols as u64).map(|at| at >> input & 1).collect()).collect();
    Case::new(protocol, 3, build.finish(), &inputs)
}

/// What [`opened`] releases, beside what is so of all plans: the first check is before its first opening, the
/// second before the second one, and the one before outputs has the number 0.
pub(crate) const OPENED: [Release; 6] = [
    Release {
        what: "an opened component, or its digest",
        after: "both others' acceptances of all before it are at this party",
        is: is_opening,
        waits_for: |opening, held| {
            is_acceptance(held) && held.to == opening.from && held.at.batch == check_of(opening)
        },
    },
    Release {
        what: "an acceptance before an opening",
        after: "all messages of its proofs are at this party",
        is: |sent| is_acceptance(sent) && sent.at.batch > 0,
        waits_for: |acceptance, held| {
            is_proof(held) && held.to == acceptance.from && held.at.batch < steps_until(acceptance.at.batch)
        },
    },
    Release {
        what: "an acceptance before an opening",
        after: "what others sent this party for operations before it is there",
        is: |sent| is_acceptance(sent) && sent.at.batch > 0,
        waits_for: |acceptance, held| {
            is_and(held)
                && held.to == acceptance.from
                && held.at.op < OPENINGS[acceptance.at.batch as usize - 1]
        },
    },
    Release {
        what: "a message that depends on what was opened",
        after: "the component, and the digest of it, are at this party",
        is: |sent| is_and(sent) && sent.at.op == OPENINGS[0] + 1,
        waits_for: |and, held| is_and(held) && held.to == and.from && held.at.op == OPENINGS[0],
    },
    Release {
        what: "an output",
        after: "what was opened before, and the digest of it, are at this party",
        is: is_output,
        waits_for: |output, held| is_opening(held) && held.to == output.from,
    },
    Release {
        what: "a seed",
        after: "what was sent for a shuffle is at both verifiers",
        is: is_seed,
        waits_for: |seed, held| is_and(held) && held.at.op == 0 && held.to != seed.to,
    },
];

/// The number of the check before an opening.
fn check_of(opening: Sent) -> u32 {
    1 + u32::from(opening.at.op == OPENINGS[1])
}

/// Steps of proofs up to the end of a check before an opening.
fn steps_until(check: u32) -> u32 {
    STEPS[check as usize - 1]
}

/// Those of the first check, and of both.
pub(crate) const STEPS: [u32; 2] = [8, 15];

fn is_opening(sent: Sent) -> bool {
    is_and(sent) && OPENINGS.contains(&sent.at.op)
}
