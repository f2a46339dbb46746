//! A finished program, lowered and ready to run.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit::advanced::program::{encode, reference};
use tacit::program::Uses;
use tacit::{Compiled, SavedPlan};

use crate::errors;
use crate::price::Price;
use crate::types::{Input, Output, Type};
use crate::values;

/// A finished program: what parties agree on and run.
#[pyclass(frozen, module = "tacit._native")]
pub(crate) struct Program {
    pub(crate) compiled: Arc<Compiled>,
}

impl Program {
    pub(crate) fn new(py: Python<'_>, program: tacit::program::Program) -> PyResult<Self> {
        match Compiled::new(program) {
            Ok(compiled) => Ok(Self { compiled }),
            Err(error) => Err(errors::run(py, &error)),
        }
    }
}

#[pymethods]
impl Program {
    /// Reads a saved plan: the program, its name, and what its function returns, as JSON.
    #[staticmethod]
    fn from_saved(py: Python<'_>, data: &[u8]) -> PyResult<(Self, String, String)> {
        let saved = SavedPlan::from_bytes(data).map_err(|error| errors::plan(py, &error.to_string()))?;
        let result = saved.result().to_owned();
        Ok((Self::new(py, saved.program)?, saved.name, result))
    }

    /// The bytes of a saved plan.
    fn to_saved<'py>(&self, py: Python<'py>, name: &str, result: &str) -> PyResult<Bound<'py, PyBytes>> {
        let saved = SavedPlan::new(self.compiled.program().clone(), name).with_result(result);
        let saved = saved.map_err(|error| errors::plan(py, &error.to_string()))?;
        Ok(PyBytes::new(py, &saved.to_bytes()))
    }

    /// SHA-256 of what it computes, for whom, from whose inputs.
    fn hash<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.compiled.hash())
    }

    /// What each input has to be, in order.
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<Input>> {
        self.compiled.inputs().iter().map(|input| Input::new(py, input)).collect()
    }

    /// What all parties have to give alike, in order; runs take their values after those of the inputs.
    fn known(&self, py: Python<'_>) -> PyResult<Vec<Input>> {
        let given = self.compiled.given();
        given.iter().skip(self.compiled.inputs().len()).map(|input| Input::new(py, input)).collect()
    }

    /// Who gets what, in the order of the reveals.
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<Output>> {
        let program = self.compiled.program();
        let outputs = program.outputs().iter();
        outputs.map(|output| Output::new(py, &output.to, &program.node(output.node).ty)).collect()
    }

    /// What it reads of what the parties keep: names, and what each has to be.
    fn kept(&self, py: Python<'_>) -> PyResult<Vec<(String, Type)>> {
        let program = self.compiled.program();
        let kept = program.kept().into_iter();
        kept.map(|kept| Ok((kept.name, Type::new(py, &program.node(kept.node).ty)?))).collect()
    }

    /// What the parties keep of it: names, what each is, hashes of the programs that may read it, who may learn of
    /// it, and hashes of the programs besides this one that may keep later versions.
    #[expect(clippy::type_complexity, reason = "a tuple for Python")]
    fn keeps(
        &self,
        py: Python<'_>,
    ) -> PyResult<Vec<(String, Type, Vec<[u8; 32]>, Option<Vec<String>>, Vec<[u8; 32]>)>> {
        let program = self.compiled.program();
        let keeps = program.keeps().iter();
        keeps
            .map(|keep| {
                let ty = Type::new(py, &program.node(keep.node).ty)?;
                let Uses { programs, learners, writers } = keep.uses.clone();
                Ok((keep.name.clone(), ty, programs, learners, writers))
            })
            .collect()
    }

    /// A line for each operation: what it makes of which others, and where the author says so.
    fn operations(&self) -> Vec<String> {
        self.compiled.operations_in_words()
    }

    /// The lines at which its author assumes a range: file, line, expression; and whether a run looks.
    fn assumptions(&self) -> Vec<(String, u32, String, bool)> {
        let lines = self.compiled.program().assumptions();
        lines.map(|(at, watched)| (at.file.clone(), at.line, at.text.clone(), watched)).collect()
    }

    /// Its outputs in the clear, in the order of the reveals, for values of all its inputs.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let inputs = inputs.iter().map(values::from_python).collect::<PyResult<Vec<_>>>()?;
        let compiled = self.compiled.clone();
        let outputs = py.detach(move || {
            let given = compiled.given();
            let encoded = given.iter().zip(&inputs).map(|(kind, value)| encode(kind, value));
            let encoded = encoded.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
            reference::run(compiled.program(), &encoded).map_err(|error| error.to_string())
        });
        let outputs = outputs.map_err(|why| errors::run(py, &tacit::Error::Refused(why)))?;
        outputs.into_iter().map(|value| values::to_python(py, value)).collect()
    }

    /// What a run takes under a protocol, among parties of these names; without names, as many as it is for.
    /// `window` is how many bytes of circuits' messages each has under way at a time.
    /// `net` is a round trip and a bandwidth, as `network` reads them; what is left to the network is picked for it if it was given,
    /// and else as in a run of all parties in this process.
    fn price(
        &self,
        py: Python<'_>,
        protocol: &str,
        parties: Option<Vec<String>>,
        window: Option<usize>,
        net: &str,
        given: bool,
    ) -> PyResult<Price> {
        Price::new(&self.compiled, protocol, parties, window, net, given)
            .map_err(|error| errors::run(py, &error))
    }
}
