//! Parts of a plan that are computed several times, one after another, and written once.
//!
//! Every turn has addresses of its own. [`Stage::op`](super::Stage) of a level has the address in the first turn of all
//! sections around it, and [`Visit::shift`] is what a turn adds.

use std::ops::Range;

use super::registers::Reg;
use super::steps::Local;

/// Some levels that are computed several times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Section {
    /// Indices of its levels.
    pub levels: Range<usize>,
    /// The addresses of its operations in the first turn.
    pub addresses: Range<u32>,
    /// How many operations are written for a turn; those of sections in it count once.
    pub ops: u32,
    /// How many turns there are, from 2 on.
    pub times: u32,
    /// Copies before every turn but the first: what the last turn made, to where the next one reads it. All that they
    /// write is free then, and nothing that they read is written by them.
    pub carry: Vec<Local>,
    /// Copies before every turn, after those.
    pub slices: Vec<Slice>,
    /// Registers that a turn writes and that live on after it; they are freed before the next turn writes them.
    pub kept: Vec<Reg>,
}

/// A copy that walks on from turn to turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first turn's, a [`Local::Copy`].
    pub step: Local,
    /// Elements by which each turn begins after the one before.
    pub stride: isize,
}

impl Slice {
    /// A turn's copy.
    pub fn of_turn(&self, turn: u32) -> Local {
        let mut step = self.step.clone();
        if let Local::Copy { layout, .. } = &mut step {
            layout.offset = layout.offset.wrapping_add_signed(self.stride * turn as isize);
        }
        step
    }
}

impl Section {
    /// Addresses in a turn.
    pub(super) const fn turn(&self) -> u32 {
        self.addresses.end - self.addresses.start
    }

    /// Addresses in all its turns.
    pub(super) const fn all_addresses(&self) -> u32 {
        self.times * self.turn()
    }
}
