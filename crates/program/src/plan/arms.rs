//! Where regions of a plan stand in one another.

use super::regions::{Region, Swap};
use super::types::Plan;

impl Plan {
    /// A region; `None` of the whole plan.
    pub fn region(&self, region: u32) -> Option<&Region> {
        self.regions.get((region as usize).checked_sub(1)?)
    }

    /// A region and those around it, the innermost first; without the whole plan.
    fn around(&self, region: u32) -> impl Iterator<Item = &Region> {
        std::iter::successors(self.region(region), |inner| self.region(inner.parent))
    }

    /// A region and those around it that have masks, the innermost first.
    pub fn masked_around(&self, region: u32) -> impl Iterator<Item = (&Region, Swap)> {
        self.around(region).filter_map(|region| Some((region, region.swap?)))
    }

    /// Whether what arms draw is masked, of all arms that there are.
    pub fn masks_arms(&self) -> bool {
        !self.regions.is_empty() && self.regions.iter().all(|region| region.swap.is_some())
    }

    /// Whether two regions are never active at the same place: they are in different arms of a branch.
    pub fn exclude_each_other(&self, one: u32, other: u32) -> bool {
        let apart =
            |a: &Region, b: &Region| (a.parent, a.condition) == (b.parent, b.condition) && a.arm != b.arm;
        self.around(one).any(|a| self.around(other).any(|b| apart(a, b)))
    }
}
