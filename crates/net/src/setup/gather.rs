//! Brings the endpoints of one run together: dials some, and takes in those who call.
//!
//! A party takes nobody in before everybody is here whom it awaits. So nobody is in a run that has not begun: those
//! who come early wait at the first party, are told for whom, and may go and come again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec};
use rustls::ClientConfig;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;

use super::config::Config;
use super::dial::{Dial, Route};
use super::door::TurnedAway;
use super::error::SetupError;
use super::hello::{Hello, Members};
use super::listener::Listener;
use super::renewed::Renewed;
use crate::channel::Channel;
use crate::shape::STAMP;
use crate::stream::StreamTransport;
use crate::tls::Tls;
use crate::tls::pin::{Identity, client_config};
use crate::{Lane, MAX_LANES};

/// How often connections that are complete are looked at while others are still to come.
const LOOK: Duration = Duration::from_millis(50);
/// How long the same peers are missing before it is told who they are.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is told while endpoints are brought together. Names are those of the own configuration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Note<'a> {
    /// These have been missing for two seconds.
    Waiting(&'a [&'a str]),
    /// Somebody called and was turned away.
    TurnedAway(&'a TurnedAway),
    /// A party can't take part as it is; it is called again after a while.
    Unfit(&'a SetupError),
    /// The list of clients was changed and can't be read: what it was holds on.
    Unread(&'a SetupError),
}

/// Is told notes. It must not wait for anything: nobody is heard meanwhile.
pub type Notes = Arc<dyn Fn(Note<'_>) + Send + Sync>;

/// Notes that nobody is told.
pub fn quiet() -> Notes {
    Arc::new(|_| {})
}

/// Connects a client to all parties, for a run in one lane, for as long as [`crate::Limits::connect`] at most; else as
/// [`connect_lanes`].
///
/// # Errors
/// As [`connect_lanes`].
pub fn connect(config: &Config, clients: &[usize]) -> Result<StreamTransport, SetupError> {
    connect_lanes(config, clients, 1, config.limits().connect, &quiet()).and_then(only)
}

/// Connects a client to all parties in each of `lanes` lanes, for a run in which these clients (by number) take part.
/// Tries again until `within` is over, and waits until all others have come. Returns the links of each lane.
///
/// # Errors
/// [`SetupError::WrongUse`] for a party's configuration, for clients without this one, or for no or more than
/// [`MAX_LANES`] lanes; what is wrong with key or certificate; [`SetupError::Missing`], [`SetupError::Refused`],
/// [`SetupError::Differs`].
pub fn connect_lanes(
    config: &Config,
    clients: &[usize],
    lanes: u16,
    within: Duration,
    notes: &Notes,
) -> Result<Vec<StreamTransport>, SetupError> {
    let wrong = |detail: &str| Err(SetupError::WrongUse { detail: detail.to_owned() });
    if !config.is_client() {
        return wrong("parties bind and gather, they do not connect");
    }
    if !clients.contains(&config.me()) {
        return wrong("a client connects for runs that it takes part in");
    }
    let identity = config.identity()?;
    let caller = Caller::new(config, identity.as_ref())?.for_run(clients, lanes)?;
    run(config, &caller, None, within, notes)
}

/// The links of a run's only lane.
pub(super) fn only(mut lanes: Vec<StreamTransport>) -> Result<StreamTransport, SetupError> {
    lanes.pop().ok_or_else(|| SetupError::WrongUse { detail: "a run has at least one lane".to_owned() })
}

/// What it takes to call others: what to say, and how to recognise them.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) hello: Hello,
    pub(super) tls: Vec<Option<Arc<ClientConfig>>>,
}

impl Caller {
    pub(super) fn new(config: &Config, identity: Option<&Identity>) -> Result<Self, SetupError> {
        let hello = Hello::new(config.me(), config.parties().len(), &config.names(), &config.fingerprints());
        let (mut tls, renewed) = (Vec::new(), Renewed::read(config)?);
        for party in config.parties() {
            tls.push(match (identity, party.fingerprint) {
                (Some(identity), Some(print)) => {
                    let prints = [vec![print], renewed.of(&party.name, Some(print))].concat();
                    Some(Arc::new(client_config(identity, prints).map_err(SetupError::system)?))
                }
                _ => None,
            });
        }
        Ok(Self { hello, tls })
    }

    /// The TLS side of a call to a party at this address; `None` with plain TCP.
    pub(super) fn tls_to(&self, peer: usize, address: SocketAddr) -> Result<Option<Tls>, SetupError> {
        let Some(Some(config)) = self.tls.get(peer) else { return Ok(None) };
        // The name is not sent, and not looked at: the certificate's fingerprint says all.
        let call = UnbufferedClientConnection::new(Arc::clone(config), ServerName::from(address.ip()));
        Ok(Some(Tls::client(call.map_err(SetupError::system)?)))
    }

    /// The same, for connections that stay, in so many lanes.
    pub(super) fn that_stays(mut self, lanes: u16) -> Self {
        self.hello.stays = true;
        self.hello.lane = Lane { number: 0, count: lanes };
        self
    }

    /// The same, for a run in so many lanes in which these clients take part.
    pub(super) fn for_run(&self, clients: &[usize], lanes: u16) -> Result<Self, SetupError> {
        if lanes == 0 || lanes > MAX_LANES {
            let detail = format!("a run has 1 to {MAX_LANES} lanes, not {lanes}");
            return Err(SetupError::WrongUse { detail });
        }
        let guests = Members::of(clients.iter().copied());
        let hello = Hello { lane: Lane { number: 0, count: lanes }, guests, ..self.hello.clone() };
        Ok(Self { hello, tls: self.tls.clone() })
    }
}

/// Dials the parties of lower numbers, hears those awaited by the listener, and returns each lane's links when all
/// are there.
pub(super) fn run(
    config: &Config,
    caller: &Caller,
    mut listener: Option<(&mut Listener, &[usize])>,
    within: Duration,
    notes: &Notes,
) -> Result<Vec<StreamTransport>, SetupError> {
    let deadline = Instant::now() + within;
    let names = config.names();
    let lanes = caller.hello.lane.count;
    // By endpoint, then by lane.
    let mut channels: Vec<Places> = names.iter().map(|_| Lane::all(lanes).map(|_| None).collect()).collect();
    let lower = config.parties().iter().take(config.me());
    let routes = lower.enumerate().map(|(peer, party)| Route::new(peer, &party.address, lanes));
    let mut routes: Vec<Route> = routes.collect::<Result<_, _>>()?;
    let awaited = listener.as_ref().map_or(&[][..], |(_, awaited)| awaited);
    let mut vacant = Vacant::default();
    loop {
        if let Some((listener, awaited)) = &mut listener {
            listener.hear()?;
            for &peer in *awaited {
                let Some(places) = channels.get_mut(peer) else { continue };
                clear_if_gone(places);
                listener.take(peer, places, &caller.hello)?;
            }
        }
        // One after the other: of two runs that one client begins at once, the first party decides which
        // is first, and the other does not reach the next party before its turn has come.
        let mut next = None;
        for (number, route) in routes.iter_mut().enumerate() {
            let Some(places) = channels.get_mut(route.peer) else { continue };
            if has_left(places, route.peer, config)? {
                places.fill_with(|| None);
                *route = Route::new(route.peer, &route.address, lanes)?;
            }
            route.advance(places, caller, &names)?;
            if !is_full(places) {
                next = Some(number);
                break;
            }
        }
        let next = next.and_then(|number| routes.get(number));
        let here = |peer: usize| channels.get(peer).is_some_and(|places| is_full(places));
        let to_come: Vec<usize> = awaited.iter().copied().filter(|&peer| !here(peer)).collect();
        if next.is_none() && to_come.is_empty() {
            answer(&mut channels, awaited, &caller.hello);
            return Ok(by_lane(channels, lanes, config.limits().frame + STAMP));
        }
        let missing = match next {
            // Those who call come here when that party has taken them in.
            Some(route) => route.missing(config.me()),
            None => to_come.clone(),
        };
        let hello = Hello { missing: Members::of(missing.iter().copied()), ..caller.hello.clone() };
        answer(&mut channels, awaited, &hello);
        if vacant.is_to_be_told(&missing) {
            let named: Vec<&str> =
                missing.iter().filter_map(|&peer| names.get(peer)).map(String::as_str).collect();
            notes(Note::Waiting(&named));
        }
        if Instant::now() >= deadline {
            let vacancy = |peer: usize| channels.get(peer).and_then(|places| first_vacant(places));
            // Whom a party waits for that knows of this side says more than who has not come here.
            let heard = next.filter(|route| route.is_heard());
            let dialled = routes.iter().filter(|route| heard.is_none_or(|heard| heard.peer == route.peer));
            let dialled = dialled.filter_map(|route| route.failure(&vacancy(route.peer)?, &names));
            let silent = to_come.iter().filter(|_| heard.is_none()).filter_map(|&peer| {
                let (lane, _) = vacancy(peer)?;
                names.get(peer).map(|name| format!("no call from {name}{lane}"))
            });
            let turned_away = listener.iter().flat_map(|(listener, _)| listener.turned_away());
            return Err(SetupError::Missing {
                missing: dialled.chain(silent).collect::<Vec<_>>().join(", "),
                after: within,
                turned_away: turned_away.map(TurnedAway::to_string).collect(),
            });
        }
        let places = next.and_then(|route| channels.get(route.peer));
        let at_work = || next.into_iter().zip(places).flat_map(|(route, places)| route.at_work(places));
        let pause = at_work().filter_map(Dial::pause).chain([LOOK]).min().unwrap_or(LOOK);
        let mut watched = Vec::new();
        if let Some((listener, _)) = &listener {
            listener.watch(&mut watched);
        }
        watched.extend(at_work().filter_map(Dial::watch));
        wait(&mut watched, pause);
    }
}

/// Waits until something can be read or written. Whatever has happened, the next look is at everything.
pub(super) fn wait(watched: &mut [PollFd<'_>], pause: Duration) {
    #[cfg(test)]
    tests::LOOKS.with(|looks| looks.set(looks.get() + 1));
    let timeout = Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: i64::from(pause.subsec_nanos()) };
    let _ = rustix::event::poll(watched, Some(&timeout));
}

/// Who is missing, by number or by name, and since when it is just these.
pub struct Vacant<T> {
    peers: Vec<T>,
    since: Instant,
    told: bool,
}

impl<T> Default for Vacant<T> {
    /// Nobody is missing.
    fn default() -> Self {
        Self { peers: Vec::new(), since: Instant::now(), told: false }
    }
}

impl<T: PartialEq + Clone> Vacant<T> {
    /// How long until it is time to tell who is missing, if it will be.
    pub fn pause(&self) -> Option<Duration> {
        let untold = !self.told && !self.peers.is_empty();
        untold.then(|| PATIENCE.saturating_sub(self.since.elapsed()))
    }

    /// Whether it is time to tell who is missing: once these have been for some time.
    pub fn is_to_be_told(&mut self, peers: &[T]) -> bool {
        if self.peers != peers {
            *self = Self { peers: peers.to_vec(), since: Instant::now(), told: false };
        }
        let now = !self.told && !self.peers.is_empty() && self.since.elapsed() >= PATIENCE;
        self.told |= now;
        now
    }
}

/// A connection that has its place in the run.
pub(super) struct Placed {
    pub(super) channel: Channel,
    /// The call that it belongs to, to be named in the answer.
    pub(super) call: u64,
    /// Who it knows to be missing, of those who call.
    pub(super) told: Option<Members>,
}

/// A peer's connections, by lane; `None` for one that is still to come.
pub(super) type Places = Vec<Option<Placed>>;

fn is_full(places: &[Option<Placed>]) -> bool {
    places.iter().all(Option::is_some)
}

/// Vacates all of a caller's places if one of its connections has ended: its lanes come together. It has not been taken
/// in, and may come again.
fn clear_if_gone(places: &mut Places) {
    if places.iter().flatten().any(|placed| placed.channel.has_hung_up()) {
        places.fill_with(|| None);
    }
}

/// Whether one of the connections to a party has ended.
///
/// # Errors
/// If the party has said why: it has begun the run and given it up. That ends it for all, so that all go on to the next
/// one together.
fn has_left(places: &mut Places, peer: usize, config: &Config) -> Result<bool, SetupError> {
    let mut gone = false;
    for placed in places.iter_mut().flatten() {
        if let Some(reason) = placed.channel.reason_for_leaving(config.limits().frame + STAMP) {
            let peer = config.names().get(peer).cloned().unwrap_or_default();
            return Err(SetupError::GaveUp { peer, reason });
        }
        gone |= placed.channel.is_dead();
    }
    Ok(gone)
}

/// Says hello to all callers that are here and don't know yet who is missing; with nobody missing they are taken in.
fn answer(channels: &mut [Places], awaited: &[usize], hello: &Hello) {
    for &peer in awaited {
        let places = channels.get_mut(peer).into_iter().flatten();
        for (lane, placed) in Lane::all(hello.lane.count).zip(places) {
            let Some(Placed { channel, call, told }) = placed else { continue };
            // Who doesn't read what is said while others are missing is told no more of it. Who has gone is noticed at
            // the next look, or in the run.
            if *told != Some(hello.missing) && (hello.missing.is_empty() || !channel.is_backed_up()) {
                let _ = channel.send(&Hello { lane, call: *call, ..hello.clone() }.bytes());
                *told = Some(hello.missing);
            }
        }
    }
}

/// The first place that is vacant, after words that name its lane if others have come; `None` if all have.
fn first_vacant(places: &[Option<Placed>]) -> Option<(String, usize)> {
    let lane = places.iter().position(Option::is_none)?;
    let words = if places.iter().all(Option::is_none) { String::new() } else { format!(" for lane {lane}") };
    Some((words, lane))
}

/// Each lane's links, of everybody's connections.
fn by_lane(channels: Vec<Places>, lanes: u16, limit: usize) -> Vec<StreamTransport> {
    let mut by_lane: Vec<Vec<Option<Channel>>> = Lane::all(lanes).map(|_| Vec::new()).collect();
    for places in channels {
        for (lane, placed) in by_lane.iter_mut().zip(places) {
            lane.push(placed.map(|placed| placed.channel));
        }
    }
    by_lane.into_iter().map(|channels| StreamTransport::new(channels, limit)).collect()
}

#[cfg(test)]
mod tests;
