//! Branches: operations whose results count only where a condition holds.
//!
//! A region is one arm of a branch, and regions make a tree: region 0 is the whole plan and always active. Each operation
//! is in one region. All of them are executed, at the same levels whatever the conditions are, so that nobody learns
//! which arm is active, and layers of all arms share their messages. What an operation leaves where its region isn't active
//! is unspecified; so a plan chooses between the results of arms by their condition, after them.
//!
//! At most one of the arms of a branch is active. A protocol can use this: arms that exclude one another may share a
//! supply that only the active one uses up.

use super::registers::{Reg, Rows};
use super::steps::{OpKind, Opening};
use crate::domain::Domain;

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
    /// How the masks of the branch's arms are put in their places, if what they draw is masked; the same for all of them.
    pub swap: Option<Swap>,
}

/// A random bit `s` of one of two arms, and what was opened of it and the condition `t`: `s ^ t` (Heath, Kolesnikov, Peceny 2021,
/// figure 4). Arm `t` takes mask number `s`, which is a sharing of zeros, and the other one a random mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swap {
    /// The address of the operation that draws `s`, and the masks with it: [`OpKind::Random`](super::OpKind::Random).
    /// In a section it is that of the first turn, and each turn has masks of its own.
    pub op: u32,
    /// `s ^ t`, a public bit.
    pub opened: Reg,
}

/// Whether an operation tells nothing where its region isn't active and its operands may be anything: what it opens is masked by
/// triples, or by elements that are as uniform whatever they mask.
pub(super) fn may_be_in_arm(kind: &OpKind, domain: impl Fn(Reg) -> Domain) -> bool {
    match kind {
        OpKind::And { .. }
        | OpKind::Mul { .. }
        | OpKind::MatMul { .. }
        | OpKind::Circuit { .. }
        | OpKind::Random { .. } => true,
        // A number can be opened under a mask that hides a range alone; a bit can't.
        OpKind::Open { a, how: Opening::Masked, .. } => domain(*a) == Domain::Bits,
        OpKind::Open { how: Opening::Verified, .. }
        | OpKind::Split { .. }
        | OpKind::Inject { .. }
        | OpKind::Shift { .. }
        | OpKind::Msb { .. }
        | OpKind::PairMask { .. }
        | OpKind::Compose { .. }
        | OpKind::Shuffle { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feature;
    use crate::plan::{Builder, To, Width};

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
    #[should_panic(expected = "tells something inside a branch")]
    fn nothing_that_tells_anything_is_opened_inside_a_branch() {
        let mut builder = Builder::new();
        let (a, opened) = (builder.bits(1, 4), builder.public(Domain::Bits, 4));
        let arm = builder.region(0, Rows::one(a, 0), 1);
        builder.in_region(arm);
        builder.interact(OpKind::Open { a, dst: opened, how: Opening::Verified });
    }

    #[test]
    #[should_panic(expected = "tells something inside a branch")]
    fn no_number_is_opened_under_a_mask_of_its_range_inside_a_branch() {
        use crate::modulus::Modulus;
        let field = Domain::Modular(Modulus::Prime128);
        let mut builder = Builder::new();
        let (condition, a) = (builder.bits(1, 1), builder.row(field, 1));
        let opened = builder.public(field, 1);
        // Outside it may be.
        builder.interact(OpKind::Open { a, dst: opened, how: Opening::Masked });
        let arm = builder.region(0, Rows::one(condition, 0), 1);
        builder.in_region(arm);
        builder.interact(OpKind::Open { a, dst: opened, how: Opening::Masked });
    }

    /// Nor is anything done there that parties know components for, or that depends on a number's own range.
    #[test]
    fn what_only_some_protocols_do_with_numbers_is_not_done_inside_a_branch() {
        let ring = Domain::Ring(Width::W8);
        let kinds = [
            OpKind::Split { a: 1, bits: 8, s: 2 },
            OpKind::Inject { a: Rows::one(0, 0), dst: 1 },
            OpKind::Shift { a: 1, by: 3, dst: 3 },
            OpKind::Msb { a: 1, dst: 0 },
            OpKind::Shuffle { cols: vec![1], blocks: 4, turns: 3, dst: vec![3] },
            OpKind::PairMask { bits: 8, dst: 2 },
            OpKind::Compose { a: 2, mask: 2, dst: 3 },
        ];
        for kind in kinds {
            assert!(!may_be_in_arm(&kind, |_| ring), "{kind:?}");
            let in_arm = std::panic::catch_unwind(|| {
                let mut builder = Builder::new();
                let condition = builder.bits(1, 4);
                let (_, _, _) = (builder.row(ring, 4), builder.bits(8, 4), builder.row(ring, 4));
                let arm = builder.region(0, Rows::one(condition, 0), 1);
                builder.in_region(arm);
                builder.interact(kind.clone());
            });
            let refused = in_arm.expect_err("it is no step of an arm");
            let message = refused.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| refused.downcast_ref::<&str>().copied()).unwrap_or_default();
            assert!(message.contains("tells something inside a branch"), "{kind:?}: {message}");
        }
    }

    /// A branch with masks, in the making: its condition and swap.
    fn masked(builder: &mut Builder, cols: usize) -> (Rows, Swap) {
        let (condition, masked) = (builder.bits(1, cols), builder.bits(1, 1));
        let opened = builder.public(Domain::Bits, 1);
        let op = builder.operations() as u32;
        builder.interact(OpKind::Random { dst: masked, bits: true });
        builder.interact(OpKind::Open { a: masked, dst: opened, how: Opening::Masked });
        (Rows::one(condition, 0), Swap { op, opened })
    }

    #[test]
    fn masked_regions_know_their_swaps_from_the_inside_out() {
        let mut builder = Builder::new();
        let (outer, outer_swap) = masked(&mut builder, 1);
        let (inner, inner_swap) = masked(&mut builder, 1);
        let arms = [0, 1].map(|arm| builder.masked_region(0, outer, arm, Some(outer_swap)));
        let within = builder.masked_region(arms[1], inner, 0, Some(inner_swap));
        assert!(builder.needs().has(Feature::MaskedArms));
        let plan = builder.finish();
        assert!(plan.masks_arms());
        let around: Vec<(u8, Swap)> =
            plan.masked_around(within).map(|(region, swap)| (region.arm, swap)).collect();
        assert_eq!(around, [(0, inner_swap), (1, outer_swap)]);
        let mut other = plan.clone();
        other.regions[2].swap = Some(outer_swap);
        assert_ne!(plan.digest(), other.digest());
        other.regions[2].swap = None;
        assert!(!other.masks_arms());
    }

    #[test]
    #[should_panic(expected = "arms of one branch have the same masks, and no others do")]
    fn branches_dont_share_masks() {
        let mut builder = Builder::new();
        let (outer, swap) = masked(&mut builder, 1);
        let (inner, _) = masked(&mut builder, 1);
        let arm = builder.masked_region(0, outer, 1, Some(swap));
        builder.masked_region(arm, inner, 1, Some(swap));
    }

    #[test]
    #[should_panic(expected = "arms of one branch have the same masks, and no others do")]
    fn arms_of_a_branch_dont_differ_in_masks() {
        let mut builder = Builder::new();
        let (condition, swap) = masked(&mut builder, 1);
        builder.masked_region(0, condition, 1, Some(swap));
        builder.region(0, condition, 0);
    }

    #[test]
    #[should_panic(expected = "a single bit")]
    fn masks_are_put_in_their_places_for_all_columns_at_once() {
        let mut builder = Builder::new();
        let (condition, swap) = masked(&mut builder, 2);
        builder.masked_region(0, condition, 1, Some(swap));
    }

    #[test]
    #[should_panic(expected = "a single bit")]
    fn a_branch_with_masks_has_two_arms() {
        let mut builder = Builder::new();
        let (condition, swap) = masked(&mut builder, 1);
        builder.masked_region(0, condition, 2, Some(swap));
    }

    #[test]
    #[should_panic(expected = "no place is looked up inside a branch")]
    fn no_place_is_looked_up_inside_a_branch() {
        use crate::plan::{Local, Width};
        let mut builder = Builder::new();
        let [a, dst] = [(); 2].map(|()| builder.bits(1, 4));
        let index = builder.public(Domain::Ring(Width::W8), 4);
        let arm = builder.region(0, Rows::one(a, 0), 1);
        // Before the branch and after it a place may be looked up.
        builder.local(Local::Gather { a, index, block: 1, dst });
        builder.in_region(arm);
        builder.local(Local::Gather { a, index, block: 1, dst });
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
