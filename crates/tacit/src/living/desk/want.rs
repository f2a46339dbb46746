//! What parties want: programs and tags, in bounded number.

use super::willing::Willing;
use crate::living::control::Proposal;
use std::collections::{BTreeSet, HashSet};

/// Bytes of a tag.
pub(crate) const MAX_TAG: usize = 256;
/// A program by its hash, and the tag under which a run of it is wanted.
pub(crate) type Want = ([u8; 32], String);

/// Runs that one party may want at a time, as party 0 counts them.
const MAX_WANTED: usize = 1 << 12;

/// What is wanted here, and at party 0 by whom.
pub(super) struct Wants {
    /// Programs that run for those who want them alone.
    pub(super) programs: HashSet<[u8; 32]>,
    /// What this party wants.
    pub(super) own: BTreeSet<Want>,
    /// What party 0 is still to be told of that.
    pub(super) unsaid: BTreeSet<Want>,
    /// Who wants what, at party 0.
    pub(super) by: Willing<Want>,
    /// What came to nothing, and why.
    pub(super) failed: Vec<(Want, String)>,
}

impl Wants {
    pub(super) fn new(everybody: usize) -> Self {
        let (programs, own, unsaid, failed) = Default::default();
        Self { programs, own, unsaid, by: Willing::new(everybody), failed }
    }

    /// Whether a program runs only if all parties want it.
    pub(super) fn is_for(&self, program: &[u8; 32]) -> bool {
        self.programs.contains(program)
    }

    pub(super) fn has(&self, want: &Want) -> bool {
        self.own.contains(want)
    }

    /// Party 0 notes who wants what: of each party so much, and no longer tags than a party may want.
    pub(super) fn is_wanted_by(&mut self, party: usize, want: Want) {
        if want.1.len() <= MAX_TAG && self.by.count(party) < MAX_WANTED {
            self.by.add(want, party);
        }
    }

    pub(super) fn is_wanted_no_more(&mut self, party: usize, want: &Want) {
        self.by.remove(want, party);
    }

    /// Party 0 has lost a party.
    pub(super) fn lose(&mut self, party: usize) {
        self.by.lose(party);
    }

    /// Party 0 has forgotten all.
    pub(super) fn say_again(&mut self) {
        self.unsaid.clone_from(&self.own);
    }

    pub(super) fn is_proposed(&mut self, want: &Want) {
        self.by.take(want);
    }

    /// A run of what is wanted doesn't begin.
    pub(super) fn came_to_nothing(&mut self, proposal: &Proposal, reason: &str) {
        let want = (proposal.program, proposal.tag.clone());
        if self.own.remove(&want) {
            self.unsaid.remove(&want);
            self.failed.push((want, reason.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_of_wants_is_bounded_for_each_party() {
        let mut wants = Wants::new(3);
        let want = |at: usize, len: usize| ([7; 32], format!("{at:0len$}"));
        wants.is_wanted_by(1, want(0, MAX_TAG + 1));
        assert_eq!(wants.by.count(1), 0);
        for at in 0..=MAX_WANTED {
            wants.is_wanted_by(1, want(at, MAX_TAG));
        }
        assert_eq!(wants.by.count(1), MAX_WANTED);
        // Another one is as free to want, and who wants no more of one may want another.
        wants.is_wanted_by(2, want(MAX_WANTED, MAX_TAG));
        wants.is_wanted_no_more(1, &want(0, MAX_TAG));
        wants.is_wanted_by(1, want(MAX_WANTED + 1, MAX_TAG));
        assert_eq!([1, 2].map(|party| wants.by.count(party)), [MAX_WANTED, 1]);
    }
}
