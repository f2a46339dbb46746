//! One endpoint's part in a run of several lanes: independent runs of plans side by side, each over links of its
//! own, with keys of its own, in a thread of its own.

use crate::endpoint::{Endpoint, Feed, Source, play_from};
use crate::report::Traffic;
use crate::{Compiled, Error, Progress};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tacit_engine::{Observer, Participants, Protocol};
use tacit_net::{AbortFlag, Lane, MAX_LANES, Mesh};

/// What one lane runs: a program, and its inputs.
pub type LaneInputs<'a, V> = (&'a Arc<Compiled>, &'a [V]);

/// An endpoint's part in one lane.
pub struct Strand<'a> {
    /// What is run. All strands have the same parties and clients.
    pub endpoint: &'a Endpoint,
    /// The lane's links.
    pub mesh: Mesh,
    /// Where its inputs come from, and where its outputs go.
    pub feed: &'a mut (dyn Feed + Send),
    /// Is told how the lane goes on.
    pub observer: &'a mut (dyn Observer + Send),
}

/// Plays an endpoint's part in all lanes, one for each strand, each in a thread of its own; lane by lane, the rounds
/// and what was sent.
///
/// Everybody must run as many lanes, and the same program in the same lane: else all end with an error before
/// anything is sent that depends on a secret.
///
/// # Errors
/// Of the lane that failed first, unless a check failed in another: who deviates can end a lane to hide that. All others are
/// aborted with it. It says whether a check was under way in any ([`Error::is_attempt`]).
pub fn play_lanes(strands: Vec<Strand<'_>>) -> Result<Vec<(u64, Traffic)>, Error> {
    play_each(strands.into_iter().map(|strand| (strand, Source::InRun)).collect())
}

/// As [`play_lanes`], from what a party has for each lane.
pub(crate) fn play_each(strands: Vec<(Strand<'_>, Source)>) -> Result<Vec<(u64, Traffic)>, Error> {
    let count = lane_count(strands.len())?;
    let tie = AbortFlag::default();
    let play_one = |lane: Lane, (strand, source): (Strand<'_>, Source)| {
        let mesh = strand.mesh.in_lane(lane, tie.clone());
        let result = play_from(strand.endpoint, mesh, source, strand.feed, strand.observer);
        if let Err(error) = &result {
            // Most failures are a mesh's, which has done so already.
            tie.set(lane, &error.to_string());
        }
        result
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let mut strands = Lane::all(count).zip(strands);
        let first = strands.next();
        let others: Vec<_> =
            strands.map(|(lane, strand)| scope.spawn(move || play_one(lane, strand))).collect();
        let first = first.map(|(lane, strand)| play_one(lane, strand));
        let others = others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        first.into_iter().chain(others).collect()
    });
    let first = tie.failed().map(|(lane, _)| lane);
    let mut failed = Vec::new();
    let mut parts = Vec::with_capacity(results.len());
    for (lane, result) in Lane::all(count).zip(results) {
        match result {
            Ok(part) => parts.push(part),
            Err(error) => failed.push((lane, error)),
        }
    }
    worst(failed, first).map_or(Ok(parts), Err)
}

/// Of the failures of a run's lanes the one that is told: a failed check rather than that of lane `first`, and that rather than
/// another. If a check was under way in any, it is in this.
fn worst(failed: Vec<(Lane, Error)>, first: Option<u16>) -> Option<Error> {
    let challenged = failed.iter().any(|(_, error)| error.is_attempt());
    // Whoever deviates in one lane can have another one end otherwise, before any check: that must not hide the attempt.
    let hides = |error: &Error| challenged && !matches!(error, Error::Aborted { .. });
    let is_less =
        |(lane, error): &(Lane, Error)| (!error.is_failed_check(), hides(error), first != Some(lane.number));
    let (lane, error) = failed.into_iter().min_by_key(is_less)?;
    let error = error.in_check(challenged);
    Some(if lane.has_others() { error.in_lane(lane.number) } else { error })
}

/// So many lanes, if a run under a protocol can have as many: to ask before links are made.
///
/// # Errors
/// [`Error::Refused`] if it can't.
pub fn admitted_lanes(protocol: &dyn Protocol, jobs: usize) -> Result<u16, Error> {
    let count = lane_count(jobs)?;
    protocol.admit_lanes(count).map_err(|refused| Error::Refused(refused.to_string()))?;
    Ok(count)
}

/// So many lanes, if a run can have as many.
pub(crate) fn lane_count(jobs: usize) -> Result<u16, Error> {
    match u16::try_from(jobs) {
        Ok(count) if (1..=MAX_LANES).contains(&count) => Ok(count),
        _ => Err(Error::Refused(format!("a run has 1 to {MAX_LANES} lanes, not {jobs}"))),
    }
}

/// The clients that the lanes' programs name.
///
/// # Errors
/// If they don't all name the same: everybody who takes part does so in all lanes.
pub(crate) fn clients_of<'a>(
    lanes: impl IntoIterator<Item = &'a Arc<Compiled>>,
    parties: &[String],
) -> Result<Vec<String>, Error> {
    let mut lanes = lanes.into_iter().map(|compiled| Participants::clients_of(compiled.plan(), parties));
    let clients = lanes.next().unwrap_or_default();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let expected = sorted(clients.clone());
    match lanes.map(sorted).find(|other| *other != expected) {
        None => Ok(clients),
        Some(other) => Err(Error::Refused(format!(
            "the programs of a run's lanes name different clients: {expected:?} and {other:?}"
        ))),
    }
}

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
    use tacit_session::Error as SessionError;

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

    #[test]
    fn a_failed_check_is_told_whatever_ended_first_and_an_attempt_in_any_lane_counts() {
        let aborted = |attempt, cause: SessionError| Error::Aborted {
            lane: None,
            at: None,
            attempt,
            cause: cause.into(),
        };
        let lost = |attempt| aborted(attempt, SessionError::Exhausted);
        let rejected = || aborted(false, SessionError::Rejected { what: "it is wrong".into() });
        let told = |errors: [Error; 3], first| {
            let error = worst(Lane::all(3).zip(errors).collect(), Some(first)).unwrap();
            let Error::Aborted { lane, .. } = &error else { panic!("it was aborted") };
            (*lane, error.is_failed_check(), error.is_attempt())
        };
        assert_eq!(told([lost(false), lost(false), lost(false)], 1), (Some(1), false, false));
        assert_eq!(told([lost(false), lost(false), lost(true)], 1), (Some(1), false, true));
        assert_eq!(told([lost(false), lost(true), rejected()], 1), (Some(2), true, true));
        // Whoever deviates in lane 2 has lane 1 end first, without material.
        let refused = || Error::Refused("no store".into());
        assert_eq!(told([lost(false), refused(), lost(true)], 1), (Some(0), false, true));
        assert!(matches!(worst(vec![(Lane::ONLY, refused())], Some(0)), Some(Error::Refused(_))));
        assert!(worst(Vec::new(), None).is_none());
    }

    #[test]
    fn there_is_a_lane_at_least_and_not_too_many() {
        assert_eq!(lane_count(1).unwrap(), 1);
        assert_eq!(lane_count(64).unwrap(), 64);
        for wrong in [0, 65, 1 << 16] {
            assert!(lane_count(wrong).unwrap_err().to_string().contains("1 to 64 lanes"));
        }
    }
}
