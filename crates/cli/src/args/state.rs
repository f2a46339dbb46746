//! What can be said of values that stay.

use super::options::{ALL, PROTOCOL, StoreArgs, WaitArgs, number_of_parties};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Where what programs keep stays, and what of it a run reads.
#[derive(Args, Clone, Debug)]
pub(crate) struct StateArgs {
    /// A party's folder for values that programs keep, sealed under its key; with --simulate a folder with one for each
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// The kept value that the program reads as NAME: VALUE@3, or VALUE for the newest, or rows of a table,
    /// VALUE@3[17,42]; if not said, the newest called NAME. At a server VALUE[*] leaves the rows to requests, and *
    /// any value; a client of it says which
    #[arg(long = "kept", value_name = "NAME=VALUE", value_parser = filled)]
    pub(crate) fill: Vec<(String, String)>,
    /// The rows of a table that what the program keeps under its name becomes; all others stay. At a server TABLE[*]
    /// leaves them to requests
    #[arg(long = "rows", value_name = "TABLE[17,42]", value_parser = rows)]
    pub(crate) rows: Vec<(String, String)>,
}

/// A table's name, and with it its rows.
fn rows(text: &str) -> Result<(String, String), String> {
    let (table, _) = text.split_once('[').ok_or("write TABLE[17,42]")?;
    Ok((table.to_owned(), text.to_owned()))
}

/// A name of the program's, and the kept value that it is to be.
fn filled(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or("write NAME=VALUE, NAME=VALUE@3 or NAME=VALUE@3[17,42]")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Say what a party keeps: of each value its type, where it stands, and what it may be used for
    List(LookArgs),
    /// Say all that is known of a name: its versions, and who may read them, learn of them and replace them
    Show {
        #[command(flatten)]
        look: LookArgs,
        /// What it is called: weights
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Give the newest value of a name fresh shares, all parties together: an old copy of a folder says nothing then beside new ones. With
    /// --store it has MACs under the key of another epoch of supplies than now
    Refresh(RefreshArgs),
    /// Copy all that a party keeps into one file, sealed as it lies: for back-up
    Export {
        #[command(flatten)]
        folder: FolderArgs,
        /// The copy, which isn't there yet
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Put a copy back as a folder that isn't there yet. If the other parties keep newer values, they refuse it by name
    Import {
        #[command(flatten)]
        folder: FolderArgs,
        /// The copy
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Drop a value, or all of a name: its share is erased, and it is never read again. Every party drops its own
    Drop {
        #[command(flatten)]
        folder: FolderArgs,
        /// weights@3, or weights for all versions
        #[arg(value_name = "VALUE")]
        value: String,
    },
}

#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["config", "simulate"])))]
pub(crate) struct RefreshArgs {
    /// What it is called: weights
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The party's folder; with --simulate the folder that has one for each
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Take part as the party whose configuration this is
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: Option<PathBuf>,
    /// All parties in this process; N parties, or as many as the protocol is for
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = ALL, value_parser = number_of_parties)]
    pub(crate) simulate: Option<usize>,
    /// The protocol of --simulate, with its parameters behind it
    #[arg(long, default_value = PROTOCOL, conflicts_with = "config")]
    pub(crate) protocol: String,
    #[command(flatten)]
    pub(crate) store: Option<StoreArgs>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

/// A party's folder of kept values, to be looked at.
#[derive(Args, Clone, Debug)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    /// The party's folder of supplies, or one with those of all: says also which values can't be read any more, as the epoch
    /// whose key they are under is destroyed
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// The folder of the store's anchor, as for `tacit store list`
    #[arg(long, value_name = "DIR", requires = "store")]
    pub(crate) anchors: Option<PathBuf>,
}

/// A party's folder of kept values.
#[derive(Args, Clone, Debug)]
pub(crate) struct FolderArgs {
    /// The party's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The party's configuration, whose key the folder is sealed under; not for one of --simulate
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: Option<PathBuf>,
}
