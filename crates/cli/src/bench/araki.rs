//! `tacit bench araki`: the experiments with AES of Araki et al. 2016, section 5.2, and what more blocks take.
//!
//! The paper's servers encrypt in counter mode, a batch of blocks on every core at a time. A lane is what a core is
//! there. Latency is the time of a batch, and throughput what comes out in that time, here as there.

use super::limits::Limits;
use super::party::Bench;
use super::plot::{Line, Plot};
use super::result::Figures;
use super::spec::{BenchArgs, Transport, What};
use super::{machine, measure_and_tell};
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, seconds};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Blocks that each core has at a time.
const BATCH: usize = 12_800;
const QUICK_BATCH: usize = 1280;

/// Batches of a single lane.
const BATCHES: [usize; 4] = [128, 1280, 12_800, 128_000];
const QUICK_BATCHES: [usize; 2] = [128, 1280];

/// A row of the paper's table 2, without its confidence intervals.
#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    cores: u16,
    per_second: f64,
    seconds: f64,
    /// Of each core.
    cpu_percent: f64,
    /// Of each server.
    gbit_per_second: f64,
}

const TABLE_2: [Row; 5] = [
    Row { cores: 1, per_second: 100_103.0, seconds: 0.1285, cpu_percent: 73.3, gbit_per_second: 0.572 },
    Row { cores: 5, per_second: 530_408.0, seconds: 0.1212, cpu_percent: 62.2, gbit_per_second: 2.99 },
    Row { cores: 10, per_second: 975_237.0, seconds: 0.1319, cpu_percent: 54.0, gbit_per_second: 5.47 },
    Row { cores: 16, per_second: 1_242_310.0, seconds: 0.1657, cpu_percent: 49.5, gbit_per_second: 6.95 },
    Row { cores: 20, per_second: 1_324_117.0, seconds: 0.1942, cpu_percent: 49.6, gbit_per_second: 7.38 },
];

/// The same of ours: the median run.
#[derive(Clone, Debug, Serialize)]
struct Point {
    lanes: u16,
    count: usize,
    per_second: f64,
    seconds: f64,
    all_seconds: Vec<f64>,
    /// Of each lane, and so of a core where there are as many; `None` in memory.
    cpu_percent: Option<f64>,
    /// Of each party, on the wire.
    gbit_per_second: f64,
}

/// All that `--paper` says; the fields are the keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
struct Experiments {
    bench: &'static str,
    transport: &'static str,
    net: Option<String>,
    repeat: usize,
    /// Table 2 and figures 4 and 5: the same batch in each of more and more lanes.
    lanes: Vec<Point>,
    /// Figure 5: larger and larger batches in one lane.
    batches: Vec<Point>,
    /// Table 2 as printed.
    paper: [Row; 5],
    limits: Limits,
    /// The drawings' files.
    plots: Vec<PathBuf>,
    version: &'static str,
}

pub(super) fn araki(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    match (args.experiment.paper, args.experiment.scale) {
        (true, _) if args.has_count() => {
            Err(Failure::usage("bench araki: --count cannot be used with --paper, which has its own"))
        }
        (true, _) => paper(context, args),
        (_, true) => scale(context, args),
        _ => Err(Failure::usage("bench araki takes --paper or --scale")),
    }
}

fn paper(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    // Before anything takes time.
    let folder = args.experiment.out.clone().unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, &error))?;
    let repeat = args.repeat(if args.quick { 1 } else { 5 });
    let limits = machine(context, args.quick)?;
    let (batch, batches) = if args.quick { (QUICK_BATCH, &QUICK_BATCHES[..]) } else { (BATCH, &BATCHES[..]) };
    // Up to twice as many lanes as there are cores.
    let most = if args.quick { 2 } else { 2 * limits.cores.count as u16 };
    let doubled = std::iter::successors(Some(1_u16), |lanes| lanes.checked_mul(2));
    let lanes = doubled.take_while(|&lanes| lanes <= most.min(tacit::net::MAX_LANES));
    let mut point = |lanes, batch| Point::measure(context, args, lanes, batch, repeat);
    let lanes = lanes.map(|lanes| point(lanes, batch)).collect::<Result<Vec<_>, _>>()?;
    let batches = batches.iter().map(|&batch| point(1, batch)).collect::<Result<Vec<_>, _>>()?;
    let mut found = Experiments {
        bench: "araki",
        transport: args.transport.name(),
        net: args.net.clone(),
        repeat,
        lanes,
        batches,
        paper: TABLE_2,
        limits,
        plots: Vec::new(),
        version: env!("CARGO_PKG_VERSION"),
    };
    found.plots = found.draw(&folder)?;
    if context.json { context.line(&json!(found).to_string()) } else { context.line(&found.to_text()) }
}

impl Point {
    fn measure(
        context: &mut Context<'_>,
        args: &BenchArgs,
        lanes: u16,
        batch: usize,
        repeat: usize,
    ) -> Result<Self, Failure> {
        let what = What::Aes { count: batch * usize::from(lanes), shared_key: true };
        let name = format!("{} blocks in lanes of {}", bytes(what.counted().0 as u64), bytes(batch as u64));
        let bench = Bench::new(args.spec_of(what, lanes)?)?;
        let (median, all_seconds) = measure_and_tell(context, &name, &bench, repeat)?;
        let Figures { count, per_second, seconds, .. } = median;
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        let wire: Vec<f64> = median.wire_bytes.iter().map(|&bytes| bytes as f64).collect();
        let busy = median.cpu_seconds.as_deref().map(|cpu| mean(cpu) / (seconds * f64::from(lanes)));
        Ok(Self {
            lanes,
            count,
            per_second,
            seconds,
            all_seconds,
            cpu_percent: busy.map(|busy| 100.0 * busy),
            gbit_per_second: 8e-9 * mean(&wire) / seconds,
        })
    }
}

impl Experiments {
    /// Draws figures 4 and 5; where.
    fn draw(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let here = |points: &[Point], of: fn(&Point) -> (f64, f64)| points.iter().map(of).collect();
        let paper = |of: fn(&Row) -> (f64, f64)| self.paper.iter().map(of).collect();
        let line = |name, points: Vec<(f64, f64)>| Line { name, points };
        let throughput = Plot {
            title: "Throughput per core (Araki et al. 2016, figure 4)",
            x: "cores; here lanes of each party",
            y: "AES blocks a second and core",
            lines: vec![
                line(
                    "here",
                    here(&self.lanes, |point| {
                        (point.lanes.into(), point.per_second / f64::from(point.lanes))
                    }),
                ),
                line("paper", paper(|row| (row.cores.into(), row.per_second / f64::from(row.cores)))),
            ],
        };
        let latency = Plot {
            title: "Latency versus throughput (Araki et al. 2016, figure 5)",
            x: "AES blocks a second",
            y: "milliseconds a batch",
            lines: vec![
                line("here, more lanes", here(&self.lanes, |point| (point.per_second, 1e3 * point.seconds))),
                line("paper, more cores", paper(|row| (row.per_second, 1e3 * row.seconds))),
                line(
                    "here, larger batches in one lane",
                    here(&self.batches, |point| (point.per_second, 1e3 * point.seconds)),
                ),
            ],
        };
        let drawn = [("araki-figure-4.svg", throughput), ("araki-figure-5.svg", latency)];
        let write = |(name, plot): (&str, Plot<'_>)| {
            let path = folder.join(name);
            let svg = plot.to_svg().map_err(|error| Failure::aborted(format!("{name}: {error}")))?;
            std::fs::write(&path, svg).map_err(|error| unwritten(&path, &error))?;
            Ok(path)
        };
        drawn.into_iter().map(write).collect()
    }

    fn to_text(&self) -> String {
        let head = ["table 2: AES-128 in counter mode", "blocks/s", "latency", "cpu", "Gbit/s each"];
        let mut table = Table::new(head.map(str::to_owned));
        let mut row = |name: String, per_second: f64, latency: f64, cpu: Option<f64>, network: f64| {
            table.row([
                format!("  {name}"),
                bytes(per_second as u64),
                seconds(latency),
                cpu.map_or_else(String::new, |cpu| format!("{cpu:.1} %")),
                format!("{network:.3}"),
            ]);
        };
        for Point { lanes, per_second, seconds, cpu_percent, gbit_per_second, .. } in &self.lanes {
            row(
                format!("here, {}", many(*lanes, "lane")),
                *per_second,
                *seconds,
                *cpu_percent,
                *gbit_per_second,
            );
        }
        for Row { cores, per_second, seconds, cpu_percent, gbit_per_second } in self.paper {
            let name = format!("paper, {}", many(cores, "core"));
            row(name, per_second, seconds, Some(cpu_percent), gbit_per_second);
        }
        for Point { count, per_second, seconds, cpu_percent, gbit_per_second, .. } in &self.batches {
            let name = format!("here, 1 lane, a batch of {}", bytes(*count as u64));
            row(name, *per_second, *seconds, *cpu_percent, *gbit_per_second);
        }
        let batch = self.lanes.first().map_or(0, |point| point.count);
        let plots: Vec<String> = self.plots.iter().map(|path| path.display().to_string()).collect();
        format!(
            "Araki et al. 2016, here over {}{}: a batch is {} blocks in each lane, there {} on each core; medians \
             of {}\n{table}\n{}\nfigures 4 and 5 are drawn in {}",
            self.transport,
            self.net.as_ref().map_or(String::new(), |net| format!(" shaped as {net}")),
            bytes(batch as u64),
            bytes(BATCH as u64),
            many(self.repeat as u16, "run"),
            self.limits.to_text(),
            plots.join(" and ")
        )
    }
}

/// How many of what.
fn many(count: u16, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{} can't be written: {error}", path.display()))
}

/// What so many blocks take.
#[derive(Clone, Copy, Debug, Serialize)]
struct Step {
    count: usize,
    seconds: f64,
    per_second: f64,
    /// The most of any party.
    sent_bytes: u64,
    peak_rss_bytes: u64,
}

/// Parts of `--count`.
const STEPS: [usize; 4] = [10, 5, 2, 1];

fn scale(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if args.transport == Transport::Memory {
        return Err(Failure::usage("--scale looks at each run's memory: take --transport tcp or tls"));
    }
    let most = args.count_or(10_000, 10_000_000);
    if most < STEPS[0] {
        return Err(Failure::usage(format!(
            "--count {most} has no tenth: --scale takes {} or more",
            STEPS[0]
        )));
    }
    let mut steps = Vec::with_capacity(STEPS.len());
    for part in STEPS {
        let what = What::Aes { count: most / part, shared_key: true };
        let bench = Bench::new(args.spec_of(what, args.lanes())?)?;
        let name = format!("{} blocks", bytes((most / part) as u64));
        let (median, _) = measure_and_tell(context, &name, &bench, args.repeat(1))?;
        let largest = |all: &[u64]| all.iter().copied().max().unwrap_or(0);
        steps.push(Step {
            count: median.count,
            seconds: median.seconds,
            per_second: median.per_second,
            sent_bytes: largest(&median.sent_bytes),
            peak_rss_bytes: median.peak_rss_bytes.as_deref().map_or(0, largest),
        });
    }
    if context.json {
        let object = json!({"bench": "araki", "transport": args.transport.name(), "net": args.net,
            "threads": args.lanes(), "scale": steps, "version": env!("CARGO_PKG_VERSION")});
        return context.line(&object.to_string());
    }
    let head = [
        "blocks of AES-128 in counter mode",
        "time",
        "blocks/s",
        "bytes sent by each",
        "most memory of each",
    ];
    let mut table = Table::new(head.map(str::to_owned));
    for step in &steps {
        table.row([
            format!("  {}", bytes(step.count as u64)),
            seconds(step.seconds),
            bytes(step.per_second as u64),
            bytes(step.sent_bytes),
            format!("{} MiB", step.peak_rss_bytes >> 20),
        ]);
    }
    context.line(&table.to_string())
}
