//! What parties report, as figures.

use super::job::{Job, Report};
use crate::bench::process;
use crate::bench::spec::{BenchArgs, Transport};
use crate::context::Context;
use crate::failure::Failure;
use serde::Serialize;
use serde_json::json;
use tacit::advanced::net::{Limits, memory};

impl Job {
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
pub(crate) struct Figures {
    bench: &'static str,
    protocol: String,
    parties: usize,
    pub(crate) transport: &'static str,
    threads: u16,
    count: usize,
    k: usize,
    /// From the barrier after the setup to the last party's having all.
    pub(crate) seconds: f64,
    /// Base OTs, trees, and what a protocol sets up besides.
    pub(crate) setup_seconds: f64,
    pub(crate) per_second: f64,
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
pub(crate) fn measure(
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
