mod commitments;
mod given;
mod malformed;
mod results;
mod secrecy;

use proptest::collection::vec;
use proptest::prelude::*;
use tacit_circuit::{Circuit, Gate};
use tacit_kernel::bits::{get, set, words};
use tacit_kernel::garble::LABEL;

use crate::{Active, Batch, Evaluator, Garbler, Outputs, Plan};

const SEED: [u8; 16] = *b"tests use no see";
const BATCH: Batch = Batch { session: *b"nor any session!", number: 7 };

/// Bits without structure, the same in every run: SplitMix64 (Steele, Lea, Flood, 2014).
struct Noise(u64);

impl Noise {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn seed(&mut self) -> [u8; 16] {
        bytemuck::cast([self.word(), self.word()])
    }
}

/// Packed rows without structure for each input, with unused bits set too.
fn inputs(circuit: &Circuit, instances: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut noise = Noise(seed);
    let mut rows = |bits: u32| (0..bits as usize * words(instances)).map(|_| noise.word()).collect();
    circuit.inputs().iter().map(|&bits| rows(bits)).collect()
}

/// Instances `first..first + count` of packed rows of `instances` instances each.
fn part(rows: &[u64], instances: usize, first: usize, count: usize) -> Vec<u64> {
    let mut part = Vec::new();
    if instances > 0 {
        for row in rows.chunks_exact(words(instances)) {
            let mut own = vec![0; words(count)];
            for c in 0..count {
                set(&mut own, c, get(row, first + c));
            }
            part.extend(own);
        }
    }
    part
}

/// The outputs in the clear, as packed rows.
fn clear(circuit: &Circuit, inputs: &[Vec<u64>], instances: usize) -> Vec<u64> {
    let row = words(instances);
    let mut outputs = vec![0; circuit.output_bits() * row];
    for c in 0..instances {
        let one = inputs.iter().map(|input| input.chunks(row).map(|bits| get(bits, c)).collect());
        let found = circuit.evaluate(&one.collect::<Vec<_>>()).unwrap().concat();
        for (bit, value) in found.into_iter().enumerate() {
            set(&mut outputs[bit * row..][..row], c, value);
        }
    }
    outputs
}

/// A piece as garblers make it for given inputs.
struct Piece {
    first: u64,
    instances: usize,
    tables: Vec<u8>,
    /// Active labels of the inputs that garblers don't know.
    labels: Vec<Vec<u8>>,
    outputs: Outputs,
}

impl Piece {
    fn new(plan: &Plan, garbler: &mut Garbler, first: u64, inputs: &[Vec<u64>], instances: usize) -> Self {
        let piece = first..first + instances as u64;
        let known = inputs.iter().zip(plan.known()).filter(|input| *input.1);
        let known: Vec<&[u64]> = known.map(|input| input.0.as_slice()).collect();
        let mut tables = vec![0; plan.table_bytes(instances)];
        let outputs = garbler.garble(piece.clone(), &known, &mut tables).unwrap();
        let mut labels = Vec::new();
        for (input, bits) in inputs.iter().enumerate().filter(|&(input, _)| !plan.known()[input]) {
            let mut own = vec![0; plan.inputs()[input] as usize * instances * LABEL];
            garbler.labels(input, piece.clone(), bits, &mut own).unwrap();
            labels.push(own);
        }
        Self { first, instances, tables, labels, outputs }
    }

    fn evaluate(&self, plan: &Plan) -> Active {
        let labels: Vec<&[u8]> = self.labels.iter().map(Vec::as_slice).collect();
        let piece = self.first..self.first + self.instances as u64;
        Evaluator::new(plan, BATCH).evaluate(piece, &labels, &self.tables).unwrap()
    }

    /// Decoded bits, that the evaluator's tags are found right for.
    fn checked(&self, plan: &Plan) -> Vec<u64> {
        let active = self.evaluate(plan);
        let bits = active.decode(&self.outputs.decoding()).unwrap();
        self.outputs.check(&bits, &active.tags()).unwrap();
        bits
    }
}

/// The whole batch as one piece.
fn garbled(plan: &Plan, inputs: &[Vec<u64>], instances: usize) -> Piece {
    Piece::new(plan, &mut Garbler::new(plan, &SEED, BATCH), 0, inputs, instances)
}

/// Labels from their bytes.
fn numbers(labels: &[u8]) -> Vec<u128> {
    labels.as_chunks().0.iter().map(|label| u128::from_le_bytes(*label)).collect()
}

/// Circuits of any form: with gates that nothing reads, constants in the middle, operands that are the same twice,
/// and outputs that are inputs, constants and each other.
fn circuits(gates: usize) -> impl Strategy<Value = Circuit> {
    let choice = (0_u8..16, any::<u32>(), any::<u32>());
    (vec(0_u32..9, 0..4), vec(choice, 0..gates), vec(vec(any::<u32>(), 0..9), 0..4)).prop_map(
        |(mut inputs, choices, outputs)| {
            // With a bit at least, any number can name a wire.
            inputs.push(1);
            let bits: u32 = inputs.iter().sum();
            let gate = |(wires, (kind, a, b)): (u32, (u8, u32, u32))| match kind {
                0..=6 => Gate::Xor(a % wires, b % wires),
                7..=12 => Gate::And(a % wires, b % wires),
                13..=14 => Gate::Not(a % wires),
                _ => Gate::Constant(a % 2 == 1),
            };
            let gates: Vec<Gate> = (bits..).zip(choices).map(gate).collect();
            let wires = bits + gates.len() as u32;
            let outputs: Vec<Vec<u32>> = outputs
                .into_iter()
                .map(|output| output.into_iter().map(|wire| wire % wires).collect())
                .collect();
            Circuit::new(inputs, gates, outputs).unwrap()
        },
    )
}
