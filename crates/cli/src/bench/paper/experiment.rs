//! What a paper measures and prints, and one run of ours beside it.

use super::links::{Links, NetFiles};
use crate::bench::party::Bench;
use crate::bench::plot::Plot;
use crate::bench::result::Figures;
use crate::bench::spec::BenchArgs;
use crate::bench::workload::Workload;
use crate::failure::Failure;
use serde::Serialize;
use tacit::program::Phase;

/// A paper's experiments.
pub(crate) struct Paper {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// What it takes there.
    pub(super) options: &'static str,
    /// Who wrote it, and what differs here.
    pub(super) title: &'static str,
    /// How often each is measured, if nothing else is said.
    pub(super) repeat: usize,
    pub(super) experiments: fn(&BenchArgs) -> Vec<Experiment>,
    /// What it prints of machines that are unlike any here.
    pub(super) printed: fn() -> Vec<(String, Printed)>,
    /// What it measures on one core, without parties.
    pub(super) operations: fn(quick: bool) -> Vec<Operation>,
    /// What is sent for one of what it makes, without a run: exact.
    pub(super) costs: fn() -> Vec<Sent>,
    /// Other figures, of these runs or counted.
    pub(super) compared: fn(runs: &[Run], quick: bool) -> Result<Vec<Compared>, Failure>,
    /// Its figures, each with a file's name.
    pub(super) plots: fn(&[Run]) -> Vec<(&'static str, Plot<'static>)>,
}

/// One thing that a paper measures.
#[derive(Clone)]
pub(super) struct Experiment {
    /// The paper's table or figure: `table 3`.
    pub(super) table: &'static str,
    pub(super) protocol: String,
    /// How many parties; as the command line says if nothing.
    pub(super) parties: Option<usize>,
    pub(super) what: Workload,
    pub(super) lanes: u16,
    /// What the links are held to; as the command line says if nothing.
    pub(super) links: Option<Links>,
    pub(super) part: Part,
    pub(super) printed: Printed,
}

/// What of a run is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All from the first message of the offline phase to the end of the checks.
    Work,
    /// The offline phase alone.
    Offline,
    /// Inputs alone.
    Sharing,
    /// What follows them, outputs too.
    Opening,
}

/// What a paper prints for one of its experiments.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Printed {
    pub(super) offline_seconds: Option<f64>,
    pub(super) seconds: Option<f64>,
    pub(super) per_second: Option<f64>,
    /// Of all parties together.
    pub(super) offline_bytes: Option<f64>,
    pub(super) bytes: Option<f64>,
    /// Of each core.
    pub(super) cpu_percent: Option<f64>,
    /// Of each party.
    pub(super) gbit_per_second: Option<f64>,
    /// Of what each party's links carry.
    pub(super) link_percent: Option<f64>,
}

/// The paper has no such figure.
pub(super) const NOTHING: Printed = Printed {
    offline_seconds: None,
    seconds: None,
    per_second: None,
    offline_bytes: None,
    bytes: None,
    cpu_percent: None,
    gbit_per_second: None,
    link_percent: None,
};

/// A run of ours: the median.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Run {
    pub(super) table: &'static str,
    pub(super) what: String,
    /// What the links are held to; loopback or memory if nothing.
    pub(super) net: Option<String>,
    pub(super) protocol: String,
    pub(super) parties: usize,
    pub(super) lanes: u16,
    pub(super) count: usize,
    pub(super) depth: usize,
    pub(super) offline_seconds: f64,
    pub(super) seconds: f64,
    /// With a whole round trip for every round; where pairs have round trips of their own.
    pub(super) seconds_at_round_trips: Option<f64>,
    pub(super) per_second: f64,
    pub(super) rounds: u64,
    /// Payload of all parties together.
    pub(super) offline_bytes: u64,
    pub(super) bytes: u64,
    /// Of each lane, and so of a core where there are as many; `None` in memory.
    pub(super) cpu_percent: Option<f64>,
    /// Of each party, on the wire; of an offline phase the payload.
    pub(super) gbit_per_second: f64,
    /// The same of what its links carry, for an offline phase on links that are all alike.
    pub(super) link_percent: Option<f64>,
    /// Of each repetition.
    pub(super) all_seconds: Vec<f64>,
    pub(super) paper: Printed,
}

/// So many operations on one core.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Operation {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) count: usize,
    pub(super) seconds: f64,
    /// For 10^8.
    pub(super) paper_seconds: f64,
}

/// What all parties together send for one of what is made.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sent {
    pub(super) table: &'static str,
    pub(super) name: String,
    /// In 1000 bits; `None` for what isn't made here.
    pub(super) kbit: Option<f64>,
    pub(super) paper_kbit: f64,
}

/// A figure beside the paper's.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Compared {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) here: f64,
    /// If it has one.
    pub(super) paper: Option<f64>,
}

impl Experiment {
    /// Work of one lane on some links, of which the paper prints this.
    pub(super) fn new(
        table: &'static str,
        protocol: &str,
        what: Workload,
        links: Option<Links>,
        printed: Printed,
    ) -> Self {
        let protocol = protocol.to_owned();
        Self { table, protocol, parties: None, what, lanes: 1, links, part: Part::Work, printed }
    }

    /// Whether both are parts of one run.
    pub(super) fn is_run_of(&self, other: &Self) -> bool {
        let run = |one: &Self| (one.protocol.clone(), one.parties, one.what, one.lanes, one.links);
        self.part != Part::Work && other.part != Part::Work && run(self) == run(other)
    }

    /// The parties are called as the paper calls its roles.
    pub(super) fn bench(&self, args: &BenchArgs, files: &NetFiles) -> Result<Bench, Failure> {
        let links = self.links.map(|links| files.argument(links)).transpose()?.or_else(|| args.net.clone());
        let pairs = self.links.is_some_and(|links| links.round_trips().is_some());
        let roles = if pairs && self.protocol.starts_with("astra") { " roles=012" } else { "" };
        let protocol = format!("{}{roles}", self.protocol);
        Bench::new(args.spec_under(protocol, self.parties, links, self.what, self.lanes)?)
    }

    fn work(&self) -> String {
        let (_, counted) = self.what.counted();
        let part = match self.part {
            Part::Work => "",
            Part::Offline => ", offline",
            Part::Sharing => ", sharing",
            Part::Opening => ", opening",
        };
        format!("{} {}", counted, self.what.sizes()).trim_end().to_owned() + part
    }

    fn net(&self, args: &BenchArgs) -> Option<String> {
        self.links.map(|links| links.name().to_owned()).or_else(|| args.net.clone())
    }

    pub(super) fn name(&self, args: &BenchArgs) -> String {
        label(self.table, &self.work(), self.net(args).as_deref(), &self.protocol, self.parties, self.lanes)
    }
}

/// What stands in a table's first column.
pub(super) fn label(
    table: &str,
    what: &str,
    net: Option<&str>,
    protocol: &str,
    parties: Option<usize>,
    lanes: u16,
) -> String {
    let net = net.map_or_else(String::new, |net| format!(", {net}"));
    let parties = parties.map_or_else(String::new, |parties| format!(" of {parties}"));
    let lanes = if lanes > 1 { format!(", {lanes} lanes") } else { String::new() };
    format!("{table}: {what}{net}, {protocol}{parties}{lanes}")
}

impl Run {
    pub(super) fn new(
        args: &BenchArgs,
        experiment: &Experiment,
        bench: &Bench,
        figures: &Figures,
        all_seconds: &[f64],
    ) -> Result<Self, Failure> {
        let Experiment { table, protocol, what, lanes, links, part, printed, .. } = experiment;
        let cost = bench.lanes.first().map(|lane| bench.lane_cost(lane)).transpose()?.unwrap_or_default();
        let rounds_of = |phases: &[Phase]| phases.iter().map(|&phase| cost.phase(phase).rounds).sum();
        let all = |sent: &[u64]| sent.iter().sum::<u64>();
        let offline = all(&figures.offline_sent_bytes);
        let (seconds, rounds, offline_bytes, bytes) = match part {
            Part::Work => (figures.seconds, figures.rounds, offline, all(&figures.sent_bytes)),
            Part::Offline => (figures.offline_seconds, rounds_of(&[Phase::Offline]), 0, offline),
            Part::Sharing => {
                (figures.input_seconds, rounds_of(&[Phase::Input]), 0, all(&figures.input_bytes))
            }
            Part::Opening => (
                figures.seconds + figures.output_seconds,
                rounds_of(&[Phase::Online, Phase::Verify, Phase::Output]),
                offline,
                all(&figures.sent_bytes) + all(&figures.output_bytes),
            ),
        };
        let halves = |round_trips: [f64; 3]| {
            // Online P_1 and P_2 alone speak under some protocols; else a round may wait for the farthest pair.
            let waited = if *part == Part::Work && protocol.starts_with("astra") {
                round_trips[1]
            } else {
                round_trips.into_iter().fold(0.0, f64::max)
            };
            let halves = rounds as f64 * waited / 2.0;
            // Parts of a run may have rounds without a message for those who are far.
            if *part == Part::Work { halves } else { halves.min(seconds) }
        };
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        let wire: Vec<f64> = figures.wire_bytes.iter().map(|&bytes| bytes as f64).collect();
        let busy =
            figures.cpu_seconds.as_deref().map(|cpu| mean(cpu) / (figures.seconds * f64::from(*lanes)));
        let parties = bench.spec.parties.len();
        let gbit_per_second = if *part == Part::Offline {
            8e-9 * bytes as f64 / (parties as f64 * seconds)
        } else {
            8e-9 * mean(&wire) / figures.seconds
        };
        let capacity =
            (*part == Part::Offline).then(|| links.and_then(|links| links.gbit(parties))).flatten();
        Ok(Self {
            table,
            what: experiment.work(),
            net: experiment.net(args),
            protocol: protocol.clone(),
            parties,
            lanes: *lanes,
            count: figures.count,
            depth: what.depth(),
            // Where nothing is sent there is nothing but that parties leave the barrier apart.
            offline_seconds: if offline_bytes > 0 { figures.offline_seconds } else { 0.0 },
            seconds,
            seconds_at_round_trips: links.and_then(Links::round_trips).map(|rtt| seconds + halves(rtt)),
            per_second: figures.count as f64 / seconds,
            rounds,
            offline_bytes,
            bytes,
            cpu_percent: busy.map(|busy| 100.0 * busy),
            gbit_per_second,
            link_percent: capacity.map(|gbit| 100.0 * gbit_per_second / gbit),
            all_seconds: if *part == Part::Work { all_seconds.to_vec() } else { vec![seconds] },
            paper: *printed,
        })
    }
}
