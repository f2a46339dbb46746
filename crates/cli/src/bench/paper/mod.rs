//! `tacit bench NAME --paper`: the experiments of a paper, each beside what the paper prints for it.
//!
//! A paper is data: what it measures, on which links, and its own figures. This module runs it. All parties are on one
//! machine, over loopback or links that are held to the paper's. Bytes are those of all parties together.
//!
//! The paper's rounds on links with round trips for each pair take a whole round trip. Here a message takes half of one, and so
//! does a round in which both of a pair send. Both times are told then: what was measured, and the same with a round trip for
//! every round.

mod araki;
mod astra;
mod heath;
mod li;
mod links;
mod mascot;

pub(super) use araki::ARAKI;
pub(super) use astra::ASTRA;
pub(super) use heath::GMW;
pub(super) use li::LI;
pub(super) use mascot::MASCOT;

use super::measure_and_tell;
use super::party::Bench;
use super::plot::Plot;
use super::result::Figures;
use super::spec::BenchArgs;
use super::what::What;
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use links::{Links, NetFiles};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use tacit::program::Phase;

/// A paper's experiments.
pub(super) struct Paper {
    /// Its name on the command line.
    name: &'static str,
    /// What it takes there.
    options: &'static str,
    /// Who wrote it, and what differs here.
    title: &'static str,
    /// How often each is measured, if nothing else is said.
    repeat: usize,
    experiments: fn(&BenchArgs) -> Vec<Experiment>,
    /// What it prints of machines that are unlike any here.
    printed: fn() -> Vec<(String, Printed)>,
    /// What it measures on one core, without parties.
    operations: fn(quick: bool) -> Vec<Operation>,
    /// What is sent for one of what it makes, without a run: exact.
    costs: fn() -> Vec<Sent>,
    /// Other figures, of these runs or counted.
    compared: fn(runs: &[Run], quick: bool) -> Result<Vec<Compared>, Failure>,
    /// Its figures, each with a file's name.
    plots: fn(&[Run]) -> Vec<(&'static str, Plot<'static>)>,
}

/// One thing that a paper measures.
#[derive(Clone)]
struct Experiment {
    /// The paper's table or figure: `table 3`.
    table: &'static str,
    protocol: String,
    /// How many parties; as the command line says if nothing.
    parties: Option<usize>,
    what: What,
    lanes: u16,
    /// What the links are held to; as the command line says if nothing.
    links: Option<Links>,
    part: Part,
    printed: Printed,
}

/// What of a run is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
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
struct Printed {
    offline_seconds: Option<f64>,
    seconds: Option<f64>,
    per_second: Option<f64>,
    /// Of all parties together.
    offline_bytes: Option<f64>,
    bytes: Option<f64>,
    /// Of each core.
    cpu_percent: Option<f64>,
    /// Of each party.
    gbit_per_second: Option<f64>,
    /// Of what each party's links carry.
    link_percent: Option<f64>,
}

/// The paper has no such figure.
const NOTHING: Printed = Printed {
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
struct Run {
    table: &'static str,
    what: String,
    /// What the links are held to; loopback or memory if nothing.
    net: Option<String>,
    protocol: String,
    parties: usize,
    lanes: u16,
    count: usize,
    depth: usize,
    offline_seconds: f64,
    seconds: f64,
    /// With a whole round trip for every round; where pairs have round trips of their own.
    seconds_at_round_trips: Option<f64>,
    per_second: f64,
    rounds: u64,
    /// Payload of all parties together.
    offline_bytes: u64,
    bytes: u64,
    /// Of each lane, and so of a core where there are as many; `None` in memory.
    cpu_percent: Option<f64>,
    /// Of each party, on the wire; of an offline phase the payload.
    gbit_per_second: f64,
    /// The same of what its links carry, for an offline phase on links that are all alike.
    link_percent: Option<f64>,
    /// Of each repetition.
    all_seconds: Vec<f64>,
    paper: Printed,
}

/// So many operations on one core.
#[derive(Clone, Copy, Debug, Serialize)]
struct Operation {
    table: &'static str,
    name: &'static str,
    count: usize,
    seconds: f64,
    /// For 10^8.
    paper_seconds: f64,
}

/// What all parties together send for one of what is made.
#[derive(Clone, Debug, Serialize)]
struct Sent {
    table: &'static str,
    name: String,
    /// In 1000 bits; `None` for what isn't made here.
    kbit: Option<f64>,
    paper_kbit: f64,
}

/// A figure beside the paper's.
#[derive(Clone, Debug, Serialize)]
struct Compared {
    table: &'static str,
    name: String,
    here: f64,
    /// If it has one.
    paper: Option<f64>,
}

/// All that `--paper` says; the fields are the keys of the JSON object.
#[derive(Serialize)]
struct Found {
    bench: &'static str,
    transport: &'static str,
    repeat: usize,
    runs: Vec<Run>,
    /// What the paper prints of other machines.
    printed: Vec<PrintedRow>,
    operations: Vec<Operation>,
    costs: Vec<Sent>,
    compared: Vec<Compared>,
    /// The drawings' files.
    plots: Vec<PathBuf>,
    version: &'static str,
}

#[derive(Serialize)]
struct PrintedRow {
    name: String,
    #[serde(flatten)]
    printed: Printed,
}

/// Runs all of a paper's experiments.
pub(super) fn paper(context: &mut Context<'_>, args: &BenchArgs, paper: &Paper) -> Result<(), Failure> {
    if !args.experiment.paper {
        return Err(Failure::usage(format!("bench {} takes {}", paper.name, paper.options)));
    }
    // Before anything takes time.
    let out = args.experiment.out.clone().unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&out).map_err(|error| unwritten(&out, &error))?;
    let files = NetFiles::new()?;
    let repeat = args.repeat(if args.quick { 1 } else { paper.repeat });
    let mut runs: Vec<Run> = Vec::new();
    let mut last: Option<(Experiment, Bench, Figures, Vec<f64>)> = None;
    for experiment in (paper.experiments)(args) {
        // Parts of one run follow one another.
        let (bench, median, all_seconds) = match last.take() {
            Some((same, bench, median, all_seconds)) if same.is_run_of(&experiment) => {
                (bench, median, all_seconds)
            }
            _ => {
                let bench = experiment.bench(args, &files)?;
                let (median, all_seconds) =
                    measure_and_tell(context, &experiment.name(args), &bench, repeat)?;
                (bench, median, all_seconds)
            }
        };
        runs.push(Run::new(args, &experiment, &bench, &median, &all_seconds)?);
        last = Some((experiment, bench, median, all_seconds));
    }
    runs.sort_by_key(|run| place(run.table));
    let printed = (paper.printed)().into_iter().map(|(name, printed)| PrintedRow { name, printed });
    let found = Found {
        bench: paper.name,
        transport: args.transport().name(),
        repeat,
        plots: draw(&out, (paper.plots)(&runs))?,
        compared: (paper.compared)(&runs, args.quick)?,
        runs,
        printed: printed.collect(),
        operations: (paper.operations)(args.quick),
        costs: (paper.costs)(),
        version: env!("CARGO_PKG_VERSION"),
    };
    if context.json {
        context.line(&json!(found).to_string())
    } else {
        context.line(&found.to_text(paper.title, args.quick))
    }
}

/// Where a table or a figure stands: tables by their numbers, then figures by theirs.
fn place(table: &str) -> (bool, u32) {
    let (kind, number) = table.split_once(' ').unwrap_or((table, ""));
    (kind != "table", number.parse().unwrap_or(u32::MAX))
}

fn draw(folder: &Path, plots: Vec<(&'static str, Plot<'static>)>) -> Result<Vec<PathBuf>, Failure> {
    let write = |(name, plot): (&str, Plot<'_>)| {
        let path = folder.join(name);
        let svg = plot.to_svg().map_err(|error| Failure::aborted(format!("{name}: {error}")))?;
        std::fs::write(&path, svg).map_err(|error| unwritten(&path, &error))?;
        Ok(path)
    };
    plots.into_iter().map(write).collect()
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{} can't be written: {error}", path.display()))
}

impl Experiment {
    /// Work of one lane on some links, of which the paper prints this.
    fn new(table: &'static str, protocol: &str, what: What, links: Option<Links>, printed: Printed) -> Self {
        let protocol = protocol.to_owned();
        Self { table, protocol, parties: None, what, lanes: 1, links, part: Part::Work, printed }
    }

    /// Whether both are parts of one run.
    fn is_run_of(&self, other: &Self) -> bool {
        let run = |one: &Self| (one.protocol.clone(), one.parties, one.what, one.lanes, one.links);
        self.part != Part::Work && other.part != Part::Work && run(self) == run(other)
    }

    /// The parties are called as the paper calls its roles.
    fn bench(&self, args: &BenchArgs, files: &NetFiles) -> Result<Bench, Failure> {
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

    fn name(&self, args: &BenchArgs) -> String {
        label(self.table, &self.work(), self.net(args).as_deref(), &self.protocol, self.parties, self.lanes)
    }
}

/// What stands in a table's first column.
fn label(
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
    fn new(
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

/// A column of the printed table: its head, and what it has of a run of ours and of the paper.
type Column = (&'static str, fn(&Run) -> Option<String>, fn(&Printed) -> Option<String>);

/// A column is printed if it has anything.
const COLUMNS: [Column; 16] = [
    ("count", |run| Some(bytes(run.count as u64)), |_| None),
    ("offline", |run| (run.offline_seconds > 0.0).then(|| seconds(run.offline_seconds)), |_| None),
    ("time", |run| Some(seconds(run.seconds)), |_| None),
    ("at round trips", |run| run.seconds_at_round_trips.map(seconds), |_| None),
    ("a second", |run| Some(rate(run.per_second, "")), |_| None),
    ("bytes offline", |run| (run.offline_bytes > 0).then(|| bytes(run.offline_bytes)), |_| None),
    ("bytes", |run| Some(bytes(run.bytes)), |_| None),
    ("cpu", |run| run.cpu_percent.map(percent), |_| None),
    ("Gbit/s each", |run| Some(format!("{:.3}", run.gbit_per_second)), |_| None),
    ("of the link", |run| run.link_percent.map(percent), |_| None),
    ("paper: offline", |_| None, |paper| paper.offline_seconds.map(seconds)),
    ("time", |_| None, |paper| paper.seconds.map(seconds)),
    ("a second", |_| None, |paper| paper.per_second.map(|per_second| rate(per_second, ""))),
    (
        "bytes",
        |_| None,
        |paper| {
            let all = [paper.offline_bytes, paper.bytes].into_iter().flatten();
            let all: Vec<String> = all.map(|count| bytes(count as u64)).collect();
            (!all.is_empty()).then(|| all.join(" + "))
        },
    ),
    (
        "cpu, Gbit/s",
        |_| None,
        |paper| Some(format!("{}, {:.3}", percent(paper.cpu_percent?), paper.gbit_per_second?)),
    ),
    ("of the link", |_| None, |paper| paper.link_percent.map(percent)),
];

fn percent(part: f64) -> String {
    format!("{part:.1} %")
}

impl Found {
    fn to_text(&self, title: &str, quick: bool) -> String {
        let several = self.runs.iter().any(|run| run.parties != self.runs[0].parties);
        let ours = self.runs.iter().map(|run| {
            let parties = several.then_some(run.parties);
            let name = label(run.table, &run.what, run.net.as_deref(), &run.protocol, parties, run.lanes);
            (name, COLUMNS.map(|(_, ours, theirs)| ours(run).or_else(|| theirs(&run.paper))))
        });
        let theirs = self
            .printed
            .iter()
            .map(|row| (format!("paper, {}", row.name), COLUMNS.map(|(_, _, theirs)| theirs(&row.printed))));
        let rows: Vec<_> = ours.chain(theirs).collect();
        let is_used = |&at: &usize| rows.iter().any(|(_, cells)| cells[at].is_some());
        let used: Vec<usize> = (0..COLUMNS.len()).filter(is_used).collect();
        let head = used.iter().map(|&at| COLUMNS[at].0.to_owned());
        let mut table = Table::new([String::new()].into_iter().chain(head));
        for (name, cells) in rows {
            let cells = used.iter().map(|&at| cells[at].clone().unwrap_or_default());
            table.row([format!("  {name}")].into_iter().chain(cells));
        }
        let mut text = format!(
            "{title}, here all parties on one machine over {}; medians of {} run{}; the traffic is as declared{}\n{table}",
            self.transport,
            self.repeat,
            if self.repeat == 1 { "" } else { "s" },
            if quick {
                "; all is made small, to see that it works: compare none of these figures with the paper's"
            } else {
                ""
            },
        );
        if !self.operations.is_empty() {
            let head = ["on one core", "count", "time", "paper's time for 10^8"];
            let mut table = Table::new(head.map(str::to_owned));
            for row in &self.operations {
                let name = format!("  {}: {}", row.table, row.name);
                table.row([name, bytes(row.count as u64), seconds(row.seconds), seconds(row.paper_seconds)]);
            }
            text.extend(["\n", &table.to_string()]);
        }
        if !self.costs.is_empty() {
            let head = ["sent by all parties, in 1000 bits", "here", "paper"];
            let mut table = Table::new(head.map(str::to_owned));
            for row in &self.costs {
                let kbit = row.kbit.map_or_else(|| "not made".to_owned(), |kbit| format!("{kbit:.2}"));
                table.row([format!("  {}: {}", row.table, row.name), kbit, format!("{:.2}", row.paper_kbit)]);
            }
            text.extend(["\n", &table.to_string()]);
        }
        if !self.compared.is_empty() {
            let mut table = Table::new(["", "here", "paper"].map(str::to_owned));
            for row in &self.compared {
                let paper = row.paper.map_or_else(String::new, |paper| format!("{paper:.2}"));
                let name = format!("  {}: {}", row.table, row.name);
                table.row([name, format!("{:.2}", row.here), paper]);
            }
            text.extend(["\n", &table.to_string()]);
        }
        let plots: Vec<String> = self.plots.iter().map(|path| path.display().to_string()).collect();
        if !plots.is_empty() {
            text.extend(["\ndrawn in ", &plots.join(" and ")]);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_papers_tables() {
        let mut tables = ["figure 12", "table 10", "table 4", "figure 9", "table 3"];
        tables.sort_by_key(|table| place(table));
        assert_eq!(tables, ["table 3", "table 4", "table 10", "figure 9", "figure 12"]);
    }
}
