//! One party or client of a deployment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use pyo3::prelude::*;
use tacit::net::setup::Config;

use crate::program::Program;
use crate::run::{Run, watched};
use crate::{errors, values};

/// A seat in a deployment. Nobody else can take it while this one is there.
#[pyclass(frozen, module = "tacit._native")]
pub(crate) struct Seat {
    /// Held by a run, and still by one that was interrupted.
    inner: Arc<Mutex<tacit::Seat>>,
    /// This endpoint's name.
    #[pyo3(get)]
    name: String,
    /// Whether this is a computing party.
    #[pyo3(get)]
    is_party: bool,
    /// Names of the parties, in order.
    #[pyo3(get)]
    parties: Vec<String>,
}

#[pymethods]
impl Seat {
    /// Reads a configuration and, for a party, opens its port.
    #[new]
    fn new(py: Python<'_>, config: PathBuf) -> PyResult<Self> {
        let seat = tacit::Seat::open(&config).map_err(|error| errors::run(py, &error))?;
        let (name, is_party, parties) = (seat.name(), seat.is_party(), seat.parties());
        Ok(Self { inner: Arc::new(Mutex::new(seat)), name, is_party, parties })
    }

    /// Runs a program with everybody whom it names. `inputs` has a value for each input that this endpoint gives.
    /// `wait` is how many seconds the others are waited for; without it, what the configuration says.
    #[pyo3(signature = (program, protocol, inputs, wait=None))]
    fn run(
        &self,
        py: Python<'_>,
        program: &Program,
        protocol: String,
        inputs: Vec<Option<Bound<'_, PyAny>>>,
        wait: Option<f64>,
    ) -> PyResult<Run> {
        let clear = |input: &Option<Bound<'_, PyAny>>| input.as_ref().map(values::from_python).transpose();
        let inputs = inputs.iter().map(clear).collect::<PyResult<Vec<_>>>()?;
        let (seat, compiled) = (self.inner.clone(), program.compiled.clone());
        let run = watched(py, move || {
            let mut seat = match seat.try_lock() {
                Ok(seat) => seat,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    let reason =
                        "this seat's last run was interrupted and has not ended yet; try again later";
                    return Err(tacit::Error::Refused(reason.to_owned()));
                }
            };
            match wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
                Some(within) => seat.run_within(&compiled, &protocol, &inputs, &|_, _| {}, within),
                None => seat.run(&compiled, &protocol, &inputs, &|_, _| {}),
            }
        })?;
        Run::new(py, run)
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
    tacit::net::setup::init(&folder, parties, &clients, host, port)
        .map_err(|error| errors::run(py, &tacit::Error::Setup(error)))
}
