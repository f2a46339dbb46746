//! What the command line asks of the language that it is started from.

use std::path::{Path, PathBuf};
use tacit::SavedPlan;
use tacit::program::Value;

/// What only Python can do for the command line.
pub trait Front {
    /// The program of a source file, traced with these arguments of its own.
    ///
    /// # Errors
    /// A text for the user: the file can't be read, or the program is wrong.
    fn load_source(&self, path: &Path, args: &[String]) -> Result<SavedPlan, String>;

    /// The inputs that a table of a plan is given by, by owner and name, as a file of Parquet, Arrow or CSV has it. `name` is the
    /// table's, or `OWNER.NAME`.
    ///
    /// # Errors
    /// A text for the user: there is no such table, or what is in the file doesn't fit it.
    fn read_table(&self, plan: &SavedPlan, name: &str, path: &Path) -> Result<Vec<(String, Value)>, String>;

    /// The tables that come into a plan, with all that their owners declare: words of categories, decimal places, what is
    /// different in all rows, and their order. `None` if nothing here knows.
    ///
    /// # Errors
    /// A text for the user: they aren't those that the plan's program was made for.
    fn describe_tables(&self, plan: &SavedPlan) -> Result<Option<Told>, String>;

    /// A revealed table, which `structure` describes in what a plan's function returns, from all outputs of a run. With a
    /// file it is written there besides, as CSV, Parquet or Arrow. `None` if it isn't learnt here, or nothing here knows.
    ///
    /// # Errors
    /// A text for the user: it can't be written to such a file, or the description is damaged.
    fn tell_table(
        &self,
        structure: &str,
        outputs: &[Option<Value>],
        file: Option<&Path>,
    ) -> Result<Option<Told>, String>;

    /// Asks a neural network, with these arguments of its own; the exit code.
    ///
    /// # Errors
    /// A text for the user, if there is no reader of networks here.
    fn infer(&self, args: &[String]) -> Result<i32, String>;

    /// Makes what a benchmark of a network or of tables measures, which `work` says as JSON: writes its plan and its
    /// inputs to a folder, and of a network its result in floating point.
    ///
    /// # Errors
    /// If there is no maker of networks and tables here, or not all that it needs; or the plan's clear result isn't that
    /// of others.
    fn measured(&self, work: &str, folder: &Path) -> Result<(), Unmade>;

    /// Runs the demo; the exit code.
    ///
    /// # Errors
    /// A text for the user, if there is none here.
    fn demo(&self, json: bool) -> Result<i32, String>;

    /// The interpreter that runs a program given as a file, if there is one.
    fn interpreter(&self) -> Option<PathBuf>;
}

/// What is told of tables: of characters that can be printed, whatever the plan says.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// For people.
    pub text: String,
    /// For machines.
    pub json: serde_json::Value,
}

impl Told {
    /// The two, the second as a text.
    ///
    /// # Errors
    /// A text for the user: it is no JSON.
    pub fn new(text: String, json: &str) -> Result<Self, String> {
        let json = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Ok(Self { text, json })
    }
}

/// Why there is nothing to measure; a text for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmade {
    /// Something is missing, or a size is none.
    Refused(String),
    /// What the plan computes in the clear is wrong.
    Wrong(String),
}

/// The command without Python: what runs is a saved plan.
pub struct Native;

impl Front for Native {
    fn load_source(&self, path: &Path, _args: &[String]) -> Result<SavedPlan, String> {
        let (file, plan) = (path.display(), path.with_extension("plan"));
        Err(format!(
            "{file} is no saved plan, and this command, which has no Python, runs nothing else. Where Python is, save the \
             program's plan with `tacit plan {file} --save {}`, and give this command that file",
            plan.display()
        ))
    }

    fn read_table(
        &self,
        _plan: &SavedPlan,
        _name: &str,
        path: &Path,
    ) -> Result<Vec<(String, Value)>, String> {
        let file = path.display();
        Err(format!(
            "{file} is a table, which only the Python package's command reads; this one takes NumPy files"
        ))
    }

    fn describe_tables(&self, _plan: &SavedPlan) -> Result<Option<Told>, String> {
        Ok(None)
    }

    fn tell_table(
        &self,
        _structure: &str,
        _outputs: &[Option<Value>],
        file: Option<&Path>,
    ) -> Result<Option<Told>, String> {
        match file {
            None => Ok(None),
            Some(file) => Err(format!(
                "{} is a table, which only the Python package's command writes; this one writes NumPy files to a folder",
                file.display()
            )),
        }
    }

    fn infer(&self, _args: &[String]) -> Result<i32, String> {
        Err("reading a network needs the Python package's command. Where it is, save the network's plan with `tacit infer \
             MODEL.onnx --save network.plan`, and run that file with `tacit run`"
            .to_owned())
    }

    fn measured(&self, _work: &str, _folder: &Path) -> Result<(), Unmade> {
        let why = "networks and tables to measure with are made by the Python package's command";
        Err(Unmade::Refused(why.to_owned()))
    }

    fn demo(&self, _json: bool) -> Result<i32, String> {
        Err("the demo trains models, for which it needs the Python package's command".to_owned())
    }

    fn interpreter(&self) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::tacit;

    #[test]
    fn the_demo_is_pythons() {
        assert_eq!(tacit(&["demo"]).0, 40);
        assert_eq!(tacit(&["demo", "--json"]).0, 41);
    }

    #[test]
    fn networks_are_pythons() {
        assert_eq!(tacit(&["infer", "net.onnx", "--help", "--json"]).0, 42);
        let (code, _, told) = tacit(&["infer"]);
        assert_eq!(code, 2);
        assert!(told.contains("no network"), "{told}");
    }
}
