//! Mistakes that let a coin or an opening of MASCOT's out too early, where its table of releases shows it.

#[path = "../../mascot/tests/common/mod.rs"]
mod common;
#[path = "../../mascot/tests/order/table.rs"]
mod table;
#[path = "../../mascot/tests/order/withheld.rs"]
mod withheld;

use std::collections::BTreeSet;
use tacit_mascot::planted::{Mistake, plant};

#[test]
fn what_leaves_early_is_seen() {
    assert_eq!(withheld::early(2, || plant(&[Mistake::CombinedEarly])), BTreeSet::from(["r and r^"]));
    let authenticated = withheld::early(2, || plant(&[Mistake::AuthenticatedEarly]));
    assert_eq!(authenticated, BTreeSet::from(["the coin of Authenticate"]));
    // Its toss is the second one then, and the others are a number later.
    let sacrificed = withheld::early(2, || plant(&[Mistake::SacrificedEarly]));
    assert!(sacrificed.contains("the coin of Authenticate"), "{sacrificed:?}");
    let opened = withheld::early(2, || plant(&[Mistake::OpenedWithCommitment]));
    assert_eq!(opened, BTreeSet::from(["sigma of its check", "sigma of the last check"]));
}
