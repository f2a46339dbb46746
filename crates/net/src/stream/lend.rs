//! Links that outlive a run: lent to it, and taken back where both sides have said goodbye.
//!
//! A goodbye is the last frame of a run on a link. A link on which both sides have sent theirs stands between two runs:
//! the next frame, whenever it comes, belongs to what comes next. It is kept for that and shown to nobody in this run.
//! Any other link, one on which somebody aborted or fell silent, ends with its run.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tacit_wire::At;

use super::link::{Link, Reading, Scratch};
use super::sockets::{Slot, StreamTransport};
use crate::channel::Channel;
use crate::counters::WireBytes;
use crate::error::ErrorKind;
use crate::frame::{Frame, FrameKind, FrameTooLong};
use crate::tls::pin::Fingerprint;
use crate::transport::{Event, Transport};

/// A link that no run has. It stands between two frames of this side's.
pub(crate) struct Resting {
    link: Link,
    unread: VecDeque<Frame>,
    lost: Option<ErrorKind>,
}

impl std::fmt::Debug for Resting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resting").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Resting {
    /// A link over a channel that is set up. Payloads of more than `limit` bytes are refused.
    pub(crate) fn new(channel: Channel, limit: usize, scratch: &mut Scratch) -> Result<Self, FrameTooLong> {
        let mut unread = VecDeque::new();
        let link = Link::new(channel, limit, &mut scratch.pool, &mut |frame| unread.push_back(frame))?;
        Ok(Self { link, unread, lost: None })
    }

    /// Refuses payloads of more than so many bytes from now on: with one under way that is longer the link has ended.
    pub(crate) fn limit(&mut self, bytes: usize) {
        if let Err(FrameTooLong { limit, got }) = self.link.limit(bytes) {
            self.lost = Some(ErrorKind::TooLong { limit, got });
        }
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        self.link.socket()
    }

    /// Queues a frame, and sends as much as the socket takes.
    pub(crate) fn send(&mut self, frame: Frame, scratch: &mut Scratch) {
        self.link.send(frame, &mut scratch.pool);
        self.link.flush(&mut scratch.pool);
    }

    /// Bytes that have not reached the socket.
    pub(crate) fn backlog(&self) -> usize {
        self.link.backlog()
    }

    /// Flushes, and reads once.
    pub(crate) fn service(&mut self, scratch: &mut Scratch) {
        self.link.flush(&mut scratch.pool);
        let unread = &mut self.unread;
        if let Reading::Lost(what) = self.link.read(scratch, &mut |frame| unread.push_back(frame)) {
            self.lost = Some(what);
        }
    }

    /// The next frame that has come.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        self.unread.pop_front()
    }

    /// How many frames have come and not been taken.
    pub(crate) fn unread(&self) -> usize {
        self.unread.len()
    }

    /// How long it may stay: until the certificate that the other side has shown is over. Nothing with plain TCP.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.link.left()
    }

    /// The certificate that the other side has shown. Nothing with plain TCP.
    pub(crate) fn shown(&self) -> Option<Fingerprint> {
        self.link.shown
    }

    /// Whether the other side's certificate is over.
    pub(crate) fn is_over(&self) -> bool {
        self.link.left().is_some_and(|left| left.is_zero())
    }

    /// Why the link has ended, if it has.
    pub(crate) fn lost(&self) -> Option<&ErrorKind> {
        self.lost.as_ref()
    }
}

/// Takes links back at the end of a run, one place for each endpoint: those that stand between two runs.
pub(crate) type Home = Box<dyn FnOnce(Vec<Option<Resting>>) + Send>;

/// How often a run that waits looks whether it is over.
const GLANCE: Duration = Duration::from_millis(100);

/// Links lent to one run, which is a session over them. They go back when this is dropped.
pub struct Lent {
    links: StreamTransport,
    ends: Vec<End>,
    home: Option<Home>,
    /// Once this is set, if it ever is, the run is over: nothing more goes out, and all peers seem lost.
    over: Option<Arc<AtomicBool>>,
}

impl std::fmt::Debug for Lent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lent").field("endpoints", &self.ends.len()).finish_non_exhaustive()
    }
}

/// How far a link is from the end of its run.
#[derive(Default)]
struct End {
    /// What went over it before the run.
    before: WireBytes,
    /// This side's last word was its goodbye.
    said: bool,
    /// The other side's was.
    heard: bool,
    /// What came after that.
    later: VecDeque<Frame>,
    /// The run was told that the peer is lost, because the run is over.
    parted: bool,
}

impl Lent {
    /// Links for a run, one place for each of its endpoints; `home` gets them back.
    pub(crate) fn new(links: Vec<Option<Resting>>, home: Home) -> Self {
        let mut transport = StreamTransport::new(Vec::new(), 0);
        let mut ends = Vec::with_capacity(links.len());
        for (peer, resting) in links.into_iter().enumerate() {
            let mut end = End::default();
            transport.links.push(match resting {
                None => Slot::Never,
                Some(Resting { link, unread, lost }) => {
                    transport.ready.extend(unread.into_iter().map(|frame| (peer, Event::Frame(frame))));
                    transport.ready.extend(lost.map(|what| (peer, Event::Lost(what))));
                    end.before = link.wire();
                    Slot::Open(link)
                }
            });
            ends.push(end);
        }
        Self { links: transport, ends, home: Some(home), over: None }
    }

    /// Ends the run once this is set, in the midst of whatever: it sends nothing more, and its links end with it.
    pub fn end_with(&mut self, over: Arc<AtomicBool>) {
        self.over = Some(over);
    }

    fn is_over(&self) -> bool {
        self.over.as_ref().is_some_and(|over| over.load(Ordering::SeqCst))
    }

    /// A peer that the run still has, once the run is over.
    fn part(&mut self) -> Option<(usize, Event)> {
        let links = &self.links;
        let mut ends = self.ends.iter_mut().enumerate();
        let (peer, end) = ends.find(|(peer, end)| links.is_linked(*peer) && !end.parted)?;
        end.parted = true;
        Some((peer, Event::Lost(ErrorKind::Closed { how: "this party has stopped".to_owned() })))
    }

    /// What of an event is for this run.
    fn seen(&mut self, peer: usize, event: Event) -> Option<(usize, Event)> {
        let end = self.ends.get_mut(peer)?;
        match event {
            Event::Frame(frame) if end.heard => {
                end.later.push_back(frame);
                return None;
            }
            Event::Progress if end.heard => return None,
            Event::Frame(Frame { kind: FrameKind::Goodbye, .. }) => {
                end.heard = true;
                self.links.hold(peer, true);
            }
            _ => {}
        }
        Some((peer, event))
    }
}

impl Transport for Lent {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.is_linked(peer)
    }

    fn send(&mut self, to: usize, frame: Frame) {
        if self.is_over() {
            return;
        }
        if let Some(end) = self.ends.get_mut(to) {
            end.said = frame.kind == FrameKind::Goodbye;
        }
        self.links.send(to, frame);
    }

    /// Of a run that is over nothing more goes out, and nothing is waited for.
    fn flush(&mut self) -> bool {
        self.is_over() || self.links.flush()
    }

    fn backlog(&self, to: usize) -> usize {
        self.links.backlog(to)
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        // Nobody's silence hides that the run is over.
        let wait = if self.over.is_some() { wait.min(GLANCE) } else { wait };
        // At most as many times as frames are here: a link is held once its goodbye has come.
        loop {
            if self.is_over() {
                return self.part();
            }
            let (peer, event) = self.links.poll(wait)?;
            if let Some(seen) = self.seen(peer, event) {
                return Some(seen);
            }
        }
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        let ended = self.ends.get(peer).is_some_and(|end| end.heard);
        self.links.hold(peer, hold || ended);
    }

    fn now(&self) -> Duration {
        self.links.now()
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        let (all, before) = (self.links.wire_bytes(peer), self.ends.get(peer).map(|end| end.before));
        let before = before.unwrap_or_default();
        WireBytes {
            sent: all.sent.saturating_sub(before.sent),
            received: all.received.saturating_sub(before.received),
        }
    }

    fn finish(&mut self) -> bool {
        if self.is_over() {
            return false;
        }
        // Whoever left first needs no goodbye for its run. It does for the next one.
        for peer in 0..self.ends.len() {
            if self.ends.get(peer).is_some_and(|end| end.heard && !end.said) {
                self.send(peer, Frame { kind: FrameKind::Goodbye, at: At::default(), payload: Vec::new() });
            }
        }
        self.links.flush();
        // The links stay; what was sent arrives if this side waits for the others' goodbyes.
        false
    }

    fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        self.links.buffer(capacity)
    }

    fn filled(&mut self, len: usize) -> Vec<u8> {
        self.links.filled(len)
    }

    fn recycle(&mut self, buffer: Vec<u8>) {
        self.links.recycle(buffer);
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(home) = self.home.take() else { return };
        let mut lost = vec![false; self.ends.len()];
        while let Some((peer, event)) = self.links.ready.pop_front() {
            if matches!(event, Event::Lost(_))
                && let Some(lost) = lost.get_mut(peer)
            {
                *lost = true;
            }
            let _ = self.seen(peer, event);
        }
        let slots = std::mem::take(&mut self.links.links).into_iter();
        let ends = std::mem::take(&mut self.ends).into_iter().zip(lost);
        let back = slots.zip(ends).map(|(slot, (end, lost))| match slot {
            Slot::Open(mut link) if end.said && end.heard && !lost && link.backlog() == 0 => {
                link.held = false;
                Some(Resting { link, unread: end.later, lost: None })
            }
            _ => None,
        });
        home(back.collect());
    }
}
