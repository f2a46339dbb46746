//! Numbers in arms: circuits of several layers under masks, as programs are made of.

use crate::{case_of, seen, subject};
use std::sync::Arc;
use tacit_additive::planted::{Mistake, plant};
use tacit_engine::Protocol;
use tacit_program::{Builder, Dtype, Program, ProgramError, Range, Recipient, lower};
use tacit_testkit::conformance::{cost, equality};
use tacit_testkit::tenants::MASKED;
use tacit_testkit::{Altered, Rng};

/// Rows that are packed, and rows of whole blocks and a byte more: parts of a message that arms share are whole bytes.
const COLUMNS: [usize; 2] = [8, 136];

/// A product of small numbers in one arm, and in the other one the smaller of both: a comparison and choices by it.
fn program(cols: usize) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let range = Range::new(-2, 1);
    let a = build.input("P0", "a", Dtype::Int, &[cols], range)?;
    let b = build.input("alice", "b", Dtype::Int, &[cols], range)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let [set, not] = [build.if_set(c, a)?, build.unless_set(c, a)?];
    let (set, not) = (build.mul(set, b)?, build.minimum(not, b)?);
    let chosen = build.select(c, set, not)?;
    build.reveal(chosen, Recipient::All)?;
    build.finish()
}

/// Openings of both operands of all ANDs, and of `s ^ t`.
fn opened(program: &Program) -> usize {
    let plan = lower(program, MASKED.capabilities()).expect("bits have ANDs").plan;
    2 * plan.ops.iter().map(|op| op.kind.ands(&plan)).sum::<u64>() as usize + 1
}

#[test]
fn circuits_in_arms_are_right_and_cost_what_they_say() {
    for cols in COLUMNS {
        let program = program(cols).expect("it is well formed");
        for parties in [2, 3] {
            let what = format!("{cols} columns, {parties} parties");
            for seed in 0..4 {
                equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(seed), &what);
            }
            cost::check(&subject(&MASKED, parties), &program, &what);
        }
    }
}

/// Whichever arm is taken and whoever is honest.
#[test]
fn circuits_in_arms_tell_nothing() {
    let program = program(COLUMNS[0]).expect("it is well formed");
    for parties in [2, 3] {
        for honest in 0..parties {
            for condition in [0, 1] {
                let bits = seen(&case_of(&program, &MASKED, parties, [condition, 0]), honest);
                let what = format!("{honest} of {parties}, {condition}");
                assert!(bits.clone().is_ok_and(|bits| bits >= opened(&program)), "{what}: {bits:?}");
            }
        }
    }
}

/// Circuits of one layer and of two, of an AND each, on a whole block of instances. Of longer messages only the ends
/// would be looked at, where both arms have different gates.
fn block() -> Result<Program, ProgramError> {
    let circuit = |layers: usize| {
        let mut build = tacit_circuit::Builder::new();
        let (x, y) = (build.input(1)[0], build.input(1)[0]);
        let made = (0..layers).fold(x, |made, _| {
            let both = build.and(made, y);
            build.xor(both, x)
        });
        Arc::new(build.finish(vec![vec![made]]))
    };
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[128, 1], None)?;
    let y = build.input("alice", "y", Dtype::Bool, &[128, 1], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let [set, not] = [build.if_set(c, x)?, build.unless_set(c, x)?];
    let (set, not) = (build.circuit(&circuit(1), &[set, y])?[0], build.circuit(&circuit(2), &[not, y])?[0]);
    let chosen = build.select(c, set, not)?;
    build.reveal(chosen, Recipient::All)?;
    build.finish()
}

#[test]
fn circuits_on_whole_blocks_tell_nothing() {
    let program = block().expect("it is well formed");
    assert_eq!(opened(&program), 2 * 128 * (1 + 2 + 1) + 1);
    for (honest, condition) in [(0, 0), (1, 1)] {
        let bits = seen(&case_of(&program, &MASKED, 2, [condition, 0]), honest);
        assert!(bits.clone().is_ok_and(|bits| bits >= opened(&program)), "{honest}, {condition}: {bits:?}");
    }
}

#[test]
fn circuits_in_arms_without_masks_are_noticed() {
    let unmasked = Altered::beginning_with(&MASKED, |_| plant(&[Mistake::ArmsUnmasked]));
    for (condition, program) in [(0, program(COLUMNS[0])), (1, program(COLUMNS[0])), (1, block())] {
        let program = program.expect("it is well formed");
        assert!(seen(&case_of(&program, unmasked, 2, [condition, 0]), 1).is_err(), "{condition}");
    }
}
