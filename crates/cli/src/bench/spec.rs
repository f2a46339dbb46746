//! What is measured: from the command line's options to the sizes of a benchmark.

use super::files::Files;
use super::names::{ModelName, Name};
use super::options::{
    DeclaredArgs, Experiment, LivingArgs, Scale, StartArgs, StoreArgs, TpchArgs, TripleArgs,
};
use super::workload::{DEFAULT_MODULUS, Model, Ring, Weights, Workload, ring};
use crate::args::{ProtocolArgs, WindowArgs};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tacit::advanced::net::{MAX_LANES, Profile, load_profile};
use tacit::advanced::program::Feature;
use tacit::advanced::program::plan::WINDOW;
use tacit::program::Modulus;
use tacit::{Local, protocol};

/// `tacit bench`'s options.
#[derive(Args, Clone, Debug)]
pub(crate) struct BenchArgs {
    /// What to measure
    #[arg(value_name = "NAME")]
    pub(crate) name: Name,
    #[command(flatten)]
    protocol: ProtocolArgs,
    /// Computing parties; as many as the protocol is for if not given
    #[arg(long, value_name = "N")]
    parties: Option<usize>,
    /// Links between parties: memory (one process), tcp or tls (a process for each, on loopback) [default: tcp; living tls]
    #[arg(long)]
    transport: Option<Transport>,
    /// How many of what is counted: gates, products, comparisons
    #[arg(long, value_parser = crate::args::size)]
    count: Option<usize>,
    /// Layers that depend on one another, among which the count is split
    #[arg(long)]
    depth: Option<usize>,
    /// Encrypt all blocks under one shared key, in counter mode, instead of a fresh key each
    #[arg(long)]
    shared_key: bool,
    #[command(flatten)]
    window: WindowArgs,
    /// Terms of a dot product
    #[arg(long)]
    length: Option<usize>,
    /// Sizes of matrices: M x K times K x N
    #[arg(long, value_name = "M,K,N", value_delimiter = ',', num_args = 1)]
    shape: Option<Vec<usize>>,
    /// What products are of: integers modulo 2^N, for an N from 1 to 128, or a prime field: fp61 (2^61-1), fp128
    /// (2^128-159); 64 if not given, or for a protocol in a field alone fp128
    #[arg(long, value_name = "N|fp61|fp128", value_parser = ring)]
    ring: Option<Modulus>,
    /// What predicts, or what network is asked
    #[arg(long)]
    model: Option<ModelName>,
    /// Bits of a key, or of a number that is shuffled [default: 32]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(2..=64))]
    bits: Option<u32>,
    /// Columns beside the key, or that are shuffled [default: 1]
    #[arg(long, value_name = "C")]
    columns: Option<usize>,
    /// Features of a prediction
    #[arg(long)]
    features: Option<usize>,
    /// Rows to predict, or inputs of a network that are asked about at once
    #[arg(long)]
    rows: Option<usize>,
    /// For dnn: whether the parties keep the network's weights before the run, or the owner gives them in it [default: kept]
    #[arg(long)]
    weights: Option<Weights>,
    /// Arms of a branch
    #[arg(long, value_name = "B")]
    arms: Option<usize>,
    /// Lanes per party, each a thread with links and keys of its own, among which the count is split
    #[arg(long, default_value_t = 1)]
    threads: u16,
    /// Shape the links: lan, wan, ROUND-TRIP,BANDWIDTH such as 20ms,1gbit, or a file with a value for each pair
    #[arg(long, value_name = "PROFILE")]
    pub(crate) net: Option<String>,
    /// Where random operands start from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measure so many times; figures are those of the median run [default: 1; araki --paper 5]
    #[arg(long)]
    repeat: Option<usize>,
    /// Say what each party's time goes into
    #[arg(long)]
    profile: bool,
    #[command(flatten)]
    pub(crate) experiment: Experiment,
    /// Height of oblivious transfers' trees, 1 to 8: a higher one sends less and computes more [default: 4]
    #[arg(long, value_name = "K")]
    k: Option<usize>,
    #[command(flatten)]
    pub(crate) triples: TripleArgs,
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) living: LivingArgs,
    #[command(flatten)]
    tpch: TpchArgs,
    #[command(flatten)]
    stored: StoreArgs,
    #[command(flatten)]
    pub(super) declared: DeclaredArgs,
    /// Small sizes, to see that it works
    #[arg(long)]
    pub(crate) quick: bool,
}

/// What links parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// Threads of one process
    Memory,
    /// Processes over TCP
    Tcp,
    /// Processes over TLS
    Tls,
}

impl Transport {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        }
    }
}

/// A protocol's benchmark, as all its parties have to know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) what: Workload,
    pub(crate) protocol: String,
    pub(crate) parties: Vec<String>,
    pub(crate) transport: Transport,
    pub(crate) net: Option<String>,
    pub(crate) lanes: u16,
    /// Bytes of a circuit's messages under way at a time.
    pub(crate) window: usize,
    /// Whether the parties look into what their time goes into.
    pub(crate) profile: bool,
    /// Whether supplies come from stores, which are filled before what is measured.
    #[serde(default)]
    pub(crate) store: bool,
    pub(crate) seed: u64,
    /// Where the program and its operands are, if they aren't made by every party for itself.
    #[serde(default)]
    pub(crate) files: Option<Files>,
}

impl BenchArgs {
    /// The benchmark of a protocol that is asked for; `None` if it is of the machine or of Python.
    pub(crate) fn spec(&self) -> Result<Option<Spec>, Failure> {
        self.refuse_what_does_not_apply()?;
        self.what()?.map(|what| self.spec_of(what, self.threads)).transpose()
    }

    /// The benchmark that computes `what` in so many lanes, with all other options as they are given.
    pub(crate) fn spec_of(&self, what: Workload, lanes: u16) -> Result<Spec, Failure> {
        self.spec_under(self.protocol.name(), None, self.net.clone(), what, lanes)
    }

    /// The same under another protocol, among so many parties if any number is given, and on other links.
    pub(crate) fn spec_under(
        &self,
        protocol: String,
        parties: Option<usize>,
        net: Option<String>,
        what: Workload,
        lanes: u16,
    ) -> Result<Spec, Failure> {
        let parties = match parties.or(self.parties) {
            Some(parties) => Local::among(&protocol, parties)?.parties,
            None => Local::new(&protocol)?.parties,
        };
        if usize::from(lanes) > what.pieces() {
            return Err(Failure::usage(format!(
                "--threads {lanes}: each lane needs a part, and there {} only {} to share out",
                if what.pieces() == 1 { "is" } else { "are" },
                what.pieces()
            )));
        }
        let profile = net.as_ref().map(|net| load_profile(net)).transpose();
        let profile = profile.map_err(|error| Failure::usage(format!("--net: {error}")))?;
        let shaped = || profile.map_or(WINDOW, |profile| window(&profile.shared_by(lanes), &parties));
        Ok(Spec {
            what,
            protocol,
            transport: self.transport(),
            net,
            lanes,
            window: self.window.bytes.unwrap_or_else(shaped),
            profile: self.profile,
            store: self.stored.store,
            seed: self.seed,
            files: None,
            parties,
        })
    }

    /// How often is measured: `usual` times if nothing else is said.
    pub(crate) fn repeat(&self, usual: usize) -> usize {
        self.repeat.unwrap_or(usual)
    }

    /// `--count`, or else what is usual, or quick if that is asked for.
    pub(crate) fn count_or(&self, quick: usize, usual: usize) -> usize {
        self.count.unwrap_or(if self.quick { quick } else { usual })
    }

    /// `--transport`, or else what is usual.
    pub(crate) fn transport(&self) -> Transport {
        self.transport.unwrap_or(if self.name == Name::Living { Transport::Tls } else { Transport::Tcp })
    }

    /// `--features`, or else what is usual, or quick if that is asked for.
    pub(crate) fn features(&self) -> usize {
        self.features.unwrap_or(if self.quick { 20 } else { 784 })
    }

    /// Rows, a key's bits and columns of tables to join or group.
    pub(super) fn rows_of_tables(&self, usual: usize) -> (usize, u32, usize) {
        (self.count_or(1000, usual), self.bits.unwrap_or(32), self.columns.unwrap_or(1))
    }

    /// Which query of TPC-H is asked, at which scale.
    pub(super) fn tpch(&self) -> Result<Workload, Failure> {
        let scale = match self.experiment.scale {
            None if self.quick => 0.02,
            None => 0.01,
            Some(Scale::Gigabytes(scale)) => scale,
            Some(Scale::Parts) => {
                return Err(Failure::usage("bench tpch: --scale takes gigabytes: 0.01, say"));
            }
        };
        Ok(Workload::Tpch { query: self.tpch.query.unwrap_or(3), scale })
    }

    /// Where random operands start from.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// `--model`.
    pub(crate) const fn model(&self) -> Option<ModelName> {
        self.model
    }

    /// `--rows`, or else what is usual.
    pub(crate) fn rows_or(&self, usual: usize) -> usize {
        self.rows.unwrap_or(usual)
    }

    /// `--weights`, or else what is usual.
    pub(crate) fn weights(&self) -> Weights {
        self.weights.unwrap_or(Weights::Kept)
    }

    /// `--parties`, or else what is usual.
    pub(crate) fn parties_or(&self, usual: usize) -> usize {
        self.parties.unwrap_or(usual)
    }

    /// `--k`.
    pub(crate) fn height(&self) -> usize {
        self.k.unwrap_or(4)
    }

    /// Whether there is a `--count`.
    pub(crate) const fn has_count(&self) -> bool {
        self.count.is_some()
    }

    /// `--protocol` with its parameters.
    pub(crate) fn protocol_name(&self) -> String {
        self.protocol.name()
    }

    /// `--threads`.
    pub(crate) const fn lanes(&self) -> u16 {
        self.threads
    }

    fn what(&self) -> Result<Option<Workload>, Failure> {
        let size = |given: Option<usize>, quick: usize, usual: usize| {
            given.unwrap_or(if self.quick { quick } else { usual })
        };
        let depth = self.depth.unwrap_or(1);
        let layered = |count: usize| {
            if depth > 0 && count.is_multiple_of(depth) {
                return Ok(count);
            }
            Err(Failure::usage(format!("--count {count} can't be split into --depth {depth} equal layers")))
        };
        let has = protocol(&self.protocol.name()).map(|protocol| protocol.capabilities());
        // Products in a field alone take triples, which are made in the run.
        let (modulus, products) = match has {
            Ok(has) if has.offers(Feature::Fp128) && !has.offers(Feature::Rings) => {
                (Modulus::Prime128, 200_000)
            }
            _ => (DEFAULT_MODULUS, 10_000_000),
        };
        let ring = Ring(self.ring.unwrap_or(modulus));
        let what = match self.name {
            Name::Limits
            | Name::Start
            | Name::Living
            | Name::Dnn
            | Name::Join
            | Name::Groupby
            | Name::Tpch
            | Name::Araki
            | Name::Astra
            | Name::Li
            | Name::Mascot
            | Name::Gmw
            | Name::Ot
            | Name::Triples => return Ok(None),
            Name::And => {
                Workload::And { count: layered(size(self.count, 1000 * depth, 100_000_000))?, depth }
            }
            Name::Aes => Workload::Aes { count: size(self.count, 100, 100_000), shared_key: self.shared_key },
            Name::Branch => Workload::Branch {
                count: size(self.count, 1, 1),
                arms: size(self.arms, 3, 16),
                gates: if self.quick { 300 } else { ARM_GATES },
                wires: ARM_WIRES,
                seed: self.seed,
            },
            Name::Mul => {
                Workload::Mul { ring, count: layered(size(self.count, 1000 * depth, products))?, depth }
            }
            Name::Dot => Workload::Dot {
                ring,
                count: size(self.count, 10, 10_000),
                length: size(self.length, 100, 1000),
            },
            Name::Matmul => {
                let side = if self.quick { 20 } else { 1000 };
                let shape = self.shape.clone().unwrap_or(vec![side; 3]);
                let [m, k, n] = *shape else {
                    return Err(Failure::usage("--shape takes three sizes: M,K,N"));
                };
                Workload::MatMul { ring, count: size(self.count, 1, 1), m, k, n }
            }
            Name::Compare => Workload::Compare { count: size(self.count, 1000, 1_000_000) },
            Name::Sort | Name::Shuffle => {
                let count = size(self.count, 1000, 1 << 20);
                let (bits, columns) = (self.bits.unwrap_or(32), self.columns.unwrap_or(1));
                if self.name == Name::Sort {
                    Workload::Sort { count, bits, columns }
                } else {
                    Workload::Shuffle { count, bits, columns }
                }
            }
            Name::Divide => Workload::Divide { count: size(self.count, 1000, 1_000_000) },
            Name::Exp => Workload::Exp { count: size(self.count, 1000, 1_000_000) },
            Name::Predict => Workload::Predict {
                model: match self.model {
                    None => Model::Linear,
                    Some(ModelName::Linear(model)) => model,
                    Some(ModelName::Network(_)) => {
                        return Err(Failure::usage("bench predict: networks are asked by bench dnn"));
                    }
                },
                rows: size(self.rows, 20, 1000),
                features: self.features(),
            },
        };
        if what.numbers().contains(&0) {
            return Err(Failure::usage("a size of 0 leaves nothing to measure"));
        }
        Ok(Some(what))
    }

    /// Options that would be ignored are refused.
    fn refuse_what_does_not_apply(&self) -> Result<(), Failure> {
        use Name::{
            Aes, And, Araki, Astra, Branch, Compare, Divide, Dnn, Dot, Exp, Gmw, Groupby, Join, Li, Living,
            Mascot, Matmul, Mul, Ot, Predict, Shuffle, Sort, Tpch, Triples,
        };
        let given: [(&str, bool, &[Name]); 29] = [
            (
                "--count",
                self.count.is_some(),
                &[
                    And, Aes, Branch, Mul, Dot, Matmul, Compare, Sort, Shuffle, Join, Groupby, Divide, Exp,
                    Araki, Li, Ot, Triples, Living,
                ],
            ),
            ("--bits", self.bits.is_some(), &[Sort, Shuffle, Join, Groupby]),
            ("--columns", self.columns.is_some(), &[Sort, Shuffle, Join, Groupby]),
            ("--query", self.tpch.query.is_some(), &[Tpch]),
            (
                "--cost",
                self.declared.cost,
                &[
                    And, Aes, Branch, Mul, Dot, Matmul, Compare, Sort, Shuffle, Divide, Exp, Predict, Dnn,
                    Join, Groupby, Tpch,
                ],
            ),
            ("--clients", self.living.clients.is_some(), &[Living]),
            ("--kept", self.living.kept, &[Living]),
            ("--arms", self.arms.is_some(), &[Branch]),
            ("--k", self.k.is_some(), &[Ot, Triples]),
            ("--field", self.triples.field.is_some(), &[Triples]),
            ("--passive", self.triples.passive, &[Triples]),
            ("--depth", self.depth.is_some(), &[And, Mul]),
            ("--shared-key", self.shared_key, &[Aes]),
            (
                "--window",
                self.window.bytes.is_some(),
                &[And, Aes, Branch, Compare, Predict, Sort, Divide, Exp, Dnn, Join, Groupby, Tpch],
            ),
            ("--length", self.length.is_some(), &[Dot]),
            ("--ring", self.ring.is_some(), &[Mul, Dot, Matmul]),
            ("--store", self.stored.store, &[Mul, Dot, Matmul]),
            ("--shape", self.shape.is_some(), &[Matmul]),
            ("--model", self.model.is_some(), &[Predict, Dnn]),
            ("--features", self.features.is_some(), &[Predict, Living]),
            ("--rows", self.rows.is_some(), &[Predict, Dnn]),
            ("--weights", self.weights.is_some(), &[Dnn]),
            // All rows of a sort or a shuffle are in one lane.
            (
                "--threads",
                self.threads != 1,
                &[And, Aes, Branch, Mul, Dot, Matmul, Compare, Divide, Exp, Predict, Araki],
            ),
            (
                "--net",
                self.net.is_some(),
                &[
                    And, Aes, Branch, Mul, Dot, Matmul, Compare, Sort, Shuffle, Divide, Exp, Predict, Araki,
                    Dnn, Join, Groupby, Tpch,
                ],
            ),
            (
                "--profile",
                self.profile,
                &[And, Aes, Branch, Mul, Compare, Sort, Shuffle, Divide, Exp, Dnn, Join, Groupby, Tpch],
            ),
            ("--paper", self.experiment.paper, &[Araki, Astra, Li, Mascot, Gmw, Dnn]),
            ("--deep", self.experiment.deep, &[Li]),
            ("--scale", self.experiment.scale.is_some(), &[Araki, Tpch]),
            ("--out", self.experiment.out.is_some(), &[Araki, Mascot, Gmw]),
        ];
        for (option, is_given, suits) in given {
            if is_given && !suits.contains(&self.name) {
                return Err(Failure::usage(format!("{option} means nothing for this benchmark")));
            }
        }
        if !(1..=MAX_LANES).contains(&self.threads) {
            return Err(Failure::usage(format!("--threads is 1 to {MAX_LANES}, not {}", self.threads)));
        }
        if self.repeat == Some(0) {
            return Err(Failure::usage("--repeat 0 would measure nothing"));
        }
        Ok(())
    }
}

/// ANDs of a branch's arm, and as many sums, as Heath et al. 2021 have them.
pub(super) const ARM_GATES: usize = 30_000;

/// Bits of its input, and of its output.
pub(super) const ARM_WIRES: u32 = 128;

/// What has to be under way for a circuit to wait for no link: the most that any pair's link holds, its bandwidth
/// times its round trip, in bytes. Not less than on a machine, nor so much that tiles leave memory.
fn window(net: &Profile, parties: &[String]) -> usize {
    const MOST: usize = 16 << 20;
    let pairs = parties
        .iter()
        .enumerate()
        .flat_map(|(at, one)| parties[at + 1..].iter().filter_map(move |other| net.between(one, other)));
    let held = |rtt: Duration, bandwidth: u64| rtt.as_nanos() * u128::from(bandwidth) / 8_000_000_000;
    let most = pairs.map(|shape| held(shape.rtt, shape.bandwidth)).max().unwrap_or(0);
    usize::try_from(most).unwrap_or(usize::MAX).clamp(WINDOW, MOST)
}

#[cfg(test)]
impl Spec {
    /// Any benchmark, for tests to alter.
    pub(crate) fn example() -> Self {
        Self {
            what: Workload::Compare { count: 1 },
            protocol: "replicated".to_owned(),
            parties: ["P0", "P1", "P2"].map(str::to_owned).to_vec(),
            transport: Transport::Memory,
            net: None,
            lanes: 1,
            window: WINDOW,
            profile: false,
            store: false,
            seed: 1,
            files: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_what_the_widest_pair_does() {
        let parties = ["P0", "P1", "P2"].map(str::to_owned);
        let of = |net: &str, lanes| window(&load_profile(net).unwrap().shared_by(lanes), &parties);
        assert_eq!(of("wan", 1), 500_000);
        assert_eq!(of("wan", 2), 250_000);
        assert_eq!(of("lan", 1), WINDOW);
        assert_eq!(of("0.13ms,10gbit", 1), 162_500);
        assert_eq!(of("1s,1000gbit", 1), 16 << 20);
        let pair = "default = \"1ms,1mbit\"\n[[pair]]\nbetween = [\"P2\", \"P0\"]\nnet = \"wan\"\n";
        assert_eq!(window(&Profile::parse(pair).unwrap(), &parties), 500_000);
        let client = "[[pair]]\nbetween = [\"P2\", \"alice\"]\nnet = \"wan\"\n";
        assert_eq!(window(&Profile::parse(client).unwrap(), &parties), WINDOW);
    }
}
