//! Circuits: a layer of ANDs of a tile of instances at a time, a bit an AND offline and two online.
//!
//! What is computed and sent is an AND's, as in `products`. A tile's masks and shares follow one another: tile after tile,
//! AND after AND, a row of blocks for each.

use crate::draws::{Drawn, Walk};
use crate::groups::Group;
use crate::state::{AstraEngine, no_material};
use crate::step;
use tacit_circuit::Layered;
use tacit_engine::layer::{each_row, message_of_rows};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_kernel::{bits, gates};
use tacit_program::plan::{Operand, Reg};
use tacit_session::{At, Draw};
use tacit_threeparty::circuits::{Piece, load_layer};
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
        for piece in Piece::all(job, circuit) {
            match (self.verified.is_some(), self.walk, self.me) {
                (true, Walk::Offline, _) => self.make_group(&Group::of_layer(piece))?,
                (true, Walk::Online, 0) => self.compute_group(&Group::of_layer(piece))?,
                (verified, ..) => {
                    let rows = self.ands(piece)?;
                    let (to, at) = (self.receiver(), self.layer_at(piece));
                    section(Section::Sending, || {
                        let message = message_of_rows(self.party.session.mesh(), job, rows);
                        self.party.session.mesh().send_vec(to, at, message)
                    })?;
                    if verified {
                        self.show_group(&Group::of_layer(piece))?;
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
        for piece in Piece::all(job, circuit) {
            let at = self.layer_at(piece);
            section(Section::Receiving, || {
                let message = self.party.session.mesh().recv(from, at, piece.message_bytes())?;
                if self.walk == Walk::Offline {
                    self.keep_layer_shares(piece, &message)?;
                } else {
                    let masked = usize::from(self.me == 1);
                    let tile = self.party.tiles.get(job);
                    each_row(job, piece.ands.len(), &message, |index, row| {
                        bits::xor_assign(tile.row(piece.ands[index][2], masked), row);
                    });
                }
                self.party.session.mesh().recycle(message);
                Ok::<(), Error>(())
            })?;
            if self.verified.is_some() {
                // The operands still stand in the tile, as no result of the layer does where one of them did.
                self.note_group(&Group::of_layer(piece));
            }
        }
        Ok(())
    }

    /// This party's part of some ANDs of a layer, a row for each. The destinations get their masks and, of `P_1` and
    /// `P_2`, that part.
    fn ands(&mut self, piece: Piece<'_>) -> Result<Vec<u8>, Error> {
        let op = piece.job.op;
        let tile = self.party.tiles.get(piece.job);
        let words = tile.row_words();
        // Written over, all of it.
        let mut rows = self.party.session.mesh().filled(piece.ands.len() * words * 8);
        let step = (BLOCK_BYTES / (words * 8)).max(1);
        let mut masks = [0, 1].map(|_| vec![0_u64; step.min(piece.ands.len()) * words]);
        let draw = |drawn: Drawn| Draw { part: step::CIRCUIT + drawn as u16, op };
        for (index, (ands, rows)) in
            piece.ands.chunks(step).zip(rows.chunks_mut(step * words * 8)).enumerate()
        {
            let block = piece.block + (index * step * words / 2) as u64;
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
                        let shares = self.ahead.as_ref().ok_or_else(no_material)?.shares(op);
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

    /// The address of a message in the walk that is on.
    fn layer_at(&self, piece: Piece<'_>) -> At {
        let ahead = if self.walk == Walk::Offline { step::OFFLINE } else { 0 };
        At { part: piece.at.part + ahead, ..piece.at }
    }
}

/// `rows ^= words`, the words in the order of their bytes.
fn xor_bytes(rows: &mut [u8], words: &[u64]) {
    for (row, word) in rows.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *row = (u64::from_le_bytes(*row) ^ word).to_le_bytes();
    }
}
