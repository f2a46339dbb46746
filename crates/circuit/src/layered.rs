//! A circuit arranged for evaluation on rows: layers of ANDs with the sums between them, and slots.
//!
//! A slot is a row of memory with a bit for every instance. Layer `l` first runs its sums, then its ANDs, all of
//! which are independent of one another and so share a round. The last layer has sums only.
//!
//! **Public bits.** Where all parties know an input ([`Given::public`]), its slot has the bits themselves in each component
//! of a sharing, and so has that of whatever follows from such inputs alone. An AND with one of these is an AND component by
//! component: it takes no message, stands among the sums, and doesn't count as an AND. The AND with [`ONE`] is a sharing of
//! it.
//!
//! Layering has three steps: which layer each gate runs in (`places`), sums written out with their terms (`sums`),
//! values to slots (`slots`).

mod places;
mod slots;
mod sums;
#[cfg(test)]
mod tests;

use crate::Circuit;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tacit_kernel::gates::PRODUCT;

/// A slot that stands for no row: an input bit that nothing depends on.
pub const UNUSED: u32 = u32::MAX;

/// The slot of the constant 1, as a sharing.
pub const ONE: u32 = 0;

/// What is said of an input of a circuit that is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// A bit of it has a slot only from the first layer that reads it on ([`Layer::loads`]): for inputs that take little to
    /// be put into slots at any time, as those that are the same for all instances.
    pub late: bool,
    /// All parties know it.
    pub public: bool,
}

/// A circuit's layers as plans have them, by what was said of its inputs. They go with the last plan, and make no difference
/// between circuits.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Mutex<Vec<Layout>>);

type Layout = (Vec<Given>, Weak<Layered>);

impl Clone for Layouts {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Layouts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Layouts {}

/// What runs between one round and the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layer {
    /// What is put into slots before anything else: a bit of the inputs, by its number among all of them, and its
    /// slot. Late inputs only ([`Given::late`]).
    pub loads: Vec<[u32; 2]>,
    /// Exclusive ors, one after another: for each its destination, the number of its terms, and the terms. None
    /// at all make 0; a complement has [`ONE`] among them, that of a public bit [`Layered::whole`]. A destination may be one
    /// of its own terms. Between them stand ANDs with public bits, whose number of terms has [`PRODUCT`] added.
    pub sums: Vec<u32>,
    /// ANDs: left operand, right operand, destination. No destination is an operand of the same layer's ANDs.
    pub ands: Vec<[u32; 3]>,
    /// ANDs of all layers before.
    pub first_and: u64,
}

/// The most ANDs of a product of a bit with a vector ([`Layer::scalings`]): bits of a string that an oblivious transfer gives.
pub const MAX_SCALING: usize = 128;

impl Layer {
    /// ANDs that follow one another with the same left operand, up to [`MAX_SCALING`]: each run is a product of that bit with a
    /// vector.
    pub fn scalings(&self) -> impl Iterator<Item = &[[u32; 3]]> {
        self.ands.chunk_by(|one, next| one[0] == next[0]).flat_map(|run| run.chunks(MAX_SCALING))
    }

    /// Its sums in order, and the ANDs between them.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        steps(&self.sums)
    }
}

/// One of [`Layer::sums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// The slot written.
    pub destination: u32,
    /// Whether it is an AND; else it is an exclusive or.
    pub product: bool,
    /// The slots read.
    pub terms: &'a [u32],
}

/// A circuit's layers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layered {
    /// Bits of each input.
    pub inputs: Vec<u32>,
    /// Of each input whether it is public.
    pub public: Vec<bool>,
    /// Bits of each output.
    pub outputs: Vec<u32>,
    /// How many slots an evaluation needs, slot [`ONE`] included.
    pub slots: u32,
    /// The slot of the constant 1 in all components of a sharing; [`UNUSED`] if nothing reads it.
    pub whole: u32,
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
        Self::with_inputs(circuit, &vec![Given::default(); circuit.inputs().len()])
    }

    /// Lays a circuit out as [`new`](Self::new) does, but for inputs that are late or public.
    ///
    /// # Panics
    /// If it isn't said of every input.
    pub fn with_inputs(circuit: &Circuit, given: &[Given]) -> Self {
        Self::laid_out(circuit, given, false)
    }

    /// The same, once for all plans that have it at a time: plans of one circuit for one instance or many share its layers.
    ///
    /// # Panics
    /// As [`with_inputs`](Self::with_inputs).
    pub fn shared(circuit: &Circuit, given: &[Given]) -> Arc<Self> {
        let mut known = circuit.layouts.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, layered)| layered.strong_count() > 0);
        let same = known.iter().find(|(other, _)| other == given);
        if let Some(layered) = same.and_then(|(_, layered)| layered.upgrade()) {
            return layered;
        }
        let layered = Arc::new(Self::with_inputs(circuit, given));
        known.push((given.to_vec(), Arc::downgrade(&layered)));
        layered
    }

    /// Lays a circuit out as [`new`](Self::new) does, but every AND runs as early as it can. So ANDs of one bit with others stay
    /// together, whose operands are there at the same time ([`Layer::scalings`]).
    pub fn early(circuit: &Circuit) -> Self {
        Self::laid_out(circuit, &vec![Given::default(); circuit.inputs().len()], true)
    }

    fn laid_out(circuit: &Circuit, given: &[Given], early: bool) -> Self {
        assert_eq!(given.len(), circuit.inputs().len(), "something is said of every input");
        let of_bits = |what: fn(&Given) -> bool| -> Vec<bool> {
            let inputs = circuit.inputs().iter().zip(given);
            inputs.flat_map(|(&bits, given)| std::iter::repeat_n(what(given), bits as usize)).collect()
        };
        let places = places::Places::new(circuit, of_bits(|given| given.public), early);
        let values = sums::write(circuit, &places);
        drop(places);
        let layered = slots::assign(circuit, values, &of_bits(|given| given.late));
        Self { public: given.iter().map(|given| given.public).collect(), ..layered }
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

/// Reads [`Layer::sums`].
fn steps(mut sums: &[u32]) -> impl Iterator<Item = Step<'_>> {
    std::iter::from_fn(move || {
        let (&[destination, count], rest) = sums.split_first_chunk()?;
        let (terms, rest) = rest.split_at((count & !PRODUCT) as usize);
        sums = rest;
        Some(Step { destination, product: count & PRODUCT != 0, terms })
    })
}
