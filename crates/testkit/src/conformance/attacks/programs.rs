//! The programs that are attacked.

use std::sync::Arc;

use tacit_circuit::{Builder, Wire};
use tacit_program::{Dtype, NodeId, Program, ProgramError, Recipient};

use crate::Rng;
use crate::conformance::catalogue::Numbers;

/// Bits that everybody gives who gives any, for each instance.
pub(super) const GIVEN: usize = 3;

/// A random circuit on bits of P0, alice and the last party. All learn one output, P1 another, carol a third.
pub(super) fn program(rng: &mut Rng, last: &str, ands: usize, instances: usize) -> Program {
    let mut build = Builder::new();
    let mut wires: Vec<Wire> = (0..3).flat_map(|_| build.input(GIVEN as u32)).collect();
    for _ in 0..ands {
        // Few are constant, for each reads one of the last and something from before.
        let (a, b) = (wires[wires.len() - 1 - rng.below(4)], wires[rng.below(wires.len() - 1)]);
        let (both, other) = (build.and(a, b), wires[rng.below(wires.len())]);
        wires.push(build.xor(both, other));
    }
    let outputs = (0..3).map(|at| wires[wires.len() - 5 - at..].to_vec()).collect();
    let circuit = Arc::new(build.finish(outputs));
    let mut build = tacit_program::Builder::new();
    let operands: Vec<_> = ["P0", "alice", last]
        .map(|owner| build.input(owner, &format!("x_{owner}"), Dtype::Bool, &[instances, GIVEN], None))
        .into_iter()
        .map(|operand| operand.expect("an input of bits"))
        .collect();
    let outputs = build.circuit(&circuit, &operands).expect("the operands fit");
    let to = [Recipient::All, Recipient::Role("P1".to_owned()), Recipient::Role("carol".to_owned())];
    for (output, to) in outputs.into_iter().zip(to) {
        build.reveal(output, to).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}

/// Comparisons of numbers of P0, alice and the last party. All learn one, P1 a maximum, carol another comparison.
pub(super) fn comparisons(last: &str, instances: usize) -> Program {
    of_numbers(last, instances, |build, [x, y, z]| {
        [build.less(x, y), build.maximum(y, z), build.less(z, x)]
            .map(|node| node.expect("numbers of one kind"))
    })
}

/// Products of numbers of the same owners.
pub(super) fn products(last: &str, instances: usize) -> Program {
    of_numbers(last, instances, |build, [x, y, z]| {
        let mut mul = |a, b| build.mul(a, b).expect("numbers of one kind");
        [mul(x, y), mul(y, z), mul(z, x)]
    })
}

/// What networks are made of: a product that is truncated, a ReLU and a truncation that share a tree, both of products of
/// matrices whose entries are numbers of all owners, and a ReLU alone. Inputs are held to their ranges, for truncations.
pub(super) fn layers(last: &str, instances: usize) -> Program {
    of_numbers(last, instances, |build, [x, y, z]| {
        let mut body = || {
            let mut matrix = |entries: [NodeId; 4]| {
                let rows = build.stack(&entries, 1)?;
                build.reshape(rows, &[instances as i64, 2, 2])
            };
            let (a, b) = (matrix([x, y, z, x])?, matrix([y, z, x, y])?);
            let product = build.mul(x, y)?;
            let truncated = build.shift_right(product, 1)?;
            let sums = build.matmul(a, b)?;
            let positive = build.relu(sums)?;
            let rectified = build.shift_right(positive, 2)?;
            let difference = build.sub(z, x)?;
            Ok::<_, ProgramError>([truncated, rectified, build.relu(difference)?])
        };
        body().expect("numbers of one kind")
    })
}

/// Sums and differences of the numbers of all owners in order, for each instance a dozen: all learn them, P1 others that go
/// with them, carol the least, squared.
pub(super) fn sorts(last: &str, instances: usize) -> Program {
    of_numbers(last, instances, |build, [x, y, z]| {
        let mut body = || {
            let pairs = [(x, y), (y, z), (z, x)];
            let mut row = vec![x, y, z];
            for (a, b) in pairs {
                row.extend([build.add(a, b)?, build.sub(a, b)?, build.sub(b, a)?]);
            }
            let keys = build.stack(&row, 1)?;
            row.reverse();
            let beside = build.stack(&row, 1)?;
            let sorted = build.sort(keys, &[beside])?;
            let least = build.min(sorted[0], Some(1), false)?;
            Ok::<_, ProgramError>([sorted[0], sorted[1], build.mul(least, least)?])
        };
        body().expect("numbers of one kind")
    })
}

fn of_numbers(
    last: &str,
    instances: usize,
    body: impl Fn(&mut tacit_program::Builder, [NodeId; 3]) -> [NodeId; 3],
) -> Program {
    let mut build = tacit_program::Builder::new();
    let range = Numbers::int(GIVEN as u32).range;
    let inputs = ["P0", "alice", last].map(|owner| {
        build
            .input(owner, &format!("x_{owner}"), Dtype::Int, &[instances], range)
            .expect("an input of numbers")
    });
    let results = body(&mut build, inputs);
    let to = [Recipient::All, Recipient::Role("P1".to_owned()), Recipient::Role("carol".to_owned())];
    for (output, to) in results.into_iter().zip(to) {
        build.reveal(output, to).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}
