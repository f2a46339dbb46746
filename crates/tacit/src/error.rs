//! Why there is no result.

use tacit_engine::Error as Cause;
use tacit_net::What;
use tacit_net::setup::SetupError;
use tacit_program::{Difference, ProgramError, Source, ValueError};
use tacit_session::Error as SessionError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is wrong; nothing was sent.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A value doesn't fit its declaration; nothing was sent.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The request can't be carried out as it is; nothing was sent.
    #[error("{0}")]
    Refused(String),
    /// The files of the deployment are wrong, or the others couldn't be reached.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The run was aborted.
    #[error("the run was aborted{}: {cause}{}", in_lane(*lane), place(at.as_deref()))]
    Aborted {
        /// The lane that failed, if the run had several.
        lane: Option<u16>,
        /// The line of the program that was worked on, if any.
        at: Option<Box<Source>>,
        /// What happened.
        cause: Cause,
    },
    /// What feeds a stream couldn't go on: its inputs couldn't be read or its outputs not be written.
    #[error("the run was aborted: {0}")]
    Feed(String),
    /// The store gives nothing; nothing secret was sent.
    #[error(transparent)]
    Store(#[from] tacit_store::Error),
    /// The parties' stores have no unused material in common; nothing secret was sent.
    #[error(transparent)]
    NoMaterial(#[from] tacit_store::NoAgreement),
    /// A check failed, and what should be destroyed because of it is still there.
    #[error(
        "{failed}; the material of its offline session could not be destroyed ({cause}): delete the store"
    )]
    NotDestroyed {
        /// The check's failure.
        failed: Box<Error>,
        /// Why the store couldn't do it.
        cause: tacit_store::Error,
    },
    /// A debug run found an operation whose result differs from the clear one.
    #[error("{0}")]
    Differs(Box<Difference>),
}

/// How far an error is from what went wrong, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// An endpoint refuses to run at all, and the others lose it.
    Refusal,
    /// Something went wrong in the run.
    Run,
    /// A link failed, perhaps because the endpoint at its other end did.
    Link,
    /// Only another endpoint's word that it aborts.
    Echo,
}

impl Error {
    /// The same, of one of a run's lanes.
    pub(crate) fn in_lane(self, lane: u16) -> Self {
        match self {
            Self::Aborted { at, cause, .. } => Self::Aborted { lane: Some(lane), at, cause },
            other => other,
        }
    }

    /// Whether a run began and was aborted; all other errors come before anything secret was sent.
    pub fn is_abort(&self) -> bool {
        matches!(
            self,
            Self::Aborted { .. }
                | Self::Feed(_)
                | Self::NotDestroyed { .. }
                | Self::Differs(_)
                | Self::Setup(SetupError::GaveUp { .. })
        )
    }

    /// Whether the run was aborted because a check failed, here or at another party: somebody deviated from the protocol.
    pub fn is_failed_check(&self) -> bool {
        match self {
            Self::Aborted { cause, .. } => cause.is_failed_check(),
            Self::NotDestroyed { failed, .. } => failed.is_failed_check(),
            _ => false,
        }
    }

    /// How far this error is from what went wrong: of the errors of a run's endpoints the one with the least says most.
    pub fn distance(&self) -> Distance {
        match self {
            Self::Aborted { cause: Cause::Session(source) | Cause::During { source, .. }, .. } => {
                match source {
                    SessionError::Link(link) if matches!(link.what(), What::Aborted { .. }) => Distance::Echo,
                    SessionError::Link(_) => Distance::Link,
                    _ => Distance::Run,
                }
            }
            Self::Setup(SetupError::GaveUp { .. }) => Distance::Echo,
            _ if self.is_abort() => Distance::Run,
            _ => Distance::Refusal,
        }
    }
}

fn in_lane(lane: Option<u16>) -> String {
    lane.map_or_else(String::new, |lane| format!(" in lane {lane}"))
}

fn place(at: Option<&Source>) -> String {
    at.map_or_else(String::new, |at| format!(" (at {at})"))
}
