//! Where results go, and whether anybody still reads them.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;

/// The exit code of a command whose results nobody reads any more: a shell's for one that SIGPIPE ended.
pub(crate) const UNREAD: i32 = 128 + 13;

/// How files are opened that results are written to: those that weren't there are for their owner alone, to whom it was revealed.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

/// Where results go.
pub(crate) struct Output<'a> {
    to: &'a mut (dyn Write + Send),
    unread: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn to(to: &'a mut (dyn Write + Send)) -> Self {
        Self { to, unread: false }
    }

    /// Whether the reader is known to be gone.
    pub(crate) const fn is_unread(&self) -> bool {
        self.unread
    }

    fn noted<T>(&mut self, written: Result<T>) -> Result<T> {
        self.unread |= written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        written
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.to.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> Result<()> {
        let flushed = self.to.flush();
        self.noted(flushed)
    }
}
