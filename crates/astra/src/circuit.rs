//! Circuits: a layer of ANDs of a tile of instances at a time, a bit an AND ahead of time and two online.
//!
//! What is computed and sent is an AND's, as in `products`. A tile's masks and shares follow one another: tile after tile,
//! AND after AND, a row of blocks for each.

use crate::engine::{AstraEngine, Drawn, Walk};
use crate::products::no_material;
use std::ops::Range;
use tacit_circuit::{Layer, Layered};
use tacit_engine::layer::{each_row, first_block, message_bytes, message_of_rows, pieces};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_kernel::{bits, gates};
use tacit_program::plan::{Operand, Reg};
use tacit_session::{At, Draw, step};

/// Bytes of masks that are drawn at once: they stay in the first cache until they are used.
const BLOCK_BYTES: usize = 8 << 10;

impl AstraEngine {
    pub(crate) fn layer_begin(
        &mut self,
        job: &Job,
        circuit: &Layered,
        inputs: &[Operand],
        dst: Reg,
    ) -> Result<(), Error> {
        if job.stage == 0 {
            // The constant is in x_1, as every public value.
            let tile = self.tiles.open(job, circuit);
            tile.constant(0, self.me == 1);
            tile.constant(1, self.me == 0);
        }
        let layer = &circuit.layers[job.stage as usize];
        let tile = self.tiles.get(job);
        section(Section::Slicing, || {
            tile.load(0, circuit, job.stage as usize, inputs, &self.first);
            tile.load(1, circuit, job.stage as usize, inputs, &self.second);
        });
        section(Section::Gates, || tile.sums(layer));
        if job.stage == circuit.depth() {
            section(Section::Slicing, || {
                tile.store(0, circuit, self.first.make(dst).words_mut());
                tile.store(1, circuit, self.second.make(dst).words_mut());
            });
            self.tiles.close(job);
            return Ok(());
        }
        for (piece, ands) in pieces(layer, job) {
            let rows = self.ands(job, circuit, layer, ands)?;
            let (to, at) = (self.taker(), self.layer_at(job, circuit, piece));
            section(Section::Sending, || {
                let message = message_of_rows(self.session.mesh(), job, rows);
                self.session.mesh().send_vec(to, at, message)
            })?;
        }
        Ok(())
    }

    pub(crate) fn layer_finish(&mut self, job: &Job, from: usize, circuit: &Layered) -> Result<(), Error> {
        let Some(layer) = circuit.layers.get(job.stage as usize) else { return Ok(()) };
        for (piece, ands) in pieces(layer, job) {
            let at = self.layer_at(job, circuit, piece);
            section(Section::Receiving, || {
                let message = self.session.mesh().recv(from, at, message_bytes(job, ands.len()))?;
                if self.walk == Walk::Offline {
                    let first = first_block(job, circuit, layer, ands.start) as usize * 2;
                    let shares = bytemuck::cast_slice_mut::<u8, u64>(self.ahead()?.shares_mut(job.op));
                    each_row(job, ands.len(), &message, |index, row| {
                        shares[first + index * row.len()..][..row.len()].copy_from_slice(row);
                    });
                } else {
                    let masked = usize::from(self.me == 1);
                    let tile = self.tiles.get(job);
                    each_row(job, ands.len(), &message, |index, row| {
                        bits::xor_assign(tile.row(layer.ands[ands.start + index][2], masked), row);
                    });
                }
                self.session.mesh().recycle(message);
                Ok::<(), Error>(())
            })?;
        }
        Ok(())
    }

    /// This party's part of some ANDs of a layer, a row for each. The destinations get their masks and, of `P_1` and
    /// `P_2`, that part.
    fn ands(
        &mut self,
        job: &Job,
        circuit: &Layered,
        layer: &Layer,
        range: Range<usize>,
    ) -> Result<Vec<u8>, Error> {
        let tile = self.tiles.get(job);
        let words = tile.row_words();
        let ands = &layer.ands[range.clone()];
        // Written over, all of it.
        let mut rows = self.session.mesh().filled(ands.len() * words * 8);
        let first = first_block(job, circuit, layer, range.start);
        let step = (BLOCK_BYTES / (words * 8)).max(1);
        let mut masks = [0, 1].map(|_| vec![0_u64; step.min(ands.len()) * words]);
        let draw = |drawn: Drawn| Draw { part: step::CIRCUIT + drawn as u16, op: job.op };
        for (index, (ands, rows)) in ands.chunks(step).zip(rows.chunks_mut(step * words * 8)).enumerate() {
            let block = first + (index * step * words / 2) as u64;
            let [one, two] = masks.each_mut().map(|masks| &mut masks[..ands.len() * words]);
            section(Section::Randomness, || {
                match self.me {
                    0 => {
                        self.streams[1].fill(draw(Drawn::Share), block, rows);
                        self.streams[1].fill(draw(Drawn::Mask), block, bytemuck::cast_slice_mut(one));
                        self.streams[2].fill(draw(Drawn::Mask), block, bytemuck::cast_slice_mut(two));
                    }
                    1 => {
                        self.streams[0].fill(draw(Drawn::Share), block, rows);
                        self.streams[0].fill(draw(Drawn::Mask), block, bytemuck::cast_slice_mut(one));
                        xor_bytes(rows, one);
                    }
                    _ => {
                        let shares = self.ahead.as_ref().ok_or_else(no_material)?.shares(job.op);
                        rows.copy_from_slice(&shares[block as usize * 16..][..rows.len()]);
                        self.streams[0].fill(draw(Drawn::Mask), block, bytemuck::cast_slice_mut(two));
                        xor_bytes(rows, two);
                    }
                }
                Ok::<(), Error>(())
            })?;
            section(Section::Gates, || {
                gates::replicated_ands(tile.memory(), words, ands, rows);
                for (and, (one, two)) in ands.iter().zip(one.chunks_exact(words).zip(two.chunks_exact(words)))
                {
                    match self.me {
                        0 => {
                            tile.row(and[2], 0).copy_from_slice(two);
                            tile.row(and[2], 1).copy_from_slice(one);
                        }
                        1 => {
                            let (mask, masked) = tile.rows(and[2]);
                            masked.copy_from_slice(mask);
                            mask.copy_from_slice(one);
                        }
                        _ => tile.row(and[2], 1).copy_from_slice(two),
                    }
                }
            });
        }
        Ok(rows)
    }

    fn layer_at(&self, job: &Job, circuit: &Layered, piece: u16) -> At {
        let ahead = if self.walk == Walk::Offline { step::OFFLINE } else { 0 };
        let batch = job.batch * circuit.depth() + job.stage;
        At { lane: 0, part: step::CIRCUIT + piece + ahead, op: job.op, batch }
    }
}

/// `rows ^= words`, the words in the order of their bytes.
fn xor_bytes(rows: &mut [u8], words: &[u64]) {
    for (row, word) in rows.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *row = (u64::from_le_bytes(*row) ^ word).to_le_bytes();
    }
}
