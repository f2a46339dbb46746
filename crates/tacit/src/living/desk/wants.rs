//! Runs that parties want with inputs of their own: each says so of a program and a tag, and the run is proposed once all have.

use super::want::Want;
use super::{Desk, Stage};
use crate::living::control::{Between, Proposal, write};
use std::collections::BTreeSet;
use tacit_net::setup::{Hub, Speaker};

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
