//! A network within one process, on a clock of its own.
//!
//! A [`World`] gives every endpoint a [`Transport`]. Frames take [`World::latency`] to arrive, and time stands
//! still while anybody works: only when every endpoint that is still there waits in `poll`, and nothing has
//! arrived for any of them, does the clock jump to the next arrival or deadline. So a silence of ten seconds
//! takes none, and however busy the machine is, nobody times out who should not.
//!
//! **Deterministic.** As no frame arrives at the instant at which it is sent, what an endpoint finds when it
//! polls depends on what was sent at earlier instants, and on nothing else. Endpoints that act on that and on
//! [`crate::Draws`] send the same frames at the same times in every run, in whatever order their threads run.
//!
//! **What may go wrong** is up to an [`Interceptor`], who sees every data frame when it is sent. What computing takes is up
//! to [`World::charging`]; nothing, if that isn't called.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tacit_net::frame::HEADER_BYTES;
use tacit_net::{ErrorKind, Event, Frame, FrameKind, Transport, WireBytes};
use tacit_session::step;

use crate::case::Links;
use crate::interceptor::{Fate, Interceptor, Message};
use crate::trace::{Delivery, Trace};

/// How long frames take if nothing else is said.
const LATENCY: Duration = Duration::from_millis(1);
/// A clock that gets this far shows that somebody hangs: all waits of a run together are far shorter.
const HORIZON: Duration = Duration::from_hours(1);

/// Parties and clients in one process, and the links between them.
pub struct World {
    shared: Arc<Shared>,
    endpoints: usize,
    absent: Vec<usize>,
}

impl World {
    /// Links between all of `parties`, and from each of them to each of `clients`, who are numbered after them.
    pub fn new(parties: usize, clients: usize) -> Self {
        Self::in_lanes(parties, clients, 1)
    }

    /// As [`World::new`], with a seat and links for everybody in each of `lanes` lanes, and one clock for all.
    pub fn in_lanes(parties: usize, clients: usize, lanes: u16) -> Self {
        let endpoints = parties + clients;
        let seats = endpoints * usize::from(lanes);
        let linked = |from: usize, to: usize| {
            let lane = from / endpoints == to / endpoints;
            lane && from != to && (from % endpoints < parties || to % endpoints < parties)
        };
        let links = (0..seats * seats).map(|at| Link::new(linked(at / seats, at % seats)));
        let state = State {
            now: Duration::ZERO,
            latency: LATENCY,
            endpoints,
            seats: (0..seats).map(|_| Seat { activity: Activity::Running, depth: 0 }).collect(),
            links: links.collect(),
            interceptor: None,
            charge: None,
            resets: false,
            deliveries: Vec::new(),
        };
        let changed = (0..seats).map(|_| Condvar::new()).collect();
        let shared = Arc::new(Shared { state: Mutex::new(state), changed });
        Self { shared, endpoints, absent: Vec::new() }
    }

    /// How long frames are under way; 1 ms if this isn't called.
    ///
    /// # Panics
    /// If it is zero: then a run would depend on the order of threads.
    #[must_use]
    pub fn latency(self, latency: Duration) -> Self {
        assert!(!latency.is_zero(), "frames that take no time make a world that can't be repeated");
        self.shared.lock().latency = latency;
        self
    }

    /// Lets `interceptor` decide on every data frame.
    #[must_use]
    pub fn intercept(self, interceptor: Interceptor) -> Self {
        self.shared.lock().interceptor = Some(interceptor);
        self
    }

    /// Charges for computing: before an endpoint sends a data frame, it is busy for as long as `charge` says of its number
    /// and the frame. Meanwhile it neither sends nor hears anything, and others' time passes.
    #[must_use]
    pub fn charging(self, charge: impl FnMut(usize, &Frame) -> Duration + Send + 'static) -> Self {
        self.shared.lock().charge = Some(Box::new(charge));
        self
    }

    /// An endpoint that leaves loses what it has under way, as a link does that is reset because something on it is unread.
    #[must_use]
    pub fn resetting(self) -> Self {
        self.shared.lock().resets = true;
        self
    }

    /// This endpoint never comes: its links are there, and nothing is ever heard of it.
    #[must_use]
    pub fn without(mut self, endpoint: usize) -> Self {
        let mut state = self.shared.lock();
        state.seats.iter_mut().skip(endpoint).step_by(self.endpoints).for_each(|seat| {
            seat.activity = Activity::Gone;
        });
        drop(state);
        self.absent.push(endpoint);
        self
    }

    /// Every endpoint's links, those of the first lane, if there are several. To be called once, since the
    /// clock waits for every endpoint that has links.
    pub fn transports(&self) -> Links {
        self.transports_in(0)
    }

    /// Every endpoint's links in a lane. To be called once for each lane.
    pub fn transports_in(&self, lane: u16) -> Links {
        let first = usize::from(lane) * self.endpoints;
        let transport = |me: usize| -> Option<Box<dyn Transport>> {
            let (shared, endpoints) = (Arc::clone(&self.shared), self.endpoints);
            let unsent = VecDeque::new();
            let transport = WorldTransport { seat: first + me, first, endpoints, unsent, shared };
            (!self.absent.contains(&me)).then(|| Box::new(transport) as Box<dyn Transport>)
        };
        (0..self.endpoints).map(transport).collect()
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.shared.lock().now
    }

    /// What was delivered so far.
    pub fn trace(&self) -> Trace {
        Trace::new(self.shared.lock().deliveries.clone())
    }
}

/// One endpoint's links in a lane of a [`World`].
struct WorldTransport {
    seat: usize,
    /// The first of the lane's seats.
    first: usize,
    /// How many seats the lane has.
    endpoints: usize,
    /// What was sent and waits to be flushed, as in real links: nothing of it arrives if this endpoint goes no further.
    unsent: VecDeque<(usize, Frame)>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Where each seat waits.
    changed: Vec<Condvar>,
}

impl Shared {
    /// A thread that panics does so between whole changes of the state, so a poisoned lock's contents are sound.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass if nobody has anything to do at present, and wakes whoever else has then: with the lock open,
    /// which they take first.
    fn pass_time<'a>(&'a self, mut state: MutexGuard<'a, State>, me: usize) -> MutexGuard<'a, State> {
        if !state.advance() {
            return state;
        }
        let has_work = |seat: &usize| *seat != me && state.wakes(*seat).is_some_and(|at| at <= state.now);
        let woken: Vec<usize> = (0..self.changed.len()).filter(has_work).collect();
        drop(state);
        for seat in woken {
            self.changed[seat].notify_one();
        }
        self.lock()
    }
}

struct State {
    now: Duration,
    latency: Duration,
    /// How many endpoints there are, each of which has a seat in every lane.
    endpoints: usize,
    /// Lane by lane.
    seats: Vec<Seat>,
    /// From seat `a` to seat `b` at `a * seats + b`.
    links: Vec<Link>,
    interceptor: Option<Interceptor>,
    charge: Option<Charge>,
    /// Links are reset when an endpoint leaves.
    resets: bool,
    deliveries: Vec<Delivery>,
}

/// How long an endpoint computes before it sends a frame.
type Charge = Box<dyn FnMut(usize, &Frame) -> Duration + Send>;

struct Seat {
    activity: Activity,
    /// The longest chain of operations' messages that ends with one that was delivered here.
    depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    Running,
    /// For a frame, or until then.
    Waiting {
        until: Duration,
    },
    /// Until then, whatever comes.
    Computing {
        until: Duration,
    },
    Gone,
}

struct Link {
    exists: bool,
    /// The receiver takes nothing in at present.
    held: bool,
    /// Nothing that is sent gets through any more.
    cut: bool,
    queue: VecDeque<Parcel>,
    /// Data frames sent.
    sent: usize,
    /// Bytes sent and not delivered.
    backlog: usize,
    /// When the last parcel arrives; no later one arrives before it.
    last: Duration,
    wire: WireBytes,
}

/// What is under way on a link.
struct Parcel {
    sent: Duration,
    arrives: Duration,
    depth: usize,
    event: Event,
}

impl Link {
    fn new(exists: bool) -> Self {
        Self {
            exists,
            held: false,
            cut: false,
            queue: VecDeque::new(),
            sent: 0,
            backlog: 0,
            last: Duration::ZERO,
            wire: WireBytes::default(),
        }
    }

    /// When the next parcel can be delivered.
    fn next(&self) -> Option<Duration> {
        if self.held { None } else { self.queue.front().map(|parcel| parcel.arrives) }
    }
}

/// What a frame would be on a wire.
fn weight(event: &Event) -> usize {
    match event {
        Event::Frame(frame) => HEADER_BYTES + frame.payload.len(),
        Event::Progress | Event::Lost(_) => 0,
    }
}

impl State {
    fn link(&mut self, from: usize, to: usize) -> &mut Link {
        let seats = self.seats.len();
        &mut self.links[from * seats + to]
    }

    /// When a seat that waits has something to do: at once, if it is not after now.
    fn wakes(&self, seat: usize) -> Option<Duration> {
        let until = match self.seats[seat].activity {
            Activity::Waiting { until } => until,
            Activity::Computing { until } => return Some(until),
            Activity::Running | Activity::Gone => return None,
        };
        let seats = self.seats.len();
        let arrivals = (0..seats).filter_map(|from| self.links[from * seats + seat].next());
        Some(arrivals.fold(until, Duration::min))
    }

    /// Moves the clock on, if everybody who is there waits for later. Whether it has moved.
    fn advance(&mut self) -> bool {
        if self.seats.iter().any(|seat| seat.activity == Activity::Running) {
            return false;
        }
        let next = (0..self.seats.len()).filter_map(|seat| self.wakes(seat)).min();
        match next {
            Some(next) if next > self.now => {
                assert!(
                    next < HORIZON,
                    "somebody still waits after {next:?} of the world's time: a run hangs"
                );
                self.now = next;
                true
            }
            _ => false,
        }
    }

    /// The next event for a seat, by its arrival and then by its sender's seat.
    fn take(&mut self, me: usize) -> Option<(usize, Event)> {
        let (now, seats) = (self.now, self.seats.len());
        let from = (0..seats)
            .filter_map(|from| Some((self.links[from * seats + me].next().filter(|&at| at <= now)?, from)))
            .min()?
            .1;
        let link = self.link(from, me);
        let parcel = link.queue.pop_front()?;
        let bytes = weight(&parcel.event);
        link.backlog -= bytes;
        link.wire.received += bytes as u64;
        if let Event::Frame(frame) = &parcel.event
            && frame.kind == FrameKind::Data
        {
            // Proofs stand aside: what they take is no round of an operation, though one that opens waits for them.
            let is_operation = frame.at.part >= step::OPERATION && !frame.at.is_aside();
            if is_operation && !step::is_offline(frame.at.part) {
                self.seats[me].depth = self.seats[me].depth.max(parcel.depth);
            }
            self.deliveries.push(Delivery {
                from: from % self.endpoints,
                to: me % self.endpoints,
                at: frame.at,
                payload: frame.payload.clone(),
                sent: parcel.sent,
                arrived: now,
                depth: parcel.depth,
            });
        }
        Some((from, parcel.event))
    }

    /// Puts an event on a link, to arrive `later` than usual, but never before what was sent earlier.
    fn put(&mut self, from: usize, to: usize, event: Event, later: Duration) {
        let (now, depth) = (self.now, self.seats[from].depth + 1);
        let arrives = now + self.latency + later;
        let link = self.link(from, to);
        if !link.exists || link.cut {
            return;
        }
        let bytes = weight(&event);
        let arrives = arrives.max(link.last);
        link.last = arrives;
        link.backlog += bytes;
        link.wire.sent += bytes as u64;
        link.queue.push_back(Parcel { sent: now, arrives, depth, event });
    }

    /// Sends a data frame as the interceptor will have it.
    fn send_data(&mut self, from: usize, to: usize, frame: Frame) {
        let link = self.link(from, to);
        let nth = link.sent;
        link.sent += 1;
        let (sender, receiver) = (from % self.endpoints, to % self.endpoints);
        let fate = match &mut self.interceptor {
            Some(decide) => decide(&Message { from: sender, to: receiver, nth, frame: &frame }),
            None => Fate::Deliver,
        };
        match fate {
            Fate::Deliver => self.put(from, to, Event::Frame(frame), Duration::ZERO),
            Fate::Delay(later) => self.put(from, to, Event::Frame(frame), later),
            Fate::Replace(frames) => {
                for frame in frames {
                    self.put(from, to, Event::Frame(frame), Duration::ZERO);
                }
            }
            Fate::Cut => self.link(from, to).cut = true,
            Fate::Hang => (0..self.seats.len()).for_each(|to| self.link(from, to).cut = true),
            Fate::Die => self.die(from),
            Fate::Lose(endpoint) => {
                self.put(from, to, Event::Frame(frame), Duration::ZERO);
                self.die(from - sender + endpoint);
            }
        }
    }

    /// Ends all links of an endpoint, in both directions, as the end of its process would.
    fn die(&mut self, dead: usize) {
        for peer in 0..self.seats.len() {
            self.close(dead, peer);
            self.close(peer, dead);
        }
    }

    /// Forgets what a seat has under way.
    fn reset(&mut self, from: usize) {
        let now = self.now;
        for to in 0..self.seats.len() {
            let link = self.link(from, to);
            link.queue.retain(|parcel| parcel.arrives <= now);
            link.backlog = link.queue.iter().map(|parcel| weight(&parcel.event)).sum();
        }
    }

    /// Takes nothing in from a link, or does again. What was sent meanwhile then sets out: its sender had no room for it.
    fn hold(&mut self, from: usize, to: usize, hold: bool) {
        let earliest = self.now + self.latency;
        let link = self.link(from, to);
        if std::mem::replace(&mut link.held, hold) && !hold {
            link.queue.iter_mut().for_each(|parcel| parcel.arrives = parcel.arrives.max(earliest));
            link.last = link.last.max(earliest);
        }
    }

    /// Ends a link after what is under way on it.
    fn close(&mut self, from: usize, to: usize) {
        let how = "closed the connection".to_owned();
        self.put(from, to, Event::Lost(ErrorKind::Closed { how }), Duration::ZERO);
        self.link(from, to).cut = true;
    }
}

impl WorldTransport {
    /// A peer's seat; `None` if there is no such endpoint.
    fn seat_of(&self, peer: usize) -> Option<usize> {
        (peer < self.endpoints).then_some(self.first + peer)
    }

    /// Lets so much time pass in which this seat only computes.
    fn compute<'a>(&'a self, mut state: MutexGuard<'a, State>, busy: Duration) -> MutexGuard<'a, State> {
        let until = state.now + busy;
        while state.now < until {
            state.seats[self.seat].activity = Activity::Computing { until };
            state = self.shared.pass_time(state, self.seat);
            if state.now < until {
                state = self.shared.changed[self.seat].wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        state.seats[self.seat].activity = Activity::Running;
        state
    }
}

impl Transport for WorldTransport {
    fn is_linked(&self, peer: usize) -> bool {
        self.seat_of(peer).is_some_and(|peer| self.shared.lock().link(self.seat, peer).exists)
    }

    fn send(&mut self, to: usize, frame: Frame) {
        let Some(to) = self.seat_of(to) else { return };
        if frame.kind == FrameKind::Data {
            let mut state = self.shared.lock();
            let endpoint = self.seat - self.first;
            let busy = state.charge.as_mut().map_or(Duration::ZERO, |charge| charge(endpoint, &frame));
            drop(self.compute(state, busy));
        }
        self.unsent.push_back((to, frame));
    }

    fn flush(&mut self) -> bool {
        if self.unsent.is_empty() {
            return true;
        }
        let mut state = self.shared.lock();
        for (to, frame) in self.unsent.drain(..) {
            if frame.kind == FrameKind::Data {
                state.send_data(self.seat, to, frame);
            } else {
                state.put(self.seat, to, Event::Frame(frame), Duration::ZERO);
            }
        }
        true
    }

    fn backlog(&self, to: usize) -> usize {
        let Some(to) = self.seat_of(to) else { return 0 };
        let unsent = self.unsent.iter().filter(|(other, _)| *other == to);
        let unsent: usize = unsent.map(|(_, frame)| HEADER_BYTES + frame.payload.len()).sum();
        unsent + self.shared.lock().link(self.seat, to).backlog
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        self.flush();
        let mut state = self.shared.lock();
        let until = state.now + wait;
        loop {
            let event = state.take(self.seat);
            if event.is_some() || state.now >= until {
                state.seats[self.seat].activity = Activity::Running;
                return event.map(|(from, event)| (from - self.first, event));
            }
            state.seats[self.seat].activity = Activity::Waiting { until };
            state = self.shared.pass_time(state, self.seat);
            if state.wakes(self.seat).is_none_or(|at| at > state.now) {
                state = self.shared.changed[self.seat].wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        if let Some(peer) = self.seat_of(peer) {
            self.shared.lock().hold(peer, self.seat, hold);
        }
    }

    fn now(&self) -> Duration {
        self.shared.lock().now
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        let Some(peer) = self.seat_of(peer) else { return WireBytes::default() };
        let mut state = self.shared.lock();
        let sent = state.link(self.seat, peer).wire.sent;
        WireBytes { sent, received: state.link(peer, self.seat).wire.received }
    }

    fn finish(&mut self) -> bool {
        !self.shared.lock().resets
    }
}

impl Drop for WorldTransport {
    /// The endpoint's thread is done, well or badly: its links end, and the clock no longer waits for it.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.resets {
            state.reset(self.seat);
        }
        for peer in 0..state.seats.len() {
            state.close(self.seat, peer);
        }
        state.seats[self.seat].activity = Activity::Gone;
        drop(self.shared.pass_time(state, self.seat));
    }
}

#[cfg(test)]
mod tests;
