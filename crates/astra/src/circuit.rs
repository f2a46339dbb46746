//! Circuits: a layer of ANDs of a tile of instances at a time, a bit an AND offline and two online.
//!
//! What is computed and sent is an AND's, as in `products`. A tile's masks and shares follow one another: tile after tile,
//! AND after AND, a row of blocks for each.

use crate::draws::{Drawn, Walk};
use crate::flat::{Batch, halves, sum};
use crate::state::{AstraEngine, no_material};
use crate::triples::{Operands, packed_rows};
use std::ops::Range;
use tacit_circuit::{Layer, Layered};
use tacit_engine::bank::row_words;
use tacit_engine::layer::{all, each_row, first_block, message_bytes, message_of_rows, pieces};
use tacit_engine::profile::{Section, section};
use tacit_engine::tile::Tile;
use tacit_engine::{Error, Job};
use tacit_kernel::{bits, gates};
use tacit_program::plan::{Domain, Operand, Reg};
use tacit_session::{At, Draw, step};
use tacit_threeparty::Arithmetic;
use tacit_threeparty::circuits::load_layer;
use tacit_threeparty::products::BLOCK_BYTES;

impl AstraEngine {
    pub(crate) fn layer_begin(
        &mut self,
        job: &Job,
        circuit: &Layered,
        inputs: &[Operand],
        dst: Reg,
    ) -> Result<(), Error> {
        if !self.layer_load(job, circuit, inputs, dst) {
            return Ok(());
        }
        let layer = &circuit.layers[job.stage as usize];
        for (piece, ands) in pieces(layer, job) {
            match (self.verified.is_some(), self.walk, self.me) {
                (true, Walk::Offline, _) => {
                    self.draw_layer_masks(job, circuit, layer, ands.clone());
                    self.make_ands(job, circuit, layer, piece, ands)?;
                }
                (true, Walk::Online, 0) => {
                    let masks = self.draw_layer_masks(job, circuit, layer, ands.clone());
                    let batch = piece_batch(job, circuit, layer, piece, &ands);
                    let ands = &layer.ands[ands];
                    let [left, right] = [0, 1].map(|place| {
                        let [one, other] =
                            [1, 2].map(|component| self.piece_rows(job, ands, place, component));
                        sum(one, &other)
                    });
                    let [one, other] = masks;
                    self.compute(&batch, &Arithmetic::BITS, &[left, right, sum(one, &other)])?;
                }
                (verified, ..) => {
                    let rows = self.ands(job, circuit, layer, ands.clone())?;
                    let (to, at) = (self.receiver(), self.layer_at(job, circuit, piece));
                    section(Section::Sending, || {
                        let message = message_of_rows(self.party.session.mesh(), job, rows);
                        self.party.session.mesh().send_vec(to, at, message)
                    })?;
                    if verified {
                        let batch = piece_batch(job, circuit, layer, piece, &ands);
                        let mut masked = self.operand_deltas(&batch);
                        for (masked, place) in halves(&mut masked).into_iter().zip([0, 1]) {
                            let ands = &layer.ands[ands.clone()];
                            bits::xor_assign(masked, &self.piece_rows(job, ands, place, 0));
                        }
                        self.show(&batch, &masked)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Loads what a layer reads and runs its sums. `false` after the last layer, when the tile has been stored.
    fn layer_load(&mut self, job: &Job, circuit: &Layered, inputs: &[Operand], dst: Reg) -> bool {
        if !self.has_one_mask() {
            return self.party.load_layer(job, circuit, inputs, dst);
        }
        let component = self.me;
        let public = component == self.party.scheme.public;
        let bank = self.party.component_mut(component);
        load_layer(&mut self.mask_tiles, &mut [(bank, public)], job, circuit, inputs, dst)
    }

    pub(crate) fn layer_finish(&mut self, job: &Job, from: usize, circuit: &Layered) -> Result<(), Error> {
        let Some(layer) = circuit.layers.get(job.stage as usize) else { return Ok(()) };
        for (piece, ands) in pieces(layer, job) {
            let at = self.layer_at(job, circuit, piece);
            section(Section::Receiving, || {
                let message = self.party.session.mesh().recv(from, at, message_bytes(job, ands.len()))?;
                if self.walk == Walk::Offline {
                    self.keep_layer_shares(job, circuit, layer, &ands, &message)?;
                } else {
                    let masked = usize::from(self.me == 1);
                    let tile = self.party.tiles.get(job);
                    each_row(job, ands.len(), &message, |index, row| {
                        bits::xor_assign(tile.row(layer.ands[ands.start + index][2], masked), row);
                    });
                }
                self.party.session.mesh().recycle(message);
                Ok::<(), Error>(())
            })?;
            if self.verified.is_some() {
                // The operands still stand in the tile, as no result of the layer does where one of them did.
                let batch = piece_batch(job, circuit, layer, piece, &ands);
                let ands = &layer.ands[ands];
                let [x, y, mut results] = [0, 1, 2].map(|place| self.piece_rows(job, ands, place, 0));
                bits::and_xor(&x, &y, &mut results);
                self.note_expected(&batch, &Arithmetic::BITS, results);
            }
        }
        Ok(())
    }

    /// `P_2`: keeps its shares of some ANDs of a layer.
    fn keep_layer_shares(
        &mut self,
        job: &Job,
        circuit: &Layered,
        layer: &Layer,
        ands: &Range<usize>,
        message: &[u8],
    ) -> Result<(), Error> {
        let first = first_block(job, circuit, layer, ands.start) as usize * 2;
        let shares = bytemuck::cast_slice_mut::<u8, u64>(self.ahead()?.shares_mut(job.op));
        each_row(job, ands.len(), message, |index, row| {
            shares[first + index * row.len()..][..row.len()].copy_from_slice(row);
        });
        Ok(())
    }

    /// Offline: makes some ANDs of a layer, for a protocol that checks them.
    fn make_ands(
        &mut self,
        job: &Job,
        circuit: &Layered,
        layer: &Layer,
        piece: u16,
        ands: Range<usize>,
    ) -> Result<(), Error> {
        let batch = piece_batch(job, circuit, layer, piece, &ands);
        let operands = self.piece_operands(job, &layer.ands[ands.clone()]);
        let mut share = Vec::new();
        if self.me != 2 {
            let words = row_words(job.cols.len());
            let mut rows = vec![0_u64; ands.len() * words];
            let draw = batch.draw(Drawn::Share);
            self.streams[1 - self.me].fill_elements(draw, batch.first as u64 / 2, &mut rows);
            share = packed_rows(&rows, words, all(ands.len()), 0..job.cols.len());
        }
        let gamma = self.make(&batch, &Arithmetic::BITS, &operands, share)?;
        if self.me == 2 {
            let bytes = message_bytes(job, ands.len());
            self.keep_layer_shares(job, circuit, layer, &ands, &bytemuck::cast_slice(&gamma)[..bytes])?;
        }
        Ok(())
    }

    /// Draws the masks of some ANDs' results, as far as this party holds them. Gives them, packed; the second is `P_0`'s.
    fn draw_layer_masks(
        &mut self,
        job: &Job,
        circuit: &Layered,
        layer: &Layer,
        range: Range<usize>,
    ) -> [Vec<u64>; 2] {
        let block = first_block(job, circuit, layer, range.start);
        let (words, ands) = (row_words(job.cols.len()), &layer.ands[range]);
        let mut drawn = [Vec::new(), Vec::new()];
        let draw = Draw { part: step::CIRCUIT + Drawn::Mask as u16, op: job.op };
        for (component, packed) in self.held_masks().zip(&mut drawn) {
            let other = if self.me == 0 { component } else { 0 };
            let mut rows = vec![0_u64; ands.len() * words];
            self.streams[other].fill_elements(draw, block, &mut rows);
            let (tile, place) = self.tile_of(job, component);
            for (and, row) in ands.iter().zip(rows.chunks_exact(words)) {
                tile.row(and[2], place).copy_from_slice(row);
            }
            *packed = packed_rows(&rows, words, all(ands.len()), 0..job.cols.len());
        }
        drawn
    }

    /// A job's tile, and the place of a component in it.
    fn tile_of(&mut self, job: &Job, component: usize) -> (&mut Tile, usize) {
        match (self.has_one_mask(), component == 2 - self.me) {
            (true, _) => (self.mask_tiles.get(job), 0),
            (false, first) => (self.party.tiles.get(job), usize::from(!first)),
        }
    }

    /// The operands of some ANDs.
    fn piece_operands(&mut self, job: &Job, ands: &[[u32; 3]]) -> Operands<u64> {
        let mut rows =
            |place| self.components().map(|component| self.piece_rows(job, ands, place, component)).collect();
        Operands { x: rows(0), y: rows(1) }
    }

    /// The left operands of some ANDs (0), the right ones (1) or their results (2): a component of them, packed.
    fn piece_rows(&mut self, job: &Job, ands: &[[u32; 3]], place: usize, component: usize) -> Vec<u64> {
        let words = row_words(job.cols.len());
        let mut rows = Vec::with_capacity(ands.len() * words);
        let (tile, component) = self.tile_of(job, component);
        for and in ands {
            rows.extend_from_slice(tile.row(and[place], component));
        }
        if job.cols.len() == words * 64 {
            return rows;
        }
        packed_rows(&rows, words, all(ands.len()), 0..job.cols.len())
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
        let tile = self.party.tiles.get(job);
        let words = tile.row_words();
        let ands = &layer.ands[range.clone()];
        // Written over, all of it.
        let mut rows = self.party.session.mesh().filled(ands.len() * words * 8);
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

/// Some ANDs of a layer, which travel together.
fn piece_batch(job: &Job, circuit: &Layered, layer: &Layer, piece: u16, ands: &Range<usize>) -> Batch {
    let batch = job.batch * circuit.depth() + job.stage;
    Batch {
        domain: Domain::Bits,
        count: ands.len() * job.cols.len(),
        op: job.op,
        first: first_block(job, circuit, layer, ands.start) as usize * 2,
        draws: (Draw { part: step::CIRCUIT, op: job.op }, 1),
        at: At { lane: 0, part: step::CIRCUIT + piece, op: job.op, batch },
    }
}

/// `rows ^= words`, the words in the order of their bytes.
fn xor_bytes(rows: &mut [u8], words: &[u64]) {
    for (row, word) in rows.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *row = (u64::from_le_bytes(*row) ^ word).to_le_bytes();
    }
}
