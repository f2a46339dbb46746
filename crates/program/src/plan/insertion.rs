//! Steps of a sort by opened comparisons, on public registers ([`crate::insertion`]). Rows and gaps are 32-bit numbers.

use super::registers::Reg;

/// A step of a sort. All registers are public.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's line says what its fields are")]
pub enum Insertion {
    /// Bits, one row, of words of `block` bits: in each word from bit `at` on the number of its group of so many `words`, and
    /// else zeros.
    Numbers { block: usize, words: usize, at: u32, dst: Reg },
    /// `dst = gaps + by` where a bit of the row `right` is set, else `gaps`.
    Descend { gaps: Reg, right: Reg, by: u32, dst: Reg },
    /// The pairs of new rows, which have the numbers from `first` on and are in these of `count` gaps: the left ones, and then
    /// the right ones. More than there is room for end the run.
    Pairs { gaps: Reg, count: u32, first: u32, dst: Reg },
    /// The sorted rows, if there are any, and the new ones in order. `less` has a bit for each of the pairs.
    Merge { sorted: Option<Reg>, gaps: Reg, less: Reg, dst: Reg },
    /// The order of rows that have these ranks. A rank that no row has leaves a place that is none.
    Order { ranks: Reg, dst: Reg },
    /// Of each row its number among those of its group of so many `rows`, and from bit `above` on that of its group.
    Places { rows: usize, above: u32, dst: Reg },
}

impl Insertion {
    /// The registers read.
    pub fn reads(&self) -> Vec<Reg> {
        match self {
            Self::Numbers { .. } | Self::Places { .. } => vec![],
            Self::Descend { gaps, right, .. } => vec![*gaps, *right],
            Self::Pairs { gaps: reg, .. } | Self::Order { ranks: reg, .. } => vec![*reg],
            Self::Merge { sorted, gaps, less, .. } => sorted.iter().copied().chain([*gaps, *less]).collect(),
        }
    }

    /// The register written.
    pub const fn writes(&self) -> Reg {
        match self {
            Self::Numbers { dst, .. }
            | Self::Places { dst, .. }
            | Self::Descend { dst, .. }
            | Self::Pairs { dst, .. }
            | Self::Merge { dst, .. }
            | Self::Order { dst, .. } => *dst,
        }
    }
}
