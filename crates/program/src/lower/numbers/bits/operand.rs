//! Operands of circuits on numbers.

use std::sync::Arc;

use crate::plan::{Operand, Public};
use crate::types::Range;
use crate::width::Format;

/// An operand of a circuit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Term {
    /// Bits of all instances.
    Register(Operand, Format),
    /// A public number, the same for all instances.
    Splat(i128),
}

/// Public numbers, in row-major order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) shape: &'a [usize],
    pub(super) raw: &'a [i128],
}

impl Known<'_> {
    /// The least format that holds them.
    pub(super) fn format(&self) -> Format {
        Format::of_range(Range::of_values(self.raw).unwrap_or(Range::point(0)))
    }
}

/// Numbers' bits, as a plan writes them: one number after another.
pub(super) fn packed(raw: &[i128], format: Format) -> Public {
    let mut words = vec![0_u64; (raw.len() * format.bits).div_ceil(64)];
    let bits = raw.iter().flat_map(|raw| (0..format.bits).map(move |bit| (raw >> bit & 1) as u64));
    bits.enumerate().for_each(|(at, bit)| words[at / 64] |= bit << (at % 64));
    Public::Vector(Arc::from(words))
}
