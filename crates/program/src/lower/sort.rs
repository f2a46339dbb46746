//! Sorts: rows are shuffled, compared, and brought into the order that comparisons say ([`crate::insertion`]).
//!
//! All columns go through one shuffle and one gathering, whatever their number. Keys are told apart by where their rows
//! stood, in bits below them: so the sort is stable, and outcomes are those of a random order, which may be opened. An opening is
//! a verified one, since one wrong outcome would tell where a row stood.
//!
//! For n keys of b bits that is about `n (log2 n + 1)` comparisons of `b + log2 n` bits; none for bools (`ranks`).
//! Where a network is cheaper the program has one in the place of the sort (`choice`).

mod choice;
mod ranks;

pub(super) use choice::is_network_cheaper;

use super::lowering::Lowering;
use super::repeat::Place;
use super::shuffle::Column;
use crate::insertion::{Phase, phases};
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{Domain, Insertion, Layout, Local, OpKind, Opening, Public, Reg, Width};

/// Numbers of rows and gaps.
pub(super) const NUMBERS: Domain = Domain::Ring(Width::W32);

/// Keys, and what tells equal ones apart, as bits: a block for each row, whose low `bits` count.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub(super) reg: Reg,
    pub(super) bits: usize,
    pub(super) block: usize,
}

impl Keys {
    /// The bits of a block, which has at least so many: as many as words have, so that blocks are quickly moved.
    pub(super) const fn block(bits: usize) -> usize {
        match bits {
            0..=8 => 8,
            9..=16 => 16,
            17..=32 => 32,
            _ => bits.next_multiple_of(64),
        }
    }
}

impl Lowering<'_> {
    /// A sort by `keys`, and of what is to go in the same order.
    pub(super) fn sort(&mut self, id: NodeId, keys: NodeId) {
        let (rows, length) = (self.ty(keys).len(), self.ty(keys).shape[1]);
        let mut columns = vec![(id, keys)];
        for (node, number) in self.program.nodes().iter().zip(0..) {
            if node.operation == Operation::SortToo && node.operands[0] == id {
                columns.push((NodeId::new(number), node.operands[2]));
            }
        }
        let mut columns: Vec<Column> =
            columns.into_iter().map(|(node, from)| self.column(node, from)).collect();
        if rows > 1 {
            let by_ranks = choice::is_by_ranks(self.ty(keys)) && !self.capabilities.numbers.are_bits();
            // A proof of a shuffle is of numbers, so that where there are proofs words are made after it.
            let words = (!by_ranks && !self.makes_words_late()).then(|| self.sort_keys(keys, length));
            let first = match &words {
                Some(words) => words.reg,
                None if by_ranks => self.ranks(keys),
                None => self.sort_places(rows, length),
            };
            // Those that don't fill bytes come last, so that what fills up a message is at its end.
            columns.sort_by_key(|column| {
                let shape = self.plan.shape(column.reg);
                shape.domain == Domain::Bits && !shape.cols.is_multiple_of(8)
            });
            let cols = std::iter::once(first).chain(columns.iter().map(|column| column.reg)).collect();
            let mut shuffled = self.shuffled(cols, rows).into_iter();
            let first = shuffled.next().unwrap_or(first);
            let order = if by_ranks {
                self.order_of_ranks(first, rows)
            } else if let Some(words) = words {
                self.order(Keys { reg: first, ..words }, rows)
            } else {
                let own = columns.iter().zip(shuffled.as_slice()).find(|(column, _)| column.node == id);
                let elements = own.map_or(first, |(_, &reg)| reg);
                let words = self.shuffled_keys(keys, length, elements, first);
                self.order(words, rows)
            };
            for (column, from) in columns.iter_mut().zip(shuffled) {
                column.reg = self.at_places(from, order, self.plan.shape(from).cols / rows);
            }
        }
        for Column { node, reg, format } in columns {
            self.put_whole(node, reg, format);
        }
    }

    /// Whether keys become bits after the shuffle. Then their places are a column of numbers.
    fn makes_words_late(&self) -> bool {
        self.capabilities.proofs.is_some() && !self.capabilities.numbers.are_bits()
    }

    /// The order of shuffled rows: a public register of their numbers.
    fn order(&mut self, keys: Keys, rows: usize) -> Reg {
        let mut sorted: Option<Reg> = None;
        for Phase { before, after, levels, pairs } in phases(rows) {
            let new = after - before;
            let mut gaps = self.plan.public(NUMBERS, new);
            self.plan.local(Local::Constant { value: Public::Splat(0), dst: gaps });
            if let Some(sorted) = sorted {
                let own = self.stretch(keys.reg, before * keys.block, new * keys.block);
                for level in (0..levels).rev() {
                    let half = 1 << level;
                    let place = self.plan.public(NUMBERS, new);
                    self.plan.local(Local::AddPublic { a: gaps, c: Public::Splat(half - 1), dst: place });
                    let pivots = self.at_places(sorted, place, 1);
                    let others = self.at_places(keys.reg, pivots, keys.block);
                    let right = self.opened_less([others, own], keys, new);
                    let next = self.plan.public(NUMBERS, new);
                    let step = Insertion::Descend { gaps, right, by: half as u32, dst: next };
                    self.plan.local(Local::Insertion(step));
                    gaps = next;
                }
            }
            let both = self.plan.public(NUMBERS, 2 * pairs);
            let (count, first) = (before as u32 + 1, before as u32);
            self.plan.local(Local::Insertion(Insertion::Pairs { gaps, count, first, dst: both }));
            let sides = [0, pairs].map(|start| {
                let side = self.stretch(both, start, pairs);
                self.at_places(keys.reg, side, keys.block)
            });
            let less = self.opened_less(sides, keys, pairs);
            let merged = self.plan.public(NUMBERS, after);
            self.plan.local(Local::Insertion(Insertion::Merge { sorted, gaps, less, dst: merged }));
            sorted = Some(merged);
        }
        sorted.unwrap_or_else(|| unreachable!("there is a phase at least"))
    }

    /// Whether keys are less than others: public bits.
    fn opened_less(&mut self, sides: [Reg; 2], keys: Keys, count: usize) -> Reg {
        let less = self.less_of_words(sides, keys, count);
        let dst = self.plan.public(Domain::Bits, count);
        self.plan.interact(OpKind::Open { a: less, dst, how: Opening::Verified });
        dst
    }

    /// Blocks at public places.
    fn at_places(&mut self, a: Reg, index: Reg, block: usize) -> Reg {
        let cols = self.plan.shape(index).cols * block;
        let dst = self.fresh_as(a, self.plan.shape(a).domain, cols);
        self.plan.local(Local::Gather { a, index, block, dst });
        dst
    }

    /// Some elements that follow one another.
    fn stretch(&mut self, a: Reg, offset: usize, count: usize) -> Reg {
        let dst = self.fresh_as(a, self.plan.shape(a).domain, count);
        let layout = Layout { offset, shape: vec![count], strides: vec![1] };
        self.plan.local(Local::Copy { a, layout, at: 0, dst });
        dst
    }

    /// A column of what is brought into an order, whole.
    pub(super) fn column(&mut self, node: NodeId, from: NodeId) -> Column {
        let Place { reg, layout, format } = self.place(node, from);
        Column { node, reg: self.gathered(reg, layout), format }
    }
}

#[cfg(test)]
mod tests {
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use crate::plan::{OpKind, Plan};
    use crate::testing::{self, Clear};
    use crate::{
        Builder, Capabilities, Dtype, Fault, Program, ProofCosts, Range, Recipient, lower, lower_for_debug,
    };

    fn program(rows: usize, length: usize, (lo, hi): (i128, i128)) -> Program {
        let mut build = Builder::new();
        let keys = build.input("alice", "keys", Dtype::Int, &[rows, length], Range::new(lo, hi)).unwrap();
        let pairs =
            build.input("alice", "pairs", Dtype::Int, &[rows, length, 2], Range::new(-9, 9999)).unwrap();
        let bits = build.input("alice", "bits", Dtype::Bool, &[rows, length], None).unwrap();
        for sorted in [build.sort(keys, &[pairs, bits]).unwrap(), build.sort(bits, &[keys]).unwrap()] {
            for id in sorted {
                build.reveal(id, Recipient::All).unwrap();
            }
        }
        build.finish().unwrap()
    }

    fn inputs(rows: usize, length: usize, (lo, hi): (i128, i128)) -> Vec<Vec<u64>> {
        let count = (rows * length) as u64;
        let key = |at: u64| (lo + (i128::from(at) * 7919 % 97) * (hi - lo) / 96) as u64;
        vec![
            (0..count).map(key).collect(),
            (0..2 * count).collect(),
            (0..count).map(|at| at / 2 % 2).collect(),
        ]
    }

    fn rng(seed: u8) -> TestRng {
        TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32])
    }

    const ALL: [Capabilities; 4] = [
        Capabilities::TWO_COMPONENTS,
        Capabilities::THREE_COMPONENTS,
        Capabilities::THREE_COMPONENTS.with_proofs(ProofCosts { rounds: 12, many: 100, shuffled: 1 << 24 }),
        Capabilities::BITS,
    ];

    #[test]
    fn rows_are_sorted_whatever_a_protocol_has() {
        for capabilities in ALL.into_iter().flat_map(|all| [all, all.with_shuffle(3).with_sorts()]) {
            let whole = (-1 << 55, 1 << 55);
            for (rows, length, range) in [
                (1, 1, (0, 9)),
                (1, 2, (-5, 5)),
                (3, 7, (0, 3)),
                (1, 130, (-90, 100)),
                (2, 200, (0, 1 << 20)),
                (1, 9, whole),
            ] {
                testing::check(
                    &program(rows, length, range),
                    capabilities,
                    &inputs(rows, length, range),
                    rng(4),
                );
            }
        }
    }

    #[test]
    fn debug_runs_find_every_node() {
        for capabilities in ALL.into_iter().flat_map(|all| [all, all.with_shuffle(3).with_sorts()]) {
            let (program, inputs) = (program(2, 5, (-7, 7)), inputs(2, 5, (-7, 7)));
            let lowered = lower_for_debug(&program, capabilities).unwrap();
            let outputs = Clear::run(&lowered.plan, &inputs, rng(1));
            assert_eq!(crate::first_difference(&program, &lowered, &inputs, &outputs), Ok(None));
            assert!(lowered.outputs.iter().all(|output| lowered.source(output.node).is_some()));
        }
    }

    fn shuffles(plan: &Plan) -> usize {
        plan.ops.iter().filter(|op| matches!(op.kind, OpKind::Shuffle { .. })).count()
    }

    /// Where rows go is counted: nothing is compared, and one opening is all.
    #[test]
    fn bools_are_sorted_by_ranks() {
        let (program, inputs) = (bools(1, 301), inputs(1, 301, (0, 9)));
        for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
            let capabilities = capabilities.with_shuffle(3).with_sorts();
            testing::check(&program, capabilities, &inputs[1..], rng(2));
            let plan = lower(&program, capabilities).unwrap().plan;
            let opened = plan.ops.iter().filter(|op| matches!(op.kind, OpKind::Open { .. })).count();
            assert_eq!((shuffles(&plan), opened), (1, 1));
            assert!(!plan.ops.iter().any(|op| matches!(op.kind, OpKind::Circuit { .. })));
        }
    }

    /// Pairs of numbers, sorted by bools.
    fn bools(rows: usize, length: usize) -> Program {
        let mut build = Builder::new();
        let pairs =
            build.input("alice", "pairs", Dtype::Int, &[rows, length, 2], Range::new(0, 9999)).unwrap();
        let bits = build.input("alice", "bits", Dtype::Bool, &[rows, length], None).unwrap();
        for id in build.sort(bits, &[pairs]).unwrap() {
            build.reveal(id, Recipient::All).unwrap();
        }
        build.finish().unwrap()
    }

    /// Registers and levels grow with the logarithm of the number of rows.
    #[test]
    fn a_plan_is_small_whatever_it_sorts() {
        let sizes = [1 << 8, 1 << 14, 1 << 20].map(|length| {
            let mut build = Builder::new();
            let keys =
                build.input("alice", "keys", Dtype::Int, &[1, length], Range::new(0, 1 << 31)).unwrap();
            let sorted = build.sort(keys, &[]).unwrap()[0];
            build.reveal(sorted, Recipient::All).unwrap();
            let capabilities = Capabilities::TWO_COMPONENTS.with_shuffle(3).with_sorts();
            let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
            assert_eq!(shuffles(&plan), 1);
            (plan.registers.len(), plan.levels.len())
        });
        assert!(sizes.iter().all(|&(registers, levels)| registers < 800 && levels < 300), "{sizes:?}");
    }

    #[test]
    fn keys_that_networks_have_no_room_for_are_refused() {
        let mut build = Builder::new();
        let keys = build.input("alice", "keys", Dtype::Int, &[1, 64], Range::new(0, (1 << 62) - 1)).unwrap();
        let sorted = build.sort(keys, &[keys]).unwrap()[1];
        build.reveal(sorted, Recipient::All).unwrap();
        let program = build.finish().unwrap();
        let fault = *lower(&program, Capabilities::TWO_COMPONENTS).unwrap_err().fault;
        assert!(matches!(fault, Fault::Overflow { .. }), "{fault:?}");
        assert!(lower(&program, Capabilities::TWO_COMPONENTS.with_shuffle(3).with_sorts()).is_ok());
    }
}
