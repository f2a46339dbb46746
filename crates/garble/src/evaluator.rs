//! The evaluator's side.

use std::fmt;
use std::ops::Range;

use tacit_kernel::garble::{self, LABEL};

use crate::error::{Error, length};
use crate::walk::{Ands, Rows, Side, Tile};
use crate::{Active, Batch, Plan};

/// Evaluates a batch, in pieces in any order.
pub struct Evaluator<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) rows: Rows,
}

impl<'a> Evaluator<'a> {
    /// For the batch that garblers garbled with the same plan.
    pub fn new(plan: &'a Plan, batch: Batch) -> Self {
        Self { plan, rows: Rows::new(plan, batch) }
    }

    /// Evaluates a piece: instances from a multiple of [`Plan::tile`] on. `labels` has rows of active labels for each
    /// input that the garblers don't know, `tables` the piece's.
    ///
    /// Wrong labels or tables make wrong labels, which [`crate::Outputs::check`] finds.
    ///
    /// # Errors
    /// [`Error`] if the instances are no piece, or something has another length than the plan says.
    pub fn evaluate(&mut self, piece: Range<u64>, labels: &[&[u8]], tables: &[u8]) -> Result<Active, Error> {
        let instances = self.plan.check_piece(&piece, 0)?;
        self.plan.check_labels(labels, instances)?;
        length("the tables of a piece", "bytes", self.plan.table_bytes(instances), tables.len())?;
        let mut side = Evaluating { plan: self.plan, labels, instances, tables };
        let active = self.rows.run(self.plan, piece.start, instances, &mut side);
        Ok(Active::new(self.plan, self.rows.keys().clone(), piece.start, instances, active))
    }
}

impl fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluator").finish_non_exhaustive()
    }
}

/// A piece at work.
struct Evaluating<'a> {
    plan: &'a Plan,
    labels: &'a [&'a [u8]],
    instances: usize,
    tables: &'a [u8],
}

impl Side for Evaluating<'_> {
    fn one(&self) -> u128 {
        0
    }

    fn load(&mut self, bit: u32, tile: Tile, row: &mut [u8]) {
        let source = self.plan.sources[bit as usize];
        if source.known {
            row.fill(0);
        } else {
            let labels = &self.labels[source.input][source.position * self.instances * LABEL..];
            row.copy_from_slice(&labels[tile.bytes()]);
        }
    }

    fn ands(&mut self, rows: Ands, tables: Range<usize>) {
        let Ands { memory, width, gates, keys } = rows;
        garble::evaluate(memory, width, gates, keys, &self.tables[tables]);
    }
}
