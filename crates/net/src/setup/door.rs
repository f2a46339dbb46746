//! A party's open port: who calls is greeted here, and what comes of it is another's business.

use std::collections::VecDeque;
use std::fmt;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags};
use rustls::ServerConfig;
use rustls::server::UnbufferedServerConnection;

use super::crowd::Crowd;
use super::error::SetupError;
use super::greeting::{Fault, Greeting, Step, notice_dead_peers};
use super::hello::{Hello, NotAHello};
use super::notes::{Note, Notes, TurnedAway, quiet};
use crate::channel::Channel;
use crate::limits::Limits;
use crate::tls::Tls;
use crate::tls::pin::{Fingerprint, Identity, server_config};

/// Callers turned away that are remembered.
const REMEMBERED: usize = 32;
/// Calls that the operating system keeps while nobody is heard, in the course of a run.
const BACKLOG: i32 = 1024;
/// Of callers turned away so many are told of in [`TELLING`]. Outsiders can call without end.
const TOLD: u32 = 20;
const TELLING: Duration = Duration::from_mins(1);

/// Somebody who has said hello, or whose hello is of another version.
pub(super) struct Greeted {
    pub(super) greeting: Greeting,
    pub(super) hello: Result<Hello, NotAHello>,
}

/// An open port, and those who call and have not said hello yet.
pub(super) struct Door {
    socket: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    crowd: Crowd,
    /// How many callers are heard at a time, and for how long.
    callers: usize,
    handshake: Duration,
    turned_away: VecDeque<TurnedAway>,
    notes: Notes,
    /// How many were told of since when.
    told: (u32, Instant),
    /// The operating system gives no more calls at present: too many files are open, say.
    refused: bool,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Door {
    /// Opens a port to those who have these certificates.
    ///
    /// # Errors
    /// [`SetupError::Bind`].
    pub(super) fn open(
        address: &str,
        limits: &Limits,
        identity: Option<&Identity>,
        prints: Vec<Fingerprint>,
    ) -> Result<Self, SetupError> {
        let tls = secured(identity, prints)?;
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
            crowd: Crowd::new(limits.callers),
            callers: limits.callers,
            handshake: limits.handshake,
            turned_away: VecDeque::new(),
            notes: quiet(),
            told: (0, Instant::now()),
            refused: false,
        })
    }

    /// Is open to others from now on. Those who are being greeted were called in before.
    pub(super) fn open_to(
        &mut self,
        identity: Option<&Identity>,
        prints: Vec<Fingerprint>,
    ) -> Result<(), SetupError> {
        self.tls = secured(identity, prints)?;
        Ok(())
    }

    /// Has somebody told who is turned away.
    pub(super) fn tell(&mut self, notes: Notes) {
        self.notes = notes;
    }

    /// Who was turned away lately.
    pub(super) fn turned_away(&self) -> impl Iterator<Item = &TurnedAway> {
        self.turned_away.iter()
    }

    /// Goes on with those who are being greeted, and accepts calls: who has said hello.
    pub(super) fn hear(&mut self) -> Result<Vec<Greeted>, SetupError> {
        let mut greeted = Vec::new();
        for caller in self.crowd.take() {
            greeted.extend(self.attend(caller));
        }
        // Those who have called just now have until the next look to speak, whoever else calls.
        for _ in 0..self.callers.div_ceil(2) {
            let Some(caller) = self.accept()? else { break };
            greeted.extend(self.attend(caller));
        }
        Ok(greeted)
    }

    /// Goes on with a caller as far as it can without waiting.
    fn attend(&mut self, mut caller: Greeting) -> Option<Greeted> {
        match caller.advance() {
            Ok(Some(hello)) => return Some(Greeted { greeting: caller, hello: Ok(hello) }),
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
            Err(Fault::Hello(hello @ NotAHello::Version { .. })) => {
                return Some(Greeted { greeting: caller, hello: Err(hello) });
            }
            Err(fault) => {
                caller.channel.hang_up();
                self.turn_away(caller.address, &fault.to_string());
            }
        }
        None
    }

    /// What has to be watched while waiting for calls.
    pub(super) fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        if !self.refused {
            watched.push(PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN));
        }
        watched.extend(self.crowd.iter().map(Greeting::watch));
    }

    /// How long until it has something to do by itself: a caller's time is over, or calls may be had again.
    pub(super) fn pause(&self) -> Option<Duration> {
        let now = Instant::now();
        let deadlines = self.crowd.iter().filter_map(|caller| caller.deadline);
        let next = deadlines.min().map(|deadline| deadline.saturating_duration_since(now));
        let again = self.refused.then_some(Duration::from_millis(50));
        next.into_iter().chain(again).min()
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
        let deadline = Instant::now() + self.handshake;
        Ok(Some(Greeting::answer(socket, address, tls, deadline)))
    }

    /// Answers a caller who only asks who is there: `own` is this side's hello.
    pub(super) fn answer(greeting: &mut Greeting, own: &Hello) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (messages, call) = (tacit_wire::VERSION, now.as_micros() as u64);
        let answer = Hello { asks: true, messages, call, ..own.clone() };
        // One that is gone again has no use for it.
        let _ = greeting.channel.send(&answer.bytes());
        greeting.channel.hang_up();
    }

    /// Notes that somebody was turned away, and why.
    pub(super) fn turn_away(&mut self, from: SocketAddr, why: &str) {
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

/// What TLS needs to hear those who have these certificates; nothing with plain TCP.
fn secured(
    identity: Option<&Identity>,
    prints: Vec<Fingerprint>,
) -> Result<Option<Arc<ServerConfig>>, SetupError> {
    let config = identity.map(|identity| server_config(identity, prints).map(Arc::new));
    config.transpose().map_err(SetupError::system)
}

/// The certificate that the other side has shown.
pub(super) fn certificate(channel: &Channel) -> Option<Fingerprint> {
    Some(Fingerprint::of(channel.tls.as_ref()?.peer_certificate()?))
}
