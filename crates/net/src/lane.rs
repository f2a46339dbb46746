//! An endpoint's lanes: strands of work side by side, each with a thread, links and streams of its own, that
//! stand and fall together.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// A run has at most so many lanes: more than a party has cores, and few enough that a peer that names as many
/// costs little.
pub const MAX_LANES: u16 = 64;

/// Which of an endpoint's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    /// Its number, from 0.
    pub number: u16,
    /// How many there are: 1 to [`MAX_LANES`], more than `number`.
    pub count: u16,
}

impl Lane {
    /// The lane of a run that has no other.
    pub const ONLY: Self = Self { number: 0, count: 1 };

    /// All of `count` lanes, in order.
    pub fn all(count: u16) -> impl Iterator<Item = Self> {
        (0..count).map(move |number| Self { number, count })
    }

    /// Whether there are others beside it.
    pub const fn has_others(self) -> bool {
        self.count > 1
    }
}

impl fmt::Display for Lane {
    /// `lane 1 of 2`: numbers from 0, as in messages' addresses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {} of {}", self.number, self.count)
    }
}

/// An endpoint's lanes share one: the first that fails sets it, and the others notice.
///
/// It is all that lanes share. Clones are of the same flag.
#[derive(Clone, Debug, Default)]
pub struct AbortFlag(Arc<OnceLock<(u16, String)>>);

impl AbortFlag {
    /// Says that a lane has failed, and why. Only the first time counts.
    pub fn set(&self, lane: Lane, reason: &str) {
        // Whoever comes second has nothing to add.
        let _ = self.0.set((lane.number, reason.to_owned()));
    }

    /// The number of the lane that failed first, and why; nothing if none has.
    pub fn failed(&self) -> Option<(u16, &str)> {
        self.0.get().map(|(lane, reason)| (*lane, reason.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_counts() {
        let tie = AbortFlag::default();
        let other = tie.clone();
        assert_eq!(tie.failed(), None);
        other.set(Lane { number: 2, count: 3 }, "power");
        tie.set(Lane { number: 0, count: 3 }, "later");
        assert_eq!(tie.failed(), Some((2, "power")));
    }

    #[test]
    fn lanes_are_numbered() {
        let lanes: Vec<String> = Lane::all(2).map(|lane| lane.to_string()).collect();
        assert_eq!(lanes, ["lane 0 of 2", "lane 1 of 2"]);
        assert!(!Lane::ONLY.has_others() && Lane::all(1).eq([Lane::ONLY]));
    }
}
