//! Locks that outlast a panic of whoever had them: what they guard is whole after each change.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
