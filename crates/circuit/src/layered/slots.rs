//! Values to slots, by liveness.

use super::sums::{TRUE, Values};
use super::{Layer, Layered, ONE, UNUSED, each_sum};
use crate::circuit::Circuit;

/// The time of the last reader of what nothing reads.
const NEVER: u32 = 0;

/// The time of an output's last reader.
const FOREVER: u32 = u32::MAX;

/// Gives every value that is read a slot, from its making to its last reader. `late` names the bits of the inputs
/// that are made in the layer that reads them first.
pub(super) fn assign(circuit: &Circuit, mut values: Values, late: &[bool]) -> Layered {
    let (mut time, last_reads) = last_reads(circuit, &values);
    let mut slots = Slots { of: vec![UNUSED; circuit.wires()], free: Vec::new(), count: ONE + 1, last_reads };
    for (input, &late) in late.iter().enumerate() {
        if slots.last_reads[input] != NEVER && !late {
            slots.take(input as u32);
        }
    }
    let input_slots = slots.of[..circuit.input_bits()].to_vec();
    let count = values.layers.len();
    let mut layers: Vec<Layer> = Vec::with_capacity(count);
    let mut first_and = 0;
    let (mut loads, mut sums) = (Vec::new(), Vec::new());
    let mut loaded = 0;
    for index in 0..count {
        if index == loaded {
            loaded = slots.load(late, &values, index, &mut loads);
        }
        let layer = std::mem::take(&mut values.layers[index]);
        sums.reserve_exact(layer.sums.len());
        for (sum, terms) in each_sum(&layer.sums) {
            time += 1;
            if slots.last_reads[sum as usize] != NEVER {
                slots.sum(sum, terms, time, &mut sums);
            }
        }
        time += 1;
        let mut ands = layer.ands;
        ands.retain(|and| slots.last_reads[and[2] as usize] != NEVER);
        slots.ands(&mut ands, time);
        // A layer can be empty, if what it was to make cancelled: then the next one's sums join its own.
        if !ands.is_empty() || index + 1 == count {
            let ahead = first_and;
            first_and += ands.len() as u64;
            let (loads, sums) = (std::mem::take(&mut loads), std::mem::take(&mut sums));
            layers.push(Layer { loads, sums, ands, first_and: ahead });
        }
    }
    let output_slots = values.outputs.iter().map(|&value| slots.of(value)).collect();
    Layered {
        inputs: circuit.inputs().to_vec(),
        outputs: circuit.outputs().iter().map(|wires| wires.len() as u32).collect(),
        slots: slots.count,
        input_slots,
        layers,
        output_slots,
    }
}

/// Walks back from the outputs, and returns the time before the first sum and, for each value, that of its last
/// reader. A sum takes a unit of time; so do a layer's ANDs together. What is read only by what nothing reads,
/// is read [`NEVER`].
fn last_reads(circuit: &Circuit, values: &Values) -> (u32, Vec<u32>) {
    let mut last_reads = vec![NEVER; circuit.wires()];
    let read = |value: u32, time: u32, last_reads: &mut [u32]| {
        if value != TRUE {
            let last = &mut last_reads[value as usize];
            *last = time.max(*last);
        }
    };
    for &value in &values.outputs {
        read(value, FOREVER, &mut last_reads);
    }
    let mut time = FOREVER;
    let mut sums = Vec::new();
    for layer in values.layers.iter().rev() {
        time -= 1;
        for &[a, b, and] in &layer.ands {
            if last_reads[and as usize] != NEVER {
                read(a, time, &mut last_reads);
                read(b, time, &mut last_reads);
            }
        }
        sums.clear();
        sums.extend(layer.each_sum());
        for &(sum, terms) in sums.iter().rev() {
            time -= 1;
            if last_reads[sum as usize] != NEVER {
                for &term in terms {
                    read(term, time, &mut last_reads);
                }
            }
        }
    }
    (time - 1, last_reads)
}

struct Slots {
    /// The slot of each value that has or had one.
    of: Vec<u32>,
    /// Slots that are free, the one freed last at the end.
    free: Vec<u32>,
    count: u32,
    last_reads: Vec<u32>,
}

impl Slots {
    fn of(&self, value: u32) -> u32 {
        if value == TRUE { ONE } else { self.of[value as usize] }
    }

    /// Gives slots to the late inputs that are first read in layer `from`, or in those that join it because it has
    /// no ANDs: none of their slots may be one that a sum of these layers frees. Returns the number of the layer after.
    fn load(&mut self, late: &[bool], values: &Values, from: usize, loads: &mut Vec<[u32; 2]>) -> usize {
        let count = values.layers.len();
        for (index, layer) in values.layers.iter().enumerate().skip(from) {
            let made = |value: u32| self.last_reads[value as usize] != NEVER;
            let ands = || layer.ands.iter().filter(|and| made(and[2]));
            let mut read: Vec<u32> = ands().flat_map(|&[a, b, _]| [a, b]).collect();
            let sums = layer.each_sum().filter(|&(sum, _)| made(sum));
            read.extend(sums.flat_map(|(_, terms)| terms));
            let ends = index + 1 == count || ands().next().is_some();
            if index + 1 == count {
                read.extend(&values.outputs);
            }
            for value in read {
                if late.get(value as usize) == Some(&true) && self.of(value) == UNUSED {
                    loads.push([value, self.take(value)]);
                }
            }
            if ends {
                return index + 1;
            }
        }
        count
    }

    /// Appends a sum to `out`. A term whose last reader it is lends it its slot.
    fn sum(&mut self, sum: u32, terms: &[u32], time: u32, out: &mut Vec<u32>) {
        let start = out.len();
        out.extend([UNUSED, terms.len() as u32]);
        out.extend(terms.iter().map(|&term| self.of(term)));
        for &term in terms {
            self.release(term, time);
        }
        out[start] = self.take(sum);
    }

    /// Turns a layer's ANDs to slots. Operands are released when all destinations are taken.
    fn ands(&mut self, ands: &mut [[u32; 3]], time: u32) {
        for and in &*ands {
            self.take(and[2]);
        }
        for and in ands {
            self.release(and[0], time);
            self.release(and[1], time);
            *and = and.map(|value| self.of(value));
        }
    }

    fn take(&mut self, value: u32) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.of[value as usize] = slot;
        slot
    }

    /// Frees the slot of a value that has been read for the last time.
    fn release(&mut self, value: u32, time: u32) {
        if value != TRUE && self.last_reads[value as usize] == time {
            self.last_reads[value as usize] = NEVER;
            self.free.push(self.of[value as usize]);
        }
    }
}
