//! Layers of circuits: what a layer reads, in a tile with a row for each component.

use crate::party::Party;
use crate::step;
use tacit_circuit::Layered;
use tacit_engine::Job;
use tacit_engine::bank::{Bank, row_words};
use tacit_engine::layer::{self, first_block, pieces};
use tacit_engine::profile::{Section, section};
use tacit_engine::tile::Tiles;
use tacit_program::plan::{Operand, Reg};
use tacit_session::At;

/// Some ANDs of a layer of a tile, which travel in a message.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// The tile's job.
    pub job: &'a Job,
    /// The ANDs.
    pub ands: &'a [[u32; 3]],
    /// The message's number in the layer.
    pub number: u16,
    /// The first block of their rows among the operation's draws, and in its material.
    pub block: u64,
    /// The address of a message of them.
    pub at: At,
}

impl<'a> Piece<'a> {
    /// All of a job's layer.
    pub fn all(job: &'a Job, circuit: &'a Layered) -> impl Iterator<Item = Self> {
        let layer = &circuit.layers[job.stage as usize];
        pieces(layer, job).map(move |(number, ands)| {
            let block = first_block(job, circuit, layer, ands.start);
            let batch = job.batch * circuit.depth() + job.stage;
            let at = At { lane: 0, part: step::CIRCUIT + number, op: job.op, batch };
            Self { job, ands: &layer.ands[ands], number, block, at }
        })
    }

    /// Words of a row.
    pub fn row_words(&self) -> usize {
        row_words(self.job.cols.len())
    }

    /// Bytes of a message of a bit for each.
    pub fn message_bytes(&self) -> usize {
        layer::message_bytes(self.job, self.ands.len())
    }
}

/// Loads what a layer reads from each component's bank, and runs its sums; of each component it is said whether public
/// values are in it. `false` after the last layer, when the tile has been stored.
pub fn load_layer(
    tiles: &mut Tiles,
    components: &mut [(&mut Bank, bool)],
    job: &Job,
    circuit: &Layered,
    inputs: &[Operand],
    dst: Reg,
) -> bool {
    if job.stage == 0 {
        let tile = tiles.open(job, circuit);
        for (component, (_, public)) in components.iter().enumerate() {
            tile.constants(component, circuit, *public);
        }
    }
    let (layer, tile) = (&circuit.layers[job.stage as usize], tiles.get(job));
    section(Section::Slicing, || {
        for (component, (bank, _)) in components.iter().enumerate() {
            tile.load(component, circuit, job.stage as usize, inputs, bank);
        }
    });
    section(Section::Gates, || tile.sums(layer));
    if job.stage < circuit.depth() {
        return true;
    }
    section(Section::Slicing, || {
        for (component, (bank, _)) in components.iter_mut().enumerate() {
            tile.store(component, circuit, bank.make(dst).words_mut());
        }
    });
    tiles.close(job);
    false
}

impl Party {
    /// As [`load_layer`], of both components that this party holds.
    pub fn load_layer(&mut self, job: &Job, circuit: &Layered, inputs: &[Operand], dst: Reg) -> bool {
        let public = self.held().map(|component| component == self.scheme.public);
        let mut components = [(&mut self.own, public[0]), (&mut self.prev, public[1])];
        load_layer(&mut self.tiles, &mut components, job, circuit, inputs, dst)
    }
}
