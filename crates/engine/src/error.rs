//! Why a run ended without its result.

use tacit_session::Error as SessionError;

/// Why a run ended without its result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session failed: a link, a check, or another endpoint's abort.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The same, in the middle of an operation.
    #[error("{source}")]
    During {
        /// The node of the program that was worked on.
        node: u32,
        /// What happened.
        source: SessionError,
    },
    /// The plan or the values given don't fit; nothing was sent.
    #[error("{0}")]
    Refused(String),
    /// A number was outside of a range that the program assumes. All know it, and nothing else was opened.
    #[error("a number was outside of a range that the program assumes")]
    OutsideAssumed,
    /// What is left to chance came out as it hardly ever does, and the run can't go on.
    #[error("{0}")]
    Chance(String),
    /// A supply gives nothing, or nothing any more.
    #[error("{0}")]
    Supply(String),
    /// A supply's store gives nothing.
    #[error(transparent)]
    Store(#[from] tacit_store::Error),
    /// The parties' stores have no common material for what a run draws.
    #[error(transparent)]
    NoMaterial(#[from] tacit_store::NoAgreement),
}

impl Error {
    /// Whether a check failed, see [`SessionError::is_failed_check`].
    pub fn is_failed_check(&self) -> bool {
        match self {
            Self::Session(source) | Self::During { source, .. } => source.is_failed_check(),
            Self::Refused(_)
            | Self::OutsideAssumed
            | Self::Chance(_)
            | Self::Supply(_)
            | Self::Store(_)
            | Self::NoMaterial(_) => false,
        }
    }

    /// Says which node of the program was worked on.
    #[must_use]
    pub fn during(self, node: u32) -> Self {
        match self {
            Self::Session(source) => Self::During { node, source },
            other => other,
        }
    }
}

impl From<tacit_net::Error> for Error {
    fn from(error: tacit_net::Error) -> Self {
        Self::Session(error.into())
    }
}
