//! `tacit bench ot`: random oblivious transfers between two parties, in both directions at once, malicious and hashed.
//!
//! The clock runs from a barrier, after the setup, until the last party has all OTs of both directions, all checked. Every
//! value is read once by whoever gets it. Of each tile some OTs are compared afterwards, and what was sent with the
//! declared cost; if either differs there are no figures.

use super::clock::{cpu_time, now, peak_rss};
use super::limits::Cores;
use super::process;
use super::spec::{BenchArgs, Transport};
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::hint::black_box;
use std::time::Duration;
use tacit::net::{At, Limits, Mesh, Phase, Transport as Links, memory};
use tacit::session::{Agreement, Error, OsEntropy, Session};
use tacit_ot::{Choices, Form, Ot, Params, Received, Request, Roles, Security, Sent, Sink, step};

/// OTs if nothing is said, and the quick number.
const USUAL: usize = 1 << 26;
const QUICK: usize = 20_000;

/// OTs of each tile that are compared.
const SAMPLE: usize = 64;

/// Samples in a message.
const PIECE: usize = 1 << 14;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
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
    /// Whether the OTs that were compared are right.
    right: bool,
}

/// Reads all values, and keeps some of each tile.
#[derive(Default)]
struct Reader {
    sum: u128,
    sent: Vec<[u128; 2]>,
    received: Vec<u128>,
    choices: Vec<u64>,
}

impl Sink for Reader {
    fn sent(&mut self, ots: Sent<'_>) {
        self.sum ^= total(ots.zeros) ^ total(ots.ones);
        self.sent.extend(ots.zeros.iter().zip(&*ots.ones).take(SAMPLE).map(|(zero, one)| [*zero, *one]));
    }

    fn received(&mut self, ots: Received<'_>) {
        self.sum ^= total(ots.values);
        self.received.extend(ots.values.iter().take(SAMPLE));
        self.choices.extend(ots.choices.first());
    }
}

fn total(values: &[u128]) -> u128 {
    values.iter().fold(0, |sum, value| sum ^ value)
}

pub(super) fn ot(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let job = Job { count: args.count_or(QUICK, USUAL), k: args.height() };
    let params = job.params()?;
    let mut runs = Vec::new();
    for _ in 0..args.repeat(1) {
        let reports = match args.transport {
            Transport::Memory => in_memory(job)?,
            transport => process::ot(transport, job, &context.this_command)?,
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
        let agreement = agreement(&params);
        let peer = 1 - me;
        let mesh = Mesh::new(links, me, agreement.parties.clone(), limits);
        let mut session = Session::establish(mesh, agreement, Box::new(OsEntropy))?;
        session.barrier()?;
        let sent = |session: &mut Session, phase| session.mesh().counters().in_phase(phase).sent_bytes;
        let (before, begun) = (sent(&mut session, Phase::Setup), now());
        let mut ot = Ot::setup(&mut session, &[peer], Roles::Both, params, 0)?;
        let setup = now().saturating_sub(begun);
        let setup_bytes = sent(&mut session, Phase::Setup) - before;
        session.barrier()?;

        session.mesh().set_phase(Phase::Offline);
        let mut reader = Reader::default();
        let (wire, cpu, start) = (session.mesh().counters().wire_total().sent, cpu_time(), now());
        let request = Request { op: 1, count: self.count, choices: Choices::Random, form: Form::Random };
        ot.extend(&mut session, &request, &mut reader)?;
        let (finish, cpu) = (now(), cpu_time().saturating_sub(cpu));
        session.mesh().push_out()?;
        let wire_bytes = session.mesh().counters().wire_total().sent - wire;
        let sent_bytes = sent(&mut session, Phase::Offline);
        black_box(reader.sum);

        session.mesh().set_phase(Phase::Output);
        let right = compare(&mut session, peer, &reader)?;
        let peak_rss_bytes = peak_rss();
        session.close()?;
        Ok(Report { setup, start, finish, cpu, peak_rss_bytes, setup_bytes, sent_bytes, wire_bytes, right })
    }
}

/// Sends what was received, choices and values, and compares the peer's with what was sent.
fn compare(session: &mut Session, peer: usize, reader: &Reader) -> Result<bool, Error> {
    let at = |batch: usize| At { lane: 0, part: step::SAMPLES, op: 2, batch: batch as u32 };
    // The bits of the choice word are those of the tile's first OTs, which are the sample.
    let mut choices = Vec::with_capacity(reader.received.len());
    let tiles = samples(reader.received.len());
    for (count, word) in tiles.zip(&reader.choices) {
        choices.extend((0..count).map(|bit| u128::from(word >> bit & 1)));
    }
    let mine: Vec<u128> =
        reader.received.iter().zip(choices).flat_map(|(&value, choice)| [choice, value]).collect();
    let mut right = reader.sent.len() == reader.received.len() && !reader.sent.is_empty();
    for (number, (mine, sent)) in mine.chunks(2 * PIECE).zip(reader.sent.chunks(PIECE)).enumerate() {
        session.mesh().send(peer, at(number), bytemuck::cast_slice(mine))?;
        let theirs = session.mesh().recv(peer, at(number), 32 * sent.len())?;
        for (pair, opened) in sent.iter().zip(theirs.as_chunks::<32>().0) {
            let (choice, value) = opened.split_at(16);
            right &= pair[usize::from(choice[0] & 1)].to_le_bytes() == value && pair[0] != pair[1];
        }
    }
    Ok(right)
}

/// How many OTs of each tile are in a sample of so many: a tile has fewer only if it is a batch's, or the run's, last.
fn samples(count: usize) -> impl Iterator<Item = usize> {
    (0..count.div_ceil(SAMPLE)).map(move |tile| SAMPLE.min(count - SAMPLE * tile))
}

fn agreement(params: &Params) -> Agreement {
    Agreement {
        version: 0,
        lane: 0,
        lanes: 0,
        parties: vec!["P0".into(), "P1".into()],
        clients: Vec::new(),
        protocol: "ot".into(),
        instances: 1,
        parameters: params.to_string(),
        window: 1,
        inputs: Vec::new(),
        outputs: Vec::new(),
        steps: Vec::new(),
        program: [0; 32],
    }
}

fn in_memory(job: Job) -> Result<Vec<Report>, Failure> {
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = memory::mesh(2, 0)
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
    /// From the barrier after the setup to the last party's having all OTs.
    seconds: f64,
    /// Base OTs and trees.
    setup_seconds: f64,
    /// OTs each way.
    per_second: f64,
    bytes_per_ot: f64,
    setup_bytes: Vec<u64>,
    sent_bytes: Vec<u64>,
    wire_bytes: Vec<u64>,
    cpu_seconds: Option<Vec<f64>>,
    peak_rss_bytes: Option<Vec<u64>>,
    process_cpu_seconds: Option<f64>,
    process_peak_rss_bytes: Option<u64>,
    /// Of all that AES could do on the parties' cores.
    aes_share: f64,
    version: &'static str,
}

fn figures(job: Job, params: &Params, transport: Transport, reports: &[Report]) -> Result<Figures, Failure> {
    if !reports.iter().all(|report| report.right) {
        return Err(Failure::wrong("oblivious transfers differ between their sender and their receiver"));
    }
    // In both directions a party is sender and receiver.
    let declared = [params.setup_bytes(), params.extension_bytes(job.count, false)];
    let declared = declared.map(|both| both.iter().sum::<u64>());
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
    let cores = Cores::measure(true);
    let needed = aes_bytes(job) * job.count as f64 / cores.aes_bytes_per_second;
    let busy = cores.count.min(reports.len()) as f64;
    Ok(Figures {
        bench: "ot",
        protocol: format!("softspoken {params}"),
        parties: reports.len(),
        transport: transport.name(),
        threads: 1,
        count: job.count,
        k: job.k,
        seconds: taken,
        setup_seconds: setup.as_secs_f64(),
        per_second: job.count as f64 / taken,
        bytes_per_ot: declared[1] as f64 / job.count as f64,
        setup_bytes: all(|report| report.setup_bytes),
        sent_bytes: all(|report| report.sent_bytes),
        wire_bytes: all(|report| report.wire_bytes),
        cpu_seconds: apart.then(|| cpu.clone()),
        peak_rss_bytes: apart.then(|| all(|report| report.peak_rss_bytes)),
        // Every thread reads the figures of the whole process.
        process_cpu_seconds: (!apart).then(|| cpu.iter().copied().fold(0.0, f64::max)),
        process_peak_rss_bytes: (!apart)
            .then(|| reports.iter().map(|report| report.peak_rss_bytes).max().unwrap_or(0)),
        aes_share: needed * reports.len() as f64 / (busy * taken),
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Bytes of AES that a party needs for an OT in each direction: leaves, all as receiver and all but one of each tree as
/// sender, and the hashes of one row and of two.
fn aes_bytes(job: Job) -> f64 {
    let (k, trees) = (job.k as i32, 128.0 / job.k as f64);
    let leaves = trees * (2.0 * 2_f64.powi(k) - 1.0) / 8.0;
    leaves + 16.0 * 6.0
}

impl Figures {
    fn to_text(&self, params: &Params) -> String {
        let head = format!("{} random OTs each way, {}", bytes(self.count as u64), self.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(self.seconds));
        row("speed, each way", rate(self.per_second, " OTs/s"));
        row("payload for an OT", format!("{:.3} bytes", self.bytes_per_ot));
        row("setup", seconds(self.setup_seconds));
        row("share of AES", format!("{:.0} %", 100.0 * self.aes_share));
        table.to_string()
    }
}
