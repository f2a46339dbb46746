//! Values in an order that nobody knows.

use super::Builder;
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::Operation;

impl Builder {
    /// Values whose first axes have one length, each with its blocks along that axis in an order that is the same for all of
    /// them, uniformly random, and known to nobody. Nothing that is revealed should depend on the order but by chance.
    pub fn shuffle(&mut self, values: &[NodeId]) -> Result<Vec<NodeId>, ProgramError> {
        let Some((&first, others)) = values.split_first() else {
            return Err(self.fault(Fault::NoOperands { operation: "shuffle" }));
        };
        let shuffle = self.push(Operation::Shuffle, &[first])?;
        let mut shuffled = vec![shuffle];
        for &other in others {
            shuffled.push(self.push(Operation::ShuffleToo, &[shuffle, other])?);
        }
        Ok(shuffled)
    }
}
