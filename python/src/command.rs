//! The command line, which is the core's; Python loads programs for it and runs the demo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tacit::SavedPlan;
use tacit::program::Value;
use tacit_cli::{Front, Told, Unmade};

use crate::program::Program;
use crate::values;

/// Runs the command line `args` and returns the exit code.
///
/// `load(path, arguments)` gives a program with its name and what its function returns, or a text that says why there is
/// none; `table(result, name, path)` arrays by input, or such a text; `tables(result, inputs)` and `revealed(structure, outputs,
/// file)` what is told of tables, for people and as JSON, or `None`, or such a text; `infer(arguments)` and `demo(json)` an exit code;
/// `measured(work, folder)` writes what a benchmark measures, or says why not and whether it is wrong.
#[expect(clippy::too_many_arguments, reason = "one for each thing that only Python can do")]
#[pyfunction]
#[pyo3(name = "main")]
pub(crate) fn run(
    py: Python<'_>,
    args: Vec<OsString>,
    load: Py<PyAny>,
    table: Py<PyAny>,
    tables: Py<PyAny>,
    revealed: Py<PyAny>,
    infer: Py<PyAny>,
    measured: Py<PyAny>,
    demo: Py<PyAny>,
    interpreter: PathBuf,
) -> i32 {
    // `-P`: modules of the folder that the command runs in (a file `re.py`, say) are not the library's.
    let name = interpreter.display().to_string();
    let this_command = [&name, "-P", "-m", "tacit"].map(ToOwned::to_owned).to_vec();
    py.detach(|| {
        let front = PythonFront { load, table, tables, revealed, infer, measured, demo, interpreter };
        tacit_cli::main(args, &front, this_command)
    })
}

struct PythonFront {
    load: Py<PyAny>,
    table: Py<PyAny>,
    tables: Py<PyAny>,
    revealed: Py<PyAny>,
    infer: Py<PyAny>,
    measured: Py<PyAny>,
    demo: Py<PyAny>,
    interpreter: PathBuf,
}

impl Front for PythonFront {
    fn load_source(&self, path: &Path, args: &[String]) -> Result<SavedPlan, String> {
        Python::attach(|py| {
            let loaded = self.load.bind(py).call1((path, args)).map_err(|error| error.to_string())?;
            let Ok((program, name, result)) = loaded.extract::<(Bound<'_, Program>, String, String)>() else {
                return Err(loaded.to_string());
            };
            let saved = SavedPlan::new(program.get().compiled.program().clone(), &name);
            saved.with_result(&result).map_err(|error| error.to_string())
        })
    }

    fn read_table(&self, plan: &SavedPlan, name: &str, path: &Path) -> Result<Vec<(String, Value)>, String> {
        Python::attach(|py| {
            let read =
                self.table.bind(py).call1((plan.result(), name, path)).map_err(|error| error.to_string())?;
            let Ok(arrays) = read.extract::<Vec<(String, Bound<'_, PyAny>)>>() else {
                return Err(read.to_string());
            };
            let value = |(input, array)| {
                Ok((input, values::from_python(&array).map_err(|error: PyErr| error.to_string())?))
            };
            arrays.into_iter().map(value).collect()
        })
    }

    fn describe_tables(&self, plan: &SavedPlan) -> Result<Option<Told>, String> {
        let inputs = plan.program.input_types().into_iter();
        let inputs: Vec<_> = inputs.map(|input| (input.owner, input.name, input.shape)).collect();
        Python::attach(|py| told(self.tables.bind(py).call1((plan.result(), inputs))))
    }

    fn tell_table(
        &self,
        structure: &str,
        outputs: &[Option<Value>],
        file: Option<&Path>,
    ) -> Result<Option<Told>, String> {
        Python::attach(|py| {
            let outputs: PyResult<Vec<_>> = outputs
                .iter()
                .map(|value| value.clone().map(|value| values::to_python(py, value)).transpose())
                .collect();
            let outputs = outputs.map_err(|error| error.to_string())?;
            told(self.revealed.bind(py).call1((structure, outputs, file)))
        })
    }

    fn infer(&self, args: &[String]) -> Result<i32, String> {
        Ok(Python::attach(|py| code(py, self.infer.bind(py).call1((args,)))))
    }

    fn measured(&self, work: &str, folder: &Path) -> Result<(), Unmade> {
        Python::attach(|py| {
            let made = self.measured.bind(py).call1((work, folder));
            let unmade = made.and_then(|made| made.extract::<Option<(String, bool)>>());
            match unmade.map_err(|error| Unmade::Refused(error.to_string()))? {
                None => Ok(()),
                Some((why, true)) => Err(Unmade::Wrong(why)),
                Some((why, false)) => Err(Unmade::Refused(why)),
            }
        })
    }

    fn demo(&self, json: bool) -> Result<i32, String> {
        Ok(Python::attach(|py| code(py, self.demo.bind(py).call1((json,)))))
    }

    fn interpreter(&self) -> Option<PathBuf> {
        Some(self.interpreter.clone())
    }
}

/// What a function tells of tables; it returned what people read and JSON, or `None`, or why it can't.
fn told(returned: PyResult<Bound<'_, PyAny>>) -> Result<Option<Told>, String> {
    let returned = returned.map_err(|error| error.to_string())?;
    let Ok(told) = returned.extract::<Option<(String, String)>>() else {
        return Err(returned.to_string());
    };
    told.map(|(text, json)| Told::new(text, &json)).transpose()
}

/// The exit code that a function returned; 1 for what it raised, which is printed.
fn code(py: Python<'_>, returned: PyResult<Bound<'_, PyAny>>) -> i32 {
    returned.and_then(|code| code.extract()).unwrap_or_else(|error| {
        error.print(py);
        1
    })
}
