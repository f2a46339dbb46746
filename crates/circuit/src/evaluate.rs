//! Evaluation in the clear: gate by gate for one instance, and layer by layer for many.
//!
//! The first is the reference that everything else is held against; the second is what runs.

#[cfg(test)]
mod tests;

use crate::{Circuit, Gate, Layered, ONE, UNUSED};
use std::ops::Range;
use tacit_kernel::bits::words;
use tacit_kernel::gates;
use tacit_kernel::transpose::{slice, unslice};
use thiserror::Error;

/// Inputs that aren't the circuit's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
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
        if self.whole != UNUSED {
            rows.row(self.whole).fill(u64::MAX);
        }
        for first in (0..instances).step_by(rows.instances()) {
            let tile = first..instances.min(first + rows.instances());
            let mut slots = &self.input_slots[..];
            for (&bits, input) in self.inputs.iter().zip(inputs) {
                let (own, rest) = slots.split_at(bits as usize);
                rows.load(own, input, tile.clone());
                slots = rest;
            }
            rows.run(self, inputs, &tile);
            let mut slots = &self.output_slots[..];
            for (&bits, output) in self.outputs.iter().zip(&mut outputs) {
                let (own, rest) = slots.split_at(bits as usize);
                rows.store(own, output, tile.clone());
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
    /// Rows of up to 64 positions of an input or output.
    planes: Vec<u64>,
}

impl Rows {
    fn new(slots: usize, instances: usize) -> Self {
        let width = (CACHED / slots).clamp(MIN_ROW, MAX_ROW).min(words(instances)).max(1);
        let mut rows = Self { memory: vec![0; slots * width], width, planes: vec![0; 64 * width] };
        rows.row(ONE).fill(u64::MAX);
        rows
    }

    /// Instances of a tile.
    fn instances(&self) -> usize {
        64 * self.width
    }

    fn row(&mut self, slot: u32) -> &mut [u64] {
        &mut self.memory[slot as usize * self.width..][..self.width]
    }

    /// Puts some instances' bits of an input into their slots.
    fn load(&mut self, slots: &[u32], input: &[u64], instances: Range<usize>) {
        for (block, group) in slots.chunks(64).enumerate() {
            let bits = 64 * block..64 * block + group.len();
            slice(input, slots.len(), instances.clone(), bits, &mut self.planes, self.width);
            for (plane, &slot) in self.planes.chunks(self.width).zip(group) {
                if slot != UNUSED {
                    self.memory[slot as usize * self.width..][..self.width].copy_from_slice(plane);
                }
            }
        }
    }

    /// Runs all layers; late inputs' bits come from some instances of `inputs`.
    fn run(&mut self, layered: &Layered, inputs: &[&[u64]], instances: &Range<usize>) {
        for layer in &layered.layers {
            for &[bit, slot] in &layer.loads {
                let (input, position) = layered.input_of(bit);
                let (bits, position) = (layered.inputs[input] as usize, position as usize);
                let start = slot as usize * self.width;
                let row = &mut self.memory[start..start + self.width];
                slice(inputs[input], bits, instances.clone(), position..position + 1, row, self.width);
            }
            gates::sums(&mut self.memory, self.width, &layer.sums);
            gates::ands(&mut self.memory, self.width, &layer.ands);
        }
    }

    /// Puts some instances' bits from their slots into an output.
    fn store(&mut self, slots: &[u32], output: &mut [u64], instances: Range<usize>) {
        for (block, group) in slots.chunks(64).enumerate() {
            for (plane, &slot) in self.planes.chunks_mut(self.width).zip(group) {
                plane.copy_from_slice(&self.memory[slot as usize * self.width..][..self.width]);
            }
            let bits = 64 * block..64 * block + group.len();
            unslice(&self.planes, self.width, output, slots.len(), instances.clone(), bits);
        }
    }
}
