//! The module `tacit._native`: the compiled core under the Python package `tacit`.
//!
//! Nothing is computed here. Each class wraps one of the core's and turns values, types and errors into
//! Python's; what a user sees, and every default, is in the package.

mod builder;
mod circuit;
mod command;
mod deployment;
mod errors;
mod price;
mod program;
mod run;
mod types;
mod values;

use pyo3::prelude::*;

/// The compiled core; not for direct use.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::builder::Builder;
    #[pymodule_export]
    use crate::circuit::{Circuit, CircuitBuilder};
    #[pymodule_export]
    use crate::command::run;
    #[pymodule_export]
    use crate::deployment::{Seat, configured, init};
    #[pymodule_export]
    use crate::price::{Price, network};
    #[pymodule_export]
    use crate::program::Program;
    #[pymodule_export]
    use crate::run::{Local, Prepared, Run};
    #[pymodule_export]
    use crate::types::{Input, Output, Type};

    /// The version of the core, which is the package's.
    #[pyo3::pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Names of all protocols.
    #[pyo3::pyfunction]
    fn protocols() -> Vec<&'static str> {
        tacit::protocols().map(|protocol| protocol.spec().name).collect()
    }
}
