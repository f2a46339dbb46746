//! How many lines are told of what others can bring about without end.

use std::time::{Duration, Instant};

/// Lines in a [`SPAN`].
const MOST: u32 = 20;
const SPAN: Duration = Duration::from_mins(1);

/// Bounds what is told of runs that fail: a client can have as many of those as it likes.
#[derive(Debug, Default)]
pub struct Quota {
    since: Option<Instant>,
    told: u32,
    untold: u64,
}

impl Quota {
    /// Whether one more is told now; and how many were not since the last that was.
    pub fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= SPAN) {
            (self.since, self.told) = (Some(now), 0);
        }
        if self.told == MOST {
            self.untold += 1;
            return None;
        }
        self.told += 1;
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_counted_and_told_later() {
        let (mut quota, start) = (Quota::default(), Instant::now());
        let told: Vec<Option<u64>> = (0..30).map(|_| quota.admit(start)).collect();
        assert_eq!(told, [vec![Some(0); 20], vec![None; 10]].concat());
        assert_eq!(quota.admit(start + SPAN / 2), None);
        assert_eq!([quota.admit(start + SPAN), quota.admit(start + SPAN)], [Some(11), Some(0)]);
    }
}
