//! Boolean circuits on bit-vectors.

use super::check::bool;
use super::entry::{Entry, Parts};
use super::tensor::Tensor;
use crate::codec::put_u64;
use crate::error::Fault;
use crate::rational::Rational;
use crate::shape;
use crate::types::{Dtype, Type};
use tacit_circuit::{Circuit, Gate};

pub(super) fn evaluate(circuit: &Circuit) -> Entry<'_> {
    Entry::new("circuit", 34, None)
        .written(move |out| {
            let bytes = circuit.to_bytes();
            put_u64(out, bytes.len() as u64);
            out.extend_from_slice(&bytes);
        })
        .typed(move |name, x| typed(circuit, name, x))
        .all(
            move |x, ty| evaluated(circuit, x, ty, |bit| *bit == 1, i128::from),
            move |x, ty| evaluated(circuit, x, ty, |bit| !bit.is_zero(), Rational::bit),
        )
}

/// ANDs that a layer may have: 32 MiB of messages on the fewest instances that go together.
const MAX_LAYER: usize = 1 << 21;

/// ANDs of the widest layer if each runs as soon as it can.
fn widest_layer(circuit: &Circuit) -> usize {
    let mut layers = vec![0; circuit.gates().len() + 1];
    let depths = circuit.depths();
    for (gate, depth) in circuit.gates().iter().zip(&depths[circuit.input_bits()..]) {
        layers[*depth as usize] += usize::from(matches!(gate, Gate::And(..)));
    }
    layers.into_iter().max().unwrap_or(0)
}

fn typed(circuit: &Circuit, name: &'static str, operands: &[&Type]) -> Result<Parts, Fault> {
    let widths = circuit.inputs();
    if widths.is_empty() || widths.contains(&0) || circuit.output_bits() == 0 {
        return Err(Fault::EmptyCircuit);
    }
    if widths.len() != operands.len() {
        return Err(Fault::CircuitInputs { expected: widths.len(), given: operands.len() });
    }
    let mut instances = Vec::new();
    for (input, (&width, operand)) in widths.iter().zip(operands).enumerate() {
        bool(name, operand.kind)?;
        match operand.shape.split_last() {
            Some((&last, batch)) if last == width as usize => {
                instances = shape::broadcast(name, &instances, batch)?;
            }
            _ => return Err(Fault::CircuitInput { input, bits: width, shape: operand.shape.clone() }),
        }
    }
    let (ands, count) = (widest_layer(circuit), instances.iter().product::<usize>());
    if ands > MAX_LAYER {
        return Err(Fault::CircuitWidth { ands, limit: MAX_LAYER });
    }
    // A message's address has the number of the tile, of 128 instances at least, times the depth.
    let depth = circuit.depth();
    if (count as u64 / 128 + 1).saturating_mul(depth.into()) > u32::MAX.into() {
        return Err(Fault::CircuitMessages { instances: count, depth });
    }
    instances.push(circuit.output_bits());
    Ok((Dtype::Bool, instances, Dtype::Bool.whole()))
}

/// A circuit's outputs, instance after instance.
fn evaluated<T: Clone>(
    circuit: &Circuit,
    operands: &[Tensor<'_, T>],
    ty: &Type,
    is_set: fn(&T) -> bool,
    bit: fn(bool) -> T,
) -> Vec<T> {
    let batch = &ty.shape[..ty.rank() - 1];
    let bits = |(operand, &width): (&Tensor<'_, T>, &u32)| -> Vec<bool> {
        operand.spread(&[batch, &[width as usize]].concat()).iter().map(is_set).collect()
    };
    let inputs: Vec<Vec<bool>> = operands.iter().zip(circuit.inputs()).map(bits).collect();
    let instance = |at: usize| {
        let own = inputs
            .iter()
            .zip(circuit.inputs())
            .map(|(bits, &width)| bits[at * width as usize..(at + 1) * width as usize].to_vec());
        match circuit.evaluate(&own.collect::<Vec<_>>()) {
            Ok(outputs) => outputs.into_iter().flatten().map(bit),
            Err(_) => unreachable!("typing checked the inputs' widths"),
        }
    };
    (0..batch.iter().product()).flat_map(instance).collect()
}
