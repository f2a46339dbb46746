//! All sockets of one run, as a transport.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::link::{Link, Reading, Scratch};
use crate::channel::Channel;
use crate::counters::WireBytes;
use crate::error::ErrorKind;
use crate::frame::{Frame, FrameTooLong};
use crate::transport::{Event, Transport, monotonic};

/// How long a waiting endpoint looks and yields the core before it sleeps: a sleeping process takes far longer
/// to answer than one that is awake.
const SPIN: Duration = Duration::from_micros(100);
/// Queued bytes beyond which a send does not wait for a flush.
const EAGER: usize = 32 << 10;

/// One endpoint's sockets. Made by [`crate::setup`].
pub struct StreamTransport {
    pub(super) links: Vec<Slot>,
    pub(super) ready: VecDeque<(usize, Event)>,
    /// Peers whose sockets are looked at.
    asked: Vec<usize>,
    pub(super) scratch: Scratch,
}

pub(super) enum Slot {
    /// There never was a link.
    Never,
    Open(Link),
    /// The link has ended; what went over it stays counted.
    Ended(WireBytes),
}

impl std::fmt::Debug for StreamTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamTransport").field("endpoints", &self.links.len()).finish_non_exhaustive()
    }
}

impl StreamTransport {
    /// A transport over connected, non-blocking sockets, one place per endpoint. Payloads of more than `limit`
    /// bytes are refused.
    pub(crate) fn new(channels: Vec<Option<Channel>>, limit: usize) -> Self {
        let mut transport = Self {
            links: Vec::with_capacity(channels.len()),
            ready: VecDeque::new(),
            asked: Vec::new(),
            scratch: Scratch::new(),
        };
        for (peer, channel) in channels.into_iter().enumerate() {
            let slot = match channel {
                None => Slot::Never,
                Some(channel) => transport.start(peer, channel, limit),
            };
            transport.links.push(slot);
        }
        transport
    }

    /// Makes a link of a channel, whose peer may already have begun to send frames.
    fn start(&mut self, peer: usize, channel: Channel, limit: usize) -> Slot {
        let ready = &mut self.ready;
        let mut done = |frame| ready.push_back((peer, Event::Frame(frame)));
        match Link::new(channel, limit, &mut self.scratch.pool, &mut done) {
            Ok(link) => Slot::Open(link),
            Err(FrameTooLong { limit, got }) => {
                self.ready.push_back((peer, Event::Lost(ErrorKind::TooLong { limit, got })));
                Slot::Ended(WireBytes::default())
            }
        }
    }

    fn open(&mut self, peer: usize) -> Option<&mut Link> {
        match self.links.get_mut(peer) {
            Some(Slot::Open(link)) => Some(link),
            _ => None,
        }
    }

    /// Looks at all sockets, and flushes and reads once those that have something to read or room to write. Waits for one at
    /// most this long; `true` if anything moved.
    fn service(&mut self, wait: Duration) -> bool {
        let mut sockets: Vec<PollFd<'_>> = Vec::with_capacity(self.links.len());
        let mut peers = std::mem::take(&mut self.asked);
        peers.clear();
        for (peer, slot) in self.links.iter().enumerate() {
            let Slot::Open(link) = slot else { continue };
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, !link.held);
            flags.set(PollFlags::OUT, link.backlog() > 0);
            if !flags.is_empty() {
                sockets.push(PollFd::new(link.socket(), flags));
                peers.push(peer);
            }
        }
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        // A signal interrupts the wait; the caller looks at the clock and waits again.
        let count = rustix::event::poll(&mut sockets, Some(&timeout)).unwrap_or(0);
        let mut ready = sockets.iter().map(|socket| count > 0 && !socket.revents().is_empty());
        peers.retain(|_| ready.next().unwrap_or(false));
        let mut moved = false;
        for &peer in &peers {
            moved |= self.service_link(peer);
        }
        self.asked = peers;
        moved
    }

    /// Flushes and reads a link once. `true` if anything moved.
    fn service_link(&mut self, peer: usize) -> bool {
        let Some(slot) = self.links.get_mut(peer) else { return false };
        let Slot::Open(link) = slot else { return false };
        let before = link.backlog();
        link.flush(&mut self.scratch.pool);
        let moved = link.backlog() < before;
        if link.held {
            return moved;
        }
        let ready = &mut self.ready;
        let mut frames = 0;
        let reading = link.read(&mut self.scratch, &mut |frame| {
            frames += 1;
            ready.push_back((peer, Event::Frame(frame)));
        });
        match reading {
            Reading::Idle => return moved,
            Reading::Progress => {
                if frames == 0 {
                    ready.push_back((peer, Event::Progress));
                }
            }
            Reading::Lost(what) => {
                ready.push_back((peer, Event::Lost(what)));
                *slot = Slot::Ended(link.wire());
            }
        }
        true
    }
}

impl Transport for StreamTransport {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.get(peer).is_some_and(|slot| !matches!(slot, Slot::Never))
    }

    fn send(&mut self, to: usize, frame: Frame) {
        if let Some(Slot::Open(link)) = self.links.get_mut(to) {
            link.send(frame, &mut self.scratch.pool);
            if link.backlog() >= EAGER {
                link.flush(&mut self.scratch.pool);
            }
        }
    }

    fn flush(&mut self) -> bool {
        let mut empty = true;
        for slot in &mut self.links {
            if let Slot::Open(link) = slot {
                link.flush(&mut self.scratch.pool);
                empty &= link.backlog() == 0;
            }
        }
        empty
    }

    fn backlog(&self, to: usize) -> usize {
        match self.links.get(to) {
            Some(Slot::Open(link)) => link.backlog(),
            _ => 0,
        }
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        if self.ready.is_empty() && wait.is_zero() {
            self.service(wait);
        }
        if !self.ready.is_empty() || wait.is_zero() {
            return self.ready.pop_front();
        }
        let start = Instant::now();
        loop {
            let elapsed = start.elapsed();
            let left = wait.saturating_sub(elapsed);
            let awake = elapsed < SPIN;
            let pause = if awake { Duration::ZERO } else { left };
            if self.service(pause) {
                return self.ready.pop_front();
            }
            if left.is_zero() || !awake {
                return None;
            }
            std::thread::yield_now();
        }
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        if let Some(link) = self.open(peer) {
            link.held = hold;
        }
    }

    fn now(&self) -> Duration {
        monotonic()
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        match self.links.get(peer) {
            Some(Slot::Open(link)) => link.wire(),
            Some(Slot::Ended(wire)) => *wire,
            _ => WireBytes::default(),
        }
    }

    fn finish(&mut self) -> bool {
        for slot in &mut self.links {
            if let Slot::Open(link) = slot {
                link.finish();
            }
        }
        false
    }

    fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        self.scratch.pool.empty(capacity)
    }

    fn filled(&mut self, len: usize) -> Vec<u8> {
        self.scratch.pool.filled(len)
    }

    fn recycle(&mut self, buffer: Vec<u8>) {
        self.scratch.pool.put(buffer);
    }
}
