//! Araki et al. 2016, section 5.2: AES in counter mode.
//!
//! The paper's servers encrypt a batch of blocks on every core at a time. A lane is what a core is there. Latency is the
//! time of a batch, and throughput what comes out in that time, here as there.

use super::experiment::{Experiment, NOTHING, Paper, Part, Printed, Run};
use crate::bench::plot::{Line, Plot};
use crate::bench::spec::BenchArgs;
use crate::bench::workload::Workload;

pub(in crate::bench) const ARAKI: Paper = Paper {
    name: "araki",
    options: "--paper or --scale",
    title: "Araki et al. 2016, a batch in each lane, there 12,800 blocks on each core",
    repeat: 5,
    experiments,
    printed,
    operations: |_| Vec::new(),
    costs: Vec::new,
    compared: |_, _| Ok(Vec::new()),
    plots,
};

/// Blocks that each core has at a time.
const BATCH: usize = 12_800;
const QUICK_BATCH: usize = 1280;

/// Batches of a single lane.
const BATCHES: [usize; 4] = [128, 1280, 12_800, 128_000];
const QUICK_BATCHES: [usize; 2] = [128, 1280];

/// Cores of each server, and what table 2 has for them: blocks a second, seconds, per cent of each core, gigabits a second.
const TABLE_2: [(u16, Printed); 5] = [
    (1, row(100_103.0, 0.1285, 73.3, 0.572)),
    (5, row(530_408.0, 0.1212, 62.2, 2.99)),
    (10, row(975_237.0, 0.1319, 54.0, 5.47)),
    (16, row(1_242_310.0, 0.1657, 49.5, 6.95)),
    (20, row(1_324_117.0, 0.1942, 49.6, 7.38)),
];

const fn row(per_second: f64, seconds: f64, cpu_percent: f64, gbit_per_second: f64) -> Printed {
    Printed {
        per_second: Some(per_second),
        seconds: Some(seconds),
        cpu_percent: Some(cpu_percent),
        gbit_per_second: Some(gbit_per_second),
        ..NOTHING
    }
}

/// The same batch in each of more and more lanes, up to twice as many as there are cores; larger and larger batches in one.
fn experiments(args: &BenchArgs) -> Vec<Experiment> {
    let (batch, batches) = if args.quick { (QUICK_BATCH, &QUICK_BATCHES[..]) } else { (BATCH, &BATCHES[..]) };
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u16;
    let most = if args.quick { 2 } else { cores.saturating_mul(2).min(tacit::advanced::net::MAX_LANES) };
    let lanes = std::iter::successors(Some(1_u16), |lanes| lanes.checked_mul(2));
    let of = |table, lanes: u16, batch: usize| Experiment {
        table,
        protocol: args.protocol_name(),
        parties: None,
        what: Workload::Aes { count: batch * usize::from(lanes), shared_key: true },
        lanes,
        links: None,
        part: Part::Work,
        printed: NOTHING,
    };
    let in_lanes = lanes.take_while(|&lanes| lanes <= most).map(|lanes| of("table 2", lanes, batch));
    in_lanes.chain(batches.iter().map(|&batch| of("figure 5", 1, batch))).collect()
}

fn printed() -> Vec<(String, Printed)> {
    let name = |cores| format!("table 2: {cores} core{} a server", if cores == 1 { "" } else { "s" });
    TABLE_2.iter().map(|&(cores, printed)| (name(cores), printed)).collect()
}

/// Figures 4 and 5.
fn plots(runs: &[Run]) -> Vec<(&'static str, Plot<'static>)> {
    let of = |table: &str, point: fn(&Run) -> (f64, f64)| {
        runs.iter().filter(|run| run.table == table).map(point).collect::<Vec<_>>()
    };
    let paper = |point: fn(f64, f64, f64) -> (f64, f64)| {
        let printed =
            |(cores, row): &(u16, Printed)| Some(point(f64::from(*cores), row.per_second?, row.seconds?));
        TABLE_2.iter().filter_map(printed).collect()
    };
    let line = |name, points| Line { name, points };
    let latency = |run: &Run| (run.per_second, 1e3 * run.seconds);
    let throughput = |run: &Run| (run.lanes.into(), run.per_second / f64::from(run.lanes));
    let figure_4 = Plot {
        title: "Throughput per core (Araki et al. 2016, figure 4)",
        x: "cores; here lanes of each party",
        y: "AES blocks a second and core",
        lines: vec![
            line("here", of("table 2", throughput)),
            line("paper", paper(|cores, per_second, _| (cores, per_second / cores))),
        ],
    };
    let figure_5 = Plot {
        title: "Latency versus throughput (Araki et al. 2016, figure 5)",
        x: "AES blocks a second",
        y: "milliseconds a batch",
        lines: vec![
            line("here, more lanes", of("table 2", latency)),
            line("paper, more cores", paper(|_, per_second, seconds| (per_second, 1e3 * seconds))),
            line("here, larger batches in one lane", of("figure 5", latency)),
        ],
    };
    vec![("araki-figure-4.svg", figure_4), ("araki-figure-5.svg", figure_5)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Throughput times latency is what a core has at a time.
    #[test]
    fn table_2_is_of_one_batch_a_core() {
        for (cores, row) in TABLE_2 {
            let batch = row.per_second.unwrap() * row.seconds.unwrap() / f64::from(cores);
            assert!((batch / BATCH as f64 - 1.0).abs() < 0.02, "{cores} cores: {batch}");
        }
    }
}
