//! A client's links to parties that serve: they stay from run to run.

use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::caller::Caller;
use super::config::Config;
use super::dial::Dial;
use super::error::SetupError;
use super::gather::wait;
use super::hub::{MAX_CONTROL, call};
use super::notes::{Note, Notes, Vacant};
use crate::shape::STAMP;
use crate::stream::{Lent, Resting, Scratch};
use crate::{At, Frame, FrameKind, Lane};

/// The longest sleep while others are waited for.
const LOOK: Duration = Duration::from_millis(500);

/// What a party says to a client, outside runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Word {
    /// A control message.
    Said {
        /// Of which party.
        party: usize,
        /// What.
        message: Vec<u8>,
    },
    /// A party isn't here any more.
    Left {
        /// Which.
        party: usize,
    },
}

/// A client's links to all parties, while no run has them.
pub struct Attendance {
    links: Vec<Resting>,
    scratch: Scratch,
    parties: usize,
    lent: Option<Receiver<Vec<Option<Resting>>>>,
}

impl std::fmt::Debug for Attendance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attendance").field("links", &self.links).finish_non_exhaustive()
    }
}

impl Attendance {
    /// Connects a client to all parties, trying again until `within` is over.
    ///
    /// # Errors
    /// [`SetupError::WrongUse`] for a party's configuration; what is wrong with key or certificate;
    /// [`SetupError::Missing`], [`SetupError::Refused`], [`SetupError::Differs`].
    pub fn connect(config: &Config, within: Duration, notes: &Notes) -> Result<Self, SetupError> {
        if !config.is_client() {
            let detail = "parties serve, they do not connect to others that do".to_owned();
            return Err(SetupError::WrongUse { detail });
        }
        let deadline = Instant::now() + within;
        let identity = config.identity()?;
        let caller = Caller::new(config, identity.as_ref())?.that_stays(1);
        let (names, limit) = (config.names(), config.limits().frame + STAMP);
        let mut ways = Vec::new();
        for (peer, party) in config.parties().iter().enumerate() {
            ways.push((None, Dial::new(peer, party.address.clone(), Lane::ONLY, call()?)));
        }
        let (mut scratch, mut vacant) = (Scratch::new(), Vacant::default());
        loop {
            let mut missing = Vec::new();
            for (party, (link, dial)) in ways.iter_mut().enumerate().filter(|(_, (link, _))| link.is_none()) {
                match dial.advance(&caller, &names)? {
                    Some(channel) => *link = Resting::new(channel, limit, &mut scratch).ok(),
                    None => missing.push(party),
                }
            }
            if missing.is_empty() && ways.iter().all(|(link, _)| link.is_some()) {
                let parties = ways.len();
                let links = ways.into_iter().filter_map(|(link, _)| link).collect();
                return Ok(Self { links, parties, scratch, lent: None });
            }
            if vacant.is_to_be_told(&missing) {
                let named: Vec<&str> =
                    missing.iter().filter_map(|&peer| names.get(peer)).map(String::as_str).collect();
                notes(Note::Waiting(&named));
            }
            if Instant::now() >= deadline {
                let failed = |&party: &usize| {
                    let (name, (_, dial)) = (names.get(party)?, ways.get(party)?);
                    let address = &config.parties().get(party)?.address;
                    Some(format!("no connection to {name} at {address} ({})", dial.last()))
                };
                let missing: Vec<String> = missing.iter().filter_map(failed).collect();
                return Err(SetupError::Missing {
                    missing: missing.join(", "),
                    after: within,
                    turned_away: Vec::new(),
                });
            }
            let at_work = || ways.iter().filter(|(link, _)| link.is_none()).map(|(_, dial)| dial);
            let left = deadline.saturating_duration_since(Instant::now());
            let pause = at_work().filter_map(Dial::pause).chain([LOOK, left]).min().unwrap_or(LOOK);
            let mut watched: Vec<PollFd<'_>> = at_work().filter_map(Dial::watch).collect();
            wait(&mut watched, pause);
        }
    }

    /// Whether each party's certificate still holds that it has shown on its link.
    pub fn is_current(&self) -> bool {
        !self.links.iter().any(Resting::is_over)
    }

    /// Says something to a party, outside runs.
    pub fn say(&mut self, party: usize, message: Vec<u8>) {
        if let Some(link) = self.links.get_mut(party) {
            link.send(Frame::data(At::default(), message), &mut self.scratch);
        }
    }

    /// The next thing that one of these parties says, waiting for it at most so long. A party's later words, such as those of
    /// a run that it has begun, stay where they are.
    pub fn next(&mut self, of: &[usize], within: Duration) -> Option<Word> {
        let deadline = Instant::now() + within;
        loop {
            for &party in of {
                let Some(link) = self.links.get_mut(party) else { continue };
                if link.unread() == 0 {
                    link.service(&mut self.scratch);
                }
                match link.next() {
                    Some(Frame { kind: FrameKind::Data, payload, .. }) if payload.len() <= MAX_CONTROL => {
                        return Some(Word::Said { party, message: payload });
                    }
                    Some(_) => return Some(Word::Left { party }),
                    None if link.lost().is_some() => return Some(Word::Left { party }),
                    None => {}
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let link = |&party: &usize| {
                let link = self.links.get(party)?;
                let out = if link.backlog() > 0 { PollFlags::OUT } else { PollFlags::empty() };
                Some(PollFd::from_borrowed_fd(link.socket().as_fd(), PollFlags::IN | out))
            };
            wait(&mut of.iter().filter_map(link).collect::<Vec<_>>(), left);
        }
    }

    /// Lends all links to a run of so many endpoints: the parties, then its clients, none of which has a link to another.
    pub fn lend(&mut self, endpoints: usize) -> Lent {
        let (home, back) = channel();
        let mut links: Vec<Option<Resting>> = std::mem::take(&mut self.links).into_iter().map(Some).collect();
        links.resize_with(endpoints, || None);
        self.lent = Some(back);
        Lent::new(links, Box::new(move |links| drop(home.send(links))))
    }

    /// The same after the run, if it ended so that all links stay.
    pub fn after_run(self) -> Option<Self> {
        let Self { scratch, parties, lent, .. } = self;
        let links: Vec<Resting> = lent?.try_recv().ok()?.into_iter().flatten().collect();
        (links.len() == parties).then_some(Self { links, parties, scratch, lent: None })
    }
}
