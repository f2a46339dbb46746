//! Which of a paper's experiments.

use clap::Args;
use std::path::PathBuf;

/// `tacit bench araki`, `astra`, `li`, `mascot`, `gmw` and `dnn`: which experiment.
#[derive(Args, Clone, Debug)]
pub(crate) struct Experiment {
    /// Redo the paper's tables and figures; for li with --count ANDs in each of table 2's circuits
    #[arg(long, conflicts_with_all = ["scale", "threads"])]
    pub(crate) paper: bool,
    /// Also the circuits of 1,000 and 10,000 layers on the slow network, minutes each
    #[arg(long)]
    pub(crate) deep: bool,
    /// Time and memory for a tenth, a fifth, a half and all of --count blocks
    #[arg(long)]
    pub(crate) scale: bool,
    /// Where the paper's figures are drawn, instead of the current folder
    #[arg(long, value_name = "DIR", conflicts_with = "scale")]
    pub(crate) out: Option<PathBuf>,
}
