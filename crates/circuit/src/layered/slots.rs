//! Values to slots, by liveness.

use super::sums::{TRUE, Values, WHOLE};
use super::{Layer, Layered, ONE, Step, UNUSED, steps};
use crate::circuit::Circuit;
use tacit_kernel::gates::PRODUCT;

/// The time of the last reader of what nothing reads.
const NEVER: u32 = 0;

/// The time of an output's last reader.
const FOREVER: u32 = u32::MAX;

/// Gives every value that is read a slot, from its making to its last reader. `late` names the bits of the inputs
/// that are made in the layer that reads them first.
pub(super) fn assign(circuit: &Circuit, mut values: Values, late: &[bool]) -> Layered {
    let Reads { first: mut time, last: last_reads, whole } = Reads::of(&values);
    let of = vec![UNUSED; values.names];
    let whole = if whole { ONE + 1 } else { UNUSED };
    let count = if whole == UNUSED { ONE + 1 } else { whole + 1 };
    let mut slots = Slots { of, free: Vec::new(), count, whole, last_reads };
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
        for step in steps(&layer.sums) {
            time += 1;
            if slots.last_reads[step.destination as usize] != NEVER {
                slots.sum(step, time, &mut sums);
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
        public: Vec::new(),
        outputs: circuit.outputs().iter().map(|wires| wires.len() as u32).collect(),
        slots: slots.count,
        whole,
        input_slots,
        layers,
        output_slots,
    }
}

/// When values are read.
struct Reads {
    /// The time before the first sum.
    first: u32,
    /// For each value the time of its last reader.
    last: Vec<u32>,
    /// Whether the public 1 is read.
    whole: bool,
}

impl Reads {
    /// Walks back from the outputs. A sum takes a unit of time; so do a layer's ANDs together. What is read only by what
    /// nothing reads, is read [`NEVER`].
    fn of(values: &Values) -> Self {
        let mut reads = Self { first: FOREVER, last: vec![NEVER; values.names], whole: false };
        for &value in &values.outputs {
            reads.read(value, FOREVER);
        }
        let mut time = FOREVER;
        let mut sums = Vec::new();
        for layer in values.layers.iter().rev() {
            time -= 1;
            for &[a, b, and] in &layer.ands {
                if reads.last[and as usize] != NEVER {
                    reads.read(a, time);
                    reads.read(b, time);
                }
            }
            sums.clear();
            sums.extend(layer.steps());
            for step in sums.iter().rev() {
                time -= 1;
                if reads.last[step.destination as usize] != NEVER {
                    step.terms.iter().for_each(|&term| reads.read(term, time));
                }
            }
        }
        Self { first: time - 1, ..reads }
    }

    fn read(&mut self, value: u32, time: u32) {
        match value {
            TRUE => {}
            WHOLE => self.whole = true,
            _ => {
                let last = &mut self.last[value as usize];
                *last = time.max(*last);
            }
        }
    }
}

struct Slots {
    /// The slot of each value that has or had one.
    of: Vec<u32>,
    /// Slots that are free, the one freed last at the end.
    free: Vec<u32>,
    count: u32,
    /// That of the public 1.
    whole: u32,
    last_reads: Vec<u32>,
}

impl Slots {
    fn of(&self, value: u32) -> u32 {
        match value {
            TRUE => ONE,
            WHOLE => self.whole,
            _ => self.of[value as usize],
        }
    }

    /// Gives slots to the late inputs that are first read in layer `from`, or in those that join it because it has
    /// no ANDs: none of their slots may be one that a sum of these layers frees. Returns the number of the layer after.
    fn load(&mut self, late: &[bool], values: &Values, from: usize, loads: &mut Vec<[u32; 2]>) -> usize {
        let count = values.layers.len();
        for (index, layer) in values.layers.iter().enumerate().skip(from) {
            let made = |value: u32| self.last_reads[value as usize] != NEVER;
            let ands = || layer.ands.iter().filter(|and| made(and[2]));
            let mut read: Vec<u32> = ands().flat_map(|&[a, b, _]| [a, b]).collect();
            let sums = layer.steps().filter(|step| made(step.destination));
            read.extend(sums.flat_map(|step| step.terms));
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

    /// Appends a sum, or an AND, to `out`. A term whose last reader it is lends it its slot.
    fn sum(&mut self, Step { destination, product, terms }: Step<'_>, time: u32, out: &mut Vec<u32>) {
        let start = out.len();
        out.extend([UNUSED, terms.len() as u32 | if product { PRODUCT } else { 0 }]);
        out.extend(terms.iter().map(|&term| self.of(term)));
        for &term in terms {
            self.release(term, time);
        }
        out[start] = self.take(destination);
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
        if !matches!(value, TRUE | WHOLE) && self.last_reads[value as usize] == time {
            self.last_reads[value as usize] = NEVER;
            self.free.push(self.of[value as usize]);
        }
    }
}
