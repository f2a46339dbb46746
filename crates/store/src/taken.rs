//! Material on its way out.

use std::ops::Range;

use crate::store::Store;
use crate::{Error, Material, Run};

/// The instances of a run, which are used already, as far as the store and its anchor are concerned. Whoever has it reads
/// each once ([`Store::read`]), or never.
#[derive(Debug)]
#[must_use = "what isn't read is lost"]
pub struct Reserved {
    run: Run,
    /// Which were read.
    read: Vec<bool>,
}

impl Reserved {
    /// A run that is noted as used.
    pub(crate) fn new(run: Run) -> Self {
        Self { run, read: vec![false; run.instances as usize] }
    }

    /// Which run it is.
    pub fn run(&self) -> Run {
        self.run
    }

    pub(crate) fn is_unread(&self, index: u64) -> bool {
        let place = index.checked_sub(self.run.first).and_then(|place| self.read.get(place as usize));
        place.is_some_and(|read| !read)
    }

    pub(crate) fn set_read(&mut self, index: u64) {
        self.read[(index - self.run.first) as usize] = true;
    }

    /// What wasn't read, in ranges.
    pub(crate) fn unread(&self) -> impl Iterator<Item = Range<u64>> {
        let mut next = self.run.first;
        self.read.chunk_by(PartialEq::eq).filter_map(move |same| {
            let range = next..next + same.len() as u64;
            next = range.end;
            (!same[0]).then_some(range)
        })
    }
}

/// The material of a run of instances, in order: each is read when it is asked for, then overwritten, and what is never
/// asked for is overwritten unread.
#[derive(Debug)]
#[must_use = "what isn't asked for is lost"]
pub struct Taken<'a> {
    store: &'a mut Store,
    reserved: Reserved,
    next: u64,
    end: u64,
}

impl<'a> Taken<'a> {
    pub(crate) fn new(store: &'a mut Store, reserved: Reserved) -> Self {
        let Run { first, instances, .. } = reserved.run();
        Self { store, reserved, next: first, end: first + instances }
    }
}

impl Iterator for Taken<'_> {
    type Item = Result<Material, Error>;

    /// The next instance's material; an error as of [`Store::read`].
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        self.next += 1;
        let read = self.store.read(&mut self.reserved, self.next - 1..self.next);
        read.map(|mut material| material.pop()).transpose()
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
        let _ = self.store.release(&self.reserved);
    }
}
