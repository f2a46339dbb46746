//! Options of single benchmarks.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tacit_ot::copee::Field;

/// `tacit bench araki`, `astra`, `li`, `mascot`, `gmw` and `dnn`: which experiment.
#[derive(Args, Clone, Debug)]
pub(crate) struct Experiment {
    /// Redo the paper's tables and figures; for li with --count ANDs in each of table 2's circuits
    #[arg(long, conflicts_with_all = ["scale", "threads"])]
    pub(crate) paper: bool,
    /// Also the circuits of 1,000 and 10,000 layers on the slow network, minutes each
    #[arg(long)]
    pub(crate) deep: bool,
    /// For araki: time and memory for a tenth, a fifth, a half and all of --count blocks. For tpch: gigabytes of data
    /// [default: 0.01; quick: few rows of 0.02]
    #[arg(long, value_name = "SF", num_args = 0..=1, default_missing_value = PARTS, value_parser = scale)]
    pub(crate) scale: Option<Scale>,
    /// Where the paper's figures are drawn, instead of the current folder
    #[arg(long, value_name = "DIR", conflicts_with = "scale")]
    pub(crate) out: Option<PathBuf>,
}

/// Of `tacit bench living`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LivingArgs {
    /// For living: so many clients ask at once [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(super) clients: Option<u16>,
    /// For living: instances that a run of a batch has at most [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(super) together: Option<u8>,
    /// For living: how long a run waits for others of its batch [default: 2]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub(super) window_ms: Option<u64>,
    /// For living: the servers read weights that they keep; without it the first one gives them to each run
    #[arg(long)]
    pub(super) kept: bool,
}

/// Of `tacit bench tpch`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct TpchArgs {
    /// For tpch: which of the 22 queries [default: 3]
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=22))]
    pub(super) query: Option<u8>,
}

/// Where a run's triples and masks come from.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct StoreArgs {
    /// Take triples and masks from stores on disk, in a temporary folder, which the parties fill before the measured run;
    /// only a protocol that fills stores for any program
    #[arg(long, conflicts_with = "cost")]
    pub(super) store: bool,
}

/// Whether a benchmark is run at all.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DeclaredArgs {
    /// Say what parties will send, and in how many rounds; nothing is run
    #[arg(long)]
    pub(super) cost: bool,
}

/// A value of `--scale`, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Of `araki`: parts of the count.
    Parts,
    /// Of `tpch`.
    Gigabytes(f64),
}

fn scale(text: &str) -> Result<Scale, String> {
    if text == PARTS {
        return Ok(Scale::Parts);
    }
    let scale = text.parse().ok().filter(|scale| (0.001..=1.0).contains(scale));
    scale.map(Scale::Gigabytes).ok_or_else(|| "gigabytes are a number from 0.001 to 1".to_owned())
}

/// What `--scale` without a value stands for.
const PARTS: &str = "parts";

/// Of `tacit bench start`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct StartArgs {
    /// For start: a saved plan run by this command, three parties over TCP, instead of a Python file with all in one process
    #[arg(long)]
    pub(super) native: bool,
}

/// Options of this benchmark alone.
#[derive(Args, Clone, Debug)]
pub(crate) struct TripleArgs {
    /// What triples are of: the prime field of mascot, GF(2^128), or a prime field of another length [default: fp128]
    #[arg(long, value_name = "FIELD")]
    pub(super) field: Option<TripleField>,
    /// Triples without MACs and checks, against parties that follow the protocol: for comparison alone, no protocol uses them
    #[arg(long)]
    pub(super) passive: bool,
}

/// What triples are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum TripleField {
    /// The field of 2^128 - 159 elements
    #[default]
    Fp128,
    /// GF(2^128)
    #[value(name = "gf2-128")]
    Gf2,
    /// The field of 2^64 - 59 elements
    Fp64,
    /// The field of 2^256 - 189 elements
    Fp256,
    /// The field of 2^512 - 569 elements
    Fp512,
}

impl TripleField {
    /// The field, and what it is called.
    pub(super) fn named(self) -> (Field, &'static str) {
        match self {
            Self::Fp128 => (Field::Prime, "2^128-159"),
            Self::Gf2 => (Field::Binary, "GF(2^128)"),
            Self::Fp64 => (Field::Prime64, "2^64-59"),
            Self::Fp256 => (Field::Prime256, "2^256-189"),
            Self::Fp512 => (Field::Prime512, "2^512-569"),
        }
    }
}
