//! Li et al. 2023: ANDs and AES, section 6.3, and operations of their fields, appendix E.1.
//!
//! The paper has every protocol on three machines of a LAN, and with 80 Mbit/s and 40 ms of latency each way between
//! them. Here loopback is the LAN.

use super::experiment::{Experiment, NOTHING, Operation, Paper, Printed};
use super::links::Links;
use crate::bench::spec::BenchArgs;
use crate::bench::workload::Workload;
use std::hint::black_box;
use std::time::Instant;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::{self, Gf64};
use tacit_kernel::{Element, fp61, ring};

pub(in crate::bench) const LI: Paper = Paper {
    name: "li",
    options: "--paper",
    title: "Li et al. 2023",
    repeat: 1,
    experiments,
    printed: Vec::new,
    operations,
    costs: Vec::new,
    compared: |_, _| Ok(Vec::new()),
    plots: |_| Vec::new(),
};

/// Protocols, with the column of the paper that each is to be held against: Semi, Ours, BGIN19.
const PROTOCOLS: [(&str, usize); 5] = [
    ("replicated", 0),
    ("replicated-malicious", 1),
    ("replicated-malicious proofs=li-2023", 1),
    ("replicated-malicious challenges=fiat-shamir proofs=li-2023", 1),
    ("replicated-malicious proofs=boyle-2019", 2),
];

/// The paper's WAN: 40 ms each way.
const WAN: Links = Links::Alike("80ms,80mbit");

/// ANDs of table 2, and blocks of AES of table 3.
const ANDS: usize = 64_000_000;
const BLOCKS: usize = 10_000;

/// A row of table 2, or table 3: seconds and megabytes of each column.
struct Row {
    /// Layers of ANDs; `None` for AES.
    depth: Option<usize>,
    lan: [f64; 3],
    wan: [f64; 3],
    megabytes: [f64; 3],
}

const fn layers(depth: usize, lan: [f64; 3], wan: [f64; 3]) -> Row {
    Row { depth: Some(depth), lan, wan, megabytes: [24.0, 24.8, 24.57] }
}

const ROWS: [Row; 6] = [
    layers(1, [0.12, 1.15, 3.42], [2.97, 3.31, 5.67]),
    layers(10, [0.12, 1.14, 3.78], [2.18, 2.58, 4.61]),
    layers(100, [0.12, 1.14, 3.84], [5.18, 5.85, 6.78]),
    layers(1000, [0.18, 1.16, 3.87], [41.05, 41.83, 42.76]),
    layers(10_000, [0.70, 1.36, 4.05], [401.60, 402.47, 403.35]),
    Row { depth: None, lan: [0.04, 1.08, 3.83], wan: [3.86, 4.77, 5.75], megabytes: [24.0, 24.81, 24.57] },
];

/// Depths from which on the WAN's runs take minutes: they are left out unless `--deep` asks for them.
const DEEP: usize = 1000;

fn experiments(args: &BenchArgs) -> Vec<Experiment> {
    let ands = args.count_or(10_000, ANDS);
    let mut all = Vec::new();
    for links in [None, Some(WAN)] {
        for row in ROWS.iter().filter(|row| wanted(row, links, args)) {
            let (table, what, full) = if let Some(depth) = row.depth {
                // Whole layers, all of one width.
                ("table 2", Workload::And { count: ands.div_ceil(depth) * depth, depth }, ands == ANDS)
            } else {
                let count = (ands * BLOCKS).div_ceil(ANDS);
                ("table 3", Workload::Aes { count, shared_key: false }, count == BLOCKS)
            };
            let seconds = if links.is_some() { row.wan } else { row.lan };
            let printed = |column: usize| Printed {
                seconds: Some(seconds[column]),
                bytes: Some(1e6 * row.megabytes[column]),
                ..NOTHING
            };
            all.extend(PROTOCOLS.map(|(protocol, column)| {
                let printed = if full { printed(column) } else { NOTHING };
                Experiment::new(table, protocol, what, links, printed)
            }));
        }
    }
    all
}

/// Whether a row is measured: on the slow network deep circuits take minutes each, and only `--deep` has them.
fn wanted(row: &Row, links: Option<Links>, args: &BenchArgs) -> bool {
    let depth = row.depth.unwrap_or(0);
    match links {
        _ if args.quick => depth <= 10,
        None => true,
        Some(_) => depth < DEEP || args.experiment.deep,
    }
}

/// Elements of a vector in table 5: as many operations as are wanted are done again and again on them, in cache.
const ELEMENTS: usize = 10_000;

/// Table 5.
fn operations(quick: bool) -> Vec<Operation> {
    let count = if quick { 10_000 } else { 100_000_000 };
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
    let row = |name, paper_seconds, work: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..count / ELEMENTS).for_each(|_| work());
        Operation { table: "table 5", name, count, seconds: start.elapsed().as_secs_f64(), paper_seconds }
    };
    let (mut binary, mut prime) = ([Gf64::ZERO], [Fp61::ZERO]);
    vec![
        row("products in GF(2^64)", 0.76, &mut || gf64::mul_assign(black_box(&mut a), black_box(&b))),
        row("products in F_(2^61-1)", 0.10, &mut || ring::mul_assign(black_box(&mut c), black_box(&d))),
        row("inner product in GF(2^64)", 0.09, &mut || {
            gf64::inner_products(black_box(&a), black_box(&b), 1, black_box(&mut binary));
        }),
        row("inner product in F_(2^61-1)", 0.08, &mut || {
            fp61::inner_products(black_box(&c), black_box(&d), 1, black_box(&mut prime));
        }),
    ]
}
