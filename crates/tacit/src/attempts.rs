//! How often somebody may have tried to get a wrong result past a party's checks, and when it runs nothing more.
//!
//! A bound on what goes unnoticed is for one run. A party that knows a check's coin or seed knows how the check will
//! end, and can lose a link rather than fail it. So a run that ends in between, whoever lost whom, counts as an
//! attempt, as does a run whose check failed.
//!
//! The chance that any run of a party ever has a wrong output is at most the bound times the number of its attempts and
//! one, for the runs that ended well.

use crate::error::Error;

/// Attempts after which a party runs nothing more by itself, unless it is told another number.
///
/// Each gives whoever deviates one more chance, so eight take three bits off the bound: 2^-37 of 2^-40. Links also get lost
/// by accident, but seldom so many while a check is under way, which is the smaller part of a run; who stopped a party at the
/// first would only make it easier to stop.
pub const MOST_ATTEMPTS: u64 = 8;

/// A party's account of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempts {
    count: u64,
    /// How many are too many; none are if it is to go on in any case.
    most: Option<u64>,
    /// Whether a check failed.
    failed: bool,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { count: 0, most: Some(MOST_ATTEMPTS), failed: false }
    }
}

impl Attempts {
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Stops after so many; with `None` never, whatever fails.
    pub(crate) fn stop_after(&mut self, most: Option<u64>) {
        self.most = most;
    }

    /// Refuses another run, if none is to be.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn admit(&self) -> Result<(), Error> {
        match self.most {
            Some(most) if self.failed || self.count >= most => {
                Err(Error::Stopped { attempts: self.count, failed_check: self.failed })
            }
            _ => Ok(()),
        }
    }

    /// How many more are admitted.
    pub(crate) fn left(&self) -> usize {
        self.most
            .map_or(usize::MAX, |most| usize::try_from(most.saturating_sub(self.count)).unwrap_or(usize::MAX))
    }

    /// Notes how a run ended that didn't end well.
    pub(crate) fn note(&mut self, error: &Error) {
        self.failed |= error.is_failed_check();
        self.count += u64::from(error.is_attempt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_engine::Error as Cause;
    use tacit_session::Error as SessionError;

    fn aborted(attempt: bool, cause: SessionError) -> Error {
        Error::Aborted { lane: None, at: None, attempt, cause: Cause::Session(cause) }
    }

    fn lost(attempt: bool) -> Error {
        aborted(attempt, SessionError::Exhausted)
    }

    #[test]
    fn the_default_takes_three_bits() {
        assert_eq!(MOST_ATTEMPTS, 1 << 3);
    }

    #[test]
    fn runs_that_end_in_a_check_count_and_others_do_not() {
        let mut attempts = Attempts::default();
        attempts.stop_after(Some(2));
        for (error, count) in [(lost(false), 0), (lost(true), 1), (Error::Refused("no".into()), 1)] {
            attempts.note(&error);
            assert_eq!(attempts.count(), count);
            assert!(attempts.admit().is_ok());
        }
        attempts.note(&lost(true));
        assert!(matches!(attempts.admit(), Err(Error::Stopped { attempts: 2, failed_check: false })));
    }

    #[test]
    fn a_failed_check_is_the_last_unless_it_is_to_go_on() {
        let mut attempts = Attempts::default();
        attempts.note(&aborted(false, SessionError::Rejected { what: "a product is wrong".into() }));
        assert!(matches!(attempts.admit(), Err(Error::Stopped { attempts: 1, failed_check: true })));
        attempts.stop_after(None);
        assert!(attempts.admit().is_ok());
    }
}
