//! When a sign of life is due, and which of others are news.

use std::time::Duration;

/// This endpoint's own signs of life, and the last it has seen of each other's.
#[derive(Debug)]
pub(super) struct Pulse {
    every: Duration,
    last: Duration,
    seen: Vec<u32>,
    me: usize,
}

impl Pulse {
    pub(super) fn new(me: usize, endpoints: usize, every: Duration, now: Duration) -> Self {
        Self { every, last: now, seen: vec![0; endpoints], me }
    }

    /// The number of the sign to send now, if it is time for one.
    pub(super) fn due(&mut self, now: Duration) -> Option<u32> {
        if now.saturating_sub(self.last) < self.every {
            return None;
        }
        self.last = now;
        let number = self.seen.get_mut(self.me)?;
        *number = number.wrapping_add(1);
        Some(*number)
    }

    /// Whether a sign of life is news, and so to be passed on. One that comes `second_hand` though there is a link to its
    /// origin is not: whoever passes it on may have made it up. `None` if there is no such endpoint.
    pub(super) fn is_news(&mut self, origin: usize, number: u32, second_hand: bool) -> Option<bool> {
        let seen = self.seen.get_mut(origin)?;
        let news = origin != self.me && !second_hand && number > *seen;
        if news {
            *seen = number;
        }
        Some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_due_at_intervals_and_news_once() {
        let second = Duration::from_secs(1);
        let mut pulse = Pulse::new(0, 3, second, second);
        assert_eq!(pulse.due(second), None);
        assert_eq!(pulse.due(2 * second), Some(1));
        assert_eq!(pulse.due(2 * second), None);
        assert_eq!(pulse.due(5 * second), Some(2));

        assert_eq!(
            pulse.is_news(2, u32::MAX, true),
            Some(false),
            "what others say of an endpoint stops none of its signs"
        );
        assert_eq!(pulse.is_news(2, 5, false), Some(true));
        assert_eq!(pulse.is_news(2, 5, false), Some(false));
        assert_eq!(pulse.is_news(2, 4, false), Some(false));
        assert_eq!(pulse.is_news(0, 9, false), Some(false), "one's own sign has come back");
        assert_eq!(pulse.is_news(3, 1, true), None);
    }
}
