//! What values, inputs and outputs are, for Python to read.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tacit::advanced::program::plan::Width;
use tacit::program::{Dtype, InputType, Modulus, Range, Recipient};

/// What a value is.
#[pyclass(frozen, get_all, module = "tacit._native")]
pub(crate) struct Type {
    /// "bool", "int", "fixed", "modular" or "field".
    kind: &'static str,
    /// Fraction bits of fixed point; bits of a modular integer's or a field's elements; else the width that holds
    /// it: 1, 8, 16, 32 or 64.
    bits: u8,
    /// Lengths of the axes.
    shape: Py<PyTuple>,
    /// The least raw value that an element can be.
    low: i128,
    /// The largest; 2^127 - 1 for a modulus beyond 2^127.
    high: i128,
    /// Whether it depends on an input.
    secret: bool,
}

impl Type {
    pub(crate) fn new(py: Python<'_>, ty: &tacit::program::Type) -> PyResult<Self> {
        let (kind, bits) = names(ty.kind, ty.width());
        Ok(Self {
            kind,
            bits,
            shape: PyTuple::new(py, &ty.shape)?.unbind(),
            low: ty.range.lo(),
            high: ty.range.hi(),
            secret: ty.secret,
        })
    }
}

/// What an owner has to give.
#[pyclass(frozen, get_all, module = "tacit._native")]
pub(crate) struct Input {
    /// The role that gives it.
    owner: String,
    /// What the owner calls it.
    name: String,
    /// As in `Type`.
    kind: &'static str,
    /// As in `Type`.
    bits: u8,
    /// As in `Type`.
    shape: Py<PyTuple>,
    /// As in `Type`.
    low: i128,
    /// As in `Type`.
    high: i128,
}

impl Input {
    pub(crate) fn new(py: Python<'_>, input: &InputType) -> PyResult<Self> {
        let (kind, bits) = names(input.kind, input.range.width().unwrap_or(Width::W64));
        Ok(Self {
            owner: input.owner.clone(),
            name: input.name.clone(),
            kind,
            bits,
            shape: PyTuple::new(py, &input.shape)?.unbind(),
            low: input.range.lo(),
            high: input.range.hi(),
        })
    }
}

/// What a recipient gets.
#[pyclass(frozen, get_all, module = "tacit._native")]
pub(crate) struct Output {
    /// The role that learns it; `None` for everybody.
    to: Option<String>,
    /// What it is.
    r#type: Py<Type>,
}

impl Output {
    pub(crate) fn new(py: Python<'_>, to: &Recipient, ty: &tacit::program::Type) -> PyResult<Self> {
        let to = match to {
            Recipient::All => None,
            Recipient::Role(name) => Some(name.clone()),
        };
        Ok(Self { to, r#type: Py::new(py, Type::new(py, ty)?)? })
    }
}

/// A kind from what Python calls it.
pub(crate) fn kind(name: &str, bits: u8) -> PyResult<Dtype> {
    match name {
        "bool" => Ok(Dtype::Bool),
        "int" => Ok(Dtype::Int),
        "fixed" => Ok(Dtype::Fixed { frac: bits }),
        "modular" => Ok(Dtype::Modular(Modulus::PowerOfTwo(bits))),
        "field" => match [Modulus::Mersenne61, Modulus::Prime128].into_iter().find(|p| p.bits() == bits) {
            Some(modulus) => Ok(Dtype::Modular(modulus)),
            None => Err(PyValueError::new_err(format!("no field has elements of {bits} bits"))),
        },
        _ => Err(PyValueError::new_err(format!("no kind is called {name:?}"))),
    }
}

/// A range from its ends, if it has any.
pub(crate) fn range(low: Option<i128>, high: Option<i128>) -> PyResult<Option<Range>> {
    low.zip(high).map(|(low, high)| ends(low, high)).transpose()
}

/// A range from its ends.
pub(crate) fn ends(low: i128, high: i128) -> PyResult<Range> {
    let range = Range::new(low, high);
    range.ok_or_else(|| PyValueError::new_err(format!("the range {low} to {high} is empty")))
}

fn names(kind: Dtype, width: Width) -> (&'static str, u8) {
    match kind {
        Dtype::Bool => ("bool", 1),
        Dtype::Int => ("int", width.bits()),
        Dtype::Fixed { frac } => ("fixed", frac),
        Dtype::Modular(Modulus::PowerOfTwo(bits)) => ("modular", bits),
        Dtype::Modular(modulus) => ("field", modulus.bits()),
    }
}
