//! A party adds a number of its choice to a product, and looks whether the run goes on: the guard says whether the sum is in the
//! range that the program assumes. Every run halves what the product may be. Where the guard is opened before all is accepted
//! nothing else happens as long as sums are outside: the run ends as it would by numbers that its owners got wrong.
//!
//! Where it is opened after all is accepted, the proof of the product fails first, and the guard tells nothing.

use tacit_engine::Error;
use tacit_program::plan::OpKind;
use tacit_program::{Builder, Dtype, NodeId, Range, Recipient, lower};
use tacit_replicated::planted::{Mistake, plant, tap_results};
use tacit_replicated::{ReplicatedMalicious, step};
use tacit_testkit::{Altered, Case, Draws};

use super::stage::{Seats, first_line};
use crate::table::{Outcome, Version};

/// What the program assumes of the product.
const LO: i64 = -512;
const HI: i64 = 511;
/// Numbers of the left verifier and of the right one; without the guard their product is sure to be in -1600 to 1600, and so a
/// sum to be in a ring of 16 bits.
const NUMBERS: [i64; 2] = [17, -23];
const MOST: i128 = 40;

/// Searches for the product.
pub(crate) fn searched(mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let mistakes = if version == Version::Planted { mistakes } else { &[] };
    let seats = Seats::of(seed);
    let (mut low, mut high, mut runs) = (LO, HI, 0);
    while low < high {
        // From here on the sum is outside.
        let middle = low + (high - low + 1) / 2;
        match is_inside(mistakes, seats, HI + 1 - middle, 100 * seed + runs) {
            Ok(true) => high = middle - 1,
            Ok(false) => low = middle,
            Err(why) => return Outcome::Held(why),
        }
        runs += 1;
    }
    if low != NUMBERS[0] * NUMBERS[1] {
        return Outcome::Held(format!("it takes the product for {low}"));
    }
    Outcome::Broken(format!("P{} knows the product after {runs} runs", seats.prover))
}

/// Whether the product and so much more is in the range, as the guard says to the one that attacks; or why that isn't told.
fn is_inside(mistakes: &'static [Mistake], seats: Seats, more: i64, draws: u64) -> Result<bool, String> {
    let case = case(mistakes, seats, more);
    let run = case.run(&Draws::fixed(draws));
    let [own, left] = [seats.prover, seats.left].map(|party| run.endings[party].as_ref().expect("it came"));
    let is_guard = |op: u32| case.plan.guard == Some(op);
    let mut received = run.trace.received(seats.prover).into_iter();
    if received.any(|sent| sent.at.part == step::OUTPUT && is_guard(sent.at.op)) {
        return Ok(own.result != Err(Error::OutsideAssumed));
    }
    Err(left.result.as_ref().err().map_or_else(|| "nothing was opened".to_owned(), first_line))
}

/// A product of numbers of both verifiers, for the left one. The one that attacks has so much more in its component.
fn case(mistakes: &'static [Mistake], seats: Seats, more: i64) -> Case {
    let [left, right] = [seats.left, seats.right].map(|party| format!("P{party}"));
    let mut build = Builder::new();
    let [x, y]: [NodeId; 2] = [&left, &right]
        .map(|owner| build.input(owner, "x", Dtype::Int, &[1], Range::new(-MOST, MOST)).expect("an input"));
    let product = build.mul(x, y).expect("a product");
    let range = Range::new(LO.into(), HI.into()).expect("a range");
    let assumed = build.assume(product, range).expect("a narrower range");
    build.reveal(assumed, Recipient::Role(left)).expect("an output");
    let program = build.finish().expect("a program");
    let usual = &ReplicatedMalicious::SOUNDNESS_50;
    let plan = lower(&program, tacit_engine::Protocol::capabilities(usual)).expect("a plan").plan;
    let is_product = |op: &tacit_program::plan::Op| matches!(op.kind, OpKind::Mul { .. });
    let product = plan.ops.iter().position(is_product).expect("a product");
    let protocol = Altered::beginning_with(usual, move |endpoint| {
        plant(mistakes);
        if endpoint == seats.prover {
            tap_results(move |op, component| {
                if op as usize == product {
                    let (word, _) = component.split_first_chunk_mut().expect("an element of 16 bits");
                    *word = u16::from_le_bytes(*word).wrapping_add(more as u16).to_le_bytes();
                }
            });
        }
    });
    Case::new(protocol, 3, plan, &NUMBERS.map(|number| vec![number as u64]))
}
