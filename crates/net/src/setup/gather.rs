//! Brings the endpoints of one run together: dials some, and takes in those who call.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec};
use rustls::ClientConfig;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;

use super::config::Config;
use super::error::SetupError;
use super::greeting::{Fault, Greeting};
use super::hello::Hello;
use super::listener::Listener;
use crate::channel::{Channel, ChannelError};
use crate::shape::STAMP;
use crate::stream::StreamTransport;
use crate::tls::pin::{Identity, client_config};
use crate::tls::{Tls, TlsError};

/// The first pause before a peer that could not be reached is dialled again; it doubles up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(500);
/// How often connections that are complete are looked at while others are still to come.
const LOOK: Duration = Duration::from_millis(50);

/// Connects a client to all parties, with retries for as long as [`crate::Limits::connect`]. A party that is
/// up but not ready for this client keeps it waiting.
///
/// # Errors
/// [`SetupError::WrongUse`] for a party's configuration; what is wrong with key or certificate;
/// [`SetupError::Missing`], [`SetupError::Refused`], [`SetupError::Differs`].
pub fn connect(config: &Config) -> Result<StreamTransport, SetupError> {
    if !config.is_client() {
        return Err(SetupError::WrongUse {
            detail: "parties bind and gather, they do not connect".to_owned(),
        });
    }
    let identity = config.identity()?;
    let caller = Caller::new(config, identity.as_ref())?;
    run(config, &caller, None, config.limits().connect)
}

/// What it takes to call others: what to say, and how to recognise them.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) hello: Hello,
    tls: Vec<Option<Arc<ClientConfig>>>,
}

impl Caller {
    pub(super) fn new(config: &Config, identity: Option<&Identity>) -> Result<Self, SetupError> {
        let hello = Hello::new(config.me(), config.parties().len(), &config.names(), &config.fingerprints());
        let mut tls = Vec::new();
        for party in config.parties() {
            tls.push(match (identity, party.fingerprint) {
                (Some(identity), Some(print)) => {
                    Some(Arc::new(client_config(identity, print).map_err(SetupError::system)?))
                }
                _ => None,
            });
        }
        Ok(Self { hello, tls })
    }
}

/// Dials the parties of lower numbers, hears those awaited by the listener, and returns when all are there.
pub(super) fn run(
    config: &Config,
    caller: &Caller,
    mut listener: Option<(&mut Listener, &[usize])>,
    within: Duration,
) -> Result<StreamTransport, SetupError> {
    let deadline = Instant::now() + within;
    let names = config.names();
    let mut channels: Vec<Option<Channel>> = names.iter().map(|_| None).collect();
    let lower = config.parties().iter().take(config.me());
    let mut dials: Vec<Dial> =
        lower.enumerate().map(|(peer, party)| Dial::new(peer, party.address.clone())).collect();
    let awaited = listener.as_ref().map_or(&[][..], |(_, awaited)| awaited);
    loop {
        if let Some((listener, awaited)) = &mut listener {
            listener.hear()?;
            for &peer in *awaited {
                let Some(place) = channels.get_mut(peer) else { continue };
                if is_vacant(place, peer, config)? {
                    *place = listener.take(peer);
                }
            }
        }
        for dial in &mut dials {
            let Some(place) = channels.get_mut(dial.peer) else { continue };
            if is_vacant(place, dial.peer, config)? {
                *place = dial.advance(caller, &names, deadline)?;
            }
            // One after the other: of two runs that one client begins at once, the first party decides which
            // is first, and the other does not reach the next party before its turn has come.
            if place.is_none() {
                break;
            }
        }
        let here = |peer: usize| channels.get(peer).is_some_and(Option::is_some);
        if dials.iter().all(|dial| here(dial.peer)) && awaited.iter().all(|&peer| here(peer)) {
            return Ok(StreamTransport::new(channels, config.limits().frame + STAMP));
        }
        if Instant::now() >= deadline {
            let dialled = dials.iter().filter(|dial| !here(dial.peer)).map(|dial| {
                let name = names.get(dial.peer).map_or("", String::as_str);
                format!("no connection to {name} at {} ({})", dial.address, dial.last)
            });
            let silent = awaited.iter().filter(|&&peer| !here(peer));
            let silent =
                silent.filter_map(|&peer| names.get(peer)).map(|name| format!("no call from {name}"));
            return Err(SetupError::Missing {
                missing: dialled.chain(silent).collect::<Vec<_>>().join(", "),
                after: within,
                turned_away: listener.map_or(Vec::new(), |(listener, _)| listener.recently_turned_away()),
            });
        }
        let mut watched = Vec::new();
        if let Some((listener, _)) = &listener {
            listener.watch(&mut watched);
        }
        watched.extend(dials.iter().filter_map(Dial::watch));
        let pauses = dials.iter().filter_map(Dial::pause).chain([LOOK]);
        let pause = pauses.min().unwrap_or(LOOK);
        let timeout = Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: i64::from(pause.subsec_nanos()) };
        // Whatever it says, the next round looks at everything.
        let _ = rustix::event::poll(&mut watched, Some(&timeout));
    }
}

/// Whether a peer is still, or again, to come.
///
/// A client that leaves before everybody is here has done no harm: it may come again. A party that has been in the
/// run already and gave it up ends it for all, so that all go on to the next one together.
fn is_vacant(place: &mut Option<Channel>, peer: usize, config: &Config) -> Result<bool, SetupError> {
    let Some(channel) = place else { return Ok(true) };
    let Some(party) = config.parties().get(peer) else { return Ok(channel.has_hung_up()) };
    match channel.reason_for_leaving(config.limits().frame + STAMP) {
        Some(reason) => Err(SetupError::GaveUp { peer: party.name.clone(), reason }),
        None => Ok(channel.is_dead()),
    }
}

/// The way to one party.
struct Dial {
    peer: usize,
    address: String,
    state: DialState,
    tries: usize,
    /// Why the last try failed.
    last: String,
}

enum DialState {
    Pause { until: Instant },
    Calling(Box<Greeting>),
}

impl Dial {
    fn new(peer: usize, address: String) -> Self {
        let state = DialState::Pause { until: Instant::now() };
        Self { peer, address, state, tries: 0, last: "not tried: parties are called in order".to_owned() }
    }

    /// Goes on without waiting (but for the name server); the channel once the party has answered.
    fn advance(
        &mut self,
        caller: &Caller,
        names: &[String],
        deadline: Instant,
    ) -> Result<Option<Channel>, SetupError> {
        if let DialState::Pause { until } = &self.state {
            if Instant::now() < *until {
                return Ok(None);
            }
            match self.call(caller, deadline)? {
                Ok(greeting) => self.state = DialState::Calling(Box::new(greeting)),
                Err(why) => self.try_later(why),
            }
        }
        let DialState::Calling(greeting) = &mut self.state else { return Ok(None) };
        let (name, address) = (names.get(self.peer).cloned().unwrap_or_default(), greeting.address);
        match greeting.advance() {
            Ok(None) => Ok(None),
            Ok(Some(hello)) => {
                if let Some(detail) = caller.hello.difference(&hello, names) {
                    return Err(SetupError::Differs { peer: name, detail });
                }
                if usize::from(hello.sender) != self.peer {
                    let detail = format!("says it is number {} of parties and clients", hello.sender);
                    return Err(SetupError::Refused { peer: name, address, detail });
                }
                "the connection broke again".clone_into(&mut self.last);
                let pause = DialState::Pause { until: Instant::now() + FIRST_PAUSE };
                match std::mem::replace(&mut self.state, pause) {
                    DialState::Calling(greeting) => Ok(Some(greeting.channel)),
                    DialState::Pause { .. } => Ok(None),
                }
            }
            Err(Fault::Hello(difference)) => {
                Err(SetupError::Differs { peer: name, detail: difference.to_string() })
            }
            Err(Fault::Channel(ChannelError::Tls(error @ TlsError::Rustls(_)))) => {
                Err(SetupError::Refused { peer: name, address, detail: error.to_string() })
            }
            Err(Fault::Channel(error)) => {
                let why = match error {
                    ChannelError::Io(error) => error.to_string(),
                    other => format!("it {other} without an answer"),
                };
                self.try_later(why);
                Ok(None)
            }
        }
    }

    /// Begins a call to the next of the party's addresses, or says why it cannot.
    fn call(&mut self, caller: &Caller, deadline: Instant) -> Result<Result<Greeting, String>, SetupError> {
        let addresses: Vec<SocketAddr> = match self.address.to_socket_addrs() {
            Ok(addresses) => addresses.collect(),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Some(&address) = addresses.iter().cycle().nth(self.tries % addresses.len().max(1)) else {
            return Ok(Err("the name has no address".to_owned()));
        };
        self.tries += 1;
        let tls = match caller.tls.get(self.peer) {
            Some(Some(config)) => {
                // The name is not sent, and not looked at: the certificate's fingerprint says all.
                let name = ServerName::from(address.ip());
                let connection = UnbufferedClientConnection::new(Arc::clone(config), name);
                Some(Tls::client(connection.map_err(SetupError::system)?))
            }
            _ => None,
        };
        let call = Greeting::call(address, tls, caller.hello.bytes(), deadline);
        Ok(call.map_err(|error| error.to_string()))
    }

    fn try_later(&mut self, why: String) {
        self.last = why;
        let doublings = self.tries.min(16) as u32;
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LAST_PAUSE);
        self.state = DialState::Pause { until: Instant::now() + pause };
    }

    fn watch(&self) -> Option<PollFd<'_>> {
        match &self.state {
            DialState::Calling(greeting) => Some(greeting.watch()),
            DialState::Pause { .. } => None,
        }
    }

    /// How long until it has something to do by itself.
    fn pause(&self) -> Option<Duration> {
        match &self.state {
            DialState::Pause { until } => Some(until.saturating_duration_since(Instant::now())),
            DialState::Calling(_) => None,
        }
    }
}
