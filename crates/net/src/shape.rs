//! Links that are made slower than they are, to measure on one machine what a network would do.
//!
//! Every frame carries the time at which it was sent, and the receiving side holds it back. A link lets bytes through
//! one after another at its bandwidth, and each then travels for half a round trip. So a frame comes out at
//! `max(previous, sent) + size / bandwidth + rtt / 2`.
//!
//! It works over memory, TCP and TLS alike. All processes must share one monotonic clock, and so one machine, and all
//! must use the same [`Profile`].

use std::collections::VecDeque;
use std::time::Duration;

use tacit_wire::{Profile, Shape};

use crate::counters::WireBytes;
use crate::error::ErrorKind;
use crate::frame::{Frame, HEADER_BYTES};
use crate::transport::{Event, Transport};

/// Bytes of the time that a frame carries behind its payload.
pub(crate) const STAMP: usize = 8;

/// How early a wait for a frame's time ends, to be there when it comes: sleeping is not exact.
const EARLY: Duration = Duration::from_micros(150);
/// The shortest wait.
const MOMENT: Duration = Duration::from_micros(1);
/// How often a peer whose frames are held back counts as heard.
const SIGN: Duration = Duration::from_millis(100);
/// Bytes held back per peer before no more are taken in: what a network's own buffers may hold.
const HELD: usize = 16 << 20;

/// A transport whose links are held to a [`Profile`].
pub struct Shaped {
    inner: Box<dyn Transport>,
    links: Vec<Link>,
    /// Peers that are to be reported as alive.
    signs: VecDeque<usize>,
}

struct Link {
    /// A link without a shape lets everything through at once, but carries times as the others do.
    shape: Option<Shape>,
    /// When the last byte so far has passed the link, before it travels.
    passed: Duration,
    /// What has come, with the time at which it comes out.
    queue: VecDeque<(Duration, Event)>,
    bytes: usize,
    /// The layer above wants nothing from this peer at present.
    held: bool,
}

impl Shaped {
    /// The links of endpoint `me`, one of those named, held to a profile.
    ///
    /// # Panics
    /// If `me` has no name.
    pub fn new(inner: Box<dyn Transport>, me: usize, names: &[String], profile: &Profile) -> Self {
        let links = names.iter().map(|name| Link {
            shape: profile.between(&names[me], name),
            passed: Duration::ZERO,
            queue: VecDeque::new(),
            bytes: 0,
            held: false,
        });
        Self { links: links.collect(), inner, signs: VecDeque::new() }
    }

    /// Notes when what has come is to come out.
    fn take_in(&mut self, peer: usize, event: Event) {
        let now = self.inner.now();
        let Some(link) = self.links.get_mut(peer) else { return };
        // A link's end comes out after all that came before it.
        let last = link.queue.back().map_or(Duration::ZERO, |(due, _)| *due);
        match event {
            Event::Progress => {
                if !self.signs.contains(&peer) {
                    self.signs.push_back(peer);
                }
            }
            Event::Lost(what) => link.queue.push_back((last, Event::Lost(what))),
            Event::Frame(mut frame) => match unstamp(&mut frame) {
                None => {
                    let detail = "a frame without a time: is --net the same everywhere?".to_owned();
                    link.queue.push_back((last, Event::Lost(ErrorKind::Malformed { detail })));
                }
                Some(sent) => {
                    let bytes = HEADER_BYTES + frame.payload.len();
                    // Nothing was sent later than now, whatever it says.
                    let start = link.passed.max(sent.min(now));
                    link.passed = start + link.shape.map_or(Duration::ZERO, |shape| shape.passing(bytes));
                    let due = link.passed + link.shape.map_or(Duration::ZERO, |shape| shape.rtt / 2);
                    link.bytes += bytes;
                    link.queue.push_back((due, Event::Frame(frame)));
                    self.hold_inner(peer);
                }
            },
        }
    }

    /// The event that is to come out first, of those that may.
    fn first(&self) -> Option<(usize, Duration)> {
        let open = self.links.iter().enumerate().filter(|(_, link)| !link.held);
        let due = open.filter_map(|(peer, link)| link.queue.front().map(|(due, _)| (peer, *due)));
        due.min_by_key(|(_, due)| *due)
    }

    fn release(&mut self, peer: usize) -> Option<(usize, Event)> {
        let link = self.links.get_mut(peer)?;
        let (_, event) = link.queue.pop_front()?;
        if let Event::Frame(frame) = &event {
            link.bytes -= HEADER_BYTES + frame.payload.len();
            self.hold_inner(peer);
        }
        Some((peer, event))
    }

    fn hold_inner(&mut self, peer: usize) {
        if let Some(link) = self.links.get(peer) {
            self.inner.hold(peer, link.held || link.bytes > HELD);
        }
    }
}

/// Takes the time of sending off a frame.
fn unstamp(frame: &mut Frame) -> Option<Duration> {
    let (payload, stamp) = frame.payload.split_last_chunk::<STAMP>()?;
    let (len, sent) = (payload.len(), Duration::from_nanos(u64::from_le_bytes(*stamp)));
    frame.payload.truncate(len);
    Some(sent)
}

impl Transport for Shaped {
    fn is_linked(&self, peer: usize) -> bool {
        self.inner.is_linked(peer)
    }

    fn send(&mut self, to: usize, mut frame: Frame) {
        let now = self.inner.now().as_nanos() as u64;
        frame.payload.extend_from_slice(&now.to_le_bytes());
        self.inner.send(to, frame);
    }

    fn flush(&mut self) -> bool {
        self.inner.flush()
    }

    fn backlog(&self, to: usize) -> usize {
        self.inner.backlog(to)
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        let start = self.inner.now();
        loop {
            while let Some((peer, event)) = self.inner.poll(Duration::ZERO) {
                self.take_in(peer, event);
            }
            let now = self.inner.now();
            let first = self.first();
            if let Some((peer, due)) = first
                && due <= now
            {
                return self.release(peer);
            }
            if let Some(peer) = self.signs.pop_front() {
                return Some((peer, Event::Progress));
            }
            let left = (start + wait).saturating_sub(now);
            if left.is_zero() {
                return None;
            }
            let mut pause = left;
            if let Some((_, due)) = first {
                // What is held back is on its way: those whom it comes from are alive.
                if now >= start + SIGN {
                    let busy = self.links.iter().enumerate().filter(|(_, link)| !link.queue.is_empty());
                    self.signs.extend(busy.map(|(peer, _)| peer));
                    continue;
                }
                let until_due = due.saturating_sub(now).saturating_sub(EARLY).max(MOMENT);
                pause = pause.min(until_due).min(SIGN);
            }
            match self.inner.poll(pause) {
                Some((peer, event)) => self.take_in(peer, event),
                // It may return early because there is room again.
                None if first.is_none() => return None,
                None => {}
            }
        }
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        if let Some(link) = self.links.get_mut(peer) {
            link.held = hold;
            self.hold_inner(peer);
        }
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        self.inner.wire_bytes(peer)
    }

    fn finish(&mut self) -> bool {
        self.inner.finish()
    }

    fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        self.inner.buffer(capacity + STAMP)
    }

    fn filled(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.inner.filled(len + STAMP);
        buffer.truncate(len);
        buffer
    }

    fn recycle(&mut self, buffer: Vec<u8>) {
        self.inner.recycle(buffer);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::{At, memory};

    /// Memory links on a clock that a test turns; waiting turns it, too.
    struct Clocked {
        inner: memory::MemoryTransport,
        clock: Arc<Mutex<Duration>>,
    }

    impl Transport for Clocked {
        fn is_linked(&self, peer: usize) -> bool {
            self.inner.is_linked(peer)
        }
        fn send(&mut self, to: usize, frame: Frame) {
            self.inner.send(to, frame);
        }
        fn flush(&mut self) -> bool {
            true
        }
        fn backlog(&self, to: usize) -> usize {
            self.inner.backlog(to)
        }
        fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
            let event = self.inner.poll(Duration::ZERO);
            if event.is_none() {
                *self.clock.lock().unwrap() += wait;
            }
            event
        }
        fn hold(&mut self, peer: usize, hold: bool) {
            self.inner.hold(peer, hold);
        }
        fn now(&self) -> Duration {
            *self.clock.lock().unwrap()
        }
        fn wire_bytes(&self, peer: usize) -> WireBytes {
            self.inner.wire_bytes(peer)
        }
        fn finish(&mut self) -> bool {
            true
        }
    }

    /// Two endpoints and the clock that they share.
    fn two(shape: Option<Shape>) -> (Shaped, Shaped, Arc<Mutex<Duration>>) {
        let clock = Arc::new(Mutex::new(Duration::from_secs(1000)));
        let names = ["P0".to_owned(), "P1".to_owned()];
        let profile = shape.map_or_else(|| Profile::of_pairs(Vec::new()), Profile::uniform);
        let mut ends = memory::mesh(2, 0).into_iter().enumerate().map(|(me, inner)| {
            let inner = Box::new(Clocked { inner, clock: Arc::clone(&clock) });
            Shaped::new(inner, me, &names, &profile)
        });
        (ends.next().unwrap(), ends.next().unwrap(), clock)
    }

    fn frame(op: u32, len: usize) -> Frame {
        Frame::data(At::op(op), vec![op as u8; len])
    }

    /// The next frame, and how long it took to come.
    fn next(end: &mut Shaped) -> (Frame, Duration) {
        let start = end.now();
        loop {
            match end.poll(Duration::from_mins(1)) {
                Some((0, Event::Frame(frame))) => return (frame, end.now().saturating_sub(start)),
                Some((0, Event::Progress)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn frames_come_out_at_their_time_and_not_much_later() {
        let shape = Shape { rtt: Duration::from_millis(40), bandwidth: 8_000_000 };
        let (mut first, mut second, clock) = two(Some(shape));
        // A thousand bytes take a millisecond; three frames at once pass one after another.
        for op in 0..3 {
            first.send(1, frame(op, 1000 - HEADER_BYTES));
        }
        assert!(second.poll(Duration::ZERO).is_none());
        for (op, expected) in [(0, 21), (1, 1), (2, 1)] {
            let (got, took) = next(&mut second);
            assert_eq!(got, frame(op, 1000 - HEADER_BYTES));
            let expected = Duration::from_millis(expected);
            assert!(took.abs_diff(expected) <= 3 * MOMENT, "{op}: {took:?}");
        }
        // The link is idle again; what lay in between has passed already when it is looked for.
        first.send(1, frame(3, 1000 - HEADER_BYTES));
        *clock.lock().unwrap() += Duration::from_millis(15);
        let (_, took) = next(&mut second);
        assert!(took.abs_diff(Duration::from_millis(6)) <= 3 * MOMENT, "{took:?}");
    }

    #[test]
    fn an_end_waits_for_what_came_before_it() {
        let (mut first, mut second, _) = two(Some(Shape::WAN));
        first.send(1, frame(0, 10));
        drop(first);
        assert_eq!(next(&mut second).0, frame(0, 10));
        assert!(matches!(second.poll(Duration::ZERO), Some((0, Event::Lost(ErrorKind::Closed { .. })))));
    }

    #[test]
    fn who_is_held_back_is_alive() {
        let (mut first, mut second, _) =
            two(Some(Shape { rtt: Duration::from_secs(4), bandwidth: 1_000_000 }));
        first.send(1, frame(0, 0));
        let mut signs = 0;
        while let Some((0, Event::Progress)) = second.poll(Duration::from_secs(1)) {
            signs += 1;
        }
        assert!((15..=25).contains(&signs), "{signs} in two seconds");
    }

    #[test]
    fn a_held_peer_stays_held_and_without_a_shape_nothing_waits() {
        let (mut first, mut second, _) = two(None);
        first.send(1, frame(0, 5));
        first.send(1, frame(1, 5));
        second.hold(0, true);
        assert!(second.poll(Duration::ZERO).is_none());
        second.hold(0, false);
        assert_eq!(next(&mut second), (frame(0, 5), Duration::ZERO));
        assert_eq!(next(&mut second), (frame(1, 5), Duration::ZERO));
    }

    #[test]
    fn a_frame_without_a_time_ends_the_link() {
        let clock = Arc::new(Mutex::new(Duration::from_secs(1)));
        let mut ends = memory::mesh(2, 0).into_iter();
        let (mut raw, inner) = (ends.next().unwrap(), ends.next().unwrap());
        let names = ["P0".to_owned(), "P1".to_owned()];
        let inner = Box::new(Clocked { inner, clock });
        let mut second = Shaped::new(inner, 1, &names, &Profile::uniform(Shape::LAN));
        raw.send(1, frame(0, STAMP - 1));
        assert!(matches!(second.poll(Duration::ZERO), Some((0, Event::Lost(ErrorKind::Malformed { .. })))));
    }
}
