//! A program's nodes.

use crate::operations::Operation;
use crate::types::Type;

/// Nodes that a program may have.
pub const MAX_NODES: usize = 1 << 20;

/// A node's number in its program or its builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The node of this number; a builder refuses one that isn't there.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its place among the nodes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value of a program and how it comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What makes it.
    pub operation: Operation,
    /// From which values, all of them earlier nodes.
    pub operands: Vec<NodeId>,
    /// What it is.
    pub ty: Type,
    /// Index in [`crate::Program::sources`].
    pub(crate) source: u32,
}
