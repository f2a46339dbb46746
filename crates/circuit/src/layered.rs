//! A circuit arranged for evaluation on rows: layers of ANDs with the sums between them, and slots.
//!
//! A slot is a row of memory with a bit for every instance. Layer `l` first runs its sums, then its ANDs, all of
//! which are independent of one another and so share a round. The last layer has sums only.

/// A slot that stands for no row: an input bit that nothing depends on.
pub const UNUSED: u32 = u32::MAX;

/// The slot of the constant 1.
pub const ONE: u32 = 0;

/// What runs between one round and the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Exclusive ors, one after another: for each its destination, the number of its terms, and the terms. None
    /// at all make 0; a complement has [`ONE`] among them. A destination may be one of its own terms.
    pub sums: Vec<u32>,
    /// ANDs: left operand, right operand, destination. No destination is an operand of the same layer's ANDs.
    pub ands: Vec<[u32; 3]>,
    /// ANDs of all layers before.
    pub first_and: u64,
}

/// A circuit's layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layered {
    /// Bits of each input.
    pub inputs: Vec<u32>,
    /// Bits of each output.
    pub outputs: Vec<u32>,
    /// How many slots an evaluation needs, slot [`ONE`] included.
    pub slots: u32,
    /// The slot that each bit of the inputs is put into before the first layer; [`UNUSED`] if none.
    pub input_slots: Vec<u32>,
    /// The layers: one more than the circuit's depth.
    pub layers: Vec<Layer>,
    /// The slot that each bit of the outputs is in after the last layer.
    pub output_slots: Vec<u32>,
}
