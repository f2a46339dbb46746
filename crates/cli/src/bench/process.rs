//! Parties as processes of their own, on loopback.
//!
//! The benchmark starts this program again for every party, writes it one line of JSON on standard input that
//! says what to do, and reads one line from its standard output. A party ends when whoever started it does.

use super::correlated::job as correlated;
use super::limits::Loopback;
use super::living::job as living;
use super::party::{Bench, Report};
use super::ring;
use super::spec::{Spec, Transport};
use crate::context::Context;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use tacit::advanced::net::setup::{Config, Listener, connect_lanes, init, quiet};
use tacit::advanced::net::{Mesh, Transport as Links};
use tacit::{Distance, Error};

/// What a party's process is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PartyTask {
    /// Its `parties.toml`.
    config: PathBuf,
    task: Task,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Task {
    /// A protocol's benchmark.
    Bench(Spec),
    /// Messages to and fro, to see what the links carry.
    Ring(ring::Ring),
    /// Oblivious transfers or triples.
    Correlated(correlated::Job),
    /// Runs for clients, until whoever started the process ends it.
    Living(living::Job),
}

/// What a party's process has to say.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Report(Report),
    Loopback(Loopback),
    Correlated(correlated::Report),
    /// Why it has nothing to report, and whether that may be only the news of somebody else's failure.
    Failed {
        failure: Failure,
        echo: bool,
    },
}

/// Runs a protocol's benchmark with a process for every party, and for each of its clients, who have nothing to say.
pub(super) fn bench(bench: &Bench, this_command: &[String]) -> Result<Vec<Report>, Failure> {
    let (parties, task) = (bench.spec.parties.len(), Task::Bench(bench.spec.clone()));
    let said = run(bench.spec.transport, parties, bench.clients(), &task, this_command)?;
    said.into_iter()
        .take(parties)
        .map(|said| match said {
            Said::Report(report) => Ok(report),
            _ => Err(Failure::aborted("a party reported what it wasn't asked for")),
        })
        .collect()
}

/// Makes correlated randomness, with a process for every party.
pub(super) fn correlated(
    transport: Transport,
    job: correlated::Job,
    this_command: &[String],
) -> Result<Vec<correlated::Report>, Failure> {
    let said = run(transport, job.parties, &[], &Task::Correlated(job), this_command)?;
    said.into_iter()
        .map(|said| match said {
            Said::Correlated(report) => Ok(report),
            _ => Err(Failure::aborted("a party reported what it wasn't asked for")),
        })
        .collect()
}

/// Measures what links between three processes carry.
pub(super) fn ring(
    transport: Transport,
    ring: ring::Ring,
    this_command: &[String],
) -> Result<Loopback, Failure> {
    let said = run(transport, 3, &[], &Task::Ring(ring), this_command)?;
    match said.first() {
        Some(Said::Loopback(loopback)) => Ok(*loopback),
        _ => Err(Failure::aborted("a party reported what it wasn't asked for")),
    }
}

/// `tacit bench-party`: what one of these processes does.
pub(crate) fn party(context: &mut Context<'_>) -> Result<(), Failure> {
    // A benchmark that is killed leaves no party behind.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mut line = String::new();
    std::io::stdin()
        .read_to_string(&mut line)
        .map_err(|error| Failure::input(format!("no job on standard input: {error}")))?;
    let job: PartyTask = serde_json::from_str(&line)
        .map_err(|error| Failure::input(format!("no job that can be read on standard input: {error}")))?;
    let said = play(job).unwrap_or_else(|(failure, echo)| Said::Failed { failure, echo });
    let text = serde_json::to_string(&said).map_err(|error| Failure::aborted(error.to_string()))?;
    context.line(&text)
}

fn play(party: PartyTask) -> Result<Said, (Failure, bool)> {
    let failed = |error: Error| {
        let echo = error.distance() >= Distance::Link;
        (Failure::from(error), echo)
    };
    match party.task {
        Task::Bench(spec) => {
            let bench = Bench::new(spec).map_err(|failure| (failure, false))?;
            let config = Config::load(&party.config).map_err(|error| failed(error.into()))?;
            let listener = (!config.is_client()).then(|| Listener::bind(&config)).transpose();
            let mut listener = listener.map_err(|error| failed(error.into()))?;
            let gather = || gather(listener.as_mut(), &config, bench.spec.lanes);
            // Whoever started this process takes it away, however the process ends.
            let folder = party.config.parent().unwrap_or(Path::new("."));
            let report = bench.play(gather, folder, config.me(), config.limits());
            report.map(Said::Report).map_err(failed)
        }
        Task::Ring(ring) => {
            let (links, config) = only_links(&party.config).map_err(failed)?;
            let mesh = Mesh::new(links, config.me(), config.names(), config.limits().clone());
            let echo = |error: &tacit::advanced::net::Error| {
                matches!(error.what(), tacit::advanced::net::ErrorKind::Aborted { .. })
            };
            let loopback = ring.play(mesh);
            loopback.map(Said::Loopback).map_err(|error| (Failure::aborted(error.to_string()), echo(&error)))
        }
        Task::Correlated(job) => {
            let (links, config) = only_links(&party.config).map_err(failed)?;
            job.play(links, config.me(), config.limits().clone()).map(Said::Correlated)
        }
        Task::Living(job) => {
            let ended = job.play(&party.config).err();
            let failure = ended.unwrap_or_else(|| Failure::aborted("a party served no more"));
            Ok(Said::Failed { failure, echo: false })
        }
    }
}

/// This endpoint's links to all others, for each lane. A client has no listener.
fn gather(
    listener: Option<&mut Listener>,
    config: &Config,
    lanes: u16,
) -> Result<Vec<Box<dyn Links>>, Error> {
    let clients: Vec<usize> = (config.parties().len()..config.names().len()).collect();
    let within = config.limits().connect;
    let links = match listener {
        Some(listener) => listener.gather_lanes(&clients, lanes, within)?,
        None => connect_lanes(config, &clients, lanes, within, &quiet())?,
    };
    Ok(links.into_iter().map(|links| Box::new(links) as Box<dyn Links>).collect())
}

/// The same of a party in one lane.
fn only_links(config: &Path) -> Result<(Box<dyn Links>, Config), Error> {
    let config = Config::load(config)?;
    let links = gather(Some(&mut Listener::bind(&config)?), &config, 1)?.swap_remove(0);
    Ok((links, config))
}

fn run(
    transport: Transport,
    parties: usize,
    clients: &[String],
    task: &Task,
    this_command: &[String],
) -> Result<Vec<Said>, Failure> {
    let system =
        |error: std::io::Error| Failure::aborted(format!("the parties' processes can't be started: {error}"));
    let folder = tempfile::tempdir().map_err(system)?;
    let mut children = Children::default();
    let (sender, receiver) = mpsc::channel();
    for (party, config) in configure(folder.path(), transport, parties, clients)?.into_iter().enumerate() {
        let job = serde_json::to_vec(&PartyTask { config, task: task.clone() })
            .map_err(|error| Failure::aborted(error.to_string()))?;
        let output = children.start(this_command, &job).map_err(system)?;
        let sender = sender.clone();
        std::thread::spawn(move || {
            // Whoever no longer listens has an answer already.
            let _ = sender.send((party, answer(output)));
        });
    }
    drop(sender);
    let mut said: Vec<Option<Said>> = vec![None; parties + clients.len()];
    let mut echo = None;
    for (party, answer) in receiver {
        match answer? {
            Said::Failed { failure, echo: false } => return Err(failure),
            // Whoever failed first says more.
            Said::Failed { failure, echo: true } => echo = Some(failure),
            other => said[party] = Some(other),
        }
    }
    echo.map_or_else(|| Ok(said.into_iter().flatten().collect()), Err)
}

/// The line that a process writes.
fn answer(output: impl Read) -> Result<Said, Failure> {
    let mut line = String::new();
    let read = BufReader::new(output).read_line(&mut line);
    let parsed = read.ok().and_then(|_| serde_json::from_str(&line).ok());
    parsed.ok_or_else(|| Failure::aborted("a party's process ended without a report"))
}

/// Processes that are gone when this is.
#[derive(Default)]
pub(super) struct Children(pub(super) Vec<Child>);

impl Children {
    fn start(&mut self, this_command: &[String], job: &[u8]) -> std::io::Result<impl Read + Send + use<>> {
        let (program, args) = this_command.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut child = Command::new(program)
            .args(args)
            .arg("bench-party")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        self.0.push(child);
        input.ok_or(std::io::ErrorKind::BrokenPipe)?.write_all(job)?;
        output.ok_or_else(|| std::io::ErrorKind::BrokenPipe.into())
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself can't be killed, and that is as well.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Parties that run for clients until this is dropped.
pub(super) struct Serving {
    children: Children,
    outputs: Vec<Box<dyn Read + Send>>,
}

impl Serving {
    /// Starts a process for each of these configurations.
    pub(super) fn start(
        configs: &[PathBuf],
        job: &living::Job,
        this_command: &[String],
    ) -> Result<Self, Failure> {
        let (mut children, mut outputs) = (Children::default(), Vec::new());
        for config in configs {
            let task = PartyTask { config: config.clone(), task: Task::Living(job.clone()) };
            let task = serde_json::to_vec(&task).map_err(|error| Failure::aborted(error.to_string()))?;
            let output = children.start(this_command, &task);
            outputs.push(Box::new(output.map_err(|error| Failure::aborted(error.to_string()))?) as Box<_>);
        }
        Ok(Self { children, outputs })
    }

    /// Ends the parties after a failure of a client's: a party's own, if one has failed, says more.
    pub(super) fn blame(self, failure: Failure) -> Failure {
        let Self { children, outputs } = self;
        drop(children);
        let said = outputs.into_iter().filter_map(|output| answer(output).ok());
        let mut failed = said.filter_map(|said| match said {
            Said::Failed { failure, .. } => Some(failure),
            _ => None,
        });
        failed.next().unwrap_or(failure)
    }
}

/// Writes a configuration for every party, and then for every client.
pub(super) fn configure(
    folder: &Path,
    transport: Transport,
    parties: usize,
    clients: &[String],
) -> Result<Vec<PathBuf>, Failure> {
    let configs = init(folder, parties, clients, "127.0.0.1", free_ports(parties)?).map_err(Error::from)?;
    if transport == Transport::Tcp {
        for config in &configs {
            let plain = std::fs::read_to_string(config).and_then(|text| {
                std::fs::write(config, text.replace("transport = \"tls\"", "transport = \"tcp\""))
            });
            plain.map_err(|error| {
                Failure::aborted(format!("{} can't be written: {error}", config.display()))
            })?;
        }
    }
    Ok(configs)
}

/// The first of so many ports in a row that nobody listens on: below those that the system gives to outgoing
/// connections, and elsewhere for every process, so that benchmarks side by side don't meet.
fn free_ports(count: usize) -> Result<u16, Failure> {
    const FIRST: u32 = 10_000;
    const SPAN: u32 = 20_000;
    let own = std::process::id().wrapping_mul(64) % SPAN;
    (0..SPAN)
        .step_by(count)
        .map(|step| (FIRST + (own + step) % SPAN) as u16)
        .find(|&first| (0..count as u16).all(|port| TcpListener::bind(("127.0.0.1", first + port)).is_ok()))
        .ok_or_else(|| Failure::aborted(format!("no {count} ports in a row are free on loopback")))
}
