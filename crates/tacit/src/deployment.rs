//! One party or client of a deployment on several machines.

use crate::attempts::Attempts;
use crate::compiled::Compiled;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::kept::Source;
use crate::lanes::{LaneInputs, admitted_lanes, clients_of, lane_count};
use crate::living::client::{Wish, ask};
use crate::progress::Progress;
use crate::registry::Chosen;
use crate::report::Run;
use crate::run::{Given, Own, endpoint_of, run_over};
use crate::state::fill::Fill;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tacit_engine::{Participants, Protocol};
use tacit_net::Mesh;
use tacit_net::setup::{Attendance, Config, Listener, Notes, SetupError, connect_lanes, quiet};
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
    /// Whether a client has found that the parties serve, and its links to them.
    serves: bool,
    links: Option<Attendance>,
    plays: Option<String>,
    tag: String,
    fill: Fill,
}

impl Seat {
    /// Reads `parties.toml` and, for a party, opens its port.
    ///
    /// # Errors
    /// [`Error::Setup`] if a file is wrong, or the port can't be opened.
    pub fn open(config: &Path) -> Result<Self, Error> {
        Self::with(Config::load(config)?)
    }

    /// Takes the seat that a configuration describes.
    ///
    /// # Errors
    /// [`Error::Setup`] if the port can't be opened.
    pub fn with(config: Config) -> Result<Self, Error> {
        let listener = if config.is_client() { None } else { Some(Listener::bind(&config)?) };
        let (attempts, notes, tag, fill) = (Attempts::default(), quiet(), String::new(), Fill::new());
        Ok(Self { config, listener, attempts, notes, serves: false, links: None, plays: None, tag, fill })
    }

    /// Has a client play this name of programs, instead of its own, in deployments that serve ([`Server`](crate::Server)). The
    /// parties refuse a name that is another client's.
    pub fn play(&mut self, name: Option<String>) {
        self.plays = name;
    }

    /// Has a client meet those alone in its runs who give the same tag, in deployments that serve.
    pub fn tag(&mut self, tag: String) {
        self.tag = tag;
    }

    /// Has a client choose which rows of kept tables its runs read or keep, or which values, in deployments that
    /// serve. The parties refuse what they don't leave to requests ([`Serving`](crate::Serving)). What is chosen all
    /// parties see.
    pub fn choose(&mut self, fill: Fill) {
        self.fill = fill;
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
    /// configuration's limit says. If the protocol's name leaves something to the network
    /// ([`is_open`](crate::is_open)), that is measured first and all is [negotiated](crate::negotiate).
    ///
    /// # Errors
    /// [`Error::Refused`] and [`Error::Value`] before anything is sent, [`Error::Setup`] if the others don't come,
    /// [`Error::Aborted`] if anything goes wrong in the run, and [`Error::Stopped`] if this seat runs nothing more.
    ///
    /// # Security
    /// A run that ends with an error gave no output. After a failed check don't just run again: see [`Seat::stop_after`].
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

    /// As [`Seat::run`], waiting for the others for another time: a server that stays up waits long. It counts from
    /// this call on, for a client of a deployment that lives with the time in which its request waits behind others'
    /// runs.
    ///
    /// # Errors
    /// As [`Seat::run`].
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
        name: &str,
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Vec<Run>, Error> {
        if self.is_party() || jobs.len() > 1 {
            self.refuse_wishes()?;
        }
        let wishes = self.has_wishes();
        if let [job] = jobs
            && (self.serves || wishes || self.names_strangers(job.0))
        {
            return self.ask(job, name, progress, within);
        }
        let chosen = Chosen::of(name)?;
        admitted_lanes(&*chosen.protocol, jobs.len())?;
        clients_of(jobs.iter().map(|(compiled, _)| *compiled), &self.parties())?;
        let lanes: Vec<Endpoint> = jobs
            .iter()
            .map(|(compiled, _)| self.endpoint(compiled, chosen.protocol.clone()))
            .collect::<Result<_, _>>()?;
        let values = jobs.iter().map(|(_, inputs)| inputs.iter().map(Option::as_ref).collect()).collect();
        let own =
            Own { given: Given::Values(values), source: Source::InRun, residents: None, measured: None };
        match (self.run_from(&chosen, &lanes, own, progress, within), jobs) {
            // Found at the first party, before anything was sent.
            (Err(Error::Setup(SetupError::Serves { .. })), [job]) if !self.is_party() => {
                self.serves = true;
                self.ask(job, name, progress, within)
            }
            (result, _) => result,
        }
    }

    /// Whether a client's program names others that its list lacks: parties that serve may know them.
    fn names_strangers(&self, compiled: &Compiled) -> bool {
        let known = |name: &String| self.config.clients().iter().any(|client| client.name == *name);
        !self.is_party() && !Participants::clients_of(compiled.plan(), &self.parties()).iter().all(known)
    }

    /// Asks parties that serve for a run.
    fn ask(
        &mut self,
        (compiled, inputs): &LaneInputs<'_, Option<Value>>,
        protocol: &str,
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Vec<Run>, Error> {
        let (plays, tag, notes, fill) = (self.plays.as_deref(), self.tag.as_str(), &self.notes, &self.fill);
        let wish = Wish { compiled, inputs, protocol, plays, tag, fill, within, notes };
        let run = ask(&self.config, &mut self.links, &wish, progress)?;
        Ok(vec![run])
    }

    /// Takes part in a run that has a lane for each of these: what came out and what it took, lane by lane. What the
    /// protocol's name leaves to the network is negotiated first, unless the material of a store decides it.
    pub(crate) fn run_from(
        &mut self,
        chosen: &Chosen,
        usual: &[Endpoint],
        own: Own<'_>,
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Vec<Run>, Error> {
        let (me, within_lanes) = (self.config.me(), lane_count(usual.len())?);
        let clients = usual[0].participants.clients();
        run_over(me, chosen, usual, own, progress, || self.gather(clients, within_lanes, within))
    }

    /// What this seat has to know of a program to take part in a run of it.
    pub(crate) fn endpoint(
        &self,
        compiled: &Arc<Compiled>,
        protocol: Arc<dyn Protocol>,
    ) -> Result<Endpoint, Error> {
        let clients = self.config.clients().iter().map(|client| client.name.clone()).collect();
        endpoint_of(&self.config, compiled, protocol, clients)
    }

    /// The same for what only parties do: make material, and take it from stores.
    pub(crate) fn party_endpoint(
        &self,
        compiled: &Arc<Compiled>,
        chosen: &Chosen,
    ) -> Result<Endpoint, Error> {
        self.refuse_client()?;
        self.refuse_wishes()?;
        self.endpoint(compiled, chosen.protocol.clone())
    }

    /// Whether something was asked for that only parties that serve heed.
    fn has_wishes(&self) -> bool {
        self.plays.is_some() || !self.tag.is_empty() || !self.fill.is_empty()
    }

    /// Refuses what was asked for and would be ignored.
    fn refuse_wishes(&self) -> Result<(), Error> {
        if !self.has_wishes() {
            return Ok(());
        }
        let reason = "a tag, another name to play, or a choice of rows is for one program of a client whose parties serve";
        Err(Error::Refused(reason.to_owned()))
    }

    /// Refuses what only parties do.
    pub(crate) fn refuse_client(&self) -> Result<(), Error> {
        if self.is_party() {
            return Ok(());
        }
        let reason = "makes no material and has no store: parties do that";
        Err(Error::Refused(format!("{} is a client; it {reason}", self.name())))
    }

    /// The links to all parties and these clients, in each of so many lanes.
    pub(crate) fn gather(
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
