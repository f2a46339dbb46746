//! `max(x, 0)` and a truncation of it, as one: the sign and the carries of `x` come from one tree.
//!
//! Rounded or not, the truncation of `max(x, 0)` is that of `x` where `x + h` isn't negative, and 0 elsewhere, for
//! the `h` that is added before bits are dropped: where only `x` is negative, `x + h` has no bits left to keep.
//!
//! If the result is assumed to be below a power of two, the same tree tells whether it is: the bits of `x + h` from there to the
//! sign are 0, or the sign isn't.

use super::lowering::Lowering;
use super::numbers::three::{Place, shift_and_sign};
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
            let passes =
                |id| matches!(program.node(id).operation, Operation::Assume { .. }) && !self.is_watched(id);
            while readers[at.index()] == 1 && passes(at) {
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
        // With no bits below those that are kept there is no tree to go on with.
        let drops = |id| matches!(program.node(id).operation, Operation::Truncate { by, .. } if by > 1);
        for id in ids() {
            let Some(&x) = program.node(id).operands.first().filter(|_| self.is_watched(id)) else {
                continue;
            };
            let range = self.ty(id).range;
            let bits = (1..62).find(|&bits| range == Range::point(0).hull(Range::point((1 << bits) - 1)));
            let alone = readers[x.index()] == 1 && self.rectified.operand(x).is_some();
            if let Some(bits) = bits.filter(|_| alone && drops(x)) {
                self.rectified.bounds.insert(x, (id, bits));
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

    /// `max(x, 0)`, truncated: what a node is.
    pub(super) fn rectify(&mut self, id: NodeId, x: NodeId, by: u8, rounding: Rounding) -> Reg {
        let whole = self.whole(x);
        let shape = self.plan.shape(whole);
        let (domain, bits) = (shape.domain, shape.domain.bits());
        let Some(sign) = self.sign_place(x, by, rounding) else {
            unreachable!("it was looked for");
        };
        let integer = |value: i128| Term::integer(value, domain, shape.cols);
        let raised = self.add(&Term::Secret(whole), &integer((1 << (bits - 2)) + rounding.half(by)));
        let raised = self.register(&raised);
        let place = Place { sign, bound: self.rectified.bound(id).map(|bits| by + bits) };
        let (shifted, negative) = shift_and_sign(self, raised, by, place);
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
    use crate::{Builder, Capabilities, Dtype, Feature, Program, Recipient, lower};
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

    /// The result is assumed to be below a power of two: every number around it, and around the sign, is told apart by one tree.
    #[test]
    fn the_tree_tells_whether_a_result_is_as_assumed() {
        for (bits, below) in [(46, 21), (62, 30), (34, 17), (34, 1), (51, 16)] {
            for to in [16, 30, 31] {
                let (half, mut b) = (1 << (bits - 1), Builder::new());
                let range = Range::new(-half, half - 1 - (1 << 15));
                let x = b.input("alice", "x", Dtype::Fixed { frac: 32 }, &[1], range).unwrap();
                let positive = b.relu(x).unwrap();
                let result = b.rescale(positive, to).unwrap();
                let end = (1 << below) - 1;
                let sure = b.assume(result, Range::new(0, end).unwrap()).unwrap();
                b.reveal(sure, Recipient::All).unwrap();
                let program = b.finish().unwrap();
                let plan = lower(&program, Capabilities::THREE_COMPONENTS.with(Feature::Guard)).unwrap().plan;
                let most = (end + 1) << (32 - to);
                let is_sure = (half - 1 - (1 << 15) + (1 << (31 - to))) >> (32 - to) <= end;
                assert_eq!(plan.guard.is_none(), is_sure);
                if is_sure {
                    continue;
                }
                assert!(to == 31 || circuits(&plan).iter().filter(|(ands, _)| *ands > 1).count() == 1);
                let ends = [0, most, half, -half, -most, most / 2, 2 * most];
                let near = ends.into_iter().flat_map(|end| {
                    let steps = [0, 1, 2, 1 << 15, (1 << 15) + 1, 1 << (31 - to), 1 << (32 - to)];
                    steps.into_iter().flat_map(move |step| [end - step, end - step - 1, end + step])
                });
                for number in near.filter(|x| (-half..half - (1 << 15)).contains(x)) {
                    let rounded = (number.max(0) + (1 << (31 - to))) >> (32 - to);
                    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
                    let outputs = testing::Clear::run(&plan, &[vec![number as u64]], rng);
                    assert_eq!(outputs[1], [u64::from(rounded <= end)], "{number} of {bits} bits, {below}");
                    if rounded <= end {
                        assert_eq!(outputs[0], [rounded as u64]);
                    }
                }
            }
        }
    }

    /// What is assumed between them is looked at there, and what others read isn't left to the tree.
    #[test]
    fn what_is_assumed_before_the_truncation_is_looked_at() {
        for read_twice in [false, true] {
            let mut b = Builder::new();
            let range = Range::new(-1 << 40, 1 << 40);
            let x = b.input("alice", "x", Dtype::Fixed { frac: 32 }, &[1], range).unwrap();
            let positive = b.relu(x).unwrap();
            let end = Range::new(0, (1 << 36) - 1).unwrap();
            let assumed = if read_twice { positive } else { b.assume(positive, end).unwrap() };
            let rounded = b.rescale(assumed, 16).unwrap();
            let result = if read_twice {
                b.assume(rounded, Range::new(0, (1 << 20) - 1).unwrap()).unwrap()
            } else {
                rounded
            };
            b.reveal(result, Recipient::All).unwrap();
            if read_twice {
                b.reveal(rounded, Recipient::All).unwrap();
            }
            let program = b.finish().unwrap();
            let plan = lower(&program, Capabilities::THREE_COMPONENTS.with(Feature::Guard)).unwrap().plan;
            for (number, inside) in [(0_i64, 1), ((1 << 36) - (1 << 15) - 1, 1), (1 << 36, 0), (-1 << 39, 1)]
            {
                let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
                let outputs = testing::Clear::run(&plan, &[vec![number as u64]], rng);
                assert_eq!(outputs.last().unwrap(), &[inside], "{number}");
            }
        }
    }
}
