//! The end of a run, in good order or not.

use std::time::Duration;

use tacit_wire::At;

use super::peer::{Peer, Standing};
use super::{Mesh, REASON, ROOM, farewell};
use crate::error::{Error, ErrorKind};
use crate::frame::{Frame, FrameKind};
use crate::transport::Event;

/// How long an abort tries to get through to peers that do not read.
const ABORT: Duration = Duration::from_millis(200);

impl Mesh {
    /// Ends the run for all: tells every peer why, as far as it can be reached quickly. Every later call
    /// returns this error, or the earlier one if the run had already ended; so does this call.
    pub fn abort(&mut self, reason: &str) -> Error {
        self.give_up(reason, false)
    }

    /// As [`Mesh::abort`], because a check that the endpoints make with one another failed. Peers are told that, too: all
    /// of them may have to destroy what was being checked.
    pub fn accuse(&mut self, reason: &str) -> Error {
        self.give_up(reason, true)
    }

    /// Waits until all that was sent has gone out: from then on [`Mesh::counters`] have all of it on the wire, too.
    ///
    /// # Errors
    /// If the run has ended, if a peer takes nothing for as long as [`Limits::silence`](crate::Limits::silence), or one of
    /// those that are [hurried](Mesh::hurry) takes too little.
    pub fn push_out(&mut self) -> Result<(), Error> {
        let mut now = self.transport.now();
        let mut moved = now;
        let backlogs = |mesh: &Self| -> Vec<usize> {
            (0..mesh.endpoints()).map(|peer| mesh.transport.backlog(peer)).collect()
        };
        let mut before = backlogs(self);
        while !self.transport.flush() {
            // Where failed peers are left out, one that takes a byte now and then can't keep this party for ever.
            if now >= moved + self.limits.silence || self.lenient && now >= self.stays_until() {
                let stuck = before.iter().position(|&bytes| bytes > 0).unwrap_or(self.me);
                return self.fault(stuck, ErrorKind::Silent { after: now.saturating_sub(moved) });
            }
            let event = self.transport.poll(ROOM);
            let then = std::mem::replace(&mut now, self.transport.now());
            if let Some((peer, event)) = event {
                self.heed(peer, event, now)?;
            }
            self.alive()?;
            let after = backlogs(self);
            if let Some(slow) = self.slow_reader(now.saturating_sub(then), &before, &after) {
                let what = self.out_of_patience(slow, Duration::ZERO);
                return self.fault(slow, what);
            }
            // That more is queued, such as signs of life of others, is no sign that anybody takes it.
            if before.iter().zip(&after).any(|(before, after)| after < before) {
                moved = now;
                self.sound(now);
            }
            before = after;
        }
        Ok(())
    }

    /// Leaves in good order: sends what is still queued, for as long as peers keep taking it; says goodbye to
    /// all; and gives them a moment ([`Limits::linger`](crate::Limits::linger) at most, or as long as
    /// [`Mesh::tolerate_failures`] says) to say so, too.
    ///
    /// # Errors
    /// If the run has ended badly or a peer aborts it meanwhile; and as [`Mesh::push_out`].
    pub fn close(mut self) -> Result<(), Error> {
        self.alive()?;
        self.push_out()?;
        for (index, _) in self.peers.iter().enumerate().filter(|(_, peer)| peer.listens()) {
            self.transport.send(index, farewell::goodbye(false));
            self.transport.hold(index, false);
        }
        let deadline = self.transport.now() + self.limits.linger;
        while !self.transport.flush() && self.linger(deadline)? {}
        if !self.transport.finish() {
            while self.peers.iter().any(Peer::is_present) && self.linger(deadline)? {}
            self.wait_for_parties()?;
        }
        Ok(())
    }

    fn give_up(&mut self, reason: &str, check_failed: bool) -> Error {
        if let Some(error) = &self.failure {
            return error.clone();
        }
        let error = self.poison(None, ErrorKind::GaveUp { reason: reason.to_owned() });
        self.tell_all(self.me, reason, check_failed, None);
        error
    }

    /// Sends an abort to all peers but one, and tries for a moment to get it through; or for as long as others may count
    /// on what was sent before it.
    pub(super) fn tell_all(
        &mut self,
        origin: usize,
        reason: &str,
        check_failed: bool,
        except: Option<usize>,
    ) {
        let at = At { part: origin as u16, batch: check_failed.into(), ..At::default() };
        let payload = clip(reason).as_bytes().to_vec();
        for (index, peer) in self.peers.iter().enumerate() {
            if peer.listens() && Some(index) != except {
                self.transport.send(index, Frame { kind: FrameKind::Abort, at, payload: payload.clone() });
            }
        }
        let deadline = self.transport.now() + ABORT;
        // The run is over: whatever comes in is of no use, and no error.
        while !self.transport.flush() && self.linger(deadline).unwrap_or(false) {}
        if self.transport.now() < self.stays_until() && !(self.transport.flush() && self.transport.finish()) {
            let _ = self.wait_for_parties();
        }
    }

    /// Until when this party stays, if others may count on what it sent; else long ago.
    fn stays_until(&self) -> Duration {
        if self.stay.is_zero() { Duration::ZERO } else { self.stay + self.limits.linger }
    }

    /// Waits until the other parties have left, or until none counts on this one any more. All that they send is read:
    /// a link that ends with something unread is reset, and what was sent on it may be lost.
    fn wait_for_parties(&mut self) -> Result<(), Error> {
        let until = self.stays_until();
        for peer in 0..self.peers.len() {
            self.transport.hold(peer, false);
        }
        while self.peers.iter().take(self.accusers).any(Peer::is_here) && self.linger(until)? {}
        Ok(())
    }

    /// Takes in an event in the course of leaving; only an abort matters, while the run isn't over. `false` when
    /// time is over.
    fn linger(&mut self, deadline: Duration) -> Result<bool, Error> {
        let left = deadline.saturating_sub(self.transport.now());
        if left.is_zero() {
            return Ok(false);
        }
        match self.transport.poll(left.min(ROOM)) {
            Some((peer, Event::Frame(frame))) => match frame.kind {
                FrameKind::Abort if !self.lenient && self.failure.is_none() => {
                    return self.handle(peer, Event::Frame(frame)).map(|()| true);
                }
                FrameKind::Goodbye => self.peers[peer].standing = farewell::standing(&frame),
                FrameKind::Abort => self.peers[peer].standing = Standing::Left,
                FrameKind::Data | FrameKind::KeepAlive => {}
            },
            Some((peer, Event::Lost(_))) => self.peers[peer].standing = Standing::Lost,
            Some((_, Event::Progress)) | None => {}
        }
        Ok(true)
    }
}

/// The first [`REASON`] bytes of a text, cut between characters.
pub(super) fn clip(text: &str) -> &str {
    let mut end = text.len().min(REASON);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
