//! Filling of the parties' stores: a run of theirs alone, beside all others, one at a time. Whoever has too little says so, and
//! all have to fill up to the same level.

use super::runs::Next;
use super::{Desk, Stage};
use crate::living::control::{Between, FILLING, write};
use std::time::{Duration, Instant};
use tacit_net::setup::{Hub, Speaker};

/// The pause after a filling that came to nothing; after each further one it is twice as long ...
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// ... but no longer than this.
const LAST_PAUSE: Duration = Duration::from_mins(5);
/// How long a party waits before it tells party 0 again that it has too little.
const UNHEARD: Duration = Duration::from_mins(1);

/// What a desk knows of the filling of stores.
pub(super) struct Fills {
    /// Up to where this party fills, in words that all say alike; none if it doesn't.
    level: Option<String>,
    /// Whether this party has too little or, as party 0 knows, another one.
    is_low: bool,
    /// Whether party 0 was told, and nothing came of it yet.
    is_told: bool,
    not_before: Instant,
    pause: Duration,
    /// Why nothing came of it last, until it is told.
    failed: Option<String>,
}

impl Default for Fills {
    fn default() -> Self {
        let (level, failed) = (None, None);
        let (pause, not_before) = (FIRST_PAUSE, Instant::now());
        Self { level, is_low: false, is_told: false, not_before, pause, failed }
    }
}

impl Fills {
    /// How long until something is to be done though nothing happens.
    pub(super) fn pause(&self, now: Instant) -> Option<Duration> {
        (self.is_low && self.not_before > now).then(|| self.not_before - now)
    }

    /// One came to nothing, or made nothing.
    fn rests(&mut self, now: Instant) {
        self.not_before = now + self.pause;
        self.pause = (2 * self.pause).min(LAST_PAUSE);
    }

    /// One didn't begin.
    pub(super) fn came_to_nothing(&mut self, reason: &str) {
        (self.failed, self.is_told) = (Some(reason.to_owned()), false);
        self.rests(Instant::now());
    }

    /// One begins.
    pub(super) fn begins(&mut self) {
        (self.is_low, self.is_told) = (false, false);
    }

    /// Party 0 has forgotten all.
    pub(super) fn say_again(&mut self) {
        (self.is_told, self.not_before) = (false, Instant::now());
    }
}

impl Desk {
    /// This party fills its store up to a level, in words.
    pub(crate) fn fills(&mut self, level: String) {
        self.fills.level = Some(level);
    }

    /// It has too little in its store, or a run found too little in all. What is under way is for that.
    pub(crate) fn is_low(&mut self) {
        self.fills.is_low |= self.fills.level.is_some() && !self.is_filling();
    }

    /// A filling has ended here, and made something or not.
    pub(crate) fn has_filled(&mut self, made: bool) {
        if made {
            (self.fills.pause, self.fills.not_before) = (FIRST_PAUSE, Instant::now());
        } else {
            self.fills.rests(Instant::now());
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

    /// Tells party 0 that this one has too little.
    pub(super) fn say_low(&mut self, hub: &mut Hub, now: Instant) {
        let is_to = self.fills.is_low && now >= self.fills.not_before && !self.is_done();
        if self.me == 0 || !is_to || !hub.reaches(0) {
            return;
        }
        if std::mem::replace(&mut self.fills.is_told, true) {
            let first = &self.names[0];
            self.fills.failed =
                Some(format!("too little is in the store, and {first} begins no filling: {ALIKE}"));
        }
        self.fills.not_before = now + UNHEARD;
        hub.say(Speaker::Party(0), write(&Between::Ask { program: FILLING }));
    }

    /// Party 0 proposes a filling, if one is due.
    pub(super) fn propose_filling(&mut self, hub: &mut Hub, now: Instant) {
        let is_due = self.fills.is_low && now >= self.fills.not_before;
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
        let first = &self.names[0];
        match &self.fills.level {
            Some(own) if own == level => None,
            // What is shown of it at other parties is bounded, so what to do comes first.
            Some(own) => {
                Some(format!("it fills up to another level ({ALIKE}): to {own}, and {first} to {level}"))
            }
            None => Some(format!("it fills no store while it serves ({ALIKE}), and {first} to {level}")),
        }
    }

    /// Whether one is proposed or under way.
    fn is_filling(&self) -> bool {
        self.runs.values().any(|run| run.proposal.program == FILLING)
    }

    /// Whether one may begin: it may be an attempt, as every run may, and leaves one to the others.
    pub(super) fn has_room_to_fill(&self) -> bool {
        let begun = self.runs.values().filter(|run| run.stage != Stage::Proposed);
        let (fillings, runs): (Vec<_>, Vec<_>) = begun.partition(|run| run.proposal.program == FILLING);
        fillings.is_empty() && runs.len().max(1) < self.attempts && !self.is_done()
    }
}

/// What to do where parties differ.
const ALIKE: &str = "give all servers the same --fill";
