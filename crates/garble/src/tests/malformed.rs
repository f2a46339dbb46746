//! Lengths that are wrong are errors.

use std::ops::Range;

use tacit_circuit::arith::circuits as arith;

use super::*;
use crate::{Error, MAX_INSTANCES};

const INSTANCES: usize = 70;

fn plan() -> Plan {
    Plan::new(&arith::masked_msb(4, 2, 1), &[false, true, false])
}

fn pieces(tile: u64) -> [Range<u64>; 5] {
    let end = MAX_INSTANCES + 1;
    [1..71, tile - 1..tile, Range { start: tile, end: 0 }, MAX_INSTANCES..end, 0..u64::MAX]
}

#[test]
fn a_garbler_is_given_what_the_plan_says() {
    let plan = plan();
    let mut garbler = Garbler::new(&plan, &SEED, BATCH);
    let mut tables = vec![0; plan.table_bytes(INSTANCES)];
    let known = vec![0; 4 * 2];
    let mut garble = |piece: Range<u64>, known: &[&[u64]], length: usize| {
        tables.resize(length, 0);
        garbler.garble(piece, known, &mut tables).err()
    };
    let length = plan.table_bytes(INSTANCES);
    for wrong in [0, 1, length - 1, length + 1] {
        let error = garble(0..70, &[&known], wrong);
        assert!(matches!(error, Some(Error::Length { unit: "bytes", .. })), "{error:?}");
    }
    for wrong in [&known[1..], &[], &[0; 9]] {
        let error = garble(0..70, &[wrong], length);
        assert!(matches!(error, Some(Error::Length { unit: "words", .. })), "{error:?}");
    }
    assert_eq!(garble(0..70, &[], length), Some(Error::Inputs { expected: 1, found: 0 }));
    assert_eq!(garble(0..70, &[&known, &known], length), Some(Error::Inputs { expected: 1, found: 2 }));
    for piece in pieces(plan.tile() as u64) {
        let error = garble(piece, &[&known], length);
        assert!(matches!(error, Some(Error::Piece { .. } | Error::Instances { .. })), "{error:?}");
    }
    // None of this garbled anything.
    assert_eq!(garble(0..70, &[&known], length), None);
    assert!(matches!(garble(0..70, &[&known], length), Some(Error::Piece { first: 70, .. })));
}

#[test]
fn labels_are_as_many_as_bits() {
    let plan = plan();
    let garbler = Garbler::new(&plan, &SEED, BATCH);
    let mut labels = vec![0; 4 * INSTANCES * LABEL + 1];
    let length = labels.len() - 1;
    let mut given = |instances: Range<u64>, bits: usize, length: usize| {
        garbler.labels(0, instances, &vec![0; bits], &mut labels[..length])
    };
    assert_eq!(given(5..75, 8, length), Ok(()));
    assert!(given(5..75, 7, length).is_err());
    assert!(given(5..75, 8, length - 1).is_err());
    assert!(given(5..75, 8, length + 1).is_err());
    assert!(given(5..76, 8, length).is_err());
    assert!(given(0..u64::MAX, 8, length).is_err());
    assert!(given(MAX_INSTANCES..MAX_INSTANCES + 70, 8, length).is_err());
}

#[test]
fn an_evaluator_is_given_what_the_plan_says() {
    let plan = plan();
    let mut evaluator = Evaluator::new(&plan, BATCH);
    let tables = vec![0; plan.table_bytes(INSTANCES)];
    let (word, bit) = (vec![0; 4 * INSTANCES * LABEL], vec![0; INSTANCES * LABEL]);
    let mut evaluate = |piece: Range<u64>, labels: &[&[u8]], tables: &[u8]| {
        evaluator.evaluate(piece, labels, tables).map(drop)
    };
    assert_eq!(evaluate(0..70, &[&word, &bit], &tables), Ok(()));
    for labels in [&[&word[1..], &bit][..], &[&word, &bit[1..]], &[&bit, &word], &[&word, &word], &[&[], &[]]]
    {
        let error = evaluate(0..70, labels, &tables);
        assert!(matches!(error, Err(Error::Length { .. })), "{error:?}");
    }
    assert_eq!(evaluate(0..70, &[&word], &tables), Err(Error::Inputs { expected: 2, found: 1 }));
    for wrong in [&tables[1..], &[], &[tables.as_slice(), &[0]].concat()] {
        assert!(matches!(evaluate(0..70, &[&word, &bit], wrong), Err(Error::Length { .. })));
    }
    for piece in pieces(plan.tile() as u64) {
        let error = evaluate(piece, &[&word, &bit], &tables);
        assert!(matches!(error, Err(Error::Piece { .. } | Error::Instances { .. })), "{error:?}");
    }
}

#[test]
fn outputs_are_decoded_and_checked_by_rows_of_their_length() {
    let plan = plan();
    let piece = garbled(&plan, &inputs(&arith::masked_msb(4, 2, 1), INSTANCES, 1), INSTANCES);
    let active = piece.evaluate(&plan);
    let (bits, tags) = (piece.checked(&plan), active.tags());
    for wrong in [&bits[1..], &[], &[0; 3]] {
        assert!(matches!(active.decode(wrong), Err(Error::Length { .. })));
        assert!(matches!(piece.outputs.tags(wrong), Err(Error::Length { .. })));
        assert!(matches!(piece.outputs.check(wrong, &tags), Err(Error::Length { .. })));
    }
    for wrong in [&tags[1..], &[], &[tags.as_slice(), &[0]].concat()] {
        assert!(matches!(piece.outputs.check(&bits, wrong), Err(Error::Length { .. })));
    }
    // Unused bits are whatever the other side left there.
    let mut decoding = piece.outputs.decoding();
    decoding[1] |= u64::MAX << 6;
    assert_eq!(active.decode(&decoding), Ok(bits));
}
