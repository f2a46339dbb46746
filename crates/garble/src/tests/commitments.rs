//! Commitments take the labels of an input's bits, and no others.

use tacit_circuit::arith::circuits as arith;

use super::*;
use crate::Error;

/// Two tiles and some.
const INSTANCES: usize = 1101;

/// A plan with an input that garblers don't know, and the bits of that.
fn plan() -> (Plan, Vec<u64>) {
    let circuit = arith::masked_sign(5, 3, 2);
    let bits = inputs(&circuit, INSTANCES, 3).swap_remove(2);
    (Plan::new(&circuit, &[false, true, false, true, false]), bits)
}

/// Labels of the bits, and the commitments to both of each.
fn made(plan: &Plan, bits: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let garbler = Garbler::new(plan, &SEED, BATCH);
    let mut labels = vec![0; 5 * INSTANCES * LABEL];
    garbler.labels(2, 0..INSTANCES as u64, bits, &mut labels).unwrap();
    let mut commitments = vec![0; plan.commitment_bytes(2, INSTANCES)];
    garbler.commitments(2, 0..INSTANCES as u64, &mut commitments).unwrap();
    (labels, commitments)
}

fn check(plan: &Plan, bits: &[u64], labels: &[u8], commitments: &[u8]) -> Result<(), Error> {
    let evaluator = Evaluator::new(plan, BATCH);
    evaluator.check_labels(2, 0..INSTANCES as u64, bits, labels, commitments)
}

#[test]
fn labels_of_the_bits_are_taken_and_of_no_other_bit() {
    let (plan, bits) = plan();
    let (labels, commitments) = made(&plan, &bits);
    assert_eq!(check(&plan, &bits, &labels, &commitments), Ok(()));
    for place in [0, 63, 64, 511, 512, 1100] {
        for bit in [0, 4] {
            // The garbler gives the other label of one bit of one instance.
            let mut other = bits.clone();
            let row = &mut other[bit * words(INSTANCES)..][..words(INSTANCES)];
            set(row, place, !get(row, place));
            assert_eq!(check(&plan, &bits, &made(&plan, &other).0, &commitments), Err(Error::Label));
            // One that is no label.
            let mut wrong = labels.clone();
            wrong[(bit * INSTANCES + place) * LABEL + 7] ^= 0x10;
            assert_eq!(check(&plan, &bits, &wrong, &commitments), Err(Error::Label));
        }
    }
}

#[test]
fn commitments_bind_to_their_bit_their_place_and_their_batch() {
    let (plan, bits) = plan();
    let (labels, commitments) = made(&plan, &bits);
    let row = INSTANCES * LABEL;
    // Those of 0 and of 1 swapped; those of two instances; those of another input's bit.
    let mut swapped = commitments.clone();
    swapped[..2 * row].rotate_left(row);
    assert_eq!(check(&plan, &bits, &labels, &swapped), Err(Error::Label));
    let mut moved = commitments.clone();
    moved[..row].rotate_left(LABEL);
    moved[row..2 * row].rotate_left(LABEL);
    assert_eq!(check(&plan, &bits, &labels, &moved), Err(Error::Label));
    let mut others = commitments.clone();
    Garbler::new(&plan, &SEED, BATCH).commitments(0, 0..INSTANCES as u64, &mut others).unwrap();
    assert_eq!(check(&plan, &bits, &labels, &others), Err(Error::Label));
    for batch in [Batch { number: 8, ..BATCH }, Batch { session: [1; 16], ..BATCH }] {
        let evaluator = Evaluator::new(&plan, batch);
        let found = evaluator.check_labels(2, 0..INSTANCES as u64, &bits, &labels, &commitments);
        assert_eq!(found, Err(Error::Label));
    }
}

#[test]
fn pieces_have_the_commitments_of_the_whole() {
    let (plan, bits) = plan();
    let (_, commitments) = made(&plan, &bits);
    let (first, count) = (plan.tile(), INSTANCES - plan.tile());
    let piece = first as u64..INSTANCES as u64;
    let garbler = Garbler::new(&plan, &SEED, BATCH);
    let mut own = vec![0; plan.commitment_bytes(2, count)];
    garbler.commitments(2, piece.clone(), &mut own).unwrap();
    for (row, whole) in own.chunks(count * LABEL).zip(commitments.chunks(INSTANCES * LABEL)) {
        assert_eq!(row, &whole[first * LABEL..]);
    }
    let bits = part(&bits, INSTANCES, first, count);
    let mut labels = vec![0; 5 * count * LABEL];
    garbler.labels(2, piece.clone(), &bits, &mut labels).unwrap();
    assert_eq!(Evaluator::new(&plan, BATCH).check_labels(2, piece, &bits, &labels, &own), Ok(()));
    assert_eq!(Evaluator::new(&plan, BATCH).check_labels(2, 0..0, &[], &[], &[]), Ok(()));
}

#[test]
fn commitments_are_all_different_and_of_no_label() {
    let (plan, bits) = plan();
    let (labels, commitments) = made(&plan, &bits);
    let mut seen = std::collections::HashSet::new();
    assert!(numbers(&labels).into_iter().chain(numbers(&commitments)).all(|number| seen.insert(number)));
}

#[test]
fn lengths_that_are_wrong_are_errors() {
    let (plan, bits) = plan();
    let (labels, commitments) = made(&plan, &bits);
    let cut = |bytes: &[u8]| bytes[1..].to_vec();
    let found = [
        check(&plan, &bits[1..], &labels, &commitments),
        check(&plan, &bits, &cut(&labels), &commitments),
        check(&plan, &bits, &labels, &cut(&commitments)),
        Garbler::new(&plan, &SEED, BATCH).commitments(2, 0..INSTANCES as u64, &mut cut(&commitments)),
    ];
    assert!(found.iter().all(|found| matches!(found, Err(Error::Length { .. }))), "{found:?}");
    let evaluator = Evaluator::new(&plan, BATCH);
    let piece = evaluator.check_labels(2, 1..1102, &bits, &labels, &commitments);
    assert!(matches!(piece, Err(Error::Piece { .. })), "{piece:?}");
}
