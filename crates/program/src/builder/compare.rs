//! Comparisons, logic on bools, choices, extremes.

use super::{Builder, Method};
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::{Extreme, Operation};
use crate::shape;
use crate::types::Dtype;

/// What can be called by name ([`Builder::call`]).
pub(super) const METHODS: &[(&str, Method)] = &[
    ("less", Method::Two(Builder::less)),
    ("less_equal", Method::Two(Builder::less_equal)),
    ("greater", Method::Two(Builder::greater)),
    ("greater_equal", Method::Two(Builder::greater_equal)),
    ("equal", Method::Two(Builder::equal)),
    ("not_equal", Method::Two(Builder::not_equal)),
    ("and", Method::Two(Builder::and)),
    ("or", Method::Two(Builder::or)),
    ("xor", Method::Two(Builder::xor)),
    ("not", Method::One(Builder::not)),
    ("select", Method::Three(Builder::select)),
    ("minimum", Method::Two(Builder::minimum)),
    ("maximum", Method::Two(Builder::maximum)),
    ("clip", Method::Three(Builder::clip)),
    ("abs", Method::One(Builder::abs)),
    ("relu", Method::One(Builder::relu)),
];

impl Builder {
    /// `a < b`.
    pub fn less(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.ordered("<", a, b)
    }

    /// `a <= b`.
    pub fn less_equal(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let greater = self.flipped("<=", a, b)?;
        self.not(greater)
    }

    /// `a > b`.
    pub fn greater(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.flipped(">", a, b)
    }

    /// `a >= b`.
    pub fn greater_equal(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let less = self.ordered(">=", a, b)?;
        self.not(less)
    }

    /// `a == b`.
    pub fn equal(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        if self.bools(a, b)? {
            let differ = self.push(Operation::Xor, &[a, b])?;
            return self.not(differ);
        }
        let (a, b) = self.alike("==", a, b)?;
        self.push(Operation::Equal, &[a, b])
    }

    /// `a != b`.
    pub fn not_equal(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        if self.bools(a, b)? {
            return self.push(Operation::Xor, &[a, b]);
        }
        let equal = self.equal(a, b)?;
        self.not(equal)
    }

    /// `a & b`, of bools.
    pub fn and(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::And, &[a, b])
    }

    /// `a | b`, of bools.
    pub fn or(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::Or, &[a, b])
    }

    /// `a ^ b`, of bools.
    pub fn xor(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::Xor, &[a, b])
    }

    /// `~a`, of bools.
    pub fn not(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::Not, &[a])
    }

    /// `where(c, a, b)`: elementwise `a` where `c` holds, else `b`.
    pub fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = if self.bools(a, b)? { (a, b) } else { self.alike("where", a, b)? };
        self.push(Operation::Where, &[c, a, b])
    }

    /// The smaller of `a` and `b`, elementwise.
    pub fn minimum(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.pick(a, b, Extreme::Min)
    }

    /// The larger of `a` and `b`, elementwise.
    pub fn maximum(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.pick(a, b, Extreme::Max)
    }

    /// `a`, but at least `low` and at most `high`, which are public. As in NumPy, `high` wins over `low`.
    pub fn clip(&mut self, a: NodeId, low: NodeId, high: NodeId) -> Result<NodeId, ProgramError> {
        if self.type_of(low)?.secret || self.type_of(high)?.secret {
            return Err(self.fault(Fault::SecretBounds));
        }
        if self.kind(a)? == Dtype::Bool {
            let raised = self.maximum(a, low)?;
            return self.minimum(raised, high);
        }
        let (one, low) = self.alike(Operation::Clip.name(), a, low)?;
        let (one, high) = self.alike(Operation::Clip.name(), one, high)?;
        let (low, _) = self.alike(Operation::Clip.name(), low, one)?;
        if self.type_of(low)?.range.hi() > self.type_of(high)?.range.lo() {
            let raised = self.maximum(one, low)?;
            return self.minimum(raised, high);
        }
        self.push(Operation::Clip, &[one, low, high])
    }

    /// The least element along an axis, or of all. Of bools: whether all hold.
    pub fn min(&mut self, a: NodeId, axis: Option<i64>, keepdims: bool) -> Result<NodeId, ProgramError> {
        let (a, axis, keepdims) = self.along(a, axis, keepdims)?;
        self.push(Operation::Extremum { which: Extreme::Min, axis, keepdims }, &[a])
    }

    /// The largest element along an axis, or of all. Of bools: whether any holds.
    pub fn max(&mut self, a: NodeId, axis: Option<i64>, keepdims: bool) -> Result<NodeId, ProgramError> {
        let (a, axis, keepdims) = self.along(a, axis, keepdims)?;
        self.push(Operation::Extremum { which: Extreme::Max, axis, keepdims }, &[a])
    }

    /// Where along an axis, or among all in row-major order, the least element first stands.
    pub fn argmin(&mut self, a: NodeId, axis: Option<i64>, keepdims: bool) -> Result<NodeId, ProgramError> {
        self.arg(a, axis, keepdims, Extreme::Min)
    }

    /// Where along an axis, or among all in row-major order, the largest element first stands.
    pub fn argmax(&mut self, a: NodeId, axis: Option<i64>, keepdims: bool) -> Result<NodeId, ProgramError> {
        self.arg(a, axis, keepdims, Extreme::Max)
    }

    /// `|a|`.
    pub fn abs(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        self.push(Operation::Abs, &[a])
    }

    /// `max(a, 0)`.
    pub fn relu(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        self.push(Operation::Relu, &[a])
    }

    /// `a < b`, for what the user wrote with another sign.
    fn ordered(&mut self, sign: &'static str, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.comparable(sign, a, b)?;
        self.push(Operation::Less, &[a, b])
    }

    /// `b < a`, for what the user wrote with another sign.
    fn flipped(&mut self, sign: &'static str, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.comparable(sign, a, b)?;
        self.push(Operation::Less, &[b, a])
    }

    /// Both as they can be compared; errors have the user's sign and order.
    fn comparable(
        &mut self,
        sign: &'static str,
        a: NodeId,
        b: NodeId,
    ) -> Result<(NodeId, NodeId), ProgramError> {
        let (left, right) = (self.type_of(a)?, self.type_of(b)?);
        shape::broadcast(sign, &left.shape, &right.shape).map_err(|fault| self.fault(fault))?;
        self.alike(sign, a, b)
    }

    fn pick(&mut self, a: NodeId, b: NodeId, which: Extreme) -> Result<NodeId, ProgramError> {
        if self.bools(a, b)? {
            let operation = if which == Extreme::Min { Operation::And } else { Operation::Or };
            return self.push(operation, &[a, b]);
        }
        let (a, b) = self.alike(Operation::Pick(which).name(), a, b)?;
        self.push(Operation::Pick(which), &[a, b])
    }

    fn arg(
        &mut self,
        a: NodeId,
        axis: Option<i64>,
        keepdims: bool,
        which: Extreme,
    ) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        let (a, axis, keepdims) = self.along(a, axis, keepdims)?;
        self.push(Operation::ArgExtremum { which, axis, keepdims }, &[a])
    }

    fn bools(&self, a: NodeId, b: NodeId) -> Result<bool, ProgramError> {
        Ok(self.kind(a)? == Dtype::Bool && self.kind(b)? == Dtype::Bool)
    }

    /// The operand and the axis of an extreme, and whether the axis stays; without an axis, of all elements in a row.
    fn along(
        &mut self,
        a: NodeId,
        axis: Option<i64>,
        keepdims: bool,
    ) -> Result<(NodeId, usize, bool), ProgramError> {
        let rank = self.type_of(a)?.rank();
        match axis {
            Some(axis) => Ok((a, shape::axis(axis, rank).map_err(|fault| self.fault(fault))?, keepdims)),
            // Without axes there is none to keep.
            None if keepdims && rank > 0 => {
                let mut flat = vec![1; rank];
                flat[rank - 1] = -1;
                Ok((self.reshape(a, &flat)?, rank - 1, true))
            }
            None => Ok((self.reshape(a, &[-1])?, 0, false)),
        }
    }
}
