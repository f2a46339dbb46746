//! A party's listening port for runs that everybody begins by itself, and those who call it.

use std::collections::VecDeque;
use std::fmt;

use rustix::event::PollFd;

use super::caller::{Caller, Placed, Places};
use super::config::{Config, Security};
use super::door::{Door, Greeted, certificate};
use super::error::SetupError;
use super::greeting::Greeting;
use super::hello::Hello;
use super::notes::{Notes, TurnedAway, quiet};
use super::renewed::Renewed;
use crate::channel::Channel;
use crate::lane::MAX_LANES;
use crate::tls::pin::Fingerprint;

/// Connections of one peer that wait for their turn: those of one run with the most lanes, or of more runs with
/// fewer.
const WAITING: usize = MAX_LANES as usize;

/// A party's listening port. Lives as long as the party does; every run gathers its own links from it.
pub struct Listener {
    pub(super) config: Config,
    door: Door,
    caller: Caller,
    /// Those who have said hello and not been given their places, by their number.
    queues: Vec<Queue>,
    pub(super) notes: Notes,
    renewed: Renewed,
    /// Whom the run that is being gathered waits for here.
    awaited: Vec<usize>,
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

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("door", &self.door).finish_non_exhaustive()
    }
}

impl Listener {
    /// Opens the port that the configuration names for this party, and reads its key.
    ///
    /// # Errors
    /// [`SetupError::WrongUse`] for a client's configuration; [`SetupError::Bind`]; what is wrong with key or
    /// certificate.
    pub fn bind(config: &Config) -> Result<Self, SetupError> {
        let address = config.own_address()?;
        let identity = config.identity()?;
        let renewed = Renewed::read(config)?;
        let (names, firsts) = (config.names(), config.fingerprints());
        let all = names.iter().map(String::as_str).zip(firsts.iter().copied());
        let prints = firsts.iter().copied().flatten().chain(renewed.of_all(all)).collect();
        let caller = Caller::new(config, identity.as_ref())?;
        Ok(Self {
            door: Door::open(address, config.limits(), identity.as_ref(), prints)?,
            caller,
            queues: config.names().iter().map(|_| Queue::default()).collect(),
            notes: quiet(),
            awaited: Vec::new(),
            renewed,
            config: config.clone(),
        })
    }

    /// Has somebody told for whom a run waits, and who was turned away.
    pub fn tell(&mut self, notes: Notes) {
        self.door.tell(notes.clone());
        self.notes = notes;
    }

    /// Awaits all parties of higher numbers and these clients (by number) from now on, for one run in so many lanes: gives
    /// whom, and as what this party calls the others.
    ///
    /// # Errors
    /// [`SetupError::WrongUse`], as [`Listener::gather_lanes`].
    pub(super) fn await_all(
        &mut self,
        clients: &[usize],
        lanes: u16,
    ) -> Result<(Vec<usize>, Caller), SetupError> {
        let (me, parties) = (self.config.me(), self.config.parties().len());
        if let Some(client) = clients.iter().find(|&&client| client < parties || client >= self.queues.len())
        {
            return Err(SetupError::WrongUse { detail: format!("{client} is no client's number") });
        }
        let awaited: Vec<usize> = (me + 1..parties).chain(clients.iter().copied()).collect();
        self.awaited.clone_from(&awaited);
        Ok((awaited, self.caller.for_run(clients, lanes)?))
    }

    /// Who was turned away lately.
    pub fn turned_away(&self) -> impl Iterator<Item = &TurnedAway> {
        self.door.turned_away()
    }

    /// Goes on with those who are being greeted, and accepts calls.
    pub(super) fn hear(&mut self) -> Result<(), SetupError> {
        let mut difference = Ok(());
        for Greeted { greeting, hello } in self.door.hear()? {
            difference = difference.and(match hello {
                Ok(hello) => self.greeted(greeting, hello),
                Err(version) => {
                    let why = version.to_string();
                    if let Some(peer) = self.identify(&greeting.channel) {
                        self.differs(greeting, peer, why)
                    } else {
                        self.door.turn_away(greeting.address, &why);
                        Ok(())
                    }
                }
            });
        }
        difference
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
        self.door.watch(watched);
    }

    /// Puts a caller that has said hello where it waits to be taken in.
    fn greeted(&mut self, mut greeting: Greeting, hello: Hello) -> Result<(), SetupError> {
        if hello.asks {
            Door::answer(&mut greeting, &self.caller.hello);
            return Ok(());
        }
        let claimed = usize::from(hello.sender);
        let proven = self.identify(&greeting.channel);
        let mut turn_away = |why: String| {
            self.door.turn_away(greeting.address, &why);
            Ok(())
        };
        if self.config.security() == Security::Tls && proven != Some(claimed) {
            return turn_away(format!("says it is number {claimed}, with another's certificate"));
        }
        let names = self.config.names();
        let Some(name) = names.get(claimed) else {
            return turn_away(format!("says it is number {claimed}, which does not exist"));
        };
        if let Some(detail) = self.caller.hello.difference(&hello, &names) {
            return self.differs(greeting, claimed, detail);
        }
        if claimed <= self.config.me() {
            return turn_away(format!("says it is {name}, which does not call here"));
        }
        let Some(queue) = self.queues.get_mut(claimed) else { return Ok(()) };
        queue.waiting.retain(|waiting| !waiting.channel.is_dead());
        if queue.knows(&hello) {
            return turn_away(format!("is {name}, which has called for {} already", hello.lane));
        }
        if queue.waiting.len() >= WAITING {
            return turn_away(format!("is {name}, of which {WAITING} connections wait already"));
        }
        queue.waiting.push_back(Waiting { hello, channel: greeting.channel });
        Ok(())
    }

    /// The number of the peer whose certificate the other side has.
    fn identify(&self, channel: &Channel) -> Option<usize> {
        let print = certificate(channel)?;
        let all = self.config.names().into_iter().zip(self.config.fingerprints());
        let is_its =
            |(name, first): (String, Option<Fingerprint>)| self.renewed.proves(&name, first, Some(print));
        all.map(is_its).position(|is_its| is_its)
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
        self.door.turn_away(caller.address, &format!("is {name}: {detail}"));
        Ok(())
    }
}
