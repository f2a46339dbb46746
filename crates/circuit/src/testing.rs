//! Circuits for tests.

use crate::{Builder, Circuit, Gate, Wire};
use proptest::collection::vec;
use proptest::prelude::*;

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

/// The sum of two numbers, with an AND for each carry but the last, which goes nowhere.
pub(crate) fn adder(bits: u32) -> Circuit {
    let mut builder = Builder::new();
    let (a, b) = (builder.input(bits), builder.input(bits));
    let mut carry = builder.constant(false);
    let mut sum: Vec<Wire> = Vec::new();
    for (&a, &b) in a.iter().zip(&b) {
        let (left, right) = (builder.xor(a, carry), builder.xor(b, carry));
        sum.push(builder.xor(left, b));
        let both = builder.and(left, right);
        carry = builder.xor(both, carry);
    }
    builder.finish(vec![sum])
}

/// Bits without structure, from a linear congruential generator.
pub(crate) fn noise(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed | 1;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state >> 32 ^ state << 32
    };
    std::iter::repeat_with(next).take(count).collect()
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
