//! Layers of circuits: what a layer reads, in a tile with a row for each component.

use crate::party::Party;
use tacit_circuit::Layered;
use tacit_engine::Job;
use tacit_engine::bank::Bank;
use tacit_engine::profile::{Section, section};
use tacit_engine::tile::Tiles;
use tacit_program::plan::{Operand, Reg};

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
