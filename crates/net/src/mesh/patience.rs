//! How long peers are waited for that are alive.

use std::time::Duration;

use super::{Mesh, ROOM};
use crate::error::{Error, ErrorKind};

/// Bytes that a peer has to send or to take in a second, if its waits are not to add up.
const LEAST: u32 = 64 << 10;

impl Mesh {
    /// From endpoint `first` on, a peer is waited for half of [`Limits::patience`](crate::Limits::patience) in the whole run and
    /// not at each message; for each 64 KiB that it sends or takes, a second longer. So nobody has the run last much longer than
    /// its own bytes do, by sending or reading as slowly as each wait allows: for clients of a party that others wait for. Half,
    /// since these lose the party when they have waited for it as long as for anybody.
    pub fn hurry(&mut self, first: usize) {
        self.hurried = first;
    }

    /// How long a peer is waited for from now on.
    pub(super) fn patience_with(&self, peer: usize) -> Duration {
        if peer < self.hurried {
            return self.limits.patience;
        }
        (self.limits.patience / 2).saturating_sub(self.peers[peer].waited)
    }

    /// Takes down that a peer whose waits add up was waited for, and that so many bytes came from it or went to it.
    pub(super) fn has_waited(&mut self, peer: usize, wait: Duration, bytes: usize) {
        if peer < self.hurried {
            return;
        }
        let earned = Duration::from_secs(bytes as u64) / LEAST;
        let waited = &mut self.peers[peer].waited;
        *waited = (*waited + wait).saturating_sub(earned);
    }

    /// What is wrong with a peer that was waited for now for so long, which is taken down.
    pub(super) fn out_of_patience(&self, peer: usize, after: Duration) -> ErrorKind {
        if peer < self.hurried {
            ErrorKind::Stalled { after }
        } else {
            ErrorKind::Slow { waited: self.peers[peer].waited }
        }
    }

    /// The same of any of those that take what is sent to them, of which so many bytes were queued before and are now.
    pub(super) fn slow_reader(&mut self, wait: Duration, before: &[usize], after: &[usize]) -> Option<usize> {
        for peer in self.hurried..self.peers.len() {
            if before[peer] > 0 {
                self.has_waited(peer, wait, before[peer].saturating_sub(after[peer]));
                if self.patience_with(peer).is_zero() {
                    return Some(peer);
                }
            }
        }
        None
    }

    /// Waits until no more is queued for a peer than may be.
    pub(super) fn wait_for_room(&mut self, to: usize) -> Result<(), Error> {
        let start = self.transport.now();
        let mut now = start;
        let mut moved = start;
        let mut backlog = self.transport.backlog(to);
        while backlog > self.limits.outbox && self.peers[to].is_present() {
            let heard = self.peers[to].heard.max(moved);
            if now >= heard + self.limits.silence {
                return Err(self.fail(to, ErrorKind::Silent { after: now.saturating_sub(heard) }));
            }
            let stalled = now.saturating_sub(moved);
            if stalled >= self.limits.patience || self.patience_with(to).is_zero() {
                let what = self.out_of_patience(to, stalled);
                return Err(self.fail(to, what));
            }
            let event = self.transport.poll(ROOM);
            let then = std::mem::replace(&mut now, self.transport.now());
            if let Some((peer, event)) = event {
                self.heed(peer, event, now)?;
            }
            self.alive()?;
            let left = self.transport.backlog(to);
            self.has_waited(to, now.saturating_sub(then), backlog.saturating_sub(left));
            if left < backlog {
                moved = now;
                self.sound(now);
            }
            backlog = left;
        }
        Ok(())
    }
}
