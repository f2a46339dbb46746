//! The core's errors as the exceptions of `tacit.errors`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use tacit::Error;
use tacit::program::{Fault, ProgramError};

/// A fault in a program: `ProgramTypeError` where kinds don't suit an operation, else `ProgramError`.
pub(crate) fn program(py: Python<'_>, error: &ProgramError) -> PyErr {
    let class = match *error.fault {
        Fault::Kinds { .. } | Fault::NotDefined { .. } => "ProgramTypeError",
        _ => "ProgramError",
    };
    made(py, class, |class| {
        let details = PyDict::new(py);
        details.set_item("hint", error.hint())?;
        details.set_item("file", &error.at.file)?;
        details.set_item("line", error.at.line)?;
        details.set_item("text", &error.at.text)?;
        class.call((error.fault.to_string(),), Some(&details))
    })
}

/// Why there is no result of a run.
pub(crate) fn run(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Program(error) => program(py, error),
        Error::Value(_) | Error::Refused(_) => plain(py, "InputError", &error.to_string()),
        Error::Store(_) | Error::NoMaterial(_) => plain(py, "StoreError", &error.to_string()),
        Error::Setup(_) if error.is_abort() => plain(py, "RunError", &error.to_string()),
        Error::Setup(_) => plain(py, "ConnectError", &error.to_string()),
        Error::Differs(_) => plain(py, "MismatchError", &error.to_string()),
        // It was aborted, or nothing more is run here.
        _ => plain(py, "RunError", &error.to_string()),
    }
}

/// A plan that can't be read or used.
pub(crate) fn plan(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "PlanError", message)
}

/// A circuit that can't be read or made.
pub(crate) fn circuit(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "CircuitError", message)
}

/// A run whose thread panicked: a fault of ours, whose message is on the standard error.
pub(crate) fn panicked(py: Python<'_>) -> PyErr {
    plain(py, "RunError", "the run ended by a fault inside tacit; please report what is printed above")
}

fn plain(py: Python<'_>, class: &str, message: &str) -> PyErr {
    made(py, class, |class| class.call1((message,)))
}

/// An exception of `tacit.errors`, or why it can't be made.
fn made<'py>(
    py: Python<'py>,
    class: &str,
    make: impl FnOnce(&Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>>,
) -> PyErr {
    let class = py.import("tacit.errors").and_then(|module| module.getattr(class));
    let made = class.and_then(|class| make(class.cast::<PyType>()?));
    made.map_or_else(|error| error, PyErr::from_value)
}
