//! How a run goes on, for whoever looks on.

use std::sync::atomic::{AtomicUsize, Ordering};
use tacit_engine::Observer;

/// Is told of finished jobs: how many, of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Adds up the progress of all lanes.
pub(crate) struct Tally<'a> {
    progress: Progress<'a>,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(progress: Progress<'a>) -> Self {
        Self { progress, done: AtomicUsize::new(0), total: AtomicUsize::new(0) }
    }

    /// An observer for one lane.
    pub(crate) fn lane(&self) -> Told<'_> {
        Told { tally: self, done: 0, total: 0 }
    }
}

/// Passes on a lane's progress.
pub(crate) struct Told<'a> {
    tally: &'a Tally<'a>,
    /// What the lane has said so far.
    done: usize,
    total: usize,
}

impl Observer for Told<'_> {
    fn progress(&mut self, done: usize, total: usize) {
        let add = |sum: &AtomicUsize, more: usize| sum.fetch_add(more, Ordering::Relaxed) + more;
        let all = add(&self.tally.total, total.saturating_sub(self.total));
        let all_done = add(&self.tally.done, done.saturating_sub(self.done));
        (self.done, self.total) = (done, total);
        (self.tally.progress)(all_done, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn progress_adds_up() {
        let told = Mutex::new(Vec::new());
        let progress = |done, total| told.lock().unwrap().push((done, total));
        let tally = Tally::new(&progress);
        let (mut one, mut other) = (tally.lane(), tally.lane());
        one.progress(1, 3);
        other.progress(1, 2);
        other.progress(2, 2);
        one.progress(3, 3);
        assert_eq!(*told.lock().unwrap(), [(1, 3), (2, 5), (3, 5), (5, 5)]);
    }
}
