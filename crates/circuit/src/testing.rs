//! What the tests of circuits share: circuits, evaluation, bits, operands, known answers.

use std::collections::BTreeMap;

use crate::{Circuit, Gate};
use proptest::collection::vec;
use proptest::prelude::*;

/// The outputs of a circuit for one instance, one bit a wire.
pub(crate) fn evaluate(circuit: &Circuit, inputs: &[Vec<bool>]) -> Vec<Vec<bool>> {
    circuit.evaluate(inputs).expect("inputs are the circuit's")
}

/// The outputs as byte strings, for inputs that are byte strings.
pub(crate) fn evaluate_bytes(circuit: &Circuit, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let inputs: Vec<Vec<bool>> = inputs.iter().map(|bytes| bits_of_bytes(bytes)).collect();
    evaluate(circuit, &inputs).iter().map(|bits| bytes_of_bits(bits)).collect()
}

/// Bit `i` of byte `j` at place `8 j + i`.
pub(crate) fn bits_of_bytes(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
}

fn bytes_of_bits(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8)
        .map(|byte| byte.iter().enumerate().map(|(place, &bit)| u8::from(bit) << place).sum())
        .collect()
}

/// The lowest bits of a number.
pub(crate) fn bits(value: u128, width: u32) -> Vec<bool> {
    (0..width).map(|bit| bit < 128 && value >> bit & 1 == 1).collect()
}

/// The number that the bits make; none above bit 127 may be set.
pub(crate) fn number(bits: &[bool]) -> u128 {
    bits.iter().enumerate().filter(|&(_, &bit)| bit).map(|(place, _)| 1 << place).sum()
}

/// How many gates there are of the kinds exclusive or, conjunction, complement.
pub(crate) fn gates(circuit: &Circuit) -> [usize; 3] {
    let count = |kind: fn(&Gate) -> bool| circuit.gates().iter().filter(|&gate| kind(gate)).count();
    [
        count(|gate| matches!(gate, Gate::Xor(..))),
        count(|gate| matches!(gate, Gate::And(..))),
        count(|gate| matches!(gate, Gate::Not(..))),
    ]
}

/// The records of a file of known answers: paragraphs of lines `name = value`, with comments.
pub(crate) fn records(text: &str) -> Vec<Record<'_>> {
    text.split("\n\n")
        .map(|paragraph| {
            let lines = paragraph.lines().filter(|line| !line.starts_with('#'));
            Record(lines.map(|line| line.split_once(" =").expect("a line has a name")).collect())
        })
        .filter(|record| !record.0.is_empty())
        .collect()
}

/// A record of known answers.
pub(crate) struct Record<'a>(BTreeMap<&'a str, &'a str>);

impl Record<'_> {
    /// Whether a value has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A value that is a word.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("a record has no {name}")).trim()
    }

    /// A value that is a string of bytes in hexadecimal.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        let digits = self.text(name).as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16);
        digits.map(|pair| byte(pair).expect("hexadecimal")).collect()
    }
}

/// The rows of the tables in a module's documentation, headings left out: what a row is about, and its numbers.
pub(crate) fn documented(source: &str) -> Vec<(String, Vec<usize>)> {
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix(" |"));
    rows.filter_map(|row| {
        let (label, cells) = row.split_once(" | ")?;
        let numbers = cells.split(" | ").map(|cell| cell.replace(',', "").parse().ok());
        Some((label.replace(['`', '[', ']'], ""), numbers.collect::<Option<_>>()?))
    })
    .collect()
}

/// Operands without structure, the same in every run: SplitMix64 (Steele, Lea, Flood, 2014).
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.word() as u8).collect()
    }

    /// A number below 2^width, of all magnitudes.
    pub(crate) fn number(&mut self, width: u32) -> u128 {
        let value = u128::from(self.word()) << 64 | u128::from(self.word());
        let kept = width - self.word() as u32 % (width + 1) / 2;
        if kept == 0 { 0 } else { value >> (128 - kept.min(128)) }
    }
}

/// Words without structure.
pub(crate) fn noise(seed: u64, count: usize) -> Vec<u64> {
    let mut noise = Noise(seed);
    (0..count).map(|_| noise.word()).collect()
}

/// Circuits of any form: with gates that nothing reads, constants in the middle, operands that are the same twice,
/// and outputs that are inputs, constants and each other.
pub(crate) fn circuits(gates: usize) -> impl Strategy<Value = Circuit> {
    let choice = (0_u8..16, any::<u32>(), any::<u32>(), any::<bool>());
    (vec(0_u32..9, 0..4), vec(choice, 0..gates), vec(vec(any::<u32>(), 0..9), 0..4)).prop_map(
        |(mut inputs, choices, outputs)| {
            // With a bit at least, any number can name a wire.
            inputs.push(1);
            let bits: u32 = inputs.iter().sum();
            let gates: Vec<Gate> = (bits..).zip(choices).map(|(wires, choice)| gate(wires, choice)).collect();
            let wires = bits + gates.len() as u32;
            let outputs = outputs
                .into_iter()
                .map(|output| output.into_iter().map(|wire| wire % wires).collect())
                .collect();
            Circuit::new(inputs, gates, outputs).unwrap()
        },
    )
}

/// A gate on `wires` wires, every other one on wires that are near.
fn gate(wires: u32, (kind, a, b, near): (u8, u32, u32, bool)) -> Gate {
    let pick = |any: u32| if near { wires - 1 - any % wires.min(4) } else { any % wires };
    match kind {
        0..=7 => Gate::Xor(pick(a), pick(b)),
        8..=12 => Gate::And(pick(a), pick(b)),
        13..=14 => Gate::Not(pick(a)),
        _ => Gate::Constant(a % 2 == 1),
    }
}

/// The bits of every wire at once in 64 instances, from those of the inputs.
pub(crate) fn wires(circuit: &Circuit, inputs: &[u64]) -> Vec<u64> {
    let mut wires = inputs.to_vec();
    for gate in circuit.gates() {
        wires.push(match *gate {
            Gate::Xor(a, b) => wires[a as usize] ^ wires[b as usize],
            Gate::And(a, b) => wires[a as usize] & wires[b as usize],
            Gate::Not(a) => !wires[a as usize],
            Gate::Constant(bit) => {
                if bit {
                    u64::MAX
                } else {
                    0
                }
            }
        });
    }
    wires
}
