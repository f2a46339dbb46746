//! Why a run ended without its result.

use tacit_session::Error as SessionError;

/// Why a run ended without its result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
}

impl Error {
    /// Whether a check failed, see [`SessionError::is_failed_check`].
    pub fn is_failed_check(&self) -> bool {
        match self {
            Self::Session(source) | Self::During { source, .. } => source.is_failed_check(),
            Self::Refused(_) => false,
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
