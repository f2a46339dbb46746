//! Keller et al. 2016, sections 6.1 and 6.3: triples on a LAN and on slow links, what they send, and a Vickrey auction.
//!
//! The paper has a machine of eight cores for each party, and counts no setup. Here a run makes as many triples as it has
//! products, with their inputs' masks, and its time and bytes are those of the whole offline phase: base OTs, the key, the
//! base of vector OLE in each lane. A lane is what a thread is there. The paper's LAN has links of 1 or 2 Gbit/s to each
//! party, however many others there are, and so has this one: those of a pair carry their part. It names no round trip; here
//! it is 0.47 ms.
//!
//! The bids of figure 6 are given by a client, for all bidders.
//!
//! Parties share the machine's cores. Where these are slower than the links, the share of the link shows it.
//!
//! Table 2's fields of 64, 256 and 512 bits, and the binary one of 128, are made by no protocol: `tacit bench triples --field
//! fp256` makes their triples and holds them to the bytes that stand here. So it does with the passive variant that section 6.1
//! compares with (`--passive`).

use super::experiment::{Experiment, NOTHING, Paper, Part, Printed, Run, Sent};
use super::links::Links;
use crate::bench::plot::{Line, Plot};
use crate::bench::spec::BenchArgs;
use crate::bench::workload::{Ring, Workload};
use tacit::program::Modulus;
use tacit_mascot::{BATCH, batch_size, cost};
use tacit_ot::copee::Field;
use tacit_ot::{Params, Security};

pub(in crate::bench) const MASCOT: Paper = Paper {
    name: "mascot",
    options: "--paper",
    title: "Keller et al. 2016, on links held to the paper's bandwidths",
    repeat: 1,
    experiments,
    printed,
    operations: |_| Vec::new(),
    costs,
    compared: |_, _| Ok(Vec::new()),
    plots,
};

const PROTOCOL: &str = "mascot";

/// Triples of a run: twenty full batches.
const TRIPLES: usize = 20 * BATCH;

/// Parties of figure 4, with links that carry 1 Gbit/s of each party's together, and what the paper prints in its text for
/// the most threads.
const PARTIES: [(usize, Links, Option<f64>); 4] = [
    (2, Links::Alike("0.47ms,1gbit"), Some(4828.0)),
    (3, Links::Alike("0.47ms,500mbit"), None),
    (4, Links::Alike("0.47ms,333.333333mbit"), None),
    (5, Links::Alike("0.47ms,250mbit"), Some(1000.0)),
];

/// Lanes of figure 4; the paper has 1, 10 and 100 threads.
const LANES: [u16; 3] = [1, 2, 4];

/// The paper's figure for one thread of each of two parties.
const ONE_THREAD: f64 = 2000.0;

/// Links, megabits a second, and what the paper has for two parties: triples a second, and how many the link carries at most.
type Network = (Links, f64, f64, f64);

/// Networks of figure 5. The first has a round trip of 100 ms.
const NETWORKS: [Network; 3] = [
    (Links::Alike("100ms,50mbit"), 50.0, 241.0, 275.0),
    (Links::Alike("0.47ms,1gbit"), 1000.0, 4828.0, 5500.0),
    (Links::Alike("0.47ms,2gbit"), 2000.0, 9515.0, 11_000.0),
];

/// Five parties on links of 2 Gbit/s together, and what the paper's text has for them.
const FIVE: (Links, f64) = (Links::Alike("0.47ms,500mbit"), 1600.0);

/// Bids of figure 6.
const BIDS: [usize; 4] = [3, 10, 100, 1000];

/// What the paper sends for a triple, in 1000 bits on each of n (n - 1) links, in a field; and for an input, on each of n - 1.
const TABLE_2: [(Field, f64, f64); 4] = [
    (Field::Prime64, 53.25, 4.16),
    (Field::Prime, 180.22, 16.51),
    (Field::Prime256, 622.59, 65.79),
    (Field::Prime512, 2293.76, 262.66),
];

/// What the passive variant sends for a triple of so many, `lambda k + k^2` bits.
const PASSIVE: f64 = 32.768;

/// How much of it is run.
struct Extent {
    triples: usize,
    /// Of [`PARTIES`], [`LANES`] and [`BIDS`] so many of the first.
    parties: usize,
    lanes: usize,
    bids: usize,
    /// Whether five parties are on faster links, too, and figures mean something beside the paper's.
    whole: bool,
}

const WHOLE: Extent = Extent { triples: TRIPLES, parties: 4, lanes: 3, bids: 4, whole: true };
const QUICK: Extent = Extent { triples: 40, parties: 2, lanes: 2, bids: 1, whole: false };

/// Parts of one run follow one another.
fn experiments(args: &BenchArgs) -> Vec<Experiment> {
    let extent = if args.quick { QUICK } else { WHOLE };
    let lanes = &LANES[..extent.lanes];
    let most = lanes[lanes.len() - 1];
    let triples = |table, parties, lanes, links, printed: Printed| Experiment {
        parties: Some(parties),
        lanes,
        part: Part::Offline,
        ..Experiment::new(
            table,
            PROTOCOL,
            Workload::Mul { ring: Ring(Modulus::Prime128), count: extent.triples, depth: 1 },
            Some(links),
            if extent.whole { printed } else { NOTHING },
        )
    };
    let per_second = |per_second| Printed { per_second, ..NOTHING };
    let network = |table, (links, _, actual, most_there): Network| {
        let printed = Printed { link_percent: Some(100.0 * actual / most_there), ..per_second(Some(actual)) };
        triples(table, 2, most, links, printed)
    };
    let mut all = Vec::new();
    for &(parties, links, printed) in &PARTIES[..extent.parties] {
        for &lanes in lanes {
            let printed = match (parties, lanes) {
                (2, 1) => Some(ONE_THREAD),
                _ => printed.filter(|_| lanes == most),
            };
            all.push(triples("figure 4", parties, lanes, links, per_second(printed)));
        }
        // The last run of two parties is the LAN's, too.
        if parties == 2 {
            all.extend(["table 1", "figure 5"].map(|table| network(table, NETWORKS[1])));
        }
    }
    all.extend([NETWORKS[0], NETWORKS[2]].map(|slow| network("figure 5", slow)));
    if extent.whole {
        let (links, printed) = FIVE;
        all.push(triples("figure 5", 5, most, links, per_second(Some(printed))));
    }
    all.extend(BIDS[..extent.bids].iter().map(|&bids| Experiment {
        parties: Some(2),
        ..Experiment::new("figure 6", PROTOCOL, Workload::Auction { bids }, Some(NETWORKS[1].0), NOTHING)
    }));
    all
}

/// Table 1's other rows, in the prime field.
fn printed() -> Vec<(String, Printed)> {
    let row = |name: &str, per_second| {
        (format!("table 1: {name}, of 2"), Printed { per_second: Some(per_second), ..NOTHING })
    };
    vec![row("SPDZ, active", 23.5), row("SPDZ, covert", 204.0), row("MASCOT", 4842.0)]
}

/// Tables 1 and 2: triples of full batches, and input tuples that are made with as many others as a batch has values.
fn costs() -> Vec<Sent> {
    let params = Params::DEFAULT;
    let kbit = |bytes: u64, count: usize| 8e-3 * bytes as f64 / count as f64;
    let triple = |field| kbit(cost::triples_bytes(field, &params, batch_size(field)), batch_size(field));
    let input = |field, count| kbit(cost::inputs_bytes(field, &params, count, count), count);
    let (few, many) = (1000, 5 * BATCH);
    let transfer: f64 = params.bits_per_ot(true).iter().sum();
    let mut rows = vec![Sent {
        table: "section 6.1",
        name: "an oblivious transfer, whose receiver chooses".into(),
        kbit: Some(1e-3 * transfer),
        paper_kbit: 0.128,
    }];
    for n in 2..=5_u32 {
        let links = f64::from(n * (n - 1));
        let spdz = [("SPDZ, active", 215.0), ("SPDZ, covert", 66.0)];
        rows.extend(spdz.map(|(name, kbit)| Sent {
            table: "table 1",
            name: format!("a product of {name}, {n} parties"),
            kbit: None,
            paper_kbit: kbit * links,
        }));
        rows.push(Sent {
            table: "table 1",
            name: format!("a product, {n} parties"),
            kbit: Some(triple(Field::Prime) * links),
            paper_kbit: 180.0 * links,
        });
    }
    let passive = Params::new(params.height(), Security::SemiHonest).unwrap_or(params);
    for (field, paper_triple, paper_input) in TABLE_2 {
        let bits = field.bits();
        for n in 2..=5_u32 {
            let (links, others) = (f64::from(n * (n - 1)), f64::from(n - 1));
            let mut row = |what: &str, kbit: f64, paper_kbit| {
                let name = format!("{what} of {bits} bits, {n} parties");
                rows.push(Sent { table: "table 2", name, kbit: Some(kbit), paper_kbit });
            };
            row("a triple", triple(field) * links, paper_triple * links);
            row("an input", input(field, few) * others, paper_input * others);
            if field == Field::Prime {
                row("one of many inputs", input(field, many) * others, paper_input * others);
                row("a binary triple", triple(Field::Binary) * links, paper_triple * links);
                row("a binary input", input(Field::Binary, few) * others, paper_input * others);
                let one = kbit(cost::passive_bytes(field, &passive, BATCH), BATCH);
                row("a passive triple", one * links, PASSIVE * links);
            }
        }
    }
    rows
}

fn plots(runs: &[Run]) -> Vec<(&'static str, Plot<'static>)> {
    let of = |table: &'static str| runs.iter().filter(move |run| run.table == table);
    let line = |name, points| Line { name, points };
    let in_lanes = |lanes| {
        let runs = of("figure 4").filter(move |run| run.lanes == lanes);
        runs.map(|run| (run.parties as f64, run.per_second)).collect::<Vec<_>>()
    };
    let names = ["here, one lane", "here, two lanes", "here, four lanes"];
    let paper = PARTIES.iter().filter_map(|&(parties, _, printed)| Some((parties as f64, printed?)));
    let here = names.into_iter().zip(LANES).map(|(name, lanes)| line(name, in_lanes(lanes)));
    let figure_4 = Plot {
        title: "Triples of 128-bit numbers (Keller et al. 2016, figure 4)",
        x: "parties",
        y: "triples a second",
        lines: here
            .filter(|line| !line.points.is_empty())
            .chain([line("paper, 100 threads", paper.collect())])
            .collect(),
    };
    let on = |point: fn(&Run) -> Option<f64>| {
        let networks = NETWORKS.into_iter().filter_map(|(links, mbit, ..)| {
            let run =
                of("figure 5").find(|run| run.parties == 2 && run.net.as_deref() == Some(links.name()))?;
            Some((mbit, point(run)?))
        });
        networks.collect()
    };
    let figure_5 = Plot {
        title: "Triples between two parties (Keller et al. 2016, figure 5)",
        x: "megabits a second",
        y: "triples a second",
        lines: vec![
            line("here", on(|run| Some(run.per_second))),
            line("here, as the link carries", on(|run| Some(100.0 * run.per_second / run.link_percent?))),
            line("paper", NETWORKS.map(|(_, mbit, actual, _)| (mbit, actual)).to_vec()),
            line("paper, as the link carries", NETWORKS.map(|(_, mbit, _, most)| (mbit, most)).to_vec()),
        ],
    };
    let auction = |time: fn(&Run) -> f64| of("figure 6").map(|run| (run.count as f64, time(run))).collect();
    let figure_6 = Plot {
        title: "A Vickrey auction between two parties (Keller et al. 2016, figure 6)",
        x: "bids",
        y: "seconds",
        lines: vec![
            line("offline", auction(|run| run.offline_seconds)),
            line("online", auction(|run| run.seconds)),
        ],
    };
    vec![
        ("mascot-figure-4.svg", figure_4),
        ("mascot-figure-5.svg", figure_5),
        ("mascot-figure-6.svg", figure_6),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2's formula, with tau = 3 from 128 bits on and 4 below. Its row of 64 bits has OTs of as many.
    #[test]
    fn table_2_is_as_its_formula() {
        for (field, triple, input) in TABLE_2 {
            let (k, tau) = (field.bits() as f64, if field.bits() < 128 { 4.0 } else { 3.0 });
            let kbit = (tau * k.min(128.0) * k + (tau + 5.0) * k * k) / 1000.0;
            assert!((kbit - triple).abs() < 0.01, "{field:?}: {kbit}");
            assert!(((k * k + k) / 1000.0 - input).abs() < 0.01, "{field:?}");
        }
    }

    #[test]
    fn links_of_a_party_carry_the_same_together() {
        for (parties, links, _) in PARTIES {
            assert!((links.gbit(parties).expect("all are alike") - 1.0).abs() < 1e-6, "{parties}");
        }
        assert!((FIVE.0.gbit(5).expect("all are alike") - 2.0).abs() < 1e-9);
    }
}
