//! A party that serves: its links stay, runs come and go.

use super::control::{Player, Proposal, bound};
use super::desk::{Begun, Desk};
use crate::attempts::Attempts;
use crate::deployment::{endpoint_of, run_over};
use crate::registry::Chosen;
use crate::run::{Given, Own};
use crate::state::{NO_STATE, Residents};
use crate::{Compiled, Error, Fill, Kept, Run, Source, State};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tacit_engine::Participants;
use tacit_net::setup::{Config, Hub, News, Note, Notes, Waker, quiet};
use tacit_net::stream::Lent;
use tacit_net::{Limits, Mesh, Transport};
use tacit_program::Value;

/// How long the same names wait to be played before it is told.
const PATIENCE: Duration = Duration::from_secs(2);

/// A program that a party serves, with what the party itself gives to each run of it.
pub struct Offer {
    /// The program.
    pub compiled: Arc<Compiled>,
    /// A value for each input that is this party's to give, by the index of the input.
    pub inputs: Vec<Option<Value>>,
}

/// What a party has that one run at a time may use.
#[derive(Default)]
pub struct Holdings {
    /// A store of material or supplies.
    pub store: Option<Kept>,
    /// What is kept between runs, and which value fills each slot.
    pub state: Option<(State, Fill)>,
}

impl Holdings {
    fn is_empty(&self) -> bool {
        self.store.is_none() && self.state.is_none()
    }
}

/// How many runs wait to be at most, usually.
pub const QUEUE: usize = 256;

/// How a party serves.
pub struct Serving {
    /// The protocol's name with its parameters, the same for everybody.
    pub protocol: String,
    /// Runs at a time at most, the same for all parties: each has links of its own. One at a time uses what the party holds.
    pub at_once: u16,
    /// Runs that wait to be at most; a request for another one is told that the parties are busy.
    pub queue: usize,
    /// After so many runs it ends by itself.
    pub runs: Option<u64>,
    /// What it holds.
    pub holdings: Holdings,
}

/// What has become of a run.
#[derive(Debug)]
pub struct Served<'a> {
    /// How many runs have ended here, with this one.
    pub number: u64,
    /// The program.
    pub compiled: &'a Arc<Compiled>,
    /// Which clients took part, as the program's names and theirs.
    pub clients: Vec<(String, String)>,
    /// What came out, or why nothing did.
    pub result: Result<Run, Error>,
    /// Attempts so far ([`Error::is_attempt`]).
    pub attempts: u64,
}

/// Ends a server from elsewhere: what is under way is finished, and nothing more begins.
#[derive(Clone, Debug)]
pub struct Drain {
    asked: Arc<AtomicBool>,
    waker: Waker,
}

impl Drain {
    /// Asks for the end.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    /// The flag, and what to write a byte to once it is set: for signal handlers.
    ///
    /// # Errors
    /// [`Error::Setup`] if the operating system refuses it.
    pub fn parts(&self) -> Result<(Arc<AtomicBool>, std::os::unix::net::UnixStream), Error> {
        Ok((self.asked.clone(), self.waker.pipe()?))
    }
}

/// Changes the links of a run, for tests.
type Wrap = Arc<dyn Fn(Lent) -> Box<dyn Transport> + Send + Sync>;

/// A run that has ended, and how.
type Ended = (Proposal, Result<Run, Error>);

/// What all runs share.
struct Shared {
    config: Config,
    chosen: Chosen,
    offers: HashMap<[u8; 32], Offer>,
    /// Nothing if it holds nothing: then runs don't wait for one another.
    holdings: Option<Mutex<Holdings>>,
    wrap: Option<Wrap>,
}

/// A party that serves programs. Its links to the other parties and to clients stay from run to run.
///
/// Only the programs that it was given run here, by their hashes. A check that fails ends it ([`Error::Stopped`]), as do too
/// many runs that end in the middle of one, over all lanes together.
pub struct Server {
    hub: Hub,
    desk: Desk,
    shared: Arc<Shared>,
    attempts: Attempts,
    ended: u64,
    results: (Sender<Ended>, Receiver<Ended>),
    asked: Arc<AtomicBool>,
    notes: Notes,
    /// The names that requests wait for, since when, and whether it was told.
    waits: (Vec<String>, Instant, bool),
}

impl Server {
    /// Opens the port of a party's configuration, to serve these programs.
    ///
    /// # Errors
    /// [`Error::Setup`] if a file is wrong or the port can't be had; [`Error::Refused`] if a program can't run so.
    pub fn open(config: &Config, offers: Vec<Offer>, serving: Serving) -> Result<Self, Error> {
        let Serving { protocol, at_once, queue, runs, holdings } = serving;
        let chosen = Chosen::of(&protocol)?;
        let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let (mut programs, mut known) = (HashMap::new(), HashMap::new());
        for offer in offers {
            let compiled = &offer.compiled;
            let needs = Participants::clients_of(compiled.plan(), &parties);
            let endpoint = endpoint_of(config, compiled, chosen.protocol.clone(), needs.clone())?;
            if compiled.has_residents() && holdings.state.is_none() {
                return Err(Error::Refused(NO_STATE.to_owned()));
            }
            if config.me() < parties.len() {
                let given: Vec<Option<&Value>> = offer.inputs.iter().map(Option::as_ref).collect();
                endpoint.encode(config.me(), &given)?;
            }
            programs.insert(compiled.hash(), needs);
            known.insert(compiled.hash(), offer);
        }
        let hub = Hub::open(config, at_once)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let first = if config.me() == 0 { since.as_micros() as u64 } else { 0 };
        let mut desk =
            Desk::new(config.me(), parties, chosen.to_string(), programs, (at_once, queue), runs, first);
        let holdings = (!holdings.is_empty()).then(|| Mutex::new(holdings));
        if holdings.is_some() {
            desk.at_most(1);
        }
        let config = config.clone();
        Ok(Self {
            hub,
            desk,
            shared: Arc::new(Shared { config, chosen, offers: known, holdings, wrap: None }),
            attempts: Attempts::default(),
            ended: 0,
            results: channel(),
            asked: Arc::new(AtomicBool::new(false)),
            notes: quiet(),
            waits: (Vec::new(), Instant::now(), false),
        })
    }

    /// Has somebody told who is missing, who can't take part, and who was turned away.
    pub fn tell(&mut self, notes: Notes) {
        self.hub.tell(notes.clone());
        self.notes = notes;
    }

    /// Stops after so many attempts instead of [`MOST_ATTEMPTS`](crate::MOST_ATTEMPTS); with `None` never, not even when a
    /// check failed.
    pub fn stop_after(&mut self, most: Option<u64>) {
        self.attempts.stop_after(most);
    }

    /// What ends it from elsewhere.
    pub fn drain(&self) -> Drain {
        Drain { asked: self.asked.clone(), waker: self.hub.waker() }
    }

    /// How many connections that stay have come about so far: runs make none.
    pub fn connections(&self) -> u64 {
        self.hub.connections()
    }

    /// Runs over what this makes of a run's links, to see what others make of a party that deviates.
    #[doc(hidden)]
    pub fn wrap(&mut self, wrap: impl Fn(Lent) -> Box<dyn Transport> + Send + Sync + 'static) {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.wrap = Some(Arc::new(wrap));
        }
    }

    /// Serves until it is asked to end ([`Drain`]), has had its runs, or must stop. `told` hears of each run that has ended.
    ///
    /// # Errors
    /// [`Error::Stopped`] after a failed check or too many attempts; that of a run after which no other could go well; that
    /// of `told`.
    pub fn serve<E: From<Error>>(
        &mut self,
        told: &mut dyn FnMut(Served<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let news = self.hub.next(self.pause()).map_err(Error::Setup)?;
            for item in news {
                self.heard(item);
            }
            while let Ok((proposal, result)) = self.results.1.try_recv() {
                self.has_ended(&proposal, result, told)?;
            }
            if self.asked.load(Ordering::SeqCst) {
                self.desk.close(&mut self.hub, "drains: it ends once the runs under way have ended");
            }
            if self.desk.is_done() && self.desk.is_idle() {
                return Ok(());
            }
            self.desk.tend(&mut self.hub, Instant::now());
            self.tell_waits();
        }
    }

    fn pause(&self) -> Option<Duration> {
        let (missing, since, told) = &self.waits;
        let untold = !missing.is_empty() && !told;
        let tells = untold.then(|| PATIENCE.saturating_sub(since.elapsed()));
        self.desk.pause(Instant::now()).into_iter().chain(tells).min()
    }

    fn heard(&mut self, item: News) {
        match item {
            News::Came { guest, client } => self.desk.came(guest, client),
            News::Left { who } => self.desk.left(&mut self.hub, who),
            News::Said { by, message } => {
                if let Some(begun) = self.desk.said(&mut self.hub, by, &message) {
                    self.begin(begun);
                }
            }
            _ => {}
        }
    }

    /// Plays a run in a thread of its own.
    fn begin(&self, begun: Begun) {
        let Begun { proposal, links } = begun;
        let (shared, sender, waker) = (self.shared.clone(), self.results.0.clone(), self.hub.waker());
        std::thread::spawn(move || {
            let play = std::panic::AssertUnwindSafe(|| play(&shared, &proposal, links));
            let result = std::panic::catch_unwind(play).unwrap_or_else(|_| {
                Err(Error::Feed("this party's part in it panicked, which is a fault of Tacit's".to_owned()))
            });
            // If the server is gone, nobody asks.
            let _ = sender.send((proposal, result));
            waker.wake();
        });
    }

    fn has_ended<E: From<Error>>(
        &mut self,
        proposal: &Proposal,
        result: Result<Run, Error>,
        told: &mut dyn FnMut(Served<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.desk.ended(proposal.run, result.is_ok());
        self.ended += 1;
        if let Err(error) = &result {
            self.attempts.note(error);
            // Each that is under way may be one more.
            self.desk.at_most(self.attempts.left());
        }
        let Some(offer) = self.shared.offers.get(&proposal.program) else { return Ok(()) };
        let is_lasting = result.as_ref().is_err_and(is_lasting);
        let clients = proposal.players.iter();
        let clients = clients.map(|(player, _)| (player.plays.clone(), player.client.clone())).collect();
        let (number, attempts) = (self.ended, self.attempts.count());
        if is_lasting && let Err(error) = result {
            return Err(error.into());
        }
        let written = told(Served { number, compiled: &offer.compiled, clients, result, attempts });
        // That it stops for good comes first, whether or not anybody reads what is told.
        self.attempts.admit()?;
        written
    }

    /// Tells which names are still to be played, once they have been for a while.
    fn tell_waits(&mut self) {
        let missing = self.desk.missing();
        if self.waits.0 != missing {
            self.waits = (missing, Instant::now(), false);
        }
        let (missing, since, told) = &mut self.waits;
        if !missing.is_empty() && !*told && since.elapsed() >= PATIENCE {
            *told = true;
            let names: Vec<&str> = missing.iter().map(String::as_str).collect();
            (self.notes)(Note::Waiting(&names));
        }
    }

    /// Attempts so far ([`Error::is_attempt`]).
    pub fn attempts(&self) -> u64 {
        self.attempts.count()
    }
}

/// Whether every later run would fail likewise.
fn is_lasting(error: &Error) -> bool {
    use Error::{NoMaterial, NotDestroyed, Program, Refused, Store, Value};
    matches!(error, Refused(_) | Value(_) | Program(_) | Store(_) | NoMaterial(_) | NotDestroyed { .. })
}

/// A party's part in a run.
fn play(shared: &Shared, proposal: &Proposal, links: Lent) -> Result<Run, Error> {
    let Shared { config, chosen, offers, holdings, wrap } = shared;
    let Some(offer) = offers.get(&proposal.program) else {
        return Err(Error::Refused("a run began of a program that isn't served".to_owned()));
    };
    let players: Vec<Player> = proposal.players.iter().map(|(player, _)| player.clone()).collect();
    let needs = players.iter().map(|player| player.plays.clone()).collect();
    let endpoint = endpoint_of(config, &offer.compiled, chosen.protocol.clone(), needs)?;
    let endpoint = endpoint.bound_to(bound(proposal.run, &players));
    let mut held = holdings.as_ref().map(|held| held.lock().unwrap_or_else(PoisonError::into_inner));
    let (store, state) = match held.as_deref_mut() {
        Some(Holdings { store, state }) => (store.as_mut(), state.as_mut()),
        None => (None, None),
    };
    let given = Given::Values(vec![offer.inputs.iter().map(Option::as_ref).collect()]);
    let own = match state {
        Some((state, fill)) if offer.compiled.has_residents() => {
            let residents = Residents { state, fill, store };
            Own::on(given, residents, &endpoint)?
        }
        _ => Own { given, source: store.map_or(Source::InRun, Kept::source), residents: None },
    };
    let transport: Box<dyn Transport> = match wrap {
        Some(wrap) => wrap(links),
        None => Box::new(links),
    };
    let mesh = mesh(transport, config, config.me(), &players, config.limits());
    let runs = run_over(config.me(), chosen, &[endpoint], own, &|_, _| (), || Ok(vec![mesh]));
    Ok(runs?.swap_remove(0))
}

/// The mesh of a run: parties, then the clients that play in it.
pub(crate) fn mesh(
    links: Box<dyn Transport>,
    config: &Config,
    me: usize,
    players: &[Player],
    limits: &Limits,
) -> Mesh {
    let parties = config.parties().iter().map(|party| &party.name);
    let names = parties.chain(players.iter().map(|player| &player.client)).cloned().collect();
    Mesh::new(links, me, names, limits.clone())
}
