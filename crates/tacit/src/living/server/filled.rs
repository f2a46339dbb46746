//! What becomes of the filling of this party's store.

use super::Server;
use crate::error::Error;
use crate::made::Prepared;
use crate::report::Run;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a filling may go on that a party which ends has under way: what is made of a part ends in a check, and one that ends
/// before may be an attempt for the others.
const PATIENCE: Duration = Duration::from_mins(1);

/// Hears what was made, or why nothing was.
pub(super) type Hears = Box<dyn FnMut(Result<&Prepared, &str>) + Send>;

impl Server {
    /// Has somebody told what this party's store was filled with, and why it wasn't if that is another reason than the last one.
    pub fn tell_filled(&mut self, told: impl FnMut(Result<&Prepared, &str>) + Send + 'static) {
        self.hears = Box::new(told);
    }

    /// Looks whether the store has enough.
    pub(super) fn look_at_store(&mut self) {
        if self.shared.filler.as_ref().is_some_and(|filler| !filler.has_enough()) {
            self.desk.is_low();
        }
    }

    /// Ends a filling where this party begins nothing more: where no check is under way, unless somebody doesn't let it get there.
    pub(super) fn stop_filling(&mut self) {
        let Some(filler) = self.shared.filler.as_ref().filter(|_| self.desk.is_done()) else { return };
        filler.stop();
        let now = Instant::now();
        if now >= *self.filling_ends.get_or_insert(now + PATIENCE) {
            filler.end();
            // Its links are looked at ten times a second.
            self.filling_ends = Some(now + PATIENCE);
        }
    }

    /// Ends all runs under way, and a filling.
    pub(super) fn end_all(&mut self) {
        std::mem::take(&mut self.ends).store(true, Ordering::SeqCst);
        if let Some(filler) = &self.shared.filler {
            filler.end();
        }
    }

    /// A filling has ended. One that failed is no trouble for runs, unless a check failed in it.
    pub(super) fn has_filled(&mut self, run: u64, result: Result<Run, Error>) -> Result<(), Error> {
        let made = self.shared.filler.as_ref().and_then(|filler| filler.made());
        let is_new = made.as_ref().is_some_and(|made| made.disk_bytes > 0);
        self.desk.has_filled(result.is_ok().then_some(is_new));
        let admitted = self.attempts.admit();
        if admitted.is_err() {
            self.end_all();
        }
        match (result, made) {
            (Err(error @ Error::Feed(_)), _) => return Err(error),
            (Err(error), _) => self.tell_unfilled(&error.to_string()),
            (Ok(_), Some(made)) if is_new => {
                let (epoch, seconds) = (made.epoch.to_string(), made.elapsed.as_secs_f64());
                tracing::info!(run, epoch, disk_bytes = made.disk_bytes, seconds, "store filled");
                self.unfilled.clear();
                (self.hears)(Ok(&made));
            }
            (Ok(_), _) => tracing::debug!(run, "the stores of all have enough"),
        }
        admitted
    }

    /// Tells why the store isn't filled, unless that was told last.
    pub(super) fn tell_unfilled(&mut self, reason: &str) {
        if self.unfilled != reason && !self.desk.is_done() {
            tracing::warn!(reason, "store not filled");
            reason.clone_into(&mut self.unfilled);
            (self.hears)(Err(reason));
        }
    }
}
