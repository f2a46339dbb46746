//! Heath, Kolesnikov, Peceny 2021, section 8: branches with masked triples, against a triple for each AND of all arms, and MOTIF.
//!
//! An arm of the paper's has 30,000 ANDs and as many sums in ten layers, and 128 bits go in and out. Here a row of bits has 128
//! columns, so a run has 128 random circuits of 234 ANDs and 2 bits side by side: as many ANDs in an arm, and twice as many in
//! what chooses its result. OTs and bytes of one circuit of the paper's are counted, by the layers of 100 random ones.
//!
//! MOTIF isn't run. Its OTs are the most ANDs that any arm has in each layer, and one for the input of each branch; its bytes a
//! choice for each of them and two bits for each AND.

use super::{Compared, Experiment, Links, NOTHING, Paper, Run};
use crate::bench::instances::program;
use crate::bench::plot::{Line, Plot};
use crate::bench::random_circuit::branch;
use crate::bench::spec::{ARM_GATES, ARM_WIRES, BRANCHES, BenchArgs};
use crate::bench::what::What;
use crate::failure::Failure;
use tacit::program::Phase;
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

/// Arms of figures 9 to 11.
const ARMS: [usize; 4] = [2, 4, 8, 16];

/// The paper's networks, and how much quicker masked triples are there with 16 arms than a triple for each AND.
const NETWORKS: [(&str, f64); 3] = [("2ms,1gbit", 1.81), ("2ms,50mbit", 7.43), ("20ms,100mbit", 2.04)];

/// Parties of figure 12.
const PARTIES: std::ops::RangeInclusive<usize> = 4..=8;

/// Circuits that are counted.
const CIRCUITS: u64 = 100;

/// A run's branch of so many arms.
fn what(arms: usize, quick: bool) -> What {
    let gates = if quick { 20 } else { ARM_GATES / BRANCHES };
    What::Branch { count: BRANCHES, arms, gates, wires: 2, seed: 1 }
}

fn experiments(args: &BenchArgs) -> Vec<Experiment> {
    let (arms, networks) =
        if args.quick { (&ARMS[1..2], &NETWORKS[..1]) } else { (&ARMS[..], &NETWORKS[..]) };
    let mut all = Vec::new();
    for &(net, _) in networks {
        for &arms in arms {
            for protocol in [MASKED, STANDARD] {
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

    /// Bytes that a party sends before inputs, with trees of a height.
    fn offline(&self, branching: Branching, height: usize) -> f64 {
        let Some(params) = Params::new(height, Security::SemiHonest) else { return f64::NAN };
        let sent = |[sender, receiver]: [u64; 2]| (sender + receiver) as f64;
        sent(params.setup_bytes()) + sent(params.extension_bytes(self.ots(branching), false))
    }

    /// Bytes that it sends on inputs.
    fn online(&self, branching: Branching) -> f64 {
        let ([all, _], branches) = (self.choices(), self.0.len() - 1);
        let bits = match branching {
            Branching::Masked => 2 * (self.ands() + all) + branches,
            Branching::Motif => self.ots(branching) + 2 * (self.ands() + all),
            Branching::Standard => 2 * (self.ands() + all),
        };
        bits as f64 / 8.0
    }
}

fn mean(all: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = all.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
    sum / f64::from(count)
}

fn compared(runs: &[Run], quick: bool) -> Result<Vec<Compared>, Failure> {
    let mut rows = Vec::new();
    let mut row = |table, name: String, here, paper: Option<f64>| {
        rows.push(Compared { table, name, here, paper: paper.filter(|_| !quick) });
    };
    let (circuits, gates) = if quick { (3, 300) } else { (CIRCUITS, ARM_GATES) };
    let counted = |arms| (0..circuits).map(|seed| Counted::new(arms, gates, seed)).collect::<Vec<_>>();

    let two = counted(2);
    let more =
        |branching| two.iter().map(move |one| one.ots(branching) as f64 / one.ots(Branching::Masked) as f64);
    let motif = || more(Branching::Motif);
    row("figure 8", "random OTs of MOTIF to ours, two arms".to_owned(), mean(motif()), Some(1.5));
    row("figure 8", "the same at best".to_owned(), motif().fold(f64::MAX, f64::min), Some(1.12));
    row("figure 8", "the same at worst".to_owned(), motif().fold(0.0, f64::max), Some(1.71));
    row("figure 8", "standard to ours".to_owned(), mean(more(Branching::Standard)), Some(2.0));

    for arms in ARMS {
        let counted = counted(arms);
        for (branching, offline, total) in [(Branching::Motif, 2.96, 2.6), (Branching::Standard, 14.4, 12.0)]
        {
            let name = if branching == Branching::Motif { "MOTIF" } else { "standard" };
            let ratio = |bytes: &dyn Fn(&Counted, Branching) -> f64| {
                mean(counted.iter().map(|one| bytes(one, branching) / bytes(one, Branching::Masked)))
            };
            let ahead = ratio(&|one, branching| one.offline(branching, 1));
            let all = ratio(&|one, branching| one.offline(branching, 1) + one.online(branching));
            let paper = |figure| Some(figure).filter(|_| arms == 16);
            row(
                "figure 10",
                format!("{name} to ours before inputs, {arms} arms, k=1"),
                ahead,
                paper(offline),
            );
            row("figure 10", format!("{name} to ours in all, {arms} arms, k=1"), all, paper(total));
        }
        for (name, branching) in
            [("ours", Branching::Masked), ("MOTIF", Branching::Motif), ("standard", Branching::Standard)]
        {
            for height in [1, 4] {
                let bytes = mean(counted.iter().map(|one| one.offline(branching, height)));
                row(
                    "figure 9",
                    format!("{name}, MB before inputs from each, {arms} arms, k={height}"),
                    1e-6 * bytes,
                    None,
                );
            }
            let bytes = mean(counted.iter().map(|one| one.online(branching)));
            row("figure 9", format!("{name}, MB on inputs from each, {arms} arms"), 1e-6 * bytes, None);
        }
    }

    let widest = if quick { 4 } else { 16 };
    let compiled = Compiled::new(program(what(widest, quick)).map_err(tacit::Error::from)?)?;
    for parties in PARTIES {
        for (name, protocol) in [("ours", MASKED), ("standard", STANDARD)] {
            let cost = price(&compiled, protocol, &Local::among(protocol, parties)?.parties)?.total;
            let bytes = |phase| cost.phase(phase).sent_by(0) as f64;
            let all = bytes(Phase::Offline) + bytes(Phase::Online);
            let name = format!("{name}, MB in all from each of {parties}, {widest} arms, k=1");
            row("figure 12", name, 1e-6 * all, None);
        }
    }

    for (net, gain) in NETWORKS {
        let seconds = |protocol: &str| {
            let mut all =
                runs.iter().filter(|run| run.net.as_deref() == Some(net) && run.protocol == protocol);
            let run = all.find(|run| run.what.contains("16 arms"))?;
            Some(run.offline_seconds + run.seconds)
        };
        if let (Some(ours), Some(standard)) = (seconds(MASKED), seconds(STANDARD)) {
            row("figure 11", format!("standard's time to ours, {net}, 16 arms"), standard / ours, Some(gain));
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
    let plot = |((net, _), (file, title)): ((&str, f64), (&'static str, &'static str))| {
        let lines = vec![line("masked triples", MASKED, net), line("a triple for each AND", STANDARD, net)];
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
