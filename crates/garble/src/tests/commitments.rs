//! Commitments take the labels of an input's bits, and no others.

use tacit_circuit::arith::circuits as arith;

use super::*;
use crate::Error;

/// Two tiles and some.
const INSTANCES: usize = 1101;

/// A plan with an input that garblers don't know, and the bits of that.
fn plan() -> (Plan, Vec<u64>) {
    let circuit = arith::masked_msb(5, 3, 2);
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
fn labels_and_the_other_commitments_make_all() {
    let (plan, bits) = plan();
    let (labels, commitments) = made(&plan, &bits);
    let (whole, garbler) = (0..INSTANCES as u64, Garbler::new(&plan, &SEED, BATCH));
    let mut others = vec![0; labels.len()];
    garbler.other_commitments(2, whole.clone(), &bits, &mut others).unwrap();
    let evaluator = Evaluator::new(&plan, BATCH);
    let all = |bits: &[u64], labels: &[u8], others: &[u8]| {
        evaluator.all_commitments(2, whole.clone(), bits, labels, others).unwrap()
    };
    assert!(all(&bits, &labels, &others) == commitments);
    for place in [0, 64, 1100] {
        // A label of the other bit, with or without the commitments that go with it; what is neither.
        let mut other = bits.clone();
        let row = &mut other[4 * words(INSTANCES)..];
        set(row, place, !get(row, place));
        let wrong = made(&plan, &other).0;
        let mut fitting = others.clone();
        garbler.other_commitments(2, whole.clone(), &other, &mut fitting).unwrap();
        let mut neither = others.clone();
        neither[(4 * INSTANCES + place) * LABEL + 3] ^= 2;
        assert!(all(&bits, &wrong, &others) != commitments);
        assert!(all(&bits, &wrong, &fitting) != commitments);
        assert!(all(&bits, &labels, &neither) != commitments);
        assert!(all(&other, &wrong, &fitting) == commitments, "they are of the bits that are said");
    }
    let short = evaluator.all_commitments(2, whole.clone(), &bits, &labels, &others[1..]);
    assert!(matches!(short, Err(Error::Length { .. })), "{short:?}");
    let none = evaluator.all_commitments(2, 0..0, &[], &[], &[]);
    assert_eq!(none, Ok(Vec::new()));
}

/// Why nothing is committed to in this order that the evaluator may not know.
#[test]
fn a_label_and_the_commitments_of_both_bits_tell_the_bit() {
    let (plan, bits) = plan();
    let (labels, commitments) = made(&plan, &bits);
    for at in 0..20 {
        let fits = [false, true].map(|guess| {
            let mut guessed = bits.clone();
            set(&mut guessed, at, guess);
            check(&plan, &guessed, &labels, &commitments).is_ok()
        });
        assert_eq!(fits, [!get(&bits, at), get(&bits, at)]);
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
