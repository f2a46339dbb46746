//! All endpoints in this process, each in a thread, linked through memory: for trying out, for tests, and for
//! whoever only wants the protocol's cost on one machine. Nothing is kept secret from this process.

use crate::auto_select::comparison;
use crate::compiled::Compiled;
use crate::endpoint::{Endpoint, check_count};
use crate::error::Error;
use crate::kept::Source;
use crate::lanes::{LaneInputs, admitted_lanes, clients_of};
use crate::progress::{Progress, Tally};
use crate::registry::{Chosen, protocol};
use crate::report::{Ended, Run};
use crate::run::{Given, Part};
use crate::state::residents::Residents;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::Instant;
use tacit_net::{Limits, Mesh, memory};
use tacit_program::Value;

/// A world of parties and clients within this process.
#[derive(Clone, Debug)]
pub struct Local {
    /// The protocol's name.
    pub protocol: String,
    /// Names of the parties.
    pub parties: Vec<String>,
}

impl Local {
    /// Parties `P0`, `P1`, ...: as many as the protocol is for.
    ///
    /// # Errors
    /// If there is no such protocol.
    pub fn new(name: &str) -> Result<Self, Error> {
        Self::among(name, *protocol(name)?.spec().parties.start())
    }

    /// So many parties, `P0`, `P1`, ...
    ///
    /// # Errors
    /// If there is no such protocol, or it isn't for as many.
    pub fn among(name: &str, count: usize) -> Result<Self, Error> {
        check_count(&*protocol(name)?, count)?;
        Ok(Self { protocol: name.to_owned(), parties: (0..count).map(|party| format!("P{party}")).collect() })
    }

    /// Runs a program on the values of all its inputs; whatever is revealed to anybody comes back.
    ///
    /// # Errors
    /// [`Error::Refused`] and [`Error::Value`] before it starts, [`Error::Aborted`] if anything goes wrong in it.
    pub fn run(
        &self,
        compiled: &Arc<Compiled>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let mut lanes = self.run_lanes(&[(compiled, inputs)], progress)?;
        Ok(lanes.swap_remove(0))
    }

    /// Runs several programs side by side, each in a lane of its own, which is a thread of every endpoint: what
    /// came out and what it took, lane by lane. All programs must name the same clients.
    ///
    /// # Errors
    /// Of the lane that failed first; then there are no results of others either.
    pub fn run_lanes(
        &self,
        jobs: &[LaneInputs<'_, Value>],
        progress: Progress<'_>,
    ) -> Result<Vec<Run>, Error> {
        let (lanes, inputs) = self.lanes(jobs)?;
        let ended = self.play(&lanes, given(&lanes, &inputs)?, Vec::new(), Vec::new(), progress)?;
        lanes.iter().zip(ended).map(|(endpoint, ended)| endpoint.compiled.run_of(ended)).collect()
    }

    /// Runs a program that was compiled for debugging and compares every operation with the clear one. The first
    /// that differs is an error that names the user's line.
    ///
    /// # Errors
    /// [`Error::Differs`] for the first operation that differs; else as [`Local::run`].
    pub fn debug(
        &self,
        compiled: &Arc<Compiled>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        if compiled.has_residents() {
            return Err(Error::Refused(
                "a debug run keeps no values and reads none that are kept".to_owned(),
            ));
        }
        let (lanes, values) = self.lanes(&[(compiled, inputs)])?;
        let ended =
            self.play(&lanes, given(&lanes, &values)?, Vec::new(), Vec::new(), progress)?.swap_remove(0);
        lanes[0].compiled.compare(inputs, &ended.outputs)?;
        lanes[0].compiled.run_of(ended)
    }

    /// What everybody has to know of a program.
    pub(crate) fn endpoint(&self, compiled: &Arc<Compiled>) -> Result<Endpoint, Error> {
        let clients = clients_of([compiled], &self.parties)?;
        Endpoint::new(compiled, protocol(&self.protocol)?, self.parties.clone(), clients)
    }

    /// The same of what runs in each lane, with its inputs.
    fn lanes<'a>(&self, jobs: &[LaneInputs<'a, Value>]) -> Result<(Vec<Endpoint>, Vec<&'a [Value]>), Error> {
        let protocol = protocol(&self.protocol)?;
        admitted_lanes(&*protocol, jobs.len())?;
        let clients = clients_of(jobs.iter().map(|(compiled, _)| *compiled), &self.parties)?;
        let lane = |&(compiled, _): &LaneInputs<'_, Value>| {
            Endpoint::new(compiled, protocol.clone(), self.parties.clone(), clients.clone())
        };
        let lanes = jobs.iter().map(lane).collect::<Result<_, _>>()?;
        Ok((lanes, jobs.iter().map(|(_, inputs)| *inputs).collect()))
    }

    /// Plays the parts of all endpoints; what all have together of each lane at the end. Those of the parties draw from
    /// these sources, and keep values here, if there are any.
    pub(crate) fn play<'a>(
        &self,
        lanes: &[Endpoint],
        given: Vec<Given<'a>>,
        sources: Vec<Source<'_>>,
        residents: Vec<Residents<'a>>,
        progress: Progress<'_>,
    ) -> Result<Vec<Ended>, Error> {
        let Some(first) = lanes.first() else { return Ok(Vec::new()) };
        let comparison = comparison(&Chosen::of(&self.protocol)?, &*first.protocol);
        let sources = sources.into_iter().chain(std::iter::repeat_with(|| Source::InRun));
        let mut seats = Vec::with_capacity(given.len());
        let mut residents = residents.into_iter();
        for ((me, given), source) in given.into_iter().enumerate().zip(sources) {
            seats.push((Part::new(me, lanes, given)?.on(residents.next()), source));
        }
        let (told, untold) = (Tally::new(progress), Tally::new(&|_, _| {}));
        let start = Instant::now();
        let play = |meshes: Vec<Mesh>, (part, source): (Part<'_, '_>, Source<'_>)| {
            let tally = if meshes[0].me() == 0 { &told } else { &untold };
            part.play(meshes, source, tally, comparison.as_ref(), start)
        };
        let mut parts =
            all_of(together(&self.parties, &first.clients, lanes.len(), seats, play))?.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.iter_mut().zip(part).for_each(|(all, ended)| all.join(ended));
        }
        Ok(all)
    }
}

/// What each endpoint gives of all inputs, by lane.
pub(crate) fn given<'a>(lanes: &[Endpoint], inputs: &[&'a [Value]]) -> Result<Vec<Given<'a>>, Error> {
    for (endpoint, values) in lanes.iter().zip(inputs) {
        endpoint.compiled.check_count(values.len())?;
    }
    let endpoints = lanes.first().map_or(0, |endpoint| endpoint.names().len());
    let own = |me: usize| {
        let of_lane = |(endpoint, values): (&Endpoint, &&'a [Value])| {
            let gives =
                |input: &tacit_program::plan::InputOp| endpoint.participants.endpoint(input.owner) == me;
            let inputs = endpoint.compiled.plan().inputs.iter();
            let own = values.iter().zip(inputs).map(|(value, input)| gives(input).then_some(value));
            let is_party = me < endpoint.parties.len();
            let known = values.iter().skip(endpoint.compiled.inputs().len());
            let known = known.map(|value| is_party.then_some(value));
            own.chain(known).collect()
        };
        Given::Values(lanes.iter().zip(inputs).map(of_lane).collect())
    };
    Ok((0..endpoints).map(own).collect())
}

/// Lets all parties and clients play a part in the same process, over links in memory for each of so many
/// lanes, each in a thread of its own with what stands in its seat; how it ended for each.
pub(crate) fn together<S: Send, T: Send>(
    parties: &[String],
    clients: &[String],
    lanes: usize,
    seats: impl IntoIterator<Item = S>,
    play: impl Fn(Vec<Mesh>, S) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    let names = [parties, clients].concat();
    let mut meshes: Vec<Vec<Mesh>> = names.iter().map(|_| Vec::new()).collect();
    for _ in 0..lanes {
        for (me, links) in memory::mesh(parties.len(), clients.len()).into_iter().enumerate() {
            meshes[me].push(Mesh::new(Box::new(links), me, names.clone(), Limits::default()));
        }
    }
    std::thread::scope(|scope| {
        let play = &play;
        let start = |(meshes, seat)| scope.spawn(move || play(meshes, seat));
        let threads: Vec<_> = meshes.into_iter().zip(seats).map(start).collect();
        let join = |thread: ScopedJoinHandle<'_, Result<T, Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}

/// What all have, or why not: of several failures the one that says most.
pub(crate) fn all_of<T>(results: Vec<Result<T, Error>>) -> Result<Vec<T>, Error> {
    let (done, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    match failed.into_iter().filter_map(Result::err).min_by_key(Error::distance) {
        Some(error) => Err(error),
        None => Ok(done.into_iter().flatten().collect()),
    }
}
