//! Registers, and rows of them.

use std::hash::{Hash, Hasher};

use crate::domain::Domain;

/// A register's name: its index in [`Plan::registers`](super::Plan::registers).
pub type Reg = u32;

/// The shape of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// What its elements are.
    pub domain: Domain,
    /// Rows; 1 for all but bits.
    pub rows: u32,
    /// Elements in a row.
    pub cols: usize,
    /// Whether all parties know it: it is filled by an opening, by a public input, or from public registers.
    pub public: bool,
}

impl Hash for Register {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A register has far fewer rows than 2^31.
        (self.domain, self.rows | u32::from(self.public) << 31, self.cols).hash(state);
    }
}

impl Register {
    /// Elements in all.
    pub fn len(&self) -> usize {
        self.rows as usize * self.cols
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Some rows of a register: `first`, `first + step`, ... (`count` of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// The register.
    pub reg: Reg,
    /// The first row.
    pub first: u32,
    /// From one row to the next; may be 0, so that one row stands against many.
    pub step: u32,
    /// How many rows.
    pub count: u32,
}

impl Rows {
    /// One row.
    pub const fn one(reg: Reg, row: u32) -> Self {
        Self { reg, first: row, step: 1, count: 1 }
    }

    /// Rows `first`, `first + 1`, ... (`count` of them).
    pub const fn run(reg: Reg, first: u32, count: u32) -> Self {
        Self { reg, first, step: 1, count }
    }

    /// The row at `index`.
    pub const fn row(&self, index: u32) -> u32 {
        self.first + self.step * index
    }
}
