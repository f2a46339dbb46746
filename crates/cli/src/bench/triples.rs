//! `tacit bench triples`: authenticated triples for MASCOT, among two parties or more.
//!
//! The clock runs from a barrier, after the setup, until the last party has all triples, checked and accepted by all. They are
//! opened and multiplied afterwards, and what was sent is compared with the declared cost; if either differs there are no
//! figures.

use super::clock::{cpu_time, now, peak_rss};
use super::process;
use super::spec::{BenchArgs, Transport};
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::RangeInclusive;
use std::time::Duration;
use tacit::net::{Limits, Mesh, Phase, Transport as Links, memory};
use tacit::session::{Agreement, Error, OsEntropy, Session};
use tacit_kernel::Element;
use tacit_mascot::{Preprocessing, Triples, cost};
use tacit_ot::{Params, Security};

/// Triples if nothing is said, and the quick number.
const USUAL: usize = 200_000;
const QUICK: usize = 500;

/// How many parties there may be, the fewest if nothing is said.
const PARTIES: RangeInclusive<usize> = 2..=16;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    parties: usize,
    count: usize,
    k: usize,
}

/// What a party has to say.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    setup: Duration,
    start: Duration,
    finish: Duration,
    cpu: Duration,
    peak_rss_bytes: u64,
    setup_bytes: u64,
    sent_bytes: u64,
    wire_bytes: u64,
    /// Whether the triples multiply.
    right: bool,
}

pub(super) fn triples(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if args.protocol_name() != "mascot" {
        return Err(Failure::usage("triples are mascot's: give --protocol mascot"));
    }
    let parties = args.parties_or(*PARTIES.start());
    if !PARTIES.contains(&parties) {
        return Err(Failure::usage(format!("--parties is 2 to {}, not {parties}", PARTIES.end())));
    }
    let job = Job { parties, count: args.count_or(QUICK, USUAL), k: args.height() };
    let params = job.params()?;
    let mut runs = Vec::new();
    for _ in 0..args.repeat(1) {
        let reports = match args.transport {
            Transport::Memory => in_memory(job)?,
            transport => process::triples(transport, parties, job, &context.this_command)?,
        };
        runs.push(figures(job, &params, args.transport, &reports)?);
    }
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let all_seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let median = runs.swap_remove((runs.len() - 1) / 2);
    if !context.json {
        return context.line(&median.to_text(&params));
    }
    let mut object = json!(median);
    if all_seconds.len() > 1 {
        object["all_seconds"] = json!(all_seconds);
    }
    context.line(&object.to_string())
}

impl Job {
    fn params(self) -> Result<Params, Failure> {
        if self.count == 0 {
            return Err(Failure::usage("a size of 0 leaves nothing to measure"));
        }
        Params::new(self.k, Security::Malicious)
            .ok_or_else(|| Failure::usage(format!("--k is 1 to 8, not {}", self.k)))
    }

    /// Plays one party's part. The second value says whether a failure may be only the news of another's.
    pub(super) fn play(
        self,
        links: Box<dyn Links>,
        me: usize,
        limits: Limits,
    ) -> Result<Report, (Failure, bool)> {
        let params = self.params().map_err(|failure| (failure, false))?;
        let failed = |error: Error| {
            let echo = matches!(&error, Error::Link(link)
                if matches!(link.what(), tacit::net::ErrorKind::Aborted { .. }));
            (Failure::aborted(error.to_string()), echo)
        };
        self.run(links, me, limits, params).map_err(failed)
    }

    fn run(self, links: Box<dyn Links>, me: usize, limits: Limits, params: Params) -> Result<Report, Error> {
        let agreement = self.agreement(&params);
        let mesh = Mesh::new(links, me, agreement.parties.clone(), limits);
        let mut session = Session::establish(mesh, agreement, Box::new(OsEntropy))?;
        session.barrier()?;
        let sent = |session: &mut Session, phase| session.mesh().counters().in_phase(phase).sent_bytes;
        let (before, begun) = (sent(&mut session, Phase::Setup), now());
        let mut preprocessing = Preprocessing::setup(&mut session, params, 0)?;
        let setup = now().saturating_sub(begun);
        let setup_bytes = sent(&mut session, Phase::Setup) - before;
        session.barrier()?;

        session.mesh().set_phase(Phase::Offline);
        let (wire, cpu, start) = (session.mesh().counters().wire_total().sent, cpu_time(), now());
        let triples = preprocessing.triples(&mut session, self.count)?;
        let (finish, cpu) = (now(), cpu_time().saturating_sub(cpu));
        session.mesh().push_out()?;
        let wire_bytes = session.mesh().counters().wire_total().sent - wire;
        let sent_bytes = sent(&mut session, Phase::Offline);

        session.mesh().set_phase(Phase::Output);
        let right = multiply(&mut session, &mut preprocessing, &triples)?;
        let peak_rss_bytes = peak_rss();
        session.close()?;
        Ok(Report { setup, start, finish, cpu, peak_rss_bytes, setup_bytes, sent_bytes, wire_bytes, right })
    }

    fn agreement(self, params: &Params) -> Agreement {
        Agreement {
            version: 0,
            lane: 0,
            lanes: 0,
            parties: (0..self.parties).map(|party| format!("P{party}")).collect(),
            clients: Vec::new(),
            protocol: "mascot".into(),
            instances: 1,
            parameters: params.to_string(),
            window: 1,
            inputs: Vec::new(),
            outputs: Vec::new(),
            steps: Vec::new(),
            program: [0; 32],
        }
    }
}

/// Opens all triples, with a check of their MACs, and multiplies them.
fn multiply(
    session: &mut Session,
    preprocessing: &mut Preprocessing,
    triples: &Triples,
) -> Result<bool, Error> {
    let a = preprocessing.open(session, &triples.a)?;
    let b = preprocessing.open(session, &triples.b)?;
    let c = preprocessing.open(session, &triples.c)?;
    Ok(!c.is_empty() && a.iter().zip(&b).zip(&c).all(|((a, b), c)| a.wrapping_mul(*b) == *c))
}

fn in_memory(job: Job) -> Result<Vec<Report>, Failure> {
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = memory::mesh(job.parties, 0)
            .into_iter()
            .enumerate()
            .map(|(me, links)| scope.spawn(move || job.play(Box::new(links), me, Limits::default())))
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    // Whoever failed first says more.
    results.sort_by_key(|result| matches!(result, Err((_, true))));
    results.into_iter().map(|result| result.map_err(|(failure, _)| failure)).collect()
}

/// The figures of one run; the fields are the keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
struct Figures {
    bench: &'static str,
    protocol: String,
    parties: usize,
    transport: &'static str,
    threads: u16,
    count: usize,
    k: usize,
    /// From the barrier after the setup to the last party's having all triples.
    seconds: f64,
    /// Base OTs and trees.
    setup_seconds: f64,
    per_second: f64,
    /// Payload that a party sends for a triple.
    bytes_per_triple: f64,
    /// Payload of all parties for a triple, in 1000 bits, beside which stand the paper's 180.22 n (n - 1).
    kbit_per_triple: f64,
    setup_bytes: Vec<u64>,
    sent_bytes: Vec<u64>,
    wire_bytes: Vec<u64>,
    cpu_seconds: Option<Vec<f64>>,
    peak_rss_bytes: Option<Vec<u64>>,
    process_cpu_seconds: Option<f64>,
    process_peak_rss_bytes: Option<u64>,
    version: &'static str,
}

fn figures(job: Job, params: &Params, transport: Transport, reports: &[Report]) -> Result<Figures, Failure> {
    if !reports.iter().all(|report| report.right) {
        return Err(Failure::wrong("triples aren't products"));
    }
    let others = job.parties as u64 - 1;
    let declared = [cost::setup_bytes(params), cost::triples_bytes(params, job.count)];
    let declared = declared.map(|link| others * link);
    for report in reports {
        let sent = [report.setup_bytes, report.sent_bytes];
        if sent != declared {
            return Err(Failure::wrong(format!("a party sent {sent:?} bytes instead of {declared:?}")));
        }
    }
    let start = reports.iter().map(|report| report.start).min().unwrap_or_default();
    let finish = reports.iter().map(|report| report.finish).max().unwrap_or_default();
    let setup = reports.iter().map(|report| report.setup).max().unwrap_or_default();
    let taken = finish.saturating_sub(start).as_secs_f64();
    let all = |of: fn(&Report) -> u64| reports.iter().map(of).collect::<Vec<u64>>();
    let cpu: Vec<f64> = reports.iter().map(|report| report.cpu.as_secs_f64()).collect();
    let apart = transport != Transport::Memory;
    let bytes_per_triple = declared[1] as f64 / job.count as f64;
    Ok(Figures {
        bench: "triples",
        protocol: format!("mascot {params}"),
        parties: job.parties,
        transport: transport.name(),
        threads: 1,
        count: job.count,
        k: job.k,
        seconds: taken,
        setup_seconds: setup.as_secs_f64(),
        per_second: job.count as f64 / taken,
        bytes_per_triple,
        kbit_per_triple: bytes_per_triple * job.parties as f64 * 8.0 / 1000.0,
        setup_bytes: all(|report| report.setup_bytes),
        sent_bytes: all(|report| report.sent_bytes),
        wire_bytes: all(|report| report.wire_bytes),
        cpu_seconds: apart.then(|| cpu.clone()),
        peak_rss_bytes: apart.then(|| all(|report| report.peak_rss_bytes)),
        // Every thread reads the figures of the whole process.
        process_cpu_seconds: (!apart).then(|| cpu.iter().copied().fold(0.0, f64::max)),
        process_peak_rss_bytes: (!apart)
            .then(|| reports.iter().map(|report| report.peak_rss_bytes).max().unwrap_or(0)),
        version: env!("CARGO_PKG_VERSION"),
    })
}

impl Figures {
    fn to_text(&self, params: &Params) -> String {
        let head = format!("{} triples, {} parties, {}", self.count, self.parties, self.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(self.seconds));
        row("speed", rate(self.per_second, " triples/s"));
        row("payload for a triple, from each", bytes(self.bytes_per_triple.ceil() as u64));
        row("setup", seconds(self.setup_seconds));
        table.to_string()
    }
}
