//! `tacit bench li`: the experiments of Li et al. 2023 with ANDs and AES, section 6.3, and with their fields, appendix E.1.
//!
//! The paper has every protocol on three machines of a LAN, and with 80 Mbit/s and 40 ms of latency each way between
//! them. Here all parties are on this machine: over loopback, and over links that are held to the same bandwidth and
//! latency. Megabytes are of all parties together, here as there.

use super::measure_and_tell;
use super::party::Bench;
use super::spec::{BenchArgs, What};
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, seconds};
use serde::Serialize;
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::{self, Gf64};
use tacit_kernel::{Element, fp61, ring};

/// Protocols, with the column of the paper that each is to be held against.
const PROTOCOLS: [(&str, usize); 5] = [
    ("replicated", 0),
    ("replicated-malicious", 1),
    ("replicated-malicious proofs=li-2023", 1),
    ("replicated-malicious challenges=fiat-shamir proofs=li-2023", 1),
    ("replicated-malicious proofs=boyle-2019", 2),
];

/// The paper's columns.
const COLUMNS: [&str; 4] = ["Semi", "Ours", "BGIN19", "FLNW17"];

/// The paper's WAN: 40 ms each way.
const WAN: &str = "80ms,80mbit";

/// ANDs of table 2, and blocks of AES of table 3.
const ANDS: usize = 64_000_000;
const BLOCKS: usize = 10_000;

/// A row of table 2, or table 3: seconds of each column.
#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    /// Layers of ANDs; `None` for AES.
    depth: Option<usize>,
    lan: [f64; 4],
    wan: [f64; 4],
    megabytes: [f64; 4],
}

const TABLE_2_MEGABYTES: [f64; 4] = [24.0, 24.8, 24.57, 224.16];

const fn layers(depth: usize, lan: [f64; 4], wan: [f64; 4]) -> Row {
    Row { depth: Some(depth), lan, wan, megabytes: TABLE_2_MEGABYTES }
}

const TABLE_2: [Row; 5] = [
    layers(1, [0.12, 1.15, 3.42, 0.95], [2.97, 3.31, 5.67, 11.74]),
    layers(10, [0.12, 1.14, 3.78, 0.90], [2.18, 2.58, 4.61, 11.41]),
    layers(100, [0.12, 1.14, 3.84, 0.91], [5.18, 5.85, 6.78, 14.94]),
    layers(1000, [0.18, 1.16, 3.87, 0.96], [41.05, 41.83, 42.76, 51.05]),
    layers(10_000, [0.70, 1.36, 4.05, 1.50], [401.60, 402.47, 403.35, 412.35]),
];

const TABLE_3: Row = Row {
    depth: None,
    lan: [0.04, 1.08, 3.83, 0.86],
    wan: [3.86, 4.77, 5.75, 14.98],
    megabytes: [24.0, 24.81, 24.57, 224.39],
};

/// Depths from which on the WAN's runs take minutes: they are left out unless `--deep` asks for them.
const DEEP: usize = 1000;

/// A run of ours: the median.
#[derive(Clone, Debug, Serialize)]
struct Run {
    protocol: &'static str,
    /// What the links are held to; loopback if nothing.
    net: Option<&'static str>,
    /// Layers of ANDs; `None` for AES.
    depth: Option<usize>,
    /// ANDs, or blocks.
    count: usize,
    seconds: f64,
    all_seconds: Vec<f64>,
    /// Payload of all parties together.
    megabytes: f64,
    /// What the paper's column has.
    paper_seconds: Option<f64>,
    paper_megabytes: Option<f64>,
}

/// A row of table 5: seconds of so many operations on one core.
#[derive(Clone, Copy, Debug, Serialize)]
struct Operation {
    field: &'static str,
    name: &'static str,
    count: usize,
    seconds: f64,
    /// For 10^8.
    paper_seconds: f64,
}

/// All that `--paper` says; the fields are the keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
struct Experiments {
    bench: &'static str,
    transport: &'static str,
    repeat: usize,
    /// Tables 2 and 3.
    runs: Vec<Run>,
    /// Table 5.
    fields: Vec<Operation>,
    /// Tables 2 and 3 as printed, with the columns' names.
    columns: [&'static str; 4],
    paper: Vec<Row>,
    version: &'static str,
}

pub(super) fn li(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if !args.experiment.paper {
        return Err(Failure::usage("bench li takes --paper"));
    }
    let repeat = args.repeat(1);
    let paper: Vec<Row> = TABLE_2.into_iter().chain([TABLE_3]).collect();
    let mut runs = Vec::new();
    for net in [None, Some(WAN)] {
        for row in paper.iter().filter(|row| wanted(row, net, args)) {
            for (protocol, column) in PROTOCOLS {
                runs.push(Run::measure(context, args, row, (protocol, column), net, repeat)?);
            }
        }
    }
    let found = Experiments {
        bench: "li",
        transport: args.transport.name(),
        repeat,
        runs,
        fields: fields(if args.quick { 10_000 } else { 100_000_000 }),
        columns: COLUMNS,
        paper,
        version: env!("CARGO_PKG_VERSION"),
    };
    if context.json { context.line(&json!(found).to_string()) } else { context.line(&found.to_text()) }
}

/// Whether a row is measured: on the slow network deep circuits take minutes each, and only `--deep` has them.
fn wanted(row: &Row, net: Option<&str>, args: &BenchArgs) -> bool {
    let depth = row.depth.unwrap_or(0);
    match net {
        _ if args.quick => depth <= 10,
        None => true,
        Some(_) => depth < DEEP || args.experiment.deep,
    }
}

impl Run {
    fn measure(
        context: &mut Context<'_>,
        args: &BenchArgs,
        row: &Row,
        (protocol, column): (&'static str, usize),
        net: Option<&'static str>,
        repeat: usize,
    ) -> Result<Self, Failure> {
        let ands = args.count_or(10_000, ANDS);
        let (what, full) = if let Some(depth) = row.depth {
            // Whole layers, all of one width.
            (What::And { count: ands.div_ceil(depth) * depth, depth }, ands == ANDS)
        } else {
            let count = (ands * BLOCKS).div_ceil(ANDS);
            (What::Aes { count, shared_key: false }, count == BLOCKS)
        };
        let spec = args.spec_under(protocol.to_owned(), net.map(str::to_owned), what, 1)?;
        let name = name(row.depth, net, protocol);
        let (median, all_seconds) = measure_and_tell(context, &name, &Bench::new(spec)?, repeat)?;
        let paper = |of: [f64; 4]| full.then_some(of[column]);
        Ok(Self {
            protocol,
            net,
            depth: row.depth,
            count: median.count,
            seconds: median.seconds,
            all_seconds,
            megabytes: 1e-6 * median.sent_bytes.iter().sum::<u64>() as f64,
            paper_seconds: paper(if net.is_some() { row.wan } else { row.lan }),
            paper_megabytes: paper(row.megabytes),
        })
    }
}

/// What a run is of.
fn name(depth: Option<usize>, net: Option<&str>, protocol: &str) -> String {
    let what = match depth {
        Some(1) => "ANDs in 1 layer".to_owned(),
        Some(depth) => format!("ANDs in {} layers", bytes(depth as u64)),
        None => "blocks of AES-128".to_owned(),
    };
    format!("{what}, {}, {protocol}", net.unwrap_or("loopback"))
}

impl Experiments {
    fn to_text(&self) -> String {
        let head = ["tables 2 and 3", "count", "time", "MB", "paper's time", "paper's MB"];
        let mut table = Table::new(head.map(str::to_owned));
        for run in &self.runs {
            let paper = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
            table.row([
                format!("  {}", name(run.depth, run.net, run.protocol)),
                bytes(run.count as u64),
                seconds(run.seconds),
                format!("{:.2}", run.megabytes),
                run.paper_seconds.map_or_else(String::new, seconds),
                paper(run.paper_megabytes),
            ]);
        }
        let head = ["table 5, one core", "count", "time", "paper's time for 10^8"];
        let mut fields = Table::new(head.map(str::to_owned));
        for row in &self.fields {
            let name = format!("  {}, {}", row.field, row.name);
            fields.row([name, bytes(row.count as u64), seconds(row.seconds), seconds(row.paper_seconds)]);
        }
        format!(
            "Li et al. 2023, here all parties on one machine over {}; medians of {} run{}; the traffic is as \
             declared\n{table}\n{fields}",
            self.transport,
            self.repeat,
            if self.repeat == 1 { "" } else { "s" },
        )
    }
}

/// Elements of a vector in table 5: as many operations as are wanted are done again and again on them, in cache.
const ELEMENTS: usize = 10_000;

/// Table 5.
fn fields(count: usize) -> Vec<Operation> {
    let noise = |key: u8| {
        let mut words = vec![0_u64; ELEMENTS];
        Aes128Ctr::new(&[key; 16]).fill(0, 0, bytemuck::cast_slice_mut(&mut words));
        words
    };
    let binary = |key: u8| -> Vec<Gf64> { noise(key).into_iter().map(Gf64).collect() };
    let prime =
        |key: u8| -> Vec<Fp61> { noise(key).into_iter().map(|word| Fp61::from_u128(word.into())).collect() };
    let (mut a, b) = (binary(1), binary(2));
    let (mut c, d) = (prime(1), prime(2));
    let row = |field, name, paper_seconds, work: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..count / ELEMENTS).for_each(|_| work());
        Operation { field, name, count, seconds: start.elapsed().as_secs_f64(), paper_seconds }
    };
    let (mut binary, mut prime) = ([Gf64::ZERO], [Fp61::ZERO]);
    vec![
        row("GF(2^64)", "products", 0.76, &mut || gf64::mul_assign(black_box(&mut a), black_box(&b))),
        row("F_(2^61-1)", "products", 0.10, &mut || ring::mul_assign(black_box(&mut c), black_box(&d))),
        row("GF(2^64)", "inner product", 0.09, &mut || {
            gf64::inner_products(black_box(&a), black_box(&b), 1, black_box(&mut binary));
        }),
        row("F_(2^61-1)", "inner product", 0.08, &mut || {
            fp61::inner_products(black_box(&c), black_box(&d), 1, black_box(&mut prime));
        }),
    ]
}
