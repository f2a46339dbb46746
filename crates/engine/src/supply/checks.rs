//! Checks on one key, one at a time, whichever lanes they are in.
//!
//! Under one MAC key no two checks may be under way at once: what one opens would tell how to pass the other ("Rushing at SPDZ",
//! S&P 2025). So lanes that share a key take turns, and all parties' lanes in the same order; else one party could hold the key
//! for lane 0 and another for lane 1, and both wait for ever. The order follows from the plans alone: every lane's first turn by
//! the lanes' numbers, then every lane's second, and so on, and a lane that has ended well is passed over.
//!
//! Turns of a lane come in the order of its plan, so the first turn that isn't taken is one that its lane is able to take. A lane
//! that ends otherwise takes the others with it, and no further turn is given: a check that began would have no verdict, and
//! destroy the key. Who has a turn at a check sees it through first ([`Mesh::hold_faults`]).
//!
//! [`Mesh::hold_faults`]: tacit_net::Mesh::hold_faults

use crate::Error;
use crate::planted::{Mistake, planted};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tacit_session::Session;

/// How long a lane waits before it looks again whether its turn has come.
const GLANCE: Duration = Duration::from_micros(200);

/// What outlives a process: that a check on the key has begun, and that it has passed.
pub trait Journal: Send {
    /// Notes durably that a check begins; its number, which no other check on the key ever has.
    ///
    /// # Errors
    /// If it can't be noted: then the check may not begin.
    fn begin(&mut self) -> Result<u64, Error>;
    /// Notes durably that it has passed.
    ///
    /// # Errors
    /// If it can't be noted: then the check counts as not passed.
    fn pass(&mut self) -> Result<(), Error>;
    /// Destroys the key and all that hangs on it.
    ///
    /// # Errors
    /// If something may be left.
    fn destroy(&mut self) -> Result<(), Error>;
}

/// The journal of a key that goes with the process.
#[derive(Debug, Default)]
struct Unkept(u64);

impl Journal for Unkept {
    fn begin(&mut self) -> Result<u64, Error> {
        self.0 += 1;
        Ok(self.0 - 1)
    }

    fn pass(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn destroy(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// The checks on one key, as one lane sees them. If it is dropped before the lane has ended well ([`Self::ending`]), no lane
/// has a further turn.
pub struct CheckScope {
    shared: Arc<Mutex<Shared>>,
    lane: usize,
}

struct Shared {
    /// Turns that each lane has had; `None` once it has ended well.
    turns: Vec<Option<u64>>,
    /// Whether a turn is taken.
    taken: bool,
    /// Whether a lane ended otherwise.
    failed: bool,
    /// Whether a check had no verdict, or a bad one.
    destroyed: bool,
    journal: Box<dyn Journal>,
}

impl Shared {
    /// Whether it is this lane's turn.
    fn is_next(&self, lane: usize) -> bool {
        let own = self.turns[lane].map(|turns| (turns, lane));
        let first = self.turns.iter().enumerate().filter_map(|(lane, turns)| Some(((*turns)?, lane))).min();
        !self.taken && own.is_some() && own == first
    }
}

impl CheckScope {
    /// That of a key which one lane has for itself, and which goes with the process.
    pub fn alone() -> Self {
        Self::unkept(1).swap_remove(0)
    }

    /// That of each of some lanes which share a key that goes with the process.
    pub fn unkept(lanes: u16) -> Vec<Self> {
        Self::shared(lanes, Box::new(Unkept::default()))
    }

    /// That of each of some lanes which share a key.
    pub fn shared(lanes: u16, journal: Box<dyn Journal>) -> Vec<Self> {
        let turns = vec![Some(0); lanes.into()];
        let shared = Shared { turns, taken: false, failed: false, destroyed: false, journal };
        let shared = Arc::new(Mutex::new(shared));
        (0..lanes.into()).map(|lane| Self { shared: shared.clone(), lane }).collect()
    }

    /// Waits for this lane's turn at what only one may do at a time. All parties take as many turns in a lane, at the same
    /// points.
    ///
    /// # Errors
    /// The session's, if it has ended or ends meanwhile, by another lane too; [`Error::Supply`] if a check under the key had
    /// no verdict or a bad one, or a lane is gone that hasn't ended well.
    pub fn turn(&self, session: &mut Session) -> Result<Turn, Error> {
        loop {
            session.mesh().tick()?;
            {
                let mut shared = lock(&self.shared);
                if shared.destroyed {
                    return Err(destroyed());
                }
                if shared.failed || shared.turns[self.lane].is_none() {
                    return Err(Error::Supply("a lane that shares the key has ended".to_owned()));
                }
                if shared.is_next(self.lane) {
                    shared.taken = true;
                    return Ok(Turn { shared: self.shared.clone(), lane: self.lane, ended: false });
                }
            }
            session.mesh().pause(GLANCE)?;
        }
    }

    /// For whoever plays the lane, to say that it has ended well.
    pub fn ending(&self) -> Ending {
        Ending { shared: self.shared.clone(), lane: self.lane }
    }
}

impl Drop for CheckScope {
    fn drop(&mut self) {
        let mut shared = lock(&self.shared);
        shared.failed |= shared.turns[self.lane].is_some();
    }
}

impl fmt::Debug for CheckScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckScope").field("lane", &self.lane).finish_non_exhaustive()
    }
}

/// How a lane tells the others that it has ended well.
pub struct Ending {
    shared: Arc<Mutex<Shared>>,
    lane: usize,
}

impl Ending {
    /// The lane takes no further turn, and is passed over.
    pub fn well(self) {
        lock(&self.shared).turns[self.lane] = None;
    }
}

/// A lane's turn, until it is dropped.
pub struct Turn {
    shared: Arc<Mutex<Shared>>,
    lane: usize,
    ended: bool,
}

impl Turn {
    /// Notes durably that a check begins: before this party commits to anything by which others could come to know the
    /// verdict. Nothing is refused here because another lane has failed meanwhile: the other parties may have begun.
    ///
    /// # Errors
    /// If it can't be noted.
    pub fn begin(mut self) -> Result<Check, Error> {
        let number = lock(&self.shared).journal.begin()?;
        if planted(Mistake::ChecksAtOnce) {
            self.end();
        }
        Ok(Check { turn: self, number, passed: false })
    }

    fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let mut shared = lock(&self.shared);
        shared.taken = false;
        if let Some(turns) = &mut shared.turns[self.lane] {
            *turns += 1;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.end();
    }
}

/// A check that has begun. One that is dropped before it has passed destroys the key and all that hangs on it: others may
/// know its verdict.
#[must_use = "a check that isn't passed destroys its key"]
pub struct Check {
    turn: Turn,
    number: u64,
    passed: bool,
}

impl Check {
    /// A number that no other check under the key ever has, the same at all parties: it goes into commitments.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Notes durably that the check has passed at all parties.
    ///
    /// # Errors
    /// If it can't be noted; the key is destroyed then.
    pub fn pass(mut self) -> Result<(), Error> {
        lock(&self.turn.shared).journal.pass()?;
        self.passed = true;
        Ok(())
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        if !self.passed {
            let mut shared = lock(&self.turn.shared);
            shared.destroyed = true;
            // What can't be destroyed now is when the store is opened next: it has no verdict.
            let _ = shared.journal.destroy();
        }
    }
}

fn destroyed() -> Error {
    Error::Supply(
        "a check under this key failed or had no verdict; the key is destroyed, and all that hangs on it"
            .to_owned(),
    )
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
