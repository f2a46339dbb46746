//! A party's listening port, and those who call it.

use std::collections::VecDeque;
use std::fmt;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustls::ServerConfig;
use rustls::server::UnbufferedServerConnection;

use super::config::{Config, Security};
use super::error::SetupError;
use super::gather::{self, Caller, Places};
use super::greeting::{Fault, Greeting};
use super::hello::{Hello, NotAHello};
use crate::channel::Channel;
use crate::stream::StreamTransport;
use crate::tls::Tls;
use crate::tls::pin::{Fingerprint, server_config};
use crate::{Lane, MAX_LANES};

/// Connections of one peer that wait for their turn: those of one run with the most lanes, or of more runs with
/// fewer.
const WAITING: usize = MAX_LANES as usize;
/// Callers turned away that are remembered.
const REMEMBERED: usize = 32;

/// A party's listening port. Lives as long as the party does; every run gathers its own links from it.
pub struct Listener {
    config: Config,
    socket: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    caller: Caller,
    /// Those who have not said hello yet.
    callers: Vec<Greeting>,
    /// Those who have, and not been answered, by their number.
    queues: Vec<Queue>,
    turned_away: VecDeque<TurnedAway>,
    waiting: Option<Box<Told>>,
}

/// Is told the names of those who are waited for, as the own configuration has them.
type Told = dyn Fn(&[&str]) + Send;

/// One peer's connections that have said hello and not been answered.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// The call whose lanes are being taken in, or were last.
    call: Option<u64>,
    /// The lanes of it that have been taken in, a bit for each.
    taken: u64,
}

/// A connection that waits for its turn.
struct Waiting {
    call: u64,
    lane: Lane,
    channel: Channel,
}

const _: () = assert!(MAX_LANES as u32 <= u64::BITS, "a queue notes each lane in a bit");

impl Queue {
    /// Whether a call has come for this lane already.
    fn knows(&self, call: u64, lane: Lane) -> bool {
        let taken = self.call == Some(call) && self.taken >> lane.number & 1 == 1;
        taken || self.waiting.iter().any(|other| (other.call, other.lane) == (call, lane))
    }
}

/// Somebody who called and was turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedAway {
    /// Where the call came from.
    pub from: SocketAddr,
    /// Why it came to nothing.
    pub why: String,
}

impl fmt::Display for TurnedAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.from, self.why)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Listener {
    /// Opens the port that the configuration names for this party, and reads its key.
    ///
    /// # Errors
    /// [`SetupError::WrongUse`] for a client's configuration; [`SetupError::Bind`]; what is wrong with key or
    /// certificate.
    pub fn bind(config: &Config) -> Result<Self, SetupError> {
        let Some(address) = config.listening_address() else {
            return Err(SetupError::WrongUse { detail: "clients do not listen, they connect".to_owned() });
        };
        let identity = config.identity()?;
        let prints: Vec<Fingerprint> = config.fingerprints().into_iter().flatten().collect();
        let tls = identity
            .as_ref()
            .map(|identity| server_config(identity, prints).map(Arc::new))
            .transpose()
            .map_err(SetupError::system)?;
        let caller = Caller::new(config, identity.as_ref())?;
        let socket = TcpListener::bind(address)
            .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
            .map_err(|error| SetupError::Bind { address: address.to_owned(), detail: error.to_string() })?;
        let queues = config.names().iter().map(|_| Queue::default()).collect();
        let config = config.clone();
        let (callers, turned_away) = (Vec::new(), VecDeque::new());
        Ok(Self { config, socket, tls, caller, callers, queues, turned_away, waiting: None })
    }

    /// Has somebody told for whom a run waits, by name, whenever the same have been missing for two seconds. The call must
    /// not wait for anything: nobody is heard meanwhile.
    pub fn tell_waiting(&mut self, told: impl Fn(&[&str]) + Send + 'static) {
        self.waiting = Some(Box::new(told));
    }

    pub(super) fn waits_for(&self, missing: &[&str]) {
        if let Some(told) = &self.waiting {
            told(missing);
        }
    }

    /// Brings together all parties and these clients, for a run in one lane; else as [`Listener::gather_lanes`].
    ///
    /// # Errors
    /// As [`Listener::gather_lanes`].
    pub fn gather(&mut self, clients: &[usize], within: Duration) -> Result<StreamTransport, SetupError> {
        self.gather_lanes(clients, 1, within).and_then(gather::only)
    }

    /// Brings together all parties and these clients (by number), for one run in so many lanes: dials the parties
    /// of lower numbers, and takes in the others as they call. Whoever calls again, or is not among `clients`,
    /// waits for a later call of this function. Returns the links of each lane.
    ///
    /// # Errors
    /// [`SetupError::Missing`] if somebody is missing after `within`; [`SetupError::Refused`] and
    /// [`SetupError::Differs`] as soon as it is clear that somebody can't take part, for instance because it runs
    /// in another number of lanes; [`SetupError::WrongUse`] for no or more than [`MAX_LANES`] lanes, or a number
    /// that is no client's.
    pub fn gather_lanes(
        &mut self,
        clients: &[usize],
        lanes: u16,
        within: Duration,
    ) -> Result<Vec<StreamTransport>, SetupError> {
        let (me, parties) = (self.config.me(), self.config.parties().len());
        if let Some(client) = clients.iter().find(|&&client| client < parties || client >= self.queues.len())
        {
            return Err(SetupError::WrongUse { detail: format!("{client} is no client's number") });
        }
        let awaited: Vec<usize> = (me + 1..parties).chain(clients.iter().copied()).collect();
        gather::run(&self.config.clone(), &self.caller.clone(), Some((self, &awaited)), lanes, within)
    }

    /// Takes out the list of those who were turned away lately, to be logged.
    pub fn turned_away(&mut self) -> Vec<TurnedAway> {
        self.turned_away.drain(..).collect()
    }

    pub(super) fn recently_turned_away(&self) -> Vec<String> {
        self.turned_away.iter().map(TurnedAway::to_string).collect()
    }

    /// Accepts calls, and goes on with those that are being greeted.
    pub(super) fn hear(&mut self) -> Result<(), SetupError> {
        self.accept()?;
        let now = Instant::now();
        let mut difference = Ok(());
        for mut greeting in std::mem::take(&mut self.callers) {
            match greeting.advance() {
                Ok(Some(hello)) => difference = difference.and(self.greeted(greeting, &hello)),
                Ok(None) if now >= greeting.deadline => {
                    self.turn_away(greeting.address, "took too long to say who it is");
                }
                Ok(None) => self.callers.push(greeting),
                Err(Fault::Hello(NotAHello::Version { .. }))
                    if self.identify(&greeting.channel).is_some() =>
                {
                    // Both sides should hear of it.
                    let _ = greeting.channel.send(&self.caller.hello.bytes());
                    greeting.channel.hang_up();
                    difference = difference.and(self.differs(&greeting));
                }
                Err(fault) => {
                    greeting.channel.hang_up();
                    self.turn_away(greeting.address, &fault.to_string());
                }
            }
        }
        difference
    }

    /// Answers a peer's connections that wait and belong together, and puts them in their places. If all places
    /// are vacant, the call that came first is the one; those whose caller has given up are dropped.
    ///
    /// # Errors
    /// [`SetupError::Differs`] if that call is for another number of lanes.
    pub(super) fn take(&mut self, peer: usize, places: &mut Places) -> Result<(), SetupError> {
        let Some(queue) = self.queues.get_mut(peer) else { return Ok(()) };
        if queue.waiting.is_empty() {
            return Ok(());
        }
        queue.waiting.retain(|waiting| !waiting.channel.is_dead());
        if places.iter().all(Option::is_none) {
            queue.call = queue.waiting.front().map(|first| first.call);
            queue.taken = 0;
        }
        let Some(call) = queue.call else { return Ok(()) };
        let lanes = places.len() as u16;
        while let Some(at) = queue.waiting.iter().position(|waiting| waiting.call == call) {
            let Some(Waiting { lane, mut channel, .. }) = queue.waiting.remove(at) else { break };
            if lane.count != lanes {
                // The other side will find the same difference.
                let ours = Lane { number: 0, count: lanes };
                let _ = channel.send(&Hello { lane: ours, call, ..self.caller.hello.clone() }.bytes());
                channel.hang_up();
                let peer = self.config.names().get(peer).cloned().unwrap_or_default();
                return Err(SetupError::Differs { peer, detail: gather::other_lanes(lane.count, lanes) });
            }
            let Some(place) = places.get_mut(usize::from(lane.number)) else { continue };
            let answer = Hello { lane, call, ..self.caller.hello.clone() }.bytes();
            if channel.send(&answer).is_ok() {
                queue.taken |= 1 << lane.number;
                *place = Some(channel);
            }
        }
        Ok(())
    }

    /// What has to be watched while waiting for calls.
    pub(super) fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        if self.callers.len() < self.config.limits().callers {
            watched.push(PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN));
        }
        watched.extend(self.callers.iter().map(Greeting::watch));
    }

    /// Beyond the limit on callers, calls wait in the operating system.
    fn accept(&mut self) -> Result<(), SetupError> {
        while self.callers.len() < self.config.limits().callers {
            let (socket, address) = match self.socket.accept() {
                Ok(call) => call,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // A caller that is gone again, or a moment's lack of something: the next look will tell.
                Err(_) => return Ok(()),
            };
            let tls = self.tls.as_ref().map(|config| UnbufferedServerConnection::new(Arc::clone(config)));
            let tls = tls.transpose().map_err(SetupError::system)?.map(Tls::server);
            if socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)).is_ok() {
                let deadline = Instant::now() + self.config.limits().handshake;
                self.callers.push(Greeting::answer(socket, address, tls, deadline));
            }
        }
        Ok(())
    }

    /// Puts a caller that has said hello where it waits to be taken in.
    fn greeted(&mut self, mut greeting: Greeting, hello: &Hello) -> Result<(), SetupError> {
        let claimed = usize::from(hello.sender);
        if self.config.security() == Security::Tls && self.identify(&greeting.channel) != Some(claimed) {
            self.turn_away(
                greeting.address,
                &format!("says it is number {claimed}, with another's certificate"),
            );
            return Ok(());
        }
        let names = self.config.names();
        let Some(name) = names.get(claimed) else {
            self.turn_away(greeting.address, &format!("says it is number {claimed}, which does not exist"));
            return Ok(());
        };
        if let Some(detail) = self.caller.hello.difference(hello, &names) {
            // The other side will find the same difference.
            let _ = greeting.channel.send(&self.caller.hello.bytes());
            greeting.channel.hang_up();
            return Err(SetupError::Differs { peer: name.clone(), detail });
        }
        if claimed <= self.config.me() {
            self.turn_away(greeting.address, &format!("says it is {name}, which does not call here"));
            return Ok(());
        }
        let Some(queue) = self.queues.get_mut(claimed) else { return Ok(()) };
        queue.waiting.retain(|waiting| !waiting.channel.is_dead());
        let (call, lane) = (hello.call, hello.lane);
        if queue.knows(call, lane) {
            self.turn_away(greeting.address, &format!("is {name}, which has called for {lane} already"));
        } else if queue.waiting.len() < WAITING {
            queue.waiting.push_back(Waiting { call, lane, channel: greeting.channel });
        } else {
            let why = format!("is {name}, of which {WAITING} connections wait already");
            self.turn_away(greeting.address, &why);
        }
        Ok(())
    }

    /// The number of the peer whose certificate the other side has.
    fn identify(&self, channel: &Channel) -> Option<usize> {
        let print = Fingerprint::of(channel.tls.as_ref()?.peer_certificate()?);
        self.config.fingerprints().iter().position(|other| *other == Some(print))
    }

    /// The error of an authenticated caller of another version.
    fn differs(&self, greeting: &Greeting) -> Result<(), SetupError> {
        let Some(peer) = self.identify(&greeting.channel) else { return Ok(()) };
        let Err(detail) = Hello::parse(&greeting.channel.unread) else { return Ok(()) };
        let peer = self.config.names().get(peer).cloned().unwrap_or_default();
        Err(SetupError::Differs { peer, detail: detail.to_string() })
    }

    fn turn_away(&mut self, from: SocketAddr, why: &str) {
        if self.turned_away.len() == REMEMBERED {
            self.turned_away.pop_front();
        }
        self.turned_away.push_back(TurnedAway { from, why: why.to_owned() });
    }
}
