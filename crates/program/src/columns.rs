//! Columns of a shuffle or a sort: where they have to stand.

use crate::error::Fault;
use crate::node::{Node, NodeId};
use crate::operations::Operation;

/// Why a node can't be where it is: what is shuffled or sorted as another one has to be one of its columns.
pub(crate) fn unsound(nodes: &[Node], node: &Node) -> Option<Fault> {
    if !is_shuffled_soundly(nodes, node) {
        return Some(Fault::NoShuffle);
    }
    (!is_sorted_soundly(nodes, node)).then_some(Fault::NoSort)
}

/// Whether a node is shuffled as another, which is a shuffle, and was there before it.
fn is_shuffled_soundly(nodes: &[Node], node: &Node) -> bool {
    let is_shuffle = |id: &NodeId| nodes[id.index()].operation == Operation::Shuffle;
    match (&node.operation, &node.operands[..]) {
        (Operation::ShuffleToo, [first, own]) => is_shuffle(first) && own < first,
        _ => true,
    }
}

/// Whether a node is sorted as another, which is a sort by the same keys, and was there before it.
fn is_sorted_soundly(nodes: &[Node], node: &Node) -> bool {
    let sorts = |id: &NodeId, keys: &NodeId| {
        let sort = &nodes[id.index()];
        sort.operation == Operation::Sort && sort.operands.first() == Some(keys)
    };
    match (&node.operation, &node.operands[..]) {
        (Operation::SortToo, [sort, keys, own]) => sorts(sort, keys) && own < sort,
        _ => true,
    }
}
