//! The last steps of a protocol that can finish without one of its peers.

use std::time::Duration;

use tacit_wire::At;

use super::peer::gone_early;
use super::{BURST, GLANCE, Mesh, Waiting};
use crate::error::{Error, ErrorKind};
use crate::frame::Frame;

impl Mesh {
    /// From now on a peer's failure is its own: whoever is lost, aborts, sends what it should not, or is late for
    /// [`Mesh::recv_by`] is left out, and the run goes on. Nothing more is taken from it, but for what it had sent
    /// before it was lost or aborted; and nobody is told. An abort that a peer passes on is that peer's. What is sent to
    /// it still goes out: who is late here may count on it.
    ///
    /// **Nothing is lost.** Other parties may count on what this one sent until `stay` (of [`Mesh::now`]), also if the
    /// run ends badly: until then, and [`Limits::linger`](crate::Limits::linger) longer, [`Mesh::close`] and
    /// [`Mesh::abort`] keep the links going, unless the other [parties](Mesh::trust_check_failures_from) have left before.
    ///
    /// **Nothing hangs.** [`Mesh::recv_by`] waits for a time that its caller names and that no sign of life extends.
    /// Sends only queue. [`Mesh::close`] gives up a peer that takes nothing. Until this is called, and after
    /// [`Mesh::require_all`], every failure ends the run for all, as ever; so does this party's own abort, and the
    /// failure of another of its lanes.
    pub fn tolerate_failures(&mut self, stay: Duration) {
        self.lenient = true;
        self.stay = self.stay.max(stay);
    }

    /// Ends what [`Mesh::tolerate_failures`] began, but for how long this party stays.
    ///
    /// # Errors
    /// If a peer was left out: that ends the run now.
    pub fn require_all(&mut self) -> Result<(), Error> {
        self.alive()?;
        self.lenient = false;
        let failed =
            self.peers.iter().enumerate().find_map(|(peer, state)| Some((peer, state.failed.clone()?)));
        match failed {
            Some((peer, what)) => Err(self.fail(peer, what)),
            None => Ok(()),
        }
    }

    /// Receives the next message of a peer, as [`Mesh::recv`], if it is here by `deadline` (of [`Mesh::now`]), whatever
    /// signs of life the peer gives. `None` if the peer failed or has failed before, where that is
    /// [its own](Mesh::tolerate_failures).
    ///
    /// # Errors
    /// Where it is not, the failure ends the run.
    pub fn recv_by(
        &mut self,
        from: usize,
        at: At,
        len: usize,
        deadline: Duration,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.usable(from)?;
        let at = self.here(at);
        if self.unflushed {
            self.unflushed = !self.transport.flush();
        }
        self.waiting = Some(Waiting::Receive(from, at));
        let Some(frame) = self.next_by(from, at.is_aside(), deadline)? else { return Ok(None) };
        let wrong = if frame.at != at {
            ErrorKind::WrongAddress { expected: at, got: frame.at }
        } else if frame.payload.len() != len {
            ErrorKind::WrongLength { expected: len, got: frame.payload.len() }
        } else {
            self.waiting = None;
            self.counters.received(self.phase, from, len);
            return Ok(Some(frame.payload));
        };
        self.fault(from, wrong)?;
        self.peers[from].forget();
        Ok(None)
    }

    /// The peer's next data frame if it is here by then; `None` if the peer is left out. What came while this party was
    /// busy is here, and is taken in before anybody is late, unless there is no end of it.
    fn next_by(&mut self, from: usize, aside: bool, deadline: Duration) -> Result<Option<Frame>, Error> {
        let start = self.transport.now();
        let (mut overdue, mut is_over) = (0, false);
        let failure = loop {
            self.alive()?;
            if let Some(frame) = self.pop(from, aside) {
                return Ok(Some(frame));
            }
            if !self.peers[from].is_present() {
                break gone_early();
            }
            if is_over {
                break ErrorKind::Silent { after: self.transport.now().saturating_sub(start) };
            }
            let left = deadline.saturating_sub(self.transport.now());
            let event = self.transport.poll(left.min(GLANCE));
            let now = self.transport.now();
            // No sign of life extends this wait or another one like it, so this party may give some: clients wait for the
            // end of the run.
            self.sound(now);
            overdue += usize::from(left.is_zero());
            is_over = if event.is_some() { overdue > BURST } else { now >= deadline };
            // Whoever is late, what was taken off a link is another one's, perhaps, and would be lost.
            if let Some((peer, event)) = event {
                self.heed(peer, event, now)?;
            }
        };
        self.fault(from, failure)?;
        Ok(None)
    }
}
