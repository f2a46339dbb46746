//! Circuits: a layer of ANDs of a tile of instances at a time, one bit an AND from every party to the next.
//!
//! What is computed and sent is an AND's, as in `products`. A tile's masks follow one another in the stream: tile
//! after tile, AND after AND, a row of blocks for each. With information-theoretic zero-sharing they are fresh
//! randomness, as in `fresh`.

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::verify::BEGUN;
use crate::zero_sharing::ZeroSharing;
use std::ops::Range;
use tacit_circuit::{Layer, Layered};
use tacit_engine::layer::{all, each_row, first_block, message_bytes, message_of_rows, pieces};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_kernel::{bits, gates};
use tacit_program::plan::{Operand, Reg};
use tacit_session::{At, Draw, step};
use tacit_threeparty::products::BLOCK_BYTES;
use tacit_threeparty::{next, prev};

impl ReplicatedEngine {
    pub(crate) fn layer_begin(
        &mut self,
        job: &Job,
        circuit: &Layered,
        inputs: &[Operand],
        dst: Reg,
    ) -> Result<(), Error> {
        if !self.party.load_layer(job, circuit, inputs, dst) {
            return Ok(());
        }
        let layer = &circuit.layers[job.stage as usize];
        for (piece, gates) in pieces(layer, job) {
            if self.zero_sharing == ZeroSharing::InformationTheoretic {
                let drawn = self.draw_rows_of(job, &layer.ands[gates.clone()])?;
                self.party.session.mesh().send_vec(prev(self.me), layer_at(job, circuit, piece), drawn)?;
            }
            let message = if self.verified.is_some() && !is_unnoted(job, piece) {
                self.noted_ands(job, circuit, layer, gates)
            } else {
                self.ands(job, circuit, layer, gates)
            };
            let at = layer_at(job, circuit, piece);
            section(Section::Sending, || self.party.session.mesh().send_vec(next(self.me), at, message))?;
        }
        Ok(())
    }

    pub(crate) fn layer_finish(&mut self, job: &Job, circuit: &Layered) -> Result<(), Error> {
        let layer = &circuit.layers[job.stage as usize];
        for (piece, range) in pieces(layer, job) {
            let gates = &layer.ands[range];
            let at = layer_at(job, circuit, piece);
            match self.zero_sharing {
                ZeroSharing::Computational => {
                    section(Section::Receiving, || {
                        self.recv_rows_of(job, at, prev(self.me), gates, 1, <[u64]>::copy_from_slice)
                    })?;
                    if let Some(verified) = &mut self.verified {
                        verified.proofs.go_on(&mut self.party.session)?;
                    }
                }
                ZeroSharing::InformationTheoretic => {
                    self.recv_rows_of(job, at, prev(self.me), gates, 1, bits::xor_assign)?;
                    self.recv_rows_of(job, at, next(self.me), gates, 0, bits::xor_assign)?;
                }
            }
        }
        Ok(())
    }

    /// Receives a row for every AND, and puts each to a component of the AND's destination.
    fn recv_rows_of(
        &mut self,
        job: &Job,
        at: At,
        from: usize,
        gates: &[[u32; 3]],
        component: usize,
        put: fn(&mut [u64], &[u64]),
    ) -> Result<(), Error> {
        let message = self.party.session.mesh().recv(from, at, message_bytes(job, gates.len()))?;
        if let Some(verified) = self.verified.as_mut().filter(|_| !is_unnoted(job, at.part - step::CIRCUIT)) {
            verified.proofs.finish(&message);
        }
        let tile = self.party.tiles.get(job);
        each_row(job, gates.len(), &message, |index, row| put(tile.row(gates[index][2], component), row));
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// Draws fresh masks where the previous party's components will be, and gives them as a message for it: see
    /// [`crate::fresh`].
    fn draw_rows_of(&mut self, job: &Job, gates: &[[u32; 3]]) -> Result<Vec<u8>, Error> {
        let tile = self.party.tiles.get(job);
        let words = tile.row_words();
        let mut rows = vec![0_u64; gates.len() * words];
        self.party.session.entropy().fill(bytemuck::cast_slice_mut(&mut rows))?;
        for (gate, row) in gates.iter().zip(rows.chunks_exact(words)) {
            tile.row(gate[2], 1).copy_from_slice(row);
        }
        let mut message = vec![0; message_bytes(job, gates.len())];
        bits::pack_rows(&rows, words, all(gates.len()), 0..job.cols.len(), &mut message);
        Ok(message)
    }

    /// This party's part of some ANDs of a layer, as the message for the next party.
    fn ands(&mut self, job: &Job, circuit: &Layered, layer: &Layer, range: Range<usize>) -> Vec<u8> {
        let tile = self.party.tiles.get(job);
        let words = tile.row_words();
        let gates = &layer.ands[range.clone()];
        // The masks are written over all of it.
        let mut rows = self.party.session.mesh().filled(gates.len() * words * 8);
        let draw = Draw { part: step::CIRCUIT, op: job.op };
        let row_blocks = words as u64 / 2;
        let first = first_block(job, circuit, layer, range.start);
        let step = (BLOCK_BYTES / (words * 8)).max(1);
        let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
        for (index, (gates, rows)) in gates.chunks(step).zip(rows.chunks_mut(step * words * 8)).enumerate() {
            match self.zero_sharing {
                ZeroSharing::Computational => {
                    let block = first + (index * step) as u64 * row_blocks;
                    section(Section::Randomness, || key.xor(prev_key, draw, block, rows));
                }
                ZeroSharing::InformationTheoretic => {
                    for (gate, row) in gates.iter().zip(rows.chunks_exact_mut(words * 8)) {
                        row.copy_from_slice(bytemuck::cast_slice(tile.row(gate[2], 1)));
                    }
                }
            }
            section(Section::Gates, || gates::replicated_ands(tile.memory(), words, gates, rows));
        }
        section(Section::Sending, || message_of_rows(self.party.session.mesh(), job, rows))
    }

    /// As [`Self::ands`], and notes what the proofs will be about.
    fn noted_ands(&mut self, job: &Job, circuit: &Layered, layer: &Layer, range: Range<usize>) -> Vec<u8> {
        let tile = self.party.tiles.get(job);
        let words = tile.row_words();
        let gates = &layer.ands[range.clone()];
        let mut rows = self.party.session.mesh().filled(gates.len() * words * 8);
        let draw = Draw { part: step::CIRCUIT, op: job.op };
        let first = first_block(job, circuit, layer, range.start);
        let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
        let proofs = &mut self.verified.as_mut().expect("only verified ANDs are noted").proofs;
        let whole = job.cols.len() == words * 64;
        // Where rows aren't whole, what is noted has to be packed as the message is.
        let mut loose: [Vec<u64>; BEGUN] = Default::default();
        let mut planes = if whole {
            proofs.begin(gates.len() * words)
        } else {
            loose = std::array::from_fn(|_| vec![0; gates.len() * words]);
            loose.each_mut().map(Vec::as_mut_slice)
        };
        let step = (BLOCK_BYTES / (words * 8)).max(1);
        for (index, (gates, rows)) in gates.chunks(step).zip(rows.chunks_mut(step * words * 8)).enumerate() {
            let block = first + (index * step * words / 2) as u64;
            let noted = index * step * words..(index * step + gates.len()) * words;
            let [x, y, x_prev, y_prev, mask, mask_prev] =
                planes.each_mut().map(|plane| &mut plane[noted.clone()]);
            section(Section::Randomness, || {
                key.fill(draw, block, bytemuck::cast_slice_mut(mask));
                prev_key.fill(draw, block, bytemuck::cast_slice_mut(mask_prev));
            });
            section(Section::Gates, || {
                for (at, gate) in (0..).step_by(words).zip(gates) {
                    let row = at..at + words;
                    x[row.clone()].copy_from_slice(tile.row(gate[0], 0));
                    y[row.clone()].copy_from_slice(tile.row(gate[1], 0));
                    x_prev[row.clone()].copy_from_slice(tile.row(gate[0], 1));
                    y_prev[row].copy_from_slice(tile.row(gate[1], 1));
                }
                for (out, (mask, mask_prev)) in
                    rows.as_chunks_mut().0.iter_mut().zip(mask.iter().zip(&*mask_prev))
                {
                    *out = (mask ^ mask_prev).to_le_bytes();
                }
                gates::replicated_ands(tile.memory(), words, gates, rows);
            });
        }
        if !whole {
            let bits = gates.len() * job.cols.len();
            for (plane, loose) in proofs.begin(bits.div_ceil(64)).into_iter().zip(&loose) {
                let bytes = &mut bytemuck::cast_slice_mut(plane)[..bits.div_ceil(8)];
                bits::pack_rows(loose, words, all(gates.len()), 0..job.cols.len(), bytes);
            }
        }
        section(Section::Sending, || message_of_rows(self.party.session.mesh(), job, rows))
    }
}

/// Whether a mistake keeps a piece of a layer out of the proofs.
fn is_unnoted(job: &Job, piece: u16) -> bool {
    let full = job.cols.len().is_multiple_of(128);
    piece > 0 && planted(Mistake::PiecesUnnoted) || full && planted(Mistake::FullTilesUnnoted)
}

fn layer_at(job: &Job, circuit: &Layered, piece: u16) -> At {
    At { lane: 0, part: step::CIRCUIT + piece, op: job.op, batch: job.batch * circuit.depth() + job.stage }
}
