//! Products with public numbers that aren't integers, and quotients: rounded once, whatever the range.

use super::Builder;
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::{Operation, Rounding};
use crate::ratio::Ratio;
use crate::real::Reals;
use crate::shape;
use crate::types::{Dtype, Range};
use crate::value::Value;

impl Builder {
    /// `a * by`, for public floats or integers, each as it is. Fixed point is rounded once, to the nearest, ties up, and
    /// keeps its fraction bits.
    ///
    /// A product with integers alone is exact and local; any other costs a truncation, or a few where the range leaves
    /// little room.
    pub fn scale(&mut self, a: NodeId, by: &Value) -> Result<NodeId, ProgramError> {
        let numbers = self.reals(by)?;
        match self.integers(&numbers)? {
            Some(by) => self.mul(a, by),
            None => self.times(a, numbers),
        }
    }

    /// `a / by`, for fixed point and public floats or integers, each as it is: rounded once, to the nearest, ties up. Costs
    /// what [`Self::scale`] does.
    pub fn divide(&mut self, a: NodeId, by: &Value) -> Result<NodeId, ProgramError> {
        let divisors = self.reals(by)?;
        self.push(Operation::Over { divisors, rounding: Rounding::Nearest }, &[a])
    }

    /// `a // by`, for integers and public numbers: rounded down. Costs what [`Self::scale`] does.
    pub fn floor_divide(&mut self, a: NodeId, by: &Value) -> Result<NodeId, ProgramError> {
        let (a, divisors) = (self.number(a)?, self.reals(by)?);
        self.push(Operation::Over { divisors, rounding: Rounding::Floor }, &[a])
    }

    /// `a @ matrix`, or `matrix @ a` where `left`, for public floats or integers, each as it is: of fixed point every sum is
    /// rounded once, to the nearest, ties up. Costs for each what [`Self::scale`] does.
    pub fn weigh(&mut self, a: NodeId, matrix: &Value, left: bool) -> Result<NodeId, ProgramError> {
        let matrix = self.reals(matrix)?;
        match self.integers(&matrix)? {
            Some(matrix) if left => self.matmul(matrix, a),
            Some(matrix) => self.matmul(a, matrix),
            None => self.push(Operation::Weigh { matrix, left }, &[a]),
        }
    }

    /// A product with numbers none of which makes 0 of whatever there can be.
    pub(super) fn times(&mut self, a: NodeId, numbers: Reals) -> Result<NodeId, ProgramError> {
        let ty = self.type_of(a)?;
        if ty.range != Range::point(0) {
            let is_lost = |end: i128, ratio: &Ratio| ratio.of(end, Rounding::Nearest) == 0.into();
            let vanished = numbers.numbers().iter().find(|number| {
                let ratio = Ratio::times(**number);
                !number.is_zero() && is_lost(ty.range.lo(), &ratio) && is_lost(ty.range.hi(), &ratio)
            });
            if let Some(number) = vanished {
                let (value, frac) = (number.to_float(), ty.kind.frac());
                return Err(self.fault(Fault::Vanishes { value, frac }));
            }
        }
        self.push(Operation::Times(numbers), &[a])
    }

    /// Of two factors the secret one of fixed point, the public one of fixed point, and whether that is on the left.
    pub(super) fn fraction(
        &self,
        a: NodeId,
        b: NodeId,
    ) -> Result<Option<(NodeId, Reals, bool)>, ProgramError> {
        for (secret, public, left) in [(a, b, false), (b, a, true)] {
            let (x, ty) = (self.type_of(secret)?, self.type_of(public)?);
            if let (true, Dtype::Fixed { .. }, Dtype::Fixed { frac }, Some(raw)) =
                (x.secret, x.kind, ty.kind, self.raw(public))
            {
                return Ok(Reals::of_raw(&ty.shape, raw, frac).map(|numbers| (secret, numbers, left)));
            }
        }
        Ok(None)
    }

    fn reals(&self, value: &Value) -> Result<Reals, ProgramError> {
        shape::check(&value.shape).map_err(|fault| self.fault(fault))?;
        Reals::of_value(value).map_err(|error| self.fault(Fault::Constant(error)))
    }

    /// Public numbers as a constant, if all are integers.
    fn integers(&mut self, numbers: &Reals) -> Result<Option<NodeId>, ProgramError> {
        let raw = numbers.integers();
        raw.map(|raw| self.public(Dtype::Int, numbers.shape().to_vec(), raw)).transpose()
    }
}
