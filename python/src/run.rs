//! Runs, and all parties in this process.
//!
//! A run has a thread of its own, and the thread that Python called on waits for it without the interpreter's
//! lock and looks for signals: Ctrl-C ends the wait, and the run goes on unseen until it ends by itself.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use tacit::advanced::net::{Phase, load_profile};
use tacit::{
    Comparison, Compiled, Error, Fill, Filling, Instance, Making, Report, Residents, Standing, State,
    StorePath, select_for,
};
use tacit_cli::Bar;

use crate::program::Program;
use crate::{errors, values};

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// All parties of a protocol in this process.
#[pyclass(frozen, module = "tacit._native")]
pub(crate) struct Local {
    inner: tacit::Local,
    /// What each party keeps, in a folder or as long as this lives.
    states: Arc<Mutex<Vec<State>>>,
    /// Whether runs show a progress bar.
    progress: bool,
}

impl Local {
    /// Does something with what the parties keep, without Python's lock: a run that was interrupted may have it still, and wait
    /// for that lock.
    fn with_states<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut [State]) -> T + Send) -> T {
        py.detach(|| work(&mut self.states.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl Local {
    #[new]
    #[pyo3(signature = (protocol, parties=None, state=None, progress=false))]
    fn new(
        py: Python<'_>,
        protocol: &str,
        parties: Option<usize>,
        state: Option<PathBuf>,
        progress: bool,
    ) -> PyResult<Self> {
        let local = match parties {
            Some(parties) => tacit::Local::among(protocol, parties),
            None => tacit::Local::new(protocol),
        };
        let local = local.map_err(|error| errors::run(py, &error))?;
        let states = match state {
            Some(folder) => local.open_states(&folder).map_err(|error| errors::run(py, &error))?,
            None => local.parties.iter().map(|_| State::new()).collect(),
        };
        Ok(Self { inner: local, states: Arc::new(Mutex::new(states)), progress })
    }

    /// What the parties keep, as `weights@3`.
    fn kept(&self, py: Python<'_>) -> Vec<String> {
        self.with_states(py, |states| states.first().map_or_else(Vec::new, listed))
    }

    /// Gives up what the parties keep in this process: folders are for others to open.
    fn close(&self, py: Python<'_>) {
        self.with_states(py, |states| states.fill_with(State::new));
    }

    /// Lets all parties drop a value, or all of a name.
    fn drop(&self, py: Python<'_>, value: &str) -> PyResult<()> {
        let drop = |states: &mut [State]| states.iter_mut().try_for_each(|state| state.drop_value(value));
        self.with_states(py, drop).map_err(|error| errors::run(py, &error))
    }

    /// Gives the newest value of a name fresh shares: what it is then, as `weights@4`.
    fn refresh(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let refresh = |states: &mut [State]| self.inner.refresh(states, name);
        self.with_states(py, refresh).map_err(|error| errors::run(py, &error))
    }

    /// Names of the parties.
    #[getter]
    fn parties(&self) -> Vec<String> {
        self.inner.parties.clone()
    }

    /// Runs a program on the values of all its inputs. In a debug run every operation is compared with the clear
    /// one. With a store, material comes from the parties' stores in that folder. With a network, what is left to it
    /// is picked for this one. `kept` says which kept values the program reads, and `rows` which rows of tables it keeps.
    #[pyo3(signature = (program, inputs, debug, kept, rows, store=None, net=None))]
    #[expect(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        program: &Program,
        inputs: Vec<Bound<'_, PyAny>>,
        debug: bool,
        kept: HashMap<String, String>,
        rows: HashMap<String, String>,
        store: Option<PathBuf>,
        net: Option<String>,
    ) -> PyResult<Run> {
        let inputs = inputs.iter().map(values::from_python).collect::<PyResult<Vec<_>>>()?;
        let (mut local, compiled, states) =
            (self.inner.clone(), program.compiled.clone(), self.states.clone());
        let (fill, bar) = (filled(kept, rows), self.progress.then(Bar::new));
        let run = watched(py, move || {
            let parties = local.parties.clone();
            let picked = pick(net.as_deref(), &mut local.protocol, &compiled, &parties, Making::InRun)?;
            let compiled = if debug { Compiled::debug(compiled.program().clone())? } else { compiled };
            let planned = compiled.for_protocol(&*tacit::protocol(&local.protocol)?)?;
            let progress = |done, total| of_run(bar.as_ref(), &planned, done, total);
            let mut run = if debug {
                local.debug(&compiled, &inputs, &progress)
            } else if compiled.has_residents() {
                let mut states = states.lock().unwrap_or_else(PoisonError::into_inner);
                let mut stores = match store {
                    Some(store) => local.open_stores(&compiled, &StorePath::simulated(store))?,
                    None => Vec::new(),
                };
                let mut stores = stores.iter_mut();
                let residents =
                    states.iter_mut().map(|state| Residents { state, fill: &fill, store: stores.next() });
                local.run_on(&compiled, residents.collect(), &inputs, &progress)
            } else if let Some(store) = store {
                let mut stores = local.open_stores(&compiled, &StorePath::simulated(store))?;
                local.run_stored(&compiled, &mut stores, &inputs, &progress)
            } else {
                local.run(&compiled, &inputs, &progress)
            }?;
            run.report.comparison = run.report.comparison.or(picked);
            Ok(run)
        })?;
        Run::new(py, run)
    }

    /// Makes material for so many runs, in a store for each party in this folder.
    #[pyo3(signature = (program, count, store, net=None))]
    fn offline(
        &self,
        py: Python<'_>,
        program: &Program,
        count: u64,
        store: PathBuf,
        net: Option<String>,
    ) -> PyResult<Vec<Prepared>> {
        let (mut local, compiled) = (self.inner.clone(), program.compiled.clone());
        let prepared = watched(py, move || {
            let parties = local.parties.clone();
            let picked = pick(net.as_deref(), &mut local.protocol, &compiled, &parties, Making::Offline)?;
            let made = local.offline(&compiled, count, &StorePath::simulated(store), &|_, _| {})?;
            Ok(made.into_iter().map(|made| told(made, picked.as_ref())).collect::<Vec<_>>())
        })?;
        Ok(prepared.into_iter().map(Prepared::new).collect())
    }

    /// Makes so many of what a protocol stocks for any program, by name, in a store for each party in this folder.
    fn stock(
        &self,
        py: Python<'_>,
        named: Vec<(String, u64)>,
        up_to: bool,
        store: PathBuf,
    ) -> PyResult<Vec<Prepared>> {
        let local = self.inner.clone();
        let prepared = watched(py, move || stock(&local, &named, up_to, store))?;
        Ok(prepared.into_iter().map(Prepared::new).collect())
    }
}

/// What a party keeps, as `weights@3`.
pub(crate) fn listed(state: &State) -> Vec<String> {
    let live = state.list().into_iter().filter(|listed| listed.standing == Standing::Settled);
    live.map(|listed| listed.about.to_string()).collect()
}

/// Fills the stores of all parties for any program.
fn stock(
    local: &tacit::Local,
    named: &[(String, u64)],
    up_to: bool,
    store: PathBuf,
) -> Result<Vec<tacit::Prepared>, Error> {
    let filling = filling(&local.protocol, local.parties.len(), named, up_to)?;
    local.stock(&filling, &StorePath::simulated(store), &|_, _| {})
}

/// What fills a program's slots, and the rows of tables that it keeps.
/// Shows how far a run is, if that is wanted.
pub(crate) fn of_run(bar: Option<&Bar>, compiled: &Compiled, done: usize, total: usize) {
    if let Some(bar) = bar {
        bar.of_run(compiled, done, total);
    }
}

pub(crate) fn filled(kept: HashMap<String, String>, rows: HashMap<String, String>) -> Fill {
    rows.iter().fold(kept.into_iter().collect(), |fill: Fill, (table, rows)| fill.keeping(table, rows))
}

/// What stores are to be filled with.
pub(crate) fn filling(
    protocol: &str,
    parties: usize,
    named: &[(String, u64)],
    up_to: bool,
) -> Result<Filling, Error> {
    let named: Vec<(&str, u64)> = named.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    Ok(Filling { up_to, ..Filling::of(&*tacit::protocol(protocol)?, parties, &named)? })
}

/// Puts what is picked for a network, if one is given, into the protocol's name; how numbers are compared, if that was left
/// to it.
pub(crate) fn pick(
    net: Option<&str>,
    protocol: &mut String,
    compiled: &Arc<Compiled>,
    parties: &[String],
    making: Making,
) -> Result<Option<Comparison>, Error> {
    let Some(net) = net else { return Ok(None) };
    let net = load_profile(net).map_err(|error| Error::Refused(error.to_string()))?;
    let selection = select_for(compiled, protocol, parties, &net, making)?;
    *protocol = selection.protocol;
    Ok(selection.comparison)
}

/// What was made, with how numbers are compared if that was picked here.
pub(crate) fn told(made: tacit::Prepared, picked: Option<&Comparison>) -> tacit::Prepared {
    tacit::Prepared { comparison: made.comparison.or_else(|| picked.cloned()), ..made }
}

/// What an offline session made, at one party.
#[pyclass(frozen, get_all, module = "tacit._native")]
pub(crate) struct Prepared {
    /// The party.
    party: String,
    /// The offline session, in hexadecimal.
    epoch: String,
    /// For how many runs.
    instances: u64,
    /// Bytes on the party's disk.
    disk_bytes: u64,
    /// Supplies that were made for any program: what they are, and how many.
    supplies: Vec<(String, u64)>,
    /// By link: the receiver, payload bytes that were sent, and those that were declared, if they were.
    links: Vec<(String, u64, Option<u64>)>,
    /// From the handshake until all was on disk everywhere.
    seconds: f64,
    /// The names of those who play `P_0`, `P_1` and so on in runs on it; empty if the protocol's parties are all alike.
    players: Vec<String>,
    /// How numbers are compared in runs on it, if that was left to the network.
    comparison: Option<&'static str>,
}

impl Prepared {
    pub(crate) fn new(made: tacit::Prepared) -> Self {
        let tacit::Prepared {
            party,
            epoch,
            instances,
            supplies,
            disk_bytes,
            links,
            elapsed,
            players,
            comparison,
        } = made;
        Self {
            party,
            epoch: epoch.to_string(),
            instances,
            supplies: supplies.into_iter().map(|(kind, count)| (kind.to_string(), count)).collect(),
            disk_bytes,
            links: links.into_iter().map(|link| (link.to, link.bytes, link.declared)).collect(),
            seconds: elapsed.as_secs_f64(),
            players,
            comparison: comparison.map(|comparison| comparison.picked),
        }
    }
}

/// What a run gave and took.
#[pyclass(frozen, get_all, module = "tacit._native")]
pub(crate) struct Run {
    /// The outputs in the program's order; `None` for those that nobody in this process learns.
    outputs: Vec<Option<Py<PyAny>>>,
    /// Of each endpoint in this process: its name, payload bytes sent by phase, bytes on the wire.
    endpoints: Vec<Endpoint>,
    /// Rounds of the online phase.
    rounds: u64,
    /// From the first message to the last.
    seconds: f64,
    /// The names of those who played `P_0`, `P_1` and so on; empty if the protocol's parties are all alike.
    players: Vec<String>,
    /// How numbers were compared, if that was left to the network.
    comparison: Option<&'static str>,
    /// The instance of the material that came from a store: its epoch, and its number.
    material: Option<(String, u64)>,
    /// What it read of what is kept, as `weights@3`, by the program's names.
    read: Vec<(String, String)>,
    /// What it kept, as `weights@4`.
    kept: Vec<String>,
}

type Endpoint = (String, Vec<(&'static str, u64)>, u64);

impl Run {
    pub(crate) fn new(py: Python<'_>, run: tacit::Run) -> PyResult<Self> {
        let tacit::Run { outputs, report } = run;
        let Report { endpoints, rounds, elapsed, players, comparison, material, read, kept } = report;
        let outputs = outputs.into_iter().map(|output| match output {
            Some(value) => Ok(Some(values::to_python(py, value)?.unbind())),
            None => Ok(None),
        });
        let endpoints = endpoints.into_iter().map(|(name, traffic)| {
            let sent = Phase::ALL.map(|phase| (phase.name(), traffic.in_phase(phase)));
            (name, sent.to_vec(), traffic.wire)
        });
        Ok(Self {
            outputs: outputs.collect::<PyResult<_>>()?,
            endpoints: endpoints.collect(),
            rounds,
            seconds: elapsed.as_secs_f64(),
            players,
            comparison: comparison.map(|comparison| comparison.picked),
            material: material.map(|Instance { epoch, index }| (epoch.to_string(), index)),
            read,
            kept,
        })
    }
}

/// Does something in a thread of its own, while signals are looked for.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (done, mut waiting) = mpsc::sync_channel(1);
    std::thread::Builder::new().name("tacit run".into()).spawn(move || {
        // Nobody listens any more after Ctrl-C.
        let _ = done.send(work());
    })?;
    loop {
        let (waited, result) = py.detach(move || {
            let result = waiting.recv_timeout(PATIENCE);
            (waiting, result)
        });
        waiting = waited;
        match result {
            Ok(result) => return result.map_err(|error| errors::run(py, &error)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::panicked(py));
            }
        }
    }
}
