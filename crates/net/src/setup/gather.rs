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
use crate::{Lane, MAX_LANES};

/// The first pause before a peer that could not be reached is dialled again; it doubles up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(500);
/// How often connections that are complete are looked at while others are still to come.
const LOOK: Duration = Duration::from_millis(50);
/// How long the same peers are missing before it is told who they are.
const PATIENCE: Duration = Duration::from_secs(2);

/// Connects a client to all parties, for a run in one lane; else as [`connect_lanes`].
///
/// # Errors
/// As [`connect_lanes`].
pub fn connect(config: &Config) -> Result<StreamTransport, SetupError> {
    connect_lanes(config, 1).and_then(only)
}

/// Connects a client to all parties in each of `lanes` lanes, with retries for as long as
/// [`crate::Limits::connect`]. A party that is up but not ready for this client keeps it waiting. Returns the
/// links of each lane.
///
/// # Errors
/// [`SetupError::WrongUse`] for a party's configuration, or for no or more than [`MAX_LANES`] lanes; what is
/// wrong with key or certificate; [`SetupError::Missing`], [`SetupError::Refused`], [`SetupError::Differs`].
pub fn connect_lanes(config: &Config, lanes: u16) -> Result<Vec<StreamTransport>, SetupError> {
    if !config.is_client() {
        return Err(SetupError::WrongUse {
            detail: "parties bind and gather, they do not connect".to_owned(),
        });
    }
    let identity = config.identity()?;
    let caller = Caller::new(config, identity.as_ref())?;
    run(config, &caller, None, lanes, config.limits().connect)
}

/// The links of a run's only lane.
pub(super) fn only(mut lanes: Vec<StreamTransport>) -> Result<StreamTransport, SetupError> {
    lanes.pop().ok_or_else(|| SetupError::WrongUse { detail: "a run has at least one lane".to_owned() })
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

/// Dials the parties of lower numbers, hears those awaited by the listener, and returns each lane's links when all
/// are there.
pub(super) fn run(
    config: &Config,
    caller: &Caller,
    mut listener: Option<(&mut Listener, &[usize])>,
    lanes: u16,
    within: Duration,
) -> Result<Vec<StreamTransport>, SetupError> {
    if lanes == 0 || lanes > MAX_LANES {
        let detail = format!("a run has 1 to {MAX_LANES} lanes, not {lanes}");
        return Err(SetupError::WrongUse { detail });
    }
    let deadline = Instant::now() + within;
    let names = config.names();
    // By endpoint, then by lane.
    let mut channels: Vec<Places> = names.iter().map(|_| Lane::all(lanes).map(|_| None).collect()).collect();
    let lower = config.parties().iter().take(config.me());
    let routes = lower.enumerate().map(|(peer, party)| Route::new(peer, &party.address, lanes));
    let mut routes: Vec<Route> = routes.collect::<Result<_, _>>()?;
    let awaited = listener.as_ref().map_or(&[][..], |(_, awaited)| awaited);
    let mut vacant = Vacant { peers: Vec::new(), since: Instant::now(), told: false };
    loop {
        if let Some((listener, awaited)) = &mut listener {
            listener.hear()?;
            for &peer in *awaited {
                let Some(places) = channels.get_mut(peer) else { continue };
                clear_if_gone(places, peer, config)?;
                listener.take(peer, places)?;
            }
        }
        for route in &mut routes {
            let Some(places) = channels.get_mut(route.peer) else { continue };
            if clear_if_gone(places, route.peer, config)? {
                *route = Route::new(route.peer, &route.address, lanes)?;
            }
            route.advance(places, caller, &names, deadline)?;
            // One after the other: of two runs that one client begins at once, the first party decides which
            // is first, and the other does not reach the next party before its turn has come.
            if places.iter().any(Option::is_none) {
                break;
            }
        }
        let here = |peer: usize| channels.get(peer).is_some_and(|places| places.iter().all(Option::is_some));
        if routes.iter().all(|route| here(route.peer)) && awaited.iter().all(|&peer| here(peer)) {
            return Ok(by_lane(channels, lanes, config.limits().frame + STAMP));
        }
        if let Some((listener, _)) = &listener {
            let peers = routes.iter().map(|route| route.peer).chain(awaited.iter().copied());
            vacant.tell(peers.filter(|&peer| !here(peer)).collect(), &names, listener);
        }
        if Instant::now() >= deadline {
            let missing = |peer: usize| channels.get(peer).and_then(first_vacant);
            let dialled = routes.iter().filter_map(|route| route.failure(&missing(route.peer)?, &names));
            let silent = awaited.iter().filter_map(|&peer| {
                let (lane, _) = missing(peer)?;
                names.get(peer).map(|name| format!("no call from {name}{lane}"))
            });
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
        let dials = || routes.iter().flat_map(|route| &route.dials);
        watched.extend(dials().filter_map(Dial::watch));
        let pauses = dials().filter_map(Dial::pause).chain([LOOK]);
        let pause = pauses.min().unwrap_or(LOOK);
        let timeout = Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: i64::from(pause.subsec_nanos()) };
        // Whatever it says, the next round looks at everything.
        let _ = rustix::event::poll(&mut watched, Some(&timeout));
    }
}

/// Who is missing, and since when it is just these.
struct Vacant {
    peers: Vec<usize>,
    since: Instant,
    told: bool,
}

impl Vacant {
    /// Tells whoever wants to know, once these have been missing for some time.
    fn tell(&mut self, peers: Vec<usize>, names: &[String], listener: &Listener) {
        if self.peers != peers {
            *self = Self { peers, since: Instant::now(), told: false };
        }
        if !self.told && self.since.elapsed() >= PATIENCE {
            self.told = true;
            let missing: Vec<&str> =
                self.peers.iter().filter_map(|&peer| names.get(peer)).map(String::as_str).collect();
            listener.waits_for(&missing);
        }
    }
}

/// A peer's connections, by lane; `None` for one that is still to come.
pub(super) type Places = Vec<Option<Channel>>;

/// What differs if a peer's run has another number of lanes than this side's.
pub(super) fn other_lanes(theirs: u16, ours: u16) -> String {
    format!("its run is in {theirs} lanes, this side's in {ours}: use the same number everywhere")
}

/// Vacates all of a peer's places if one of its connections has ended; `true` if so. Its lanes come together.
///
/// A client that leaves before everybody is here has done no harm: it may come again. A party that has been in the
/// run already and gave it up ends it for all, so that all go on to the next one together.
fn clear_if_gone(places: &mut Places, peer: usize, config: &Config) -> Result<bool, SetupError> {
    let mut gone = false;
    for channel in places.iter_mut().flatten() {
        gone |= match config.parties().get(peer) {
            None => channel.has_hung_up(),
            Some(party) => match channel.reason_for_leaving(config.limits().frame + STAMP) {
                Some(reason) => return Err(SetupError::GaveUp { peer: party.name.clone(), reason }),
                None => channel.is_dead(),
            },
        };
    }
    if gone {
        places.fill_with(|| None);
    }
    Ok(gone)
}

/// The first place that is vacant, after words that name its lane if others have come; `None` if all have.
fn first_vacant(places: &Places) -> Option<(String, usize)> {
    let lane = places.iter().position(Option::is_none)?;
    let words = if places.iter().all(Option::is_none) { String::new() } else { format!(" for lane {lane}") };
    Some((words, lane))
}

/// Each lane's links, of everybody's connections.
fn by_lane(channels: Vec<Places>, lanes: u16, limit: usize) -> Vec<StreamTransport> {
    let mut by_lane: Vec<Places> = Lane::all(lanes).map(|_| Vec::new()).collect();
    for places in channels {
        for (lane, channel) in by_lane.iter_mut().zip(places) {
            lane.push(channel);
        }
    }
    by_lane.into_iter().map(|channels| StreamTransport::new(channels, limit)).collect()
}

/// The way to one party, in all lanes.
struct Route {
    peer: usize,
    address: String,
    /// By lane.
    dials: Vec<Dial>,
}

impl Route {
    /// A new call, which has a number that nobody has used.
    fn new(peer: usize, address: &str, lanes: u16) -> Result<Self, SetupError> {
        let mut call = [0; 8];
        getrandom::fill(&mut call).map_err(SetupError::system)?;
        let call = u64::from_le_bytes(call);
        let dials = Lane::all(lanes).map(|lane| Dial::new(peer, address.to_owned(), lane, call)).collect();
        Ok(Self { peer, address: address.to_owned(), dials })
    }

    /// Goes on in all lanes that are still to come.
    fn advance(
        &mut self,
        places: &mut Places,
        caller: &Caller,
        names: &[String],
        deadline: Instant,
    ) -> Result<(), SetupError> {
        for (dial, place) in self.dials.iter_mut().zip(places) {
            if place.is_none() {
                *place = dial.advance(caller, names, deadline)?;
            }
        }
        Ok(())
    }

    /// Why the party was not reached in a lane, in words.
    fn failure(&self, (lane, number): &(String, usize), names: &[String]) -> Option<String> {
        let name = names.get(self.peer)?;
        let last = &self.dials.get(*number)?.last;
        Some(format!("no connection to {name} at {}{lane} ({last})", self.address))
    }
}

/// The way to one party in one lane.
struct Dial {
    peer: usize,
    address: String,
    lane: Lane,
    call: u64,
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
    fn new(peer: usize, address: String, lane: Lane, call: u64) -> Self {
        let state = DialState::Pause { until: Instant::now() };
        let last = "not tried: parties are called in order".to_owned();
        Self { peer, address, lane, call, state, tries: 0, last }
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
                if hello.lane.count != self.lane.count {
                    let detail = other_lanes(hello.lane.count, self.lane.count);
                    return Err(SetupError::Differs { peer: name, detail });
                }
                if usize::from(hello.sender) != self.peer {
                    let detail = format!("says it is number {} of parties and clients", hello.sender);
                    return Err(SetupError::Refused { peer: name, address, detail });
                }
                if (hello.lane, hello.call) != (self.lane, self.call) {
                    let detail = format!("answers another call than the one for {}", self.lane);
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
        let hello = Hello { lane: self.lane, call: self.call, ..caller.hello.clone() };
        let call = Greeting::call(address, tls, hello.bytes(), deadline);
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
