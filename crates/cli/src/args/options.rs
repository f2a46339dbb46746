//! Options that several commands have.

use super::number::protocols;
use crate::failure::Failure;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, FromArgMatches};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tacit::advanced::engine::Auto;
use tacit::advanced::net::setup::Config;

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
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
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
pub(super) const PROTOCOL: &str = "replicated";

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
pub(super) fn named_files() -> impl TypedValueParser<Value = (String, PathBuf)> {
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
