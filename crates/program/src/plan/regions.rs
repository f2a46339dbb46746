//! Branches: operations whose results count only where a condition holds.
//!
//! A region is one arm of a branch, and regions make a tree: region 0 is the whole plan and always active. Each operation
//! is in one region. All of them are executed, at the same levels whatever the conditions are, so that nobody learns
//! which arm is active, and layers of all arms share their messages. What an operation leaves where its region isn't active
//! is unspecified; so a plan chooses between the results of arms by their condition, after them.
//!
//! At most one of the arms of a branch is active. A protocol can use this: arms that exclude one another may share a
//! supply that only the active one uses up.

use super::{Plan, Rows};

/// A region other than the whole plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The region that the branch stands in.
    pub parent: u32,
    /// The number of the arm that is active: a row for each of its bits, the lowest first. One column for all, or one for
    /// each instance.
    pub condition: Rows,
    /// The arm that this is.
    pub arm: u8,
}

impl Plan {
    /// A region; `None` of the whole plan.
    pub fn region(&self, region: u32) -> Option<&Region> {
        self.regions.get((region as usize).checked_sub(1)?)
    }

    /// A region and those around it, the innermost first; without the whole plan.
    fn around(&self, region: u32) -> impl Iterator<Item = &Region> {
        std::iter::successors(self.region(region), |inner| self.region(inner.parent))
    }

    /// Whether two regions are never active at the same place: they are in different arms of a branch.
    pub fn exclude_each_other(&self, one: u32, other: u32) -> bool {
        let apart =
            |a: &Region, b: &Region| (a.parent, a.condition) == (b.parent, b.condition) && a.arm != b.arm;
        self.around(one).any(|a| self.around(other).any(|b| apart(a, b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feature;
    use crate::plan::{Builder, OpKind, Reg, To};

    #[test]
    fn arms_exclude_each_other_and_share_levels_after_their_condition() {
        let mut builder = Builder::new();
        let owner = builder.role("alice");
        let [a, b, which, condition] = [(); 4].map(|()| builder.bits(1, 4));
        for reg in [a, b, which] {
            builder.input(owner, reg);
        }
        let and = |builder: &mut Builder, a: Reg, b: Reg, dst: Reg| {
            let [a, b, dst] = [a, b, dst].map(|reg| Rows::one(reg, 0));
            builder.interact(OpKind::And { a, b, dst });
        };
        and(&mut builder, which, which, condition);
        let results = [(); 3].map(|()| builder.bits(1, 4));
        let arms = [0, 1].map(|arm| builder.region(0, Rows::one(condition, 0), arm));
        let inner = builder.region(arms[1], Rows::one(which, 0), 0);
        for (region, result) in [arms[0], arms[1], inner].into_iter().zip(results) {
            builder.in_region(region);
            and(&mut builder, a, b, result);
        }
        builder.in_region(0);
        assert!(builder.needs().has(Feature::Branches));
        for reg in results {
            builder.output(reg, To::All);
        }
        let plan = builder.finish();
        assert!(plan.needs.has(Feature::Branches) && !plan.needs.has(Feature::Mul));
        assert_eq!(plan.ops.iter().map(|op| op.region).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // The operands were there before, the condition wasn't.
        assert_eq!(plan.levels.iter().map(|level| level.stages.len()).collect::<Vec<_>>(), [1, 3]);
        assert!(plan.levels[1].free.contains(&condition));
        let pairs = |one| (0..4).map(|other| plan.exclude_each_other(one, other)).collect::<Vec<_>>();
        assert_eq!(pairs(0), [false; 4]);
        assert_eq!(pairs(1), [false, false, true, true]);
        assert_eq!(pairs(2), [false, true, false, false]);
        assert_eq!(pairs(3), [false, true, false, false]);
        let mut elsewhere = plan.clone();
        elsewhere.ops[1].region = 2;
        assert_ne!(plan.digest(), elsewhere.digest());
    }

    #[test]
    #[should_panic(expected = "inside a branch")]
    fn nothing_that_tells_anything_is_opened_inside_a_branch() {
        use crate::plan::{Domain, Opening};
        let mut builder = Builder::new();
        let (a, opened) = (builder.bits(1, 4), builder.public(Domain::Bits, 4));
        let arm = builder.region(0, Rows::one(a, 0), 1);
        builder.in_region(arm);
        builder.interact(OpKind::Open { a, dst: opened, how: Opening::Verified });
    }

    #[test]
    #[should_panic(expected = "no place is looked up inside a branch")]
    fn no_place_is_looked_up_inside_a_branch() {
        use crate::plan::{Domain, Local, Width};
        let mut builder = Builder::new();
        let [a, dst] = [(); 2].map(|()| builder.bits(1, 4));
        let index = builder.public(Domain::Ring(Width::W8), 4);
        let arm = builder.region(0, Rows::one(a, 0), 1);
        // Before the branch and after it a place may be looked up.
        builder.local(Local::Gather { a, index, dst });
        builder.in_region(arm);
        builder.local(Local::Gather { a, index, dst });
    }

    #[test]
    #[should_panic(expected = "there is no region 2")]
    fn operations_are_in_regions_that_there_are() {
        let mut builder = Builder::new();
        let a = builder.bits(1, 4);
        builder.region(0, Rows::one(a, 0), 1);
        builder.in_region(2);
    }
}
