//! Sums, products, and conversions between dtypes.

use super::{Builder, Method};
use crate::error::{Fault, ProgramError};
use crate::modulus::Modulus;
use crate::node::NodeId;
use crate::operations::{Operation, Rounding, exact_product, is_wide};
use crate::shape;
use crate::types::Dtype;

/// What can be called by name ([`Builder::call`]).
pub(super) const METHODS: &[(&str, Method)] = &[
    ("add", Method::Two(Builder::add)),
    ("sub", Method::Two(Builder::sub)),
    ("neg", Method::One(Builder::neg)),
    ("mul", Method::Two(Builder::mul)),
    ("matmul", Method::Two(Builder::matmul)),
    ("matmul_raw", Method::Two(Builder::matmul_raw)),
    ("conv", Method::Two(Builder::conv)),
    ("conv_raw", Method::Two(Builder::conv_raw)),
    ("quotient", Method::Two(Builder::quotient)),
    ("remainder", Method::Two(Builder::remainder)),
];

impl Builder {
    /// `a + b`.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.alike("+", a, b)?;
        self.push(Operation::Add, &[a, b])
    }

    /// `a - b`.
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.alike("-", a, b)?;
        self.push(Operation::Sub, &[a, b])
    }

    /// `-a`.
    pub fn neg(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        self.push(Operation::Neg, &[a])
    }

    /// `a * b`. A product with fixed point is rounded to the nearest, ties up, to the fraction bits of the
    /// secret factor, or to those of the finer one if both are secret.
    ///
    /// Local where one factor is public and integral; where it isn't, as in [`Self::scale`]. An exact product of up
    /// to 126 bits is taken; lowering to rings refuses one that is beyond what they truncate.
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let frac = self.product_frac(a, b)?;
        let (a, b) = self.factors("*", a, b)?;
        if let Some((secret, numbers, _)) = self.fraction(a, b)? {
            return self.times(secret, numbers);
        }
        self.product(a, b, false, frac)
    }

    /// `a * b` without the truncation: the result has the fraction bits of both factors together, where a public
    /// factor of integers alone has none. For sums of products, which are truncated once, with
    /// [`Builder::rescale`].
    pub fn mul_raw(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.factors("*", a, b)?;
        self.push(Operation::Mul, &[a, b])
    }

    /// `a @ b`: products of vectors, of matrices, or of batches of matrices. Fixed point is truncated once, after
    /// the sums, as [`Builder::mul`] does.
    pub fn matmul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let frac = self.product_frac(a, b)?;
        let (a, b) = self.factors("@", a, b)?;
        if let Some((secret, matrix, left)) = self.fraction(a, b)? {
            return self.push(Operation::Weigh { matrix, left }, &[secret]);
        }
        self.product(a, b, true, frac)
    }

    /// `a @ b` without the truncation, as [`Builder::mul_raw`]. For scores that are only compared, or that are
    /// truncated later, with [`Builder::rescale`].
    pub fn matmul_raw(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.factors("@", a, b)?;
        self.push(Operation::MatMul, &[a, b])
    }

    /// Inner products of windows, `a` of shape `(groups, places.., window..)`, with filters, `b` of shape `(groups, window..,
    /// outputs)`: `(groups, places.., outputs)`. What [`Builder::windows`] makes becomes a convolution. Fixed point is
    /// truncated once, after the sums.
    pub fn conv(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let product = self.conv_raw(a, b)?;
        let frac = self.product_frac(a, b)?;
        self.with_frac(product, frac)
    }

    /// The same without the truncation, as [`Builder::matmul_raw`].
    pub fn conv_raw(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = self.factors("conv", a, b)?;
        self.push(Operation::Conv, &[a, b])
    }

    /// `a // b`, of integers: rounded down. The range of `b` has to exclude 0. By public numbers
    /// [`Self::floor_divide`] costs less.
    pub fn quotient(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        self.push(Operation::Divide, &[a, b])
    }

    /// `a % b`, of integers: what `a // b` leaves, of the sign of `b`. The range of `b` has to exclude 0.
    pub fn remainder(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        self.push(Operation::Remainder, &[a, b])
    }

    /// The sum over some axes, or over all of them. Bools are counted.
    pub fn sum(&mut self, a: NodeId, axes: Option<&[i64]>, keepdims: bool) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        let axes = self.axes(a, axes)?;
        self.push(Operation::Sum { axes, keepdims }, &[a])
    }

    /// Another dtype for the same numbers: bool to any number (a secret one to modular only modulo a machine word), int
    /// to fixed point or (a public one) to modular, fixed point to other fraction bits (to the nearest, ties up, where
    /// they are fewer) or to int (down).
    pub fn astype(&mut self, a: NodeId, kind: Dtype) -> Result<NodeId, ProgramError> {
        match (self.kind(a)?, kind) {
            (from, to) if from == to => Ok(a),
            (Dtype::Bool, Dtype::Modular(modulus)) => self.modular("astype", a, modulus),
            (Dtype::Bool, Dtype::Int | Dtype::Fixed { .. }) => {
                let number = self.number(a)?;
                self.rescale(number, kind.frac())
            }
            (Dtype::Int | Dtype::Fixed { .. }, Dtype::Fixed { frac }) => self.rescale(a, frac),
            (Dtype::Fixed { frac }, Dtype::Int) => {
                self.push(Operation::Truncate { by: frac, rounding: Rounding::Floor }, &[a])
            }
            (Dtype::Int, Dtype::Modular(modulus)) if self.raw(a).is_some() => self.reduced(a, modulus),
            (from, to) => Err(self.fault(Fault::Kinds { operation: "astype", a: from, b: to })),
        }
    }

    /// The same numbers with `frac` fraction bits; rounded to the nearest, ties up, where that are fewer.
    pub fn rescale(&mut self, a: NodeId, frac: u8) -> Result<NodeId, ProgramError> {
        let own = self.kind(a)?.frac();
        if own < frac {
            self.push(Operation::Scale { by: frac - own }, &[a])
        } else {
            self.truncated_to(a, frac)
        }
    }

    /// `a >> by`: integers divided by 2^by, rounded down.
    pub fn shift_right(&mut self, a: NodeId, by: u8) -> Result<NodeId, ProgramError> {
        let a = self.number(a)?;
        if by == 0 { Ok(a) } else { self.push(Operation::ShiftRight { by }, &[a]) }
    }

    /// Bools as integers; other dtypes as they are.
    pub(super) fn number(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        if self.kind(a)? == Dtype::Bool {
            self.push(Operation::FromBool { wrapping: None }, &[a])
        } else {
            Ok(a)
        }
    }

    /// Both operands in the dtype in which they are added or compared.
    pub(super) fn alike(
        &mut self,
        operation: &'static str,
        a: NodeId,
        b: NodeId,
    ) -> Result<(NodeId, NodeId), ProgramError> {
        let (a, b) = self.ringed(operation, a, b)?;
        let frac = self.kind(a)?.frac().max(self.kind(b)?.frac());
        Ok((self.raised(a, frac)?, self.raised(b, frac)?))
    }

    /// All axes, or those given.
    pub(super) fn axes(&self, a: NodeId, axes: Option<&[i64]>) -> Result<Vec<usize>, ProgramError> {
        let rank = self.type_of(a)?.rank();
        axes.map_or(Ok((0..rank).collect()), |axes| shape::axes(axes, rank))
            .map_err(|fault| self.fault(fault))
    }

    /// Both operands as numbers with the same ring: both to one modulus, or both ranged.
    fn ringed(
        &mut self,
        operation: &'static str,
        a: NodeId,
        b: NodeId,
    ) -> Result<(NodeId, NodeId), ProgramError> {
        match (self.kind(a)?, self.kind(b)?) {
            (Dtype::Modular(modulus), Dtype::Bool | Dtype::Int) => {
                Ok((a, self.modular(operation, b, modulus)?))
            }
            (Dtype::Bool | Dtype::Int, Dtype::Modular(modulus)) => {
                Ok((self.modular(operation, a, modulus)?, b))
            }
            (x @ Dtype::Modular(_), y) if x == y => Ok((a, b)),
            (x @ Dtype::Modular(_), y) | (x, y @ Dtype::Modular(_)) => {
                Err(self.fault(Fault::Kinds { operation, a: x, b: y }))
            }
            _ => Ok((self.number(a)?, self.number(b)?)),
        }
    }

    /// Bools or public integers as integers to a modulus; secret bools only in the ring of a machine word.
    fn modular(
        &mut self,
        operation: &'static str,
        a: NodeId,
        modulus: Modulus,
    ) -> Result<NodeId, ProgramError> {
        match (self.kind(a)?, modulus.width()) {
            (Dtype::Bool | Dtype::Int, _) if self.raw(a).is_some() => self.reduced(a, modulus),
            (Dtype::Bool, Some(width)) => self.push(Operation::FromBool { wrapping: Some(width) }, &[a]),
            (kind, _) => Err(self.fault(Fault::Kinds { operation, a: kind, b: Dtype::Modular(modulus) })),
        }
    }

    /// A public integer, reduced.
    fn reduced(&mut self, a: NodeId, modulus: Modulus) -> Result<NodeId, ProgramError> {
        let raw = self.raw(a).unwrap_or(&[]).iter().map(|&raw| modulus.reduce(raw) as i128).collect();
        let shape = self.type_of(a)?.shape.clone();
        self.public(Dtype::Modular(modulus), shape, raw)
    }

    fn raised(&mut self, a: NodeId, frac: u8) -> Result<NodeId, ProgramError> {
        if self.kind(a)?.frac() < frac { self.rescale(a, frac) } else { Ok(a) }
    }

    /// More fraction bits, or fewer, to the nearest.
    fn with_frac(&mut self, a: NodeId, frac: u8) -> Result<NodeId, ProgramError> {
        let raised = self.raised(a, frac)?;
        self.truncated_to(raised, frac)
    }

    /// Fewer fraction bits, to the nearest.
    fn truncated_to(&mut self, a: NodeId, frac: u8) -> Result<NodeId, ProgramError> {
        match self.kind(a)?.frac().checked_sub(frac) {
            None | Some(0) => Ok(a),
            Some(by) => self.push(Operation::Truncate { by, rounding: Rounding::Nearest }, &[a]),
        }
    }

    /// Both factors as numbers; public fixed point that is integral as integers, which saves the truncation.
    fn factors(
        &mut self,
        operation: &'static str,
        a: NodeId,
        b: NodeId,
    ) -> Result<(NodeId, NodeId), ProgramError> {
        let (a, b) = self.ringed(operation, a, b)?;
        let both = self.raw(a).is_some() && self.raw(b).is_some();
        if both { Ok((a, b)) } else { Ok((self.integral(a)?, self.integral(b)?)) }
    }

    fn integral(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let ty = self.type_of(a)?;
        let frac = ty.kind.frac();
        match self.raw(a) {
            Some(raw) if frac > 0 && raw.iter().all(|&raw| raw.trailing_zeros() >= u32::from(frac)) => {
                let (shape, raw) = (ty.shape.clone(), raw.iter().map(|&raw| raw >> frac).collect());
                self.public(Dtype::Int, shape, raw)
            }
            _ => Ok(a),
        }
    }

    /// A product with the fraction bits that it keeps: rounded in one operation where the exact product is too long for two.
    fn product(&mut self, a: NodeId, b: NodeId, matrix: bool, frac: u8) -> Result<NodeId, ProgramError> {
        let types = [self.type_of(a)?, self.type_of(b)?];
        let all = types[0].kind.frac().saturating_add(types[1].kind.frac());
        let by = all.saturating_sub(frac);
        let range = exact_product(matrix, &types).ok().map(|(.., range)| range);
        if by > 0 && range.is_some_and(|range| is_wide(range, by)) {
            return self.push(Operation::WideProduct { matrix, by }, &[a, b]);
        }
        let product = self.push(if matrix { Operation::MatMul } else { Operation::Mul }, &[a, b])?;
        self.with_frac(product, frac)
    }

    /// Fraction bits that a product keeps.
    fn product_frac(&self, a: NodeId, b: NodeId) -> Result<u8, ProgramError> {
        let (x, y) = (self.type_of(a)?, self.type_of(b)?);
        Ok(match (x.secret, y.secret) {
            (true, false) if x.kind.frac() > 0 => x.kind.frac(),
            (false, true) if y.kind.frac() > 0 => y.kind.frac(),
            _ => x.kind.frac().max(y.kind.frac()),
        })
    }
}
