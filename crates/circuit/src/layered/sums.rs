//! Layers of values: sums written out with their terms, in the order in which they run.
//!
//! A value is named by its wire; it has no slot yet.

use super::Layer;
use super::places::Places;
use crate::circuit::{Circuit, Gate, Wire};
use std::collections::HashMap;
use tacit_kernel::gates::PRODUCT;

/// The value of the constant 1, whichever wires it is on.
pub(super) const TRUE: u32 = u32::MAX;

/// The same as a public value.
pub(super) const WHOLE: u32 = u32::MAX - 2;

/// The value of a sum that isn't written yet.
const UNWRITTEN: u32 = u32::MAX - 1;

/// Layers and outputs that name values where [`super::Layered`] names slots.
pub(super) struct Values {
    pub(super) layers: Vec<Layer>,
    pub(super) outputs: Vec<u32>,
    /// How many names there are of values.
    pub(super) names: usize,
}

/// Writes what runs in each layer. A sum stands just before the first that reads it.
pub(super) fn write(circuit: &Circuit, places: &Places) -> Values {
    let first = circuit.input_bits();
    let is_sum = |wire: Wire| circuit.driver(wire).is_some_and(|gate| !places.is_paid(gate));
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
        shared: HashMap::new(),
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
            writer.shared_value(wire);
        }
        layer.sums = std::mem::take(&mut writer.sums);
        layers.push(layer);
    }
    let outputs = circuit.outputs().iter().flatten().map(|&wire| writer.shared_value(wire)).collect();
    layers.push(Layer { sums: writer.sums, ..Layer::default() });
    Values { layers, outputs, names: circuit.wires() + writer.shared.len() }
}

/// The needed ANDs of each layer but the last, which has none, in the circuit's order.
fn ands_by_layer(circuit: &Circuit, places: &Places) -> Vec<Vec<Wire>> {
    let mut ands = vec![Vec::new(); places.depth as usize];
    for (wire, gate) in (circuit.input_bits()..).zip(circuit.gates()) {
        if places.is_paid(*gate) && places.needed(wire as Wire) {
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
    /// Public values of which a sharing is written, and its name.
    shared: HashMap<u32, u32>,
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
                if self.values.get(term as usize) == Some(&UNWRITTEN) {
                    self.pending.push(term);
                }
            }
            if self.pending.len() == waiting {
                self.values[next as usize] = self.write(next);
            }
        }
        self.values[wire as usize]
    }

    /// The wire's value as a sharing.
    fn shared_value(&mut self, wire: Wire) -> u32 {
        let value = self.value(wire);
        self.share(value)
    }

    /// A sharing of a value, written if there is none yet: its AND with the shared 1.
    fn share(&mut self, value: u32) -> u32 {
        if value == WHOLE {
            return TRUE;
        }
        if value as usize >= self.circuit.wires() || !self.places.public(value) {
            return value;
        }
        let name = (self.circuit.wires() + self.shared.len()) as u32;
        *self.shared.entry(value).or_insert_with(|| {
            self.sums.extend([name, PRODUCT | 2, value, TRUE]);
            name
        })
    }

    /// Puts the terms of a sum into `terms`, each once, and none that cancels; of an AND with something public both operands.
    fn collect(&mut self, sum: Wire) {
        self.terms.clear();
        if let Some(Gate::And(a, b)) = self.circuit.driver(sum) {
            self.terms.extend([a, b].map(|wire| self.known(wire)));
            return;
        }
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
                _ => self.toggle(self.known(wire)),
            }
        }
    }

    /// A wire's value, or its own name while it isn't written.
    fn known(&self, wire: Wire) -> u32 {
        match self.values[wire as usize] {
            UNWRITTEN => wire,
            value => value,
        }
    }

    fn toggle(&mut self, term: u32) {
        // A public 1 is the same as a shared one until it is written.
        let term = if term == WHOLE { TRUE } else { term };
        match self.terms.iter().position(|&other| other == term) {
            Some(twice) => drop(self.terms.remove(twice)),
            None => self.terms.push(term),
        }
    }

    /// Writes the sum of `terms` or their AND, and returns its value.
    fn write(&mut self, sum: Wire) -> u32 {
        if let (Some(Gate::And(..)), &[a, b]) = (self.circuit.driver(sum), &self.terms[..]) {
            self.sums.extend([sum, PRODUCT | 2, a, b]);
            return sum;
        }
        if self.places.public(sum) {
            self.terms.iter_mut().filter(|term| **term == TRUE).for_each(|one| *one = WHOLE);
        } else {
            for term in std::mem::take(&mut self.terms) {
                let shared = self.share(term);
                self.toggle(shared);
            }
        }
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
