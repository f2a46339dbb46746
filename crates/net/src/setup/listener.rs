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
use super::crowd::Crowd;
use super::error::SetupError;
use super::gather::{self, Caller, Note, Notes, Placed, Places};
use super::greeting::{Fault, Greeting, Step, notice_dead_peers};
use super::hello::{Hello, NotAHello};
use crate::MAX_LANES;
use crate::channel::Channel;
use crate::stream::StreamTransport;
use crate::tls::Tls;
use crate::tls::pin::{Fingerprint, server_config};

/// Connections of one peer that wait for their turn: those of one run with the most lanes, or of more runs with
/// fewer.
const WAITING: usize = MAX_LANES as usize;
/// Callers turned away that are remembered.
const REMEMBERED: usize = 32;
/// Calls that the operating system keeps while nobody is heard, in the course of a run.
const BACKLOG: i32 = 1024;
/// Of callers turned away so many are told of in [`TELLING`]. Outsiders can call without end.
const TOLD: u32 = 20;
const TELLING: Duration = Duration::from_mins(1);

/// A party's listening port. Lives as long as the party does; every run gathers its own links from it.
pub struct Listener {
    config: Config,
    socket: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    caller: Caller,
    /// Those who have not said hello yet.
    crowd: Crowd,
    /// Those who have, and not been given their places, by their number.
    queues: Vec<Queue>,
    turned_away: VecDeque<TurnedAway>,
    notes: Notes,
    /// Whom the run that is being gathered waits for here.
    awaited: Vec<usize>,
    /// How many were told of since when.
    told: (u32, Instant),
    /// The operating system gives no more calls at present: too many files are open, say.
    refused: bool,
}

/// One peer's connections that have said hello and have no places.
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
    hello: Hello,
    channel: Channel,
}

const _: () = assert!(MAX_LANES as u32 <= u64::BITS, "a queue notes each lane in a bit");

impl Queue {
    /// Whether a call has come for this lane already.
    fn knows(&self, hello: &Hello) -> bool {
        let lane = hello.lane;
        let taken = self.call == Some(hello.call) && self.taken >> lane.number & 1 == 1;
        let same = |other: &Waiting| (other.hello.call, other.hello.lane) == (hello.call, lane);
        taken || self.waiting.iter().any(same)
    }
}

/// Somebody who called and was turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedAway {
    /// Where the call came from, the last time.
    pub from: SocketAddr,
    /// Why it came to nothing.
    pub why: String,
    /// How often the same host was turned away so.
    pub times: u64,
}

impl fmt::Display for TurnedAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, why, times } = self;
        write!(f, "{from} {why}")?;
        if *times > 1 { write!(f, " ({times} times)") } else { Ok(()) }
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
        let bind = || {
            let socket = TcpListener::bind(address)?;
            rustix::net::listen(&socket, BACKLOG)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = bind().map_err(|error: std::io::Error| SetupError::Bind {
            address: address.to_owned(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            socket,
            tls,
            caller,
            crowd: Crowd::new(config.limits().callers),
            queues: config.names().iter().map(|_| Queue::default()).collect(),
            turned_away: VecDeque::new(),
            notes: gather::quiet(),
            awaited: Vec::new(),
            told: (0, Instant::now()),
            refused: false,
            config: config.clone(),
        })
    }

    /// Has somebody told for whom a run waits, and who was turned away.
    pub fn tell(&mut self, notes: Notes) {
        self.notes = notes;
    }

    /// Brings together all parties and these clients, for a run in one lane; else as [`Listener::gather_lanes`].
    ///
    /// # Errors
    /// As [`Listener::gather_lanes`].
    pub fn gather(&mut self, clients: &[usize], within: Duration) -> Result<StreamTransport, SetupError> {
        self.gather_lanes(clients, 1, within).and_then(gather::only)
    }

    /// Brings together all parties and these clients (by number), for one run in so many lanes: dials the parties
    /// of lower numbers, and takes in the others as soon as all have called. Whoever calls again, or is not among
    /// `clients`, waits for a later call of this function. Returns the links of each lane.
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
        self.awaited.clone_from(&awaited);
        let (caller, notes) = (self.caller.for_run(clients, lanes)?, self.notes.clone());
        gather::run(&self.config.clone(), &caller, Some((self, &awaited)), within, &notes)
    }

    /// Who was turned away lately.
    pub fn turned_away(&self) -> impl Iterator<Item = &TurnedAway> {
        self.turned_away.iter()
    }

    /// Goes on with those who are being greeted, and accepts calls.
    pub(super) fn hear(&mut self) -> Result<(), SetupError> {
        let mut difference = Ok(());
        for caller in self.crowd.take() {
            difference = difference.and(self.attend(caller));
        }
        // Those who have called just now have until the next look to speak, whoever else calls.
        for _ in 0..self.config.limits().callers.div_ceil(2) {
            let Some(caller) = self.accept()? else { break };
            difference = difference.and(self.attend(caller));
        }
        difference
    }

    /// Goes on with a caller as far as it can without waiting.
    fn attend(&mut self, mut caller: Greeting) -> Result<(), SetupError> {
        match caller.advance() {
            Ok(Some(hello)) => return self.greeted(caller, hello),
            Ok(None) if caller.deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                self.turn_away(caller.address, "took too long to say who it is");
            }
            Ok(None) => {
                if let Some(other) = self.crowd.admit(caller) {
                    let had =
                        if other.step() == Step::Silent { "said nothing" } else { "did not say who it is" };
                    self.turn_away(other.address, &format!("{had}, and made room for others"));
                }
            }
            Err(fault) => {
                if let Fault::Hello(NotAHello::Version { .. }) = fault
                    && let Some(peer) = self.identify(&caller.channel)
                {
                    return self.differs(caller, peer, fault.to_string());
                }
                caller.channel.hang_up();
                self.turn_away(caller.address, &fault.to_string());
            }
        }
        Ok(())
    }

    /// Gives a peer's connections that wait and belong together their places. If all places are vacant, the call that
    /// came first is the one; those whose caller has given up are dropped.
    ///
    /// # Errors
    /// [`SetupError::Differs`] if that call is for another run than this one.
    pub(super) fn take(&mut self, peer: usize, places: &mut Places, run: &Hello) -> Result<(), SetupError> {
        let Some(queue) = self.queues.get_mut(peer) else { return Ok(()) };
        if queue.waiting.is_empty() {
            return Ok(());
        }
        queue.waiting.retain(|waiting| !waiting.channel.is_dead());
        if places.iter().all(Option::is_none) {
            queue.call = queue.waiting.front().map(|first| first.hello.call);
            queue.taken = 0;
        }
        let Some(call) = queue.call else { return Ok(()) };
        while let Some(at) = queue.waiting.iter().position(|waiting| waiting.hello.call == call) {
            let Some(Waiting { hello, mut channel }) = queue.waiting.remove(at) else { break };
            let names = self.config.names();
            if let Some(detail) = run.other_run(&hello, &names) {
                // The other side will find the same difference.
                let _ = channel.send(&Hello { call, ..run.clone() }.bytes());
                channel.hang_up();
                let peer = names.get(peer).cloned().unwrap_or_default();
                return Err(SetupError::Differs { peer, detail });
            }
            let Some(place) = places.get_mut(usize::from(hello.lane.number)) else { continue };
            queue.taken |= 1 << hello.lane.number;
            *place = Some(Placed { channel, call, told: None });
        }
        Ok(())
    }

    /// What has to be watched while waiting for calls.
    pub(super) fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        if !self.refused {
            watched.push(PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN));
        }
        watched.extend(self.crowd.iter().map(Greeting::watch));
    }

    /// The next call, if there is one.
    fn accept(&mut self) -> Result<Option<Greeting>, SetupError> {
        let accepted = self.socket.accept();
        self.refused = matches!(&accepted, Err(error) if error.kind() != ErrorKind::WouldBlock);
        // A caller that is gone again, or a moment's lack of something: the next look will tell.
        let Ok((socket, address)) = accepted else { return Ok(None) };
        let tls = self.tls.as_ref().map(|config| UnbufferedServerConnection::new(Arc::clone(config)));
        let tls = tls.transpose().map_err(SetupError::system)?.map(Tls::server);
        let set = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true));
        if set.and_then(|()| notice_dead_peers(&socket)).is_err() {
            return Ok(None);
        }
        let deadline = Instant::now() + self.config.limits().handshake;
        Ok(Some(Greeting::answer(socket, address, tls, deadline)))
    }

    /// Puts a caller that has said hello where it waits to be taken in.
    fn greeted(&mut self, greeting: Greeting, hello: Hello) -> Result<(), SetupError> {
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
        if let Some(detail) = self.caller.hello.difference(&hello, &names) {
            return self.differs(greeting, claimed, detail);
        }
        if claimed <= self.config.me() {
            self.turn_away(greeting.address, &format!("says it is {name}, which does not call here"));
            return Ok(());
        }
        let Some(queue) = self.queues.get_mut(claimed) else { return Ok(()) };
        queue.waiting.retain(|waiting| !waiting.channel.is_dead());
        if queue.knows(&hello) {
            let why = format!("is {name}, which has called for {} already", hello.lane);
            self.turn_away(greeting.address, &why);
        } else if queue.waiting.len() < WAITING {
            queue.waiting.push_back(Waiting { hello, channel: greeting.channel });
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

    /// Ends the gathering, if it waits for this peer, who can't take part as it is; any other one is turned away.
    fn differs(&mut self, mut caller: Greeting, peer: usize, detail: String) -> Result<(), SetupError> {
        // The other side finds the same difference.
        let _ = caller.channel.send(&self.caller.hello.bytes());
        caller.channel.hang_up();
        let name = self.config.names().get(peer).cloned().unwrap_or_default();
        if self.awaited.contains(&peer) {
            return Err(SetupError::Differs { peer: name, detail });
        }
        self.turn_away(caller.address, &format!("is {name}: {detail}"));
        Ok(())
    }

    fn turn_away(&mut self, from: SocketAddr, why: &str) {
        let same = |known: &TurnedAway| known.from.ip() == from.ip() && known.why == why;
        let known = self.turned_away.iter().position(same).and_then(|at| self.turned_away.remove(at));
        let times = known.map_or(1, |known| known.times.saturating_add(1));
        if self.turned_away.len() == REMEMBERED {
            self.turned_away.pop_front();
        }
        let away = TurnedAway { from, why: why.to_owned(), times };
        if self.told.1.elapsed() >= TELLING {
            self.told = (0, Instant::now());
        }
        // Whoever calls again and again is told of less and less.
        if times.is_power_of_two() && self.told.0 < TOLD {
            self.told.0 += 1;
            (self.notes)(Note::TurnedAway(&away));
        }
        self.turned_away.push_back(away);
    }
}
