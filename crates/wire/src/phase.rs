//! The phases of a run, by which traffic is counted and errors are placed.

use serde::Serialize;
use std::fmt;

/// What a party is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Agreeing on the run: handshake, nonces, keys.
    #[default]
    Setup,
    /// Sharing inputs.
    Input,
    /// Preprocessing, before inputs are known.
    Offline,
    /// Computing on shares.
    Online,
    /// Proving that all went well.
    Verify,
    /// Opening outputs.
    Output,
}

impl Phase {
    /// Every phase, in the order above.
    pub const ALL: [Self; 6] =
        [Self::Setup, Self::Input, Self::Offline, Self::Online, Self::Verify, Self::Output];

    /// The phase's name, lower case, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Input => "input",
            Self::Offline => "offline",
            Self::Online => "online",
            Self::Verify => "verify",
            Self::Output => "output",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
