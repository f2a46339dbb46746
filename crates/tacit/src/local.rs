//! All endpoints in this process, each in a thread, linked through memory: for trying out, for tests, and for
//! whoever only wants the protocol's cost on one machine. Nothing is kept secret from this process.

use crate::auto_select::comparison;
use crate::endpoint::{Endpoint, Once, check_count};
use crate::lanes::{LaneInputs, Strand, Tally, admitted_lanes, clients_of, play_lanes};
use crate::report::Traffic;
use crate::{Compiled, Error, Report, Run, players, protocol};
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::Instant;
use tacit_engine::{Clear, Outcome, Participants};
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

/// A lane's outputs, of all endpoints together, and its report.
type Collected = (Vec<Option<Clear>>, Report);

/// What a lane ran, its outputs and its report.
type Opened = (Arc<Compiled>, Vec<Option<Clear>>, Report);

/// Is told of finished jobs: how many, of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

impl Local {
    /// Parties `P0`, `P1`, ...: as many as the protocol is for.
    pub fn new(name: &str) -> Result<Self, Error> {
        Self::among(name, *protocol(name)?.spec().parties.start())
    }

    /// So many parties, `P0`, `P1`, ...
    ///
    /// # Errors
    /// If there is no such protocol, or it isn't for as many.
    pub fn among(name: &str, count: usize) -> Result<Self, Error> {
        check_count(protocol(name)?, count)?;
        Ok(Self { protocol: name.to_owned(), parties: (0..count).map(|party| format!("P{party}")).collect() })
    }

    /// Runs a program on the values of all its inputs; whatever is revealed to anybody comes back.
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
        let run =
            |(compiled, outputs, report): Opened| Ok(Run { outputs: compiled.decode_all(&outputs)?, report });
        self.play_all(jobs, progress)?.into_iter().map(run).collect()
    }

    /// Runs a program that was compiled for debugging and compares every operation with the clear one. The first
    /// that differs is an error that names the user's line.
    pub fn debug(
        &self,
        compiled: &Arc<Compiled>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let (compiled, outputs, report) = self.play_all(&[(compiled, inputs)], progress)?.swap_remove(0);
        compiled.compare(inputs, &outputs)?;
        Ok(Run { outputs: compiled.decode_all(&outputs)?, report })
    }

    /// What everybody has to know of a program.
    pub(crate) fn endpoint(&self, compiled: &Arc<Compiled>) -> Result<Endpoint, Error> {
        let clients = Participants::clients_of(compiled.plan(), &self.parties);
        Endpoint::new(compiled, protocol(&self.protocol)?, self.parties.clone(), clients)
    }

    /// Plays every endpoint's part in threads of its own, one for each job.
    fn play_all(&self, jobs: &[LaneInputs<'_, Value>], progress: Progress<'_>) -> Result<Vec<Opened>, Error> {
        let protocol = protocol(&self.protocol)?;
        admitted_lanes(protocol, jobs.len())?;
        let clients = clients_of(jobs.iter().map(|(compiled, _)| *compiled), &self.parties)?;
        let mut lanes = Vec::with_capacity(jobs.len());
        for &(compiled, inputs) in jobs {
            let endpoint = Endpoint::new(compiled, protocol, self.parties.clone(), clients.clone())?;
            let values = endpoint.compiled.encode_all(inputs)?;
            lanes.push((endpoint, values));
        }
        let names: Vec<String> = self.parties.iter().chain(&clients).cloned().collect();
        // By endpoint, then by lane.
        let mut links: Vec<Vec<_>> = names.iter().map(|_| Vec::new()).collect();
        for _ in jobs {
            let mesh = memory::mesh(self.parties.len(), clients.len());
            links.iter_mut().zip(mesh).for_each(|(links, link)| links.push(link));
        }
        let tally = Tally::new(progress);
        let untold = Tally::new(&|_, _| {});
        let start = Instant::now();
        let results: Vec<Result<Vec<(Outcome, Traffic)>, Error>> = std::thread::scope(|scope| {
            let (lanes, names) = (&lanes, &names);
            let threads: Vec<_> = links
                .into_iter()
                .enumerate()
                .map(|(me, links)| {
                    let tally = if me == 0 { &tally } else { &untold };
                    scope.spawn(move || {
                        let inputs = |(endpoint, values): &(Endpoint, Vec<Clear>)| {
                            Once::new(endpoint.compiled.inputs_of(&endpoint.participants, me, values))
                        };
                        let mut own: Vec<_> = lanes.iter().map(|lane| (inputs(lane), tally.lane())).collect();
                        let mut strands = Vec::with_capacity(lanes.len());
                        for (((endpoint, _), link), (feed, observer)) in lanes.iter().zip(links).zip(&mut own)
                        {
                            let mesh = Mesh::new(Box::new(link), me, names.clone(), Limits::default());
                            strands.push(Strand { endpoint, mesh, feed, observer });
                        }
                        let parts = play_lanes(strands)?;
                        Ok(own.into_iter().map(|(once, _)| once.outputs).zip(parts).map(outcome).collect())
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let players = players(protocol, &self.parties);
        let comparison = comparison(&self.protocol, protocol)?;
        let report = Report { elapsed: start.elapsed(), players, comparison, ..Report::default() };
        let opened = collect(&names, jobs.len(), results, &report)?;
        let lanes = lanes.into_iter().zip(opened);
        Ok(lanes.map(|((endpoint, _), (outputs, report))| (endpoint.compiled, outputs, report)).collect())
    }
}

/// Lets all parties and the first `clients` clients play a part in the same process, over links in memory, each in a thread
/// of its own with what stands in its seat; how it ended for each.
pub(crate) fn together<S: Send, T: Send>(
    endpoint: &Endpoint,
    clients: usize,
    seats: impl IntoIterator<Item = S>,
    play: impl Fn(usize, Mesh, S) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    let names = [&endpoint.parties[..], &endpoint.clients[..]].concat();
    let links = memory::mesh(endpoint.parties.len(), clients);
    std::thread::scope(|scope| {
        let (names, play) = (&names, &play);
        let start = |(me, (links, seat))| {
            let mesh = Mesh::new(Box::new(links), me, names.clone(), Limits::default());
            scope.spawn(move || play(me, mesh, seat))
        };
        let threads: Vec<_> = links.into_iter().zip(seats).enumerate().map(start).collect();
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

/// What a lane has at the end.
pub(crate) fn outcome(
    (outputs, (rounds, traffic)): (Vec<Option<Clear>>, (u64, Traffic)),
) -> (Outcome, Traffic) {
    (Outcome { outputs, rounds }, traffic)
}

/// Puts together, lane by lane, what the endpoints have; `report` is what is known of all lanes.
pub(crate) fn collect(
    names: &[String],
    lanes: usize,
    results: Vec<Result<Vec<(Outcome, Traffic)>, Error>>,
    report: &Report,
) -> Result<Vec<Collected>, Error> {
    let mut all: Vec<Collected> = vec![(Vec::new(), report.clone()); lanes];
    for (name, parts) in names.iter().zip(all_of(results)?) {
        for ((outputs, report), (outcome, traffic)) in all.iter_mut().zip(parts) {
            report.rounds = report.rounds.max(outcome.rounds);
            report.endpoints.push((name.clone(), traffic));
            outputs.resize(outcome.outputs.len(), None);
            for (known, one) in outputs.iter_mut().zip(outcome.outputs) {
                *known = known.take().or(one);
            }
        }
    }
    Ok(all)
}
