//! `max(x, 0)` and a truncation of it, as one: the sign and the carries of `x` come from one tree.
//!
//! Rounded or not, the truncation of `max(x, 0)` is that of `x` where `x + h` isn't negative, and 0 elsewhere, for
//! the `h` that is added before bits are dropped: where only `x` is negative, `x + h` has no bits left to keep.

use super::lowering::Lowering;
use super::numbers::three::shift_and_bit;
use super::term::Term;
use crate::capabilities::{Feature, Numbers};
use crate::node::NodeId;
use crate::operations::{Operation, Rounding};
use crate::plan::{Domain, Reg};
use crate::types::Range;

impl Lowering<'_> {
    /// Looks for truncations of maxima that nothing else reads, in programs without loops and arms, which read in
    /// ways of their own.
    pub(super) fn find_rectified(&mut self) {
        let program = self.program;
        let ids = || (0..program.nodes().len() as u32).map(NodeId::new);
        let plain = |id| !matches!(program.node(id).operation, Operation::Within { .. });
        let shares_trees =
            self.capabilities.numbers == Numbers::ThreeComponents && !self.capabilities.offers(Feature::Msb);
        if self.debug || !shares_trees || !program.loops.is_empty() || !ids().all(plain) {
            return;
        }
        let mut readers = vec![0_usize; program.nodes().len()];
        let operands = ids().flat_map(|id| program.node(id).operands.iter().copied());
        let ends = program.outputs().iter().map(|output| output.node);
        let ends = ends.chain(program.keeps().iter().map(|keep| keep.node));
        operands.chain(ends).for_each(|id| readers[id.index()] += 1);
        for id in ids().filter(|&id| program.node(id).ty.secret) {
            let Operation::Truncate { by, rounding } = program.node(id).operation else { continue };
            let mut between = Vec::new();
            let mut at = program.node(id).operands[0];
            while readers[at.index()] == 1 && matches!(program.node(at).operation, Operation::Assume { .. }) {
                between.push(at);
                at = program.node(at).operands[0];
            }
            if readers[at.index()] != 1 || program.node(at).operation != Operation::Relu {
                continue;
            }
            between.push(at);
            let x = program.node(at).operands[0];
            if self.sign_place(x, by, rounding).is_some() && self.domain(x) == self.domain(id) {
                self.rectified.operands.insert(id, x);
                self.rectified.between.extend(between);
            }
        }
    }

    /// Where the sign of `x + h` stands, if `x` can be rectified and truncated as one: between the bits that are
    /// dropped and those by which the number is raised.
    fn sign_place(&self, x: NodeId, by: u8, rounding: Rounding) -> Option<u8> {
        let Domain::Ring(width) = self.domain(x) else { return None };
        let range = self.ty(x).range.add(Range::point(rounding.half(by)));
        let holds = |&place: &u8| range.lo() >= -(1 << place) && range.hi() < 1 << place;
        (by + 1..width.bits() - 2).find(holds)
    }

    /// `max(x, 0)`, truncated.
    pub(super) fn rectify(&mut self, x: NodeId, by: u8, rounding: Rounding) -> Reg {
        let whole = self.whole(x);
        let shape = self.plan.shape(whole);
        let (domain, bits) = (shape.domain, shape.domain.bits());
        let Some(sign) = self.sign_place(x, by, rounding) else {
            unreachable!("it was looked for");
        };
        let integer = |value: i128| Term::integer(value, domain, shape.cols);
        let raised = self.add(&Term::Secret(whole), &integer((1 << (bits - 2)) + rounding.half(by)));
        let raised = self.register(&raised);
        let (shifted, negative) = shift_and_bit(self, raised, by, sign);
        let truncated = self.add(&shifted, &integer(-(1 << (bits - 2 - u64::from(by)))));
        let positive = self.sub(&integer(1), &negative);
        let result = self.mul(&truncated, &positive);
        self.register(&result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{OpKind, Plan};
    use crate::testing;
    use crate::{Builder, Capabilities, Dtype, Program, Recipient, lower};
    use proptest::test_runner::{RngAlgorithm, TestRng};

    /// `max(x, 0)` of numbers of so many bits with 32 fraction bits, with 16 of them.
    fn program(bits: u32, count: usize) -> Program {
        let (half, mut b) = (1 << (bits - 1), Builder::new());
        let range = Range::new(-half, half - 1 - (1 << 15));
        let x = b.input("alice", "x", Dtype::Fixed { frac: 32 }, &[count], range).unwrap();
        let positive = b.relu(x).unwrap();
        let result = b.rescale(positive, 16).unwrap();
        b.reveal(result, Recipient::All).unwrap();
        b.finish().unwrap()
    }

    fn circuits(plan: &Plan) -> Vec<(u64, u32)> {
        let circuits = plan.ops.iter().filter_map(|op| match &op.kind {
            OpKind::Circuit { circuit, .. } => Some((circuit.ands(), circuit.depth())),
            _ => None,
        });
        circuits.collect()
    }

    #[test]
    fn it_costs_one_tree() {
        for (bits, ands) in [(46, 172), (62, 236)] {
            let plan = lower(&program(bits, 3), Capabilities::THREE_COMPONENTS).unwrap().plan;
            assert_eq!(circuits(&plan), [(ands, 8)], "{bits} bits");
            assert_eq!(plan.depth() + 7, 11, "rounds beside the circuit's other layers");
        }
    }

    #[test]
    fn it_is_the_truncation_of_the_maximum() {
        for bits in [34, 40, 46, 61] {
            let program = program(bits, 60);
            let half = 1_i64 << (bits - 1);
            let ends = [-half, -1, 0, 1, half - 1 - (1 << 15)];
            let near = [-3, -2, -1, 0, 1, 2, 3].map(|at| at << 15);
            let near = near.into_iter().flat_map(|at| [at - 1, at, at + 1]);
            let spread = (0..60).map(|at: i64| at.wrapping_mul(0x1e37_79b9_7f4a_7c15) % half);
            let all: Vec<u64> =
                ends.into_iter().chain(near).chain(spread).take(60).map(|x| x as u64).collect();
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
            testing::check(&program, Capabilities::THREE_COMPONENTS, &[all], rng);
        }
    }

    #[test]
    fn what_somebody_else_reads_stays() {
        let mut b = Builder::new();
        let x =
            b.input("alice", "x", Dtype::Fixed { frac: 32 }, &[3], Range::new(-1 << 40, 1 << 40)).unwrap();
        let positive = b.relu(x).unwrap();
        let result = b.rescale(positive, 16).unwrap();
        b.reveal(result, Recipient::All).unwrap();
        b.reveal(positive, Recipient::All).unwrap();
        let plan = lower(&b.finish().unwrap(), Capabilities::THREE_COMPONENTS).unwrap().plan;
        assert_eq!(circuits(&plan).len(), 2);
    }
}
