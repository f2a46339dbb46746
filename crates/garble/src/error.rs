//! What can be wrong with material.

use thiserror::Error;

/// Material that doesn't fit the plan, or isn't what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// Another number of inputs.
    #[error("the circuit has {expected} inputs of this kind, not {found}")]
    Inputs {
        /// What the circuit has.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// Something of another length.
    #[error("{what} should have {expected} {unit}, not {found}")]
    Length {
        /// What it is.
        what: &'static str,
        /// What the length counts.
        unit: &'static str,
        /// The length that it should have.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// Instances that aren't a piece.
    #[error("instances {start}..{end} are no piece: it starts at a multiple of {tile}, at {first} or later")]
    Piece {
        /// The first instance.
        start: u64,
        /// The instance after the last.
        end: u64,
        /// What a piece starts at a multiple of.
        tile: usize,
        /// The first instance that wasn't garbled yet.
        first: u64,
    },
    /// Instances that no batch has.
    #[error("a batch has no instances {start}..{end}")]
    Instances {
        /// The first instance.
        start: u64,
        /// The instance after the last.
        end: u64,
    },
    /// A label that isn't one of those committed to, or stands for another bit.
    #[error("a label of a garbled circuit's input is not the one that was committed to")]
    Label,
    /// A tag that isn't of the output's label.
    #[error("an output of a garbled circuit isn't what the evaluator says it is")]
    Forged,
}

/// Checks a length.
pub(crate) fn length(
    what: &'static str,
    unit: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, unit, expected, found }) }
}
