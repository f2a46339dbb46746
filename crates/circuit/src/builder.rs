//! Making circuits gate by gate.

use crate::{Circuit, Gate, MAX_INPUT_BITS, Wire};

/// Builds a [`Circuit`]. All inputs are declared before the first gate. Constants are folded, so that what is
/// known never costs an AND.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    inputs: Vec<u32>,
    input_bits: u32,
    gates: Vec<Gate>,
    /// For each gate the number of ANDs on the longest way to it.
    depths: Vec<u32>,
    /// For each gate whether it is an XOR of two bits of which at most one is set.
    exclusive: Vec<bool>,
    /// The wires of the constants, once they are used.
    constants: [Option<Wire>; 2],
}

impl Builder {
    /// An empty circuit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares the next input and returns its wires, in order.
    ///
    /// # Panics
    /// If there are gates already, or more than [`MAX_INPUT_BITS`] bits in all.
    pub fn input(&mut self, bits: u32) -> Vec<Wire> {
        assert!(self.gates.is_empty(), "inputs are declared before the first gate");
        let first = self.input_bits;
        self.input_bits = first.saturating_add(bits);
        assert!(
            u64::from(self.input_bits) <= MAX_INPUT_BITS,
            "a circuit has at most {MAX_INPUT_BITS} bits of inputs"
        );
        self.inputs.push(bits);
        (first..self.input_bits).collect()
    }

    /// A bit that everybody knows.
    pub fn constant(&mut self, bit: bool) -> Wire {
        if let Some(wire) = self.constants[usize::from(bit)] {
            return wire;
        }
        let wire = self.push(Gate::Constant(bit));
        self.constants[usize::from(bit)] = Some(wire);
        wire
    }

    /// The value of a wire that is a constant.
    pub fn known(&self, wire: Wire) -> Option<bool> {
        [false, true].into_iter().find(|&bit| self.constants[usize::from(bit)] == Some(wire))
    }

    /// The number of ANDs on the longest way to a wire: the round in which it is known.
    pub fn depth(&self, wire: Wire) -> u32 {
        (wire as usize).checked_sub(self.input_bits as usize).map_or(0, |gate| self.depths[gate])
    }

    /// `a ^ b`.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.known(a), self.known(b)) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) => self.not(b),
            (_, Some(true)) => self.not(a),
            _ if a == b => self.constant(false),
            _ => self.push(Gate::Xor(a, b)),
        }
    }

    /// `a ^ b` of bits of which at most one is set, whatever the inputs are: where bits are numbers, that is their sum.
    pub fn xor_exclusive(&mut self, a: Wire, b: Wire) -> Wire {
        let before = self.gates.len();
        let wire = self.xor(a, b);
        if let Some(last) = self.exclusive.last_mut().filter(|_| self.gates.len() > before) {
            *last = matches!(self.gates.last(), Some(Gate::Xor(..)));
        }
        wire
    }

    /// `a & b`.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.known(a), self.known(b)) {
            (Some(false), _) | (_, Some(false)) => self.constant(false),
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ if a == b => a,
            _ => self.push(Gate::And(a, b)),
        }
    }

    /// `!a`.
    pub fn not(&mut self, a: Wire) -> Wire {
        if let Some(bit) = self.known(a) {
            return self.constant(!bit);
        }
        match self.driver(a) {
            Some(Gate::Not(inner)) => inner,
            _ => self.push(Gate::Not(a)),
        }
    }

    /// The circuit with these outputs. Gates that no output depends on are left out.
    pub fn finish(self, outputs: Vec<Vec<Wire>>) -> Circuit {
        self.finish_marked(outputs).0
    }

    /// The same, and for each gate whether it is of [`Self::xor_exclusive`].
    pub fn finish_marked(self, outputs: Vec<Vec<Wire>>) -> (Circuit, Vec<bool>) {
        let inputs = self.input_bits as usize;
        let mut needed = vec![false; inputs + self.gates.len()];
        for &wire in outputs.iter().flatten() {
            needed[wire as usize] = true;
        }
        for (index, gate) in self.gates.iter().enumerate().rev() {
            if needed[inputs + index] {
                gate.operands().for_each(|wire| needed[wire as usize] = true);
            }
        }
        let mut place: Vec<Wire> = (0..self.input_bits).collect();
        let (mut gates, mut exclusive) = (Vec::new(), Vec::new());
        for (index, gate) in self.gates.iter().enumerate() {
            place.push((inputs + gates.len()) as Wire);
            if needed[inputs + index] {
                exclusive.push(self.exclusive[index]);
                let at = |wire: Wire| place[wire as usize];
                gates.push(match *gate {
                    Gate::Xor(a, b) => Gate::Xor(at(a), at(b)),
                    Gate::And(a, b) => Gate::And(at(a), at(b)),
                    Gate::Not(a) => Gate::Not(at(a)),
                    Gate::Constant(bit) => Gate::Constant(bit),
                });
            }
        }
        let outputs = outputs
            .into_iter()
            .map(|wires| wires.into_iter().map(|wire| place[wire as usize]).collect())
            .collect();
        let circuit = Circuit::new(self.inputs, gates, outputs);
        (circuit.expect("a builder gives out the wires that it has"), exclusive)
    }

    /// The gate that drives a wire; none drives an input.
    fn driver(&self, wire: Wire) -> Option<Gate> {
        self.gates.get((wire as usize).checked_sub(self.input_bits as usize)?).copied()
    }

    fn push(&mut self, gate: Gate) -> Wire {
        let wire = self.input_bits as usize + self.gates.len();
        let below = gate.operands().map(|operand| self.depth(operand)).max().unwrap_or(0);
        self.depths.push(below + u32::from(matches!(gate, Gate::And(..))));
        self.gates.push(gate);
        self.exclusive.push(false);
        Wire::try_from(wire).expect("a circuit has fewer than 2^32 wires")
    }
}
