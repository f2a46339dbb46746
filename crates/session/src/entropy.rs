//! Where fresh randomness comes from. It is passed as a value, so that only a test can make a run repeatable.

use crate::Error;

/// A source of uniformly random bytes.
pub trait Entropy: Send {
    /// Fills all of `out`.
    ///
    /// # Errors
    /// [`Error::Entropy`] if there is none to be had; `out` is not to be used then.
    fn fill(&mut self, out: &mut [u8]) -> Result<(), Error>;
}

/// The operating system's generator: the only one outside of tests.
#[derive(Debug, Default, Clone, Copy)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(out).map_err(|error| Error::Entropy(error.to_string()))
    }
}
