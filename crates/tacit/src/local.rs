//! All endpoints in this process, each in a thread, linked through memory: for trying out, for tests, and for
//! whoever only wants the protocol's cost on one machine. Nothing is kept secret from this process.

use crate::endpoint::{Endpoint, play};
use crate::report::Traffic;
use crate::{Compiled, Error, Report, Run, protocol};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit_engine::{Clear, Observer, Outcome, Roles};
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

/// Is told of finished jobs: how many, of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

impl Local {
    /// Parties `P0`, `P1`, ...: as many as the protocol is for.
    pub fn new(name: &str) -> Result<Self, Error> {
        let count = *protocol(name)?.spec().parties.start();
        Ok(Self { protocol: name.to_owned(), parties: (0..count).map(|party| format!("P{party}")).collect() })
    }

    /// Runs a program on the values of all its inputs; whatever is revealed to anybody comes back.
    pub fn run(
        &self,
        compiled: &Arc<Compiled>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let (outputs, report) = self.play_all(compiled, inputs, progress)?;
        Ok(Run { outputs: compiled.decode_all(&outputs)?, report })
    }

    /// Runs a program that was compiled for debugging and compares every operation with the clear one. The first
    /// that differs is an error that names the user's line.
    pub fn debug(
        &self,
        compiled: &Arc<Compiled>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let (outputs, report) = self.play_all(compiled, inputs, progress)?;
        compiled.compare(inputs, &outputs)?;
        Ok(Run { outputs: compiled.decode_all(&outputs)?, report })
    }

    /// Plays every endpoint's part in a thread of its own.
    fn play_all(
        &self,
        compiled: &Arc<Compiled>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<(Vec<Option<Clear>>, Report), Error> {
        let clients = Roles::clients_of(compiled.plan(), &self.parties);
        let endpoint = Endpoint::new(
            compiled.clone(),
            protocol(&self.protocol)?,
            self.parties.clone(),
            clients.clone(),
        )?;
        let values = compiled.encode_all(inputs)?;
        let names: Vec<String> = self.parties.iter().chain(&clients).cloned().collect();
        let links = memory::mesh(self.parties.len(), clients.len());
        let start = Instant::now();
        let results: Vec<Result<(Outcome, Traffic), Error>> = std::thread::scope(|scope| {
            let threads: Vec<_> = links
                .into_iter()
                .enumerate()
                .map(|(me, transport)| {
                    let mesh = Mesh::new(Box::new(transport), me, names.clone(), Limits::default());
                    let mine = compiled.inputs_of(&endpoint.roles, me, &values);
                    let endpoint = &endpoint;
                    let told: Progress<'_> = if me == 0 { progress } else { &|_, _| {} };
                    let mut observer = Told::new(told);
                    scope.spawn(move || play(endpoint, mesh, &mine, &mut observer))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        collect(compiled.plan().outputs.len(), &names, results, start.elapsed())
    }
}

/// Passes on progress.
pub(crate) struct Told<'a> {
    progress: Progress<'a>,
}

impl<'a> Told<'a> {
    pub(crate) fn new(progress: Progress<'a>) -> Self {
        Self { progress }
    }
}

impl Observer for Told<'_> {
    fn progress(&mut self, done: usize, total: usize) {
        (self.progress)(done, total);
    }
}

/// Puts together what the endpoints have.
fn collect(
    outputs: usize,
    names: &[String],
    results: Vec<Result<(Outcome, Traffic), Error>>,
    elapsed: Duration,
) -> Result<(Vec<Option<Clear>>, Report), Error> {
    let mut report = Report { elapsed, ..Report::default() };
    let mut outputs: Vec<Option<Clear>> = vec![None; outputs];
    // The first cause is worth more than the others' notice of it.
    let mut failures = Vec::new();
    for (name, result) in names.iter().zip(results) {
        match result {
            Ok((outcome, traffic)) => {
                report.rounds = report.rounds.max(outcome.rounds);
                report.endpoints.push((name.clone(), traffic));
                for (all, one) in outputs.iter_mut().zip(outcome.outputs) {
                    *all = all.take().or(one);
                }
            }
            Err(error) => failures.push(error),
        }
    }
    match failures.into_iter().min_by_key(Error::is_echo) {
        Some(error) => Err(error),
        None => Ok((outputs, report)),
    }
}
