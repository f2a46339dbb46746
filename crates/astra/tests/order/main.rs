//! `astra-malicious` is held to its order of release: one party withholds each message that a release waits for, in every
//! order of roles and at several sizes.

mod cases;
mod table;

use std::sync::Arc;

use cases::{ands, mixed};
use table::{Checks, SEATS, table};
use tacit_astra::Astra;
use tacit_circuit::{Layered, catalogue};
use tacit_program::plan::{Builder, OpKind, Operand, To};
use tacit_testkit::conformance::order::held_to;
use tacit_testkit::{Case, with_parameters};

/// Sums of `P_1`'s numbers and `P_2`'s by a circuit.
fn circuits(count: usize) -> Case {
    let circuit = Arc::new(Layered::new(&catalogue::named("adder64").expect("it is there")));
    let mut builder = Builder::new();
    let [x, y, dst] = std::array::from_fn(|_| builder.bits(1, 64 * count));
    for (owner, reg) in [("P1", x), ("P2", y)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    builder.interact(OpKind::Circuit { circuit, inputs: [x, y].map(Operand::Each).to_vec(), dst });
    builder.output(dst, To::All);
    let bits: Vec<u64> = (0..64 * count as u64).map(|at| (at / 3) & 1).collect();
    Case::new(&Astra::MALICIOUS, 3, builder.finish(), &[bits.clone(), bits])
}

fn seated<const ORDER: usize>() {
    let protocol = with_parameters(&Astra::MALICIOUS_GARBLED, &[("roles", SEATS[ORDER])]);
    held_to(&[mixed(protocol, 1), mixed(protocol, 5)], &table::<ORDER>(Checks::One), 1);
}

#[test]
fn in_every_order_of_roles() {
    seated::<0>();
    seated::<1>();
    seated::<2>();
    seated::<3>();
    seated::<4>();
    seated::<5>();
}

/// Messages in several pieces, jobs in several messages.
#[test]
fn with_several_pieces_of_everything() {
    let protocol = &Astra::MALICIOUS_GARBLED;
    held_to(&[mixed(protocol, 2_500)], &table::<0>(Checks::One), 50);
}

/// Tiles of a circuit, several layers and messages of each, and the last one not full.
#[test]
fn with_several_tiles_of_a_circuit() {
    let case = circuits(1_000);
    let tried = tacit_testkit::conformance::order::withheld(&case, &table::<0>(Checks::One), 5, None);
    assert!(tried.early.is_empty(), "{:?}", tried.early[0]);
    assert!(tried.pairs.values().sum::<usize>() > 100, "{:?}", tried.pairs);
}

/// Batches that are full, and the rest behind them.
#[test]
fn beyond_a_full_batch() {
    let case = ands(&Astra::MALICIOUS, (1 << 20) + 70);
    let tried = tacit_testkit::conformance::order::withheld(&case, &table::<0>(Checks::Many), 4, None);
    assert!(tried.early.is_empty(), "{:?}", tried.early[0]);
    assert!((0..5).all(|entry| tried.pairs.contains_key(&entry)), "{:?}", tried.pairs);
}
