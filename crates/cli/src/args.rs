//! What can be said on the command line.

mod certificate;
mod number;
mod options;
mod serve;
mod state;

pub(crate) use certificate::{CertificateCommand, OwnArgs};
pub(crate) use number::{count, size};
pub(crate) use options::{
    ALL, AnyProtocolArgs, ProgramArgs, ProtocolArgs, StoreArgs, WaitArgs, WindowArgs, is_plan,
    number_of_parties,
};
pub(crate) use serve::ServeArgs;
pub(crate) use state::{FolderArgs, LookArgs, RefreshArgs, StateArgs, StateCommand};

use crate::net::NetArgs;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, FromArgMatches, Subcommand};
use options::{named_files, seconds};
use std::path::PathBuf;
use std::time::Duration;
use tacit::advanced::net::setup::Fingerprint;

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
    /// The values of an input, or of what all parties give: its name, or OWNER.NAME, and a NumPy file; of a table a Parquet,
    /// Arrow or CSV file
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = named_files())]
    pub(crate) inputs: Vec<(String, PathBuf)>,
    /// Write each output that is learnt here to DIR as output-0.npy, output-1.npy, ...; or the table that PROGRAM reveals to a
    /// file, whose name ends in .csv, .parquet, .arrow or .feather
    #[arg(long, value_name = "DIR or FILE")]
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

/// A name by which a file is known for a saved plan.
fn plan_file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name| {
        let path = PathBuf::from(name);
        if is_plan(&path) { Ok(path) } else { Err("the name of a plan's file ends in .plan") }
    })
}
