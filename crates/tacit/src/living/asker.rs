//! Runs that a party's own process asks for, with inputs of its own.

use super::control::REFRESH;
use super::desk::Want;
use crate::compiled::Compiled;
use crate::error::Error;
use crate::report::Run;
use crate::state::fill::Fill;
use crate::state::keeping::NO_STATE;
use crate::state::values::{State, at};
use crate::state::versions::Listed;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tacit_net::setup::Waker;
use tacit_program::{Data, Value};
use zeroize::Zeroize;

/// A run that a party wants. It begins once all parties want one of the same program and tag, and the clients that it names have
/// asked for it under that tag; who gives what is not compared but by the session.
pub struct Wanted {
    /// The program.
    pub compiled: Arc<Compiled>,
    /// What all say alike to meet in one run: it is part of what the session agrees on. At most 256 bytes.
    pub tag: String,
    /// A value for each input that is this party's to give, by the index of the input, and what all parties know.
    pub inputs: Vec<Option<Value>>,
    /// Which kept value fills each slot, and what is kept under other names than the program's.
    pub fill: Fill,
    /// How long it waits for the run to begin, from the asking on: also behind other runs.
    pub within: Duration,
}

/// What is asked of a server's thread.
pub(crate) enum Asked {
    Run(Job),
    NoMore(Want),
}

/// What is wanted: a run, or fresh shares of the value of a name.
pub(crate) enum What {
    Run(Wanted),
    Refresh(String),
}

impl What {
    /// What names it among all that parties want.
    pub(crate) fn want(&self) -> Want {
        match self {
            Self::Run(wanted) => (wanted.compiled.hash(), wanted.tag.clone()),
            Self::Refresh(name) => (REFRESH, name.clone()),
        }
    }
}

/// What is wanted, and who hears how it ended.
pub(crate) struct Job {
    pub(crate) what: What,
    pub(crate) sender: Sender<Result<Run, Error>>,
    /// Whether it has begun here, so that it isn't declined any more.
    pub(crate) has_begun: Arc<AtomicBool>,
}

/// What a party gives of itself, parts of keys among it, isn't left in memory.
impl Drop for Job {
    fn drop(&mut self) {
        if let What::Run(wanted) = &mut self.what {
            wanted.inputs.iter_mut().flatten().for_each(wipe);
        }
    }
}

fn wipe(value: &mut Value) {
    match &mut value.data {
        Data::Bool(data) => data.zeroize(),
        Data::Int(data) => data.zeroize(),
        Data::Unsigned(data) => data.zeroize(),
        Data::Wide(data) => data.zeroize(),
        Data::Float(data) => data.zeroize(),
    }
}

impl Job {
    pub(crate) fn end(self, result: Result<Run, Error>) {
        // If nobody waits any more, nobody asks.
        let _ = self.sender.send(result);
    }
}

/// Why nothing more comes of what is asked for.
pub(crate) const ENDED: &str = "the server has ended";

/// A run that doesn't begin, as this party tells itself.
pub(crate) fn declined(reason: &str) -> Error {
    Error::Declined { party: "this party".to_owned(), reason: reason.to_owned() }
}

/// Asks a [`Server`](super::Server) for runs from other threads of its process.
#[derive(Clone)]
pub struct Asker {
    sender: Sender<Asked>,
    waker: Waker,
    state: Option<Arc<Mutex<State>>>,
    is_over: Arc<AtomicBool>,
}

impl Asker {
    pub(crate) fn new(
        sender: Sender<Asked>,
        waker: Waker,
        state: Option<Arc<Mutex<State>>>,
        is_over: Arc<AtomicBool>,
    ) -> Self {
        Self { sender, waker, state, is_over }
    }

    /// Has a run, and waits for its end. Several may be under way, as many as the server has lanes; those that keep
    /// values take turns. Once it has begun there is no limit but those of its links; and once this party has all
    /// that it learns and keeps, it has ended well, whatever others do after that.
    ///
    /// # Errors
    /// [`Error::Declined`] if it doesn't begin in time or at all, and never once it has begun; [`Error::BrokeOff`] if this party's own
    /// trouble, such as with its disk, ended it; and the run's own.
    pub fn run(&self, wanted: Wanted) -> Result<Run, Error> {
        let within = wanted.within;
        self.have(What::Run(wanted), within)
    }

    /// Gives the newest value of a name fresh shares, together with all other parties, which have to ask for that within such a time:
    /// else as [`Seat::refresh`](crate::Seat::refresh). Runs that read it go on meanwhile; those that keep something take turns with
    /// it. A name has 256 bytes at most here.
    ///
    /// # Errors
    /// As [`Asker::run`], and as [`Seat::refresh`](crate::Seat::refresh).
    pub fn refresh(&self, name: &str, within: Duration) -> Result<String, Error> {
        let run = self.have(What::Refresh(name.to_owned()), within)?;
        Ok(run.report.kept.into_iter().next().unwrap_or_default())
    }

    /// Has what is wanted, and waits for its end.
    fn have(&self, what: What, within: Duration) -> Result<Run, Error> {
        let (sender, ended) = channel();
        let want = what.want();
        let has_begun = Arc::new(AtomicBool::new(false));
        // Nobody tells any more how it ended.
        let gone = |reason: &str| {
            if has_begun.load(Ordering::SeqCst) {
                return Error::BrokeOff { reason: ENDED.to_owned() };
            }
            declined(reason)
        };
        let job = Job { what, sender, has_begun: has_begun.clone() };
        self.sender.send(Asked::Run(job)).map_err(|_| declined(ENDED))?;
        self.waker.wake();
        // Whatever was sent before the server's end is answered there.
        if self.is_over.load(Ordering::SeqCst) && !has_begun.load(Ordering::SeqCst) {
            return ended.try_recv().unwrap_or_else(|_| Err(gone(ENDED)));
        }
        match ended.recv_timeout(within) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(gone(ENDED)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        // If the server is gone, so is the other end of what is waited for.
        let _ = self.sender.send(Asked::NoMore(want));
        self.waker.wake();
        // It may have begun: then its end is what counts, and else the sender is dropped.
        let late = "not all parties want the run, or its clients didn't ask for it";
        ended.recv().unwrap_or_else(|_| Err(gone(late)))
    }

    /// What is kept, as [`State::list`].
    ///
    /// # Errors
    /// If the server has no state.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let state = self.state.as_ref().ok_or_else(|| Error::Refused(NO_STATE.to_owned()))?;
        Ok(at(state).list())
    }

    /// Drops a kept value, as [`State::drop_value`]. A run that has begun and reads it goes on with what it has.
    ///
    /// # Errors
    /// As that.
    pub fn drop_value(&self, value: &str) -> Result<(), Error> {
        let state = self.state.as_ref().ok_or_else(|| Error::Refused(NO_STATE.to_owned()))?;
        at(state).drop_value(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_wiped() {
        let kinds = [
            Data::Bool(vec![true; 3]),
            Data::Int(vec![-7; 3]),
            Data::Unsigned(vec![7; 3]),
            Data::Wide(vec![7; 3]),
            Data::Float(vec![0.5; 3]),
        ];
        for data in kinds {
            let mut value = Value { shape: vec![3], data };
            wipe(&mut value);
            let left = match &value.data {
                Data::Bool(left) => left.len(),
                Data::Int(left) => left.len(),
                Data::Unsigned(left) => left.len(),
                Data::Wide(left) => left.len(),
                Data::Float(left) => left.len(),
            };
            assert_eq!(left, 0);
        }
    }
}
