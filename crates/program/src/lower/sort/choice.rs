//! Which way a sort goes where a protocol has both: by what is sent and how often messages wait for one another, roughly.

use crate::capabilities::{Capabilities, ProofCosts};
use crate::insertion::phases;
use crate::lower::shuffle::BLOCK_BITS;
use crate::lower::weight::ROUND;
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::program::Program;
use crate::types::{Dtype, Type};
use crate::width::Format;

/// What sorts cost and allow where nothing is proved. From [`ProofCosts::many`] comparisons on an AND is spent on each bit, and a
/// round.
const UNPROVED: ProofCosts = ProofCosts { rounds: 0, many: 1 << 14, shuffled: usize::MAX };

/// Elements that a row has beside the columns' when it is shuffled: the key and its place.
const KEY_ELEMENTS: usize = 2;

/// Whether keys are sorted by ranks: one row of bools.
pub(in crate::lower) fn is_by_ranks(keys: &Type) -> bool {
    keys.kind == Dtype::Bool && keys.shape[0] == 1
}

/// Whether a network is cheaper than opened comparisons of shuffled rows, for matrices of very short rows; or columns are too
/// large to be shuffled.
pub(in crate::lower) fn is_network_cheaper(program: &Program, sort: NodeId, offered: Capabilities) -> bool {
    let keys = &program.node(program.node(sort).operands[0]).ty;
    let (rows, length) = (keys.len(), keys.shape[1]);
    let own = Format::of(keys).bits as u64;
    let is_too = |node: &&Node| node.operation == Operation::SortToo && node.operands[0] == sort;
    let too = || program.nodes().iter().filter(is_too);
    let bits = |node: &Node| (node.ty.len() / rows.max(1)) as u64 * Format::of(&node.ty).bits as u64;
    let columns: u64 = too().map(bits).sum();
    let proofs = offered.proofs.unwrap_or(UNPROVED);
    let row = KEY_ELEMENTS + too().map(|node| node.ty.len() / rows.max(1)).sum::<usize>();
    let most = too().map(|node| node.ty.len()).fold(rows, usize::max);
    let is_too_large = most > proofs.shuffled || 64 * row as u64 > BLOCK_BITS;
    let opened = if is_by_ranks(keys) && !offered.numbers.are_bits() {
        ranked(rows, columns, proofs)
    } else {
        opened(rows, own, columns, proofs)
    };
    is_too_large || opened > network(rows, length, own, columns)
}

/// What each party sends, and rounds, for keys of a bit: an injection, a product, ranks and columns in the shuffle, an opening.
fn ranked(rows: usize, columns: u64, proofs: ProofCosts) -> u64 {
    const RANK: u64 = 32;
    let rounds = 9 + proofs.rounds;
    (rows as u64 * (4 * RANK + 2 * (RANK + 1 + columns))).saturating_add(rounds * ROUND)
}

/// What each party sends, and rounds: for keys of so many bits, and columns of so many together.
fn opened(rows: usize, key: u64, columns: u64, proofs: ProofCosts) -> u64 {
    let word = key + log2(rows);
    // A split and an adder; two elements of each column in the shuffle.
    let (mut bits, mut rounds) =
        (rows as u64 * (2 * key + 2 * (word + key + columns)), 5 + log2(key as usize));
    for phase in phases(rows) {
        let new = phase.after - phase.before;
        for (count, times) in [(new, u64::from(phase.levels)), (phase.pairs, 1)] {
            let (ands, deep) =
                if count < proofs.many { (3 * word, 1 + log2(word as usize)) } else { (word, word) };
            bits += times * count as u64 * (ands + 1);
            rounds += times * (deep + 1 + proofs.rounds);
        }
    }
    bits.saturating_add(rounds * ROUND)
}

/// The same of a bitonic network: with an injection of each outcome, and two products in each column.
fn network(rows: usize, length: usize, key: u64, columns: u64) -> u64 {
    let stages = log2(length);
    let levels = stages * (stages + 1) / 2;
    let each = 3 * key + 2 * (key + columns) + key;
    let bits = (rows as u64 / 2 * levels).saturating_mul(each);
    bits.saturating_add(levels * (log2(key as usize) + 6) * ROUND)
}

/// Rounded up.
fn log2(number: usize) -> u64 {
    number.next_power_of_two().trailing_zeros().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::OpKind;
    use crate::{Builder, Capabilities, Range, Recipient, lower};

    /// What is too large to be shuffled, or for the proof of it, is sorted by a network.
    #[test]
    fn columns_that_cannot_be_shuffled_have_networks() {
        let is_shuffled = |rows: usize, width: usize, capabilities: Capabilities| {
            let mut build = Builder::new();
            let range = Range::new(0, 3);
            let keys = build.input("alice", "keys", Dtype::Int, &[1, rows], range).unwrap();
            let column = build.input("alice", "column", Dtype::Int, &[1, rows, width], range).unwrap();
            let sorted = build.sort(keys, &[column]).unwrap();
            build.reveal(sorted[1], Recipient::All).unwrap();
            let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
            plan.ops.iter().any(|op| matches!(op.kind, OpKind::Shuffle { .. }))
        };
        for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
            let capabilities = capabilities.with_shuffle(3).with_sorts();
            assert!(is_shuffled(64, 10, capabilities));
            assert!(!is_shuffled(64, 8191, capabilities), "a row of more than 2^19 bits");
        }
        let proved = |shuffled| {
            let offered = Capabilities::THREE_COMPONENTS.with_shuffle(3).with_sorts();
            offered.with_proofs(ProofCosts { rounds: 12, many: 1 << 12, shuffled })
        };
        assert!(is_shuffled(64, 10, proved(640)) && !is_shuffled(64, 10, proved(639)));
    }

    #[test]
    fn networks_are_for_very_short_rows() {
        for (rows, length, is_network) in [
            (2, 2, true),
            (2000, 2, true),
            (300, 3, true),
            (4, 4, false),
            (100, 100, false),
            (1 << 20, 1 << 20, false),
        ] {
            for (key, columns) in [(8, 0), (32, 32), (64, 64)] {
                let [one, other] =
                    [opened(rows, key, columns, UNPROVED), network(rows, length, key, columns)];
                assert_eq!(one > other, is_network, "{rows} in rows of {length}: {one}, {other}");
            }
        }
    }
}
