//! Chaudhari et al. 2019, section 6: AES, ANDs and predictions.
//!
//! The paper has its servers on a LAN of 1 Gbit/s and 0.47 ms, and in three places with 25 Mbit/s between them and other
//! round trips for each pair. Here links are held to the same.
//!
//! Table 4 is of inputs and outputs alone. What a malicious protocol's outputs wait for, that all accept, is among them.
//!
//! Where predictions are classified the paper compares by garbled circuits, which these protocols do if asked; both ways
//! are run.
//!
//! Its protocols for comparison are Araki et al. 2016 and ABY3 in their semi-honest form, which `replicated` is, and
//! Araki et al. 2017 and ABY3 in their malicious one, which nobody has here: `replicated-malicious` stands in their column.

use super::experiment::{Experiment, NOTHING, Paper, Part, Printed};
use super::links::Links;
use crate::bench::spec::BenchArgs;
use crate::bench::workload::{Model, Workload};
use tacit::protocol;

pub(in crate::bench) const ASTRA: Paper = Paper {
    name: "astra",
    options: "--paper",
    title: "Chaudhari et al. 2019, on links held to the paper's round trips and bandwidths",
    repeat: 1,
    experiments,
    printed: Vec::new,
    operations: |_| Vec::new(),
    costs: Vec::new,
    compared: |_, _| Ok(Vec::new()),
    plots: |_| Vec::new(),
};

const LAN_RTT: [f64; 3] = [0.47e-3; 3];
const WAN_RTT: [f64; 3] = [201.928e-3, 81.736e-3, 229.792e-3];
const LAN: Links = Links::Pairs { name: "LAN", rtt: LAN_RTT, bits: [1e9; 3] };
const WAN: Links = Links::Pairs { name: "WAN", rtt: WAN_RTT, bits: [25e6; 3] };
/// Those of table 10.
const SLOW_LAN: Links =
    Links::Pairs { name: "LAN, P0-P2 at 100 Mbit/s", rtt: LAN_RTT, bits: [1e9, 1e9, 1e8] };
const SLOW_WAN: Links =
    Links::Pairs { name: "WAN, P0-P2 at 10 Mbit/s", rtt: WAN_RTT, bits: [25e6, 25e6, 10e6] };

/// The protocols, in the order of the tables' columns.
const PROTOCOLS: [&str; 4] = ["replicated", "astra", "replicated-malicious", "astra-malicious"];

/// What protocols with a way of their own to compare are asked for, besides.
const GARBLED: &str = "comparison=garbled";

const LINEAR: Model = Model::Score;
const SIGN: Model = Model::LogisticSign;

/// Features of the predictions in the tables.
const FEATURES: usize = 784;

const fn predict(model: Model, rows: usize) -> Workload {
    Workload::Predict { model, rows, features: FEATURES }
}

/// Seconds offline and online, kilobytes offline and online: a protocol's entry in tables 3, 4, 6 and 8.
type Latency = [f64; 4];

const AES: Workload = Workload::Aes { count: 1, shared_key: false };

/// Tables 3, 6 and 8.
const LATENCIES: [(&str, Workload, Links, [Latency; 4]); 6] = [
    (
        "table 3",
        AES,
        LAN,
        [
            [0.0, 0.2548, 0.0, 1.99],
            [0.48e-3, 0.2548, 0.66, 1.33],
            [1.44e-3, 0.26072, 8.06, 6.06],
            [2.37e-3, 0.24838, 10.72, 2.69],
        ],
    ),
    (
        "table 3",
        AES,
        WAN,
        [
            [0.0, 8.96, 0.0, 1.99],
            [0.23, 3.19, 0.66, 1.33],
            [0.71, 9.42, 8.06, 6.06],
            [0.88, 3.57, 10.72, 2.69],
        ],
    ),
    (
        "table 6",
        predict(LINEAR, 1),
        LAN,
        [
            [0.0, 0.62e-3, 0.0, 0.02],
            [0.52e-3, 0.61e-3, 0.01, 0.01],
            [1.61e-3, 1.56e-3, 73.5, 55.13],
            [2.56e-3, 1.07e-3, 128.63, 12.27],
        ],
    ),
    (
        "table 6",
        predict(LINEAR, 1),
        WAN,
        [
            [0.0, 0.23, 0.0, 0.02],
            [0.23, 0.09, 0.01, 0.01],
            [0.72, 0.70, 73.5, 55.13],
            [1.1, 0.44, 128.63, 12.27],
        ],
    ),
    (
        "table 8",
        predict(SIGN, 1),
        LAN,
        [
            [0.0, 3.48e-3, 0.0, 0.07],
            [0.54e-3, 1.58e-3, 0.01, 0.04],
            [1.63e-3, 4.42e-3, 73.7, 55.3],
            [2.57e-3, 2.53e-3, 129.0, 12.4],
        ],
    ),
    (
        "table 8",
        predict(SIGN, 1),
        WAN,
        [
            [0.0, 1.61, 0.0, 0.07],
            [0.23, 0.55, 0.01, 0.04],
            [0.72, 2.08, 73.7, 55.3],
            [1.1, 0.98, 129.0, 12.4],
        ],
    ),
];

/// Table 4, on the LAN and on the WAN: a protocol, whether it is sharing or else opening, and what is printed. The rows of
/// malicious sharing are those of fair outputs, too.
const TABLE_4: [(&str, Part, [Latency; 2]); 5] = [
    ("astra", Part::Sharing, [[0.0, 0.47e-3, 0.01, 0.02], [0.0, 0.23, 0.01, 0.02]]),
    ("astra", Part::Opening, [[0.0, 0.47e-3, 0.0, 0.05], [0.0, 0.23, 0.0, 0.05]]),
    ("astra-malicious", Part::Sharing, [[0.47e-3, 0.47e-3, 0.02, 0.03], [0.23, 0.23, 0.02, 0.03]]),
    ("astra-malicious", Part::Opening, [[0.0, 0.47e-3, 0.0, 0.09], [0.0, 0.23, 0.0, 0.09]]),
    ("astra-fair", Part::Opening, [[0.47e-3, 1.91e-3, 0.25, 0.19], [0.23, 0.77, 0.25, 0.19]]),
];

const fn latency([offline_seconds, seconds, offline_kilobytes, kilobytes]: Latency) -> Printed {
    Printed {
        offline_seconds: Some(offline_seconds),
        seconds: Some(seconds),
        offline_bytes: Some(1024.0 * offline_kilobytes),
        bytes: Some(1024.0 * kilobytes),
        ..NOTHING
    }
}

const fn throughput(per_second: f64) -> Printed {
    Printed { per_second: Some(per_second), ..NOTHING }
}

/// Tables 5, 7, 9 and 10: what is printed for each protocol, a second on the LAN and a minute on the WAN. Of so many times
/// less.
fn throughputs(less: usize) -> Vec<(&'static str, Workload, Links, [Option<f64>; 4])> {
    let all = |rates: [f64; 4], per: f64| rates.map(|rate| Some(rate / per));
    let malicious = |theirs: f64, ours: f64, per: f64| [None, None, Some(theirs / per), Some(ours / per)];
    let many = |usual: usize| (usual / less).max(2);
    let blocks = Workload::Aes { count: many(10_000), shared_key: false };
    let ands = Workload::And { count: many(500_000) * 20, depth: 20 };
    let mut rows = vec![
        ("table 5", blocks, LAN, all([3296.7, 3296.7, 3221.85, 3381.91], 1.0)),
        ("table 5", ands, WAN, all([8.71e6, 13.1e6, 2.9e6, 4.34e6], 1.0)),
        ("table 7", predict(LINEAR, many(2000)), LAN, all([0.645e6, 0.656e6, 0.007e6, 0.010e6], 1.0)),
        ("table 7", predict(LINEAR, many(200)), WAN, all([0.104e6, 0.267e6, 0.010e6, 0.016e6], 60.0)),
        ("table 9", predict(SIGN, many(2000)), LAN, all([0.115e6, 0.253e6, 0.007e6, 0.010e6], 1.0)),
        ("table 9", predict(SIGN, many(200)), WAN, all([0.015e6, 0.044e6, 0.010e6, 0.016e6], 60.0)),
    ];
    for model in [LINEAR, SIGN] {
        rows.push(("table 10", predict(model, many(100)), SLOW_LAN, malicious(0.001e6, 0.010e6, 1.0)));
        rows.push(("table 10", predict(model, many(100)), SLOW_WAN, malicious(0.004e6, 0.016e6, 60.0)));
    }
    rows
}

/// Figures 12 to 15, of which no figures are printed.
fn drawn(quick: bool) -> Vec<(&'static str, Workload, Links)> {
    let depths = if quick { vec![10] } else { vec![1, 10, 20, 40, 80] };
    let ands = depths.into_iter().map(|depth| ("figure 12", Workload::And { count: depth, depth }, WAN));
    let mut all: Vec<_> = ands.collect();
    let rows = if quick { 2 } else { 100 };
    for (figure, model, nets) in [
        ("figure 13", LINEAR, [LAN, WAN]),
        ("figure 14", SIGN, [LAN, WAN]),
        ("figure 15", SIGN, [SLOW_LAN, SLOW_WAN]),
    ] {
        for features in if quick { vec![500] } else { vec![500, 1000, 2500] } {
            all.extend(nets.map(|net| (figure, Workload::Predict { model, rows, features }, net)));
        }
    }
    all
}

/// All of them, with rows and ANDs so many that a run takes a second or a few.
fn experiments(args: &BenchArgs) -> Vec<Experiment> {
    let latencies = LATENCIES.map(|(table, what, net, printed)| (table, what, net, printed.map(latency)));
    let throughputs = throughputs(if args.quick { 100 } else { 1 }).into_iter();
    let throughputs = throughputs.map(|(table, what, net, printed)| {
        (table, what, net, printed.map(|rate| rate.map_or(NOTHING, throughput)))
    });
    let drawn = drawn(args.quick).into_iter().map(|(figure, what, net)| (figure, what, net, [NOTHING; 4]));
    let mut all = Vec::new();
    for (table, what, net, printed) in latencies.into_iter().chain(throughputs).chain(drawn) {
        // A small version has one run on slow links, to see that they work.
        if args.quick && table != "figure 12" && net.round_trips() != Some(LAN_RTT) {
            continue;
        }
        let compares = matches!(what, Workload::Predict { model: SIGN, .. });
        for (name, printed) in PROTOCOLS.into_iter().zip(printed) {
            let garbled = format!("{name} {GARBLED}");
            let garbled = Some(garbled).filter(|name| compares && protocol(name).is_ok());
            let names = [Some(name.to_owned()), garbled].into_iter().flatten();
            all.extend(names.map(|name| Experiment::new(table, &name, what, Some(net), printed)));
        }
    }
    for (place, net) in [LAN, WAN].into_iter().enumerate() {
        let block = Workload::Wires { count: 1 };
        all.extend(TABLE_4.map(|(protocol, part, printed)| Experiment {
            part,
            ..Experiment::new("table 4", protocol, block, Some(net), latency(printed[place]))
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit::advanced::net::Profile;

    #[test]
    fn networks_are_read_as_they_are_meant() {
        for links in [LAN, SLOW_LAN, WAN, SLOW_WAN] {
            let Links::Pairs { rtt, bits, .. } = links else { panic!("each pair has its own") };
            let text = Links::to_toml(rtt, bits);
            assert!(Profile::parse(&text).is_ok(), "{text}");
        }
        assert!(Links::to_toml(WAN_RTT, [25e6; 3]).contains("81.736ms,25mbit"));
    }

    #[test]
    fn every_experiment_is_in_layers() {
        let work = |less, quick| {
            let throughputs = throughputs(less).into_iter().map(|(table, what, ..)| (table, what));
            throughputs.chain(drawn(quick).into_iter().map(|(figure, what, _)| (figure, what)))
        };
        for (table, what) in work(1, false).chain(work(100, true)) {
            let (count, _) = what.counted();
            assert!(count > 0 && count.is_multiple_of(what.depth()), "{table}");
        }
    }
}
