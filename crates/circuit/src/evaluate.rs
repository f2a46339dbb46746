//! Evaluation in the clear: gate by gate for one instance, and layer by layer for many.
//!
//! The first is the reference that everything else is held against; the second is what runs.

#[cfg(test)]
mod tests;

use crate::{Circuit, Gate, Layered, ONE, UNUSED};
use tacit_kernel::bits::words;
use tacit_kernel::transpose::{from_planes, to_planes};
use thiserror::Error;

/// Inputs that aren't the circuit's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// Another number of inputs.
    #[error("the circuit has {expected} inputs, not {found}")]
    Count {
        /// What the circuit has.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// An input of another length.
    #[error("input {input} has {found} {unit}, not {expected}")]
    Length {
        /// Which input, from 0.
        input: usize,
        /// What the length counts.
        unit: &'static str,
        /// The length that it should have.
        expected: usize,
        /// What was given.
        found: usize,
    },
}

impl Circuit {
    /// The outputs for one instance, gate by gate. Bit `j` of input `i` is `inputs[i][j]`, and so for the outputs.
    ///
    /// # Errors
    /// [`InputError`] if the inputs haven't the circuit's number and lengths.
    pub fn evaluate(&self, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, InputError> {
        check(self.inputs(), inputs.iter().map(Vec::len), "bits", |bits| bits)?;
        let mut wires = inputs.concat();
        for gate in self.gates() {
            wires.push(match *gate {
                Gate::Xor(a, b) => wires[a as usize] ^ wires[b as usize],
                Gate::And(a, b) => wires[a as usize] & wires[b as usize],
                Gate::Not(a) => !wires[a as usize],
                Gate::Constant(bit) => bit,
            });
        }
        let output = |bits: &Vec<u32>| bits.iter().map(|&wire| wires[wire as usize]).collect();
        Ok(self.outputs().iter().map(output).collect())
    }
}

impl Layered {
    /// The outputs for many instances. Input `i`, of `k` bits, is packed instance by instance: bit `c * k + j` is
    /// bit `j` of instance `c`, 64 bits to a word, least significant first. So are the outputs, whose unused last
    /// bits are 0; those of the inputs are ignored.
    ///
    /// # Errors
    /// [`InputError`] if the inputs haven't the circuit's number, or not the words that `instances` take.
    pub fn evaluate(&self, inputs: &[&[u64]], instances: usize) -> Result<Vec<Vec<u64>>, InputError> {
        let length = |bits: usize| words(bits.saturating_mul(instances));
        check(&self.inputs, inputs.iter().map(|input| input.len()), "words", length)?;
        let mut outputs: Vec<Vec<u64>> =
            self.outputs.iter().map(|&bits| vec![0; length(bits as usize)]).collect();
        let mut rows = Rows::new(self.slots as usize, instances);
        for first in (0..instances).step_by(rows.instances()) {
            let count = rows.instances().min(instances - first);
            let mut slots = &self.input_slots[..];
            for (&bits, input) in self.inputs.iter().zip(inputs) {
                let (own, rest) = slots.split_at(bits as usize);
                rows.load(own, input, first, count);
                slots = rest;
            }
            rows.run(self, inputs, first, count);
            let mut slots = &self.output_slots[..];
            for (&bits, output) in self.outputs.iter().zip(&mut outputs) {
                let (own, rest) = slots.split_at(bits as usize);
                rows.store(own, output, first, count);
                slots = rest;
            }
        }
        Ok(outputs)
    }
}

fn check(
    bits: &[u32],
    found: impl ExactSizeIterator<Item = usize>,
    unit: &'static str,
    length: impl Fn(usize) -> usize,
) -> Result<(), InputError> {
    if bits.len() != found.len() {
        return Err(InputError::Count { expected: bits.len(), found: found.len() });
    }
    for (input, (&bits, found)) in bits.iter().zip(found).enumerate() {
        let expected = length(bits as usize);
        if found != expected {
            return Err(InputError::Length { input, unit, expected, found });
        }
    }
    Ok(())
}

/// Words of a row, at most: 4096 instances.
const MAX_ROW: usize = 64;

/// Words of a row at least, if there are instances for them: a cache line.
const MIN_ROW: usize = 8;

/// Words of all rows together that stay in a core's cache.
const CACHED: usize = 1 << 15;

/// A row for every slot, for a tile of instances.
struct Rows {
    memory: Vec<u64>,
    /// Words of a row.
    width: usize,
    /// An input's or output's bits of up to 64 positions: a word for each instance, and a row for each position.
    elements: Vec<u64>,
    planes: Vec<u64>,
}

impl Rows {
    fn new(slots: usize, instances: usize) -> Self {
        let width = (CACHED / slots).clamp(MIN_ROW, MAX_ROW).min(words(instances)).max(1);
        let mut memory = vec![0; slots * width];
        memory[ONE as usize * width..][..width].fill(u64::MAX);
        Self { memory, width, elements: Vec::new(), planes: vec![0; 64 * width] }
    }

    /// Instances of a tile.
    fn instances(&self) -> usize {
        64 * self.width
    }

    fn row(&self, slot: u32) -> &[u64] {
        &self.memory[slot as usize * self.width..][..self.width]
    }

    fn row_mut(&mut self, slot: u32) -> &mut [u64] {
        &mut self.memory[slot as usize * self.width..][..self.width]
    }

    /// Puts `count` instances' bits of an input into their slots.
    fn load(&mut self, slots: &[u32], input: &[u64], first: usize, count: usize) {
        let bits = slots.len();
        for (block, slots) in slots.chunks(64).enumerate() {
            let at = |instance: usize| (first + instance) * bits + 64 * block;
            self.elements.clear();
            self.elements.extend((0..count).map(|instance| window(input, at(instance))));
            to_planes(&self.elements, slots.len(), &mut self.planes, self.width);
            for (plane, &slot) in self.planes.chunks(self.width).zip(slots) {
                if slot != UNUSED {
                    self.memory[slot as usize * self.width..][..self.width].copy_from_slice(plane);
                }
            }
        }
    }

    /// Runs all layers; late inputs' bits come from `count` instances of `inputs`.
    fn run(&mut self, layered: &Layered, inputs: &[&[u64]], first: usize, count: usize) {
        let mut row = [0; MAX_ROW];
        for layer in &layered.layers {
            for &[bit, slot] in &layer.loads {
                let (input, position) = layered.input_of(bit);
                let bits = layered.inputs[input] as usize;
                let row = self.row_mut(slot);
                row.fill(0);
                for instance in 0..count {
                    let at = (first + instance) * bits + position as usize;
                    row[instance / 64] |= (window(inputs[input], at) & 1) << (instance % 64);
                }
            }
            for (destination, terms) in layer.each_sum() {
                let row = &mut row[..self.width];
                row.fill(0);
                for &term in terms {
                    row.iter_mut().zip(self.row(term)).for_each(|(sum, term)| *sum ^= term);
                }
                self.row_mut(destination).copy_from_slice(row);
            }
            for &[a, b, destination] in &layer.ands {
                let row = &mut row[..self.width];
                let operands = self.row(a).iter().zip(self.row(b));
                row.iter_mut().zip(operands).for_each(|(product, (a, b))| *product = a & b);
                self.row_mut(destination).copy_from_slice(row);
            }
        }
    }

    /// Adds `count` instances' bits from their slots to an output that has zeros there.
    fn store(&mut self, slots: &[u32], output: &mut [u64], first: usize, count: usize) {
        let bits = slots.len();
        for (block, slots) in slots.chunks(64).enumerate() {
            for (plane, &slot) in self.planes.chunks_mut(self.width).zip(slots) {
                plane.copy_from_slice(&self.memory[slot as usize * self.width..][..self.width]);
            }
            self.elements.resize(count, 0);
            from_planes(&self.planes, slots.len(), self.width, &mut self.elements[..count]);
            for (instance, &element) in self.elements[..count].iter().enumerate() {
                put(output, (first + instance) * bits + 64 * block, element);
            }
        }
    }
}

/// The 64 bits from `at` on; 0 behind the end.
fn window(bits: &[u64], at: usize) -> u64 {
    let word = |index: usize| bits.get(index).copied().unwrap_or(0);
    let (index, shift) = (at / 64, at % 64);
    // Shifted in two steps, for the second word isn't there at all if the first is whole.
    word(index) >> shift | word(index + 1) << 1 << (63 - shift)
}

/// Adds the bits of a word from `at` on; those behind the end are 0.
fn put(bits: &mut [u64], at: usize, value: u64) {
    let (index, shift) = (at / 64, at % 64);
    bits[index] |= value << shift;
    if let Some(next) = bits.get_mut(index + 1) {
        *next |= value >> 1 >> (63 - shift);
    }
}
