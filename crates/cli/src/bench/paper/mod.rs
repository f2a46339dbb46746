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
mod experiment;
mod heath;
mod li;
mod links;
mod mascot;

pub(super) use araki::ARAKI;
pub(super) use astra::ASTRA;
pub(super) use heath::GMW;
pub(super) use li::LI;
pub(super) use mascot::MASCOT;

use super::measure::measure_and_tell;
use super::party::Bench;
use super::plot::Plot;
use super::result::Figures;
use super::spec::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use experiment::{Compared, Experiment, Operation, Paper, Printed, Run, Sent, label};
use links::{NetFiles, unwritten};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

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
