//! One party or client of a deployment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use pyo3::prelude::*;
use tacit::advanced::net::setup::{Config, Note};
use tacit::{Error, Making, Residents, State, StorePath};
use tacit_cli::Bar;

use crate::program::Program;
use crate::run::{Prepared, Run, filled, filling, listed, of_run, pick, told, watched};
use crate::{errors, values};

/// A seat in a deployment. Nobody else can take it while this one is there.
#[pyclass(frozen, module = "tacit._native")]
pub(crate) struct Seat {
    /// Held by a run, and still by one that was interrupted.
    inner: Arc<Mutex<tacit::Seat>>,
    /// What a party keeps, in a folder or as long as this lives.
    state: Arc<Mutex<State>>,
    /// This endpoint's name.
    #[pyo3(get)]
    name: String,
    /// Whether this is a computing party.
    #[pyo3(get)]
    is_party: bool,
    /// Names of the parties, in order.
    #[pyo3(get)]
    parties: Vec<String>,
    /// Whether runs show a progress bar.
    progress: bool,
}

#[pymethods]
impl Seat {
    /// Reads a configuration and, for a party, opens its port. `wait` is how many seconds the others are waited for at the
    /// start of a run; without it, what the configuration says. A client of parties that serve plays the name `plays` of
    /// programs, and meets those who give the same tag.
    #[new]
    #[pyo3(signature = (config, wait=None, state=None, plays=None, tag=String::new(), progress=false))]
    fn new(
        py: Python<'_>,
        config: PathBuf,
        wait: Option<f64>,
        state: Option<PathBuf>,
        plays: Option<String>,
        tag: String,
        progress: bool,
    ) -> PyResult<Self> {
        let mut seat = opened(&config, wait).map_err(|error| errors::run(py, &error))?;
        seat.play(plays);
        seat.tag(tag);
        let state = state.map_or_else(|| Ok(State::new()), |folder| seat.open_state(&folder));
        let state = Arc::new(Mutex::new(state.map_err(|error| errors::run(py, &error))?));
        let (name, is_party, parties) = (seat.name(), seat.is_party(), seat.parties());
        Ok(Self { inner: Arc::new(Mutex::new(seat)), state, name, is_party, parties, progress })
    }

    /// What this party keeps, as `weights@3`.
    fn kept(&self, py: Python<'_>) -> Vec<String> {
        // A run that was interrupted may have it still, and Python's lock is what it waits for.
        py.detach(|| listed(&self.state.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Drops a value, or all of a name; the other parties have to do so, too.
    fn drop(&self, py: Python<'_>, value: &str) -> PyResult<()> {
        let dropped =
            py.detach(|| self.state.lock().unwrap_or_else(PoisonError::into_inner).drop_value(value));
        dropped.map_err(|error| errors::run(py, &error))
    }

    /// Gives the newest value of a name fresh shares, together with all other parties: what it is then, as `weights@4`.
    fn refresh(&self, py: Python<'_>, name: String) -> PyResult<String> {
        let (seat, state) = (self.inner.clone(), self.state.clone());
        watched(py, move || {
            let mut seat = taken(&seat)?;
            let within = seat.config().limits().connect;
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            seat.refresh(&mut state, &name, within)
        })
    }

    /// Runs a program with everybody whom it names. `inputs` has a value for each input that this endpoint gives.
    /// With a store, material comes from there; `anchors` is where its anchor is, this user's usual place if not
    /// said. With a network, what is left to it is picked for this one. `kept` says which kept values the program
    /// reads, and `rows` which rows of tables it keeps: a client of parties that serve chooses so what they leave to
    /// requests.
    #[pyo3(signature = (program, protocol, inputs, kept, rows, store=None, anchors=None, net=None))]
    #[expect(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        program: &Program,
        mut protocol: String,
        inputs: Vec<Option<Bound<'_, PyAny>>>,
        kept: HashMap<String, String>,
        rows: HashMap<String, String>,
        store: Option<PathBuf>,
        anchors: Option<PathBuf>,
        net: Option<String>,
    ) -> PyResult<Run> {
        let clear = |input: &Option<Bound<'_, PyAny>>| input.as_ref().map(values::from_python).transpose();
        let inputs = inputs.iter().map(clear).collect::<PyResult<Vec<_>>>()?;
        let (seat, compiled, state) = (self.inner.clone(), program.compiled.clone(), self.state.clone());
        let fill = filled(kept, rows);
        let bar = self.progress.then(|| if self.is_party { Bar::new() } else { Bar::waiting() });
        let run = watched(py, move || {
            let mut seat = taken(&seat)?;
            if !seat.is_party() {
                seat.choose(fill.clone());
            }
            let within = seat.config().limits().connect;
            let parties = seat.parties();
            let picked = pick(net.as_deref(), &mut protocol, &compiled, &parties, Making::InRun)?;
            let planned = compiled.for_protocol(&*tacit::protocol(&protocol)?)?;
            let progress = |done, total| of_run(bar.as_ref(), &planned, done, total);
            let mut store = match store {
                Some(store) => {
                    let place = StorePath::new(store, anchors)?;
                    Some(seat.open_store(&compiled, &protocol, &place)?)
                }
                None => None,
            };
            let mut run = match &mut store {
                store if seat.is_party() && compiled.has_residents() => {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    let residents = Residents { state: &mut state, fill: &fill, store: store.as_mut() };
                    seat.run_on(&compiled, &protocol, residents, &inputs, &progress, within)
                }
                Some(store) => seat.run_stored(&compiled, &protocol, store, &inputs, &progress, within),
                None => seat.run_within(&compiled, &protocol, &inputs, &progress, within),
            }?;
            run.report.comparison = run.report.comparison.or(picked);
            Ok(run)
        })?;
        Run::new(py, run)
    }

    /// Makes material for so many runs of a program, together with all other parties.
    #[pyo3(signature = (program, protocol, count, store, anchors=None, net=None))]
    #[expect(clippy::too_many_arguments)]
    fn offline(
        &self,
        py: Python<'_>,
        program: &Program,
        mut protocol: String,
        count: u64,
        store: PathBuf,
        anchors: Option<PathBuf>,
        net: Option<String>,
    ) -> PyResult<Prepared> {
        let (seat, compiled) = (self.inner.clone(), program.compiled.clone());
        let made = watched(py, move || {
            let place = StorePath::new(store, anchors)?;
            let mut seat = taken(&seat)?;
            let parties = seat.parties();
            let picked = pick(net.as_deref(), &mut protocol, &compiled, &parties, Making::Offline)?;
            let made = seat.offline(&compiled, &protocol, count, &place, &|_, _| {})?;
            Ok(told(made, picked.as_ref()))
        })?;
        Ok(Prepared::new(made))
    }

    /// Makes so many of what a protocol stocks for any program, by name, together with all other parties.
    #[pyo3(signature = (protocol, named, up_to, store, anchors=None))]
    fn stock(
        &self,
        py: Python<'_>,
        protocol: String,
        named: Vec<(String, u64)>,
        up_to: bool,
        store: PathBuf,
        anchors: Option<PathBuf>,
    ) -> PyResult<Prepared> {
        let seat = self.inner.clone();
        let made = watched(py, move || {
            let place = StorePath::new(store, anchors)?;
            let mut seat = taken(&seat)?;
            let filling = filling(&protocol, seat.parties().len(), &named, up_to)?;
            seat.stock(&protocol, &filling, &place, &|_, _| {})
        })?;
        Ok(Prepared::new(made))
    }
}

/// Takes a seat whose runs wait so many seconds for the others.
fn opened(path: &Path, wait: Option<f64>) -> Result<tacit::Seat, Error> {
    let mut config = Config::load(path)?;
    if let Some(seconds) = wait {
        // A billion seconds is far beyond any use, and safe to add to any clock.
        let within =
            Some(seconds).filter(|seconds| (0.0..=1e9).contains(seconds)).map(Duration::from_secs_f64);
        let within = within
            .ok_or_else(|| Error::Refused(format!("wait={seconds} is no number of seconds to wait")))?;
        config = config.with_wait(within);
    }
    let mut seat = tacit::Seat::with(config)?;
    let name = seat.name();
    seat.tell(Arc::new(move |note| warn(&name, note)));
    Ok(seat)
}

/// Logs for whom a seat waits, and who was turned away. It is called in a run's thread, which may outlive the interpreter.
fn warn(name: &str, note: Note<'_>) {
    let text = match note {
        Note::Waiting(missing) => format!("{name} waits for {}", missing.join(", ")),
        Note::TurnedAway(away) => format!("{name} turned a caller away: {away}"),
        _ => return,
    };
    Python::try_attach(|py| {
        let logged = py
            .import("logging")
            .and_then(|logging| logging.call_method1("getLogger", ("tacit",)))
            .and_then(|logger| logger.call_method1("warning", ("%s", text)));
        if let Err(error) = logged {
            // A handler's fault is no run's.
            error.write_unraisable(py, None);
        }
    });
}

/// The seat, if no run has it.
fn taken(seat: &Mutex<tacit::Seat>) -> Result<MutexGuard<'_, tacit::Seat>, Error> {
    match seat.try_lock() {
        Ok(seat) => Ok(seat),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            let reason = "this seat's last run was interrupted and has not ended yet; try again later";
            Err(Error::Refused(reason.to_owned()))
        }
    }
}

/// What a run's cost depends on in a configuration: the names of the parties, and the window if it says one.
#[pyfunction]
pub(crate) fn configured(py: Python<'_>, config: PathBuf) -> PyResult<(Vec<String>, Option<usize>)> {
    let config = Config::load(&config).map_err(|error| errors::run(py, &tacit::Error::Setup(error)))?;
    Ok((config.parties().iter().map(|party| party.name.clone()).collect(), config.window()))
}

/// Makes the folders of a deployment on one machine; the paths of the configurations, parties first.
#[pyfunction]
pub(crate) fn init(
    py: Python<'_>,
    folder: PathBuf,
    parties: usize,
    clients: Vec<String>,
    host: &str,
    port: u16,
) -> PyResult<Vec<PathBuf>> {
    tacit::advanced::net::setup::init(&folder, parties, &clients, host, port)
        .map_err(|error| errors::run(py, &tacit::Error::Setup(error)))
}
