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

    /// Asks a neural network, with these arguments of its own; the exit code.
    ///
    /// # Errors
    /// A text for the user, if there is no reader of networks here.
    fn infer(&self, args: &[String]) -> Result<i32, String>;

    /// Makes a network to measure with, and writes its plan, its inputs for so many rows and its clear result to a folder
    /// (`tacit bench dnn`); a small one if `quick`. If its weights are to be kept, also the plan that keeps them.
    ///
    /// # Errors
    /// A text for the user, if there is no maker of networks here, or not all that it needs.
    fn network(&self, name: &str, rows: usize, quick: bool, kept: bool, folder: &Path) -> Result<(), String>;

    /// Runs the demo; the exit code.
    ///
    /// # Errors
    /// A text for the user, if there is none here.
    fn demo(&self, json: bool) -> Result<i32, String>;

    /// The interpreter that runs a program given as a file, if there is one.
    fn interpreter(&self) -> Option<PathBuf>;
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

    fn infer(&self, _args: &[String]) -> Result<i32, String> {
        Err("reading a network needs the Python package's command. Where it is, save the network's plan with `tacit infer \
             MODEL.onnx --save network.plan`, and run that file with `tacit run`"
            .to_owned())
    }

    fn network(
        &self,
        _name: &str,
        _rows: usize,
        _quick: bool,
        _kept: bool,
        _folder: &Path,
    ) -> Result<(), String> {
        Err("networks are made by the Python package's command".to_owned())
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
