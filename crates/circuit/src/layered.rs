//! A circuit arranged for evaluation on rows: layers of ANDs with the sums between them, and slots.
//!
//! A slot is a row of memory with a bit for every instance. Layer `l` first runs its sums, then its ANDs, all of
//! which are independent of one another and so share a round. The last layer has sums only.
//!
//! Layering has three steps: which layer each gate runs in (`places`), sums written out with their terms (`sums`),
//! values to slots (`slots`).

mod places;
mod slots;
mod sums;
#[cfg(test)]
mod tests;

use crate::Circuit;

/// A slot that stands for no row: an input bit that nothing depends on.
pub const UNUSED: u32 = u32::MAX;

/// The slot of the constant 1.
pub const ONE: u32 = 0;

/// What runs between one round and the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layer {
    /// What is put into slots before anything else: a bit of the inputs, by its number among all of them, and its
    /// slot. Late inputs only ([`Layered::with_late`]).
    pub loads: Vec<[u32; 2]>,
    /// Exclusive ors, one after another: for each its destination, the number of its terms, and the terms. None
    /// at all make 0; a complement has [`ONE`] among them. A destination may be one of its own terms.
    pub sums: Vec<u32>,
    /// ANDs: left operand, right operand, destination. No destination is an operand of the same layer's ANDs.
    pub ands: Vec<[u32; 3]>,
    /// ANDs of all layers before.
    pub first_and: u64,
}

impl Layer {
    /// Its sums in order: the destination and the terms of each.
    pub fn each_sum(&self) -> impl Iterator<Item = (u32, &[u32])> {
        each_sum(&self.sums)
    }
}

/// A circuit's layers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layered {
    /// Bits of each input.
    pub inputs: Vec<u32>,
    /// Bits of each output.
    pub outputs: Vec<u32>,
    /// How many slots an evaluation needs, slot [`ONE`] included.
    pub slots: u32,
    /// The slot that each bit of the inputs is put into before the first layer; [`UNUSED`] if none, and for the
    /// bits of late inputs.
    pub input_slots: Vec<u32>,
    /// The layers: one more than there are rounds. None but the last is without ANDs.
    pub layers: Vec<Layer>,
    /// The slot that each bit of the outputs is in after the last layer.
    pub output_slots: Vec<u32>,
}

impl Layered {
    /// Lays a circuit out. The same circuit is always laid out alike, in time and memory linear in its gates.
    ///
    /// - **Layers.** Only what an output depends on is there, and there are as many rounds as the circuit is deep. (A
    ///   depth that exists on paper only, because terms cancel, takes no round.) An AND runs as late as that
    ///   allows, or earlier where the layer is as wide already as the widest would be if every AND ran as early as
    ///   it could. A sum runs in the first layer that needs it, an output's as soon as its terms are there.
    /// - **Sums.** An exclusive or that only another one of the same layer reads becomes part of it; what occurs
    ///   twice cancels.
    /// - **Slots.** Inputs have a slot each before the first layer. A slot is free again after its last reader, and
    ///   the one freed last is used first. Output bits may share a slot, and may be in an input's or in [`ONE`]; a
    ///   slot that an output or a later layer reads isn't overwritten.
    pub fn new(circuit: &Circuit) -> Self {
        Self::with_late(circuit, &vec![false; circuit.inputs().len()])
    }

    /// Lays a circuit out as [`new`](Self::new) does, but for the inputs that `late` names: a bit of theirs has a slot
    /// only from the first layer that reads it on ([`Layer::loads`]). For inputs that take little to be put into slots
    /// at any time, as those that are the same for all instances.
    ///
    /// # Panics
    /// If `late` doesn't say it of every input.
    pub fn with_late(circuit: &Circuit, late: &[bool]) -> Self {
        assert_eq!(late.len(), circuit.inputs().len(), "every input is late or not");
        let places = places::Places::new(circuit);
        let values = sums::write(circuit, &places);
        drop(places);
        let late = circuit.inputs().iter().zip(late);
        let late: Vec<bool> =
            late.flat_map(|(&bits, &late)| std::iter::repeat_n(late, bits as usize)).collect();
        slots::assign(circuit, values, &late)
    }

    /// Which input a bit of the inputs belongs to, and its position there.
    ///
    /// # Panics
    /// If the inputs haven't so many bits.
    pub fn input_of(&self, bit: u32) -> (usize, u32) {
        let mut position = bit;
        for (input, &bits) in self.inputs.iter().enumerate() {
            if position < bits {
                return (input, position);
            }
            position -= bits;
        }
        panic!("the inputs have no bit {bit}")
    }

    /// Rounds of ANDs.
    pub fn depth(&self) -> u32 {
        self.layers.len() as u32 - 1
    }

    /// ANDs in all.
    pub fn ands(&self) -> u64 {
        self.layers.last().map_or(0, |last| last.first_and + last.ands.len() as u64)
    }

    /// The most ANDs in a layer.
    pub fn widest_layer(&self) -> usize {
        self.layers.iter().map(|layer| layer.ands.len()).max().unwrap_or(0)
    }
}

/// Reads sums from [`Layer::sums`].
fn each_sum(mut sums: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    std::iter::from_fn(move || {
        let (&[destination, count], rest) = sums.split_first_chunk()?;
        let (terms, rest) = rest.split_at(count as usize);
        sums = rest;
        Some((destination, terms))
    })
}
