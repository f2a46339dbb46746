//! Arms of branches.

use super::{Builder, Method};
use crate::error::ProgramError;
use crate::node::NodeId;
use crate::operations::Operation;

/// What can be called by name ([`Builder::call`]).
pub(super) const METHODS: &[(&str, Method)] =
    &[("if_set", Method::Two(Builder::if_set)), ("unless_set", Method::Two(Builder::unless_set))];

impl Builder {
    /// `a`, in the arm of a branch that is taken where `condition`, a single bool, is set. What is made of it is in that arm, until
    /// [`Self::select`] by the same condition chooses between the results of both arms; it can't be revealed before.
    ///
    /// All arms are computed. Protocols with means for branches let arms that exclude one another share messages.
    pub fn if_set(&mut self, condition: NodeId, a: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::Within { set: true }, &[condition, a])
    }

    /// The same for the arm that is taken where `condition` isn't set.
    pub fn unless_set(&mut self, condition: NodeId, a: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::Within { set: false }, &[condition, a])
    }
}
