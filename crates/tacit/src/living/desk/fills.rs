//! Filling of the parties' stores: a run of theirs alone, beside all others, one at a time. Whoever has too little says so, and
//! all have to fill up to the same level.

use super::runs::Next;
use super::{Desk, shown};
use crate::living::control::{Between, FILLING, write};
use std::time::{Duration, Instant};
use tacit_net::setup::{Hub, Speaker};

/// How long a party waits before it tells party 0 again that it has too little.
const UNHEARD: Duration = Duration::from_mins(1);

impl Desk {
    /// This party fills its store up to a level, in words.
    pub(crate) fn fills(&mut self, level: String) {
        self.fills.level = Some(level);
    }

    /// It has too little in its store, or a run found too little in all. What is under way is for that.
    pub(crate) fn is_low(&mut self) {
        self.fills.is_low |= self.fills.level.is_some() && !self.is_filling();
    }

    /// A filling has ended here: well, and made something or not, or it failed.
    pub(crate) fn has_filled(&mut self, made: Option<bool>) {
        let now = Instant::now();
        match made {
            Some(true) => self.fills.goes_on(now),
            Some(false) => self.fills.had_enough(now),
            None => self.fills.rests(now),
        }
    }

    /// Why a filling that is due didn't begin.
    pub(crate) fn unfilled(&mut self) -> Option<String> {
        self.fills.failed.take()
    }

    /// Party 0 hears that a party has too little.
    pub(super) fn is_low_at(&mut self, party: usize) {
        if self.fills.level.is_some() {
            return self.is_low();
        }
        let [own, its] = [self.me, party].map(|party| self.names[party].as_str());
        let reason = format!("{its} fills its store while it serves, and {own} doesn't: {ALIKE}");
        self.fills.failed = Some(reason);
    }

    /// Whether something is to be made now. The last attempt is left to runs, and what these use up isn't made any more.
    pub(super) fn is_to_fill(&mut self, now: Instant) -> bool {
        let is_due = self.fills.is_low && now >= self.fills.not_before && !self.is_done();
        let is_last = is_due && self.attempts < 2;
        if is_last {
            self.fills.failed = Some(LAST.to_owned());
        }
        is_due && !is_last
    }

    /// Tells party 0 that this one has too little.
    pub(super) fn say_low(&mut self, hub: &mut Hub, now: Instant) {
        if self.me == 0 || !self.is_to_fill(now) || !hub.reaches(0) {
            return;
        }
        if std::mem::replace(&mut self.fills.is_told, true) {
            let first = &self.names[0];
            self.fills.failed = Some(format!(
                "too little is in the store, and {first} begins no filling: {ALIKE}, or see what {first} says"
            ));
        }
        self.fills.not_before = now + UNHEARD;
        hub.say(Speaker::Party(0), write(&Between::Ask { program: FILLING }));
    }

    /// Party 0 proposes a filling, if one is due.
    pub(super) fn propose_filling(&mut self, hub: &mut Hub, now: Instant) {
        let is_due = self.is_to_fill(now);
        let Some(level) = self.fills.level.clone().filter(|_| is_due) else { return };
        if self.has_room_to_fill()
            && self.begins_runs(hub)
            && let Some(lane) = self.free_lane(hub)
        {
            self.propose_run(hub, lane, Next::of_parties(FILLING, level), now);
        }
    }

    /// Why this party doesn't fill up to this level.
    pub(super) fn other_level(&self, level: &str) -> Option<String> {
        if self.fills.level.as_deref() == Some(level) {
            return None;
        }
        // It is told here, too, and party 0 may say anything.
        let (first, level) = (&self.names[0], shown(level));
        Some(match &self.fills.level {
            // What is shown of it at other parties is bounded, so what to do comes first.
            Some(own) => format!("it fills up to another level ({ALIKE}): to {own}, and {first} to {level}"),
            None => format!("it fills no store while it serves ({ALIKE}), and {first} to {level}"),
        })
    }

    /// Whether one is proposed or under way.
    fn is_filling(&self) -> bool {
        self.runs.values().any(|run| run.proposal.program == FILLING)
    }

    /// Whether one may begin: it may be an attempt, as every run may, and leaves one to the others.
    pub(super) fn has_room_to_fill(&self) -> bool {
        let (fillings, runs) = self.begun();
        fillings.is_empty() && runs.len().max(1) < self.attempts && !self.is_done()
    }
}

/// What to do where parties differ.
const ALIKE: &str = "give all servers the same --fill";
/// Why nothing is made where one attempt is left.
const LAST: &str = "this party stops after one more attempt (--attempts), which is left to runs: find out why links are lost in \
                    checks, and start it again";
