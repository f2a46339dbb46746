//! What can be said to a server.

use super::options::{ProtocolArgs, StoreArgs, WindowArgs, named_files};
use super::state::StateArgs;
use crate::log::Form;
use crate::net::NetArgs;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// What is served, and nothing else: saved .plans, folders of them, or, if this command has Python, source files
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// An argument of a source file's own; may be repeated
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    /// This party's configuration
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: PathBuf,
    /// The values of an input that this party gives, or that all parties do, the same in every run of each program that has it
    #[arg(long = "input", value_name = "NAME=FILE.npy", value_parser = named_files())]
    pub(crate) inputs: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) net: NetArgs,
    #[command(flatten)]
    pub(crate) store: Option<StoreArgs>,
    /// Fill the store in the background, together with all others, as soon as it has less unused in any one epoch: triples=100000,
    /// bits=50000 and so on, what the protocol stocks; the same for all parties. It takes a lane of --at-once beside runs
    #[arg(long = "fill", value_name = "NAME=N,...", requires = "store", value_delimiter = ',', value_parser = stock)]
    pub(crate) filling: Vec<(String, u64)>,
    #[command(flatten)]
    pub(crate) stays: StateArgs,
    /// Have so many runs under way at a time at most, the same for all parties; with --store it is one, and one
    /// more lane for --fill
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..64))]
    pub(crate) at_once: u16,
    /// Let requests of one program be instances of one run, so many at most; all parties have to allow it. A batch's clients
    /// see one another's names
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) together: u8,
    /// Have a run that is ready wait so long for others of its program, unless it has as many as there may be: the first party's
    /// to say. Without waiting, requests that wait for a lane are together
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub(crate) window_ms: u64,
    /// Let any enrolled client play this name of programs; every other name is its own client's alone; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) open: Vec<String>,
    /// Log each run's beginning and end, and who is missing or turned away, on standard error
    #[arg(long, value_name = "FORM")]
    pub(crate) log: Option<Form>,
    /// Give figures in Prometheus' text form at /metrics of this address, which is this machine's own
    #[arg(long, value_name = "127.0.0.1:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// End after so many runs
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// Refuse programs of which all runs under way could take more bytes of memory than so many: registers of one component
    /// of the sharing, times --together, times --at-once
    #[arg(long, value_name = "BYTES")]
    pub(crate) memory: Option<u64>,
    /// Let so many versions of what programs keep stay, of each name, and drop older ones when there is a new one; without it all
    /// stay, 1,000 at most
    #[arg(long, value_name = "N", requires = "state", value_parser = clap::value_parser!(u16).range(1..1000))]
    pub(crate) versions: Option<u16>,
    /// Stop after so many runs that ended in the middle of a check; a check that fails stops the server in any case
    #[arg(long, value_name = "N", default_value_t = tacit::MOST_ATTEMPTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) attempts: u64,
    /// Go on whatever fails: each further run gives a party that deviates another chance not to be noticed
    #[arg(long, conflicts_with = "attempts")]
    pub(crate) keep_going: bool,
}

/// `triples=100000`.
fn stock(text: &str) -> Result<(String, u64), String> {
    let read =
        |(name, count): (&str, &str)| Some((name.to_owned(), count.parse().ok().filter(|count| *count > 0)?));
    let wrong = || "what is filled is given as NAME=N, such as triples=100000".to_owned();
    text.split_once('=').and_then(read).ok_or_else(wrong)
}
