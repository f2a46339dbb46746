//! Branches: arms become regions of the plan where the protocol has means for them. Elsewhere all arms are steps like any others,
//! and what chooses between their results does so.

use super::Lowering;
use crate::capabilities::Feature;
use crate::plan::Rows;
use crate::program::NodeId;

impl Lowering<'_> {
    /// The next operations are those of a node, in its arm.
    pub(super) fn enter_arm_of(&mut self, id: NodeId) {
        // A debug run shows all values, also those of arms that aren't taken.
        if self.debug || !self.capabilities.offers(Feature::Branches) || self.program.branches.arms.is_empty()
        {
            return;
        }
        let arm = self.program.branches.of_node[id.index()];
        let region = self.region(arm);
        self.plan.in_region(region);
    }

    /// What follows is in no arm.
    pub(super) fn leave_arms(&mut self) {
        self.plan.in_region(0);
    }

    /// An arm's region, made with the first of its nodes.
    fn region(&mut self, arm: u32) -> u32 {
        let Some(&own) = self.program.branches.arm(arm) else { return 0 };
        if let Some(&known) = self.regions.get(&arm) {
            return known;
        }
        let parent = self.region(own.parent);
        let condition = self.whole(own.condition);
        let region = self.plan.region(parent, Rows::one(condition, 0), own.set.into());
        self.regions.insert(arm, region);
        region
    }
}
