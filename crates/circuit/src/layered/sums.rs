//! Layers of values: sums written out with their terms, in the order in which they run.
//!
//! A value is named by its wire; it has no slot yet.

use super::Layer;
use super::places::Places;
use crate::circuit::{Circuit, Gate, Wire};

/// The value of the constant 1, whichever wires it is on.
pub(super) const TRUE: u32 = u32::MAX;

/// The value of a sum that isn't written yet.
const UNWRITTEN: u32 = u32::MAX - 1;

/// Layers and outputs that name values where [`super::Layered`] names slots.
pub(super) struct Values {
    pub(super) layers: Vec<Layer>,
    pub(super) outputs: Vec<u32>,
}

/// Writes what runs in each layer. A sum stands just before the first that reads it.
pub(super) fn write(circuit: &Circuit, places: &Places) -> Values {
    let first = circuit.input_bits();
    let is_sum = |wire: Wire| !matches!(circuit.driver(wire), None | Some(Gate::And(..)));
    let unwritten = |wire: usize| if is_sum(wire as Wire) { UNWRITTEN } else { wire as u32 };
    let mut writer = Writer {
        circuit,
        places,
        values: (0..circuit.wires()).map(unwritten).collect(),
        pending: Vec::new(),
        branches: Vec::new(),
        terms: Vec::new(),
        sums: Vec::new(),
        zero: None,
    };
    let mut layers = Vec::with_capacity(places.depth as usize + 1);
    let ands = ands_by_layer(circuit, places);
    for (ands, outputs) in ands.into_iter().zip(outputs_by_layer(circuit, places)) {
        let mut layer = Layer::default();
        for wire in ands {
            if let Gate::And(a, b) = circuit.gates()[wire as usize - first] {
                let (a, b) = (writer.value(a), writer.value(b));
                layer.ands.push([a, b, wire]);
            }
        }
        for wire in outputs {
            writer.value(wire);
        }
        layer.sums = std::mem::take(&mut writer.sums);
        layers.push(layer);
    }
    let outputs = circuit.outputs().iter().flatten().map(|&wire| writer.value(wire)).collect();
    layers.push(Layer { sums: writer.sums, ..Layer::default() });
    Values { layers, outputs }
}

/// The needed ANDs of each layer but the last, which has none, in the circuit's order.
fn ands_by_layer(circuit: &Circuit, places: &Places) -> Vec<Vec<Wire>> {
    let mut ands = vec![Vec::new(); places.depth as usize];
    for (wire, gate) in (circuit.input_bits()..).zip(circuit.gates()) {
        if matches!(gate, Gate::And(..)) && places.needed(wire as Wire) {
            ands[places.layers[wire] as usize].push(wire as Wire);
        }
    }
    ands
}

/// The outputs that are there in each layer.
fn outputs_by_layer(circuit: &Circuit, places: &Places) -> Vec<Vec<Wire>> {
    let mut outputs = vec![Vec::new(); places.depth as usize + 1];
    for &wire in circuit.outputs().iter().flatten() {
        outputs[places.layers[wire as usize] as usize].push(wire);
    }
    outputs
}

struct Writer<'a> {
    circuit: &'a Circuit,
    places: &'a Places,
    /// For each wire its value, if it is an input, an AND, or a sum that is written. A sum of a single term has
    /// that term's, and those of none share one.
    values: Vec<u32>,
    /// Sums that wait for their terms.
    pending: Vec<Wire>,
    /// What is left of the sum that is being taken apart.
    branches: Vec<Wire>,
    terms: Vec<u32>,
    /// The layer's sums so far.
    sums: Vec<u32>,
    /// The value of the first sum without terms: it stands for all of them.
    zero: Option<u32>,
}

impl Writer<'_> {
    /// The wire's value; if it is a sum that isn't written, writes it after those that it needs. (With a stack of
    /// its own, for sums can be as deep as the circuit is long.)
    fn value(&mut self, wire: Wire) -> u32 {
        self.pending.push(wire);
        while let Some(&next) = self.pending.last() {
            if self.values[next as usize] != UNWRITTEN {
                self.pending.pop();
                continue;
            }
            self.collect(next);
            let waiting = self.pending.len();
            for &term in self.terms.iter().rev() {
                if term != TRUE && self.values[term as usize] == UNWRITTEN {
                    self.pending.push(term);
                }
            }
            if self.pending.len() == waiting {
                self.values[next as usize] = self.write(next);
            }
        }
        self.values[wire as usize]
    }

    /// Puts the terms of a sum into `terms`, each once, and none that cancels.
    fn collect(&mut self, sum: Wire) {
        self.terms.clear();
        self.branches.push(sum);
        while let Some(wire) = self.branches.pop() {
            match self.circuit.driver(wire) {
                Some(Gate::Constant(bit)) => {
                    if bit {
                        self.toggle(TRUE);
                    }
                }
                Some(gate) if wire == sum || self.places.absorbed(wire) => {
                    if let Gate::Not(_) = gate {
                        self.toggle(TRUE);
                    }
                    let branches = self.branches.len();
                    self.branches.extend(gate.operands());
                    self.branches[branches..].reverse();
                }
                _ => match self.values[wire as usize] {
                    UNWRITTEN => self.toggle(wire),
                    value => self.toggle(value),
                },
            }
        }
    }

    fn toggle(&mut self, term: u32) {
        match self.terms.iter().position(|&other| other == term) {
            Some(twice) => drop(self.terms.remove(twice)),
            None => self.terms.push(term),
        }
    }

    /// Writes the sum of `terms`, and returns its value.
    fn write(&mut self, sum: Wire) -> u32 {
        match self.terms[..] {
            [] => match self.zero {
                Some(zero) => return zero,
                None => self.zero = Some(sum),
            },
            [term] => return term,
            _ => {}
        }
        self.sums.extend([sum, self.terms.len() as u32]);
        self.sums.extend_from_slice(&self.terms);
        sum
    }
}
