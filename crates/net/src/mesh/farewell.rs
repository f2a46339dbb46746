//! Leaving before the run is over: a client that has given and received all that it has a part in.
//!
//! It says goodbye, so that the run doesn't need it any more and goes on if it is lost; and stays to hear how the run
//! ends. Every party says goodbye when its own run has ended well, and aborts else; so nothing more has to be sent.

use std::time::Duration;

use tacit_wire::At;

use super::peer::{Peer, Standing};
use super::{BURST, GLANCE, Mesh};
use crate::error::{Error, ErrorKind};
use crate::frame::{Frame, FrameKind};
use crate::mesh::readable;
use crate::transport::Event;

/// A goodbye, of one who stays or goes.
pub(super) fn goodbye(stays: bool) -> Frame {
    let at = At { batch: stays.into(), ..At::default() };
    Frame { kind: FrameKind::Goodbye, at, payload: Vec::new() }
}

/// How things stand with a peer that says this goodbye.
pub(super) fn standing(goodbye: &Frame) -> Standing {
    if goodbye.at.batch == 0 { Standing::Left } else { Standing::Listening }
}

impl Mesh {
    /// Leaves in good order before the run is over, and waits until all peers have ended it well: each has said goodbye.
    /// Whoever has nothing more to send or to receive knows then how the run ended.
    ///
    /// Waits for as long as any peer gives signs of life, and once one has ended its run for [`crate::Limits::patience`]
    /// at most.
    ///
    /// # Errors
    /// If the run has ended badly, or ends so: a peer aborts it or is lost.
    pub fn see_out(mut self) -> Result<(), Error> {
        self.alive()?;
        self.push_out()?;
        for peer in 0..self.peers.len() {
            if self.peers[peer].is_present() {
                self.transport.send(peer, goodbye(true));
                self.transport.hold(peer, false);
            }
        }
        self.transport.flush();
        let mut heard = self.transport.now();
        let mut ended = self.peers.iter().any(Peer::has_left).then_some(heard);
        while let Some(awaited) = self.peers.iter().position(Peer::is_present) {
            let now = self.transport.now();
            let silent = (heard + self.limits.silence).saturating_sub(now);
            let stalled = ended.map_or(silent, |ended| (ended + self.limits.patience).saturating_sub(now));
            let left = silent.min(stalled);
            if left.is_zero() {
                let what = if silent.is_zero() {
                    ErrorKind::Silent { after: now.saturating_sub(heard) }
                } else {
                    ErrorKind::Stalled { after: self.limits.patience }
                };
                return Err(self.poison(Some(awaited), what));
            }
            if let Some((lane, reason)) = self.tie.failed() {
                let reason = format!("lane {lane} failed: {reason}");
                return Err(self.poison(None, ErrorKind::GaveUp { reason }));
            }
            let event = self.transport.poll(if self.lane.has_others() { left.min(GLANCE) } else { left });
            let Some((from, event)) = event else { continue };
            heard = self.transport.now();
            self.hear_out(from, event)?;
            if self.peers[from].has_left() {
                ended.get_or_insert(heard);
            }
        }
        self.transport.finish();
        Ok(())
    }

    /// Takes in what comes after the own goodbye. Nothing is sent any more, not even on hearing of an abort.
    fn hear_out(&mut self, from: usize, event: Event) -> Result<(), Error> {
        let what = match event {
            Event::Lost(_) if self.peers[from].has_left() => return Ok(()),
            Event::Lost(what) => what,
            Event::Frame(frame) if frame.kind == FrameKind::Abort => self.word_of(from, &frame),
            Event::Frame(frame) if frame.kind == FrameKind::Goodbye => {
                self.peers[from].standing = standing(&frame);
                return Ok(());
            }
            Event::Frame(_) | Event::Progress => return Ok(()),
        };
        Err(self.poison(Some(from), what))
    }

    /// Before a client ends the run: a party's word that a check failed, if that is there, too. The client may have
    /// left because of it, and isn't believed itself.
    pub(super) fn accusation_before(&mut self, peer: usize) -> Option<(usize, Frame)> {
        if peer < self.accusers {
            return None;
        }
        for _ in 0..BURST {
            // The run is over: whatever else comes is of no use.
            if let (from, Event::Frame(frame)) = self.transport.poll(Duration::ZERO)?
                && frame.kind == FrameKind::Abort
                && frame.at.batch != 0
                && from < self.accusers
                && !self.peers[from].has_left()
            {
                return Some((from, frame));
            }
        }
        None
    }

    /// Who stopped first, as an abort says that came from this peer. A client names nobody but itself: it would have others blamed.
    pub(super) fn origin_of(&self, from: usize, frame: &Frame) -> usize {
        if from < self.accusers { frame.at.part.into() } else { from }
    }

    /// What an abort says that came from this peer.
    pub(super) fn word_of(&self, from: usize, frame: &Frame) -> ErrorKind {
        let origin = self.origin_of(from, frame);
        let origin = self.names.get(origin).or(self.names.get(from)).cloned().unwrap_or_default();
        let check_failed = frame.at.batch != 0 && from < self.accusers;
        ErrorKind::Aborted { origin, reason: readable(&frame.payload), check_failed }
    }
}
