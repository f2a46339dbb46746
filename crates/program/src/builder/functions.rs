//! Quotients by secrets, square roots, and functions by pieces.

use std::sync::Arc;

use super::{Builder, Method};
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::{Operation, RATIO_BITS};
use crate::piecewise::Piecewise;
use crate::types::Dtype;

/// What can be called by name ([`Builder::call`]).
pub(super) const METHODS: &[(&str, Method)] = &[
    ("ratio", Method::Two(Builder::ratio)),
    ("part", Method::Two(Builder::part)),
    ("sqrt", Method::One(Builder::sqrt)),
];

/// Fraction bits of a quotient or a root of integers.
const FRACTION: u8 = 16;

impl Builder {
    /// `a / b` in fixed point, to the nearest, ties up, with the fraction bits of the finer one, or 16 for integers.
    ///
    /// What is beyond 2^47 steps is the last number before it, and a divisor of 0 counts as its least step. A circuit on bits: a
    /// digit after another.
    pub fn ratio(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.ratio_below(a, b, |_| RATIO_BITS)
    }

    /// The same where `b` is at least as large as `a` and not negative, which makes a quotient from 0 to 1, or from -1: fewer
    /// digits. What is 2 or more is the last number before it.
    pub fn part(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.ratio_below(a, b, |frac| frac + 1)
    }

    fn ratio_below(&mut self, a: NodeId, b: NodeId, bits: fn(u8) -> u8) -> Result<NodeId, ProgramError> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        let (own, other) = (self.kind(a)?.frac(), self.kind(b)?.frac());
        let frac = if own.max(other) == 0 { FRACTION } else { own.max(other) };
        let (a, b) = (self.raw_as(a, 0)?, self.raw_as(b, 0)?);
        let ratio = self.push(Operation::Ratio { by: frac + other - own, bits: bits(frac) }, &[a, b])?;
        self.raw_as(ratio, frac)
    }

    /// The square root in fixed point, to the nearest; 16 fraction bits for integers. Of a number below 0 it is 0. A circuit on
    /// bits: a digit after another.
    pub fn sqrt(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        let own = self.kind(a)?.frac();
        let frac = if own == 0 { FRACTION } else { own };
        let a = self.raw_as(a, 0)?;
        let root = self.push(Operation::Root { by: 2 * frac - own }, &[a])?;
        self.raw_as(root, frac)
    }

    /// A function of raw values, whose results are raw values of so many fraction bits. A circuit on bits.
    pub fn piecewise(
        &mut self,
        a: NodeId,
        function: Arc<Piecewise>,
        frac: u8,
    ) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        let a = self.raw_as(a, 0)?;
        let result = self.push(Operation::Piecewise(function), &[a])?;
        self.raw_as(result, frac)
    }

    /// The number of so many fraction bits that has the same raw value. Free.
    pub fn raw_as(&mut self, a: NodeId, frac: u8) -> Result<NodeId, ProgramError> {
        let kind = self.kind(a)?;
        if let Dtype::Int | Dtype::Fixed { .. } = kind {
            let by = i16::from(frac) - i16::from(kind.frac());
            let by = i8::try_from(by);
            return match by {
                Ok(0) => Ok(a),
                Ok(by) => self.push(Operation::Raw { by }, &[a]),
                Err(_) => Err(self.fault(Fault::Fraction { frac })),
            };
        }
        Err(self.fault(Fault::NotDefined { operation: "raw", kind }))
    }
}
