//! All commands there are.

use crate::args::{
    CertificateCommand, ClientCommand, CostArgs, DoctorArgs, InitArgs, OfflineArgs, PlanArgs, RunArgs,
    ServeArgs, StateCommand, StoreCommand,
};
use crate::bench::BenchArgs;
use crate::circuit::CircuitArgs;
use clap::{Parser, Subcommand};

/// Compute on joint data while every party keeps its own secret.
#[derive(Debug, Parser)]
#[command(name = "tacit", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Write results and errors as JSON objects on standard output, one to a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Private predictions on real data: three servers, a model owner and a client on this machine
    Demo,
    /// Run a program: as one party or client of a deployment, or all of them in this process
    Run(RunArgs),
    /// Ask a neural network, an ONNX file, in secret; or save its plan, or say what it will cost
    #[command(disable_help_flag = true)]
    Infer {
        /// The file and options: `tacit infer --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "MODEL.onnx ...")]
        args: Vec<String>,
    },
    /// Run a Boolean circuit on any number of instances, or say what that will cost
    Circuit(CircuitArgs),
    /// Make what every machine of a deployment needs: a folder with keys and parties.toml for each
    Init(InitArgs),
    /// Say what a program will cost: bytes, rounds, seconds of network; nothing is run
    Cost(CostArgs),
    /// Say what a program is and reveals; and save its plan, for machines without Python
    Plan(PlanArgs),
    /// Make material for runs to come, all parties together and without clients: for runs of PROGRAM, or under some protocols
    /// for any
    Offline(OfflineArgs),
    /// Look into a party's store of material, and let it be used again if its anchor is lost
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Look into what a party keeps of programs, or drop some of it
    State {
        #[command(subcommand)]
        command: StateCommand,
    },
    /// Stay up as one party of a deployment and run programs for clients, several at a time
    Serve(ServeArgs),
    /// Enrol a client with a party, or strike one off: a party that serves needs no restart for it
    Client {
        #[command(subcommand)]
        command: ClientCommand,
    },
    /// Renew a certificate while the deployment lives: made, accepted by everybody, then used
    Certificate {
        #[command(subcommand)]
        command: CertificateCommand,
    },
    /// Check an endpoint of a deployment: keys, certificate, port, and whether the parties are there and agree
    Doctor(DoctorArgs),
    /// Measure this machine, or a protocol on it
    Bench(BenchArgs),
    /// Write what lets a shell complete this command: source <(tacit completions bash)
    Completions {
        /// The shell: bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
    /// One party of a benchmark, which says on standard input what to do
    #[command(hide = true)]
    BenchParty,
}
