//! Instances of a circuit that are evaluated together, small enough to stay in the cache from layer to layer.
//!
//! A tile has a slot for every wire that is alive, and a slot a row for every component of a sharing, with a bit for
//! each instance ([`tacit_kernel::gates`]). Bits come from the bank's registers, where they stand instance after
//! instance, and go back there.

use crate::Job;
use crate::bank::{Bank, row_words};
use std::collections::HashMap;
use std::ops::Range;
use tacit_circuit::{Layer, Layered, ONE, UNUSED};
use tacit_kernel::{Buffer, bits, gates, transpose};
use tacit_program::plan::{Operand, Rows};

/// The tiles under way, and memory of those that have ended.
#[derive(Debug)]
pub struct Tiles {
    components: usize,
    under_way: HashMap<(u32, u32), Tile>,
    spare: Vec<Tile>,
}

impl Tiles {
    /// None yet; wires have `components` components.
    pub fn new(components: usize) -> Self {
        Self { components, under_way: HashMap::new(), spare: Vec::new() }
    }

    /// Begins a job's tile. What its slots hold is unspecified.
    pub fn open(&mut self, job: &Job, circuit: &Layered) -> &mut Tile {
        let mut tile = self.spare.pop().unwrap_or_default();
        tile.reset(self.components, circuit.slots as usize, job.cols.clone());
        self.under_way.entry((job.op, job.batch)).insert_entry(tile).into_mut()
    }

    /// A job's tile.
    ///
    /// # Panics
    /// If it wasn't opened.
    pub fn get(&mut self, job: &Job) -> &mut Tile {
        self.under_way.get_mut(&(job.op, job.batch)).expect("a tile is opened with its first layer")
    }

    /// Ends a job's tile.
    pub fn close(&mut self, job: &Job) {
        self.spare.extend(self.under_way.remove(&(job.op, job.batch)));
    }
}

/// Some instances of a circuit.
#[derive(Debug, Default)]
pub struct Tile {
    memory: Buffer,
    /// For bits on their way between slots and registers.
    planes: Vec<u64>,
    components: usize,
    row_words: usize,
    cols: Range<usize>,
}

/// Bits of an element that are sliced at a time.
const SLICE: usize = 64;

impl Tile {
    fn reset(&mut self, components: usize, slots: usize, cols: Range<usize>) {
        self.components = components;
        self.row_words = row_words(cols.len());
        self.cols = cols;
        self.memory.reuse(slots * self.slot_words() * 8);
        self.planes.resize(SLICE * self.row_words, 0);
    }

    /// The instances.
    pub fn cols(&self) -> Range<usize> {
        self.cols.clone()
    }

    /// Words of a row: one component of one wire.
    pub fn row_words(&self) -> usize {
        self.row_words
    }

    /// All slots.
    pub fn memory(&mut self) -> &mut [u64] {
        self.memory.words_mut()
    }

    /// A component of a wire.
    pub fn row(&mut self, slot: u32, component: usize) -> &mut [u64] {
        let start = slot as usize * self.slot_words() + component * self.row_words;
        &mut self.memory.words_mut()[start..start + self.row_words]
    }

    /// Makes the constant 1: all ones in the components that take public values.
    pub fn constant(&mut self, component: usize, public: bool) {
        self.row(ONE, component).fill(if public { u64::MAX } else { 0 });
    }

    /// Loads a component of the inputs that a layer begins with from its bank: those that are not the same for all
    /// instances before the first layer, the others as the circuit asks for them.
    pub fn load(
        &mut self,
        component: usize,
        circuit: &Layered,
        layer: usize,
        inputs: &[Operand],
        bank: &Bank,
    ) {
        let mut first = 0;
        for (&width, operand) in circuit.inputs.iter().zip(inputs).take_while(|_| layer == 0) {
            let slots = &circuit.input_slots[first..first + width as usize];
            match operand {
                Operand::Each(reg) => self.load_each(component, slots, bank.get(*reg).words()),
                Operand::Rows(reg) => {
                    let words = self.cols.start / 64..self.cols.start / 64 + self.row_words;
                    for (bit, &slot) in (0..).zip(slots).filter(|(_, slot)| **slot != UNUSED) {
                        let row = &bank.row(Rows::one(*reg, bit), 0)[words.clone()];
                        self.row(slot, component).copy_from_slice(row);
                    }
                }
                Operand::Same(_) => {}
            }
            first += width as usize;
        }
        for &[bit, slot] in &circuit.layers[layer].loads {
            let (input, position) = circuit.input_of(bit);
            let bit = bits::get(bank.get(inputs[input].reg()).words(), position as usize);
            self.row(slot, component).fill(u64::from(bit).wrapping_neg());
        }
    }

    fn load_each(&mut self, component: usize, slots: &[u32], src: &[u64]) {
        let mut planes = std::mem::take(&mut self.planes);
        for (index, group) in slots.chunks(SLICE).enumerate() {
            let bits = index * SLICE..index * SLICE + group.len();
            transpose::slice(src, slots.len(), self.cols(), bits, &mut planes, self.row_words);
            for (&slot, plane) in group.iter().zip(planes.chunks_exact(self.row_words)) {
                if slot != UNUSED {
                    self.row(slot, component).copy_from_slice(plane);
                }
            }
        }
        self.planes = planes;
    }

    /// Stores a component of the outputs in its register, a row of bits, instance after instance.
    pub fn store(&mut self, component: usize, circuit: &Layered, dst: &mut [u64]) {
        let slots = &circuit.output_slots;
        if let &[slot] = &slots[..] {
            let start = self.cols.start / 64;
            return dst[start..start + self.row_words].copy_from_slice(self.row(slot, component));
        }
        let mut planes = std::mem::take(&mut self.planes);
        for (index, group) in slots.chunks(SLICE).enumerate() {
            for (&slot, plane) in group.iter().zip(planes.chunks_exact_mut(self.row_words)) {
                plane.copy_from_slice(self.row(slot, component));
            }
            let bits = index * SLICE..index * SLICE + group.len();
            transpose::unslice(&planes, self.row_words, dst, slots.len(), self.cols(), bits);
        }
        self.planes = planes;
    }

    /// Runs a layer's sums, in all components.
    pub fn sums(&mut self, layer: &Layer) {
        let words = self.slot_words();
        gates::sums(self.memory.words_mut(), words, &layer.sums);
    }

    /// Runs a layer's ANDs where there is one component, the bits themselves.
    pub fn ands(&mut self, layer: &Layer) {
        let words = self.slot_words();
        gates::ands(self.memory.words_mut(), words, &layer.ands);
    }

    fn slot_words(&self) -> usize {
        self.components * self.row_words
    }
}
