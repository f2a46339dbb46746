//! Up to where a party fills its store, whether it has too little, and when that is looked at again.

use std::time::{Duration, Instant};

/// The pause after a filling that found enough in all stores. It doesn't grow, since a client brings it about whose program draws
/// more than the level, and what runs draw meanwhile is to be made soon.
const ENOUGH: Duration = Duration::from_secs(2);
/// The pause after one that came to nothing; after each further one it is twice as long ...
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// ... but no longer than this.
const LAST_PAUSE: Duration = Duration::from_mins(5);

/// What a desk knows of the filling of stores.
pub(super) struct Fills {
    /// Up to where this party fills, in words that all say alike; none if it doesn't.
    pub(super) level: Option<String>,
    /// Whether this party has too little or, as party 0 knows, another one.
    pub(super) is_low: bool,
    /// Whether party 0 was told, and nothing came of it yet.
    pub(super) is_told: bool,
    pub(super) not_before: Instant,
    pause: Duration,
    /// Why nothing came of it last, until it is told.
    pub(super) failed: Option<String>,
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

    /// One found enough.
    pub(super) fn had_enough(&mut self, now: Instant) {
        (self.pause, self.not_before) = (FIRST_PAUSE, now + ENOUGH);
    }

    /// One came to nothing.
    pub(super) fn rests(&mut self, now: Instant) {
        self.not_before = now + self.pause;
        self.pause = (2 * self.pause).min(LAST_PAUSE);
    }

    /// One made something.
    pub(super) fn goes_on(&mut self, now: Instant) {
        (self.pause, self.not_before) = (FIRST_PAUSE, now);
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
