//! Mistakes that let a coin or an opening of MASCOT's out too early, where its table of releases shows it.

#[path = "../../mascot/tests/common/mod.rs"]
mod common;
#[path = "../../mascot/tests/order/table.rs"]
mod table;
#[path = "../../mascot/tests/order/withheld.rs"]
mod withheld;

use std::collections::BTreeSet;
use table::{Made, TABLES};
use tacit_mascot::planted::{Mistake, plant};
use tacit_ot::planted::{Mistake as OfTransfers, plant as plant_in_transfers};

/// What leaves early of what two parties make.
fn early(wanted: Made, plant: fn()) -> BTreeSet<&'static str> {
    let tables = TABLES.iter().filter(|(made, ..)| *made == wanted);
    tables.flat_map(|(made, table, _)| withheld::early(2, (*made, plant), table, 1)).collect()
}

#[test]
fn what_leaves_early_is_seen() {
    let combined = early(Made::Triples, || plant(&[Mistake::CombinedEarly]));
    assert_eq!(combined, BTreeSet::from(["r and r^"]));
    let combined = early(Made::Batches, || plant(&[Mistake::CombinedEarly]));
    assert_eq!(combined, BTreeSet::from(["r and r^ of both batches"]));
    for made in [Made::Triples, Made::Inputs, Made::CheckedBits] {
        let authenticated = early(made, || plant(&[Mistake::AuthenticatedEarly]));
        assert_eq!(authenticated, BTreeSet::from(["the coin of Authenticate"]));
    }
    // Its toss is the second one then, and the others are a number later.
    let sacrificed = early(Made::Triples, || plant(&[Mistake::SacrificedEarly]));
    assert!(sacrificed.contains("the coin of Authenticate"), "{sacrificed:?}");
    let opened = early(Made::Triples, || plant(&[Mistake::OpenedWithCommitment]));
    assert_eq!(opened, BTreeSet::from(["sigma of its check", "sigma of the last check"]));
    let opened = early(Made::Inputs, || plant(&[Mistake::OpenedWithCommitment]));
    assert_eq!(opened, BTreeSet::from(["sigma of its check"]));
    let opened = early(Made::CheckedBits, || plant(&[Mistake::OpenedWithCommitment]));
    assert_eq!(opened, BTreeSet::from(["sigma of its check", "sigma of the sums' check"]));
    for (made, what) in
        [(Made::Squares, "sigma of the squares' check"), (Made::Bits, "sigma of the bits' check")]
    {
        assert_eq!(early(made, || plant(&[Mistake::OpenedWithCommitment])), BTreeSet::from([what]));
    }
    let unanswered = early(Made::Triples, || plant_in_transfers(&[OfTransfers::AnswersUnawaited]));
    assert_eq!(unanswered, BTreeSet::from(["differences"]));
    let unanswered = early(Made::ManyInputs, || plant_in_transfers(&[OfTransfers::AnswersUnawaited]));
    assert_eq!(unanswered, BTreeSet::from(["trees"]));
    let base = early(Made::ManyInputs, || plant_in_transfers(&[OfTransfers::VoleBaseCoinEarly]));
    assert_eq!(base, BTreeSet::from(["the coin of a base"]));
    let trees = early(Made::ManyInputs, || plant_in_transfers(&[OfTransfers::VoleCoinEarly]));
    assert_eq!(trees, BTreeSet::from(["the coin of trees"]));
}
