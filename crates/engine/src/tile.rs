//! Instances of a circuit that are evaluated together, small enough to stay in the cache from layer to layer.
//!
//! A tile has a slot for every wire that is alive. A slot has a row for every component of a sharing, with a bit for
//! each instance ([`tacit_kernel::gates`]). Bits come from the bank's registers, where they stand instance after
//! instance, and go back there.

use crate::Job;
use crate::bank::{Bank, row_words};
use crate::with_word;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use tacit_circuit::{Layer, Layered, ONE, UNUSED};
use tacit_kernel::{Buffer, Word, bits, gates, transpose};
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

    /// Both components of a wire, of two.
    pub fn rows(&mut self, slot: u32) -> (&mut [u64], &mut [u64]) {
        let (start, words) = (slot as usize * self.slot_words(), self.row_words);
        self.memory.words_mut()[start..start + 2 * words].split_at_mut(words)
    }

    /// Makes the constant 1 of a circuit: all ones in the components that take public values, and as a public value in all.
    pub fn constants(&mut self, component: usize, circuit: &Layered, public: bool) {
        self.row(ONE, component).fill(if public { u64::MAX } else { 0 });
        if circuit.whole != UNUSED {
            self.row(circuit.whole, component).fill(u64::MAX);
        }
    }

    /// Loads a component of the inputs that a layer begins with from its bank: those that are not the same for all
    /// instances before the first layer, the others as the circuit asks for them. Additive components of numbers that
    /// the bank doesn't hold are zero, and so are rows that nothing has been written to.
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
                &Operand::Component { a, component: addend, negate } => {
                    with_word!(bank.width(a), W => match bank.additive_component::<W>(a, addend, self.cols()) {
                        Some(numbers) => self.load_numbers(component, slots, numbers, negate),
                        None => self.load_zeros(component, slots),
                    });
                }
                Operand::Rows(reg) if bank.is_written(*reg) => {
                    let words = self.cols.start / 64..self.cols.start / 64 + self.row_words;
                    for (bit, &slot) in (0..).zip(slots).filter(|(_, slot)| **slot != UNUSED) {
                        let row = &bank.row(Rows::one(*reg, bit), 0)[words.clone()];
                        self.row(slot, component).copy_from_slice(row);
                    }
                }
                Operand::Rows(_) => self.load_zeros(component, slots),
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
            self.load_planes(component, group, &planes);
        }
        self.planes = planes;
    }

    /// The low bits of numbers, or of their negatives.
    fn load_numbers<W: Word>(
        &mut self,
        component: usize,
        slots: &[u32],
        mut numbers: Cow<'_, [W]>,
        negate: bool,
    ) {
        let mut planes = std::mem::take(&mut self.planes);
        if negate {
            numbers.to_mut().iter_mut().for_each(|number| *number = number.wrapping_neg());
        }
        transpose::to_planes::<W>(&numbers, slots.len(), &mut planes, self.row_words);
        self.load_planes(component, slots, &planes);
        self.planes = planes;
    }

    fn load_zeros(&mut self, component: usize, slots: &[u32]) {
        for &slot in slots.iter().filter(|slot| **slot != UNUSED) {
            self.row(slot, component).fill(0);
        }
    }

    fn load_planes(&mut self, component: usize, slots: &[u32], planes: &[u64]) {
        for (&slot, plane) in slots.iter().zip(planes.chunks_exact(self.row_words)) {
            if slot != UNUSED {
                self.row(slot, component).copy_from_slice(plane);
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::Part;
    use std::sync::Arc;
    use tacit_program::plan::{Builder, OpKind, SECOND_COMPONENT, Width};

    /// A plan with a circuit that takes the low 5 bits of 16-bit numbers but for bit 1, and of another additive
    /// component the same; its circuit's operands.
    fn plan(cols: usize, negate: bool) -> (Arc<tacit_program::plan::Plan>, Layered, Vec<Operand>) {
        let mut build = tacit_circuit::Builder::new();
        let (s, t) = (build.input(5), build.input(5));
        let bits = [0, 2, 3, 4].map(|bit| build.and(s[bit], t[bit])).to_vec();
        let circuit = Layered::new(&build.finish(vec![bits]));
        let mut builder = Builder::new();
        let a = builder.ring(Width::W16, cols);
        let s = builder.bits(5, cols);
        let dst = builder.bits(1, 4 * cols);
        builder.interact(OpKind::Split { a, bits: 5, s });
        let inputs = vec![Operand::Rows(s), Operand::Component { a, component: SECOND_COMPONENT, negate }];
        builder.interact(OpKind::Circuit { circuit: Arc::new(circuit.clone()), inputs: inputs.clone(), dst });
        (Arc::new(builder.finish()), circuit, inputs)
    }

    #[test]
    fn numbers_are_sliced_where_they_are_an_addend_and_nothing_elsewhere() {
        for (cols, tile_cols) in [(1, 0..1), (65, 0..65), (1024, 512..1024), (1100, 512..1100)] {
            for negate in [false, true] {
                let (plan, circuit, inputs) = plan(cols, negate);
                let Operand::Component { a, .. } = inputs[1] else { unreachable!("the second operand") };
                let [bank, other] = [Part::Component(SECOND_COMPONENT), Part::Component(0)].map(|part| {
                    let mut bank = Bank::new(plan.clone(), part);
                    for (at, number) in bank.make(a).words_mut::<u16>().iter_mut().enumerate() {
                        *number = (at * at * 40_503 + 7) as u16;
                    }
                    bank
                });
                let numbers = bank.get(a).words::<u16>().to_vec();
                let mut tiles = Tiles::new(2);
                let job = Job { op: 1, stage: 0, batch: 0, cols: tile_cols.clone(), last: true };
                let tile = tiles.open(&job, &circuit);
                tile.memory().fill(u64::MAX);
                tile.load(0, &circuit, 0, &inputs, &bank);
                tile.load(1, &circuit, 0, &inputs, &other);
                for bit in 0..5 {
                    let (of_s, of_t) = (circuit.input_slots[bit], circuit.input_slots[5 + bit]);
                    assert_eq!((of_s == UNUSED, of_t == UNUSED), (bit == 1, bit == 1));
                    if bit == 1 {
                        continue;
                    }
                    for (at, &number) in numbers[tile_cols.clone()].iter().enumerate() {
                        let number = if negate { number.wrapping_neg() } else { number };
                        let expected = number >> bit & 1 == 1;
                        assert_eq!(bits::get(tile.row(of_t, 0), at), expected, "bit {bit} of {at}");
                    }
                    for row in [(of_t, 1), (of_s, 0), (of_s, 1)] {
                        assert!(tile.row(row.0, row.1).iter().all(|&word| word == 0), "nothing was written");
                    }
                }
            }
        }
    }
}
