//! `tacit bench dnn --paper`: tables 1 and 4 of Li et al. 2023, networks asked in secret.
//!
//! All parties are on one machine, with a thread each; the paper has three machines with 32 cores, of which it uses one thread in
//! the LAN and 32 in the WAN. Here loopback is the LAN. Its networks are trained, ours have the same layers. Its protocol mixes
//! SPDZ-wise products with proofs of ANDs; here both have proofs.

use crate::bench::files::{Accuracy, Files, Folder};
use crate::bench::measure::measure_and_tell;
use crate::bench::party::Bench;
use crate::bench::profile::ands;
use crate::bench::result::Figures;
use crate::bench::spec::BenchArgs;
use crate::bench::workload::{Network, Workload};
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, seconds};
use serde::Serialize;
use serde_json::json;

/// What the paper prints of a network.
struct Printed {
    network: Network,
    /// Table 1: ANDs with probabilistic truncation, which isn't secure, and with exact truncation.
    ands: [u64; 2],
    /// Table 4, one thread in a LAN and 32 in a WAN, in seconds, and megabytes of all parties, as [`WAYS`] has them.
    lan: [f64; 3],
    wan: [f64; 3],
    megabytes: [f64; 3],
}

/// The paper's WAN: 40 ms each way. A quick look takes no minutes for its rounds.
const WAN: &str = "80ms,80mbit";
const QUICK_WAN: &str = "1ms,1gbit";

/// Our protocols, and what the paper calls what does the same.
const WAYS: [(&str, &str); 3] = [
    ("replicated", "Semi + Semi"),
    ("replicated-malicious proofs=boyle-2019", "SW + BGIN19"),
    ("replicated-malicious", "SW + Ours"),
];

const PAPER: [Printed; 3] = [
    Printed {
        network: Network::Resnet50,
        ands: [1_220_520_760, 4_339_682_635],
        lan: [89.68, 582.55, 372.97],
        wan: [544.15, 2096.17, 2048.89],
        megabytes: [7537.86, 27830.40, 27846.10],
    },
    Printed {
        network: Network::Densenet121,
        ands: [1_986_520_005, 5_511_885_885],
        lan: [63.42, 622.83, 375.72],
        wan: [713.42, 2096.17, 2070.69],
        megabytes: [8919.85, 31973.5, 31993.40],
    },
    Printed {
        network: Network::Squeezenet,
        ands: [615_161_565, 1_026_065_325],
        lan: [13.61, 106.20, 58.89],
        wan: [200.19, 455.29, 448.96],
        megabytes: [1403.22, 4812.76, 4816.58],
    },
];

/// A run of ours beside the paper's.
#[derive(Serialize)]
struct Run {
    model: String,
    protocol: &'static str,
    net: Option<String>,
    seconds: f64,
    /// Of all parties' processes.
    cpu_seconds: Option<f64>,
    bytes: u64,
    rounds: u64,
    ands: u64,
    accuracy: Option<Accuracy>,
    paper_name: &'static str,
    paper_seconds: f64,
    paper_megabytes: f64,
}

/// Runs all ways of all networks, or of one, on loopback and on the paper's slow links, or on those of the command line.
pub(super) fn paper(
    context: &mut Context<'_>,
    args: &BenchArgs,
    only: Option<Network>,
) -> Result<(), Failure> {
    if only == Some(Network::Mlp) {
        return Err(Failure::usage("bench dnn --paper: the paper hasn't mlp"));
    }
    let nets = match &args.net {
        Some(net) => vec![Some(net.clone())],
        None => vec![None, Some(if args.quick { QUICK_WAN } else { WAN }.to_owned())],
    };
    let mut runs = Vec::new();
    let mut counted = Vec::new();
    for printed in PAPER.iter().filter(|printed| only.is_none_or(|only| only == printed.network)) {
        let what = Workload::Dnn { network: printed.network, rows: args.rows_or(1), weights: args.weights() };
        let folder = Folder::new(context, what, args.quick, args.seed())?;
        let ways = nets.iter().flat_map(|net| WAYS.into_iter().enumerate().map(move |way| (net, way)));
        for (net, (way, (protocol, paper_name))) in ways {
            let bench = bench(args, protocol, net.clone(), printed.network, folder.files())?;
            let model = printed.network.name();
            let plan_ands = bench.programs().map(|(program, times)| times * ands(program.plan())).sum();
            let told = format!("{model}, {protocol}, {}", links(net.as_deref()));
            let (figures, _) = measure_and_tell(context, &told, &bench, args.repeat(1))?;
            let paper_seconds = if net.is_some() { printed.wan[way] } else { printed.lan[way] };
            let paper_megabytes = printed.megabytes[way];
            runs.push(Run {
                paper_name,
                paper_seconds,
                paper_megabytes,
                ..run(model, protocol, net.clone(), &figures, plan_ands)
            });
        }
        counted.push((printed.network.name(), printed.ands));
    }
    if context.json {
        let ands: Vec<_> = counted.iter().map(|(model, [probabilistic, exact])| {
            json!({"model": model, "paper_probabilistic": probabilistic, "paper_exact": exact})
        }).collect();
        let object = json!({"bench": "dnn", "paper": "Li et al. 2023", "runs": runs, "ands": ands,
            "version": env!("CARGO_PKG_VERSION")});
        return context.line(&object.to_string());
    }
    context.line(&format!("{}\n{}", table_1(&runs, &counted), table_4(&runs)))
}

fn bench(
    args: &BenchArgs,
    protocol: &str,
    net: Option<String>,
    network: Network,
    files: Files,
) -> Result<Bench, Failure> {
    let what = Workload::Dnn { network, rows: args.rows_or(1), weights: args.weights() };
    let mut spec = args.spec_under(protocol.to_owned(), None, net, what, 1)?;
    spec.files = Some(files);
    Bench::new(spec)
}

fn run(model: String, protocol: &'static str, net: Option<String>, figures: &Figures, ands: u64) -> Run {
    Run {
        model,
        protocol,
        net,
        seconds: figures.seconds,
        cpu_seconds: figures.cpu_seconds.as_ref().map(|each| each.iter().sum()),
        bytes: figures.sent_bytes.iter().sum(),
        rounds: figures.rounds,
        ands,
        accuracy: figures.accuracy,
        paper_name: "",
        paper_seconds: 0.0,
        paper_megabytes: 0.0,
    }
}

fn table_1(runs: &[Run], counted: &[(String, [u64; 2])]) -> Table {
    let head = ["table 1: ANDs", "replicated", "replicated-malicious", "paper, exact", "paper, not exact"];
    let mut table = Table::new(head.map(str::to_owned));
    for (model, [probabilistic, exact]) in counted {
        let of = |protocol: &str| {
            let found = runs.iter().find(|run| run.model == *model && run.protocol == protocol);
            found.map(|run| bytes(run.ands)).unwrap_or_default()
        };
        let paper = [*exact, *probabilistic].map(bytes);
        table.row([model.clone(), of(WAYS[0].0), of(WAYS[2].0)].into_iter().chain(paper));
    }
    table
}

fn table_4(runs: &[Run]) -> Table {
    let head = [
        "table 4",
        "links",
        "time",
        "over semi-honest",
        "processors",
        "sent",
        "rounds",
        "largest error",
        "paper",
        "paper's time",
        "over semi-honest",
        "paper's bytes",
    ];
    let mut table = Table::new(head.map(str::to_owned));
    for run in runs {
        // The first way of the same network on the same links.
        let semi = runs.iter().find(|other| (&other.model, &other.net) == (&run.model, &run.net));
        let over =
            |of: fn(&Run) -> f64| semi.map(|semi| format!("{:.2}", of(run) / of(semi))).unwrap_or_default();
        table.row([
            format!("{}, {}", run.model, run.protocol),
            links(run.net.as_deref()).to_owned(),
            seconds(run.seconds),
            over(|run| run.seconds),
            run.cpu_seconds.map(seconds).unwrap_or_default(),
            format!("{:.1} MB", run.bytes as f64 / 1e6),
            run.rounds.to_string(),
            run.accuracy.map(|accuracy| format!("{:.3} %", 100.0 * accuracy.error)).unwrap_or_default(),
            run.paper_name.to_owned(),
            seconds(run.paper_seconds),
            over(|run| run.paper_seconds),
            format!("{:.1} MB", run.paper_megabytes),
        ]);
    }
    table
}

/// What links are called in tables.
fn links(net: Option<&str>) -> &str {
    net.unwrap_or("loopback")
}
