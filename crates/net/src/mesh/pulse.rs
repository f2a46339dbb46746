//! Signs of life.
//!
//! A party that computes sounds every now and then, so that those who wait for it know it from a dead one. A
//! party that merely waits does not sound: if a message is lost, everybody waits, nobody sounds, and all end
//! in time. But A may wait for B, who waits for C, who computes; therefore C's sign of life, numbered, is
//! passed on by whoever gets it and has not seen that number yet.

use super::Mesh;
use crate::At;
use crate::error::{Error, ErrorKind};
use crate::frame::{Frame, FrameKind};
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

impl Mesh {
    /// Passes a sign of life on: to whom it may not have reached, and back to whom it came from, who may be
    /// waiting for this party.
    pub(super) fn pass_on(&mut self, from: usize, sign: At) -> Result<(), Error> {
        let origin = usize::from(sign.part);
        let second_hand = origin != from && self.is_linked(origin);
        match self.pulse.is_news(origin, sign.batch, second_hand) {
            None => {
                let detail = format!("a sign of life of endpoint {origin}, which does not exist");
                self.fault(from, ErrorKind::Malformed { detail })
            }
            Some(true) if !self.lenient => {
                self.send_sign(sign, |peer| peer != origin);
                Ok(())
            }
            // Or nobody waits for signs of life, and a flood of them is in the way of what is waited for.
            Some(_) => Ok(()),
        }
    }

    /// Lets all peers know that this party is alive, if that is due.
    pub(super) fn sound(&mut self, now: Duration) {
        if let Some(number) = self.pulse.due(now) {
            let at = At { part: self.me as u16, batch: number, ..At::default() };
            self.send_sign(at, |_| true);
        }
    }

    /// Peers that do not even take what is queued for them get no more signs.
    fn send_sign(&mut self, at: At, wanted: impl Fn(usize) -> bool) {
        for (index, peer) in self.peers.iter().enumerate() {
            let listens = peer.listens() && peer.failed.is_none();
            if listens && wanted(index) && self.transport.backlog(index) <= self.limits.outbox {
                self.transport.send(index, Frame { kind: FrameKind::KeepAlive, at, payload: Vec::new() });
            }
        }
        self.transport.flush();
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
