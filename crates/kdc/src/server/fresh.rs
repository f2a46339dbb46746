//! Servers that serve give the keys that they share fresh shares, one after another, at hours that all have by their clocks.

#[cfg(test)]
mod tests;

use super::node::{Node, lock, log, now};
use crate::failure::Failure;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tacit::Error;

/// How long a server waits for the others to come to a key, from when it has: also behind an order, whose admin may stall.
const NEXT: Duration = Duration::from_secs(30);
/// Keys that are asked for at a time: a few that one server alone has hold up no others.
const AT_A_TIME: usize = 4;
/// Keys in a row of which the others want nothing, after which they have given up. One that breaks off counts as several.
const MISSED: usize = 16;
/// How often a server that waits looks at its clock, which may be set.
const LOOKS: Duration = Duration::from_mins(1);

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fresh {
    /// How many keys have fresh shares.
    pub(crate) keys: usize,
    /// Those that keep the ones that they had, and why.
    pub(crate) kept: Vec<(String, String)>,
}

impl Node {
    /// Does so again and again, every so many seconds, and says in the log what came of it.
    pub(super) fn keep_refreshing(&self, every: NonZero<i64>) {
        let every = every.get();
        loop {
            let turn = now() / every + 1;
            while now() < turn * every {
                thread::sleep(LOOKS.min(Duration::from_secs((turn * every - now()).unsigned_abs())));
            }
            match self.refresh(turn, NEXT) {
                Ok(Fresh { keys, kept }) => {
                    log(format_args!("fresh shares of {keys} keys"));
                    for (record, reason) in kept {
                        log(format_args!("{record} keeps its shares: {reason}"));
                    }
                }
                Err(error) => log(format_args!("no key has fresh shares: {error}")),
            }
        }
    }

    /// Gives every key fresh shares, once all servers have come to this turn; requests go on. For each key it waits so long for the
    /// others.
    ///
    /// # Errors
    /// If the others don't come.
    pub(crate) fn refresh(&self, turn: i64, next: Duration) -> Result<Fresh, Failure> {
        // Clocks differ. Whoever waits in vain has to be there for the next turn, which others may have begun with.
        let apart = self.settings.max_skew.saturating_mul(2).min(self.settings.refresh_every / 2).max(1);
        self.tell(&[], format!("fresh shares {turn}"), Duration::from_secs(apart.unsigned_abs()))?;
        let (records, missed) = (Mutex::new(self.principals().records().into_iter()), AtomicUsize::new(0));
        let fresh = Mutex::new(Fresh::default());
        thread::scope(|scope| {
            let work = || {
                while missed.load(Ordering::Relaxed) < MISSED {
                    let Some(record) = lock(&records).next() else { return };
                    let Err(error) = self.asker.refresh(&record, next) else {
                        missed.store(0, Ordering::Relaxed);
                        lock(&fresh).keys += 1;
                        continue;
                    };
                    match error {
                        Error::Refused(_) => missed.store(0, Ordering::Relaxed),
                        Error::Declined { .. } => _ = missed.fetch_add(1, Ordering::Relaxed),
                        // One that broke off may have held up orders for minutes.
                        _ => _ = missed.fetch_add(MISSED / AT_A_TIME, Ordering::Relaxed),
                    }
                    lock(&fresh).kept.push((record, error.to_string()));
                }
            };
            for _ in 1..AT_A_TIME {
                // This one does it alone, if there is no thread.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut fresh = fresh.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = records.into_inner().unwrap_or_else(PoisonError::into_inner);
        fresh.kept.extend(left.map(|record| (record, "the other servers have given up".to_owned())));
        // Of keys that ended meanwhile there is nothing to say.
        let still = self.principals().records();
        fresh.kept.retain(|(record, _)| still.contains(record));
        Ok(fresh)
    }
}
