//! Benchmarks of correlated randomness, which is no program's: oblivious transfers ([`super::ot`]) and triples
//! ([`super::triples`]), made by every party at once.
//!
//! The clock runs from a barrier, after the setup, until the last party has all of it, checked. It is compared afterwards, and
//! what was sent with the declared cost; if either differs there are no figures.

use super::clock::{cpu_time, now, peak_rss};
use super::ot::Ots;
use super::process;
use super::spec::{BenchArgs, Transport};
use super::triples::{MascotTriples, TripleField, WithoutMacs};
use crate::Context;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use tacit::advanced::net::{ErrorKind, Limits, Mesh, Phase, Transport as Links, memory};
use tacit::advanced::session::{Agreement, Error, OsEntropy, Session};
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_kernel::mersenne::Fp;
use tacit_mascot::FieldElement;
use tacit_ot::{Params, Security};

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// Random OTs in both directions.
    Ots,
    /// Authenticated triples.
    Triples(TripleField),
    /// Triples without MACs.
    PassiveTriples(TripleField),
}

/// One party's part in making it.
pub(super) trait Made: Sized {
    /// What comes first and isn't timed with the rest.
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error>;
    /// Makes so many.
    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error>;
    /// Compares with the others what was made: whether it is right.
    fn verify(self, session: &mut Session) -> Result<bool, Error>;
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(super) what: What,
    pub(super) parties: usize,
    pub(super) count: usize,
    pub(super) k: usize,
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
    /// Whether what was compared is right.
    right: bool,
}

impl Job {
    pub(super) fn params(self) -> Result<Params, Failure> {
        if self.count == 0 {
            return Err(Failure::usage("a size of 0 leaves nothing to measure"));
        }
        let passive = matches!(self.what, What::PassiveTriples(_));
        Params::new(self.k, if passive { Security::SemiHonest } else { Security::Malicious })
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
            let echo =
                matches!(&error, Error::Link(link) if matches!(link.what(), ErrorKind::Aborted { .. }));
            (Failure::aborted(error.to_string()), echo)
        };
        let report = match self.what {
            What::Ots => self.run::<Ots>(links, me, limits, params),
            What::Triples(field) | What::PassiveTriples(field) => match field {
                TripleField::Fp128 => self.run_triples::<Fp128>(links, me, limits, params),
                TripleField::Gf2 => self.run_triples::<Gf128>(links, me, limits, params),
                TripleField::Fp64 => self.run_triples::<Fp<1>>(links, me, limits, params),
                TripleField::Fp256 => self.run_triples::<Fp<4>>(links, me, limits, params),
                TripleField::Fp512 => self.run_triples::<Fp<8>>(links, me, limits, params),
            },
        };
        report.map_err(failed)
    }

    fn run_triples<E: FieldElement>(
        self,
        links: Box<dyn Links>,
        me: usize,
        limits: Limits,
        params: Params,
    ) -> Result<Report, Error> {
        if matches!(self.what, What::PassiveTriples(_)) {
            self.run::<WithoutMacs<E>>(links, me, limits, params)
        } else {
            self.run::<MascotTriples<E>>(links, me, limits, params)
        }
    }

    fn run<M: Made>(
        self,
        links: Box<dyn Links>,
        me: usize,
        limits: Limits,
        params: Params,
    ) -> Result<Report, Error> {
        let names: Vec<String> = (0..self.parties).map(|party| format!("P{party}")).collect();
        let agreement = Agreement::among(names.clone(), &format!("{:?}", self.what), params.to_string());
        let mesh = Mesh::new(links, me, names, limits);
        let mut session = Session::establish(mesh, agreement, Box::new(OsEntropy))?;
        session.barrier()?;
        let sent = |session: &mut Session, phase| session.mesh().counters().in_phase(phase).sent_bytes;
        let (before, begun) = (sent(&mut session, Phase::Setup), now());
        let mut made = M::setup(&mut session, params)?;
        let setup = now().saturating_sub(begun);
        let setup_bytes = sent(&mut session, Phase::Setup) - before;
        session.barrier()?;

        session.mesh().set_phase(Phase::Offline);
        let (wire, cpu, start) = (session.mesh().counters().wire_total().sent, cpu_time(), now());
        made.make(&mut session, self.count)?;
        let (finish, cpu) = (now(), cpu_time().saturating_sub(cpu));
        session.mesh().push_out()?;
        let wire_bytes = session.mesh().counters().wire_total().sent - wire;
        let sent_bytes = sent(&mut session, Phase::Offline);

        session.mesh().set_phase(Phase::Output);
        let right = made.verify(&mut session)?;
        let peak_rss_bytes = peak_rss();
        session.close()?;
        Ok(Report { setup, start, finish, cpu, peak_rss_bytes, setup_bytes, sent_bytes, wire_bytes, right })
    }

    /// The reports of all parties.
    fn reports(self, transport: Transport, this_command: &[String]) -> Result<Vec<Report>, Failure> {
        if transport != Transport::Memory {
            return process::correlated(transport, self, this_command);
        }
        let mut results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = memory::mesh(self.parties, 0)
                .into_iter()
                .enumerate()
                .map(|(me, links)| scope.spawn(move || self.play(Box::new(links), me, Limits::default())))
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
}

/// The figures of one run; the fields are keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figures {
    bench: &'static str,
    protocol: String,
    parties: usize,
    pub(super) transport: &'static str,
    threads: u16,
    count: usize,
    k: usize,
    /// From the barrier after the setup to the last party's having all.
    pub(super) seconds: f64,
    /// Base OTs, trees, and what a protocol sets up besides.
    pub(super) setup_seconds: f64,
    pub(super) per_second: f64,
    setup_bytes: Vec<u64>,
    sent_bytes: Vec<u64>,
    wire_bytes: Vec<u64>,
    cpu_seconds: Option<Vec<f64>>,
    peak_rss_bytes: Option<Vec<u64>>,
    process_cpu_seconds: Option<f64>,
    process_peak_rss_bytes: Option<u64>,
    version: &'static str,
}

impl Figures {
    /// Of the parties' reports, if they sent the declared bytes for the setup and for all that was made.
    fn of(
        job: Job,
        names: [&'static str; 2],
        args: &BenchArgs,
        reports: &[Report],
        declared: [u64; 2],
    ) -> Result<Self, Failure> {
        let [bench, protocol] = names;
        if !reports.iter().all(|report| report.right) {
            return Err(Failure::wrong(format!("what parties have in `bench {bench}` doesn't fit together")));
        }
        for report in reports {
            let sent = [report.setup_bytes, report.sent_bytes];
            if sent != declared {
                return Err(Failure::wrong(format!("a party sent {sent:?} bytes instead of {declared:?}")));
            }
        }
        let start = reports.iter().map(|report| report.start).min().unwrap_or_default();
        let finish = reports.iter().map(|report| report.finish).max().unwrap_or_default();
        let setup = reports.iter().map(|report| report.setup).max().unwrap_or_default();
        let seconds = finish.saturating_sub(start).as_secs_f64();
        let all = |of: fn(&Report) -> u64| reports.iter().map(of).collect::<Vec<u64>>();
        let cpu: Vec<f64> = reports.iter().map(|report| report.cpu.as_secs_f64()).collect();
        let apart = args.transport() != Transport::Memory;
        Ok(Self {
            bench,
            protocol: format!("{protocol} {}", job.params()?),
            parties: job.parties,
            transport: args.transport().name(),
            threads: 1,
            count: job.count,
            k: job.k,
            seconds,
            setup_seconds: setup.as_secs_f64(),
            per_second: job.count as f64 / seconds,
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
}

/// Runs a job as often as is asked for, and prints the median. `names` are the benchmark's and the protocol's, `declared` are
/// bytes that a party sends for the setup and for all that is made; `keys` are figures of its own, and `text` is for people.
pub(super) fn measure(
    context: &mut Context<'_>,
    args: &BenchArgs,
    job: Job,
    names: [&'static str; 2],
    declared: [u64; 2],
    keys: impl Fn(&Figures) -> serde_json::Value,
    text: impl Fn(&Figures) -> String,
) -> Result<(), Failure> {
    let mut runs = Vec::new();
    for _ in 0..args.repeat(1) {
        let reports = job.reports(args.transport(), &context.this_command)?;
        runs.push(Figures::of(job, names, args, &reports, declared)?);
    }
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let all_seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let median = runs.swap_remove((runs.len() - 1) / 2);
    if !context.json {
        return context.line(&text(&median));
    }
    let mut object = json!(median);
    if let (Some(object), serde_json::Value::Object(keys)) = (object.as_object_mut(), keys(&median)) {
        object.extend(keys);
        if all_seconds.len() > 1 {
            object.insert("all_seconds".to_owned(), json!(all_seconds));
        }
    }
    context.line(&object.to_string())
}
