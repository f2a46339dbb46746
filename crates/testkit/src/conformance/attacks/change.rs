//! What is done to messages, and how that ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Sort;

/// What is done to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A bit is flipped.
    Flip,
    /// So many neighbouring bits are flipped, or all if there are fewer.
    Flips(usize),
    /// A bit is flipped here, and one in each of the next messages of the same sort, an even number in all.
    FlipsInSeveral,
    /// The contents are others.
    Random,
    /// The contents are those of another message of the same sort and length.
    OfAnother,
    /// The contents are those of the same message in another session.
    OfAnotherSession,
    /// The last byte is missing.
    Truncate,
    /// There is a byte too many.
    Extend,
    /// It isn't sent.
    Missing,
    /// It is sent twice.
    Twice,
    /// Nothing is sent to its receiver from here on.
    Silence,
}

pub(super) const CHANGES: [Change; 13] = [
    Change::Flip,
    Change::Flips(2),
    Change::Flips(32),
    Change::Flips(64),
    Change::Flips(usize::MAX),
    Change::FlipsInSeveral,
    Change::Random,
    Change::OfAnother,
    Change::OfAnotherSession,
    Change::Truncate,
    Change::Extend,
    Change::Missing,
    Change::Twice,
];
/// How runs with deviations ended, by what was done to what.
#[derive(Debug)]
pub struct Tally {
    sorts: &'static [Sort],
    /// By the sort's place in the protocol's table.
    counts: BTreeMap<(usize, Change), [usize; 2]>,
}

impl Tally {
    pub(super) fn new(sorts: &'static [Sort]) -> Self {
        Self { sorts, counts: BTreeMap::new() }
    }

    pub(super) fn count(&mut self, sort: usize, change: Change, caught: bool) {
        self.counts.entry((sort, change)).or_default()[usize::from(caught)] += 1;
    }

    /// The sorts of messages that were changed, in the order of the protocol's table.
    pub fn sorts(&self) -> Vec<&'static str> {
        let sorts: BTreeSet<usize> = self.counts.keys().map(|(sort, _)| *sort).collect();
        sorts.into_iter().map(|sort| self.sorts[sort].what).collect()
    }

    /// How many kinds there were, of a change of a sort.
    pub fn kinds(&self) -> usize {
        self.counts.len()
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut table = format!("{:<34}{:<28}{:>8}{:>8}\n", "message", "change", "right", "caught");
        for ((sort, change), [right, caught]) in &self.counts {
            let (sort, change) = (self.sorts[*sort].what, format!("{change:?}"));
            // Writing into a string can't fail.
            let _ = writeln!(table, "{sort:<34}{change:<28}{right:>8}{caught:>8}");
        }
        table
    }
}
