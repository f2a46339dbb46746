//! Computations of one batch and of several, by gates and by circuits, with inputs of everybody's and outputs for everybody.

use std::sync::Arc;

use tacit_circuit::Layered;
use tacit_engine::Protocol;
use tacit_program::plan::{Builder, MatrixShape, OpKind, Operand, Plan, Reg, Rows, To, Width};
use tacit_testkit::Case;

/// Inputs of three parties and a client, so many columns each, and two levels of ANDs; for all and for a client.
pub(crate) fn levels(cols: usize) -> Plan {
    let mut build = Builder::new();
    let [x, y, z, v] = ["P0", "P1", "P2", "alice"].map(|owner| given(&mut build, owner, cols));
    let mut and = |a: Reg, b: Reg| {
        let dst = build.bits(1, cols);
        let [a, b, rows] = [a, b, dst].map(|reg| Rows::one(reg, 0));
        build.interact(OpKind::And { a, b, dst: rows });
        dst
    };
    let (first, second) = (and(x, y), and(z, v));
    let both = and(first, second);
    learned(&mut build, both)
}

/// The same inputs in a circuit of three layers on so many instances.
pub(crate) fn circuit(instances: usize) -> Plan {
    let mut circuit = tacit_circuit::Builder::new();
    let [x, y, z, v] = std::array::from_fn(|_| circuit.input(1)[0]);
    let (first, second) = (circuit.and(x, y), circuit.and(z, v));
    let both = circuit.and(first, second);
    let sum = circuit.xor(both, x);
    let last = circuit.and(sum, v);
    let circuit = Arc::new(Layered::new(&circuit.finish(vec![vec![last]])));
    let mut build = Builder::new();
    let inputs = ["P0", "P1", "P2", "alice"].map(|owner| given(&mut build, owner, instances));
    let dst = build.bits(1, instances);
    build.interact(OpKind::Circuit { circuit, inputs: inputs.map(Operand::Each).to_vec(), dst });
    learned(&mut build, dst)
}

/// The same inputs as numbers of 64 bits, two levels of products, and a product of matrices.
pub(crate) fn products(cols: usize) -> Plan {
    let mut build = Builder::new();
    let [x, y, z, v] = ["P0", "P1", "P2", "alice"].map(|owner| {
        let (owner, reg) = (build.role(owner), build.ring(Width::W64, cols));
        build.input(owner, reg);
        reg
    });
    let mut mul = |a: Reg, b: Reg| {
        let dst = build.ring(Width::W64, cols);
        build.interact(OpKind::Mul { a, b, dst });
        dst
    };
    let (first, second) = (mul(x, y), mul(z, v));
    let dst = build.ring(Width::W64, cols * cols);
    let shape = MatrixShape { batch: 1, m: cols, k: 1, n: cols };
    build.interact(OpKind::MatMul { a: first, b: second, shape, dst });
    learned(&mut build, dst)
}

pub(crate) fn given(build: &mut Builder, owner: &str, cols: usize) -> Reg {
    let (owner, reg) = (build.role(owner), build.bits(1, cols));
    build.input(owner, reg);
    reg
}

pub(crate) fn learned(build: &mut Builder, result: Reg) -> Plan {
    let carol = build.role("carol");
    build.output(result, To::All);
    build.output(result, To::One(carol));
    std::mem::take(build).finish()
}

/// A run of such a plan.
pub(crate) fn case(protocol: &'static dyn Protocol, plan: Plan) -> Case {
    let cols = plan.register(plan.inputs[0].reg).cols;
    let inputs: Vec<Vec<u64>> =
        (0..4).map(|input| (0..cols as u64).map(|at| at >> input & 1).collect()).collect();
    Case::new(protocol, 3, plan, &inputs)
}

/// Of products of one batch, by scalar products and by polynomials of matrices.
pub(crate) fn of_products(protocol: &'static dyn Protocol) -> Vec<Case> {
    [products(1), products(20)].map(|plan| case(protocol, plan)).to_vec()
}

/// Of one batch, which has one middle round or two.
pub(crate) fn one_batch(protocol: &'static dyn Protocol) -> Vec<Case> {
    [levels(1), levels(1500), circuit(3), circuit(1500)].map(|plan| case(protocol, plan)).to_vec()
}
