//! What can be said on the command line.

mod number;
mod serve;
mod state;

pub(crate) use number::{count, protocols, size};
pub(crate) use serve::ServeArgs;
pub(crate) use state::{FolderArgs, RefreshArgs, StateArgs, StateCommand};

use crate::bench::BenchArgs;
use crate::circuit::CircuitArgs;
use crate::failure::Failure;
use crate::net::NetArgs;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, FromArgMatches, Parser, Subcommand};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tacit::advanced::engine::Auto;
use tacit::advanced::net::setup::{Config, Fingerprint};

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

/// Which program, and how to load it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ProgramArgs {
    /// A saved .plan; or, if this command has Python, a file with a plan or one function of secrets
    #[arg(value_name = "PROGRAM")]
    pub(crate) path: PathBuf,
    /// An argument of the program's own; may be repeated
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Write the plan to this file
    #[arg(long, value_name = "FILE.plan", value_parser = plan_file())]
    pub(crate) save: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// Where the folders go, one for each party and client
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How many parties compute; they are called P0, P1, ...
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) parties: usize,
    /// Names of clients
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub(crate) clients: Vec<String>,
    /// The host of all parties, until the addresses are edited
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The first party's port; the others take the next ones
    #[arg(long, default_value_t = 7700)]
    pub(crate) port: u16,
}

#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["config", "simulate"])))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    /// Run as the party or client whose configuration this is
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Run all parties and clients in this process; N parties, or as many as the protocol is for
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = ALL,
        value_parser = number_of_parties)]
    pub(crate) simulate: Option<usize>,
    /// The values of an input: its name, or OWNER.NAME, and a NumPy file; of a table a Parquet, Arrow or CSV file
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = named_files())]
    pub(crate) inputs: Vec<(String, PathBuf)>,
    /// Write each output that is learnt here to DIR as output-0.npy, output-1.npy, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) net: NetArgs,
    #[command(flatten)]
    pub(crate) store: Option<StoreArgs>,
    #[command(flatten)]
    pub(crate) stays: StateArgs,
    /// As a client of parties that serve: play this name of the program, instead of one's own
    #[arg(long, value_name = "NAME", requires = "config")]
    pub(crate) plays: Option<String>,
    /// As a client of parties that serve: meet those clients alone who give the same tag
    #[arg(long, value_name = "TAG", requires = "config", default_value = "")]
    pub(crate) tag: String,
    /// Compare every operation with the clear result; for made-up data, since nothing stays secret
    #[arg(long, conflicts_with_all = ["config", "store", "state"])]
    pub(crate) debug: bool,
    /// Say what was sent, in how many rounds and how long it took
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("where").required(true).multiple(true).args(["config", "simulate", "cost"])))]
#[command(group(clap::ArgGroup::new("kept").required(true).args(["store", "cost"])))]
pub(crate) struct OfflineArgs {
    #[command(flatten)]
    pub(crate) program: Option<ProgramArgs>,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    /// Take part as the party whose configuration this is; with --cost, reckon with its parties and its window
    #[arg(long, value_name = "parties.toml", conflicts_with = "simulate")]
    pub(crate) config: Option<PathBuf>,
    /// Make the material of all parties in this process, each in a folder of its own in the store's; N parties, or as
    /// many as the protocol is for
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = ALL,
        value_parser = number_of_parties)]
    pub(crate) simulate: Option<usize>,
    /// Say what it will cost; nothing is made
    #[arg(long)]
    pub(crate) cost: bool,
    /// For how many runs of PROGRAM, the same for everybody
    #[arg(long, value_name = "N", requires = "path", value_parser = count)]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) stock: StockArgs,
    /// Make nothing if all parties have as much unused already, in one epoch
    #[arg(long, conflicts_with = "count")]
    pub(crate) up_to: bool,
    #[command(flatten)]
    pub(crate) store: Option<StoreArgs>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) net: NetArgs,
}

/// What stores are filled with for any program: a flag for each name that protocols have for some of it.
#[derive(Clone, Debug)]
pub(crate) struct StockArgs(pub(crate) Vec<(&'static str, u64)>);

/// The names of these flags.
fn stocks() -> Vec<&'static str> {
    tacit::stocks().into_iter().map(|(name, _)| name).collect()
}

impl Args for StockArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(tacit::stocks().into_iter().map(|(name, protocols)| {
            let help = format!(
                "{}: make so many {name} for any program, the same for everybody",
                protocols.join(", ")
            );
            let number = clap::value_parser!(u64).range(1..);
            Arg::new(name)
                .long(name)
                .value_name("N")
                .help(help)
                .value_parser(number)
                .conflicts_with_all(["path", "cost"])
        }))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for StockArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name| Some((name, *matches.get_one::<u64>(name)?));
        Ok(Self(stocks().into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Where material is kept.
#[derive(Args, Clone, Debug)]
#[group(id = "material")]
pub(crate) struct StoreArgs {
    /// A party's folder of material for this program, or of supplies for any, made by `tacit offline`; nobody else may read it
    #[arg(long, value_name = "DIR", required = false)]
    pub(crate) store: PathBuf,
    /// The folder, outside of the store, of what says once more what is used: tacit/anchors where this user's state is
    /// kept if not said, and anchors in the store's folder with --simulate
    #[arg(long, value_name = "DIR", requires = "store")]
    pub(crate) anchors: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Say what a store's material is for and how much of it is unused, or that of all stores in a folder; nothing is changed
    List(AnchoredArgs),
    /// Let a store be used again whose anchor is lost: a new one takes over what the store itself says is used. Never for a
    /// store that came from a backup
    Adopt {
        #[command(flatten)]
        store: AnchoredArgs,
        /// I know that this store is no copy, and that it was never restored
        #[arg(long)]
        never_copied: bool,
    },
}

/// A store and its anchor.
#[derive(Args, Clone, Debug)]
pub(crate) struct AnchoredArgs {
    /// The party's folder of material
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// The folder of its anchor. If not said: anchors beside the store if it lies there, as after --simulate, and tacit/anchors
    /// where this user's state is kept else
    #[arg(long, value_name = "DIR")]
    pub(crate) anchors: Option<PathBuf>,
}

/// How much of circuits is under way at a time.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WindowArgs {
    /// Bytes of circuits' messages that each party has under way in a lane, the same for everybody: about bandwidth
    /// times round trip. If not said: window_bytes of parties.toml with --config, what the links of its --net hold
    /// for a benchmark, and 65536 else
    #[arg(id = "window", long = "window", value_name = "BYTES", value_parser = window_bytes)]
    pub(crate) bytes: Option<usize>,
}

impl WindowArgs {
    /// A configuration, with the window that is given here if one is.
    pub(crate) fn configuration(self, path: &Path) -> Result<Config, Failure> {
        let config = Config::load(path).map_err(tacit::Error::from)?;
        match self.bytes {
            Some(bytes) => Ok(config.with_window(bytes).map_err(tacit::Error::from)?),
            None => Ok(config),
        }
    }
}

/// How long whoever comes first waits.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WaitArgs {
    /// Wait so long for the others at the start of a run. If not said: connect_seconds of parties.toml
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) wait: Option<Duration>,
}

impl WaitArgs {
    /// A configuration with this time, if one is given.
    pub(crate) fn within(self, config: Config) -> Config {
        match self.wait {
            Some(within) => config.with_wait(within),
            None => config,
        }
    }
}

/// A time, as limits are in a configuration.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "a time is a number of seconds, such as 90".to_owned())
}

/// A protocol and its parameters.
#[derive(Args, Clone, Debug)]
pub(crate) struct ProtocolArgs {
    #[arg(long, default_value = PROTOCOL, help = protocols("The protocol"))]
    protocol: String,
    #[command(flatten)]
    parameters: ParameterArgs,
}

/// The protocol that runs, if none is named.
const PROTOCOL: &str = "replicated";

impl ProtocolArgs {
    /// The protocol's name with its parameters.
    pub(crate) fn name(&self) -> String {
        self.parameters.behind(&self.protocol)
    }
}

/// A protocol, where none means all if only the cost is asked for, and its parameters.
#[derive(Args, Clone, Debug)]
pub(crate) struct AnyProtocolArgs {
    #[arg(long, help = protocols("Replicated if none is given; for the cost, all that can do it"))]
    protocol: Option<String>,
    #[command(flatten)]
    parameters: ParameterArgs,
}

impl AnyProtocolArgs {
    /// The protocol's name with its parameters.
    pub(crate) fn name(&self) -> String {
        self.parameters.behind(self.protocol.as_deref().unwrap_or(PROTOCOL))
    }

    /// The same if one is given; parameters alone are whose?
    pub(crate) fn given(&self) -> Result<Option<String>, Failure> {
        match (&self.protocol, self.parameters.behind("")) {
            (Some(_), _) => Ok(Some(self.name())),
            (None, parameters) if parameters.is_empty() => Ok(None),
            (None, parameters) => {
                Err(Failure::usage(format!("of which protocol? Give --protocol with{parameters}")))
            }
        }
    }
}

/// Values of protocols' parameters, in the order in which protocols offer them: a flag for each that one does.
#[derive(Clone, Debug)]
struct ParameterArgs(Vec<(&'static str, String)>);

impl ParameterArgs {
    /// A protocol's name with the parameters behind it, as [`tacit::protocol`] takes it.
    fn behind(&self, name: &str) -> String {
        self.0.iter().fold(name.to_owned(), |text, (name, value)| format!("{text} {name}={value}"))
    }
}

impl Args for ParameterArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let mut flags: Vec<(&'static str, Vec<String>)> = Vec::new();
        for (known, protocols) in tacit::parameters() {
            let auto = if known.auto == Auto::Never { "" } else { " or auto, as suits the network" };
            let (about, values) = (known.about, known.values.join(", "));
            let help = format!("{}: {about}: {values}{auto}", protocols.join(", "));
            match flags.iter_mut().find(|(name, _)| *name == known.name) {
                Some((_, others)) => others.push(help),
                None => flags.push((known.name, vec![help])),
            }
        }
        let flag = |(name, help): (&'static str, Vec<String>)| {
            Arg::new(name).long(name).value_name("VALUE").help(help.join("; "))
        };
        command.args(flags.into_iter().map(flag))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ParameterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given: Vec<(&'static str, String)> = Vec::new();
        for (known, _) in tacit::parameters() {
            let value = matches.get_one::<String>(known.name);
            if let Some(value) = value.filter(|_| given.iter().all(|(name, _)| *name != known.name)) {
                given.push((known.name, value.clone()));
            }
        }
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Enrol a client by the fingerprint of its certificate
    Add {
        /// Its name; nobody else has it
        #[arg(value_name = "NAME")]
        name: String,
        /// 64 hexadecimal digits; none with plain TCP
        #[arg(value_name = "FINGERPRINT")]
        fingerprint: Option<Fingerprint>,
        #[command(flatten)]
        party: PartyArgs,
    },
    /// Strike off a client that was enrolled: its next request is refused
    Remove {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        party: PartyArgs,
    },
    /// Say which clients a party knows
    List {
        #[command(flatten)]
        party: PartyArgs,
    },
}

#[derive(Args, Debug)]
pub(crate) struct PartyArgs {
    /// The party's configuration; the list of enrolled clients stands beside it
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// The endpoint's parties.toml, or the folder that it lies in
    #[arg(value_name = "DEPLOYMENT")]
    pub(crate) deployment: PathBuf,
    /// Wait so long for each party
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) within: Duration,
}

#[derive(Args, Debug)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) protocol: AnyProtocolArgs,
    /// The network that times are for, and that what is left to it (--roles auto, --comparison auto) is picked for: lan, wan,
    /// ROUND-TRIP,BANDWIDTH such as 20ms,1gbit, or a file with a value for each pair. If not said: times for lan, and the
    /// rest as in a simulation
    #[arg(long, value_name = "PROFILE")]
    pub(crate) net: Option<String>,
    /// Reckon with the parties and the window of this configuration
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

/// What stands after `--simulate`, which may be the program's name by mistake.
pub(crate) fn number_of_parties(text: &str) -> Result<usize, String> {
    match text.parse() {
        _ if text == ALL => Ok(0),
        Ok(0) => {
            Err("there is no run without parties; leave the number out for as many as the protocol is for"
                .to_owned())
        }
        Ok(parties) => Ok(parties),
        Err(_) => Err("that is no number of parties; the program comes before --simulate".to_owned()),
    }
}

/// In place of a number of parties: as many as the protocol is for.
pub(crate) const ALL: &str = "all";

/// A name by which a file is known for a saved plan.
fn plan_file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name| {
        let path = PathBuf::from(name);
        if is_plan(&path) { Ok(path) } else { Err("the name of a plan's file ends in .plan") }
    })
}

/// Whether a file's name says that it is a saved plan.
pub(crate) fn is_plan(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "plan")
}

/// At least a byte.
fn window_bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err("a window is a number of bytes, 1 at least".to_owned()),
    }
}

/// What is read from `name=file`, with a file of any name.
fn named_files() -> impl TypedValueParser<Value = (String, PathBuf)> {
    OsStringValueParser::new().try_map(|text| named_file(&text))
}

/// `name=file`.
fn named_file(text: &OsStr) -> Result<(String, PathBuf), String> {
    let wrong = || "an input is given as NAME=FILE.npy".to_owned();
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|&byte| byte == b'=').ok_or_else(wrong)?;
    let (name, path) = (&bytes[..at], &bytes[at + 1..]);
    if name.is_empty() || path.is_empty() {
        return Err(wrong());
    }
    let name = std::str::from_utf8(name).map_err(|_| "an input's name is UTF-8".to_owned())?;
    Ok((name.to_owned(), OsStr::from_bytes(path).into()))
}
