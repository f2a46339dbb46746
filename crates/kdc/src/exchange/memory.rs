//! What a server remembers from request to request: authenticators that came already, and wrong passwords.

use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Authenticators that are remembered at most; while so many are new, no other is taken.
const MAX_REPLAYS: usize = 1 << 20;
/// Seconds for which a wrong password counts.
const MINUTE: i64 = 60;

/// What a server remembers.
#[derive(Debug, Default)]
pub struct Memory {
    replays: Mutex<Replays>,
    failures: Mutex<Failures>,
}

impl Memory {
    pub(super) fn replays(&self) -> MutexGuard<'_, Replays> {
        self.replays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Authenticators that came already, by hash, with the time that they say.
#[derive(Debug, Default)]
pub(super) struct Replays(HashMap<[u8; 32], i64>);

impl Replays {
    /// Whether an authenticator came already.
    pub(super) fn has(&self, authenticator: &[u8]) -> bool {
        self.0.contains_key(&Self::hash(authenticator))
    }

    /// Notes an authenticator, once its request is accepted: whether it is new.
    pub(super) fn note(&mut self, authenticator: &[u8], time: i64, now: i64, max_skew: i64) -> bool {
        if self.0.len() >= MAX_REPLAYS {
            self.0.retain(|_, time| time.abs_diff(now) <= max_skew.unsigned_abs());
        }
        self.0.len() < MAX_REPLAYS && self.0.insert(Self::hash(authenticator), time).is_none()
    }

    fn hash(authenticator: &[u8]) -> [u8; 32] {
        Sha256::digest(authenticator).into()
    }
}

/// When each principal was named with a wrong password, of the last minute. Addresses don't count: they are the front's word.
#[derive(Debug, Default)]
pub(super) struct Failures(HashMap<String, VecDeque<i64>>);

impl Failures {
    /// Notes a password of a principal before it is tried, unless it has had so many wrong ones that it has to wait.
    pub(super) fn admit(&mut self, principal: &str, most: usize, now: i64) -> bool {
        let own = self.0.entry(principal.to_owned()).or_default();
        own.retain(|then| *then > now - MINUTE);
        let admitted = own.len() < most;
        if admitted {
            own.push_back(now);
        }
        admitted
    }

    /// One that was noted then wasn't wrong.
    pub(super) fn take_back(&mut self, principal: &str, then: i64) {
        let Some(own) = self.0.get_mut(principal) else { return };
        if let Some(at) = own.iter().position(|other| *other == then) {
            own.remove(at);
        }
        if own.is_empty() {
            self.0.remove(principal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_passwords_count_for_a_minute_and_for_their_principal() {
        let mut failures = Failures::default();
        for second in 0..3 {
            assert!(failures.admit("ann", 3, 100 + second));
        }
        assert!(!failures.admit("ann", 3, 159) && failures.admit("ben", 3, 159));
        // The first one is a minute ago.
        assert!(failures.admit("ann", 3, 160) && !failures.admit("ann", 3, 160));
    }

    #[test]
    fn right_passwords_count_while_they_are_tried_and_no_longer() {
        let mut failures = Failures::default();
        assert!([100, 100, 101].map(|now| failures.admit("ann", 3, now)) == [true; 3]);
        assert!(!failures.admit("ann", 3, 101));
        failures.take_back("ann", 100);
        assert!(failures.admit("ann", 3, 102) && !failures.admit("ann", 3, 102));
        for then in [100, 101, 102, 102] {
            failures.take_back("ann", then);
        }
        assert!(failures.0.is_empty());
    }

    #[test]
    fn an_authenticator_is_new_once() {
        let mut replays = Replays::default();
        assert!(!replays.has(b"a") && replays.note(b"a", 5, 5, 300));
        assert!(replays.has(b"a") && !replays.note(b"a", 5, 5, 300) && !replays.has(b"b"));
    }
}
