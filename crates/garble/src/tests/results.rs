//! Right results, and the same ones for everybody.

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tacit_circuit::arith::{Style, circuits as arith};
use tacit_circuit::{Builder, Circuit, catalogue};
use tacit_kernel::cpu::{at, available};

use super::*;
use crate::Error;

fn computes_what_the_gates_do(circuit: &Circuit, known: &[bool], instances: usize, seed: u64) {
    let plan = Plan::new(circuit, known);
    let inputs = inputs(circuit, instances, seed);
    let expected = clear(circuit, &inputs, instances);
    assert_eq!(garbled(&plan, &inputs, instances).checked(&plan), expected, "{instances} instances");
}

/// Some of the inputs.
fn some(circuit: &Circuit, which: u64) -> Vec<bool> {
    (0..circuit.inputs().len()).map(|input| which >> input & 1 == 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn circuits_compute_what_their_gates_do(circuit in circuits(60), instances in 0_usize..140, which: u64) {
        computes_what_the_gates_do(&circuit, &some(&circuit, which), instances, which);
    }
}

#[test]
fn batches_end_anywhere() {
    let circuit = arith::masked_msb(5, 3, 2);
    let tile = Plan::new(&circuit, &[false; 5]).tile();
    for instances in [0, 1, 2, 3, 63, 64, 65, tile - 1, tile, tile + 1, 2 * tile + 1] {
        for which in [0, 0b01010, 0b11111] {
            computes_what_the_gates_do(&circuit, &some(&circuit, which), instances, 3);
        }
    }
}

#[test]
fn signs_of_shared_numbers_are_found() {
    // ASTRA, section 5.4: two or three addends, the second one known to both garblers, and bits that mask.
    for (width, words) in [(32, 2), (64, 2), (32, 3), (64, 3)] {
        let circuit = arith::masked_msb(width, words, words - 1);
        let mut known = vec![false; circuit.inputs().len()];
        known[1] = true;
        known[words] = true;
        computes_what_the_gates_do(&circuit, &known, 700, u64::from(width));
        let plan = Plan::new(&circuit, &known);
        assert_eq!(plan.ands(), u64::from(width - 1 + (width - 2) * (words as u32 - 2)));
        assert_eq!(plan.table_bytes(700), plan.ands() as usize * 700 * 32);
        assert_eq!(plan.tile(), 512, "an adder takes few rows");
    }
}

#[test]
fn large_circuits_run_on_short_rows() {
    let circuit = catalogue::named("aes128").unwrap();
    let plan = Plan::new(&circuit, &[false, true]);
    assert!(plan.tile() < 512);
    computes_what_the_gates_do(&circuit, &[false, true], plan.tile() + 3, 5);
}

#[test]
fn constants_are_outputs_and_operands() {
    let mut builder = Builder::new();
    let bits = builder.input(2);
    let [zero, one] = [false, true].map(|bit| builder.constant(bit));
    let circuit = builder.finish(vec![vec![zero, bits[0]], vec![one, one, bits[1]]]);
    for which in [0, 1] {
        computes_what_the_gates_do(&circuit, &some(&circuit, which), 70, 9);
    }
    // An AND with a constant that only cancelling terms make.
    let gates = vec![Gate::Xor(0, 1), Gate::Xor(2, 0), Gate::Xor(3, 1), Gate::Not(4), Gate::And(5, 0)];
    let circuit = Circuit::new(vec![2], gates, vec![vec![6]]).unwrap();
    computes_what_the_gates_do(&circuit, &[false], 70, 9);
    computes_what_the_gates_do(&circuit, &[true], 70, 9);
}

#[test]
fn pieces_are_the_whole_in_parts() {
    let circuit = arith::masked_msb(9, 3, 2);
    let plan = Plan::new(&circuit, &[false, true, false, true, false]);
    let (tile, instances) = (plan.tile(), 4 * plan.tile() + 77);
    let inputs = inputs(&circuit, instances, 1);
    let whole = garbled(&plan, &inputs, instances);
    let mut garbler = Garbler::new(&plan, &SEED, BATCH);
    let (mut tables, mut first) = (Vec::new(), 0);
    for count in [tile, 2 * tile, 0, instances - 3 * tile] {
        let own: Vec<_> = inputs.iter().map(|rows| part(rows, instances, first, count)).collect();
        let piece = Piece::new(&plan, &mut garbler, first as u64, &own, count);
        assert_eq!(piece.checked(&plan), clear(&circuit, &own, count));
        let decoding = part(&whole.outputs.decoding(), instances, first, count);
        assert_eq!(piece.outputs.decoding(), decoding);
        tables.extend(piece.tables);
        first += count;
    }
    assert!(tables == whole.tables);
    // What was garbled once is not garbled again.
    let again = garbler.garble(0..0, &[&[], &[]], &mut []);
    assert_eq!(again.err(), Some(Error::Piece { start: 0, end: 0, tile, first: first as u64 }));
}

#[test]
fn one_seed_makes_one_garbling_and_another_seed_or_batch_another() {
    let circuit = arith::add(Style::Small, 8);
    let plan = Plan::new(&circuit, &[false, true]);
    let inputs = inputs(&circuit, 70, 1);
    let made = |seed: [u8; 16], batch: Batch| {
        let piece = Piece::new(&plan, &mut Garbler::new(&plan, &seed, batch), 0, &inputs, 70);
        let active = Evaluator::new(&plan, batch).evaluate(0..70, &[&piece.labels[0]], &piece.tables);
        (piece.tables, piece.labels, piece.outputs.decoding(), active.unwrap().tags())
    };
    let first = made(SEED, BATCH);
    assert!(made(SEED, BATCH) == first);
    let other_seed = made(*b"tests use no sef", BATCH);
    let other_batch = made(SEED, Batch { number: 8, ..BATCH });
    let other_session = made(SEED, Batch { session: [0; 16], ..BATCH });
    for other in [&other_seed, &other_batch] {
        assert!(other.0 != first.0 && other.1 != first.1 && other.2 != first.2 && other.3 != first.3);
    }
    // The session's value is for hashes alone: the labels that are drawn stay, all tables differ.
    assert!(other_session.1 == first.1 && other_session.0 != first.0);
}

#[test]
fn all_levels_make_the_same() {
    let circuit = arith::masked_msb(16, 3, 2);
    let plan = Plan::new(&circuit, &[false, true, false, true, false]);
    let inputs = inputs(&circuit, 601, 1);
    let made = || {
        let piece = garbled(&plan, &inputs, 601);
        let active = piece.evaluate(&plan);
        (active.labels().to_vec(), active.tags(), piece.outputs.decoding(), piece.tables)
    };
    let expected = made();
    for level in available() {
        assert!(at(level, made) == expected, "{level:?}");
    }
}

#[test]
fn the_construction_is_that_of_known_answers() {
    // Whoever changes hashes, keys, draws or layouts changes what peers must agree on.
    let circuit = arith::masked_msb(8, 3, 2);
    let plan = Plan::new(&circuit, &[false, true, false, true, false]);
    let inputs = inputs(&circuit, 600, 1);
    let piece = garbled(&plan, &inputs, 600);
    let active = piece.evaluate(&plan);
    let digest = |bytes: &[u8]| {
        Sha256::digest(bytes).iter().take(8).fold(0, |digest, &byte| digest << 8 | u64::from(byte))
    };
    let found = [&piece.tables, &piece.labels.concat(), active.labels(), &active.tags()].map(digest);
    assert_eq!(
        found,
        [0x2ada_1c98_e8db_a3bf, 0x78b5_b501_bdd0_10c1, 0x44d2_4ade_ada7_040c, 0xf537_690e_4cd0_dcd4],
        "{found:#x?}"
    );
}
