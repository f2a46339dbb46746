//! One party or client of a deployment on several machines.

use crate::attempts::Attempts;
use crate::endpoint::{Endpoint, Once};
use crate::lanes::{LaneInputs, Strand, Tally, Told, admitted_lanes, clients_of, play_lanes};
use crate::local::outcome;
use crate::report::Traffic;
use crate::{Compiled, Error, Progress, Report, Run, is_open, negotiate, players, price_lanes, protocol};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit_engine::{Clear, Outcome, Protocol};
use tacit_net::Mesh;
use tacit_net::setup::{Config, Listener, Notes, connect_lanes, quiet};
use tacit_net::stream::StreamTransport;
use tacit_program::Value;

/// A seat in a deployment. A party's keeps its port open, and every run brings the others together anew.
///
/// A party's also keeps account of attempts to get past its checks ([`Error::is_attempt`]): after a check that failed, or too
/// many attempts, it runs nothing more ([`Error::Stopped`]) unless it is told to ([`Seat::stop_after`]).
///
/// If the configuration has a window ([`Config::window`]), all that is run here has it, whatever was compiled.
pub struct Seat {
    config: Config,
    /// A party's; clients call, and nobody calls them.
    listener: Option<Listener>,
    attempts: Attempts,
    notes: Notes,
}

impl Seat {
    /// Reads `parties.toml` and, for a party, opens its port.
    pub fn open(config: &Path) -> Result<Self, Error> {
        Self::with(Config::load(config)?)
    }

    /// Takes the seat that a configuration describes.
    pub fn with(config: Config) -> Result<Self, Error> {
        let listener = if config.is_client() { None } else { Some(Listener::bind(&config)?) };
        Ok(Self { config, listener, attempts: Attempts::default(), notes: quiet() })
    }

    /// Runs so far that ended in a failed check or, whoever lost whom, in the middle of one; of a client none count.
    pub fn attempts(&self) -> u64 {
        self.attempts.count()
    }

    /// Stops after so many attempts instead of [`MOST_ATTEMPTS`](crate::MOST_ATTEMPTS); with `None` never, not even when a
    /// check failed. For whoever decides it by hand: each further run gives one who deviates another chance.
    pub fn stop_after(&mut self, most: Option<u64>) {
        self.attempts.stop_after(most);
    }

    /// Whether this seat runs anything more.
    ///
    /// # Errors
    /// [`Error::Stopped`] if not.
    pub fn may_run(&self) -> Result<(), Error> {
        self.attempts.admit()
    }

    /// Does what can end in a failed check, and notes it.
    pub(crate) fn counted<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.may_run()?;
        let result = run(self);
        if let Err(error) = &result
            && self.is_party()
        {
            self.attempts.note(error);
        }
        result
    }

    /// Has somebody told for whom this party or client waits at the start of a run, and who called a party and was turned
    /// away.
    pub fn tell(&mut self, notes: Notes) {
        if let Some(listener) = &mut self.listener {
            listener.tell(notes.clone());
        }
        self.notes = notes;
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// This endpoint's name.
    pub fn name(&self) -> String {
        self.config.names().swap_remove(self.config.me())
    }

    /// Where others reach this party; nothing for a client.
    pub fn address(&self) -> &str {
        self.config.parties().get(self.config.me()).map_or("", |party| &party.address)
    }

    /// Whether this is a computing party; else it is a client.
    pub fn is_party(&self) -> bool {
        self.listener.is_some()
    }

    /// The names of the parties, in order.
    pub fn parties(&self) -> Vec<String> {
        self.config.parties().iter().map(|party| party.name.clone()).collect()
    }

    /// Runs a program once, with everybody whom it names. `inputs` has a value for each input that this endpoint
    /// gives, by the index of the input, and `None` for the others. Waits for the others for as long as the
    /// configuration's limit says. If the protocol's name leaves something to the network ([`is_open`]), that is measured
    /// first and all is [negotiated](crate::negotiate).
    pub fn run(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let within = self.config.limits().connect;
        self.run_within(compiled, protocol_name, inputs, progress, within)
    }

    /// As [`Seat::run`], waiting for the others for another time: a server that stays up waits long.
    pub fn run_within(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Run, Error> {
        let mut lanes = self.run_lanes(&[(compiled, inputs)], protocol_name, progress, within)?;
        Ok(lanes.swap_remove(0))
    }

    /// Runs several programs side by side, each in a lane of its own, which is a thread and a set of links of every
    /// endpoint: what came out and what it took, lane by lane. Everybody must run the same programs in the same
    /// lanes, and all of them must name the same clients. Else as [`Seat::run_within`].
    ///
    /// # Errors
    /// Of the lane that failed first; then there are no results of others either.
    pub fn run_lanes(
        &mut self,
        jobs: &[LaneInputs<'_, Option<Value>>],
        protocol_name: &str,
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Vec<Run>, Error> {
        self.counted(|seat| seat.run_lanes_once(jobs, protocol_name, progress, within))
    }

    fn run_lanes_once(
        &mut self,
        jobs: &[LaneInputs<'_, Option<Value>>],
        protocol_name: &str,
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Vec<Run>, Error> {
        jobs.iter().try_for_each(|(compiled, _)| refuse_debug(compiled))?;
        let protocol = protocol(protocol_name)?;
        let count = admitted_lanes(protocol, jobs.len())?;
        clients_of(jobs.iter().map(|(compiled, _)| *compiled), &self.parties())?;
        let mut lanes = Vec::with_capacity(jobs.len());
        for &(compiled, inputs) in jobs {
            let endpoint = self.endpoint(compiled, protocol)?;
            let values = self.encode(&endpoint, inputs)?;
            lanes.push((endpoint, values));
        }
        // All lanes have the same clients.
        let meshes = lanes.first().map(|(endpoint, _)| self.gather(endpoint, count, within));
        let mut meshes = meshes.transpose()?.unwrap_or_default();
        let start = Instant::now();
        let mut comparison = None;
        if is_open(protocol_name)? && !meshes.is_empty() {
            let (endpoint, _) = &lanes[0];
            let compiled = || lanes.iter().map(|(endpoint, _)| &endpoint.compiled);
            let price = |name: &str| price_lanes(compiled(), name, &endpoint.parties);
            let (mesh, settled) = negotiate(meshes.remove(0), endpoint, protocol_name, price)?;
            meshes.insert(0, mesh);
            for ((endpoint, values), &(_, inputs)) in lanes.iter_mut().zip(jobs) {
                *endpoint = endpoint.under(settled.protocol)?;
                // The plan may be another one.
                *values = self.encode(endpoint, inputs)?;
            }
            comparison = settled.comparison;
        }
        let tally = Tally::new(progress);
        let once = |(endpoint, inputs)| ((endpoint, tally.lane()), Once::new(inputs));
        let (mut lanes, mut feeds): (Vec<_>, Vec<_>) = lanes.into_iter().map(once).unzip();
        let mut strands = Vec::with_capacity(lanes.len());
        for (((endpoint, observer), mesh), feed) in lanes.iter_mut().zip(meshes).zip(&mut feeds) {
            strands.push(Strand { endpoint, mesh, feed, observer });
        }
        let parts = play_lanes(strands)?;
        let parts = feeds.into_iter().map(|once| once.outputs).zip(parts).map(outcome);
        let elapsed = start.elapsed();
        let run = |((endpoint, _), (outcome, traffic)): (&(Endpoint, Told<'_>), (Outcome, Traffic))| {
            let players = players(endpoint.protocol, &endpoint.parties);
            let endpoints = vec![(self.name(), traffic)];
            let (rounds, comparison) = (outcome.rounds, comparison.clone());
            let report = Report { endpoints, rounds, elapsed, players, comparison, material: None };
            Ok(Run { outputs: endpoint.compiled.decode_all(&outcome.outputs)?, report })
        };
        lanes.iter().zip(parts).map(run).collect()
    }

    /// What this seat has to know of a program to take part in a run of it.
    fn endpoint(&self, compiled: &Arc<Compiled>, protocol: &'static dyn Protocol) -> Result<Endpoint, Error> {
        let compiled = match self.config.window() {
            Some(bytes) => compiled.clone().with_window(bytes),
            None => compiled.clone(),
        };
        let clients = self.config.clients().iter().map(|client| client.name.clone()).collect();
        Endpoint::new(&compiled, protocol, self.parties(), clients)
    }

    /// The same for what only parties do: make material, and take it from stores.
    pub(crate) fn party_endpoint(
        &self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
    ) -> Result<Endpoint, Error> {
        if !self.is_party() {
            let reason = "makes no material and has no store: parties do that";
            return Err(Error::Refused(format!("{} is a client; it {reason}", self.name())));
        }
        refuse_debug(compiled)?;
        self.endpoint(compiled, protocol(protocol_name)?)
    }

    /// Checks that exactly this endpoint's inputs are given, and that they are as declared.
    pub(crate) fn encode(
        &self,
        endpoint: &Endpoint,
        inputs: &[Option<Value>],
    ) -> Result<Vec<Option<Clear>>, Error> {
        let compiled = &endpoint.compiled;
        let me = self.config.me();
        let mine = |input: usize| endpoint.participants.endpoint(compiled.plan().inputs[input].owner) == me;
        (0..compiled.inputs().len())
            .map(|input| {
                let declared = &compiled.inputs()[input];
                match (inputs.get(input).and_then(Option::as_ref), mine(input)) {
                    (Some(value), true) => compiled.encode(input, value).map(Some),
                    (None, false) => Ok(None),
                    (None, true) => Err(Error::Refused(format!(
                        "no value for input {:?}, which is {}'s to give",
                        declared.name, declared.owner
                    ))),
                    (Some(_), false) => Err(Error::Refused(format!(
                        "input {:?} is {}'s to give, and this is {}",
                        declared.name,
                        declared.owner,
                        self.name()
                    ))),
                }
            })
            .collect()
    }

    /// The links to all others, in each of so many lanes.
    pub(crate) fn gather(
        &mut self,
        endpoint: &Endpoint,
        lanes: u16,
        within: Duration,
    ) -> Result<Vec<Mesh>, Error> {
        self.gather_with(endpoint.participants.clients(), lanes, within)
    }

    /// The same, to all parties and these clients.
    pub(crate) fn gather_with(
        &mut self,
        clients: &[usize],
        lanes: u16,
        within: Duration,
    ) -> Result<Vec<Mesh>, Error> {
        let me = self.config.me();
        let transports: Vec<StreamTransport> = match &mut self.listener {
            Some(listener) => listener.gather_lanes(clients, lanes, within)?,
            None if clients.contains(&me) => {
                connect_lanes(&self.config, clients, lanes, within, &self.notes)?
            }
            None => {
                return Err(Error::Refused(format!(
                    "the program doesn't name {}: it neither gives an input nor learns an output",
                    self.name()
                )));
            }
        };
        let mesh =
            |transport| Mesh::new(Box::new(transport), me, self.config.names(), self.config.limits().clone());
        Ok(transports.into_iter().map(mesh).collect())
    }
}

fn refuse_debug(compiled: &Compiled) -> Result<(), Error> {
    if !compiled.is_debug() {
        return Ok(());
    }
    let reason =
        "a debug run reveals everything: it is for made-up data in one process, not for a deployment";
    Err(Error::Refused(reason.to_owned()))
}
