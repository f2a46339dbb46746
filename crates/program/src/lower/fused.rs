//! Maxima with 0 and truncations that go as one.

use std::collections::{HashMap, HashSet};

use crate::node::NodeId;

/// What is rectified and truncated at once.
#[derive(Default)]
pub(super) struct Rectified {
    /// The operand of the maximum, by the truncation.
    pub(super) operands: HashMap<NodeId, NodeId>,
    /// Nodes between them, which nothing else reads.
    pub(super) between: HashSet<NodeId>,
    /// By the truncation, the node that assumes its result to be below a power of two, and which: so many bits of it.
    pub(super) bounds: HashMap<NodeId, (NodeId, u8)>,
}

impl Rectified {
    /// What a truncation rectifies, too.
    pub(super) fn operand(&self, truncation: NodeId) -> Option<NodeId> {
        self.operands.get(&truncation).copied()
    }

    /// Below which power of two its result has to be, if what rectifies it looks.
    pub(super) fn bound(&self, truncation: NodeId) -> Option<u8> {
        self.bounds.get(&truncation).map(|&(_, bits)| bits)
    }

    /// Whether a node's range is looked at where what it is assumed of is rectified.
    pub(super) fn looks_at(&self, assumption: NodeId) -> bool {
        self.bounds.values().any(|&(id, _)| id == assumption)
    }

    /// Whether a node has no elements of its own.
    pub(super) fn leaves_out(&self, id: NodeId) -> bool {
        self.between.contains(&id)
    }
}
