//! What is run to see in which order it is released.

use tacit_engine::Protocol;
use tacit_program::plan::{Builder, OpKind, Rows, To, Width};
use tacit_testkit::Case;

/// Bits, numbers and MSB extractions, of parties and a client, with outputs for all and for the client: `count` of
/// each.
pub(crate) fn mixed(protocol: &'static dyn Protocol, count: usize) -> Case {
    let mut builder = Builder::new();
    let [p, q, r] = std::array::from_fn(|_| builder.bits(1, count));
    let [x, y, z] = std::array::from_fn(|_| builder.ring(Width::W64, count));
    let sign = builder.bits(1, count);
    for (owner, reg) in [("P0", p), ("alice", q), ("P1", x), ("P2", y)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    let [a, b, dst] = [p, q, r].map(|reg| Rows::one(reg, 0));
    builder.interact(OpKind::And { a, b, dst });
    builder.interact(OpKind::Mul { a: x, b: y, dst: z });
    builder.interact(OpKind::Msb { a: z, dst: sign });
    builder.output(r, To::All);
    let alice = builder.role("alice");
    builder.output(sign, To::One(alice));
    let bits = |seed: usize| (0..count).map(|at| (at * seed / 7) as u64 & 1).collect();
    let numbers = |seed: u64| (0..count as u64).map(|at| at.wrapping_mul(seed)).collect();
    Case::new(protocol, 3, builder.finish(), &[bits(3), bits(5), numbers(0x9e37_79b9_7f4a_7c15), numbers(3)])
}

/// ANDs of two rows.
pub(crate) fn ands(protocol: &'static dyn Protocol, count: usize) -> Case {
    let mut builder = Builder::new();
    let [x, y, z] = std::array::from_fn(|_| builder.bits(1, count));
    for (owner, reg) in [("P1", x), ("P2", y)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    let [a, b, dst] = [x, y, z].map(|reg| Rows::one(reg, 0));
    builder.interact(OpKind::And { a, b, dst });
    builder.output(z, To::All);
    Case::new(protocol, 3, builder.finish(), &[vec![1; count], vec![1; count]])
}
