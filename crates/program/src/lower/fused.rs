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
}

impl Rectified {
    /// What a truncation rectifies, too.
    pub(super) fn operand(&self, truncation: NodeId) -> Option<NodeId> {
        self.operands.get(&truncation).copied()
    }

    /// Whether a node has no elements of its own.
    pub(super) fn leaves_out(&self, id: NodeId) -> bool {
        self.between.contains(&id)
    }
}
