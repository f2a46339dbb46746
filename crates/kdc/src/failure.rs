//! Why what runs ends.

use std::io;
use tacit::Error;
use thiserror::Error as ThisError;

/// Why a server, a front or an admin's command ends.
#[derive(Debug, ThisError)]
pub enum Failure {
    /// A run, or what comes before.
    #[error(transparent)]
    Tacit(#[from] Error),
    /// A file or a link.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something that was asked for and can't be.
    #[error("{0}")]
    Refused(String),
    /// An order whose run ended otherwise than well once it had begun.
    #[error("it isn't known whether the servers have carried out the order: {0}")]
    Unsettled(String),
}
