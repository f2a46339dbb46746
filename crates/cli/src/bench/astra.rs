//! `tacit bench astra`: the experiments of Chaudhari et al. 2019, section 6, with AES, ANDs and predictions.
//!
//! The paper has its servers on a LAN of 1 Gbit/s and 0.47 ms, and in three places with 25 Mbit/s between them and other
//! round trips for each pair. Here all parties are on this machine, over links that are held to the same. A round of
//! the paper takes a whole round trip; here a message takes half of one, and so does a round in which both of a pair
//! send. Both are printed: what was measured, and the same with a round trip for every round.
//!
//! Table 4 is of inputs and outputs alone. What a malicious protocol's outputs wait for, that all accept, is among them.
//!
//! Where predictions are classified the paper compares by garbled circuits, which these protocols do if asked; both ways
//! are run.
//!
//! Payload is of all parties together, as the paper counts it. Its protocols for comparison are Araki et al. 2016 and ABY3
//! in their semi-honest form, which `replicated` is, and Araki et al. 2017 and ABY3 in their malicious one, which nobody
//! has here: `replicated-malicious` stands in their column.

use super::measure_and_tell;
use super::party::Bench;
use super::result::Figures;
use super::spec::{BenchArgs, Model, What};
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde::Serialize;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tacit::program::cost::Phase;
use tacit::protocol;

/// The LAN; between `P_0` and `P_2` in table 10.
const LAN: Net = Net { name: "LAN", rtt: [0.47e-3; 3], bits: [1e9; 3] };
const SLOW_LAN: Net = Net { name: "LAN, P0-P2 at 100 Mbit/s", rtt: [0.47e-3; 3], bits: [1e9, 1e9, 1e8] };
const WAN: Net = Net { name: "WAN", rtt: [201.928e-3, 81.736e-3, 229.792e-3], bits: [25e6; 3] };
const SLOW_WAN: Net = Net {
    name: "WAN, P0-P2 at 10 Mbit/s",
    rtt: [201.928e-3, 81.736e-3, 229.792e-3],
    bits: [25e6, 25e6, 10e6],
};

/// A network: seconds and bits a second of the pairs `P_0` and `P_1`, `P_1` and `P_2`, `P_0` and `P_2`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Net {
    name: &'static str,
    rtt: [f64; 3],
    bits: [f64; 3],
}

impl Net {
    /// As a file for `--net`.
    fn to_toml(self) -> String {
        let pairs = [("P0", "P1"), ("P1", "P2"), ("P0", "P2")];
        let pair = |((one, other), (rtt, bits)): ((&str, &str), (f64, f64))| {
            let (rtt, bits) = (rtt * 1e3, bits / 1e6);
            format!("[[pair]]\nbetween = [\"{one}\", \"{other}\"]\nnet = \"{rtt}ms,{bits}mbit\"\n")
        };
        pairs.into_iter().zip(self.rtt.into_iter().zip(self.bits)).map(pair).collect()
    }

    /// The round trip that a round online waits for: of `P_1` and `P_2` where they alone speak, else the longest.
    fn round_trip(self, protocol: &str) -> f64 {
        if protocol.starts_with("astra") { self.rtt[1] } else { self.rtt.into_iter().fold(0.0, f64::max) }
    }
}

/// What a table has of a protocol: seconds or per second, offline and online, and kilobytes of both.
#[derive(Clone, Copy, Debug, Serialize)]
struct Printed {
    offline_seconds: Option<f64>,
    online_seconds: Option<f64>,
    per_second: Option<f64>,
    offline_kilobytes: Option<f64>,
    online_kilobytes: Option<f64>,
}

const NOTHING: Printed = Printed {
    offline_seconds: None,
    online_seconds: None,
    per_second: None,
    offline_kilobytes: None,
    online_kilobytes: None,
};

const fn latency(offline_seconds: f64, online_seconds: f64, kilobytes: [f64; 2]) -> Printed {
    let [offline, online] = kilobytes;
    Printed {
        offline_seconds: Some(offline_seconds),
        online_seconds: Some(online_seconds),
        offline_kilobytes: Some(offline),
        online_kilobytes: Some(online),
        ..NOTHING
    }
}

const fn throughput(per_second: f64) -> Printed {
    Printed { per_second: Some(per_second), ..NOTHING }
}

/// A table's or a figure's work on one network, and what is printed for each protocol.
struct Experiment {
    table: &'static str,
    what: What,
    net: Net,
    printed: [Printed; PROTOCOLS.len()],
}

/// The protocols, in the order of the tables' columns.
const PROTOCOLS: [&str; 4] = ["replicated", "astra", "replicated-malicious", "astra-malicious"];

const AES: What = What::Aes { count: 1, shared_key: false };
const UNPRINTED: [Printed; PROTOCOLS.len()] = [NOTHING; PROTOCOLS.len()];

/// Features of the predictions in the tables.
const FEATURES: usize = 784;

const fn predict(model: Model, rows: usize) -> What {
    What::Predict { model, rows, features: FEATURES }
}

/// What protocols with a way of their own to compare are asked for, besides.
const GARBLED: &str = "comparison=garbled";

/// Table 4: a protocol, and what is printed of its sharing and its reconstruction on the LAN and on the WAN.
struct Opening {
    protocol: &'static str,
    sharing: Option<[Printed; 2]>,
    reconstruction: [Printed; 2],
}

/// Table 4. The rows of malicious sharing are those of fair outputs, too.
const OPENINGS: [Opening; 3] = [
    Opening {
        protocol: "astra",
        sharing: Some([latency(0.0, 0.47e-3, [0.01, 0.02]), latency(0.0, 0.23, [0.01, 0.02])]),
        reconstruction: [latency(0.0, 0.47e-3, [0.0, 0.05]), latency(0.0, 0.23, [0.0, 0.05])],
    },
    Opening {
        protocol: "astra-malicious",
        sharing: Some([latency(0.47e-3, 0.47e-3, [0.02, 0.03]), latency(0.23, 0.23, [0.02, 0.03])]),
        reconstruction: [latency(0.0, 0.47e-3, [0.0, 0.09]), latency(0.0, 0.23, [0.0, 0.09])],
    },
    Opening {
        protocol: "astra-fair",
        sharing: None,
        reconstruction: [latency(0.47e-3, 1.91e-3, [0.25, 0.19]), latency(0.23, 0.77, [0.25, 0.19])],
    },
];

/// The work of the tables and figures, with rows and ANDs so many that a run takes a second or a few.
fn experiments(quick: bool) -> Vec<Experiment> {
    let mut all = latencies();
    all.extend(throughputs(if quick { 100 } else { 1 }));
    let unprinted = |table, what, net| Experiment { table, what, net, printed: UNPRINTED };
    for depth in if quick { vec![10] } else { vec![1, 10, 20, 40, 80] } {
        all.push(unprinted("figure 12", What::And { count: depth, depth }, WAN));
    }
    let rows = if quick { 2 } else { 100 };
    for model in [Model::Score, Model::LogisticSign] {
        for (net, theirs, ours) in [(SLOW_LAN, 0.001e6, 0.010e6), (SLOW_WAN, 0.004e6 / 60.0, 0.016e6 / 60.0)]
        {
            let printed = [NOTHING, NOTHING, throughput(theirs), throughput(ours)];
            all.push(Experiment { table: "table 10", what: predict(model, rows), net, printed });
        }
    }
    for (figure, model, nets) in [
        ("figure 13", Model::Score, [LAN, WAN]),
        ("figure 14", Model::LogisticSign, [LAN, WAN]),
        ("figure 15", Model::LogisticSign, [SLOW_LAN, SLOW_WAN]),
    ] {
        for features in if quick { vec![500] } else { vec![500, 1000, 2500] } {
            for net in nets {
                all.push(unprinted(figure, What::Predict { model, rows, features }, net));
            }
        }
    }
    // A small version has one run on slow links, to see that they work.
    all.retain(|experiment| !quick || experiment.table == "figure 12" || experiment.net.rtt[0] < 1e-3);
    all
}

/// Tables 3, 6 and 8.
fn latencies() -> Vec<Experiment> {
    let (linear, sign) = (Model::Score, Model::LogisticSign);
    let row = |table, what, net, printed| Experiment { table, what, net, printed };
    vec![
        row(
            "table 3",
            AES,
            LAN,
            [
                latency(0.0, 0.2548, [0.0, 1.99]),
                latency(0.48e-3, 0.2548, [0.66, 1.33]),
                latency(1.44e-3, 0.26072, [8.06, 6.06]),
                latency(2.37e-3, 0.24838, [10.72, 2.69]),
            ],
        ),
        row(
            "table 3",
            AES,
            WAN,
            [
                latency(0.0, 8.96, [0.0, 1.99]),
                latency(0.23, 3.19, [0.66, 1.33]),
                latency(0.71, 9.42, [8.06, 6.06]),
                latency(0.88, 3.57, [10.72, 2.69]),
            ],
        ),
        row(
            "table 6",
            predict(linear, 1),
            LAN,
            [
                latency(0.0, 0.62e-3, [0.0, 0.02]),
                latency(0.52e-3, 0.61e-3, [0.01, 0.01]),
                latency(1.61e-3, 1.56e-3, [73.5, 55.13]),
                latency(2.56e-3, 1.07e-3, [128.63, 12.27]),
            ],
        ),
        row(
            "table 6",
            predict(linear, 1),
            WAN,
            [
                latency(0.0, 0.23, [0.0, 0.02]),
                latency(0.23, 0.09, [0.01, 0.01]),
                latency(0.72, 0.70, [73.5, 55.13]),
                latency(1.1, 0.44, [128.63, 12.27]),
            ],
        ),
        row(
            "table 8",
            predict(sign, 1),
            LAN,
            [
                latency(0.0, 3.48e-3, [0.0, 0.07]),
                latency(0.54e-3, 1.58e-3, [0.01, 0.04]),
                latency(1.63e-3, 4.42e-3, [73.7, 55.3]),
                latency(2.57e-3, 2.53e-3, [129.0, 12.4]),
            ],
        ),
        row(
            "table 8",
            predict(sign, 1),
            WAN,
            [
                latency(0.0, 1.61, [0.0, 0.07]),
                latency(0.23, 0.55, [0.01, 0.04]),
                latency(0.72, 2.08, [73.7, 55.3]),
                latency(1.1, 0.98, [129.0, 12.4]),
            ],
        ),
    ]
}

/// Tables 5, 7 and 9, of so many times less.
fn throughputs(less: usize) -> Vec<Experiment> {
    let many = |usual: usize| usual / less;
    let (linear, sign) = (Model::Score, Model::LogisticSign);
    let row = |table, what, net, printed| Experiment { table, what, net, printed };
    vec![
        row(
            "table 5",
            What::Aes { count: many(10_000), shared_key: false },
            LAN,
            [throughput(3296.7), throughput(3296.7), throughput(3221.85), throughput(3381.91)],
        ),
        row(
            "table 5",
            What::And { count: many(500_000) * 20, depth: 20 },
            WAN,
            [throughput(8.71e6), throughput(13.1e6), throughput(2.9e6), throughput(4.34e6)],
        ),
        row(
            "table 7",
            predict(linear, many(2000)),
            LAN,
            [throughput(0.645e6), throughput(0.656e6), throughput(0.007e6), throughput(0.010e6)],
        ),
        row(
            "table 7",
            predict(linear, many(200)),
            WAN,
            [
                throughput(0.104e6 / 60.0),
                throughput(0.267e6 / 60.0),
                throughput(0.010e6 / 60.0),
                throughput(0.016e6 / 60.0),
            ],
        ),
        row(
            "table 9",
            predict(sign, many(2000)),
            LAN,
            [throughput(0.115e6), throughput(0.253e6), throughput(0.007e6), throughput(0.010e6)],
        ),
        row(
            "table 9",
            predict(sign, many(200)),
            WAN,
            [
                throughput(0.015e6 / 60.0),
                throughput(0.044e6 / 60.0),
                throughput(0.010e6 / 60.0),
                throughput(0.016e6 / 60.0),
            ],
        ),
    ]
}

/// A run of ours: the median.
#[derive(Clone, Debug, Serialize)]
struct Run {
    table: &'static str,
    what: String,
    net: &'static str,
    protocol: String,
    count: usize,
    offline_seconds: f64,
    online_seconds: f64,
    /// With a whole round trip for every round.
    online_seconds_at_round_trips: f64,
    online_per_second: f64,
    rounds: u64,
    offline_kilobytes: f64,
    online_kilobytes: f64,
    all_online_seconds: Vec<f64>,
    paper: Printed,
}

/// All that `--paper` says; the fields are the keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
struct Found {
    bench: &'static str,
    transport: &'static str,
    repeat: usize,
    runs: Vec<Run>,
    version: &'static str,
    /// Whether all is made small.
    #[serde(skip)]
    quick: bool,
}

pub(super) fn astra(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if !args.experiment.paper {
        return Err(Failure::usage("bench astra takes --paper"));
    }
    let repeat = args.repeat(1);
    let folder = Folder::new()?;
    let mut runs = Vec::new();
    for experiment in experiments(args.quick) {
        let net = folder.write(experiment.net)?;
        for (name, paper) in PROTOCOLS.into_iter().zip(experiment.printed) {
            let garbled = format!("{name} {GARBLED}");
            let garbled = Some(garbled).filter(|name| experiment.compares() && protocol(name).is_ok());
            for name in [Some(name.to_owned()), garbled].into_iter().flatten() {
                runs.push(Run::measure(context, args, &experiment, (name, paper), &net, repeat)?);
            }
        }
    }
    for (place, net) in [LAN, WAN].into_iter().enumerate() {
        let file = folder.write(net)?;
        for opening in &OPENINGS {
            runs.extend(Run::of_opening(context, args, opening, (place, net), &file, repeat)?);
        }
    }
    runs.sort_by_key(|run| place(run.table));
    let transport = args.transport.name();
    let version = env!("CARGO_PKG_VERSION");
    let found = Found { bench: "astra", transport, repeat, runs, version, quick: args.quick };
    if context.json { context.line(&json!(found).to_string()) } else { context.line(&found.to_text()) }
}

impl Experiment {
    /// Whether numbers are compared.
    fn compares(&self) -> bool {
        matches!(self.what, What::Predict { model: Model::LogisticSign, .. })
    }
}

/// Where a table or a figure stands: tables by their numbers, then figures by theirs.
fn place(table: &str) -> (bool, u32) {
    let (kind, number) = table.split_once(' ').unwrap_or((table, ""));
    (kind != "table", number.parse().unwrap_or(u32::MAX))
}

/// Bytes of all parties together, as the paper counts them.
fn kilobytes(sent: &[u64]) -> f64 {
    sent.iter().sum::<u64>() as f64 / 1024.0
}

/// A benchmark among the machines that the paper names by their roles, on links held to a network's file.
fn bench(args: &BenchArgs, name: &str, what: What, net: &Path) -> Result<Bench, Failure> {
    let roles = if name.starts_with("astra") { " roles=012" } else { "" };
    Bench::new(args.spec_under(format!("{name}{roles}"), Some(net.display().to_string()), what, 1)?)
}

impl Run {
    /// A protocol's rows of table 4.
    fn of_opening(
        context: &mut Context<'_>,
        args: &BenchArgs,
        opening: &Opening,
        (place, net): (usize, Net),
        file: &Path,
        repeat: usize,
    ) -> Result<Vec<Self>, Failure> {
        let bench = bench(args, opening.protocol, What::Wires { count: 1 }, file)?;
        let name = format!("table 4: a block, {}, {}", net.name, opening.protocol);
        let (figures, _) = measure_and_tell(context, &name, &bench, repeat)?;
        let Some(lane) = bench.lanes.first() else { return Ok(Vec::new()) };
        let cost = bench.lane_cost(lane)?;
        // A message takes half a round trip, of the farthest at most.
        let round_trip = net.rtt.into_iter().fold(0.0, f64::max);
        let row = |what: &str, phases: &[Phase], seconds: f64, bytes: [f64; 2], paper| {
            let rounds: u64 = phases.iter().map(|&phase| cost.phase(phase).rounds).sum();
            let halves = (rounds as f64 * round_trip / 2.0).min(seconds);
            Self {
                table: "table 4",
                what: what.to_owned(),
                net: net.name,
                protocol: opening.protocol.to_owned(),
                count: figures.count,
                // Where nothing is sent there is nothing but that parties leave the barrier apart.
                offline_seconds: if bytes[0] > 0.0 { figures.offline_seconds } else { 0.0 },
                online_seconds: seconds,
                online_seconds_at_round_trips: seconds + halves,
                online_per_second: figures.count as f64 / seconds,
                rounds,
                offline_kilobytes: bytes[0],
                online_kilobytes: bytes[1],
                all_online_seconds: vec![seconds],
                paper,
            }
        };
        let Figures { input_bytes, sent_bytes, output_bytes, offline_sent_bytes, .. } = &figures;
        let sharing = opening.sharing.map(|printed| {
            let (seconds, sent) = (figures.input_seconds, [0.0, kilobytes(input_bytes)]);
            row("sharing a block", &[Phase::Input], seconds, sent, printed[place])
        });
        // With nothing to compute in between, what is online is that all accept.
        let seconds = figures.seconds + figures.output_seconds;
        let sent = [kilobytes(offline_sent_bytes), kilobytes(sent_bytes) + kilobytes(output_bytes)];
        let printed = opening.reconstruction[place];
        let phases = [Phase::Online, Phase::Verify, Phase::Output];
        let reconstruction = row("opening a block", &phases, seconds, sent, printed);
        Ok(sharing.into_iter().chain([reconstruction]).collect())
    }

    fn measure(
        context: &mut Context<'_>,
        args: &BenchArgs,
        experiment: &Experiment,
        (protocol, paper): (String, Printed),
        net: &Path,
        repeat: usize,
    ) -> Result<Self, Failure> {
        let bench = bench(args, &protocol, experiment.what, net)?;
        let what =
            format!("{} {}", experiment.what.counted().1, experiment.what.sizes()).trim_end().to_owned();
        let name = format!("{}: {what}, {}, {protocol}", experiment.table, experiment.net.name);
        let (median, all_online_seconds) = measure_and_tell(context, &name, &bench, repeat)?;
        let extra = median.rounds as f64 * experiment.net.round_trip(&protocol) / 2.0;
        Ok(Self {
            table: experiment.table,
            what,
            net: experiment.net.name,
            protocol,
            count: median.count,
            offline_seconds: median.offline_seconds,
            online_seconds: median.seconds,
            online_seconds_at_round_trips: median.seconds + extra,
            online_per_second: median.online_per_second,
            rounds: median.rounds,
            offline_kilobytes: kilobytes(&median.offline_sent_bytes),
            online_kilobytes: kilobytes(&median.sent_bytes),
            all_online_seconds,
            paper,
        })
    }
}

impl Found {
    fn to_text(&self) -> String {
        let head = [
            "",
            "count",
            "ahead",
            "online",
            "at round trips",
            "online/s",
            "KB ahead",
            "KB online",
            "paper ahead",
            "paper online",
            "paper/s",
            "paper KB",
        ];
        let mut table = Table::new(head.map(str::to_owned));
        let some = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(String::new, text);
        for run in &self.runs {
            let printed = [run.paper.offline_kilobytes, run.paper.online_kilobytes];
            let printed = printed.into_iter().flatten().map(|kilobytes| kilobytes.to_string());
            table.row([
                format!("  {}: {}, {}, {}", run.table, run.what, run.net, run.protocol),
                bytes(run.count as u64),
                seconds(run.offline_seconds),
                seconds(run.online_seconds),
                seconds(run.online_seconds_at_round_trips),
                rate(run.online_per_second, ""),
                format!("{:.2}", run.offline_kilobytes),
                format!("{:.2}", run.online_kilobytes),
                some(run.paper.offline_seconds, seconds),
                some(run.paper.online_seconds, seconds),
                some(run.paper.per_second, |per_second| rate(per_second, "")),
                printed.collect::<Vec<_>>().join(" + "),
            ]);
        }
        format!(
            "Chaudhari et al. 2019, here all parties on one machine over {}, on links held to the paper's round trips \
             and bandwidths; medians of {} run{}; the traffic is as declared{}\n{table}",
            self.transport,
            self.repeat,
            if self.repeat == 1 { "" } else { "s" },
            if self.quick {
                "; all is made small, to see that it works: compare none of these figures with the paper's"
            } else {
                ""
            },
        )
    }
}

/// Where the networks' files are while the experiments run.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("tacit-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| unwritten(&path, &error))?;
        Ok(Self(path))
    }

    fn write(&self, net: Net) -> Result<PathBuf, Failure> {
        let path = self.0.join(format!("{}.toml", net.name.replace([' ', ',', '/'], "-")));
        fs::write(&path, net.to_toml()).map_err(|error| unwritten(&path, &error))?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing is lost if it stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("{} can't be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit::net::Profile;

    #[test]
    fn networks_are_read_as_they_are_meant() {
        for net in [LAN, SLOW_LAN, WAN, SLOW_WAN] {
            assert!(Profile::parse(&net.to_toml()).is_ok(), "{}", net.to_toml());
        }
        assert!(WAN.to_toml().contains("81.736ms,25mbit"));
    }

    #[test]
    fn rows_are_in_the_order_of_the_papers_tables() {
        let mut tables = ["figure 12", "table 10", "table 4", "figure 9", "table 3"];
        tables.sort_by_key(|table| place(table));
        assert_eq!(tables, ["table 3", "table 4", "table 10", "figure 9", "figure 12"]);
    }

    #[test]
    fn every_experiment_is_in_layers() {
        for quick in [true, false] {
            for experiment in experiments(quick) {
                let (count, _) = experiment.what.counted();
                assert!(count > 0 && count.is_multiple_of(experiment.what.depth()), "{}", experiment.table);
            }
        }
    }
}
