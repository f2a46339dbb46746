//! Links between threads of one process: the embedded default.
//!
//! Every endpoint has a mailbox; a frame passes into it by ownership, without a copy. The reader takes all
//! that is in the mailbox at once, so the lock is taken once per burst. It looks, yields the core a few times
//! (there may be more parties than cores), then sleeps.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::counters::WireBytes;
use crate::error::ErrorKind;
use crate::frame::{Frame, HEADER_BYTES};
use crate::pool::Pool;
use crate::transport::{Event, Transport, monotonic};

/// How long a waiting endpoint yields the core before it sleeps.
const SPIN: Duration = Duration::from_micros(100);
/// When what is under way to an endpoint falls to this, its sender is told: it may be waiting for room. (With a
/// smaller [`crate::Limits::outbox`] a sender finds out by itself, later.)
const LOW_WATER: usize = 256 << 10;

/// The transports of `parties` and `clients`, in the order of their numbers: parties first. Every party has a
/// link to everybody else; clients have none with one another.
pub fn mesh(parties: usize, clients: usize) -> Vec<MemoryTransport> {
    let endpoints = parties + clients;
    let shared = Arc::new(Shared {
        boxes: (0..endpoints).map(|_| Mailbox::default()).collect(),
        under_way: (0..endpoints * endpoints).map(|_| AtomicUsize::new(0)).collect(),
    });
    (0..endpoints)
        .map(|me| MemoryTransport {
            me,
            links: (0..endpoints)
                .map(|peer| Link::new(peer != me && (peer < parties || me < parties)))
                .collect(),
            shared: Arc::clone(&shared),
            taken: VecDeque::new(),
            pool: Pool::default(),
        })
        .collect()
}

/// One endpoint's end of [`mesh`].
#[derive(Debug)]
pub struct MemoryTransport {
    me: usize,
    shared: Arc<Shared>,
    links: Vec<Link>,
    /// What has been taken out of the mailbox and not yet returned.
    taken: VecDeque<(usize, Event)>,
    pool: Pool,
}

#[derive(Debug)]
struct Link {
    exists: bool,
    held: bool,
    /// What came from a peer that was on hold.
    stash: VecDeque<Event>,
    wire: WireBytes,
}

#[derive(Debug)]
struct Shared {
    boxes: Vec<Mailbox>,
    /// Bytes sent and not yet delivered, at `from * endpoints + to`.
    under_way: Vec<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Mailbox {
    contents: Mutex<Contents>,
    changed: Condvar,
    /// Set when something was put in, so that a spinning owner needs no lock to look.
    filled: AtomicBool,
    /// Set when there may be room for more of what the owner sends.
    room: AtomicBool,
    /// Set while the owner sleeps.
    asleep: AtomicBool,
}

#[derive(Debug, Default)]
struct Contents {
    events: VecDeque<(usize, Event)>,
    /// The owner is gone.
    shut: bool,
}

impl Mailbox {
    /// A thread that panics does so outside of this lock's few lines, so a poisoned lock's contents are sound.
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an event in, and wakes the owner. `false` if the owner is gone.
    fn put(&self, from: usize, event: Event) -> bool {
        let mut contents = self.lock();
        if contents.shut {
            return false;
        }
        contents.events.push_back((from, event));
        self.filled.store(true, Ordering::Release);
        drop(contents);
        self.wake();
        true
    }

    fn tell_of_room(&self) {
        self.room.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) {
            // Taking the lock makes sure that the owner either has begun to wait or will look again.
            drop(self.lock());
            self.changed.notify_one();
        }
    }

    /// Sleeps until something is in the mailbox, there is room, or the time is over.
    fn sleep(&self, wait: Duration) {
        let contents = self.lock();
        self.asleep.store(true, Ordering::SeqCst);
        if contents.events.is_empty() && !self.room.load(Ordering::SeqCst) {
            let woken = self.changed.wait_timeout(contents, wait).unwrap_or_else(PoisonError::into_inner);
            drop(woken);
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}

impl Link {
    fn new(exists: bool) -> Self {
        Self { exists, held: false, stash: VecDeque::new(), wire: WireBytes::default() }
    }
}

impl MemoryTransport {
    fn under_way(&self, from: usize, to: usize) -> &AtomicUsize {
        &self.shared.under_way[from * self.links.len() + to]
    }

    fn mailbox(&self) -> &Mailbox {
        &self.shared.boxes[self.me]
    }

    /// The next event that is already here, from a peer that is not on hold.
    fn next(&mut self) -> Option<(usize, Event)> {
        for (peer, link) in self.links.iter_mut().enumerate() {
            if !link.held
                && let Some(event) = link.stash.pop_front()
            {
                return Some((peer, event));
            }
        }
        loop {
            while let Some((from, event)) = self.taken.pop_front() {
                let link = &mut self.links[from];
                if link.held {
                    link.stash.push_back(event);
                } else {
                    return Some((from, event));
                }
            }
            if !self.mailbox().filled.load(Ordering::Acquire) {
                return None;
            }
            let mailbox = &self.shared.boxes[self.me];
            let mut contents = mailbox.lock();
            mailbox.filled.store(false, Ordering::Relaxed);
            std::mem::swap(&mut contents.events, &mut self.taken);
        }
    }

    /// Counts an event as delivered, and wakes its sender if it may be waiting for room.
    fn deliver(&mut self, from: usize, event: Event) -> (usize, Event) {
        if let Event::Frame(frame) = &event {
            let bytes = weight(frame);
            self.links[from].wire.received += bytes as u64;
            let before = self.under_way(from, self.me).fetch_sub(bytes, Ordering::SeqCst);
            if before > LOW_WATER && before - bytes <= LOW_WATER {
                self.shared.boxes[from].tell_of_room();
            }
        }
        (from, event)
    }
}

/// What a frame would be on a wire.
fn weight(frame: &Frame) -> usize {
    HEADER_BYTES + frame.payload.len()
}

impl Transport for MemoryTransport {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.get(peer).is_some_and(|link| link.exists)
    }

    fn send(&mut self, to: usize, frame: Frame) {
        if !self.is_linked(to) {
            return;
        }
        let bytes = weight(&frame);
        let counter = self.under_way(self.me, to);
        counter.fetch_add(bytes, Ordering::SeqCst);
        if self.shared.boxes[to].put(self.me, Event::Frame(frame)) {
            self.links[to].wire.sent += bytes as u64;
        } else {
            counter.store(0, Ordering::SeqCst);
        }
    }

    /// A frame is in its reader's mailbox as soon as it is sent.
    fn flush(&mut self) -> bool {
        true
    }

    fn backlog(&self, to: usize) -> usize {
        if self.is_linked(to) { self.under_way(self.me, to).load(Ordering::SeqCst) } else { 0 }
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        if let Some((from, event)) = self.next() {
            return Some(self.deliver(from, event));
        }
        if wait.is_zero() {
            return None;
        }
        let start = Instant::now();
        let spin = wait.min(SPIN);
        while start.elapsed() < spin {
            std::thread::yield_now();
            if let Some((from, event)) = self.next() {
                return Some(self.deliver(from, event));
            }
            if self.mailbox().room.swap(false, Ordering::SeqCst) {
                return None;
            }
        }
        self.mailbox().sleep(wait.saturating_sub(spin));
        self.mailbox().room.store(false, Ordering::SeqCst);
        let (from, event) = self.next()?;
        Some(self.deliver(from, event))
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        if let Some(link) = self.links.get_mut(peer) {
            link.held = hold;
        }
    }

    fn now(&self) -> Duration {
        monotonic()
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        self.links.get(peer).map_or_else(WireBytes::default, |link| link.wire)
    }

    fn finish(&mut self) -> bool {
        true
    }

    fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        self.pool.empty(capacity)
    }

    fn filled(&mut self, len: usize) -> Vec<u8> {
        self.pool.filled(len)
    }

    fn recycle(&mut self, buffer: Vec<u8>) {
        self.pool.put(buffer);
    }
}

impl Drop for MemoryTransport {
    /// Tells every peer that this end is gone, whether its thread ended well or panicked.
    fn drop(&mut self) {
        let mut contents = self.mailbox().lock();
        contents.shut = true;
        contents.events.clear();
        drop(contents);
        for peer in 0..self.links.len() {
            if !self.is_linked(peer) {
                continue;
            }
            self.under_way(peer, self.me).store(0, Ordering::SeqCst);
            let how = "closed the connection".to_owned();
            self.shared.boxes[peer].put(self.me, Event::Lost(ErrorKind::Closed { how }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::At;

    fn frame(op: u32, len: usize) -> Frame {
        Frame::data(At::op(op), vec![op as u8; len])
    }

    fn op(event: Option<(usize, Event)>) -> (usize, u32) {
        match event {
            Some((from, Event::Frame(frame))) => (from, frame.at.op),
            other => panic!("expected a frame, got {other:?}"),
        }
    }

    #[test]
    fn frames_arrive_in_order_and_by_ownership() {
        let mut ends = mesh(2, 0);
        let mut second = ends.pop().unwrap();
        let mut first = ends.pop().unwrap();
        let sent = frame(1, 100_000);
        let address = sent.payload.as_ptr();
        first.send(1, sent);
        first.send(1, frame(2, 0));
        match second.poll(Duration::ZERO) {
            Some((0, Event::Frame(frame))) => assert_eq!(frame.payload.as_ptr(), address),
            other => panic!("{other:?}"),
        }
        assert_eq!(op(second.poll(Duration::ZERO)), (0, 2));
        assert!(second.poll(Duration::ZERO).is_none());
        assert_eq!(first.wire_bytes(1).sent, 100_000 + 2 * HEADER_BYTES as u64);
        assert_eq!(second.wire_bytes(0).received, 100_000 + 2 * HEADER_BYTES as u64);
    }

    #[test]
    fn clients_have_links_with_parties_only() {
        let ends = mesh(3, 2);
        let linked = |me: usize| (0..5).filter(|&peer| ends[me].is_linked(peer)).collect::<Vec<_>>();
        assert_eq!(linked(0), [1, 2, 3, 4]);
        assert_eq!(linked(4), [0, 1, 2]);
        assert!(!ends[0].is_linked(5));
    }

    #[test]
    fn a_held_peer_waits_and_its_bytes_stay_under_way() {
        let mut ends = mesh(3, 0);
        ends[0].send(2, frame(1, 10));
        ends[1].send(2, frame(2, 10));
        ends[2].hold(0, true);
        assert_eq!(op(ends[2].poll(Duration::ZERO)), (1, 2));
        assert!(ends[2].poll(Duration::ZERO).is_none());
        assert_eq!((ends[0].backlog(2), ends[1].backlog(2)), (26, 0));
        ends[2].hold(0, false);
        assert_eq!(op(ends[2].poll(Duration::ZERO)), (0, 1));
        assert_eq!(ends[0].backlog(2), 0);
    }

    #[test]
    fn a_sleeper_is_woken_by_a_frame_and_by_a_death() {
        let mut ends = mesh(2, 0);
        let mut second = ends.pop().unwrap();
        let mut first = ends.pop().unwrap();
        let reader = std::thread::spawn(move || {
            let minute = Duration::from_mins(1);
            let mut events = Vec::new();
            while events.len() < 2 {
                events.extend(second.poll(minute));
            }
            events
        });
        std::thread::sleep(Duration::from_millis(20));
        first.send(1, frame(7, 1));
        std::thread::sleep(Duration::from_millis(20));
        drop(first);
        let events = reader.join().unwrap();
        assert!(matches!(&events[0], (0, Event::Frame(_))));
        assert!(matches!(&events[1], (0, Event::Lost(ErrorKind::Closed { .. }))));
    }

    #[test]
    fn sends_to_the_dead_are_dropped() {
        let mut ends = mesh(2, 0);
        ends[0].send(1, frame(1, 10));
        ends.truncate(1);
        ends[0].send(1, frame(2, 10));
        assert_eq!(ends[0].backlog(1), 0);
    }
}
