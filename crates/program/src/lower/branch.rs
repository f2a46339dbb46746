//! Branches: arms become regions of the plan where the protocol has means for them. Elsewhere all arms are steps like any others,
//! and what chooses between their results does so.

use super::lowering::Lowering;
use crate::branches::Arm;
use crate::capabilities::Feature;
use crate::node::NodeId;
use crate::plan::{Domain, Layout, Local, OpKind, Opening, Reg, Rows, Swap};

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

    /// What puts masks in their places, the same for both arms: `s ^ t` is opened where the condition `t` is there, which may
    /// be before the arm that the branch stands in is entered. So all conditions of a switch are opened at once.
    ///
    /// Nodes that are other views of one register are one condition: their arms are those of one branch in the region `parent`.
    fn swap(&mut self, arm: Arm, parent: u32, condition: Reg) -> Swap {
        if let Some(&known) = self.swaps.get(&(parent, condition)) {
            return known;
        }
        let region = self.region(self.program.branches.of_node[arm.condition.index()]);
        self.plan.in_region(region);
        let op = self.plan.operations() as u32;
        let [random, masked] = [(); 2].map(|()| self.fresh(Domain::Bits, 1));
        let opened = self.plan.public(Domain::Bits, 1);
        self.plan.interact(OpKind::Random { dst: random, bits: true });
        let [a, b, dst] = [random, condition, masked].map(|reg| Rows::one(reg, 0));
        self.plan.local(Local::Xor { a, b, dst });
        self.plan.interact(OpKind::Open { a: masked, dst: opened, how: Opening::Masked });
        let swap = Swap { op, opened };
        self.swaps.insert((parent, condition), swap);
        swap
    }

    /// The register of an arm's condition. A body that is repeated has one of its own: a branch there by a condition from outside
    /// isn't the one by the same condition before it.
    fn condition(&mut self, Arm { condition, body, .. }: Arm) -> Reg {
        let reg = self.whole(condition);
        let Some(body) = body.filter(|&body| !self.program.loops[body].body.contains(&condition.index()))
        else {
            return reg;
        };
        if let Some(&known) = self.conditions.get(&(body, reg)) {
            return known;
        }
        let dst = self.fresh(self.plan.shape(reg).domain, 1);
        self.plan.local(Local::Copy { a: reg, layout: Layout::whole(&[1]), at: 0, dst });
        self.conditions.insert((body, reg), dst);
        dst
    }

    /// An arm's region, made with the first of its nodes.
    fn region(&mut self, arm: u32) -> u32 {
        let Some(&own) = self.program.branches.arm(arm) else { return 0 };
        if let Some(&known) = self.regions.get(&arm) {
            return known;
        }
        let parent = self.region(own.parent);
        let condition = self.condition(own);
        let swap = self.capabilities.offers(Feature::MaskedArms).then(|| self.swap(own, parent, condition));
        let region = self.plan.masked_region(parent, Rows::one(condition, 0), own.set.into(), swap);
        self.regions.insert(arm, region);
        region
    }
}
