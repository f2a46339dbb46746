//! A party's links while it serves: they stay from run to run, and are lent to one run at a time.
//!
//! The parties hold links in lanes. Lane 0 carries control messages; each other one is lent to a run. A link that is lost
//! is dialled again by the party with the higher number, by itself. Clients call, each for connections of its own, and
//! stay. A link that no run has is *resting*: what comes on it in lane 0 or from a client is a control message, of at most
//! [`MAX_CONTROL`] bytes; what comes in another lane belongs to the lane's next run and waits for it.
//!
//! One thread drives all of this, in [`Hub::next`], which sleeps while nothing happens.
//!
//! # Security
//! Bounds on what outsiders and clients can take: callers that have not said who they are by the limits of the
//! configuration; [`GUESTS`] connections of clients, or half as many as this process may have files open, and [`EACH`] of one;
//! of each one control message more than was taken.

mod callers;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::caller::Caller;
use super::config::{Client, Config};
use super::dial::Dial;
use super::door::Door;
use super::error::SetupError;
use super::files::{Stamp, stamp};
use super::notes::{Note, Notes, Vacant, quiet};
use super::roster::Roster;
use crate::shape::STAMP;
use crate::stream::{Lent, Resting, Scratch};
use crate::tls::pin::Identity;
use crate::{At, Frame, FrameKind, Lane, MAX_LANES};

/// Bytes of a control message at most.
pub const MAX_CONTROL: usize = 64 << 10;

/// Bytes that wait for somebody to read them: with more the connection is closed, since a message can't be left out.
const BACKLOG: usize = 4 * MAX_CONTROL;

/// Connections of clients at most.
const GUESTS: usize = 1024;

/// Connections of one client at most.
const EACH: usize = 64;

/// Bytes of a frame that waits for a lane's next run at most, and how many frames may: a run begins with one of each party,
/// and with signs of life.
const EARLY: usize = 2 << 20;
const EARLY_FRAMES: usize = 32;

/// How long nothing more is told of a party that can't take part as it is: it calls, and is called, again and again.
const UNFIT: Duration = Duration::from_mins(1);

/// Control messages of one link that are taken in at one look. One that talks without end holds nobody up.
const BURST: usize = 16;

/// Who says something, or is told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Speaker {
    /// The party of this number.
    Party(usize),
    /// The client at this connection.
    Guest(u64),
}

/// What has happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum News {
    /// A client is here, over a connection that stays.
    Came {
        /// The connection, by a number that no other ever has.
        guest: u64,
        /// Whose it is, as its certificate proves (without TLS: as it says).
        client: Client,
    },
    /// A control message.
    Said {
        /// Of whom.
        by: Speaker,
        /// What.
        message: Vec<u8>,
    },
    /// Somebody isn't here any more.
    Left {
        /// Who.
        who: Speaker,
    },
}

/// Wakes a [`Hub`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<UnixStream>);

impl Waker {
    /// Has [`Hub::next`] return soon.
    pub fn wake(&self) {
        // If the pipe is full, the hub is about to wake anyhow.
        let _ = (&*self.0).write(&[0]);
    }
}

/// Where a link to a party is.
enum Place {
    Vacant,
    Resting(Box<Resting>),
    Lent,
}

/// The way to one party in one lane.
struct Way {
    place: Place,
    /// A newer link, for when the run ends that has the older one.
    fresh: Option<Resting>,
    /// If it is this side that calls.
    dial: Option<Dial>,
}

/// A client's connection.
struct Guest {
    client: Client,
    /// Nothing while a run has it.
    link: Option<Resting>,
}

/// Links that a run gives back.
struct Back {
    lane: u16,
    guests: Vec<u64>,
    links: Vec<Option<Resting>>,
}

/// A party's links while it serves.
pub struct Hub {
    config: Config,
    identity: Option<Identity>,
    /// What was its certificate's file when it was read.
    shown: Stamp,
    /// The same of the last one that was no certificate to show.
    tried: Stamp,
    door: Door,
    caller: Caller,
    roster: Roster,
    lanes: u16,
    /// By party, then by lane; none to this party itself.
    ways: Vec<Vec<Way>>,
    guests: BTreeMap<u64, Guest>,
    /// Of those at most.
    room: usize,
    next_guest: u64,
    pipe: UnixStream,
    waker: Waker,
    back: (Sender<Back>, Receiver<Back>),
    scratch: Scratch,
    vacant: Vacant<usize>,
    /// When it was told of each party that it can't take part as it is.
    unfit: Vec<Option<Instant>>,
    notes: Notes,
    news: Vec<News>,
    wakeups: u64,
    connections: u64,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("door", &self.door).field("lanes", &self.lanes).finish_non_exhaustive()
    }
}

impl Hub {
    /// Opens the port that the configuration names for this party, for so many runs at a time.
    ///
    /// # Errors
    /// [`SetupError::WrongUse`] for a client's configuration, and for no runs or as many as [`MAX_LANES`];
    /// [`SetupError::Bind`]; what is wrong with key, certificate or the list of clients.
    pub fn open(config: &Config, runs: u16) -> Result<Self, SetupError> {
        let address = config.own_address()?;
        if runs == 0 || runs >= MAX_LANES {
            let detail = format!("a party serves 1 to {} runs at a time, not {runs}", MAX_LANES - 1);
            return Err(SetupError::WrongUse { detail });
        }
        let lanes = runs + 1;
        let shown = config.identity_files().and_then(|(certificate, _)| stamp(certificate));
        let identity = config.identity()?;
        let roster = Roster::read(config)?;
        let door = Door::open(address, config.limits(), identity.as_ref(), roster.fingerprints())?;
        let caller = Caller::new(&config.without_clients(), identity.as_ref())?.that_stays(lanes);
        let (me, mut ways) = (config.me(), Vec::new());
        for (peer, party) in config.parties().iter().enumerate() {
            let way = |lane| -> Result<Way, SetupError> {
                let dial = (peer < me).then(|| Ok(Dial::new(peer, party.address.clone(), lane, call()?)));
                Ok(Way { place: Place::Vacant, fresh: None, dial: dial.transpose()? })
            };
            let all = Lane::all(lanes).filter(|_| peer != me);
            ways.push(all.map(way).collect::<Result<_, _>>()?);
        }
        let (pipe, other) = UnixStream::pair().map_err(SetupError::system)?;
        for end in [&pipe, &other] {
            end.set_nonblocking(true).map_err(SetupError::system)?;
        }
        Ok(Self {
            identity,
            shown,
            tried: shown,
            door,
            caller,
            roster,
            lanes,
            ways,
            guests: BTreeMap::new(),
            room: callers::room(usize::from(lanes) * config.parties().len()),
            next_guest: 0,
            pipe,
            waker: Waker(Arc::new(other)),
            back: channel(),
            scratch: Scratch::new(),
            vacant: Vacant::default(),
            unfit: vec![None; config.parties().len()],
            notes: quiet(),
            news: Vec::new(),
            wakeups: 0,
            connections: 0,
            config: config.clone(),
        })
    }

    /// Has somebody told who is missing, who can't take part, and who was turned away.
    pub fn tell(&mut self, notes: Notes) {
        self.door.tell(notes.clone());
        self.notes = notes;
    }

    /// Wakes this hub.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// How often [`Hub::next`] has woken up: nothing happens in between.
    pub fn wakeups(&self) -> u64 {
        self.wakeups
    }

    /// How many connections that stay have come about so far.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// Whether this party has all its links of a lane, with no run on them.
    pub fn is_ready(&self, lane: u16) -> bool {
        let ready = |way: Option<&Way>| {
            way.is_some_and(|way| matches!(&way.place, Place::Resting(link) if link.lost().is_none()))
        };
        self.peers().all(|peer| ready(self.ways[peer].get(usize::from(lane))))
    }

    /// Whether control messages reach all other parties.
    pub fn is_complete(&self) -> bool {
        self.missing().is_empty()
    }

    /// Whether control messages reach this party.
    pub fn reaches(&self, party: usize) -> bool {
        !self.missing().contains(&party)
    }

    /// Closes a lane's links that no run has: so the others notice that this party doesn't come to the run that they have
    /// begun there.
    pub fn give_up(&mut self, lane: u16) {
        for ways in &mut self.ways {
            if let Some(way) = ways.get_mut(usize::from(lane))
                && let Place::Resting(_) = way.place
            {
                way.place = Place::Vacant;
            }
        }
    }

    /// The parties that have no control link to this one.
    fn missing(&self) -> Vec<usize> {
        let gone =
            |peer: &usize| self.ways[*peer].first().is_none_or(|way| matches!(way.place, Place::Vacant));
        self.peers().filter(gone).collect()
    }

    fn peers(&self) -> impl Iterator<Item = usize> {
        (0..self.ways.len()).filter(|&peer| peer != self.config.me())
    }

    /// How many of the links to other parties are there, of how many.
    pub fn links(&self) -> (usize, usize) {
        let all = || self.peers().flat_map(|peer| &self.ways[peer]);
        (all().filter(|way| !matches!(way.place, Place::Vacant)).count(), all().count())
    }

    /// How many connections of clients are here.
    pub fn guests(&self) -> usize {
        self.guests.len()
    }

    /// Whether a client's connection is here, and no run has it.
    pub fn is_resting(&self, guest: u64) -> bool {
        self.guests.get(&guest).is_some_and(|guest| guest.link.is_some())
    }

    /// Says something. To somebody who isn't here, or whose connection a run has, it goes nowhere.
    pub fn say(&mut self, to: Speaker, message: Vec<u8>) {
        let link = match to {
            Speaker::Party(peer) => match self.ways.get_mut(peer).and_then(|ways| ways.first_mut()) {
                Some(Way { place: Place::Resting(link), .. }) => Some(&mut **link),
                _ => None,
            },
            Speaker::Guest(guest) => self.guests.get_mut(&guest).and_then(|guest| guest.link.as_mut()),
        };
        if let Some(link) = link {
            link.send(Frame::data(At::default(), message), &mut self.scratch);
        }
    }

    /// Closes a client's connection that no run has.
    pub fn dismiss(&mut self, guest: u64) {
        self.guests.remove(&guest);
    }

    /// Whether a client is still on the lists. They are read again at each look ([`Hub::next`]) if they have changed.
    pub fn knows(&self, client: &Client) -> bool {
        self.roster.knows(client)
    }

    /// The client of this name, if there is one.
    pub fn owner(&self, name: &str) -> Option<Client> {
        self.roster.named(name).cloned()
    }

    /// Lends a lane's links and these clients' to a run. Its endpoints are the parties, then these clients in this order.
    /// `None` unless all are there with no run on them ([`Hub::is_ready`], [`Hub::is_resting`]).
    pub fn lend(&mut self, lane: u16, guests: &[u64]) -> Option<Lent> {
        let twice = guests.iter().enumerate().any(|(at, guest)| guests[..at].contains(guest));
        if lane == 0 || twice || !self.is_ready(lane) || !guests.iter().all(|&guest| self.is_resting(guest)) {
            return None;
        }
        let mut links = Vec::with_capacity(self.ways.len() + guests.len());
        for ways in &mut self.ways {
            let way = ways.get_mut(usize::from(lane));
            links.push(way.and_then(|way| match std::mem::replace(&mut way.place, Place::Lent) {
                Place::Resting(link) => Some(*link),
                Place::Vacant | Place::Lent => None,
            }));
        }
        links.extend(guests.iter().map(|guest| self.guests.get_mut(guest)?.link.take()));
        let limit = self.config.limits().frame + STAMP;
        links.iter_mut().flatten().for_each(|link| link.limit(limit));
        let (sender, waker, guests) = (self.back.0.clone(), self.waker.clone(), guests.to_vec());
        Some(Lent::new(
            links,
            Box::new(move |links| {
                // If the hub is gone, so are its links.
                let _ = sender.send(Back { lane, guests, links });
                waker.wake();
            }),
        ))
    }

    /// What has happened, waiting for it at most as long as said, if said. Nothing also if this was woken
    /// ([`Waker`]), if a link came or a lane is back: look again at what hangs on that.
    ///
    /// # Errors
    /// [`SetupError::System`].
    pub fn next(&mut self, within: Option<Duration>) -> Result<Vec<News>, SetupError> {
        if self.news.is_empty() {
            self.sleep(within);
            self.wakeups += 1;
        }
        let _ = (&self.pipe).read(&mut [0; 256]);
        while let Ok(back) = self.back.1.try_recv() {
            self.take_back(back);
        }
        self.hear()?;
        self.dial()?;
        self.read();
        let missing = self.missing();
        if self.vacant.is_to_be_told(&missing) {
            let names = self.config.names();
            let named = missing.iter().filter_map(|&peer| names.get(peer)).map(String::as_str);
            (self.notes)(Note::Waiting(&named.collect::<Vec<_>>()));
        }
        Ok(std::mem::take(&mut self.news))
    }

    /// Waits until a socket has something, a time is over, or somebody wakes this.
    fn sleep(&self, within: Option<Duration>) {
        let mut watched = vec![PollFd::new(&self.pipe, PollFlags::IN)];
        self.door.watch(&mut watched);
        let mut pauses: Vec<Duration> =
            [within, self.door.pause(), self.vacant.pause()].into_iter().flatten().collect();
        for way in self.ways.iter().flatten() {
            match (&way.place, &way.dial) {
                (Place::Resting(link), _) => {
                    watched.push(watch(link));
                    pauses.extend(link.left());
                }
                (Place::Vacant, Some(dial)) => {
                    watched.extend(dial.watch());
                    pauses.extend(dial.pause());
                }
                (Place::Vacant, None) | (Place::Lent, _) => {}
            }
        }
        for link in self.guests.values().filter_map(|guest| guest.link.as_ref()) {
            watched.push(watch(link));
            pauses.extend(link.left());
        }
        // What was read and not taken wakes nobody.
        let controls = self.ways.iter().filter_map(|ways| ways.first()).filter_map(|way| match &way.place {
            Place::Resting(link) => Some(&**link),
            Place::Vacant | Place::Lent => None,
        });
        let mut controls = controls.chain(self.guests.values().filter_map(|guest| guest.link.as_ref()));
        if controls.any(|link| link.unread() > 0) {
            pauses.push(Duration::ZERO);
        }
        let timeout = pauses.into_iter().min().map(|pause| Timespec {
            tv_sec: pause.as_secs() as i64,
            tv_nsec: i64::from(pause.subsec_nanos()),
        });
        // Whatever has happened, the next look is at everything.
        let _ = rustix::event::poll(&mut watched, timeout.as_ref());
    }

    /// Puts links back where they were before a run; those that ended with it are vacant.
    fn take_back(&mut self, back: Back) {
        let Back { lane, guests, links } = back;
        let mut links = links.into_iter();
        for (peer, link) in links.by_ref().take(self.ways.len()).enumerate() {
            let Some(way) = self.ways.get_mut(peer).and_then(|ways| ways.get_mut(usize::from(lane))) else {
                continue;
            };
            way.place = match way.fresh.take().or(link) {
                Some(mut link) => {
                    link.limit(EARLY);
                    Place::Resting(Box::new(link))
                }
                None => Place::Vacant,
            };
        }
        for (number, link) in guests.into_iter().zip(links) {
            if let Some(mut link) = link {
                link.limit(MAX_CONTROL);
                if let Some(guest) = self.guests.get_mut(&number) {
                    guest.link = Some(link);
                }
            } else {
                self.guests.remove(&number);
                self.news.push(News::Left { who: Speaker::Guest(number) });
            }
        }
    }

    /// Goes on calling the parties that this one calls and has no link to.
    fn dial(&mut self) -> Result<(), SetupError> {
        let is_vacant = |way: &Way| matches!(way.place, Place::Vacant) && way.dial.is_some();
        if !self.ways.iter().flatten().any(is_vacant) {
            return Ok(());
        }
        let (names, mut unfit) = (self.config.names(), Vec::new());
        for (peer, ways) in self.ways.iter_mut().enumerate() {
            for way in ways.iter_mut().filter(|way| is_vacant(way)) {
                let Some(dial) = &mut way.dial else { continue };
                match dial.advance(&self.caller, &names) {
                    Ok(None) => {}
                    Ok(Some(channel)) => {
                        if let Ok(link) = Resting::new(channel, EARLY, &mut self.scratch) {
                            way.place = Place::Resting(Box::new(link));
                            self.connections += 1;
                        }
                    }
                    Err(error @ SetupError::System { .. }) => return Err(error),
                    Err(error) => {
                        dial.rest();
                        unfit.push((peer, error));
                    }
                }
            }
        }
        for (peer, error) in &unfit {
            self.tell_unfit(*peer, error);
        }
        Ok(())
    }

    /// Tells that a party can't take part as it is, and not again for a while.
    fn tell_unfit(&mut self, peer: usize, error: &SetupError) {
        let Some(told) = self.unfit.get_mut(peer) else { return };
        if told.is_none_or(|told| told.elapsed() >= UNFIT) {
            *told = Some(Instant::now());
            (self.notes)(Note::Unfit(error));
        }
    }

    /// Reads what rests.
    fn read(&mut self) {
        let Self { ways, guests, scratch, news, .. } = self;
        for (peer, ways) in ways.iter_mut().enumerate() {
            for (lane, way) in ways.iter_mut().enumerate() {
                let Place::Resting(link) = &mut way.place else { continue };
                let who = Speaker::Party(peer);
                let stays = if lane == 0 {
                    say_on(link, scratch, who, news)
                } else {
                    // What comes is for the next run.
                    link.service(scratch);
                    link.lost().is_none() && link.unread() <= EARLY_FRAMES
                };
                if !stays || link.is_over() {
                    way.place = Place::Vacant;
                    if lane == 0 {
                        news.push(News::Left { who });
                    }
                }
            }
        }
        guests.retain(|&number, guest| {
            let who = Speaker::Guest(number);
            let stays =
                guest.link.as_mut().is_none_or(|link| say_on(link, scratch, who, news) && !link.is_over());
            if !stays {
                news.push(News::Left { who });
            }
            stays
        });
    }
}

/// What somebody has said; whether it is still here, has said nothing but control messages, and reads what it is told.
fn say_on(link: &mut Resting, scratch: &mut Scratch, by: Speaker, news: &mut Vec<News>) -> bool {
    if link.backlog() > BACKLOG {
        return false;
    }
    for _ in 0..BURST {
        if link.unread() == 0 {
            link.service(scratch);
        }
        let Some(frame) = link.next() else { return link.lost().is_none() };
        if frame.kind != FrameKind::Data || frame.payload.len() > MAX_CONTROL {
            return false;
        }
        news.push(News::Said { by, message: frame.payload });
    }
    true
}

/// What a resting link is watched for.
fn watch(link: &Resting) -> PollFd<'_> {
    let mut flags = PollFlags::IN;
    flags.set(PollFlags::OUT, link.backlog() > 0);
    PollFd::from_borrowed_fd(link.socket().as_fd(), flags)
}

/// A number for a call that nobody has used.
pub(super) fn call() -> Result<u64, SetupError> {
    let mut call = [0; 8];
    getrandom::fill(&mut call).map_err(SetupError::system)?;
    Ok(u64::from_le_bytes(call))
}
