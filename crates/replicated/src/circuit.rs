//! Circuits: a layer of ANDs of a tile of instances at a time, one bit an AND from every party to the next.
//!
//! What is computed and sent is an AND's, as in `products`. A tile's masks follow one another in the stream: tile
//! after tile, AND after AND, a row of blocks for each. With information-theoretic zero-sharing they are fresh
//! randomness, as in `fresh`.

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::step;
use crate::verify::BEGUN;
use crate::zero_sharing::ZeroSharing;
use tacit_circuit::Layered;
use tacit_engine::layer::{all, each_row, message_of_rows};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_kernel::{bits, gates};
use tacit_program::plan::{Operand, Reg};
use tacit_session::Draw;
use tacit_threeparty::circuits::Piece;
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
        for piece in Piece::all(job, circuit) {
            if self.zero_sharing == ZeroSharing::InformationTheoretic {
                let drawn = self.draw_rows_of(piece)?;
                self.party.session.mesh().send_vec(prev(self.me), piece.at, drawn)?;
            }
            let rows = self.ands(piece);
            section(Section::Sending, || {
                let message = message_of_rows(self.party.session.mesh(), job, rows);
                self.party.session.mesh().send_vec(next(self.me), piece.at, message)
            })?;
        }
        Ok(())
    }

    pub(crate) fn layer_finish(&mut self, job: &Job, circuit: &Layered) -> Result<(), Error> {
        for piece in Piece::all(job, circuit) {
            match self.zero_sharing {
                ZeroSharing::Computational => {
                    section(Section::Receiving, || {
                        self.recv_rows_of(piece, prev(self.me), 1, <[u64]>::copy_from_slice)
                    })?;
                    if let Some(verified) = &mut self.verified {
                        verified.proofs.go_on(&mut self.party.session)?;
                    }
                }
                ZeroSharing::InformationTheoretic => {
                    self.recv_rows_of(piece, prev(self.me), 1, bits::xor_assign)?;
                    self.recv_rows_of(piece, next(self.me), 0, bits::xor_assign)?;
                }
            }
        }
        Ok(())
    }

    /// Receives a row for every AND, and puts each to a component of the AND's destination.
    fn recv_rows_of(
        &mut self,
        piece: Piece<'_>,
        from: usize,
        component: usize,
        put: fn(&mut [u64], &[u64]),
    ) -> Result<(), Error> {
        let message = self.party.session.mesh().recv(from, piece.at, piece.message_bytes())?;
        if let Some(verified) = self.verified.as_mut().filter(|_| !is_unnoted(piece)) {
            verified.proofs.finish(&message);
        }
        let tile = self.party.tiles.get(piece.job);
        each_row(piece.job, piece.ands.len(), &message, |index, row| {
            put(tile.row(piece.ands[index][2], component), row);
        });
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// Draws fresh masks where the previous party's components will be, and gives them as a message for it: see
    /// [`crate::fresh`].
    fn draw_rows_of(&mut self, piece: Piece<'_>) -> Result<Vec<u8>, Error> {
        let tile = self.party.tiles.get(piece.job);
        let words = tile.row_words();
        let mut rows = self.party.session.mesh().filled(piece.ands.len() * words * 8);
        self.party.session.entropy().fill(&mut rows)?;
        for (and, row) in piece.ands.iter().zip(rows.chunks_exact(words * 8)) {
            bytemuck::cast_slice_mut(tile.row(and[2], 1)).copy_from_slice(row);
        }
        Ok(message_of_rows(self.party.session.mesh(), piece.job, rows))
    }

    /// This party's part of some ANDs, a row for each. Where ANDs are proved, notes what the proofs will be about.
    fn ands(&mut self, piece: Piece<'_>) -> Vec<u8> {
        let tile = self.party.tiles.get(piece.job);
        let words = tile.row_words();
        let count = piece.ands.len();
        // The masks are written over all of it.
        let mut rows = self.party.session.mesh().filled(count * words * 8);
        let draw = Draw { part: step::CIRCUIT, op: piece.job.op };
        let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
        let mut proofs =
            self.verified.as_mut().filter(|_| !is_unnoted(piece)).map(|verified| &mut verified.proofs);
        let whole = piece.job.cols.len() == words * 64;
        // Where rows aren't whole, what is noted has to be packed as the message is.
        let mut loose: [Vec<u64>; BEGUN] = Default::default();
        let mut planes = match &mut proofs {
            Some(proofs) if whole => Some(proofs.begin(count * words)),
            Some(_) => {
                loose = std::array::from_fn(|_| vec![0; count * words]);
                Some(loose.each_mut().map(Vec::as_mut_slice))
            }
            None => None,
        };
        let step = (BLOCK_BYTES / (words * 8)).max(1);
        for (index, (ands, rows)) in
            piece.ands.chunks(step).zip(rows.chunks_mut(step * words * 8)).enumerate()
        {
            let block = piece.block + (index * step * words / 2) as u64;
            if let Some(planes) = &mut planes {
                let noted = index * step * words..(index * step + ands.len()) * words;
                let [x, y, x_prev, y_prev, mask, mask_prev] =
                    planes.each_mut().map(|plane| &mut plane[noted.clone()]);
                section(Section::Randomness, || {
                    key.fill(draw, block, bytemuck::cast_slice_mut(mask));
                    prev_key.fill(draw, block, bytemuck::cast_slice_mut(mask_prev));
                });
                section(Section::Gates, || {
                    let operands = [x, y, x_prev, y_prev];
                    gates::noted_ands(tile.memory(), words, ands, [mask, mask_prev], operands, rows);
                });
                continue;
            }
            match self.zero_sharing {
                ZeroSharing::Computational => {
                    section(Section::Randomness, || key.xor(prev_key, draw, block, rows));
                }
                ZeroSharing::InformationTheoretic => {
                    for (and, row) in ands.iter().zip(rows.chunks_exact_mut(words * 8)) {
                        row.copy_from_slice(bytemuck::cast_slice(tile.row(and[2], 1)));
                    }
                }
            }
            section(Section::Gates, || gates::replicated_ands(tile.memory(), words, ands, rows));
        }
        if let Some(proofs) = proofs.filter(|_| !whole) {
            let bits = count * piece.job.cols.len();
            for (plane, loose) in proofs.begin(bits.div_ceil(64)).into_iter().zip(&loose) {
                let bytes = &mut bytemuck::cast_slice_mut(plane)[..bits.div_ceil(8)];
                bits::pack_rows(loose, words, all(count), 0..piece.job.cols.len(), bytes);
            }
        }
        rows
    }
}

/// Whether a mistake keeps a piece of a layer out of the proofs.
fn is_unnoted(piece: Piece<'_>) -> bool {
    let full = piece.job.cols.len().is_multiple_of(128);
    piece.number > 0 && planted(Mistake::PiecesUnnoted) || full && planted(Mistake::FullTilesUnnoted)
}
