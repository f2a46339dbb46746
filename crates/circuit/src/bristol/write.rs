//! From a circuit to text.

use crate::circuit::{Circuit, Gate, Wire};
use std::fmt::Write;

/// Writes a circuit in Bristol Fashion, gate by gate in its order.
///
/// An output bit that is an input's, or that another output bit is already, takes an `EQW` at the end.
pub fn write(circuit: &Circuit) -> String {
    let numbers = Numbers::new(circuit);
    let gates = circuit.gates().len() + numbers.copies.len();
    let mut text = String::with_capacity(64 + gates * 24);
    put(&mut text, format_args!("{gates} {}\n", circuit.input_bits() + gates));
    put_widths(&mut text, circuit.inputs().iter().map(|&bits| bits as usize));
    put_widths(&mut text, circuit.outputs().iter().map(Vec::len));
    text.push('\n');
    let of = |wire: Wire| numbers.of(wire);
    for (gate, to) in circuit.gates().iter().zip(&numbers.gates) {
        match *gate {
            Gate::Xor(a, b) => put(&mut text, format_args!("2 1 {} {} {to} XOR\n", of(a), of(b))),
            Gate::And(a, b) => put(&mut text, format_args!("2 1 {} {} {to} AND\n", of(a), of(b))),
            Gate::Not(a) => put(&mut text, format_args!("1 1 {} {to} INV\n", of(a))),
            Gate::Constant(bit) => put(&mut text, format_args!("1 1 {} {to} EQ\n", u8::from(bit))),
        }
    }
    for (from, to) in &numbers.copies {
        put(&mut text, format_args!("1 1 {from} {to} EQW\n"));
    }
    text
}

/// The file's numbers of wires.
struct Numbers {
    /// The first gate's wire; those below are inputs, and keep their numbers.
    first: usize,
    /// For each gate its wire's.
    gates: Vec<u64>,
    /// Output bits that take a copy: its source and itself.
    copies: Vec<(u64, u64)>,
}

impl Numbers {
    /// Outputs are last; other gates have the numbers between them and the inputs, in order.
    fn new(circuit: &Circuit) -> Self {
        const NONE: u64 = u64::MAX;
        let first = circuit.input_bits();
        let mut gates = vec![NONE; circuit.gates().len()];
        // Outputs by their place among themselves, as long as nobody knows where they begin.
        let mut copied = Vec::new();
        for (place, &wire) in (0_u64..).zip(circuit.outputs().iter().flatten()) {
            match (wire as usize).checked_sub(first) {
                Some(gate) if gates[gate] == NONE => gates[gate] = place,
                _ => copied.push((wire, place)),
            }
        }
        let begin = (first + gates.len() + copied.len() - circuit.output_bits()) as u64;
        let mut next = first as u64;
        for number in &mut gates {
            if *number == NONE {
                *number = next;
                next += 1;
            } else {
                *number += begin;
            }
        }
        let mut numbers = Self { first, gates, copies: Vec::new() };
        numbers.copies = copied.iter().map(|&(wire, place)| (numbers.of(wire), begin + place)).collect();
        numbers
    }

    fn of(&self, wire: Wire) -> u64 {
        (wire as usize).checked_sub(self.first).map_or(wire.into(), |gate| self.gates[gate])
    }
}

fn put_widths(text: &mut String, widths: impl ExactSizeIterator<Item = usize>) {
    put(text, format_args!("{}", widths.len()));
    for width in widths {
        put(text, format_args!(" {width}"));
    }
    text.push('\n');
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a string takes all that is written");
}
