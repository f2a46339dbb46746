//! A benchmark's figures, put together from its parties', for people and for machines.

use super::clock::Figures as Party;
use super::files::Accuracy;
use super::limits::Share;
use super::parties::Outcome;
use super::party::{Bench, LaneReport, LaneWork, Report};
use super::profile::Profile;
use super::stocked::Filled;
use super::workload::{Ring, Weights, Workload};
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde::Serialize;
use std::time::Duration;
use tacit::advanced::net::Phase;
use tacit::program::Cost;

/// The figures of one run; the fields are the keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    bench: &'static str,
    protocol: String,
    parties: usize,
    transport: &'static str,
    net: Option<String>,
    pub(crate) threads: u16,
    pub(crate) count: usize,
    depth: usize,
    /// What products are of, if not of 64-bit words.
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<Ring>,
    /// How a network's weights come to the parties.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
    /// From the barrier before the online phase to the last party's end of verification.
    pub(crate) seconds: f64,
    pub(crate) offline_seconds: f64,
    /// From the barrier before the inputs to the last party's having all shares.
    pub(crate) input_seconds: f64,
    /// From the last party's end of verification to the last one's having its outputs.
    pub(crate) output_seconds: f64,
    /// Of `seconds`, from the last party's end of computing on.
    verify_seconds: f64,
    pub(crate) per_second: f64,
    pub(crate) online_per_second: f64,
    pub(crate) sent_bytes: Vec<u64>,
    pub(crate) offline_sent_bytes: Vec<u64>,
    pub(crate) wire_bytes: Vec<u64>,
    pub(crate) input_bytes: Vec<u64>,
    pub(crate) output_bytes: Vec<u64>,
    pub(crate) rounds: u64,
    offline_rounds: u64,
    pub(crate) cpu_seconds: Option<Vec<f64>>,
    pub(crate) peak_rss_bytes: Option<Vec<u64>>,
    process_cpu_seconds: Option<f64>,
    process_peak_rss_bytes: Option<u64>,
    version: &'static str,
    /// What of this machine's limits the run took.
    limits: Vec<Share>,
    /// Of a network, how near the result is to that in floating point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accuracy: Option<Accuracy>,
    /// Bytes of each party's store, if the run drew from stores: what is offline is then their filling.
    #[serde(skip_serializing_if = "Option::is_none")]
    store_disk_bytes: Option<Vec<u64>>,
    /// What the parties' time went into, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
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
        for (number, lane) in bench.lanes.iter().enumerate() {
            compare_with_cost(outcome, number, &bench.spec.parties, &bench.lane_cost(lane)?)?;
        }

        // Parts follow one another; in each, lanes and parties run side by side.
        let parts = reports.iter().flat_map(|report| &report.lanes).map(|lane| lane.parts.len()).max();
        let parts = 0..parts.unwrap_or(0);
        let of_party = |report: &Report, part: usize| {
            Party::of_all(report.lanes.iter().filter_map(|lane| lane.parts.get(part)))
        };
        let all: Vec<Party> = parts
            .clone()
            .map(|part| {
                let parties: Vec<Party> = reports.iter().map(|report| of_party(report, part)).collect();
                Party::of_all(&parties)
            })
            .collect();
        let sum = |of: fn(&Party) -> Duration| all.iter().map(of).sum::<Duration>().as_secs_f64();
        let elapsed = sum(|part| part.finish.saturating_sub(part.start));
        // Who has filled a store makes nothing in the run.
        let filled = reports.iter().map(|report| report.filled).collect::<Option<Vec<Filled>>>();
        let offline_seconds = match &filled {
            Some(filled) => Filled::elapsed(filled).as_secs_f64(),
            None => sum(|part| part.prepared.saturating_sub(part.prepare)),
        };
        let offline_rounds =
            |lane: &LaneWork| bench.lane_cost(lane).map(|cost| cost.phase(Phase::Offline).rounds);
        let offline_rounds = bench.lanes.iter().map(offline_rounds).collect::<Result<Vec<_>, _>>()?;
        let each_party = |of: fn(&Party) -> Duration| -> Vec<f64> {
            let sum =
                |report: &Report| parts.clone().map(|part| of(&of_party(report, part))).sum::<Duration>();
            reports.iter().map(|report| sum(report).as_secs_f64()).collect()
        };
        let (count, counted) = bench.spec.what.counted();
        let sent = |phases: &[Phase]| -> Vec<u64> {
            let of =
                |lane: &LaneReport| phases.iter().map(|&phase| lane.sent_bytes[phase as usize]).sum::<u64>();
            reports.iter().map(|report| report.lanes.iter().map(of).sum()).collect()
        };
        let of_parts = |report: &Report, of: fn(&Party) -> u64| -> Vec<u64> {
            report.lanes.iter().flat_map(|lane| &lane.parts).map(of).collect()
        };
        let wire = |report| of_parts(report, |part| part.wire_bytes).iter().sum();
        let peak = |report| of_parts(report, |part| part.peak_rss_bytes).into_iter().max().unwrap_or(0);
        let apart = outcome.process.is_none();
        Ok(Self {
            bench: bench.spec.what.name(),
            protocol: bench.spec.protocol.clone(),
            parties: reports.len(),
            transport: bench.spec.transport.name(),
            net: bench.spec.net.clone(),
            threads: bench.spec.lanes,
            count,
            depth: bench.spec.what.depth(),
            ring: bench.spec.what.ring().filter(|ring| !ring.is_usual()),
            weights: match bench.spec.what {
                Workload::Dnn { weights, .. } => Some(weights),
                _ => None,
            },
            seconds: elapsed,
            offline_seconds,
            input_seconds: sum(|part| part.shared.saturating_sub(part.share)),
            output_seconds: sum(|part| part.opened.saturating_sub(part.finish)),
            verify_seconds: sum(|part| part.finish.saturating_sub(part.computed)),
            per_second: count as f64 / (elapsed + offline_seconds),
            online_per_second: count as f64 / elapsed,
            sent_bytes: sent(&[Phase::Online, Phase::Verify]),
            offline_sent_bytes: match &filled {
                Some(filled) => filled.iter().map(|filled| filled.sent_bytes).collect(),
                None => sent(&[Phase::Offline]),
            },
            wire_bytes: reports.iter().map(wire).collect(),
            input_bytes: sent(&[Phase::Input]),
            output_bytes: sent(&[Phase::Output]),
            rounds: reports
                .iter()
                .flat_map(|report| &report.lanes)
                .map(|lane| lane.rounds)
                .max()
                .unwrap_or(0),
            offline_rounds: offline_rounds.into_iter().max().unwrap_or(0),
            cpu_seconds: apart.then(|| each_party(Party::cpu)),
            peak_rss_bytes: apart.then(|| reports.iter().map(peak).collect()),
            process_cpu_seconds: outcome.process.map(|(cpu, _)| cpu.as_secs_f64()),
            process_peak_rss_bytes: outcome.process.map(|(_, peak)| peak),
            version: env!("CARGO_PKG_VERSION"),
            limits: Vec::new(),
            accuracy: reports.iter().find_map(|report| report.accuracy),
            store_disk_bytes: filled.map(|filled| filled.iter().map(|filled| filled.disk_bytes).collect()),
            profile: bench.spec.profile.then(|| Profile::new(bench, reports)),
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
        if self.threads > 1 {
            head = format!("{head} in {} lanes", self.threads);
        }
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("time", seconds(self.seconds));
        let unit = format!(" {}/s", self.counted);
        if self.offline_rounds > 0 || self.store_disk_bytes.is_some() {
            row("time ahead", seconds(self.offline_seconds));
            row("speed online", rate(self.online_per_second, &unit));
            row("speed in all", rate(self.per_second, &unit));
            row("sent ahead by each party", each(&self.offline_sent_bytes));
            if let Some(disk) = &self.store_disk_bytes {
                row("store of each, on disk", each(disk));
            }
        } else {
            row("speed", rate(self.per_second, &unit));
        }
        row("sent by each party", each(&self.sent_bytes));
        row("on the wire", each(&self.wire_bytes));
        row("rounds", self.rounds.to_string());
        if let Some(cpu) = &self.cpu_seconds {
            row("processor time of each", cpu.iter().map(|&cpu| seconds(cpu)).collect::<Vec<_>>().join("  "));
        }
        if let Some(memory) = &self.peak_rss_bytes {
            row(
                "most memory of each",
                memory.iter().map(|&most| format!("{} MB", most / 1_000_000)).collect::<Vec<_>>().join("  "),
            );
        }
        if let Some(accuracy) = self.accuracy {
            row("beside floating point", accuracy.to_text());
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
        ) + &self.profile.as_ref().map_or(String::new(), |profile| format!("\n{profile}"))
    }
}

/// One number if all have the same, or all of them.
fn each(counts: &[u64]) -> String {
    match counts {
        [first, rest @ ..] if rest.iter().all(|count| count == first) => format!("{} bytes", bytes(*first)),
        _ => counts.iter().map(|&count| bytes(count)).collect::<Vec<_>>().join("  ") + " bytes",
    }
}

/// In a lane every phase's payload is to the byte what the plan's cost says, and so are the rounds.
fn compare_with_cost(
    outcome: &Outcome,
    lane: usize,
    names: &[String],
    declared: &Cost,
) -> Result<(), Failure> {
    for (party, (name, report)) in names.iter().zip(&outcome.reports).enumerate() {
        let Some(figures) = report.lanes.get(lane) else {
            return Err(Failure::wrong(format!("{name} reports nothing of lane {lane}")));
        };
        for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Setup) {
            let (sent, expected) = (figures.sent_bytes[phase as usize], declared.phase(phase).sent_by(party));
            if sent != expected {
                return Err(Failure::wrong(format!(
                    "{name} sent {sent} bytes in lane {lane}'s {phase} phase; the declared cost is {expected}"
                )));
            }
        }
        let (rounds, expected) = (figures.rounds, declared.phase(Phase::Online).rounds);
        if rounds != expected {
            return Err(Failure::wrong(format!(
                "{name} took {rounds} rounds in lane {lane}; the declared cost is {expected}"
            )));
        }
    }
    Ok(())
}
