//! What the command line asks of the language that it is started from.

use std::path::{Path, PathBuf};
use tacit::program::Program;

/// What only Python can do for the command line.
pub trait Front {
    /// The program of a source file, traced with these arguments of its own, or that of a saved plan.
    ///
    /// # Errors
    /// A text for the user: the file can't be read, or the program is wrong.
    fn load_program(&self, path: &Path, args: &[String]) -> Result<Program, String>;

    /// Runs the demo; the exit code.
    fn demo(&self, json: bool) -> i32;

    /// The interpreter that runs a program given as a file.
    fn interpreter(&self) -> PathBuf;
}
