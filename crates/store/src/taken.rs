//! Material on its way out.

use crate::store::Store;
use crate::{Epoch, Error, Material};

/// The material of a run of instances, in order. All of it is used already, as far as the store and its anchor are
/// concerned: each is read when it is asked for, then overwritten, and what is never asked for is overwritten unread.
#[derive(Debug)]
#[must_use = "what isn't asked for is lost"]
pub struct Taken<'a> {
    store: &'a mut Store,
    epoch: Epoch,
    next: u64,
    end: u64,
}

impl<'a> Taken<'a> {
    pub(crate) fn new(store: &'a mut Store, epoch: Epoch, first: u64, end: u64) -> Self {
        Self { store, epoch, next: first, end }
    }
}

impl Iterator for Taken<'_> {
    type Item = Result<Material, Error>;

    /// The next instance's material; an error if it can't be read, isn't as it was written, or can't be overwritten.
    /// It is lost then, and those that follow aren't.
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        let index = self.next;
        self.next += 1;
        Some(self.store.hand_out(self.epoch, index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Taken<'_> {}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // What can't be overwritten now is when the store is opened next; it is used either way.
        let _ = self.store.put_away(self.epoch, self.next, self.end);
    }
}
