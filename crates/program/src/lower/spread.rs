//! How much of public values a plan has to hold.
//!
//! A plan writes a public operand out in the shape of the secret that it meets, and the places among which an
//! index is looked for. A program of a hundred bytes could so ask for any amount of memory; what is beyond the
//! constants that stand in the program itself is bounded.

use std::collections::HashMap;

use super::scaling::Scaling;
use crate::error::{Fault, ProgramError};
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::program::Program;
use crate::shape::{self, MatMulShape};
use crate::types::{MAX_ELEMENTS, Type};

/// Refuses a program whose plan would hold more than [`MAX_ELEMENTS`] elements beyond its constants.
pub(super) fn check(program: &Program, scalings: &HashMap<NodeId, Scaling>) -> Result<(), ProgramError> {
    let mut total = 0;
    for (node, number) in program.nodes().iter().zip(0..) {
        if !node.ty.secret {
            continue;
        }
        let copies = scalings.get(&NodeId::new(number)).map_or(1, Scaling::copies);
        total += of_node(program, node).saturating_mul(copies);
        if total > MAX_ELEMENTS {
            let what = "elements of public values, repeated to the shapes of secrets";
            let fault = Fault::TooMany { what, limit: MAX_ELEMENTS };
            let at = program.sources()[node.source as usize].clone();
            return Err(ProgramError { at, fault: Box::new(fault) });
        }
    }
    Ok(())
}

/// A bound on the elements that are repeated for one node; at most a few times [`MAX_ELEMENTS`].
fn of_node(program: &Program, node: &Node) -> usize {
    let types: Vec<&Type> = node.operands.iter().map(|id| &program.node(*id).ty).collect();
    match &node.operation {
        // The places along the axis.
        Operation::ArgExtremum { .. } => types.iter().map(|ty| ty.len()).sum(),
        // Each operand stands in its own shape.
        Operation::Concatenate { .. } | Operation::Conv => 0,
        Operation::MatMul | Operation::WideProduct { matrix: true, .. } => {
            let [a, b] = types[..] else { return 0 };
            let Ok(MatMulShape { matrix, .. }) = shape::matmul(&a.shape, &b.shape) else { return 0 };
            let right = if b.rank() > 2 { matrix.batch } else { 1 };
            let (left, right) = (matrix.batch * matrix.m * matrix.k, right * matrix.k * matrix.n);
            [(a, left), (b, right)].into_iter().map(|(ty, full)| repeated(ty, full)).sum()
        }
        // Limbs of public numbers stand in no program.
        Operation::Times(numbers) | Operation::Over { divisors: numbers, .. } => {
            if numbers.numbers().len() == 1 { 0 } else { node.ty.len() }
        }
        Operation::Weigh { matrix, left } => {
            let (own, weights) = (&types[0].shape[..], matrix.shape());
            let (a, b) = if *left { (weights, own) } else { (own, weights) };
            let Ok(MatMulShape { matrix, .. }) = shape::matmul(a, b) else { return 0 };
            let batch = if b.len() > 2 { matrix.batch } else { 1 };
            if *left { matrix.batch * matrix.m * matrix.k } else { batch * matrix.k * matrix.n }
        }
        Operation::Circuit(circuit) => {
            let instances = node.ty.len() / circuit.output_bits();
            let full = |width: u32| instances.saturating_mul(width as usize);
            types.iter().zip(circuit.inputs()).map(|(ty, &width)| repeated(ty, full(width))).sum()
        }
        _ => types.iter().map(|ty| repeated(ty, node.ty.len())).sum(),
    }
}

/// What a public operand takes beyond itself; a single element is written once whatever the shape.
fn repeated(ty: &Type, full: usize) -> usize {
    if ty.secret || ty.len() == 1 { 0 } else { full.saturating_sub(ty.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Capabilities, Dtype, NodeId, Range, Recipient, lower};

    /// `secret + constant`, both of these shapes, so many times over.
    fn sums(secret: &[usize], constant: &[usize], times: usize) -> Program {
        let mut build = Builder::new();
        let mut sum = build.input("alice", "x", Dtype::Int, secret, Range::new(0, 1)).unwrap();
        let raw = (0..constant.iter().product::<usize>()).map(|place| place as i128 % 3).collect();
        let constant = build.public(Dtype::Int, constant.to_vec(), raw).unwrap();
        for _ in 0..times {
            sum = build.add(sum, constant).unwrap();
        }
        finished(build, sum)
    }

    fn finished(mut build: Builder, result: NodeId) -> Program {
        build.reveal(result, Recipient::All).unwrap();
        build.finish().unwrap()
    }

    #[test]
    fn what_a_few_bytes_repeat_is_bounded() {
        let far = MAX_ELEMENTS / 2;
        assert_eq!(check(&sums(&[far, 2], &[2], 1), &HashMap::new()), Ok(()));
        let program = sums(&[far, 2], &[2], 2);
        assert!(program.to_bytes().len() < 300);
        let error = lower(&program, Capabilities::TWO_COMPONENTS).unwrap_err();
        assert!(matches!(*error.fault, Fault::TooMany { limit: MAX_ELEMENTS, .. }), "{error}");
    }

    #[test]
    fn single_elements_and_whole_constants_are_not_repeated() {
        assert_eq!(check(&sums(&[MAX_ELEMENTS], &[1], 50), &HashMap::new()), Ok(()));
        let program = sums(&[3], &[3], 50);
        assert!(program.nodes().iter().all(|node| of_node(&program, node) == 0));
    }

    #[test]
    fn matrices_and_indices_are_counted() {
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Int, &[5, 3, 2], Range::new(0, 1)).unwrap();
        let matrix = build.public(Dtype::Int, vec![4, 3], (0..12).collect()).unwrap();
        let product = build.matmul(matrix, x).unwrap();
        let place = build.argmax(product, Some(0), false).unwrap();
        let program = finished(build, place);
        let counts: Vec<usize> = program.nodes().iter().map(|node| of_node(&program, node)).collect();
        assert_eq!(counts.iter().sum::<usize>(), (5 - 1) * 12 + 5 * 4 * 2, "{counts:?}");
    }
}
