//! Runs that parties want with inputs of their own: each says so of a program and a tag, and the run is proposed once all have.

use super::willing::Willing;
use super::{Desk, MAX_TAG, Stage};
use crate::living::control::{Between, Proposal, write};
use std::collections::{BTreeSet, HashSet};
use tacit_net::setup::{Hub, Speaker};

/// A program by its hash, and the tag under which a run of it is wanted.
pub(crate) type Want = ([u8; 32], String);

/// Runs that one party may want at a time, as party 0 counts them.
const MAX_WANTED: usize = 1 << 12;

/// What is wanted here, and at party 0 by whom.
pub(super) struct Wants {
    /// Programs that run for those who want them alone.
    programs: HashSet<[u8; 32]>,
    /// What this party wants.
    own: BTreeSet<Want>,
    /// What party 0 is still to be told of that.
    unsaid: BTreeSet<Want>,
    /// Who wants what, at party 0.
    by: Willing<Want>,
    /// What came to nothing, and why.
    failed: Vec<(Want, String)>,
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

impl Desk {
    /// Says of a program that its runs are those alone that all parties want; which of its names clients play, and whether it
    /// keeps anything: of such runs one is under way at a time.
    pub(crate) fn expect(&mut self, program: [u8; 32], needs: Vec<String>, keeps: bool) {
        self.programs.entry(program).or_insert(needs);
        self.wants.programs.insert(program);
        if keeps {
            self.keepers.insert(program);
        }
    }

    /// This party wants a run, and has its inputs ready.
    pub(crate) fn want(&mut self, want: Want) {
        if self.me == 0 {
            self.wants.is_wanted_by(0, want.clone());
        } else {
            self.wants.unsaid.insert(want.clone());
        }
        self.wants.own.insert(want);
    }

    /// Whether this party has accepted a run that it wants: how that ends is what counts. One that is under way is of an earlier
    /// want, as it uses that up.
    pub(crate) fn is_bound_to(&self, want: &Want) -> bool {
        self.runs_of_want(want).any(|(_, stage)| stage == Stage::Accepted)
    }

    fn runs_of_want<'a>(&'a self, want: &'a Want) -> impl Iterator<Item = (u64, Stage)> + 'a {
        let its = |run: &super::Pending| (&run.proposal.program, &run.proposal.tag) == (&want.0, &want.1);
        self.runs.iter().filter(move |(_, run)| its(run)).map(|(run, pending)| (*run, pending.stage))
    }

    /// This party wants a run no more, which hasn't begun and which it hasn't accepted.
    pub(crate) fn unwant(&mut self, hub: &mut Hub, want: &Want) {
        self.wants.own.remove(want);
        let waiting = self.runs_of_want(want).filter(|(_, stage)| *stage != Stage::Running);
        for (run, _) in waiting.collect::<Vec<_>>() {
            self.give_up(hub, run, "doesn't want the run any more");
        }
        if self.me == 0 {
            self.wants.is_wanted_no_more(0, want);
        } else if !self.wants.unsaid.remove(want) {
            let (program, tag) = want.clone();
            hub.say(Speaker::Party(0), write(&Between::Unwant { program, tag }));
        }
    }

    /// What this party wanted and came to nothing, with the reasons.
    pub(crate) fn come_to_nothing(&mut self) -> Vec<(Want, String)> {
        std::mem::take(&mut self.wants.failed)
    }

    pub(super) fn say_wants(&mut self, hub: &mut Hub) {
        if self.me != 0 && hub.reaches(0) {
            for (program, tag) in std::mem::take(&mut self.wants.unsaid) {
                hub.say(Speaker::Party(0), write(&Between::Want { program, tag }));
            }
        }
    }

    /// What all parties want and may begin now, the oldest first.
    pub(super) fn due(&self) -> impl Iterator<Item = &Want> {
        self.wants.by.due().into_iter().filter(|want| self.has_turn(&want.0))
    }

    /// The oldest run of parties alone among those.
    pub(super) fn wanted_alone(&self) -> Option<Want> {
        let is_alone = |want: &&Want| self.programs.get(&want.0).is_some_and(Vec::is_empty);
        self.due().find(is_alone).cloned()
    }

    /// Whether a run that this party wants has begun: its want is used up.
    pub(super) fn takes_want(&mut self, proposal: &Proposal) {
        self.wants.own.remove(&(proposal.program, proposal.tag.clone()));
    }

    /// A run of what is wanted doesn't begin, for whatever reason: who wants it asks anew if it likes.
    pub(super) fn want_failed(&mut self, proposal: &Proposal, reason: &str) {
        self.wants.came_to_nothing(proposal, reason);
    }

    /// Ends what waits. What this party has accepted party 0 begins, or takes back.
    pub(super) fn close_wants(&mut self, reason: &str) {
        let own = std::mem::take(&mut self.wants.own);
        let (bound, free) = own.into_iter().partition(|want| self.is_bound_to(want));
        self.wants.own = bound;
        let free: BTreeSet<Want> = free;
        self.wants.failed.extend(free.into_iter().map(|want| (want, reason.to_owned())));
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
