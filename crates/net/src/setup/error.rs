//! What can go wrong before a run: in the files, and on the way to the others.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why parties could not be set up or brought together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A file cannot be read or written.
    #[error("{}: {detail}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the operating system says.
        detail: String,
    },
    /// The configuration is wrong.
    #[error("{}: {detail}", path.display())]
    Config {
        /// Where it stands.
        path: PathBuf,
        /// What is wrong, and what would be right.
        detail: String,
    },
    /// What [`super::init`] was asked for cannot be made.
    #[error("cannot set up parties: {detail}")]
    Init {
        /// Why.
        detail: String,
    },
    /// The listening port cannot be had.
    #[error("cannot listen on {address}: {detail}")]
    Bind {
        /// The address in the configuration.
        address: String,
        /// What the operating system says.
        detail: String,
    },
    /// Some did not come, or could not be reached, in time.
    #[error("{missing} within {:.0} s{}", after.as_secs_f64(), list(.turned_away))]
    Missing {
        /// Each one that is missing, and how far it came.
        missing: String,
        /// How long they were waited for.
        after: std::time::Duration,
        /// Callers that were turned away meanwhile, and why.
        turned_away: Vec<String>,
    },
    /// A peer that was reached is not the one in the configuration, or will not talk to this one.
    #[error("{peer} at {address} {detail}")]
    Refused {
        /// The peer's name in the configuration.
        peer: String,
        /// Where it was reached.
        address: SocketAddr,
        /// What it did.
        detail: String,
    },
    /// A peer's configuration or version differs from this one's.
    #[error("{peer} does not fit in with this side: {detail}")]
    Differs {
        /// The peer's name in this side's configuration.
        peer: String,
        /// What differs.
        detail: String,
    },
    /// A party was called for one run, and serves: it takes requests from those who stay.
    #[error(
        "{peer} serves (tacit serve): it takes requests of clients, for single runs, and no calls for a run that all begin by \
         themselves"
    )]
    Serves {
        /// The party's name.
        peer: String,
    },
    /// A peer began the run and gave it up before everybody was here.
    #[error("{peer} gave up before the run began: {reason}")]
    GaveUp {
        /// The peer's name in the configuration.
        peer: String,
        /// Its reason, as it puts it.
        reason: String,
    },
    /// The call does not fit the configuration.
    #[error("wrong use: {detail}")]
    WrongUse {
        /// In what way.
        detail: String,
    },
    /// The operating system refuses something that always works.
    #[error("the operating system refuses: {detail}")]
    System {
        /// What it says.
        detail: String,
    },
}

fn list(callers: &[String]) -> String {
    if callers.is_empty() { String::new() } else { format!(" (turned away: {})", callers.join("; ")) }
}

impl SetupError {
    pub(super) fn system(error: impl std::fmt::Display) -> Self {
        Self::System { detail: error.to_string() }
    }
}
