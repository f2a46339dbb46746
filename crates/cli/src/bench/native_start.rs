//! The saved plan of `tacit bench start --native`, and its three parties: processes of this command, on loopback.

use super::process::{Children, configure};
use super::spec::Transport;
use crate::failure::Failure;
use crate::npy;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use tacit::program::{Builder, Data, Dtype, Program, ProgramError, Range, Recipient, Value};
use tacit::{Error, SavedPlan};

/// What is measured.
pub(super) const WHAT: &str = "a saved plan of ten lines among three parties over TCP";

/// Whose numbers are larger, and by how much in all? The program of the other benchmark on [`NUMBERS`].
fn program() -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let (kind, range) = (Dtype::Fixed { frac: 16 }, Range::new(0, 1_000_000 << 16));
    let a = build.input("P0", "a", kind, &[3], range)?;
    let b = build.input("P1", "b", kind, &[3], range)?;
    let larger = build.greater(a, b)?;
    let count = build.sum(larger, None, false)?;
    let difference = build.sub(a, b)?;
    let total = build.sum(difference, None, false)?;
    build.reveal(count, Recipient::All)?;
    build.reveal(total, Recipient::All)?;
    build.finish()
}

/// What P0 and P1 give: 2 numbers of P0's are larger, and they are 85 less in all.
const NUMBERS: [(&str, [f64; 3]); 2] = [("a", [10.0, 20.0, 5.0]), ("b", [9.0, 10.0, 101.0])];

/// The parties' commands.
pub(super) struct NativeStart {
    this_command: Vec<String>,
    /// Arguments of each.
    parties: Vec<Vec<PathBuf>>,
}

impl NativeStart {
    /// Writes plan, inputs and configurations to a folder.
    pub(super) fn new(folder: &Path, this_command: &[String]) -> Result<Self, Failure> {
        let system = |error: std::io::Error| Failure::aborted(format!("no file can be written: {error}"));
        let plan = folder.join("richer.plan");
        let program = program().map_err(Error::from)?;
        std::fs::write(&plan, SavedPlan::new(program, "richer").to_bytes()).map_err(system)?;
        let mut parties = Vec::new();
        for config in configure(&folder.join("parties"), Transport::Tcp, 3, &[])? {
            parties.push(vec!["run".into(), plan.clone(), "--json".into(), "--config".into(), config]);
        }
        for (party, (name, numbers)) in parties.iter_mut().zip(NUMBERS) {
            let file = folder.join(format!("{name}.npy"));
            let value = Value { shape: vec![numbers.len()], data: Data::Float(numbers.to_vec()) };
            npy::write(&file, &value).map_err(Failure::aborted)?;
            party.extend(["--input".into(), format!("{name}={}", file.display()).into()]);
        }
        Ok(Self { this_command: this_command.to_vec(), parties })
    }

    /// Seconds from the first process's start to the last one's end.
    pub(super) fn run(&self) -> Result<f64, Failure> {
        let system = |error: std::io::Error| Failure::aborted(format!("a party can't be started: {error}"));
        let (program, first) =
            self.this_command.split_first().ok_or_else(|| Failure::aborted("no command"))?;
        let start = Instant::now();
        let mut running = Children::default();
        for args in &self.parties {
            let mut party = Command::new(program);
            party.args(first).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
            running.0.push(party.spawn().map_err(system)?);
        }
        let ended: Result<Vec<_>, _> =
            std::mem::take(&mut running.0).into_iter().map(Child::wait_with_output).collect();
        let elapsed = start.elapsed().as_secs_f64();
        for output in ended.map_err(system)? {
            let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let values = [0, 1].map(|number| printed["outputs"][number]["value"].clone());
            if values != [json!(2), json!(-85.0)] {
                return Err(Failure::wrong(format!(
                    "a party ended with {}{}",
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr)
                )));
            }
        }
        Ok(elapsed)
    }
}
