//! Heath, Kolesnikov, Peceny 2021, section 8: branches with masked triples, against a triple for each AND of all arms, and MOTIF.
//!
//! What is run is the paper's circuit: arms of 30,000 ANDs and as many sums in ten layers, from 128 bits to as many. The bytes of
//! figure 11's runs are those of links' counters; figures 9, 10 and 12 are prices, which tests hold to the counters.
//!
//! Under MOTIF bytes depend on how arms are aligned, so that what the paper's own would send is counted by the layers
//! of 100 random circuits, and so is figure 8: the most ANDs that any arm has in each layer, and one for the input of
//! each branch; a choice for each of them and two bits for each AND. What is run as MOTIF has ANDs as early as they
//! can be, wherever the paper's generator put them, and opens less.

use super::experiment::{Compared, Experiment, NOTHING, Paper, Run};
use super::links::Links;
use crate::bench::instances::program;
use crate::bench::plot::{Line, Plot};
use crate::bench::random_circuit::branch;
use crate::bench::spec::{ARM_GATES, ARM_WIRES, BenchArgs};
use crate::bench::workload::Workload;
use crate::failure::Failure;
use std::sync::Arc;
use tacit::program::{Itemised, Phase};
use tacit::{Compiled, Local, price};
use tacit_ot::{Params, Security};

pub(in crate::bench) const GMW: Paper = Paper {
    name: "gmw",
    options: "--paper",
    title: "Heath et al. 2021, on links held to the paper's",
    repeat: 1,
    experiments,
    printed: Vec::new,
    operations: |_| Vec::new(),
    costs: Vec::new,
    compared,
    plots,
};

/// Trees of height 1 send what the paper's transfers do.
const MASKED: &str = "gmw ot-height=1";
const STANDARD: &str = "gmw ot-height=1 branching=standard";

const MOTIF: &str = "gmw ot-height=1 branching=motif";
/// Masks at full length, also where seeds would do.
const VECTORS: &str = "gmw ot-height=1 branching=masked-vectors";

/// ANDs of an arm where all is made small.
const QUICK_GATES: usize = 300;

/// Arms of figures 9 to 11.
const ARMS: [usize; 4] = [2, 4, 8, 16];

/// The paper's networks, and how much quicker masked triples are there with 16 arms than MOTIF, and than a triple for each AND.
const NETWORKS: [(&str, [f64; 2]); 3] =
    [("2ms,1gbit", [1.52, 1.81]), ("2ms,50mbit", [2.26, 7.43]), ("20ms,100mbit", [1.14, 2.04])];

/// How much more the paper's ways send before inputs, and in all, with 16 arms; ours first.
const GAINS: [[f64; 2]; 4] = [[1.0; 2], [2.96, 2.6], [2.96, 2.6], [14.4, 12.0]];

/// Parties of figure 12.
const PARTIES: std::ops::RangeInclusive<usize> = 4..=8;

/// Ways to make masks among few parties, beside standard evaluation.
const MASKS: [(usize, [(&str, &str); 3]); 2] = [
    (2, [("ours by seeds", MASKED), ("ours by vectors", VECTORS), ("standard", STANDARD)]),
    (3, [("ours by pairs of seeds", MASKED), ("ours by vectors", VECTORS), ("standard", STANDARD)]),
];

/// Circuits that are counted.
const CIRCUITS: u64 = 100;

/// A run's branch of so many arms.
fn what(arms: usize, quick: bool) -> Workload {
    let gates = if quick { QUICK_GATES } else { ARM_GATES };
    Workload::Branch { count: 1, arms, gates, wires: ARM_WIRES, seed: 1 }
}

fn experiments(args: &BenchArgs) -> Vec<Experiment> {
    let (arms, networks) =
        if args.quick { (&ARMS[1..2], &NETWORKS[..1]) } else { (&ARMS[..], &NETWORKS[..]) };
    let mut all = Vec::new();
    for &(net, _) in networks {
        for &arms in arms {
            for protocol in [MASKED, MOTIF, STANDARD] {
                let (what, links) = (what(arms, args.quick), Links::Alike(net));
                let experiment = Experiment::new("figure 11", protocol, what, Some(links), NOTHING);
                all.push(Experiment { parties: Some(2), ..experiment });
            }
        }
    }
    all
}

/// How arms are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branching {
    Masked,
    Motif,
    Standard,
}

/// One circuit of the paper's between two parties: ANDs of each layer of each arm.
struct Counted(Vec<Vec<usize>>);

impl Counted {
    fn new(arms: usize, gates: usize, seed: u64) -> Self {
        // Each circuit has arms of its own.
        Self((0..arms as u64).map(|arm| branch(gates, ARM_WIRES, seed << 8 | arm).ands).collect())
    }

    /// Choices of results: of all branches, and inside one another.
    fn choices(&self) -> [usize; 2] {
        let arms = self.0.len();
        [arms - 1, arms.next_power_of_two().ilog2() as usize].map(|branches| branches * ARM_WIRES as usize)
    }

    fn ands(&self) -> usize {
        self.0.iter().flatten().sum()
    }

    /// Random OTs in each direction.
    fn ots(&self, branching: Branching) -> usize {
        let ([all, inside], branches) = (self.choices(), self.0.len() - 1);
        let longest = self.0.iter().map(|arm| arm.iter().sum::<usize>()).max().unwrap_or(0);
        match branching {
            Branching::Masked => longest + inside + branches,
            Branching::Motif => {
                let widest = |layer: usize| self.0.iter().map(|arm| arm[layer]).max().unwrap_or(0);
                (0..self.0[0].len()).map(widest).sum::<usize>() + branches
            }
            Branching::Standard => self.ands() + all,
        }
    }

    /// Bytes that a party sends before inputs under MOTIF, with trees of a height.
    fn offline(&self, height: usize) -> f64 {
        let Some(params) = Params::new(height, Security::SemiHonest) else { return f64::NAN };
        let sent = |[sender, receiver]: [u64; 2]| (sender + receiver) as f64;
        sent(params.setup_bytes()) + sent(params.extension_bytes(self.ots(Branching::Motif), false))
    }

    /// Bytes that it sends on inputs: a choice for each transfer, and two bits for each AND, those of inputs too.
    fn online(&self) -> f64 {
        let [all, _] = self.choices();
        (self.ots(Branching::Motif) + 2 * (self.ands() + all)) as f64 / 8.0
    }
}

fn mean(all: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = all.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
    sum / f64::from(count)
}

/// A branch of so many arms.
fn compiled(arms: usize, quick: bool) -> Result<Arc<Compiled>, Failure> {
    Ok(Compiled::new(program(what(arms, quick)).map_err(tacit::Error::from)?)?)
}

/// What it takes among so many parties.
fn priced(compiled: &Arc<Compiled>, protocol: &str, parties: usize) -> Result<Itemised, Failure> {
    Ok(price(compiled, protocol, &Local::among(protocol, parties)?.parties)?)
}

/// Bytes that a party sends before inputs and on them.
fn sent(cost: &Itemised) -> [f64; 2] {
    [Phase::Offline, Phase::Online].map(|phase| cost.total.phase(phase).sent_by(0) as f64)
}

fn compared(runs: &[Run], quick: bool) -> Result<Vec<Compared>, Failure> {
    let mut rows = Vec::new();
    let mut row = |table, name: String, here, paper: Option<f64>| {
        rows.push(Compared { table, name, here, paper: paper.filter(|_| !quick) });
    };
    let (circuits, gates) = if quick { (3, QUICK_GATES) } else { (CIRCUITS, ARM_GATES) };
    let counted = |arms| (0..circuits).map(|seed| Counted::new(arms, gates, seed)).collect::<Vec<_>>();

    let two = counted(2);
    let more =
        |branching| two.iter().map(move |one| one.ots(branching) as f64 / one.ots(Branching::Masked) as f64);
    let motif = || more(Branching::Motif);
    row("figure 8", "random OTs of MOTIF to ours, two arms".to_owned(), mean(motif()), Some(1.5));
    row("figure 8", "the same at best".to_owned(), motif().fold(f64::MAX, f64::min), Some(1.12));
    row("figure 8", "the same at worst".to_owned(), motif().fold(0.0, f64::max), Some(1.71));
    row("figure 8", "standard to ours".to_owned(), mean(more(Branching::Standard)), Some(2.0));

    // Of one circuit and as they are made: in whole items.
    let compiled = compiled(2, quick)?;
    for (name, protocol) in [("ours", MASKED), ("MOTIF", MOTIF), ("standard", STANDARD)] {
        let ots = priced(&compiled, protocol, 2)?.transfers as f64;
        row("figure 8", format!("random OTs of {name} in the run, two arms"), ots, None);
    }

    let arms = if quick { &ARMS[1..2] } else { &ARMS[..] };
    for &arms in arms {
        let counted = counted(arms);
        let compiled = self::compiled(arms, quick)?;
        for height in [1, 4] {
            let sent = |branching: &str| -> Result<[f64; 2], Failure> {
                let protocol = &format!("gmw ot-height={height} branching={branching}");
                Ok(sent(&priced(&compiled, protocol, 2)?))
            };
            let motif = |bytes: &dyn Fn(&Counted) -> f64| mean(counted.iter().map(bytes));
            let motif = [motif(&|one| one.offline(height)), motif(&Counted::online)];
            let ways = [
                ("ours", sent("masked")?),
                ("MOTIF, counted", motif),
                ("MOTIF, run", sent("motif")?),
                ("standard", sent("standard")?),
            ];
            for (name, [before, on]) in ways {
                let name =
                    |when: &str| format!("{name}, MB {when} inputs from each, {arms} arms, k={height}");
                row("figure 9", name("before"), 1e-6 * before, None);
                row("figure 9", name("on"), 1e-6 * on, None);
            }
            let ours = ways[0].1;
            for ((name, way), [before, in_all]) in ways.into_iter().zip(GAINS).skip(1) {
                let paper = |figure| Some(figure).filter(|_| (arms, height) == (16, 1));
                let name = |when: &str| format!("{name} to ours {when}, {arms} arms, k={height}");
                row("figure 10", name("before inputs"), way[0] / ours[0], paper(before));
                let sum = |[before, on]: [f64; 2]| before + on;
                row("figure 10", name("in all"), sum(way) / sum(ours), paper(in_all));
            }
        }
    }

    let widest = if quick { 4 } else { 16 };
    let compiled = self::compiled(widest, quick)?;
    let of_many =
        PARTIES.map(|parties| (parties, [("ours", MASKED), ("MOTIF", MOTIF), ("standard", STANDARD)]));
    for (parties, ways) in MASKS.into_iter().chain(of_many) {
        for (name, protocol) in ways {
            let name = format!("{name}, MB in all from each of {parties}, {widest} arms, k=1");
            row(
                "figure 12",
                name,
                1e-6 * sent(&priced(&compiled, protocol, parties)?).iter().sum::<f64>(),
                None,
            );
        }
    }

    for (net, gains) in NETWORKS {
        let seconds = |protocol: &str| {
            let mut all =
                runs.iter().filter(|run| run.net.as_deref() == Some(net) && run.protocol == protocol);
            let run = all.find(|run| run.what.contains(&format!("of {widest} arms")))?;
            Some(run.offline_seconds + run.seconds)
        };
        for ((name, protocol), gain) in [("MOTIF", MOTIF), ("standard", STANDARD)].into_iter().zip(gains) {
            if let (Some(ours), Some(theirs)) = (seconds(MASKED), seconds(protocol)) {
                let name = format!("{name}'s time to ours, {net}, {widest} arms");
                row("figure 11", name, theirs / ours, (!quick).then_some(gain));
            }
        }
    }
    Ok(rows)
}

fn plots(runs: &[Run]) -> Vec<(&'static str, Plot<'static>)> {
    const FILES: [(&str, &str); 3] = [
        ("gmw-figure-11-lan.svg", "Branches at 1 Gbit/s and 2 ms (Heath et al. 2021, figure 11)"),
        ("gmw-figure-11-shared.svg", "Branches at 50 Mbit/s and 2 ms (Heath et al. 2021, figure 11)"),
        ("gmw-figure-11-wan.svg", "Branches at 100 Mbit/s and 20 ms (Heath et al. 2021, figure 11)"),
    ];
    let line = |name, protocol: &str, net: &str| {
        let of = |run: &&Run| run.net.as_deref() == Some(net) && run.protocol == protocol;
        let arms = |run: &Run| ARMS.into_iter().find(|arms| run.what.contains(&format!("of {arms} arms")));
        let point = |run: &Run| Some((arms(run)? as f64, run.offline_seconds + run.seconds));
        Line { name, points: runs.iter().filter(of).filter_map(point).collect() }
    };
    let plot = |((net, _), (file, title)): ((&str, [f64; 2]), (&'static str, &'static str))| {
        let lines = vec![
            line("masked triples", MASKED, net),
            line("MOTIF", MOTIF, net),
            line("a triple for each AND", STANDARD, net),
        ];
        (file, Plot { title, x: "arms", y: "seconds", lines })
    };
    let all = NETWORKS.into_iter().zip(FILES).map(plot);
    all.filter(|(_, plot)| plot.lines.iter().all(|line| !line.points.is_empty())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_layers_and_longest_paths() {
        let counted = Counted(vec![vec![3, 5], vec![4, 1], vec![2, 2], vec![0, 6]]);
        assert_eq!(counted.choices(), [3 * 128, 2 * 128]);
        assert_eq!(counted.ots(Branching::Masked), 8 + 2 * 128 + 3);
        assert_eq!(counted.ots(Branching::Motif), 4 + 6 + 3);
        assert_eq!(counted.ots(Branching::Standard), 23 + 3 * 128);
    }

    /// Those of a plan are these, in whole items of 64 for each layer of each arm that has ANDs there.
    #[test]
    fn counts_are_those_of_plans() {
        let compiled = compiled(4, true).unwrap();
        let counted = Counted::new(4, QUICK_GATES, 0);
        // Layers of the longest path, with two choices; and of all arms, with three.
        for (branching, protocol, layers) in
            [(Branching::Masked, MASKED, 10 + 2), (Branching::Standard, STANDARD, 4 * 10 + 3)]
        {
            let transfers = priced(&compiled, protocol, 2).unwrap().transfers;
            let least = counted.ots(branching) as u64;
            assert!((least..least + 64 * layers).contains(&transfers), "{protocol}: {transfers}, {least}");
        }
    }

    /// The paper has 14.4 and 12.0.
    #[test]
    fn sixteen_arms_save_as_much_as_in_the_paper() {
        let compiled = compiled(16, false).unwrap();
        let [ours, standard] =
            [MASKED, STANDARD].map(|protocol| sent(&priced(&compiled, protocol, 2).unwrap()));
        assert!(standard[0] / ours[0] > 14.4, "{standard:?} {ours:?}");
        let sum = |[before, on]: [f64; 2]| before + on;
        assert!(sum(standard) / sum(ours) > 12.0, "{standard:?} {ours:?}");
    }

    /// Compositions of two arms that are as likely as any differ so much that MOTIF takes half as many OTs more.
    #[test]
    fn motif_depends_on_how_layers_are_aligned() {
        let more = (0..20).map(|seed| {
            let counted = Counted::new(2, 3000, seed);
            counted.ots(Branching::Motif) as f64 / 3000.0
        });
        assert!((1.3..1.7).contains(&mean(more)));
    }
}
