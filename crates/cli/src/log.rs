//! What a server logs on standard error with `--log`: structured, one event to a line.
//!
//! # Security
//! Names, hashes, counts and errors' words are logged, never a share nor what is given to a run or comes out of one.

use clap::ValueEnum;
use std::io::Write;
use std::sync::Arc;
use tacit::setup::{Note, Notes};
use tracing::Dispatch;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};

/// The form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// An object to a line
    Json,
}

/// Lines that wait for whoever reads standard error, at most; those that come then are dropped.
const BACKLOG: usize = 4096;

/// Standard error, written by a thread of its own: whoever writes waits for nobody, not even if a pipe is full that nobody reads.
/// What waits still is written when the guard is dropped, as far as it can be within a second.
pub(crate) fn aside() -> (NonBlocking, WorkerGuard) {
    aside_of(std::io::stderr())
}

fn aside_of(lines: impl Write + Send + 'static) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default().lossy(true).buffered_lines_limit(BACKLOG).finish(lines)
}

/// Where events go in this form.
pub(crate) fn dispatch(form: Form, aside: NonBlocking) -> Dispatch {
    // If nobody reads them any more, nothing is said of that, where nobody would read it either: it would panic.
    let lines = tracing_subscriber::fmt().with_writer(aside).with_target(false).log_internal_errors(false);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};
    use tracing::dispatcher::with_default;

    /// A pipe that nobody reads is soon full; whoever logs goes on, and so does whoever ends.
    #[test]
    fn nobody_waits_for_a_reader_that_does_not_read() {
        let (lines, unread) = UnixStream::pair().unwrap();
        let (aside, flushed) = aside_of(lines);
        let start = Instant::now();
        with_default(&dispatch(Form::Json, aside), || {
            for run in 0..20_000 {
                tracing::warn!(run, error = "x".repeat(100), "run failed");
            }
        });
        drop(flushed);
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        drop(unread);
    }
}
