//! What every command works with, and how it says what came out.

use crate::failure::Failure;
use crate::front::Front;
use crate::output::{Output, UNREAD};
use std::io::Write;

/// What every command works with.
pub(crate) struct Context<'a> {
    pub(crate) front: &'a dyn Front,
    pub(crate) this_command: Vec<String>,
    pub(crate) json: bool,
    pub(crate) out: Output<'a>,
    pub(crate) err: &'a mut dyn Write,
}

impl Context<'_> {
    /// A remark for people, on standard error.
    pub(crate) fn note(&mut self, text: &str) {
        // If nobody reads it, nothing is lost.
        let _ = writeln!(self.err, "{text}");
    }

    /// Writes a line of results.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.out, "{text}").and_then(|()| self.out.flush()).map_err(|error| Failure::write(&error))
    }

    pub(crate) fn tell(&mut self, text: &str) -> i32 {
        match self.line(text.trim_end()) {
            Ok(()) => 0,
            Err(failure) => self.fail(&failure),
        }
    }

    pub(crate) fn fail(&mut self, failure: &Failure) -> i32 {
        if self.out.is_unread() && !failure.is_stop() {
            // Whoever read has had enough, as `head` has: that is no failure to tell of.
            return UNREAD;
        }
        if self.json {
            // If standard output is gone, the message below still says what happened.
            let _ = self.line(&failure.to_json().to_string());
        }
        let _ = writeln!(self.err, "{}", failure.message());
        failure.exit_code()
    }
}
