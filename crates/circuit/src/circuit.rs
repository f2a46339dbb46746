//! A circuit as a list of gates.

use crate::layered::Layouts;

/// A wire's number: first the bits of the inputs, in order, then a wire for each gate.
pub type Wire = u32;

/// Bits that all inputs of a circuit may have together: a few bytes of a file can claim any number, and whoever lays
/// the circuit out has memory for each.
pub const MAX_INPUT_BITS: u64 = 1 << 24;

/// What drives a wire. Operands are wires with smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// The exclusive or.
    Xor(Wire, Wire),
    /// The conjunction: what a protocol pays for.
    And(Wire, Wire),
    /// The complement.
    Not(Wire),
    /// A bit that everybody knows.
    Constant(bool),
}

impl Gate {
    /// The wires that it reads.
    pub fn operands(self) -> impl Iterator<Item = Wire> {
        let (first, second) = match self {
            Self::Xor(a, b) | Self::And(a, b) => (Some(a), Some(b)),
            Self::Not(a) => (Some(a), None),
            Self::Constant(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// A circuit whose inputs and outputs are bit-vectors. Well formed: every gate reads wires that come before it,
/// and every output is a wire of the circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    inputs: Vec<u32>,
    input_bits: usize,
    gates: Vec<Gate>,
    outputs: Vec<Vec<Wire>>,
    /// What plans have of it: no part of what it is.
    pub(crate) layouts: Layouts,
}

impl Circuit {
    /// A circuit whose inputs have these many bits each, with gates in order and outputs as lists of wires.
    /// `None` if a gate or an output names a wire that isn't there, if there are more than 2^32 - 1 wires, or more
    /// than [`MAX_INPUT_BITS`] bits of inputs.
    pub fn new(inputs: Vec<u32>, gates: Vec<Gate>, outputs: Vec<Vec<Wire>>) -> Option<Self> {
        let bits: u64 = inputs.iter().map(|&bits| u64::from(bits)).sum();
        let wires = bits + gates.len() as u64;
        if wires >= u64::from(Wire::MAX) || bits > MAX_INPUT_BITS {
            return None;
        }
        let known = |wire: Wire, before: u64| u64::from(wire) < before;
        let gates_fit =
            (bits..).zip(&gates).all(|(own, gate)| gate.operands().all(|operand| known(operand, own)));
        let outputs_fit = outputs.iter().flatten().all(|&wire| known(wire, wires));
        let (input_bits, layouts) = (bits as usize, Layouts::default());
        (gates_fit && outputs_fit).then_some(Self { inputs, input_bits, gates, outputs, layouts })
    }

    /// Bits of each input.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// Bits of all inputs together: the number of the first gate's wire.
    pub fn input_bits(&self) -> usize {
        self.input_bits
    }

    /// The gates; gate `i` drives wire `input_bits + i`.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The gate that drives a wire; none drives an input.
    pub(crate) fn driver(&self, wire: Wire) -> Option<Gate> {
        self.gates.get((wire as usize).checked_sub(self.input_bits)?).copied()
    }

    /// The wires of each output.
    pub fn outputs(&self) -> &[Vec<Wire>] {
        &self.outputs
    }

    /// Bits of all outputs together.
    pub fn output_bits(&self) -> usize {
        self.outputs.iter().map(Vec::len).sum()
    }

    /// Wires in all.
    pub fn wires(&self) -> usize {
        self.input_bits() + self.gates.len()
    }

    /// How many ANDs there are.
    pub fn ands(&self) -> usize {
        self.gates.iter().filter(|gate| matches!(gate, Gate::And(..))).count()
    }

    /// For each wire the number of ANDs on the longest way to it.
    pub fn depths(&self) -> Vec<u32> {
        self.depths_in(|gate| matches!(gate, Gate::And(..)))
    }

    /// For each wire the number of gates that count on the longest way to it.
    pub(crate) fn depths_in(&self, counts: impl Fn(Gate) -> bool) -> Vec<u32> {
        let mut depths = vec![0_u32; self.input_bits()];
        depths.reserve(self.gates.len());
        for &gate in &self.gates {
            let below = gate.operands().map(|wire| depths[wire as usize]).max().unwrap_or(0);
            depths.push(below + u32::from(counts(gate)));
        }
        depths
    }

    /// The most ANDs on a way to an output: the rounds that an evaluation takes.
    pub fn depth(&self) -> u32 {
        let depths = self.depths();
        self.outputs.iter().flatten().map(|&wire| depths[wire as usize]).max().unwrap_or(0)
    }
}
