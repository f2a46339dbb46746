//! What garbling and evaluating have in common: the way of a piece's tiles through the layers.

use std::ops::Range;

use tacit_circuit::ONE;
use tacit_kernel::garble::{LABEL, TABLE};
use tacit_kernel::{Buffer, gates};

use crate::Plan;
use crate::batch::{Batch, Keys};
use crate::plan::label_bytes;

/// What a garbler and an evaluator do with a tile, each in its way.
pub(crate) trait Side {
    /// The label of the constant 1.
    fn one(&self) -> u128;

    /// Puts a tile's labels of a bit of the inputs into a row.
    fn load(&mut self, bit: u32, tile: Tile, row: &mut [u8]);

    /// Makes the labels of ANDs. `tables` is where theirs are among those of the piece.
    fn ands(&mut self, rows: Ands, tables: Range<usize>);
}

/// ANDs of a layer, as the kernel takes them.
pub(crate) struct Ands<'a> {
    pub(crate) memory: &'a mut [u128],
    pub(crate) width: usize,
    pub(crate) gates: &'a [[u32; 3]],
    pub(crate) keys: &'a [[u8; 16]],
}

/// Some instances of a piece.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    /// The first of them, counted from the batch's first.
    pub(crate) first: u64,
    /// The same, counted from the piece's first: a multiple of 64.
    at: usize,
    /// How many there are.
    width: usize,
}

impl Tile {
    /// The tiles of a piece, and the number of each in the batch.
    pub(crate) fn of(plan: &Plan, start: u64, instances: usize) -> impl Iterator<Item = (u64, Self)> {
        let size = plan.tile();
        let tile = move |at| Self { first: start + at as u64, at, width: size.min(instances - at) };
        (start / size as u64..).zip((0..instances).step_by(size).map(tile))
    }

    /// Where its labels are in a row of the piece.
    pub(crate) fn bytes(self) -> Range<usize> {
        self.at * LABEL..(self.at + self.width) * LABEL
    }

    /// Where its bits are in a packed row of the piece.
    pub(crate) fn words(self) -> Range<usize> {
        self.at / 64..(self.at + self.width).div_ceil(64)
    }
}

/// A row of labels for every slot, for a tile of instances.
pub(crate) struct Rows {
    memory: Buffer,
    keys: Keys,
    /// The keys of a tile's ANDs.
    tile_keys: Vec<[u8; 16]>,
}

impl Rows {
    pub(crate) fn new(plan: &Plan, batch: Batch) -> Self {
        let memory = Buffer::of_words::<u128>(plan.layered.slots as usize * plan.tile());
        let tile_keys = vec![[0; 16]; plan.ands() as usize];
        Self { memory, keys: Keys::new(batch, plan.keys()), tile_keys }
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Runs a piece of the batch, and returns the rows of labels of the outputs' bits.
    pub(crate) fn run(&mut self, plan: &Plan, start: u64, instances: usize, side: &mut impl Side) -> Buffer {
        let mut outputs = Buffer::new(label_bytes(plan.output_bits(), instances));
        for (number, tile) in Tile::of(plan, start, instances) {
            self.keys.fill(number, 0, &mut self.tile_keys);
            self.tile(plan, tile, side);
            let memory = self.memory.words::<u128>();
            let rows = outputs.bytes_mut().chunks_exact_mut(instances * LABEL);
            for (&slot, out) in plan.layered.output_slots.iter().zip(rows) {
                out[tile.bytes()].copy_from_slice(bytemuck::cast_slice(&memory[row(slot, tile.width)]));
            }
        }
        outputs
    }

    fn tile(&mut self, plan: &Plan, tile: Tile, side: &mut impl Side) {
        let width = tile.width;
        let memory = self.memory.words_mut::<u128>();
        memory[row(ONE, width)].fill(side.one());
        for layer in &plan.layered.layers {
            for &[bit, slot] in &layer.loads {
                side.load(bit, tile, bytemuck::cast_slice_mut(&mut memory[row(slot, width)]));
            }
            // Labels are added as pairs of words.
            gates::sums(bytemuck::cast_slice_mut(memory), 2 * width, &layer.sums);
            let ands = layer.first_and as usize..layer.first_and as usize + layer.ands.len();
            let before = plan.table_bytes(tile.at);
            let tables = before + TABLE * width * ands.start..before + TABLE * width * ands.end;
            let keys = &self.tile_keys[ands];
            side.ands(Ands { memory, width, gates: &layer.ands, keys }, tables);
        }
    }

    /// Overwrites all labels.
    pub(crate) fn wipe(&mut self) {
        self.memory.wipe();
    }
}

/// Where a slot's row is.
fn row(slot: u32, width: usize) -> Range<usize> {
    slot as usize * width..(slot as usize + 1) * width
}
