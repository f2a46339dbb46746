//! The garbler's side.

use std::fmt;
use std::ops::Range;

use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::bits::words;
use tacit_kernel::garble::{self, LABEL};
use zeroize::Zeroizing;

use crate::error::{Error, length};
use crate::plan::{check_instances, label_bytes};
use crate::walk::{Ands, Rows, Side, Tile};
use crate::{Batch, Outputs, Plan};

/// Garbles one batch. What is secret of it is wiped when this is dropped.
pub struct Garbler<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) draws: Draws,
    pub(crate) rows: Rows,
    /// The first instance that wasn't garbled yet.
    next: u64,
}

/// What is drawn from the seed: nonces are the batch and a row's number. The first row's first block is `delta`, and
/// the others are the false labels of the inputs' bits.
pub(crate) struct Draws {
    stream: Aes128Ctr,
    batch: u64,
    pub(crate) delta: Zeroizing<u128>,
}

impl Draws {
    fn new(seed: &[u8; 16], batch: Batch) -> Self {
        let (stream, batch) = (Aes128Ctr::new(seed), u64::from(batch.number) << 32);
        let mut delta = Zeroizing::new([0; LABEL]);
        stream.fill(batch, 0, delta.as_mut_slice());
        // The two labels of a wire differ in their lowest bits.
        let delta = Zeroizing::new(u128::from_le_bytes(*delta) | 1);
        Self { stream, batch, delta }
    }

    /// The false labels of a bit of the inputs, from an instance on.
    pub(crate) fn falses(&self, bit: usize, first: u64, row: &mut [u8]) {
        self.stream.fill(self.batch | (bit as u64 + 1), first, row);
    }
}

impl<'a> Garbler<'a> {
    /// Begins a batch. Everything that is drawn comes from `seed`, which the evaluator never learns, and the batch's
    /// number.
    ///
    /// Under one seed no number is used for two batches: labels or tables of both would tell `delta`.
    pub fn new(plan: &'a Plan, seed: &[u8; 16], batch: Batch) -> Self {
        Self { plan, draws: Draws::new(seed, batch), rows: Rows::new(plan, batch), next: 0 }
    }

    /// Garbles a piece: instances from a multiple of [`Plan::tile`] on, and after all that were garbled. `known` has
    /// rows of packed bits for each input that the garblers know. Writes [`Plan::table_bytes`] of tables, which are for
    /// the evaluator.
    ///
    /// # Errors
    /// [`Error`] if the instances are no piece, or something has another length than the plan says. Nothing was
    /// garbled then.
    pub fn garble(
        &mut self,
        piece: Range<u64>,
        known: &[&[u64]],
        tables: &mut [u8],
    ) -> Result<Outputs, Error> {
        let instances = self.plan.check_piece(&piece, self.next)?;
        self.plan.check_known(known, instances)?;
        length("the tables of a piece", "bytes", self.plan.table_bytes(instances), tables.len())?;
        self.next = piece.end;
        let mut side =
            Garbling { plan: self.plan, draws: &self.draws, known, words: words(instances), tables };
        let falses = self.rows.run(self.plan, piece.start, instances, &mut side);
        Ok(Outputs::new(
            self.plan,
            self.rows.keys().clone(),
            piece.start,
            instances,
            falses,
            *self.draws.delta,
        ))
    }

    /// The labels that stand for the given bits of an input, for any instances: what the evaluator gets for that input,
    /// and of each bit the one label only. `bits` and `labels` are rows for these instances. An input that the
    /// garblers know has no labels, for nobody needs any.
    ///
    /// # Errors
    /// [`Error`] if there are more instances than a batch has, or something has another length.
    ///
    /// # Panics
    /// If the circuit has no such input, or the garblers know it.
    pub fn labels(
        &self,
        input: usize,
        instances: Range<u64>,
        bits: &[u64],
        labels: &mut [u8],
    ) -> Result<(), Error> {
        assert!(!self.plan.known()[input], "an input that is folded in has no labels");
        let count = check_instances(&instances)?;
        let positions = self.plan.bits_of(input);
        length("the bits of an input", "words", positions.len().saturating_mul(words(count)), bits.len())?;
        length("the labels of an input", "bytes", label_bytes(positions.len(), count), labels.len())?;
        if count > 0 {
            let rows = labels.chunks_exact_mut(count * LABEL).zip(bits.chunks_exact(words(count)));
            for (bit, (labels, bits)) in positions.zip(rows) {
                self.draws.falses(bit, instances.start, labels);
                garble::choose(labels, bits, *self.draws.delta);
            }
        }
        Ok(())
    }
}

impl Drop for Garbler<'_> {
    fn drop(&mut self) {
        self.rows.wipe();
    }
}

impl fmt::Debug for Garbler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Garbler").field("next", &self.next).finish_non_exhaustive()
    }
}

/// A piece at work.
struct Garbling<'a> {
    plan: &'a Plan,
    draws: &'a Draws,
    known: &'a [&'a [u64]],
    /// Words of a row of the piece.
    words: usize,
    tables: &'a mut [u8],
}

impl Side for Garbling<'_> {
    fn one(&self) -> u128 {
        // So that the active label is 0.
        *self.draws.delta
    }

    fn load(&mut self, bit: u32, tile: Tile, row: &mut [u8]) {
        let source = self.plan.sources[bit as usize];
        if source.known {
            let bits = &self.known[source.input][source.position * self.words..][..self.words];
            // As above: who knows the bit takes the false label by it.
            row.fill(0);
            garble::choose(row, &bits[tile.words()], *self.draws.delta);
        } else {
            self.draws.falses(bit as usize, tile.first, row);
        }
    }

    fn ands(&mut self, rows: Ands, tables: Range<usize>) {
        let Ands { memory, width, gates, keys } = rows;
        garble::garble(memory, width, *self.draws.delta, gates, keys, &mut self.tables[tables]);
    }
}
