//! Builds a program from Python: one method an operation, values by their numbers.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice};
use tacit::program::{Index, NodeId, Pieces, Piecewise, ProgramError, Recipient, Source, Uses};

use crate::circuit::Circuit;
use crate::program::Program;
use crate::types::{Type, ends, kind, range};
use crate::{errors, values};

/// Builds a program. Values are numbers that the methods give and take.
#[pyclass(module = "tacit._native")]
#[derive(Default)]
pub(crate) struct Builder {
    /// `None` once the program is finished.
    building: Option<tacit::program::Builder>,
}

impl Builder {
    /// Makes a node.
    fn make(
        &mut self,
        py: Python<'_>,
        make: impl FnOnce(&mut tacit::program::Builder) -> Result<NodeId, ProgramError>,
    ) -> PyResult<u32> {
        let node = make(self.open(py)?).map_err(|error| errors::program(py, &error))?;
        Ok(node.number())
    }

    fn open(&mut self, py: Python<'_>) -> PyResult<&mut tacit::program::Builder> {
        self.building.as_mut().ok_or_else(|| {
            errors::plan(
                py,
                "this value belongs to a program that is finished; what a function uses has to be one of its \
                 arguments",
            )
        })
    }
}

#[pymethods]
impl Builder {
    #[new]
    fn new() -> Self {
        Self { building: Some(tacit::program::Builder::new()) }
    }

    /// Says which line of the user's the next values come from.
    fn at(&mut self, py: Python<'_>, file: String, line: u32, text: String) -> PyResult<()> {
        self.open(py)?.at(Source { file, line, text });
        Ok(())
    }

    /// What a value is.
    fn type_of(&mut self, py: Python<'_>, a: u32) -> PyResult<Type> {
        let ty = self.open(py)?.type_of(NodeId::new(a)).map_err(|error| errors::program(py, &error))?;
        Type::new(py, ty)
    }

    /// A secret; without a range, of any value that its kind holds.
    #[pyo3(signature = (owner, name, kind_name, bits, shape, low=None, high=None))]
    #[expect(clippy::too_many_arguments, reason = "a declaration has that many parts")]
    fn input(
        &mut self,
        py: Python<'_>,
        owner: &str,
        name: &str,
        kind_name: &str,
        bits: u8,
        shape: Vec<usize>,
        low: Option<i128>,
        high: Option<i128>,
    ) -> PyResult<u32> {
        let (kind, range) = (kind(kind_name, bits)?, range(low, high)?);
        self.make(py, |build| build.input(owner, name, kind, &shape, range))
    }

    /// A value that everybody knows.
    fn constant(
        &mut self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        kind_name: &str,
        bits: u8,
    ) -> PyResult<u32> {
        let (value, kind) = (values::from_python(value)?, kind(kind_name, bits)?);
        self.make(py, |build| build.constant(&value, kind))
    }

    /// A value that everybody knows, of the kind that suits an operation with `beside`.
    fn constant_beside(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>, beside: u32) -> PyResult<u32> {
        let value = values::from_python(value)?;
        self.make(py, |build| build.constant_beside(&value, NodeId::new(beside)))
    }

    /// Lets a role learn a value; everybody, where `to` is `None`.
    #[pyo3(signature = (a, to))]
    fn reveal(&mut self, py: Python<'_>, a: u32, to: Option<String>) -> PyResult<()> {
        let to = to.map_or(Recipient::All, Recipient::Role);
        let revealed = self.open(py)?.reveal(NodeId::new(a), to);
        revealed.map_err(|error| errors::program(py, &error))
    }

    /// What the parties keep from an earlier run; without a range, of any value that its kind holds.
    #[pyo3(signature = (name, kind_name, bits, shape, low=None, high=None))]
    #[expect(clippy::too_many_arguments, reason = "a declaration has that many parts")]
    fn kept(
        &mut self,
        py: Python<'_>,
        name: &str,
        kind_name: &str,
        bits: u8,
        shape: Vec<usize>,
        low: Option<i128>,
        high: Option<i128>,
    ) -> PyResult<u32> {
        let (kind, range) = (kind(kind_name, bits)?, range(low, high)?);
        self.make(py, |build| build.kept(name, kind, &shape, range))
    }

    /// What all parties hold, and each run says; without a range, of any value that its kind holds.
    #[pyo3(signature = (name, kind_name, bits, shape, low=None, high=None))]
    #[expect(clippy::too_many_arguments, reason = "a declaration has that many parts")]
    fn known(
        &mut self,
        py: Python<'_>,
        name: &str,
        kind_name: &str,
        bits: u8,
        shape: Vec<usize>,
        low: Option<i128>,
        high: Option<i128>,
    ) -> PyResult<u32> {
        let (kind, range) = (kind(kind_name, bits)?, range(low, high)?);
        self.make(py, |build| build.known(name, kind, &shape, range))
    }

    /// Lets the parties keep a value, for programs of these hashes (for any, if there are none), and for these to learn; and the
    /// programs `writers` besides this one may keep later versions.
    #[pyo3(signature = (a, name, readers, learners, writers))]
    fn keep(
        &mut self,
        py: Python<'_>,
        a: u32,
        name: &str,
        readers: Vec<[u8; 32]>,
        learners: Option<Vec<String>>,
        writers: Vec<[u8; 32]>,
    ) -> PyResult<()> {
        let uses = Uses::new(readers, learners).with_writers(writers);
        let kept = self.open(py)?.keep(NodeId::new(a), name, uses);
        kept.map_err(|error| errors::program(py, &error))
    }

    /// The finished program. The builder can't be used afterwards.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Program> {
        self.open(py)?;
        match self.building.take().unwrap_or_default().finish() {
            Ok(program) => Program::new(py, program),
            Err(error) => Err(errors::program(py, &error)),
        }
    }

    /// Calls the builder's method of that name, which takes values alone.
    fn call(&mut self, py: Python<'_>, method: &str, operands: Vec<u32>) -> PyResult<u32> {
        let operands = nodes(operands);
        let Some(made) = self.open(py)?.call(method, &operands) else {
            return Err(PyTypeError::new_err(format!("no method {method} takes {} values", operands.len())));
        };
        made.map(NodeId::number).map_err(|error| errors::program(py, &error))
    }

    /// `a * by`, for public numbers as they are.
    fn scale(&mut self, py: Python<'_>, a: u32, by: &Bound<'_, PyAny>) -> PyResult<u32> {
        let by = values::from_python(by)?;
        self.make(py, |build| build.scale(NodeId::new(a), &by))
    }

    /// `a / by`, for public numbers as they are.
    fn divide(&mut self, py: Python<'_>, a: u32, by: &Bound<'_, PyAny>) -> PyResult<u32> {
        let by = values::from_python(by)?;
        self.make(py, |build| build.divide(NodeId::new(a), &by))
    }

    /// `a // by`, for public numbers.
    fn floor_divide(&mut self, py: Python<'_>, a: u32, by: &Bound<'_, PyAny>) -> PyResult<u32> {
        let by = values::from_python(by)?;
        self.make(py, |build| build.floor_divide(NodeId::new(a), &by))
    }

    /// `a @ matrix`, or `matrix @ a`, for public numbers as they are.
    fn weigh(&mut self, py: Python<'_>, a: u32, matrix: &Bound<'_, PyAny>, left: bool) -> PyResult<u32> {
        let matrix = values::from_python(matrix)?;
        self.make(py, |build| build.weigh(NodeId::new(a), &matrix, left))
    }

    /// A state of a body that is repeated: `a` at first, and always within this range.
    fn state(&mut self, py: Python<'_>, a: u32, low: i128, high: i128) -> PyResult<u32> {
        let range = ends(low, high)?;
        self.make(py, |build| build.state(NodeId::new(a), range))
    }

    /// A step's slice of a value.
    fn step(&mut self, py: Python<'_>, a: u32) -> PyResult<u32> {
        self.make(py, |build| build.step(NodeId::new(a)))
    }

    /// Whether the ranges of states hold after a step, and those to try next.
    fn widened(
        &mut self,
        py: Python<'_>,
        initial: Vec<u32>,
        states: Vec<u32>,
        results: Vec<u32>,
    ) -> PyResult<(bool, Vec<(i128, i128)>)> {
        let [initial, states, results] = [initial, states, results].map(nodes);
        let widened = self.open(py)?.widened(&initial, &states, &results);
        let (holds, ranges) = widened.map_err(|error| errors::program(py, &error))?;
        Ok((holds, ranges.iter().map(|range| (range.lo(), range.hi())).collect()))
    }

    /// Ends a body that is repeated: its states after the last step.
    fn end_repeat(
        &mut self,
        py: Python<'_>,
        times: u32,
        states: Vec<u32>,
        results: Vec<u32>,
    ) -> PyResult<Vec<u32>> {
        let [states, results] = [states, results].map(nodes);
        let made = self.open(py)?.end_repeat(times, &states, &results);
        let made = made.map_err(|error| errors::program(py, &error))?;
        Ok(made.into_iter().map(NodeId::number).collect())
    }

    /// `a`, of which the author knows the range.
    fn assume(&mut self, py: Python<'_>, a: u32, low: i128, high: i128) -> PyResult<u32> {
        let range = ends(low, high)?;
        self.make(py, |build| build.assume(NodeId::new(a), range))
    }

    /// `a`, of which the package knows the range by how it was made.
    fn narrow(&mut self, py: Python<'_>, a: u32, low: i128, high: i128) -> PyResult<u32> {
        let range = ends(low, high)?;
        self.make(py, |build| build.narrow(NodeId::new(a), range))
    }

    /// `a >> by`.
    fn shift_right(&mut self, py: Python<'_>, a: u32, by: u8) -> PyResult<u32> {
        self.make(py, |build| build.shift_right(NodeId::new(a), by))
    }

    /// A function of raw values by pieces: even ones, where `low` and `high` are given, else octaves in parts. Its
    /// results are raw values of so many fraction bits.
    #[pyo3(signature = (a, bits, parts, low, high, places, guard, terms, coefficients, frac))]
    #[expect(clippy::too_many_arguments, reason = "a table has that many parts")]
    fn piecewise(
        &mut self,
        py: Python<'_>,
        a: u32,
        bits: u8,
        parts: u8,
        low: Option<i64>,
        high: Option<i64>,
        places: u8,
        guard: u8,
        terms: usize,
        coefficients: Vec<i64>,
        frac: u8,
    ) -> PyResult<u32> {
        let pieces = match (low, high) {
            (Some(low), Some(high)) => Pieces::Even { low, high, bits },
            _ => Pieces::Octaves { bits, parts },
        };
        let function = Piecewise::new(pieces, places, guard, terms, coefficients.into());
        let function = function.ok_or_else(|| PyTypeError::new_err("a table that doesn't fit its pieces"))?;
        self.make(py, |build| build.piecewise(NodeId::new(a), function.into(), frac))
    }

    /// The number of so many fraction bits that has the same raw value.
    fn raw_as(&mut self, py: Python<'_>, a: u32, frac: u8) -> PyResult<u32> {
        self.make(py, |build| build.raw_as(NodeId::new(a), frac))
    }

    /// Another kind for the same numbers.
    fn astype(&mut self, py: Python<'_>, a: u32, kind_name: &str, bits: u8) -> PyResult<u32> {
        let kind = kind(kind_name, bits)?;
        self.make(py, |build| build.astype(NodeId::new(a), kind))
    }

    /// The sum over some axes, or over all.
    #[pyo3(signature = (a, axes, keepdims))]
    fn sum(&mut self, py: Python<'_>, a: u32, axes: Option<Vec<i64>>, keepdims: bool) -> PyResult<u32> {
        self.make(py, |build| build.sum(NodeId::new(a), axes.as_deref(), keepdims))
    }

    /// The least along an axis, or of all.
    #[pyo3(signature = (a, axis, keepdims))]
    fn min(&mut self, py: Python<'_>, a: u32, axis: Option<i64>, keepdims: bool) -> PyResult<u32> {
        self.make(py, |build| build.min(NodeId::new(a), axis, keepdims))
    }

    /// The largest along an axis, or of all.
    #[pyo3(signature = (a, axis, keepdims))]
    fn max(&mut self, py: Python<'_>, a: u32, axis: Option<i64>, keepdims: bool) -> PyResult<u32> {
        self.make(py, |build| build.max(NodeId::new(a), axis, keepdims))
    }

    /// Where the least stands first.
    #[pyo3(signature = (a, axis, keepdims))]
    fn argmin(&mut self, py: Python<'_>, a: u32, axis: Option<i64>, keepdims: bool) -> PyResult<u32> {
        self.make(py, |build| build.argmin(NodeId::new(a), axis, keepdims))
    }

    /// Where the largest stands first.
    #[pyo3(signature = (a, axis, keepdims))]
    fn argmax(&mut self, py: Python<'_>, a: u32, axis: Option<i64>, keepdims: bool) -> PyResult<u32> {
        self.make(py, |build| build.argmax(NodeId::new(a), axis, keepdims))
    }

    /// The same elements in another shape.
    fn reshape(&mut self, py: Python<'_>, a: u32, shape: Vec<i64>) -> PyResult<u32> {
        self.make(py, |build| build.reshape(NodeId::new(a), &shape))
    }

    /// Axes in another order; reversed without one.
    #[pyo3(signature = (a, axes))]
    fn transpose(&mut self, py: Python<'_>, a: u32, axes: Option<Vec<i64>>) -> PyResult<u32> {
        self.make(py, |build| build.transpose(NodeId::new(a), axes.as_deref()))
    }

    /// Repeated along new axes and those of length 1.
    fn broadcast_to(&mut self, py: Python<'_>, a: u32, shape: Vec<usize>) -> PyResult<u32> {
        self.make(py, |build| build.broadcast_to(NodeId::new(a), &shape))
    }

    /// What a window shows at each place where it fits.
    #[pyo3(signature = (a, lengths, axes))]
    fn windows(
        &mut self,
        py: Python<'_>,
        a: u32,
        lengths: Vec<usize>,
        axes: Option<Vec<i64>>,
    ) -> PyResult<u32> {
        self.make(py, |build| build.windows(NodeId::new(a), &lengths, axes.as_deref()))
    }

    /// `a[entries]`, for integers, slices, `None` and `...`.
    fn index(&mut self, py: Python<'_>, a: u32, entries: Vec<Bound<'_, PyAny>>) -> PyResult<u32> {
        let entries = entries.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
        self.make(py, |build| build.index(NodeId::new(a), &entries))
    }

    /// Joins values along an axis.
    fn concatenate(&mut self, py: Python<'_>, values: Vec<u32>, axis: i64) -> PyResult<u32> {
        let values = nodes(values);
        self.make(py, |build| build.concatenate(&values, axis))
    }

    /// Values in an order that nobody knows, the same for all.
    fn shuffle(&mut self, py: Python<'_>, values: Vec<u32>) -> PyResult<Vec<u32>> {
        let shuffled = self.open(py)?.shuffle(&nodes(values));
        let shuffled = shuffled.map_err(|error| errors::program(py, &error))?;
        Ok(shuffled.into_iter().map(NodeId::number).collect())
    }

    /// Each row of a matrix of keys in ascending order, and other values in the same order.
    fn sort(&mut self, py: Python<'_>, keys: u32, columns: Vec<u32>, by_network: bool) -> PyResult<Vec<u32>> {
        let (keys, columns) = (NodeId::new(keys), nodes(columns));
        let build = self.open(py)?;
        let sorted =
            if by_network { build.sort_by_network(keys, &columns) } else { build.sort(keys, &columns) };
        let sorted = sorted.map_err(|error| errors::program(py, &error))?;
        Ok(sorted.into_iter().map(NodeId::number).collect())
    }

    /// A circuit's outputs, each with its bits along the last axis.
    fn circuit(&mut self, py: Python<'_>, circuit: &Circuit, operands: Vec<u32>) -> PyResult<Vec<u32>> {
        let operands = nodes(operands);
        let outputs = self.open(py)?.circuit(&circuit.circuit, &operands);
        let outputs = outputs.map_err(|error| errors::program(py, &error))?;
        Ok(outputs.into_iter().map(NodeId::number).collect())
    }

    /// Joins values of one shape along a new axis.
    fn stack(&mut self, py: Python<'_>, values: Vec<u32>, axis: i64) -> PyResult<u32> {
        let values = nodes(values);
        self.make(py, |build| build.stack(&values, axis))
    }
}

/// Values by their numbers.
fn nodes(numbers: Vec<u32>) -> Vec<NodeId> {
    numbers.into_iter().map(NodeId::new).collect()
}

/// One entry of an index.
fn entry(entry: &Bound<'_, PyAny>) -> PyResult<Index> {
    if entry.is_none() {
        Ok(Index::NewAxis)
    } else if entry.is_instance_of::<PyEllipsis>() {
        Ok(Index::Ellipsis)
    } else if entry.is_instance_of::<PySlice>() {
        let end = |name: &str| entry.getattr(name)?.extract::<Option<i64>>();
        Ok(Index::Slice { start: end("start")?, stop: end("stop")?, step: end("step")?.unwrap_or(1) })
    } else if let Ok(place) = entry.extract::<i64>() {
        Ok(Index::At(place))
    } else {
        Err(PyTypeError::new_err(format!("{} is no index", entry.get_type().name()?)))
    }
}
