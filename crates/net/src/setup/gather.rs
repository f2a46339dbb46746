//! Brings the endpoints of one run together: dials some, and takes in those who call.
//!
//! A party takes nobody in before everybody is here whom it awaits. So nobody is in a run that has not begun: those
//! who come early wait at the first party, are told for whom, and may go and come again.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec};

use super::caller::{Caller, Placed, Places};
use super::config::Config;
use super::dial::{Dial, Route};
use super::error::SetupError;
use super::hello::{Hello, Members};
use super::listener::Listener;
use super::notes::{Note, Notes, TurnedAway, Vacant, quiet};
use crate::channel::Channel;
use crate::lane::Lane;
use crate::shape::STAMP;
use crate::stream::StreamTransport;

/// How often connections that are complete are looked at while others are still to come.
const LOOK: Duration = Duration::from_millis(50);
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
/// [`MAX_LANES`](crate::MAX_LANES) lanes; what is wrong with key or certificate; [`SetupError::Missing`],
/// [`SetupError::Refused`], [`SetupError::Differs`].
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

impl Listener {
    /// Brings together all parties and these clients, for a run in one lane; else as [`Listener::gather_lanes`].
    ///
    /// # Errors
    /// As [`Listener::gather_lanes`].
    pub fn gather(&mut self, clients: &[usize], within: Duration) -> Result<StreamTransport, SetupError> {
        self.gather_lanes(clients, 1, within).and_then(only)
    }

    /// Brings together all parties and these clients (by number), for one run in so many lanes: dials the parties
    /// of lower numbers, and takes in the others as soon as all have called. Whoever calls again, or is not among
    /// `clients`, waits for a later call of this function. Returns the links of each lane.
    ///
    /// # Errors
    /// [`SetupError::Missing`] if somebody is missing after `within`; [`SetupError::Refused`] and
    /// [`SetupError::Differs`] as soon as it is clear that somebody can't take part, for instance because it runs
    /// in another number of lanes; [`SetupError::WrongUse`] for no or more than [`MAX_LANES`](crate::MAX_LANES) lanes, or a
    /// number that is no client's.
    pub fn gather_lanes(
        &mut self,
        clients: &[usize],
        lanes: u16,
        within: Duration,
    ) -> Result<Vec<StreamTransport>, SetupError> {
        let (awaited, caller) = self.await_all(clients, lanes)?;
        let (config, notes) = (self.config.clone(), self.notes.clone());
        run(&config, &caller, Some((self, &awaited)), within, &notes)
    }
}

/// The links of a run's only lane.
fn only(mut lanes: Vec<StreamTransport>) -> Result<StreamTransport, SetupError> {
    lanes.pop().ok_or_else(|| SetupError::WrongUse { detail: "a run has at least one lane".to_owned() })
}

/// Dials the parties of lower numbers, hears those awaited by the listener, and returns each lane's links when all
/// are there.
fn run(
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
