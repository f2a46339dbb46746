//! What the layers above use: addressed messages between numbered endpoints.

mod farewell;
mod gather;
mod leave;
mod lenient;
mod patience;
mod pause;
mod peer;
mod pulse;
mod sends;
mod signs;
mod verdict;

use std::time::Duration;

use tacit_wire::{At, Phase};

use crate::counters::Counters;
use crate::error::{Doing, Error, ErrorKind, Named};
use crate::frame::{Frame, FrameKind};
use crate::lane::{AbortFlag, Lane};
use crate::limits::Limits;
use crate::transport::{Event, Transport};
use peer::{Peer, Standing, gone_early};
use pulse::Pulse;
use sends::Sends;

/// How often [`Mesh::tick`] looks at the links.
const SERVICE: Duration = Duration::from_millis(1);
/// The longest a sender waits for room before it looks again by itself.
const ROOM: Duration = Duration::from_millis(10);
/// How often a lane that waits looks whether another failed.
const GLANCE: Duration = Duration::from_millis(20);
/// Events taken in at most by one call that does not wait, so that a flood cannot keep it.
const BURST: usize = 1024;
/// Bytes of the reason in an abort.
const REASON: usize = 1024;

/// One endpoint's links, for use by one thread. See the crate's documentation for how it drives them.
///
/// Messages of one peer are received in the order in which it sent them: protocols are deterministic, so each
/// side knows what comes next, and anything else is an error. Those [aside](At::is_aside) have an order of their own.
///
/// The first error (other than [`ErrorKind::WrongUse`]) is final: it is told to all peers, and every later call
/// returns it. A mesh that is dropped without [`Mesh::close`] is a lost party to its peers. Only a protocol that can
/// finish without one of its peers has it otherwise, for its last steps: [`Mesh::tolerate_failures`]; and for as long as a
/// verdict must not be lost, errors of those who aren't awaited wait: [`Mesh::hold_faults`].
pub struct Mesh {
    transport: Box<dyn Transport>,
    me: usize,
    lane: Lane,
    /// What is added to the operations of addresses.
    first_op: u32,
    tie: AbortFlag,
    names: Vec<String>,
    /// Endpoints below this one are believed that a check failed.
    accusers: usize,
    /// From this endpoint on waits add up: see [`Mesh::hurry`].
    hurried: usize,
    limits: Limits,
    phase: Phase,
    peers: Vec<Peer>,
    counters: Counters,
    pulse: Pulse,
    /// Something was sent and not flushed since.
    unflushed: bool,
    sends: Sends,
    /// When `tick` last looked at the links.
    serviced: Duration,
    waiting: Option<Waiting>,
    /// A peer that fails is left out, and the run goes on: see [`Mesh::tolerate_failures`].
    lenient: bool,
    /// Faults wait: see [`Mesh::hold_faults`].
    holding: bool,
    /// Until when others may count on what this party sent; zero if nobody does.
    stay: Duration,
    failure: Option<Error>,
}

#[derive(Clone, Copy)]
enum Waiting {
    Receive(usize, At),
    Send(usize, At),
}

impl std::fmt::Debug for Mesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mesh")
            .field("me", &self.name(self.me))
            .field("phase", &self.phase)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

impl Mesh {
    /// The mesh of endpoint `me`, one of those named, over its links.
    ///
    /// # Panics
    /// If `me` has no name.
    pub fn new(transport: Box<dyn Transport>, me: usize, names: Vec<String>, limits: Limits) -> Self {
        assert!(me < names.len(), "endpoint {me} is not among the {} named", names.len());
        let peers = (0..names.len()).map(|peer| Peer::new(peer != me && transport.is_linked(peer))).collect();
        let now = transport.now();
        Self {
            me,
            lane: Lane::ONLY,
            first_op: 0,
            tie: AbortFlag::default(),
            accusers: names.len(),
            hurried: names.len(),
            phase: Phase::default(),
            peers,
            counters: Counters::new(names.len()),
            pulse: Pulse::new(me, names.len(), limits.silence / 4, now),
            unflushed: false,
            sends: Sends::Apart,
            serviced: now,
            waiting: None,
            lenient: false,
            holding: false,
            stay: Duration::ZERO,
            failure: None,
            transport,
            names,
            limits,
        }
    }

    /// The mesh of one of this endpoint's lanes, all of which have a clone of one [`AbortFlag`]. Every message's
    /// address gets the lane's number. When another lane has failed, so does this one, by its next call; one that waits
    /// notices within some 20 ms.
    #[must_use]
    pub fn in_lane(self, lane: Lane, tie: AbortFlag) -> Self {
        Self { lane, tie, ..self }
    }

    /// Which of this endpoint's lanes this is: [`Lane::ONLY`] unless [`Mesh::in_lane`] says otherwise.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Goes on to another plan in the same run: from now on operation `op` of every address is `first_op + op`.
    pub fn count_from(&mut self, first_op: u32) {
        self.first_op = first_op;
    }

    /// Believes only the first so many endpoints that a check failed ([`Mesh::accuse`]): the parties. A client may end a
    /// run, but not have anything destroyed.
    pub fn trust_check_failures_from(&mut self, first: usize) {
        self.accusers = first;
    }

    /// This endpoint's number.
    pub fn me(&self) -> usize {
        self.me
    }

    /// How many endpoints there are: parties, then clients, this one included.
    pub fn endpoints(&self) -> usize {
        self.names.len()
    }

    /// An endpoint's name.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn name(&self, endpoint: usize) -> &str {
        &self.names[endpoint]
    }

    /// Whether this endpoint has a link to that one.
    pub fn is_linked(&self, endpoint: usize) -> bool {
        self.peers.get(endpoint).is_some_and(|peer| peer.standing != Standing::Unlinked)
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The time, from some point on: for measuring how long peers take to answer.
    pub fn now(&self) -> Duration {
        self.transport.now()
    }

    /// The phase that traffic is counted for.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Enters a phase.
    pub fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// What has been sent and received so far. Messages that still wait for their links are counted, but not on the wire.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters.clone();
        for peer in 0..self.endpoints() {
            counters.set_wire(peer, self.transport.wire_bytes(peer));
        }
        counters
    }

    /// An empty buffer for [`Mesh::send_vec`], from the pool.
    pub fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        self.transport.buffer(capacity)
    }

    /// A buffer of `len` bytes for [`Mesh::send_vec`], from the pool. They are what some earlier message left there:
    /// all have to be written over.
    pub fn filled(&mut self, len: usize) -> Vec<u8> {
        self.transport.filled(len)
    }

    /// Gives a received message's buffer back to the pool.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.transport.recycle(buffer);
    }

    /// Sends a message. Copies it; otherwise as [`Mesh::send_vec`].
    ///
    /// # Errors
    /// As [`Mesh::send_vec`].
    pub fn send(&mut self, to: usize, at: At, payload: &[u8]) -> Result<(), Error> {
        let mut buffer = self.buffer(payload.len());
        buffer.extend_from_slice(payload);
        self.send_vec(to, at, buffer)
    }

    /// Sends a message without copying it. Waits only if more than [`Limits::outbox`] bytes are queued for
    /// this peer. To a peer that has said goodbye it goes nowhere.
    ///
    /// # Errors
    /// [`ErrorKind::WrongUse`] if the peer has no link or the payload is beyond [`Limits::frame`]; any other error
    /// ends the run.
    pub fn send_vec(&mut self, to: usize, at: At, payload: Vec<u8>) -> Result<(), Error> {
        self.usable(to)?;
        let at = self.here(at);
        if payload.len() > self.limits.frame {
            let detail = format!(
                "a message of {} bytes is beyond the limit of {}: send it in parts",
                payload.len(),
                self.limits.frame
            );
            return Err(self.wrong_use(Some(to), detail));
        }
        self.counters.sent(self.phase, to, payload.len());
        self.transport.send(to, Frame::data(at, payload));
        self.unflushed = true;
        if !self.lenient && self.transport.backlog(to) > self.limits.outbox {
            self.waiting = Some(Waiting::Send(to, at));
            self.wait_for_room(to)?;
            self.waiting = None;
        }
        Ok(())
    }

    /// Receives the next message of a peer, which must have this address and this many bytes.
    ///
    /// Give the buffer back with [`Mesh::recycle`] when it has been read.
    ///
    /// # Errors
    /// If the link is lost, silent for too long or aborted by a peer, and if what comes is another message or has another length.
    /// After any error of a link the mesh is of no more use.
    pub fn recv(&mut self, from: usize, at: At, len: usize) -> Result<Vec<u8>, Error> {
        let payload = self.expect(from, at)?;
        if payload.len() != len {
            self.waiting = Some(Waiting::Receive(from, self.here(at)));
            return Err(self.fail(from, ErrorKind::WrongLength { expected: len, got: payload.len() }));
        }
        Ok(payload)
    }

    /// Receives the next message of a peer, which must have this address and at most this many bytes. For
    /// control messages whose length is not known beforehand.
    ///
    /// # Errors
    /// As [`Mesh::recv`].
    pub fn recv_bounded(&mut self, from: usize, at: At, max_len: usize) -> Result<Vec<u8>, Error> {
        let payload = self.expect(from, at)?;
        if payload.len() > max_len {
            self.waiting = Some(Waiting::Receive(from, self.here(at)));
            return Err(self.fail(from, ErrorKind::TooLong { limit: max_len, got: payload.len() }));
        }
        Ok(payload)
    }

    /// Whether a message of this peer is here that isn't [aside](At::is_aside). Services all links; does not wait.
    ///
    /// # Errors
    /// If this link or another is lost, or a peer aborts.
    pub fn arrived(&mut self, from: usize) -> Result<bool, Error> {
        self.usable(from)?;
        if !self.peers[from].is_empty() {
            return Ok(true);
        }
        self.service()?;
        let peer = &self.peers[from];
        if peer.is_empty() && peer.has_left() {
            Err(self.fail(from, gone_early()))
        } else {
            Ok(!peer.is_empty())
        }
    }

    /// For calls in long local work: keeps the links going, notices aborts and lost peers, and sounds alive.
    /// Costs a look at the clock, and every millisecond a look at the links.
    ///
    /// # Errors
    /// If a link is lost, or a peer aborts.
    pub fn tick(&mut self) -> Result<(), Error> {
        self.alive()?;
        let now = self.transport.now();
        if now.saturating_sub(self.serviced) < SERVICE {
            return Ok(());
        }
        self.serviced = now;
        self.sound(now);
        self.service()
    }

    /// The next message's payload, once its address has been checked.
    fn expect(&mut self, from: usize, at: At) -> Result<Vec<u8>, Error> {
        self.usable(from)?;
        let at = self.here(at);
        // A message aside is of other work, during which nothing would go out.
        if self.unflushed && (self.sends == Sends::Apart || at.is_aside()) {
            self.unflushed = !self.transport.flush();
        }
        self.waiting = Some(Waiting::Receive(from, at));
        let frame = self.next(from, at.is_aside())?;
        if frame.at != at {
            return Err(self.fail(from, ErrorKind::WrongAddress { expected: at, got: frame.at }));
        }
        self.waiting = None;
        self.counters.received(self.phase, from, frame.payload.len());
        self.has_waited(from, Duration::ZERO, frame.payload.len());
        Ok(frame.payload)
    }

    /// The peer's next data frame, waited for if need be.
    fn next(&mut self, from: usize, aside: bool) -> Result<Frame, Error> {
        // What is here already costs no look at the clock, unless there is no end of it.
        for _ in 0..BURST {
            if let Some(frame) = self.take(from, aside)? {
                return Ok(frame);
            }
            match self.transport.poll(Duration::ZERO) {
                Some((peer, event)) => self.handle(peer, event)?,
                None => break,
            }
        }
        let start = self.transport.now();
        let mut now = start;
        loop {
            let heard = self.peers[from].heard.max(start);
            let deadline = (heard + self.limits.silence).min(start + self.patience_with(from));
            if now >= deadline {
                let what = if now >= heard + self.limits.silence {
                    ErrorKind::Silent { after: now.saturating_sub(heard) }
                } else {
                    self.has_waited(from, now.saturating_sub(start), 0);
                    self.out_of_patience(from, now.saturating_sub(start))
                };
                return Err(self.fail(from, what));
            }
            let left = deadline.saturating_sub(now);
            let event = self.transport.poll(if self.lane.has_others() { left.min(GLANCE) } else { left });
            now = self.transport.now();
            if let Some((peer, event)) = event {
                self.heed(peer, event, now)?;
            }
            self.alive()?;
            if let Some(frame) = self.take(from, aside)? {
                self.has_waited(from, now.saturating_sub(start), 0);
                return Ok(frame);
            }
        }
    }

    /// The peer's next data frame if it is here; an error if it cannot come any more.
    fn take(&mut self, from: usize, aside: bool) -> Result<Option<Frame>, Error> {
        if let Some(frame) = self.pop(from, aside) {
            return Ok(Some(frame));
        }
        match &self.peers[from] {
            Peer { failed: Some(what), .. } => {
                let what = what.clone();
                Err(self.fail(from, what))
            }
            peer if peer.has_left() => Err(self.fail(from, gone_early())),
            _ => Ok(None),
        }
    }

    /// The peer's next data frame if it is here. Once there is room for more, it is read again.
    fn pop(&mut self, from: usize, aside: bool) -> Option<Frame> {
        let peer = &mut self.peers[from];
        let frame = peer.pop(aside)?;
        if peer.held && peer.bytes() <= self.limits.inbox / 2 {
            peer.held = false;
            self.transport.hold(from, false);
        }
        Some(frame)
    }

    /// Takes in what is here, without waiting.
    fn service(&mut self) -> Result<(), Error> {
        self.unflushed = false;
        for _ in 0..BURST {
            match self.transport.poll(Duration::ZERO) {
                Some((peer, event)) => self.handle(peer, event)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Takes in an event that was waited for: the peer was heard, and if it brought the run forward, whoever
    /// waits for this party should know that it is not stuck.
    fn heed(&mut self, peer: usize, event: Event, now: Duration) -> Result<(), Error> {
        let progress = match &event {
            Event::Frame(frame) => frame.kind == FrameKind::Data,
            Event::Progress => true,
            Event::Lost(_) => false,
        };
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.heard = now;
        }
        self.handle(peer, event)?;
        if progress {
            self.sound(now);
        }
        Ok(())
    }

    fn handle(&mut self, from: usize, event: Event) -> Result<(), Error> {
        let Some(peer) = self.peers.get_mut(from) else { return Ok(()) };
        match event {
            Event::Progress => Ok(()),
            Event::Lost(what) => {
                if peer.has_left() {
                    return Ok(());
                }
                peer.standing = Standing::Lost;
                self.fault(from, what)
            }
            Event::Frame(frame) if peer.failed.is_some() => {
                if matches!(frame.kind, FrameKind::Abort | FrameKind::Goodbye) {
                    peer.standing = Standing::Left;
                }
                Ok(())
            }
            Event::Frame(_) if peer.has_left() => {
                let detail = "a frame after its goodbye".to_owned();
                self.fault(from, ErrorKind::Malformed { detail })
            }
            Event::Frame(frame) => match frame.kind {
                FrameKind::Data => {
                    peer.push(frame);
                    if !peer.held && peer.bytes() > self.limits.inbox {
                        peer.held = true;
                        self.transport.hold(from, true);
                    }
                    Ok(())
                }
                FrameKind::Goodbye => {
                    peer.standing = farewell::standing(&frame);
                    Ok(())
                }
                FrameKind::KeepAlive => self.pass_on(from, frame.at),
                FrameKind::Abort => self.aborted_by(from, &frame),
            },
        }
    }

    /// The error of an abort that came in. Parties pass it on: a client's abort has to reach other clients. A client doesn't, or it
    /// would be taken for whoever stopped first.
    fn aborted_by(&mut self, from: usize, frame: &Frame) -> Result<(), Error> {
        let what = self.word_of(from, frame);
        self.peers[from].standing = Standing::Left;
        let ErrorKind::Aborted { reason, check_failed, .. } = what.clone() else { return Ok(()) };
        if self.lenient || self.holding && !check_failed {
            return self.fault(from, what);
        }
        if let Some((party, frame)) = self.accusation_before(from) {
            return self.aborted_by(party, &frame);
        }
        let error = self.poison(Some(from), what);
        if self.me < self.accusers {
            let origin = self.origin_of(from, frame);
            self.tell_all(origin, &reason, check_failed, Some(from));
        }
        Err(error)
    }

    /// A peer has failed: it is left out, or that waits, or the run ends.
    fn fault(&mut self, peer: usize, what: ErrorKind) -> Result<(), Error> {
        if !self.lenient && !self.holding {
            return match self.accusation_before(peer) {
                Some((party, frame)) => self.aborted_by(party, &frame),
                None => Err(self.fail(peer, what)),
            };
        }
        self.peers[peer].failed.get_or_insert(what);
        Ok(())
    }

    /// The final error of this party's own finding; tells everybody else. What a client did is the client's, wherever it is heard
    /// of.
    fn fail(&mut self, peer: usize, what: ErrorKind) -> Error {
        let error = self.poison(Some(peer), what);
        let origin = if peer < self.accusers { self.me } else { peer };
        self.tell_all(origin, &error.to_string(), false, None);
        error
    }

    fn poison(&mut self, peer: Option<usize>, what: ErrorKind) -> Error {
        let doing = self.waiting.take().map(|waiting| match waiting {
            Waiting::Receive(from, at) => Doing::Receiving { from: self.named(from), at },
            Waiting::Send(to, at) => Doing::Sending { to: self.named(to), at },
        });
        let error = Error::new(what, self.phase, peer.map(|peer| self.named(peer)), doing);
        self.failure = Some(error.clone());
        self.tie.set(self.lane, &error.to_string());
        error
    }

    /// The error that has ended this lane, or another one of this endpoint's and now this one.
    fn alive(&mut self) -> Result<(), Error> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        match self.tie.failed() {
            Some((lane, reason)) if !self.holding => {
                let reason = format!("lane {lane} failed: {reason}");
                Err(self.abort(&reason))
            }
            _ => Ok(()),
        }
    }

    /// An address in this lane and plan.
    fn here(&self, at: At) -> At {
        At { lane: self.lane.number, op: self.first_op.wrapping_add(at.op), ..at }
    }

    /// An error unless the run goes on and there is a link to this peer.
    fn usable(&mut self, peer: usize) -> Result<(), Error> {
        self.alive()?;
        if self.is_linked(peer) {
            return Ok(());
        }
        let detail = match self.names.get(peer) {
            Some(_) if peer == self.me => "a party has no link to itself".to_owned(),
            Some(name) => format!("there is no link between {} and {name}", self.names[self.me]),
            None => format!("there is no endpoint {peer}; there are {}", self.endpoints()),
        };
        Err(self.wrong_use(None, detail))
    }

    fn wrong_use(&self, peer: Option<usize>, detail: String) -> Error {
        Error::new(ErrorKind::WrongUse { detail }, self.phase, peer.map(|peer| self.named(peer)), None)
    }

    fn named(&self, index: usize) -> Named {
        Named { index, name: self.names.get(index).cloned().unwrap_or_default() }
    }
}

/// A peer's reason, fit to be shown: bounded, and without control characters.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let bytes = bytes.get(..REASON).unwrap_or(bytes);
    String::from_utf8_lossy(bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
