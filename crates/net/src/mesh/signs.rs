//! Signs of life.
//!
//! A party that computes sounds every now and then, so that those who wait for it know it from a dead one. A
//! party that merely waits does not sound: if a message is lost, everybody waits, nobody sounds, and all end
//! in time. But A may wait for B, who waits for C, who computes; therefore C's sign of life, numbered, is
//! passed on by whoever gets it and has not seen that number yet.

use std::time::Duration;

use tacit_wire::At;

use super::Mesh;
use crate::error::{Error, ErrorKind};
use crate::frame::{Frame, FrameKind};

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
