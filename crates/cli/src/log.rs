//! What a server logs on standard error with `--log`: structured, one event to a line.
//!
//! # Security
//! Names, hashes, counts and errors' words are logged, never a share nor what is given to a run or comes out of one.

use clap::ValueEnum;
use std::sync::Arc;
use tacit::setup::{Note, Notes};
use tracing::Dispatch;

/// The form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// An object to a line
    Json,
}

/// Where events go in this form.
pub(crate) fn dispatch(form: Form) -> Dispatch {
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false);
    match form {
        Form::Text => Dispatch::new(lines.finish()),
        Form::Json => Dispatch::new(lines.json().flatten_event(true).finish()),
    }
}

/// Logs for whom a server waits, and who was turned away.
pub(crate) fn notes() -> Notes {
    Arc::new(|note| match note {
        Note::Waiting(missing) => tracing::warn!(missing = missing.join(", "), "waits"),
        Note::TurnedAway(away) => {
            let (from, why) = (away.from.to_string(), away.why.as_str());
            tracing::warn!(from, why, times = away.times, "turned a caller away");
        }
        Note::Unfit(error) => tracing::warn!(error = error.to_string(), "a party can't take part"),
        Note::Unread(error) => {
            tracing::warn!(error = error.to_string(), "the list of clients is left as it was");
        }
        _ => {}
    })
}
