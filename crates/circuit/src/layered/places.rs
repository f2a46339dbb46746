//! Which layer each gate runs in, and which sums become part of others.

use crate::circuit::{Circuit, Gate, Wire};

/// The most terms of a sum that was put together: enough for the long sums of ciphers, and few enough rows to
/// stay in the first cache.
pub(super) const MAX_TERMS: u8 = 16;

/// So many readers, or more; an output counts as many.
const MANY: u8 = 2;

/// Where gates run.
pub(super) struct Places {
    /// The ANDs on the longest way to an output: the number of the last layer.
    pub(super) depth: u32,
    /// For each wire that is needed the layer that its gate runs in.
    pub(super) layers: Vec<u32>,
    /// Whether the wire's gate is needed.
    readers: Vec<u8>,
    /// Sums that are written out where they are read.
    absorbed: Vec<bool>,
    /// Wires whose bits all parties know; none where no input is public.
    public: Vec<bool>,
}

impl Places {
    /// Of a circuit and its inputs' bits that are public; with all ANDs as early as they can be, or where there is room.
    pub(super) fn new(circuit: &Circuit, mut public: Vec<bool>, early: bool) -> Self {
        let any = public.contains(&true);
        for gate in circuit.gates() {
            public.push(any && gate.operands().all(|wire| public[wire as usize]));
        }
        let readers = readers(circuit);
        let depths = circuit.depths_in(|gate| is_paid(gate, &public));
        let depth = circuit.outputs().iter().flatten().map(|&wire| depths[wire as usize]).max().unwrap_or(0);
        let layers = layers(circuit, &readers, &depths, depth, &public, early);
        let absorbed = absorbed(circuit, &readers, &layers, &public);
        Self { depth, layers, readers, absorbed, public }
    }

    /// Whether all parties know the wire.
    pub(super) fn public(&self, wire: Wire) -> bool {
        self.public[wire as usize]
    }

    /// Whether a gate is an AND of two secrets, which takes a message.
    pub(super) fn is_paid(&self, gate: Gate) -> bool {
        is_paid(gate, &self.public)
    }

    /// Whether an output depends on the wire.
    pub(super) fn needed(&self, wire: Wire) -> bool {
        self.readers[wire as usize] > 0
    }

    /// Whether the wire's sum is written out where it is read.
    pub(super) fn absorbed(&self, wire: Wire) -> bool {
        self.absorbed[wire as usize]
    }
}

fn is_paid(gate: Gate, public: &[bool]) -> bool {
    matches!(gate, Gate::And(a, b) if !public[a as usize] && !public[b as usize])
}

/// How many needed gates read each wire, up to [`MANY`]; no output depends on those that none reads.
fn readers(circuit: &Circuit) -> Vec<u8> {
    let first = circuit.input_bits();
    let mut readers = vec![0; circuit.wires()];
    for &wire in circuit.outputs().iter().flatten() {
        readers[wire as usize] = MANY;
    }
    for (index, gate) in circuit.gates().iter().enumerate().rev() {
        if readers[first + index] > 0 {
            for operand in gate.operands() {
                let readers = &mut readers[operand as usize];
                *readers = MANY.min(*readers + 1);
            }
        }
    }
    readers
}

/// The layer of each needed gate: as late as its readers let it, for what it reads is mostly read by others too,
/// and what it makes takes a slot of its own. But an AND that can also run earlier does, if the layer is as wide
/// already as the widest would be if all ran as early as can be. And an output's sum runs as early as can be: it
/// takes one slot, and may free those of many terms.
fn layers(
    circuit: &Circuit,
    readers: &[u8],
    depths: &[u32],
    depth: u32,
    public: &[bool],
    early: bool,
) -> Vec<u32> {
    let first = circuit.input_bits();
    let mut room = Room::new(circuit, readers, depths, depth, public);
    let mut layers = vec![u32::MAX; circuit.wires()];
    for &wire in circuit.outputs().iter().flatten() {
        let is_sum = circuit.driver(wire).is_some_and(|gate| !is_paid(gate, public));
        layers[wire as usize] = if is_sum { depths[wire as usize] } else { depth };
    }
    for (index, gate) in circuit.gates().iter().enumerate().rev() {
        let own = first + index;
        if readers[own] > 0 {
            // So far it is the first layer that reads the wire.
            if is_paid(*gate, public) {
                let earliest = depths[own] - 1;
                layers[own] = if early { earliest } else { room.take(earliest, layers[own] - 1) };
            }
            for operand in gate.operands() {
                layers[operand as usize] = layers[operand as usize].min(layers[own]);
            }
        }
    }
    layers
}

/// How many ANDs there is room for in each layer.
struct Room {
    left: Vec<u32>,
    /// For each layer, counted from 1, itself if there is room, or one below that is nearer to room; 0 at the end.
    nearer: Vec<u32>,
}

impl Room {
    /// So much in each layer as the widest needs if all ANDs run as early as can be.
    fn new(circuit: &Circuit, readers: &[u8], depths: &[u32], depth: u32, public: &[bool]) -> Self {
        let mut widths = vec![0; depth as usize];
        for (wire, gate) in (circuit.input_bits()..).zip(circuit.gates()) {
            if is_paid(*gate, public) && readers[wire] > 0 {
                widths[depths[wire] as usize - 1] += 1;
            }
        }
        let widest = widths.iter().copied().max().unwrap_or(0);
        Self { left: vec![widest; depth as usize], nearer: (0..=depth).collect() }
    }

    /// Takes room in the last layer that has some, from `earliest` to `latest`; in `latest` if none has.
    fn take(&mut self, earliest: u32, latest: u32) -> u32 {
        let mut at = latest as usize + 1;
        while self.nearer[at] as usize != at {
            self.nearer[at] = self.nearer[self.nearer[at] as usize];
            at = self.nearer[at] as usize;
        }
        if at <= earliest as usize {
            return latest;
        }
        self.left[at - 1] -= 1;
        if self.left[at - 1] == 0 {
            self.nearer[at] = at as u32 - 1;
        }
        at as u32 - 1
    }
}

/// Sums that have one reader only, a sum of the same layer with room for their terms; both are public, or neither is.
fn absorbed(circuit: &Circuit, readers: &[u8], layers: &[u32], public: &[bool]) -> Vec<bool> {
    let first = circuit.input_bits();
    // Terms of each wire's sum, once it is written out; a wire that isn't a sum is a term itself.
    let mut terms = vec![1_u8; circuit.wires()];
    let mut absorbed = vec![false; circuit.wires()];
    for (index, gate) in circuit.gates().iter().enumerate() {
        let own = first + index;
        if readers[own] == 0 {
            continue;
        }
        let (mut total, mut alone) = match gate {
            Gate::And(..) => continue,
            Gate::Constant(bit) => (u8::from(*bit), 0),
            Gate::Not(_) => (1, 1),
            Gate::Xor(..) => (0, 2),
        };
        for operand in gate.operands().map(|wire| wire as usize) {
            alone -= 1;
            let is_sum = !matches!(circuit.driver(operand as Wire), None | Some(Gate::And(..)));
            let fits = total + terms[operand] + alone <= MAX_TERMS;
            let alike = layers[operand] == layers[own] && public[operand] == public[own];
            absorbed[operand] = is_sum && readers[operand] == 1 && alike && fits;
            total += if absorbed[operand] { terms[operand] } else { 1 };
        }
        terms[own] = total;
    }
    absorbed
}
