//! What a benchmark computes, and how much of it.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tacit::program::Modulus;

/// What is computed, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Workload {
    /// Bits, in layers.
    And { count: usize, depth: usize },
    /// Blocks of AES-128, each under a shared key of its own or all under one.
    Aes { count: usize, shared_key: bool },
    /// Blocks' wires, shared and opened to all: nothing is computed.
    Wires { count: usize },
    /// A branch of so many arms, each a random circuit with so many ANDs, on so many inputs of `wires` bits side by side.
    Branch { count: usize, arms: usize, gates: usize, wires: u32, seed: u64 },
    /// Products, in layers.
    Mul { ring: Ring, count: usize, depth: usize },
    /// Dot products.
    Dot { ring: Ring, count: usize, length: usize },
    /// Products of m x k by k x n.
    MatMul { ring: Ring, count: usize, m: usize, k: usize, n: usize },
    /// Comparisons.
    Compare { count: usize },
    /// Rows sorted by keys of so many bits, each with so many numbers of as many bits, up to 32.
    Sort { count: usize, bits: u32, columns: usize },
    /// Rows of so many numbers of so many bits in an order that nobody knows.
    Shuffle { count: usize, bits: u32, columns: usize },
    /// Quotients of fixed point numbers.
    Divide { count: usize },
    /// e to the power of fixed point numbers.
    Exp { count: usize },
    /// A Vickrey auction: who bids most, and the second highest bid.
    Auction { bids: usize },
    /// A network's answers to so many inputs at once.
    Dnn { network: Network, rows: usize, weights: Weights },
    /// Two tables with so many rows each, joined by keys of so many bits, which are different in one of them; both have so many
    /// numbers beside the key.
    Join { count: usize, bits: u32, columns: usize },
    /// So many rows in groups by keys of so many bits, and sums of so many numbers.
    Groupby { count: usize, bits: u32, columns: usize },
    /// One of TPC-H's queries, at a scale in gigabytes.
    Tpch { query: u8, scale: f64 },
    /// Predictions.
    Predict { model: Model, rows: usize, features: usize },
}

impl Workload {
    /// What is counted, and what one of it is called.
    pub(crate) const fn counted(&self) -> (usize, &'static str) {
        match *self {
            Self::And { count, .. } => (count, "ANDs"),
            Self::Aes { count, .. } => (count, "blocks"),
            Self::Wires { count } => (count, "blocks' wires"),
            Self::Branch { count, .. } => (count, "branches"),
            Self::Mul { count, .. } => (count, "products"),
            Self::Dot { count, .. } => (count, "dot products"),
            Self::MatMul { count, .. } => (count, "matrix products"),
            Self::Compare { count } => (count, "comparisons"),
            Self::Sort { count, .. } => (count, "sorted rows"),
            Self::Shuffle { count, .. } => (count, "shuffled rows"),
            Self::Divide { count } => (count, "quotients"),
            Self::Exp { count } => (count, "powers"),
            Self::Auction { bids } => (bids, "bids"),
            Self::Dnn { rows, .. } => (rows, "inferences"),
            Self::Join { count, .. } => (count, "joined rows"),
            Self::Groupby { count, .. } => (count, "grouped rows"),
            Self::Tpch { .. } => (1, "queries"),
            Self::Predict { rows, .. } => (rows, "predictions"),
        }
    }

    /// All numbers of something, none of which may be 0.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        match *self {
            Self::And { count, .. }
            | Self::Aes { count, .. }
            | Self::Mul { count, .. }
            | Self::Wires { count }
            | Self::Compare { count }
            | Self::Sort { count, .. }
            | Self::Join { count, .. }
            | Self::Divide { count }
            | Self::Exp { count }
            | Self::Auction { bids: count } => vec![count],
            Self::Branch { count, arms, .. } => vec![count, arms],
            Self::Shuffle { count, columns, .. } | Self::Groupby { count, columns, .. } => {
                vec![count, columns]
            }
            Self::Dot { count, length, .. } => vec![count, length],
            Self::MatMul { count, m, k, n, .. } => vec![count, m, k, n],
            Self::Predict { rows, features, .. } => vec![rows, features],
            Self::Dnn { rows, .. } => vec![rows],
            Self::Tpch { .. } => Vec::new(),
        }
    }

    /// Whether many instances of a circuit are evaluated.
    pub(crate) const fn is_circuit(&self) -> bool {
        matches!(self, Self::And { .. } | Self::Aes { .. } | Self::Wires { .. } | Self::Branch { .. })
    }

    /// How many pieces the count can be split into: for what goes in layers, gates of a layer.
    pub(crate) const fn pieces(&self) -> usize {
        self.counted().0 / self.depth()
    }

    /// The part of one of `lanes`, which is the larger if there is a remainder and the lane is among the first.
    pub(crate) fn part(&self, lane: usize, lanes: usize) -> Self {
        let pieces = self.pieces() / lanes + usize::from(lane < self.pieces() % lanes);
        match *self {
            Self::And { depth, .. } => Self::And { count: pieces * depth, depth },
            Self::Aes { shared_key, .. } => Self::Aes { count: pieces, shared_key },
            Self::Wires { .. } => Self::Wires { count: pieces },
            Self::Branch { arms, gates, wires, seed, .. } => {
                Self::Branch { count: pieces, arms, gates, wires, seed }
            }
            Self::Mul { ring, depth, .. } => Self::Mul { ring, count: pieces * depth, depth },
            Self::Dot { ring, length, .. } => Self::Dot { ring, count: pieces, length },
            Self::MatMul { ring, m, k, n, .. } => Self::MatMul { ring, count: pieces, m, k, n },
            Self::Compare { .. } => Self::Compare { count: pieces },
            Self::Sort { bits, columns, .. } => Self::Sort { count: pieces, bits, columns },
            Self::Shuffle { bits, columns, .. } => Self::Shuffle { count: pieces, bits, columns },
            Self::Divide { .. } => Self::Divide { count: pieces },
            Self::Exp { .. } => Self::Exp { count: pieces },
            Self::Auction { .. } => Self::Auction { bids: pieces },
            Self::Dnn { network, weights, .. } => Self::Dnn { network, rows: pieces, weights },
            Self::Join { bits, columns, .. } => Self::Join { count: pieces, bits, columns },
            Self::Groupby { bits, columns, .. } => Self::Groupby { count: pieces, bits, columns },
            Self::Tpch { .. } => *self,
            Self::Predict { model, features, .. } => Self::Predict { model, rows: pieces, features },
        }
    }

    pub(crate) const fn depth(&self) -> usize {
        match *self {
            Self::And { depth, .. } | Self::Mul { depth, .. } => depth,
            _ => 1,
        }
    }

    pub(crate) const fn ring(&self) -> Option<Ring> {
        match *self {
            Self::Mul { ring, .. } | Self::Dot { ring, .. } | Self::MatMul { ring, .. } => Some(ring),
            _ => None,
        }
    }

    /// The benchmark's name.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::And { .. } => "and",
            Self::Aes { .. } => "aes",
            Self::Wires { .. } => "wires",
            Self::Branch { .. } => "branch",
            Self::Mul { .. } => "mul",
            Self::Dot { .. } => "dot",
            Self::MatMul { .. } => "matmul",
            Self::Compare { .. } => "compare",
            Self::Sort { .. } => "sort",
            Self::Shuffle { .. } => "shuffle",
            Self::Divide { .. } => "divide",
            Self::Exp { .. } => "exp",
            Self::Auction { .. } => "auction",
            Self::Dnn { .. } => "dnn",
            Self::Join { .. } => "join",
            Self::Groupby { .. } => "groupby",
            Self::Tpch { .. } => "tpch",
            Self::Predict { .. } => "predict",
        }
    }

    /// The sizes that aren't counted, in words.
    pub(crate) fn sizes(&self) -> String {
        match self {
            Self::Dot { ring, length, .. } => format!("of {length} terms{}", ring.unless_usual()),
            Self::MatMul { ring, m, k, n, .. } => format!("of {m} x {k} by {k} x {n}{}", ring.unless_usual()),
            Self::Predict { model, features, .. } => {
                let model = model.to_possible_value().map(|value| value.get_name().to_owned());
                format!("of {features} features, {}", model.unwrap_or_default())
            }
            Self::Dnn { network, weights, .. } => {
                format!("of {}, weights {}", network.name(), weights.name())
            }
            Self::Mul { ring, depth, .. } if *depth > 1 => {
                format!("in {depth} layers{}", ring.unless_usual())
            }
            Self::And { depth, .. } if *depth > 1 => format!("in {depth} layers"),
            Self::Mul { ring, .. } => ring.unless_usual().trim_start().to_owned(),
            Self::Aes { shared_key: true, .. } => "under one key".to_owned(),
            Self::Aes { shared_key: false, .. } => "under a key each".to_owned(),
            Self::Auction { .. } => "in an auction".to_owned(),
            Self::Branch { arms, gates, .. } => format!("of {arms} arms of {gates} ANDs"),
            Self::Tpch { query, scale } => format!("of TPC-H, number {query} at scale {scale}"),
            Self::Join { bits, columns, .. } | Self::Groupby { bits, columns, .. } => {
                format!("by {bits} bits, with {columns} columns")
            }
            Self::Sort { bits, columns, .. } => format!("by {bits} bits, with {columns} columns"),
            Self::Shuffle { bits, columns, .. } => format!("of {columns} columns of {bits} bits"),
            Self::And { .. }
            | Self::Wires { .. }
            | Self::Compare { .. }
            | Self::Divide { .. }
            | Self::Exp { .. } => String::new(),
        }
    }
}

/// What predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Model {
    /// The score
    Linear,
    /// The score with twice the fraction bits, as the product has it: nothing is truncated
    Score,
    /// Whether the score is positive
    LogisticSign,
    /// A sigmoid of three linear pieces
    #[value(name = "logistic-3")]
    #[serde(rename = "logistic-3")]
    Logistic3,
}

/// What network is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Network {
    /// 50 layers, on images of 224 x 224
    #[value(name = "resnet50")]
    Resnet50,
    /// 121 layers, on images of 224 x 224
    #[value(name = "densenet121")]
    Densenet121,
    /// `SqueezeNet` 1.1, on images of 224 x 224
    Squeezenet,
    /// Three linear layers, on images of 28 x 28
    Mlp,
}

impl Network {
    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// How a network's weights come to the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Weights {
    /// Kept by an earlier run, as shares, which looked whether they are in their ranges
    Kept,
    /// Given by their owner in the run, which looks at them, too
    Given,
}

impl Weights {
    /// Its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Given => "given",
        }
    }
}

/// What products are of; as text the exponent of a power of two, `fp61` or `fp128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Ring(pub(crate) Modulus);

/// What products are of if nothing else is said.
pub(crate) const DEFAULT_MODULUS: Modulus = Modulus::PowerOfTwo(64);

impl Ring {
    pub(crate) fn is_usual(self) -> bool {
        self.0 == DEFAULT_MODULUS
    }

    fn unless_usual(self) -> String {
        if self.is_usual() { String::new() } else { format!(" mod {}", self.0) }
    }
}

impl TryFrom<String> for Ring {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        ring(&text).map(Self)
    }
}

impl From<Ring> for String {
    fn from(Ring(modulus): Ring) -> Self {
        match modulus {
            Modulus::PowerOfTwo(n) => n.to_string(),
            Modulus::Mersenne61 | Modulus::Prime128 => format!("fp{}", modulus.bits()),
            Modulus::Gf128 => "gf128".to_owned(),
        }
    }
}

/// A modulus from its text.
pub(crate) fn ring(text: &str) -> Result<Modulus, String> {
    match text {
        "fp61" => Ok(Modulus::Mersenne61),
        "fp128" => Ok(Modulus::Prime128),
        _ => text
            .parse()
            .map(Modulus::PowerOfTwo)
            .ok()
            .filter(|modulus| modulus.is_valid())
            .ok_or_else(|| "a ring is a number of bits from 1 to 128, fp61 or fp128".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_whole_and_differ_by_one_piece_at_most() {
        for (what, lanes) in [
            (Workload::And { count: 195, depth: 3 }, 4),
            (Workload::Mul { ring: Ring(DEFAULT_MODULUS), count: 65, depth: 1 }, 64),
            (Workload::Dot { ring: Ring(DEFAULT_MODULUS), count: 7, length: 5 }, 7),
            (Workload::MatMul { ring: Ring(DEFAULT_MODULUS), count: 2, m: 3, k: 4, n: 5 }, 2),
            (Workload::Compare { count: 63 }, 1),
            (Workload::Branch { count: 9, arms: 3, gates: 20, wires: 8, seed: 1 }, 2),
            (Workload::Predict { model: Model::Linear, rows: 10, features: 3 }, 3),
        ] {
            let parts: Vec<Workload> = (0..lanes).map(|lane| what.part(lane, lanes)).collect();
            assert_eq!(parts.len(), lanes);
            let counts: Vec<usize> = parts.iter().map(|part| part.counted().0).collect();
            assert_eq!(counts.iter().sum::<usize>(), what.counted().0, "{what:?}");
            assert!(counts[0] - counts[counts.len() - 1] <= what.depth() && counts[0] > 0);
            assert!(counts.is_sorted_by(|a, b| a >= b));
            assert!(parts.iter().all(|part| (part.depth(), part.sizes()) == (what.depth(), what.sizes())));
        }
    }
}
