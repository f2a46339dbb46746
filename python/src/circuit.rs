//! Boolean circuits, and the builder that makes them gate by gate.

use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit::advanced::circuit::Layered;
use tacit::circuit::arith::Style;
use tacit::circuit::crypto::{aes, keccak, sha};
use tacit::circuit::{MAX_INPUT_BITS, Wire, bristol, catalogue};

use crate::errors;

/// A Boolean circuit.
#[pyclass(frozen, module = "tacit._native")]
pub(crate) struct Circuit {
    pub(crate) circuit: Arc<tacit::circuit::Circuit>,
    /// Laid out when it is first evaluated here.
    layered: OnceLock<Layered>,
}

impl From<tacit::circuit::Circuit> for Circuit {
    fn from(circuit: tacit::circuit::Circuit) -> Self {
        Self { circuit: Arc::new(circuit), layered: OnceLock::new() }
    }
}

#[pymethods]
impl Circuit {
    /// The names of the catalogue.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        catalogue::names().collect()
    }

    /// The circuit of the catalogue that has this name, if there is one.
    #[staticmethod]
    fn named(name: &str) -> Option<Self> {
        catalogue::named(name).map(Self::from)
    }

    /// Reads Bristol Fashion or the older Bristol format.
    #[staticmethod]
    fn read(py: Python<'_>, text: &[u8]) -> PyResult<Self> {
        bristol::read(text).map(Self::from).map_err(|error| errors::circuit(py, &error.to_string()))
    }

    /// AES with a key of so many bits: "encrypt", "decrypt", "schedule", "encrypt-expanded", "decrypt-expanded".
    #[staticmethod]
    fn aes(key_bits: u32, step: &str, low_depth: bool) -> PyResult<Self> {
        let variant = match key_bits {
            128 => aes::Variant::Aes128,
            192 => aes::Variant::Aes192,
            256 => aes::Variant::Aes256,
            _ => return Err(PyValueError::new_err(format!("no AES has keys of {key_bits} bits"))),
        };
        let make = match step {
            "encrypt" => aes::circuits::encrypt,
            "decrypt" => aes::circuits::decrypt,
            "schedule" => aes::circuits::key_schedule,
            "encrypt-expanded" => aes::circuits::encrypt_expanded,
            "decrypt-expanded" => aes::circuits::decrypt_expanded,
            _ => return Err(PyValueError::new_err(format!("AES has no step {step:?}"))),
        };
        Ok(make(style(low_depth), variant).into())
    }

    /// "sha1", "sha256" or "sha512" of a message of so many bytes.
    #[staticmethod]
    fn sha(name: &str, message_bytes: usize, low_depth: bool) -> PyResult<Self> {
        Ok(sha::circuits::digest(style(low_depth), sha_named(name)?, message_bytes).into())
    }

    /// HMAC on "sha1", "sha256" or "sha512", with a key and a message of so many bytes.
    #[staticmethod]
    fn hmac(name: &str, key_bytes: usize, message_bytes: usize, low_depth: bool) -> PyResult<Self> {
        Ok(sha::circuits::hmac(style(low_depth), sha_named(name)?, key_bytes, message_bytes).into())
    }

    /// SHA3-256 of a message of so many bytes.
    #[staticmethod]
    fn sha3_256(message_bytes: usize) -> Self {
        keccak::circuits::digest(keccak::Hash::Sha3_256, message_bytes, 32).into()
    }

    /// Bits of each input.
    #[getter]
    fn inputs(&self) -> Vec<u32> {
        self.circuit.inputs().to_vec()
    }

    /// Bits of each output.
    #[getter]
    fn outputs(&self) -> Vec<usize> {
        self.circuit.outputs().iter().map(Vec::len).collect()
    }

    /// How many ANDs there are.
    #[getter]
    fn ands(&self) -> usize {
        self.circuit.ands()
    }

    /// The most ANDs on a way to an output.
    #[getter]
    fn depth(&self) -> u32 {
        self.circuit.depth()
    }

    /// The circuit in Bristol Fashion.
    fn write(&self) -> String {
        bristol::write(&self.circuit)
    }

    /// The outputs in the clear. Inputs and outputs are packed instance by instance, 8 bits to a byte, the first in
    /// the least significant place.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyBytes>>,
        instances: usize,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let words: Vec<Vec<u64>> = inputs.iter().map(|input| to_words(input.as_bytes())).collect();
        let layered = self.layered.get_or_init(|| Layered::new(&self.circuit));
        let outputs = py.detach(|| {
            let words: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
            layered.evaluate(&words, instances)
        });
        let outputs = outputs.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let bytes = |(words, &bits): (&Vec<u64>, &u32)| {
            let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.truncate((bits as usize * instances).div_ceil(8));
            PyBytes::new(py, &bytes)
        };
        Ok(outputs.iter().zip(&layered.outputs).map(bytes).collect())
    }
}

fn style(low_depth: bool) -> Style {
    if low_depth { Style::Shallow } else { Style::Small }
}

fn sha_named(name: &str) -> PyResult<sha::Hash> {
    match name {
        "sha1" => Ok(sha::Hash::Sha1),
        "sha256" => Ok(sha::Hash::Sha256),
        "sha512" => Ok(sha::Hash::Sha512),
        _ => Err(PyValueError::new_err(format!("no hash function is named {name:?}"))),
    }
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(8).map(word).collect()
}

/// Makes a circuit gate by gate. Wires are numbers that the methods give and take.
#[pyclass(module = "tacit._native")]
#[derive(Default)]
pub(crate) struct CircuitBuilder {
    building: tacit::circuit::Builder,
    /// Bits of all inputs.
    inputs: u64,
    /// All wires are below this.
    wires: u64,
    outputs: Vec<Vec<Wire>>,
}

impl CircuitBuilder {
    /// Makes a gate on wires that are there.
    fn gate(
        &mut self,
        py: Python<'_>,
        operands: &[Wire],
        make: impl FnOnce(&mut tacit::circuit::Builder) -> Wire,
    ) -> PyResult<Wire> {
        self.known(py, operands)?;
        // A gate may bring a constant with it.
        if self.wires + 2 >= u64::from(Wire::MAX) {
            return Err(errors::circuit(py, "a circuit has fewer than 2^32 wires"));
        }
        let wire = make(&mut self.building);
        self.wires = self.wires.max(u64::from(wire) + 1);
        Ok(wire)
    }

    fn known(&self, py: Python<'_>, wires: &[Wire]) -> PyResult<()> {
        match wires.iter().find(|&&wire| u64::from(wire) >= self.wires) {
            Some(wire) => Err(errors::circuit(py, &format!("wire {wire} is none of this circuit's"))),
            None => Ok(()),
        }
    }
}

#[pymethods]
impl CircuitBuilder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Declares the next input: its wires, in order.
    fn input(&mut self, py: Python<'_>, bits: u32) -> PyResult<Vec<Wire>> {
        if self.wires > self.inputs {
            return Err(errors::circuit(py, "inputs are declared before the first gate"));
        }
        let inputs = self.inputs + u64::from(bits);
        if inputs > MAX_INPUT_BITS {
            return Err(errors::circuit(py, "a circuit has at most 2^24 bits of inputs"));
        }
        (self.inputs, self.wires) = (inputs, inputs);
        Ok(self.building.input(bits))
    }

    /// A bit that everybody knows.
    fn constant(&mut self, py: Python<'_>, bit: bool) -> PyResult<Wire> {
        self.gate(py, &[], |build| build.constant(bit))
    }

    /// `a ^ b`.
    fn xor(&mut self, py: Python<'_>, a: Wire, b: Wire) -> PyResult<Wire> {
        self.gate(py, &[a, b], |build| build.xor(a, b))
    }

    /// `a & b`.
    fn and_(&mut self, py: Python<'_>, a: Wire, b: Wire) -> PyResult<Wire> {
        self.gate(py, &[a, b], |build| build.and(a, b))
    }

    /// `~a`.
    fn not_(&mut self, py: Python<'_>, a: Wire) -> PyResult<Wire> {
        self.gate(py, &[a], |build| build.not(a))
    }

    /// Declares the next output.
    fn output(&mut self, py: Python<'_>, wires: Vec<Wire>) -> PyResult<()> {
        self.known(py, &wires)?;
        self.outputs.push(wires);
        Ok(())
    }

    /// The circuit as it is now.
    fn circuit(&self) -> Circuit {
        self.building.clone().finish(self.outputs.clone()).into()
    }
}
