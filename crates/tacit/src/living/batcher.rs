//! Requests that come to all parties together, from others than clients: what a service computes for them at the same
//! time runs together, as instances of one run.
//!
//! A service answers each request in a thread of its own, and asks there for one step after another ([`Request::want`]).
//! In each round the parties call the roll: a small run tells all of them what each wants for each request. Only what
//! all want alike is computed, and it is that in the same runs at all. So a request on which parties differ is refused
//! by itself, at once, and costs the others nothing.
//!
//! Docs: decision 51 in `docs/adr`.

use super::lock::locked;
use super::server::Server;
use crate::error::Error;
use meeting::{Meeting, Teller};
use roll::Roll;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

mod meeting;
mod roll;
mod service;

pub use roll::roll;
pub use service::{Service, Step};

/// How many go together.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// How many requests a roll has room for, ascending: the least that is enough is taken. A batch has no more than the last.
    pub rooms: Vec<usize>,
    /// Steps in one run at most.
    pub together: usize,
    /// Runs of one batch at a time.
    pub runs: usize,
    /// Batches that are answered at a time; others wait, and nothing says which is next. So whoever sends batches has no more
    /// under way, or parties may begin with others. A server needs `runs` times `batches` lanes for them, and more for whatever
    /// is to wait for none of them.
    pub batches: usize,
    /// How long a roll waits for the other parties, from when all requests here want something or are answered: an answer that
    /// takes one party longer fails the batch.
    pub within: Duration,
}

/// Has steps of requests run together, through a party's server. All parties have one with the same bounds.
pub struct Batcher {
    roll: Roll,
    bounds: Bounds,
    /// Batches that are being answered.
    taken: Mutex<usize>,
    changed: Condvar,
}

impl Batcher {
    /// For this server, which is to serve what the batcher runs. The programs of rolls are compiled here.
    ///
    /// # Errors
    /// [`Error::Refused`] if a bound is zero or rooms don't ascend, and what compiling says.
    pub fn new(server: &mut Server, bounds: Bounds) -> Result<Self, Error> {
        let Bounds { rooms, together, runs, batches, within } = &bounds;
        let ascend = rooms.first() > Some(&0) && rooms.is_sorted_by(|one, next| one < next);
        if !ascend || [together, runs, batches].contains(&&0) {
            return Err(Error::Refused(
                "a batcher's bounds are greater than 0, and its rooms ascend".to_owned(),
            ));
        }
        let config = server.config();
        let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let roll = Roll::new(server.asker(), &parties, config.me(), (rooms, *within))?;
        roll.programs().try_for_each(|program| server.expect(program))?;
        Ok(Self { roll, bounds, taken: Mutex::default(), changed: Condvar::new() })
    }

    /// Waits until one more batch may be answered.
    pub fn turn(&self) -> Turn<'_> {
        let waits = |taken: &mut usize| *taken >= self.bounds.batches;
        let mut taken =
            self.changed.wait_while(locked(&self.taken), waits).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Turn(self)
    }
}

/// A batch that may be answered now. What a service looks at once for a whole batch it looks at from here on.
pub struct Turn<'b>(&'b Batcher);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *locked(&self.0.taken) -= 1;
        self.0.changed.notify_one();
    }
}

/// A batch's name, and how many requests are in it: at all parties the same.
#[derive(Clone, Copy, Debug)]
pub struct Named<'n> {
    /// Distinguishes it from all other batches, at most 200 bytes: a cryptographic hash of all that parties were sent, say, so
    /// that who sends different parties different requests has none of them run.
    pub name: &'n str,
    /// How many requests it has.
    pub requests: usize,
    /// Whether any of them may want a step. That has to follow from what all parties were sent, as a party that wants none calls
    /// the roll with the others then.
    pub begins: bool,
}

/// One request among those that came together.
pub struct Request<'r, S: Service> {
    meeting: &'r Meeting<S>,
    number: usize,
}

impl<S: Service> Request<'_, S> {
    /// Its place in the batch.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Has a step run, with those of other requests, if all parties want just this one.
    ///
    /// # Errors
    /// Why nothing came of it, in words: this party or another one doesn't want it, or the run failed.
    pub fn want(&mut self, step: S::Step) -> Result<S::Outcome, String> {
        self.meeting.want(self.number, step)
    }
}

impl<S: Service> Drop for Request<'_, S> {
    /// The others go on without it.
    fn drop(&mut self) {
        self.meeting.leave();
    }
}

/// What names each step that is wanted, by its request's number.
type Marks = BTreeMap<usize, [u8; 32]>;

/// Steps of one kind that run together, each with its request's number.
type Group<S> = Vec<(usize, <S as Service>::Step)>;

impl Turn<'_> {
    /// Answers a batch's requests, each in a thread of its own: what came of each, in their order, but of those whose thread
    /// panicked or couldn't be had.
    ///
    /// # Errors
    /// [`Error::Refused`] if they are more than a roll has room for.
    ///
    /// # Panics
    /// If the service does in what it does for all of them: the requests are told first, and the turn is another batch's.
    pub fn answer<S: Service, A: Send>(
        self,
        service: &S,
        batch: Named<'_>,
        answer: impl Fn(Request<'_, S>) -> A + Sync,
    ) -> Result<Vec<Option<A>>, Error> {
        let (requests, most) = (batch.requests, self.0.roll.most());
        if requests > most {
            return Err(Error::Refused(format!("{requests} requests came together, and {most} may")));
        }
        let meeting = Meeting::of(batch.requests);
        thread::scope(|scope| {
            let (meeting, answer) = (&meeting, &answer);
            let threads: Vec<_> = (0..batch.requests)
                .map(|number| {
                    // Without a thread it is dropped, and the others go on.
                    let request = Request { meeting, number };
                    thread::Builder::new().spawn_scoped(scope, move || answer(request)).ok()
                })
                .collect();
            self.meet(service, meeting, batch);
            Ok(threads.into_iter().map(|thread| thread?.join().ok()).collect())
        })
    }

    /// Runs what requests want, round after round, until all are answered. All parties have as many rounds: whether there is a
    /// first one follows from what all were sent, and whether there is another from what all have just run. So a party that
    /// wants nothing any more calls the roll, too.
    fn meet<S: Service>(&self, service: &S, meeting: &Meeting<S>, batch: Named<'_>) {
        let _teller = Teller(meeting);
        let mut goes_on = batch.begins;
        for round in 0_u64.. {
            let wanted = meeting.all_wanted();
            if !goes_on {
                if wanted.is_empty() {
                    return;
                }
                meeting.tell(wanted.into_keys().map(|number| (number, Err(OVER.to_owned()))));
                continue;
            }
            let wanted = still_wanted(service, meeting, wanted);
            let name = format!("{} {round}", batch.name);
            let marks: Marks = wanted.iter().map(|(number, step)| (*number, step.mark())).collect();
            let own = wanted.iter().map(|(number, step)| (*number, told(&marks[number], step))).collect();
            let alike = match self.0.roll.call(format!("{name} roll"), &own, batch.requests) {
                Ok((alike, report)) => {
                    service.has_called(&report, own.len());
                    alike
                }
                Err(error) => {
                    meeting.tell(wanted.into_keys().map(|number| (number, Err(error.to_string()))));
                    goes_on = false;
                    continue;
                }
            };
            let (agreed, differ): (BTreeMap<_, _>, BTreeMap<_, _>) =
                wanted.into_iter().partition(|(number, _)| alike.contains(number));
            meeting.tell(differ.into_keys().map(|number| (number, Err(DIFFER.to_owned()))));
            goes_on = agreed.values().any(|step| !step.is_last());
            let groups = groups(agreed, S::Step::kind, self.0.bounds.together);
            let tagged = |group: Group<S>| (tag(&name, &group, &marks), group);
            self.run_all(service, meeting, groups.into_iter().map(tagged).collect());
        }
    }

    /// Runs groups, each under its tag, a few at a time, in the same order at all parties.
    fn run_all<S: Service>(&self, service: &S, meeting: &Meeting<S>, groups: Vec<(String, Group<S>)>) {
        let others = groups.len().min(self.0.bounds.runs).saturating_sub(1);
        let groups = Mutex::new(groups.into_iter());
        let work = || {
            loop {
                let Some((tag, group)) = locked(&groups).next() else { return };
                run_group(service, meeting, tag, group);
            }
        };
        thread::scope(|scope| {
            for _ in 0..others {
                // This one does it alone, if there is no thread.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }
}

/// Why a request gets nothing that not all parties want alike.
const DIFFER: &str = "the parties don't want the same of this request";
/// Why one gets nothing that comes after the last round, or after one that failed.
const OVER: &str = "nothing more runs for this batch of requests";

/// What a roll tells of a step: that all parties want it, and whether another round may follow.
fn told(mark: &[u8; 32], step: &impl Step) -> u64 {
    short(Sha256::new_with_prefix(mark).chain_update([u8::from(step.is_last())]))
}

/// The tag of a group's run. It has which steps of which requests these are: parties whose groups differ, such as by other bounds,
/// meet in no run.
fn tag<T>(name: &str, group: &[(usize, T)], marks: &Marks) -> String {
    let mut hash = Sha256::new();
    for (number, _) in group {
        hash.update(number.to_le_bytes());
        hash.update(marks[number]);
    }
    format!("{name} {:016x}", short(hash))
}

/// 64 bits of a hash.
fn short(hash: Sha256) -> u64 {
    hash.finalize().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// What this party still runs of what is wanted; the rest is told why not.
fn still_wanted<S: Service>(
    service: &S,
    meeting: &Meeting<S>,
    wanted: BTreeMap<usize, S::Step>,
) -> BTreeMap<usize, S::Step> {
    let (refusal, mut refused) = (service.refusal(), Vec::new());
    let keeps = |(number, step): &(usize, S::Step)| match refusal(step) {
        Some(why) => {
            refused.push((*number, Err(why)));
            false
        }
        None => true,
    };
    let wanted = wanted.into_iter().filter(keeps).collect();
    meeting.tell(refused.into_iter());
    wanted
}

/// Runs steps of one kind together, and tells each request what came of its own. A group with a step that this party doesn't run
/// any more isn't run at all, since the others want no other one.
fn run_group<S: Service>(service: &S, meeting: &Meeting<S>, tag: String, group: Group<S>) {
    let (numbers, steps): (Vec<usize>, Vec<S::Step>) = group.into_iter().unzip();
    let done = match steps.iter().find_map(service.refusal()) {
        Some(why) => Err(why),
        None => service.run(tag, &steps).map_err(|error| error.to_string()),
    };
    // Whoever is told nothing waits for ever.
    let done = done.and_then(|outcomes| {
        let fit = outcomes.len() == steps.len();
        fit.then_some(outcomes).ok_or_else(|| "the service has not as many outcomes as steps".to_owned())
    });
    match done {
        Ok(outcomes) => meeting.tell(numbers.into_iter().zip(outcomes.into_iter().map(Ok))),
        Err(why) => meeting.tell(numbers.into_iter().map(|number| (number, Err(why.clone())))),
    }
}

/// Steps by their kind, as many together as may be: a larger run takes less than two smaller ones, since rounds cost most.
fn groups<K: Ord, T>(steps: BTreeMap<usize, T>, kind: impl Fn(&T) -> K, most: usize) -> Vec<Vec<(usize, T)>> {
    let mut kinds: BTreeMap<K, Vec<(usize, T)>> = BTreeMap::new();
    for (number, step) in steps {
        kinds.entry(kind(&step)).or_default().push((number, step));
    }
    let mut groups = Vec::new();
    for mut steps in kinds.into_values() {
        while !steps.is_empty() {
            let rest = steps.split_off(steps.len().min(most));
            groups.push(std::mem::replace(&mut steps, rest));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn steps_of_one_kind_run_together() {
        let sizes = |most: usize| -> Vec<(bool, usize)> {
            let groups = groups((0..70).map(|step| (step, step)).collect(), |step| *step == 3, most);
            groups.iter().map(|group| (group[0].1 == 3, group.len())).collect()
        };
        assert_eq!(sizes(64), [(false, 64), (false, 5), (true, 1)]);
        assert_eq!(sizes(30), [(false, 30), (false, 30), (false, 9), (true, 1)]);
    }
}
