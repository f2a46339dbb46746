//! What can be measured, as the command line calls it.

use super::workload::{Model, Network};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::sync::LazyLock;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// This machine: AES, memory, loopback
    Limits,
    /// ANDs of bits
    And,
    /// Blocks of AES-128
    Aes,
    /// Branches whose arms are random circuits of 30,000 ANDs
    Branch,
    /// Products
    Mul,
    /// Dot products
    Dot,
    /// Matrix products
    Matmul,
    /// Less-than of 64-bit numbers
    Compare,
    /// Rows sorted by a key
    Sort,
    /// Rows in an order that nobody knows
    Shuffle,
    /// Quotients of fixed(16) by fixed(16)
    Divide,
    /// e to the power of fixed(16)
    Exp,
    /// The experiments of Araki et al. 2016 with AES
    Araki,
    /// The experiments of Chaudhari et al. 2019 with AES, ANDs and predictions
    Astra,
    /// The experiments of Li et al. 2023 with ANDs, AES and fields
    Li,
    /// The experiments of Keller et al. 2016 with triples and a Vickrey auction
    Mascot,
    /// The experiments of Heath et al. 2021 with branches
    Gmw,
    /// Random oblivious transfers between two parties, in both directions at once
    Ot,
    /// Authenticated triples, for MASCOT
    Triples,
    /// Predictions of a linear model in 64-bit fixed point
    Predict,
    /// A whole ten-line program, from the process's start to its result
    Start,
    /// One small run in a deployment that lives: how long its client waits
    Living,
    /// A neural network, asked in secret
    Dnn,
    /// Two tables joined by a key, which is unique in one of them; --count rows in each
    Join,
    /// Rows of a table in groups by a key, with sums
    Groupby,
    /// A query of TPC-H
    Tpch,
}

/// A value of `--model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// Of `predict`.
    Linear(Model),
    /// Of `dnn`.
    Network(Network),
}

impl ValueEnum for ModelName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ModelName>> = LazyLock::new(|| {
            let models = Model::value_variants().iter().copied().map(ModelName::Linear);
            models.chain(Network::value_variants().iter().copied().map(ModelName::Network)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Linear(model) => model.to_possible_value(),
            Self::Network(network) => network.to_possible_value(),
        }
    }
}
