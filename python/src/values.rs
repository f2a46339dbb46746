//! Clear values between Python and the core: arrays as whole buffers, never element by element.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use tacit::program::{Data, Value};

/// A Python number, or a C-contiguous array of bool, int64, uint64, float64, or Python integers of up to 128 bits.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let scalar = |data| Ok(Value { shape: vec![], data });
    if value.is_exact_instance_of::<PyBool>() {
        scalar(Data::Bool(vec![value.extract()?]))
    } else if value.is_exact_instance_of::<PyInt>() {
        match (value.extract::<i64>(), value.extract::<u64>()) {
            (Ok(number), _) => scalar(Data::Int(vec![number])),
            (_, Ok(number)) => scalar(Data::Unsigned(vec![number])),
            _ => scalar(Data::Wide(vec![value.extract()?])),
        }
    } else if value.is_exact_instance_of::<PyFloat>() {
        scalar(Data::Float(vec![value.extract()?]))
    } else if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
        elements(array, Data::Float)
    } else if let Ok(array) = value.cast::<PyArrayDyn<i64>>() {
        elements(array, Data::Int)
    } else if let Ok(array) = value.cast::<PyArrayDyn<u64>>() {
        elements(array, Data::Unsigned)
    } else if let Ok(array) = value.cast::<PyArrayDyn<bool>>() {
        elements(array, Data::Bool)
    } else if let Ok(array) = value.cast::<PyArrayDyn<Py<PyAny>>>() {
        let integers: PyResult<Vec<u128>> =
            array.try_readonly()?.as_array().iter().map(|number| number.extract(value.py())).collect();
        Ok(Value { shape: array.shape().to_vec(), data: Data::Wide(integers?) })
    } else {
        Err(PyTypeError::new_err(format!(
            "{} is no number and no array of numbers",
            value.get_type().name()?
        )))
    }
}

fn elements<T: Element>(array: &Bound<'_, PyArrayDyn<T>>, data: fn(Vec<T>) -> Data) -> PyResult<Value> {
    let shape = array.shape().to_vec();
    let view = array.try_readonly()?;
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("the array is not C-contiguous"));
    }
    Ok(Value { shape, data: data(view.to_vec()?) })
}

/// A Python number where there are no axes, else an array that takes over the elements.
pub(crate) fn to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    let Value { shape, data } = value;
    if shape.is_empty() {
        return match data {
            Data::Bool(data) => first(py, &data),
            Data::Int(data) => first(py, &data),
            Data::Unsigned(data) => first(py, &data),
            Data::Wide(data) => first(py, &data),
            Data::Float(data) => first(py, &data),
        };
    }
    match data {
        Data::Bool(data) => array(py, data, shape),
        Data::Int(data) => array(py, data, shape),
        Data::Unsigned(data) => array(py, data, shape),
        Data::Wide(data) => {
            let integers: PyResult<Vec<Py<PyAny>>> = data.into_iter().map(|x| x.into_py_any(py)).collect();
            array(py, integers?, shape)
        }
        Data::Float(data) => array(py, data, shape),
    }
}

fn first<'py, T: Copy + IntoPyObject<'py>>(py: Python<'py>, data: &[T]) -> PyResult<Bound<'py, PyAny>> {
    match data.first() {
        Some(&number) => number.into_bound_py_any(py),
        None => Err(PyTypeError::new_err("a value without elements")),
    }
}

fn array<T: Element>(py: Python<'_>, data: Vec<T>, shape: Vec<usize>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyArray1::from_vec(py, data).reshape(shape)?.into_any())
}
