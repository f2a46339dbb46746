//! What a mesh knows of one peer.

use std::collections::VecDeque;
use std::time::Duration;

use crate::error::ErrorKind;
use crate::frame::Frame;
use crate::limits::FRAME_OVERHEAD;

/// How things stand with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// There never was a link.
    Unlinked,
    /// It takes part.
    Present,
    /// It has said goodbye, or that it aborts; its link may have ended.
    Left,
    /// It has said goodbye, and stays to hear how the run ends.
    Listening,
    /// Its link has ended, and it had not said goodbye.
    Lost,
}

/// One peer: how things stand with it, when it was last heard, and what it sent ahead of its use.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) standing: Standing,
    /// It is not read at present, because its inbox is full.
    pub(super) held: bool,
    /// Why it is left out, if it is.
    pub(super) failed: Option<ErrorKind>,
    /// When something last came from it while this party was waiting.
    pub(super) heard: Duration,
    /// For how long it was waited for in all, less what it has earned by bytes ([`super::Mesh::hurry`]).
    pub(super) waited: Duration,
    /// Frames in the order of the run's messages, and those with an order of their own ([`crate::At::is_aside`]).
    frames: [VecDeque<Frame>; 2],
    bytes: usize,
}

impl Peer {
    pub(super) fn new(linked: bool) -> Self {
        Self {
            standing: if linked { Standing::Present } else { Standing::Unlinked },
            held: false,
            failed: None,
            heard: Duration::ZERO,
            waited: Duration::ZERO,
            frames: Default::default(),
            bytes: 0,
        }
    }

    /// Whether it takes part: it is there, has not said goodbye, and isn't left out.
    pub(super) fn is_present(&self) -> bool {
        self.is_here() && self.failed.is_none()
    }

    /// Whether it has neither said goodbye nor aborted nor been lost. It may be left out nonetheless.
    pub(super) fn is_here(&self) -> bool {
        self.standing == Standing::Present
    }

    /// Whether it has said goodbye: nothing more comes from it.
    pub(super) fn has_left(&self) -> bool {
        matches!(self.standing, Standing::Left | Standing::Listening)
    }

    /// Whether it wants to hear how the run ends. It may be left out nonetheless.
    pub(super) fn listens(&self) -> bool {
        matches!(self.standing, Standing::Present | Standing::Listening)
    }

    pub(super) fn push(&mut self, frame: Frame) {
        self.bytes += frame.payload.len() + FRAME_OVERHEAD;
        self.frames[usize::from(frame.at.is_aside())].push_back(frame);
    }

    /// The next frame, of those aside or of the others.
    pub(super) fn pop(&mut self, aside: bool) -> Option<Frame> {
        let frame = self.frames[usize::from(aside)].pop_front()?;
        self.bytes -= frame.payload.len() + FRAME_OVERHEAD;
        Some(frame)
    }

    /// Forgets what it sent.
    pub(super) fn forget(&mut self) {
        self.frames = Default::default();
        self.bytes = 0;
    }

    /// Whether nothing is here but what stands aside.
    pub(super) fn is_empty(&self) -> bool {
        self.frames[0].is_empty()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Why nothing comes any more.
pub(super) fn gone_early() -> ErrorKind {
    ErrorKind::Closed { how: "said goodbye before it had sent all".to_owned() }
}
