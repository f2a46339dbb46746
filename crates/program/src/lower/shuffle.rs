//! Shuffles: all columns of one go through one operation, in the place of the first.

use super::lowering::Lowering;
use crate::error::Fault;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{OpKind, Reg, Register};
use crate::width::Format;

/// Bits of a block, over all columns, at most: some dozens of blocks are a message.
pub(super) const BLOCK_BITS: u64 = 1 << 19;

/// What is brought into an order.
pub(super) struct Column {
    /// The node that it becomes.
    pub(super) node: NodeId,
    /// All of it.
    pub(super) reg: Reg,
    /// That of its elements, if they are bits.
    pub(super) format: Option<Format>,
}

impl Lowering<'_> {
    /// A shuffle of `from`, and of what is to go in the same order.
    pub(super) fn shuffle(&mut self, id: NodeId, from: NodeId) {
        if self.debug {
            return self.take(id, from);
        }
        let nodes = self.program.nodes().iter().zip(0..);
        let too = nodes.filter(|(node, _)| node.operation == Operation::ShuffleToo && node.operands[0] == id);
        let too = too.map(|(node, number)| (NodeId::new(number), node.operands[1]));
        let columns: Vec<_> = std::iter::once((id, from)).chain(too).collect();
        let blocks = self.ty(id).shape[0];
        let mut columns: Vec<Column> =
            columns.into_iter().map(|(node, from)| self.column(node, from)).collect();
        let shuffled = self.shuffled(columns.iter().map(|column| column.reg).collect(), blocks);
        columns.iter_mut().zip(shuffled).for_each(|(column, reg)| column.reg = reg);
        for Column { node, reg, format } in columns {
            self.put_whole(node, reg, format);
        }
    }

    /// Columns of so many blocks in an order that nobody knows.
    pub(super) fn shuffled(&mut self, cols: Vec<Reg>, blocks: usize) -> Vec<Reg> {
        let shapes: Vec<Register> = cols.iter().map(|&reg| self.plan.shape(reg)).collect();
        let dst: Vec<Reg> = shapes.iter().map(|shape| self.fresh(shape.domain, shape.cols)).collect();
        let bits = |shape: &Register| shape.cols as u64 * shape.domain.bits();
        if shapes.iter().map(bits).sum::<u64>() / blocks as u64 > BLOCK_BITS {
            let what = "bits in a block that is shuffled";
            self.refuse(|_| Fault::TooMany { what, limit: BLOCK_BITS as usize });
        }
        let turns = self.capabilities.shuffle_turns.max(1);
        self.plan.interact(OpKind::Shuffle { cols, blocks, turns, dst: dst.clone() });
        dst
    }
}

#[cfg(test)]
mod tests {
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use crate::plan::{OpKind, Plan};
    use crate::testing::Clear;
    use crate::{
        Builder, Capabilities, Dtype, Fault, Feature, Lowered, Program, ProgramError, Range, Recipient,
        lower, lower_for_debug,
    };

    fn build(rows: usize, width: usize) -> Program {
        let mut build = Builder::new();
        let input = |build: &mut Builder, name, shape: &[usize]| {
            build.input("alice", name, Dtype::Int, shape, Range::new(0, 1000)).unwrap()
        };
        let (a, b) = (input(&mut build, "a", &[rows]), input(&mut build, "b", &[rows, width]));
        let p = build.input("alice", "p", Dtype::Bool, &[rows], None).unwrap();
        let known = build.public(Dtype::Int, vec![rows], (0..rows as i128).collect()).unwrap();
        for shuffled in build.shuffle(&[a, b, p, known]).unwrap() {
            build.reveal(shuffled, Recipient::All).unwrap();
        }
        build.finish().unwrap()
    }

    fn run(lowered: &Lowered, rows: usize, seed: u8) -> Vec<Vec<u64>> {
        let (rows, rng) = (rows as u64, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
        let inputs = [(0..rows).collect(), (0..2 * rows).collect(), (0..rows).map(|at| at % 2).collect()];
        Clear::run(&lowered.plan, &inputs, rng)
    }

    fn shuffles(plan: &Plan) -> Vec<usize> {
        let columns =
            |kind: &OpKind| if let OpKind::Shuffle { cols, .. } = kind { Some(cols.len()) } else { None };
        plan.ops.iter().filter_map(|op| columns(&op.kind)).collect()
    }

    #[test]
    fn all_columns_go_through_one_operation() {
        for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::BITS] {
            let lowered = lower(&build(50, 2), capabilities.with_shuffle(3)).unwrap();
            assert_eq!((shuffles(&lowered.plan), lowered.plan.depth()), (vec![4], 3));
            let outputs = run(&lowered, 50, 1);
            let [order, rows, bits, known] = &outputs[..] else { panic!("four outputs") };
            assert!(!order.iter().copied().eq(0..50));
            assert_eq!(known, order);
            assert!(order.iter().flat_map(|at| [2 * at, 2 * at + 1]).eq(rows.iter().copied()));
            assert!(order.iter().map(|at| at % 2).eq(bits.iter().copied()));
        }
    }

    #[test]
    fn debug_runs_keep_the_order() {
        let program = build(5, 2);
        let lowered = lower_for_debug(&program, Capabilities::TWO_COMPONENTS).unwrap();
        let outputs = run(&lowered, 5, 1);
        assert!(shuffles(&lowered.plan).is_empty());
        assert_eq!(outputs[0], [0, 1, 2, 3, 4]);
        let inputs = [&outputs[0], &outputs[1], &outputs[2]].map(Clone::clone);
        assert_eq!(crate::first_difference(&program, &lowered, &inputs, &outputs), Ok(None));
    }

    #[test]
    fn what_cannot_be_shuffled_is_refused() {
        let fault = |result: Result<Lowered, ProgramError>| *result.unwrap_err().fault;
        let offered = Capabilities::TWO_COMPONENTS.with_shuffle(3);
        let missing = Feature::Shuffle.description();
        assert_eq!(
            fault(lower(&build(5, 2), Capabilities::TWO_COMPONENTS)),
            Fault::NotOffered { operation: "shuffle", missing }
        );
        assert!(matches!(fault(lower(&build(2, 1 << 16), offered)), Fault::TooMany { .. }));
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Bool, &[3], None).unwrap();
        let shuffled = build.shuffle(&[a]).unwrap()[0];
        let later = build.not(a).unwrap();
        let none = build.input("alice", "b", Dtype::Bool, &[], None).unwrap();
        assert!(matches!(*build.shuffle(&[none]).unwrap_err().fault, Fault::Axis { .. }));
        assert!(matches!(*build.shuffle(&[]).unwrap_err().fault, Fault::NoOperands { .. }));
        for operands in [[shuffled, later], [later, a]] {
            let mut build = build.clone();
            let wrong = build.push(crate::operations::Operation::ShuffleToo, &operands).unwrap();
            build.reveal(wrong, Recipient::All).unwrap();
            assert_eq!(*build.finish().unwrap_err().fault, Fault::NoShuffle);
        }
    }
}
