//! Commitments to both labels of inputs' bits, for an evaluator who knows the bits and not whether it gets their labels.
//!
//! Each bit and instance has two hashes: that of the label for 0 and that of the label for 1, in this order. So they
//! say which label stands for which bit. They come from the seed like all else: two garblers have the same, and an
//! evaluator that has them from one and a digest of them from the other knows that they are right. A sender of a label
//! of another bit, or of no label at all, would have to find another label of the same hash, in 2^128 tries.
//!
//! They hide the label that the evaluator isn't given as a table does: it is the one it has, plus `delta`, hashed, under a
//! key of its own for every bit and tile.
//!
//! The sender of labels learns nothing by the check. Its outcome doesn't depend on the bit, if the sender knows the
//! bit, or the commitments were found right before.
//!
//! Where labels come along with the commitments, those to the labels that are given needn't: the evaluator makes them of
//! the labels ([`Garbler::other_commitments`], [`Evaluator::all_commitments`]), and a digest of what results finds a wrong
//! label as it finds a wrong commitment.

use std::ops::Range;

use subtle::ConstantTimeEq;
use tacit_kernel::bits::words;
use tacit_kernel::garble::{self, LABEL};

use crate::error::{Error, length};
use crate::plan::label_bytes;
use crate::walk::Tile;
use crate::{Evaluator, Garbler, Plan};

/// Commitments of an instance's bit: to the label for 0 and to that for 1.
const PAIR: usize = 2 * LABEL;

impl Plan {
    /// Bytes of the commitments to the labels of an input of so many instances.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn commitment_bytes(&self, input: usize, instances: usize) -> usize {
        label_bytes(self.bits_of(input).len(), instances).saturating_mul(2)
    }

    /// Hashes a row of labels of an input's bit, where they stand.
    fn commit(&self, keys: &crate::batch::Keys, bit: usize, start: u64, instances: usize, row: &mut [u8]) {
        for (number, tile) in Tile::of(self, start, instances) {
            garble::hash(&keys.of_input(number, self.sources.len(), bit), &mut row[tile.bytes()]);
        }
    }
}

impl Garbler<'_> {
    /// The commitments to all labels of an input, for a piece as [`Garbler::garble`] takes it, in any order: for each bit
    /// a row of those for 0, and a row of those for 1.
    ///
    /// # Errors
    /// [`Error`] if the instances are no piece, or there is room for more or fewer.
    ///
    /// # Panics
    /// If the circuit has no such input, or the garblers know it.
    pub fn commitments(&self, input: usize, piece: Range<u64>, out: &mut [u8]) -> Result<(), Error> {
        assert!(!self.plan.known()[input], "an input that is folded in has no labels");
        let count = self.plan.check_piece(&piece, 0)?;
        length("the commitments", "bytes", self.plan.commitment_bytes(input, count), out.len())?;
        if count > 0 {
            let ones = vec![u64::MAX; words(count)];
            for (bit, pair) in self.plan.bits_of(input).zip(out.chunks_exact_mut(count * PAIR)) {
                let (zero, one) = pair.split_at_mut(count * LABEL);
                self.draws.falses(bit, piece.start, zero);
                one.copy_from_slice(zero);
                garble::choose(one, &ones, *self.draws.delta);
                for row in [zero, one] {
                    self.plan.commit(self.rows.keys(), bit, piece.start, count, row);
                }
            }
        }
        Ok(())
    }
}

impl Garbler<'_> {
    /// Of a piece's commitments those to the labels that don't stand for these bits of an input: rows of them, for one who
    /// is given those that do ([`Evaluator::all_commitments`]).
    ///
    /// # Errors
    /// [`Error`] if the instances are no piece, or something has another length.
    ///
    /// # Panics
    /// If the circuit has no such input, or the garblers know it.
    pub fn other_commitments(
        &self,
        input: usize,
        piece: Range<u64>,
        bits: &[u64],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let count = self.plan.check_piece(&piece, 0)?;
        let others: Vec<u64> = bits.iter().map(|bits| !bits).collect();
        self.labels(input, piece.clone(), &others, out)?;
        if count > 0 {
            for (bit, row) in self.plan.bits_of(input).zip(out.chunks_exact_mut(count * LABEL)) {
                self.plan.commit(self.rows.keys(), bit, piece.start, count, row);
            }
        }
        Ok(())
    }
}

impl Evaluator<'_> {
    /// The commitments to all labels of an input, as [`Garbler::commitments`] makes them: of labels that are said to stand
    /// for these bits, and of what [`Garbler::other_commitments`] gave. They are the garbler's if and only if both are,
    /// but with a chance of 2^-128 a try.
    ///
    /// # Errors
    /// [`Error`] if the instances are no piece, or something has another length.
    ///
    /// # Panics
    /// If the circuit has no such input.
    pub fn all_commitments(
        &self,
        input: usize,
        piece: Range<u64>,
        bits: &[u64],
        labels: &[u8],
        others: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let count = self.plan.check_piece(&piece, 0)?;
        let positions = self.plan.bits_of(input);
        length("the bits of an input", "words", positions.len().saturating_mul(words(count)), bits.len())?;
        length("the labels of an input", "bytes", label_bytes(positions.len(), count), labels.len())?;
        length("the commitments", "bytes", labels.len(), others.len())?;
        let mut all = vec![0; self.plan.commitment_bytes(input, count)];
        if count > 0 {
            let row = count * LABEL;
            let given = labels.chunks_exact(row).zip(others.chunks_exact(row));
            let rows = all.chunks_exact_mut(PAIR * count).zip(given).zip(bits.chunks_exact(words(count)));
            for (bit, ((pair, (labels, others)), bits)) in positions.zip(rows) {
                let (zero, one) = pair.split_at_mut(row);
                zero.copy_from_slice(labels);
                self.plan.commit(self.rows.keys(), bit, piece.start, count, zero);
                one.copy_from_slice(others);
                garble::exchange(zero, one, bits);
            }
        }
        Ok(all)
    }

    /// Checks that labels are those that stand for these bits of an input, by the commitments to them. `bits` and `labels`
    /// are rows for the piece, and `commitments` those that [`Garbler::commitments`] made.
    ///
    /// # Errors
    /// [`Error::Label`] if one isn't; all are compared, in constant time. Other [`Error`]s if the instances are no
    /// piece, or something has another length.
    ///
    /// # Panics
    /// If the circuit has no such input.
    pub fn check_labels(
        &self,
        input: usize,
        piece: Range<u64>,
        bits: &[u64],
        labels: &[u8],
        commitments: &[u8],
    ) -> Result<(), Error> {
        let count = self.plan.check_piece(&piece, 0)?;
        let positions = self.plan.bits_of(input);
        length("the bits of an input", "words", positions.len().saturating_mul(words(count)), bits.len())?;
        length("the labels of an input", "bytes", label_bytes(positions.len(), count), labels.len())?;
        let expected = self.plan.commitment_bytes(input, count);
        length("the commitments", "bytes", expected, commitments.len())?;
        let mut difference = 0;
        if count > 0 {
            let rows = bits.chunks_exact(words(count)).zip(labels.chunks_exact(count * LABEL));
            let mut hashes = vec![0; count * LABEL];
            for (bit, ((bits, labels), pair)) in
                positions.zip(rows.zip(commitments.chunks_exact(count * PAIR)))
            {
                hashes.copy_from_slice(labels);
                self.plan.commit(self.rows.keys(), bit, piece.start, count, &mut hashes);
                let (zero, one) = pair.split_at(count * LABEL);
                difference |= garble::difference(&hashes, zero, one, bits);
            }
        }
        if difference.ct_eq(&0).into() { Ok(()) } else { Err(Error::Label) }
    }
}
