//! A party that serves: its links stay, runs come and go.

mod ended;
mod filled;
mod play;
mod room;
pub(super) mod shared;
mod wanted;

use super::asker::Asked;
use super::batch;
use super::control::{FILLING, MEASURE, Proposal};
use super::desk::{Begun, Desk, MEASURED_AGAIN, Want};
use super::filler::Filler;
use super::gauges::Gauges;
use super::quota::Quota;
use super::serving::{Holdings, Offer, Serving};
use crate::attempts::Attempts;
use crate::compiled::Compiled;
use crate::endpoint::{Endpoint, hex};
use crate::error::Error;
use crate::lanes::admitted_lanes;
use crate::registry::Chosen;
use crate::report::Run;
use crate::run::endpoint_of;
use crate::state::keeping::NO_STATE;
use room::Room;
use shared::{Ended, Known, Ready, Shared};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tacit_engine::Participants;
use tacit_net::setup::{Config, Hub, News, Note, Notes, Vacant, Waker, quiet};
use tacit_net::stream::Lent;
use tacit_net::{Profile, Shaped, Transport};
use tacit_program::Value;

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
}

/// A party that serves programs. Its links to the other parties and to clients stay from run to run.
///
/// Only the programs that it was given run here, by their hashes. A check that fails ends it ([`Error::Stopped`]) with all runs
/// under way, as do too many runs that end in the middle of one, over all lanes together.
pub struct Server {
    hub: Hub,
    desk: Desk,
    shared: Arc<Shared>,
    attempts: Attempts,
    ended: u64,
    results: (Sender<Ended>, Receiver<Ended>),
    asked: Arc<AtomicBool>,
    /// Ends the runs under way.
    ends: Arc<AtomicBool>,
    notes: Notes,
    /// The names that requests wait for.
    waits: Vacant<String>,
    gauges: Gauges,
    /// Hears of fillings of the store, and why there was none last.
    hears: filled::Hears,
    unfilled: String,
    /// When a filling is ended wherever it is, since this party begins nothing more.
    filling_ends: Option<Instant>,
    failures: Quota,
    /// Runs at a time at most.
    most: usize,
    room: Room,
    /// Runs that this process asks for.
    asked_for: (Sender<Asked>, Receiver<Asked>),
    /// The programs of those, ready to run.
    expected: HashMap<[u8; 32], Arc<Endpoint>>,
    /// What is ready for each run that is wanted, and those that are under way.
    wanted: HashMap<Want, Ready>,
    begun: HashMap<u64, Sender<Result<Run, Error>>>,
    /// Whether it serves no more, for those who ask.
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Opens the port of a party's configuration, to serve these programs.
    ///
    /// # Errors
    /// [`Error::Setup`] if a file is wrong or the port can't be had; [`Error::Refused`] if a program can't run so.
    pub fn open(config: &Config, offers: Vec<Offer>, serving: Serving) -> Result<Self, Error> {
        let chosen = Chosen::of(&serving.protocol)?;
        let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let (mut programs, mut known) = (HashMap::new(), HashMap::new());
        for offer in offers {
            let compiled = &offer.compiled;
            let needs = Participants::clients_of(compiled.plan(), &parties);
            let endpoint = endpoint_of(config, compiled, chosen.protocol.clone(), needs.clone())?;
            if compiled.has_residents() && serving.holdings.state.is_none() {
                return Err(Error::Refused(NO_STATE.to_owned()));
            }
            if config.me() < parties.len() {
                let given: Vec<Option<&Value>> = offer.inputs.iter().map(Option::as_ref).collect();
                endpoint.encode(config.me(), &given)?;
            }
            programs.insert(compiled.hash(), needs);
            known.insert(compiled.hash(), Known { offer, endpoint });
        }
        let hub = Hub::open(config, serving.at_once)?;
        for name in &serving.open {
            if hub.owner(name).is_some() {
                return Err(Error::Refused(format!(
                    "{name} is a client's name, which that client alone plays: it can't be open to others"
                )));
            }
            if !programs.values().any(|needs: &Vec<String>| needs.contains(name)) {
                return Err(Error::Refused(format!("no program has a name {name:?} for clients to play")));
            }
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let first = if config.me() == 0 { since.as_micros() as u64 } else { 0 };
        let attempts = Attempts::default();
        let most = runs_at_once(&chosen, &serving);
        let (name, bounds) = (chosen.to_string(), (most, attempts.left()));
        let filler = Filler::of(&serving, &chosen, &parties, config.me())?.map(Arc::new);
        let mut desk = Desk::new(config.me(), parties, name, programs, &serving, bounds, first);
        let room = Room { bytes: serving.memory, runs: most };
        for (program, Known { endpoint, .. }) in &known {
            // What a store has is for the one program.
            let instances =
                if serving.holdings.store.is_some() { 1 } else { batch::most(endpoint, serving.batch) };
            room.holds(&endpoint.compiled, instances)?;
            desk.batch(*program, instances);
        }
        if let Some((_, fill)) = &serving.holdings.state {
            fill.refuse_unknown(known.values().map(|known| known.offer.compiled.program()))?;
            let alone = |known: &&Known| known.endpoint.clients.is_empty();
            if known.values().filter(alone).any(|known| fill.leaves(known.offer.compiled.program())) {
                let reason =
                    "a program of parties alone has no request that says which rows or values it is about";
                return Err(Error::Refused(reason.to_owned()));
            }
            let those = known.values().map(|known| &known.offer.compiled).filter(|one| one.has_residents());
            let residents = those.map(|compiled| (compiled.hash(), compiled.clone())).collect();
            desk.resides(residents, fill.clone());
        }
        if !chosen.open.is_empty() && serving.holdings.store.is_none() {
            desk.measures(Instant::now());
        }
        if let Some(filler) = &filler {
            desk.fills(filler.level());
        }
        let gauges = Gauges::of(filler.clone());
        let Holdings { store, state } = serving.holdings;
        let (state, fill) = state.unzip();
        let (store, fill) = (store.map(Mutex::new), fill.unwrap_or_default());
        let state = state.map(|state| Arc::new(Mutex::new(state)));
        let config = config.clone();
        Ok(Self {
            hub,
            desk,
            shared: Arc::new(Shared {
                config,
                chosen,
                offers: known,
                store,
                filler,
                state,
                fill,
                wrap: None,
                measured: Mutex::default(),
            }),
            attempts,
            ended: 0,
            results: channel(),
            asked: Arc::new(AtomicBool::new(false)),
            ends: Arc::new(AtomicBool::new(false)),
            notes: quiet(),
            waits: Vacant::default(),
            gauges,
            hears: Box::new(|_| {}),
            unfilled: String::new(),
            filling_ends: None,
            failures: Quota::default(),
            most,
            room,
            asked_for: channel(),
            expected: HashMap::new(),
            wanted: HashMap::new(),
            begun: HashMap::new(),
            is_over: Arc::default(),
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
        self.desk.bear(self.attempts.left());
    }

    pub(super) fn config(&self) -> &Config {
        &self.shared.config
    }

    /// What ends it from elsewhere.
    pub fn drain(&self) -> Drain {
        Drain { asked: self.asked.clone(), waker: self.hub.waker() }
    }

    /// How it stands, for other threads to read while it serves.
    pub fn gauges(&self) -> Gauges {
        self.gauges.clone()
    }

    /// How many connections that stay have come about so far: runs make none.
    pub fn connections(&self) -> u64 {
        self.hub.connections()
    }

    /// What all runs share, for tests.
    #[cfg(test)]
    pub(super) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Has nothing measured between runs for a while.
    #[cfg(test)]
    pub(super) fn measure_later(&mut self) {
        self.desk.measures(Instant::now() + MEASURED_AGAIN);
    }

    /// Runs over what this makes of a run's links, to see what others make of a party that deviates.
    #[doc(hidden)]
    pub fn wrap(&mut self, wrap: impl Fn(Lent) -> Box<dyn Transport> + Send + Sync + 'static) {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.wrap = Some(Arc::new(wrap));
        }
    }

    /// Holds the links of runs among the parties alone to what a network would do, to measure on one machine: all parties have to.
    /// Runs in which clients play go as they are, and so does what proposes runs, some two round trips for each.
    pub fn shape(&mut self, profile: Profile) {
        let config = &self.shared.config;
        let names: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let me = config.me();
        self.wrap(move |links| {
            if links.is_linked(names.len()) {
                return Box::new(links);
            }
            Box::new(Shaped::new(Box::new(links), me, &names, &profile))
        });
    }

    /// Serves until it is asked to end ([`Drain`]), has had its runs, or must stop. `told` hears of each run that has ended.
    /// Once it has stopped, another call begins nothing, unless it was told to go on ([`Server::stop_after`]).
    ///
    /// # Errors
    /// [`Error::Stopped`] after a failed check or too many attempts; that of a run after which no other could go well; that
    /// of `told`.
    pub fn serve<E: From<Error>>(
        &mut self,
        told: &mut dyn FnMut(Served<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.is_over.store(false, Ordering::SeqCst);
        let done = self.attempts.admit().map_err(E::from).and_then(|()| self.serve_on(told));
        self.end_asked();
        if let Some(filler) = &self.shared.filler {
            filler.end();
        }
        done
    }

    fn serve_on<E: From<Error>>(
        &mut self,
        told: &mut dyn FnMut(Served<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.look_at_store();
        loop {
            let news = self.hub.next(self.pause()).map_err(Error::Setup)?;
            // First what has ended: it may be the last, and what is new may begin a run.
            while let Ok(ended) = self.results.1.try_recv() {
                self.has_ended(ended, told)?;
            }
            self.take_asked();
            for item in news {
                self.heard(item);
            }
            if self.asked.load(Ordering::SeqCst) {
                self.desk.close(&mut self.hub);
            }
            self.stop_filling();
            if self.desk.is_done() && self.desk.is_idle() {
                self.tell_failed();
                return Ok(());
            }
            self.desk.tend(&mut self.hub, Instant::now());
            self.tell_failed();
            self.tell_waits();
            self.gauges.set(&self.hub, &self.desk, self.most, self.attempts.count());
        }
    }

    fn pause(&self) -> Option<Duration> {
        let filling = self.filling_ends.map(|then| then.saturating_duration_since(Instant::now()));
        self.desk.pause(Instant::now()).into_iter().chain(self.waits.pause()).chain(filling).min()
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
    fn begin(&mut self, begun: Begun) {
        let Begun { proposal, mut links } = begun;
        let Proposal { run, lane, players, .. } = &proposal;
        let fills = self.shared.filler.as_ref().filter(|_| proposal.program == FILLING);
        if fills.is_some() {
            tracing::info!(run, lane, level = proposal.tag, "filling begins");
        } else {
            tracing::info!(
                run,
                lane,
                program = hex(&proposal.program),
                clients = players.len(),
                "run begins"
            );
        }
        links.end_with(fills.map_or_else(|| self.ends.clone(), |filler| filler.begins()));
        let (shared, sender, waker) = (self.shared.clone(), self.results.0.clone(), self.hub.waker());
        let ready = self.wanted.remove(&(proposal.program, proposal.tag.clone()));
        if let Some(ready) = &ready {
            ready.job.has_begun.store(true, Ordering::SeqCst);
            self.begun.insert(*run, ready.job.sender.clone());
        }
        std::thread::spawn(move || {
            let play = std::panic::AssertUnwindSafe(|| match &ready {
                Some(ready) => play::play_wanted(&shared, &proposal, ready, links),
                None => (play::play(&shared, &proposal, links), None),
            });
            let (result, late) = std::panic::catch_unwind(play).unwrap_or_else(|_| {
                let reason = "this party's part in it panicked, which is a fault of Tacit's";
                (Err(Error::Feed(reason.to_owned())), None)
            });
            // Here, where nobody waits for it but the next run.
            if let Some(filler) = &shared.filler {
                filler.tidy();
            }
            // Whoever hears of the end may open the store anew.
            drop(shared);
            // If the server is gone, nobody asks.
            let _ = sender.send(Ended { proposal, result, late });
            waker.wake();
        });
    }

    fn has_ended<E: From<Error>>(
        &mut self,
        ended: Ended,
        told: &mut dyn FnMut(Served<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.note(&ended);
        self.look_at_store();
        let Ended { proposal, result, .. } = ended;
        let proposal = &proposal;
        if proposal.program == FILLING {
            return self.has_filled(proposal.run, result).map_err(E::from);
        }
        if matches!(result, Err(Error::NoMaterial(_))) {
            self.desk.is_low();
        }
        if proposal.program == MEASURE {
            if let Err(error) = &result {
                tracing::warn!(run = proposal.run, error = error.to_string(), "links were not measured");
                self.desk.measures(Instant::now() + MEASURED_AGAIN / 10);
            }
            return Ok(());
        }
        if let Some(asker) = self.begun.remove(&proposal.run) {
            return self.tell_asker(proposal, result, &asker).map_err(E::from);
        }
        let shared = self.shared.clone();
        let Some(Known { offer, endpoint }) = shared.offers.get(&proposal.program) else {
            return Ok(());
        };
        // What is lacking is made, where that is done meanwhile.
        let is_lacking = self.shared.filler.is_some() && matches!(result, Err(Error::NoMaterial(_)));
        let is_lasting = !is_lacking && result.as_ref().is_err_and(|error| is_lasting(error, proposal));
        let batch = batch::in_run(endpoint, proposal.players.len()).ok().and_then(|(_, batch)| batch);
        let (compiled, names) = match &batch {
            Some(batch) => (&batch.compiled, batch.names()),
            None => (&offer.compiled, endpoint.clients.clone()),
        };
        let clients = proposal.players.iter().map(|(player, _)| player.client.clone());
        let clients = names.into_iter().zip(clients).collect();
        let (number, attempts) = (self.ended, self.attempts.count());
        let admitted = self.attempts.admit();
        if admitted.is_err() {
            // The others under way end at once: whoever deviates in one has no other try in them.
            self.end_all();
        }
        play::log_end(proposal, &result, &mut self.failures);
        if is_lasting && let Err(error) = result {
            return Err(error.into());
        }
        let written = told(Served { number, compiled, clients, result, attempts });
        // That it stops for good comes first, whether or not anybody reads what is told.
        admitted?;
        written
    }

    /// Tells which names are still to be played, once they have been for a while.
    fn tell_waits(&mut self) {
        let missing = self.desk.missing();
        if self.waits.is_to_be_told(&missing) {
            let names: Vec<&str> = missing.iter().map(String::as_str).collect();
            (self.notes)(Note::Waiting(&names));
        }
    }

    /// Attempts so far ([`Error::is_attempt`]).
    pub fn attempts(&self) -> u64 {
        self.attempts.count()
    }
}

/// Whether no run after this could go well. What a request of clients comes to says nothing of others: only this party's own
/// trouble does, such as with its store, or a panic ([`Error::Feed`]).
fn is_lasting(error: &Error, proposal: &Proposal) -> bool {
    use Error::{Aborted, Feed, NoMaterial, NotDestroyed, Program, Refused, Store, Value};
    match error {
        // Clients that leave give back what they have.
        Store(tacit_store::Error::TooManyOpen { .. }) => false,
        // A store that is closed in a run is as good as before once it is opened anew.
        Aborted { cause: tacit_engine::Error::Store(tacit_store::Error::Closed), .. }
        | Store(_)
        | NotDestroyed { .. }
        | Feed(_) => true,
        Refused(_) | Value(_) | Program(_) | NoMaterial(_) => proposal.players.is_empty(),
        _ => false,
    }
}

/// Runs that may be under way together. A store is one run's at a time; what is kept is read by several, and runs that keep
/// something take turns. A failed check ends all, and a run of a protocol that promises fairness may be in the midst of its
/// outputs then, which is why it has no lanes either.
fn runs_at_once(chosen: &Chosen, serving: &Serving) -> usize {
    let is_one = serving.holdings.store.is_some() || admitted_lanes(&*chosen.protocol, 2).is_err();
    if is_one { 1 } else { serving.at_once.into() }
}

#[cfg(test)]
mod tests {
    use super::super::control::Player;
    use super::*;
    use crate::state::fill::Fill;
    use crate::state::values::State;

    pub(super) fn proposal(clients: &[&str]) -> Proposal {
        let player = |client: &&str| {
            let plays = (*client).to_owned();
            (Player { client: plays.clone(), plays, print: None }, 1)
        };
        let players = clients.iter().map(player).collect();
        let fill = Fill::new();
        Proposal { run: 1, lane: 1, program: [0; 32], tag: String::new(), fill, players }
    }

    #[test]
    fn what_a_client_asks_for_ends_no_server() {
        let (asked, own) = (proposal(&["alice"]), proposal(&[]));
        let refused = Error::Refused("nothing is kept by that name".into());
        assert!(!is_lasting(&refused, &asked) && is_lasting(&refused, &own));
        let closed = tacit_store::Error::Closed;
        let in_run = Error::Aborted { lane: None, at: None, attempt: false, cause: closed.clone().into() };
        for error in [Error::Store(closed), in_run, Error::Feed("it panicked".into())] {
            assert!(is_lasting(&error, &asked) && is_lasting(&error, &own), "{error}");
        }
        let full = tacit_store::Error::TooManyOpen { doing: "open", path: "state".into() };
        assert!(!is_lasting(&Error::Store(full), &asked));
    }

    #[test]
    fn runs_that_one_another_can_harm_take_turns() {
        let runs = |protocol: &str, state: Option<(State, Fill)>| {
            let serving = Serving { holdings: Holdings { store: None, state }, ..Serving::new(protocol, 4) };
            runs_at_once(&Chosen::of(protocol).unwrap(), &serving)
        };
        assert_eq!(["replicated", "astra-malicious", "gmw"].map(|name| runs(name, None)), [4; 3]);
        assert_eq!(runs("astra-fair", None), 1);
        assert_eq!(runs("replicated", Some((State::new(), Fill::new()))), 4);
    }
}
