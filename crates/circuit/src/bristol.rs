//! Circuits as text: Bristol Fashion, and the older Bristol format.
//!
//! Both have a line for each gate: how many wires it reads and writes, their numbers, its name. Inputs are the
//! first wires, outputs the last, and a wire is written before it is read. They differ in the header and in the
//! gates:
//!
//! | | Bristol Fashion | the older format |
//! | --- | --- | --- |
//! | line 1 | gates, wires | gates, wires |
//! | line 2 | number of inputs, bits of each | bits of the first input, of the second, of the output |
//! | line 3 | number of outputs, bits of each | the first gate |
//! | gates | `XOR`, `AND`, `INV`, `EQ` (a constant), `EQW` (a copy), `MAND` (many `AND`s) | `XOR`, `AND`, `INV` |
//!
//! Which bit of an input comes first is not in the file: each author chose. Nor does a name say which circuit it
//! is; several hosts have different ones under the same name.
//!
//! Reading is strict, and takes memory in proportion to the file, whatever its header says. Blank lines, spaces
//! and tabs, `\r\n`, and a last line without an end are let pass; so is a number for a wire that no gate names.
//! Copies vanish; other gates stay as they are, needed or not.

mod lines;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{read, read_fashion, read_old};
pub use write::write;

use thiserror::Error;

/// What is wrong with a circuit's file, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct FormatError {
    /// The line, from 1; the last one if the file ends too early.
    pub line: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Something else should stand there.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should.
        expected: &'static str,
        /// What does, quoted and cut short, or which end was reached.
        found: String,
    },
    /// A number that doesn't fit.
    #[error("{found} is too large: numbers here are below 2^32")]
    Large {
        /// What stands there.
        found: String,
    },
    /// More input and output bits than wires.
    #[error("{inputs} input bits and {outputs} output bits need as many wires, but there are {wires}")]
    Bits {
        /// Bits of all inputs.
        inputs: u64,
        /// Bits of all outputs.
        outputs: u64,
        /// Wires by the header.
        wires: u32,
    },
    /// More bits of inputs than a circuit may have.
    #[error("expected at most {} bits of inputs, found {bits}", crate::MAX_INPUT_BITS)]
    Inputs {
        /// Bits by the header.
        bits: u64,
    },
    /// More wires than the rest of the file could write, or than a circuit can have.
    #[error("expected at most {most} wires in a file of this size, found {wires}")]
    Wires {
        /// Wires by the header.
        wires: u32,
        /// The most that there could be.
        most: u64,
    },
    /// A gate with another number of wires than its kind has.
    #[error("expected {expected} wires to read and write before {gate}, found {found}")]
    Arity {
        /// The gate's name.
        gate: &'static str,
        /// What it has.
        expected: &'static str,
        /// What the line says.
        found: String,
    },
    /// A wire that the header doesn't count.
    #[error("expected a wire below {wires}, found wire {wire}")]
    Range {
        /// The wire.
        wire: u32,
        /// Wires by the header.
        wires: u32,
    },
    /// A wire that is read before a gate writes it.
    #[error("expected a wire that is written already, found wire {wire}, which is not")]
    Unwritten {
        /// The wire.
        wire: u32,
    },
    /// A wire that an earlier gate writes.
    #[error("expected a wire that is not written yet, found wire {wire}, which is")]
    Twice {
        /// The wire.
        wire: u32,
    },
    /// An input's wire that a gate writes.
    #[error("expected a wire to write, found wire {wire}, which is an input's")]
    Input {
        /// The wire.
        wire: u32,
    },
    /// Fewer gates than the header says.
    #[error("expected {expected} gates, found {found} before the end of the file")]
    Gates {
        /// Gates by the header.
        expected: u32,
        /// Gates in the file.
        found: u32,
    },
    /// An output's wire that no gate writes.
    #[error("expected a gate for every output, found none that writes wire {wire}")]
    Output {
        /// The wire.
        wire: u32,
    },
}
