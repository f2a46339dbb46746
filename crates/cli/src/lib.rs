//! The command line, as a library: what `tacit run`, `circuit`, `cost`, `plan`, `init`, `offline`, `store`, `state`,
//! `serve`, `client`, `certificate`, `doctor`, `bench` and `demo` do.
//!
//! Two commands call [`main`]: the Python package's, which gives through [`Front`] what only Python can do (import a
//! program, read a network, run the demo), and this crate's own binary ([`Native`]), which runs saved plans. Results
//! go to standard output, errors to standard error; with `--json` both are objects, one to a line, for machines to
//! read.
//!
//! The exit code is 0 if all went well, 1 if a run was aborted, its outputs are wrong or a table has more rows than a bound of
//! its program, 2 if the command was used wrongly or its input is bad; 141, as of SIGPIPE, if nobody reads the results any more.

mod args;
mod bench;
mod certificate;
mod circuit;
mod client;
mod command;
mod context;
mod cost;
mod doctor;
mod failure;
mod front;
mod init;
mod log;
mod metrics;
mod net;
mod npy;
mod offline;
mod output;
mod plan;
mod program;
mod progress;
mod revealed;
mod run;
mod serve;
mod show;
mod state;
mod store;
mod table;
mod tables;

pub use front::{Front, Native, Told, Unmade};
pub use progress::Bar;

use clap::{CommandFactory, Parser};
use command::{Arguments, Command};
use context::Context;
use failure::Failure;
use output::Output;
use std::ffi::OsString;

/// Runs the command line `args`, which doesn't include the command's own name, and returns the exit code. Files may have
/// any names; other arguments are UTF-8.
///
/// `this_command` starts this program anew (`["python", "-m", "tacit"]`): a benchmark's parties are processes of
/// their own. SIGINT should be left to the system, or Ctrl-C does nothing while a run waits for messages.
pub fn main(args: Vec<OsString>, front: &dyn Front, this_command: Vec<String>) -> i32 {
    let mut out = std::io::stdout();
    let mut context =
        Context { front, this_command, json: false, out: Output::to(&mut out), err: &mut std::io::stderr() };
    context.main(args)
}

impl Context<'_> {
    pub(crate) fn main(&mut self, args: Vec<OsString>) -> i32 {
        // Known before the arguments are, so that their own errors are written as asked.
        self.json = args.iter().any(|arg| arg == "--json");
        let name = std::iter::once("tacit".into());
        let arguments = match Arguments::try_parse_from(name.chain(args)) {
            Ok(arguments) => arguments,
            Err(told) if !told.use_stderr() => return self.tell(&told.render().to_string()),
            Err(wrong) => return self.fail(&Failure::usage(wrong.render().to_string().trim_end())),
        };
        let done = match arguments.command {
            Command::Demo => match self.front.demo(self.json) {
                Ok(code) => return code,
                Err(without) => Err(Failure::usage(without)),
            },
            Command::Infer { args } => match self.front.infer(&args) {
                Ok(code) => return code,
                Err(without) => Err(Failure::usage(without)),
            },
            Command::Run(args) => run::run(self, &args),
            Command::Circuit(args) => circuit::circuit(self, &args),
            Command::Plan(args) => plan::plan(self, &args),
            Command::Init(args) => init::init(self, &args),
            Command::Offline(args) => offline::offline(self, &args),
            Command::Serve(args) => serve::serve(self, &args),
            Command::Client { command } => client::client(self, &command),
            Command::Certificate { command } => certificate::certificate(self, &command),
            Command::Doctor(args) => doctor::doctor(self, &args),
            Command::Cost(args) => cost::cost(self, &args),
            Command::Store { command } => store::store(self, &command),
            Command::State { command } => state::state(self, &command),
            Command::Bench(args) => bench::bench(self, &args),
            Command::BenchParty => bench::party_process(self),
            Command::Completions { shell } => self.completions(shell),
        };
        match done {
            Ok(()) => 0,
            Err(failure) => self.fail(&failure),
        }
    }

    /// What lets a shell complete this command.
    fn completions(&mut self, shell: clap_complete::Shell) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "tacit", &mut script);
        self.line(String::from_utf8_lossy(&script).trim_end())
    }
}

#[cfg(test)]
mod tests;
