//! Blocks in an order that nobody knows.
//!
//! Any order of them is a right result. The reference's and the shadow's is the one that they have, and plans of debug runs
//! keep it too. So what a program reveals should not depend on it.

use super::entry::Entry;
use crate::error::Fault;

const NO_ARM: &str = "nothing can be shuffled in an arm";

pub(super) fn shuffle() -> Entry<'static> {
    Entry::new("shuffle", 48, Some(1))
        .typed(|_, x| match x[0].rank() {
            0 => Err(Fault::Axis { axis: 0, rank: 0 }),
            _ => Ok((x[0].kind, x[0].shape.clone(), x[0].range)),
        })
        .secret()
        .not_in_arms(NO_ARM)
        .moved(crate::plan::Layout::clone)
}

pub(super) fn shuffle_too() -> Entry<'static> {
    Entry::new("shuffle", 49, Some(2))
        .typed(|operation, x| {
            if x[1].shape.first() != x[0].shape.first() {
                return Err(Fault::Shapes { operation, a: x[0].shape.clone(), b: x[1].shape.clone() });
            }
            Ok((x[1].kind, x[1].shape.clone(), x[1].range))
        })
        .secret()
        .not_in_arms(NO_ARM)
}
