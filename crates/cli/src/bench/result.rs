//! A benchmark's figures, put together from its parties', for people and for machines.

use super::limits::Share;
use super::parties::Outcome;
use super::party::Bench;
use super::spec::Ring;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde::Serialize;
use std::time::Duration;
use tacit::net::Phase;
use tacit::price;
use tacit::program::cost::{Cost, Phase as CostPhase};

/// The figures of one run; the fields are the keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    bench: &'static str,
    protocol: String,
    parties: usize,
    transport: &'static str,
    net: Option<String>,
    threads: usize,
    count: usize,
    depth: usize,
    /// What products are of, if not of 64-bit words.
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<Ring>,
    /// From the barrier before the online phase to the last party's end of verification.
    pub(crate) seconds: f64,
    offline_seconds: f64,
    /// Of `seconds`, from the last party's end of computing on.
    verify_seconds: f64,
    per_second: f64,
    online_per_second: f64,
    sent_bytes: Vec<u64>,
    offline_sent_bytes: Vec<u64>,
    wire_bytes: Vec<u64>,
    input_bytes: Vec<u64>,
    output_bytes: Vec<u64>,
    rounds: u32,
    offline_rounds: u32,
    cpu_seconds: Option<Vec<f64>>,
    peak_rss_bytes: Option<Vec<u64>>,
    process_cpu_seconds: Option<f64>,
    process_peak_rss_bytes: Option<u64>,
    version: &'static str,
    /// What of this machine's limits the run took.
    limits: Vec<Share>,
    #[serde(skip)]
    sizes: String,
    #[serde(skip)]
    counted: &'static str,
}

impl Figures {
    /// # Errors
    /// If the result is wrong, or if a party sent another number of bytes or rounds than the plan's cost says.
    pub(crate) fn new(bench: &Bench, outcome: &Outcome) -> Result<Self, Failure> {
        let reports = &outcome.reports;
        for (name, report) in bench.spec.parties.iter().zip(reports) {
            if let Some(wrong) = &report.wrong {
                return Err(Failure::wrong(format!("{name}: {wrong}")));
            }
        }
        let compare = price(&bench.work.compiled, &bench.spec.protocol, &bench.spec.parties)?.total;
        compare_with_cost(outcome, &bench.spec.parties, &compare)?;

        let times = |of: fn(&super::clock::Figures) -> Duration| {
            reports.iter().map(move |report| of(&report.figures))
        };
        let start = times(|figures| figures.start).min().unwrap_or_default();
        let computed = times(|figures| figures.computed).max().unwrap_or_default();
        let finish = times(|figures| figures.finish).max().unwrap_or_default();
        let elapsed = finish.saturating_sub(start).as_secs_f64();
        let (count, counted) = bench.spec.what.counted();
        let sent = |phases: &[Phase]| -> Vec<u64> {
            let of = |report: &super::party::Report| {
                phases.iter().map(|&phase| report.figures.sent_bytes[phase as usize]).sum()
            };
            reports.iter().map(of).collect()
        };
        let apart = outcome.process.is_none();
        Ok(Self {
            bench: bench.spec.what.name(),
            protocol: bench.spec.protocol.clone(),
            parties: reports.len(),
            transport: bench.spec.transport.name(),
            net: bench.spec.net.clone(),
            threads: 1,
            count,
            depth: bench.spec.what.depth(),
            ring: bench.spec.what.ring().filter(|ring| !ring.is_usual()),
            seconds: elapsed,
            // No protocol has an offline phase yet.
            offline_seconds: 0.0,
            verify_seconds: finish.saturating_sub(computed).as_secs_f64(),
            per_second: count as f64 / elapsed,
            online_per_second: count as f64 / elapsed,
            sent_bytes: sent(&[Phase::Online, Phase::Verify]),
            offline_sent_bytes: sent(&[Phase::Offline]),
            wire_bytes: reports.iter().map(|report| report.figures.wire_bytes).collect(),
            input_bytes: sent(&[Phase::Input]),
            output_bytes: sent(&[Phase::Output]),
            rounds: reports.iter().map(|report| report.figures.rounds).max().unwrap_or_default(),
            offline_rounds: 0,
            cpu_seconds: apart.then(|| times(|figures| figures.cpu).map(|cpu| cpu.as_secs_f64()).collect()),
            peak_rss_bytes: apart
                .then(|| reports.iter().map(|report| report.figures.peak_rss_bytes).collect()),
            process_cpu_seconds: outcome.process.map(|(cpu, _)| cpu.as_secs_f64()),
            process_peak_rss_bytes: outcome.process.map(|(_, peak)| peak),
            version: env!("CARGO_PKG_VERSION"),
            limits: Vec::new(),
            sizes: bench.spec.what.sizes(),
            counted,
        })
    }

    pub(crate) fn with_limits(self, limits: Vec<Share>) -> Self {
        Self { limits, ..self }
    }

    /// A short table.
    pub(crate) fn to_text(&self) -> String {
        let net = self.net.as_ref().map_or(String::new(), |net| format!(", shaped as {net}"));
        let mut head = format!("{} {}", bytes(self.count as u64), self.counted);
        if !self.sizes.is_empty() {
            head = format!("{head} {}", self.sizes);
        }
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("time", seconds(self.seconds));
        row("speed", rate(self.per_second, &format!(" {}/s", self.counted)));
        row("sent by each party", each(&self.sent_bytes));
        row("on the wire", each(&self.wire_bytes));
        row("rounds", self.rounds.to_string());
        if let Some(cpu) = &self.cpu_seconds {
            row("processor time of each", cpu.iter().map(|&cpu| seconds(cpu)).collect::<Vec<_>>().join("  "));
        }
        if let Some(cpu) = self.process_cpu_seconds {
            row("processor time of all", seconds(cpu));
        }
        for share in &self.limits {
            row(&share.name(), share.to_text());
        }
        format!(
            "{} of {} parties over {}{net}: the result is right, the traffic as declared\n{table}",
            self.protocol, self.parties, self.transport
        )
    }
}

/// One number if all have the same, or all of them.
fn each(counts: &[u64]) -> String {
    match counts {
        [first, rest @ ..] if rest.iter().all(|count| count == first) => format!("{} bytes", bytes(*first)),
        _ => counts.iter().map(|&count| bytes(count)).collect::<Vec<_>>().join("  ") + " bytes",
    }
}

/// Every phase's payload is to the byte what the plan's cost says, and so are the rounds.
fn compare_with_cost(outcome: &Outcome, names: &[String], declared: &Cost) -> Result<(), Failure> {
    let phases = [
        (Phase::Input, CostPhase::Input),
        (Phase::Offline, CostPhase::Offline),
        (Phase::Online, CostPhase::Online),
        (Phase::Verify, CostPhase::Verify),
        (Phase::Output, CostPhase::Output),
    ];
    for (party, (name, report)) in names.iter().zip(&outcome.reports).enumerate() {
        for (phase, priced) in phases {
            let (sent, expected) =
                (report.figures.sent_bytes[phase as usize], declared.phase(priced).sent_by(party));
            if sent != expected {
                return Err(Failure::wrong(format!(
                    "{name} sent {sent} bytes in the {phase} phase; the declared cost is {expected}"
                )));
            }
        }
        let (rounds, expected) = (u64::from(report.figures.rounds), declared.phase(CostPhase::Online).rounds);
        if rounds != expected {
            return Err(Failure::wrong(format!(
                "{name} took {rounds} rounds; the declared cost is {expected}"
            )));
        }
    }
    Ok(())
}
