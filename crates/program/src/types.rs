//! What a value is: its dtype, its shape, and the range that its elements can't leave.

use std::fmt;

use crate::domain::Width;
use crate::modulus::Modulus;

/// Axes that a value may have.
pub const MAX_RANK: usize = 8;
/// Elements that a value may have.
pub const MAX_ELEMENTS: usize = 1 << 28;
/// Fraction bits that an input or a constant may have. A product has the sum of its factors' until it is
/// truncated.
pub const MAX_FRACTION: u8 = 32;

/// What the elements of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// True or false.
    Bool,
    /// Exact signed integers; how wide they are follows from their range.
    Int,
    /// Numbers `raw / 2^frac` with an exact signed integer `raw`.
    Fixed {
        /// Bits after the binary point.
        frac: u8,
    },
    /// Integers modulo m, seen as 0 to m - 1. They have sums and products, but no order. Those modulo 2^8, 2^16,
    /// 2^32 and 2^64 can also be compared for equality, chosen by bools and made of them.
    Modular(Modulus),
}

impl Dtype {
    /// Bits after the binary point: 0 but for fixed point.
    pub const fn frac(self) -> u8 {
        match self {
            Self::Fixed { frac } => frac,
            Self::Bool | Self::Int | Self::Modular(_) => 0,
        }
    }

    /// Integers, or fixed point with `frac` bits where that isn't 0.
    pub const fn with_frac(frac: u8) -> Self {
        if frac == 0 { Self::Int } else { Self::Fixed { frac } }
    }

    /// Whether ranges are tracked: integers and fixed point.
    pub const fn is_ranged(self) -> bool {
        matches!(self, Self::Int | Self::Fixed { .. })
    }

    /// Words of 64 bits that a raw element takes: 1, or 2 for moduli of more than 64 bits.
    pub const fn limbs(self) -> usize {
        match self {
            Self::Modular(modulus) => modulus.limbs(),
            Self::Bool | Self::Int | Self::Fixed { .. } => 1,
        }
    }

    /// Whether an element can have this raw value: one in the range, or any below the modulus. Values from 2^127 on
    /// stand for themselves less 2^128.
    pub const fn holds(self, range: Range, raw: i128) -> bool {
        match self {
            Self::Modular(modulus) => modulus.holds(raw as u128),
            Self::Bool | Self::Int | Self::Fixed { .. } => range.holds(raw),
        }
    }

    /// The widest range of raw values: what an element of this dtype can be if nothing narrower is declared. That of
    /// a modulus beyond 2^127 ends there.
    pub const fn whole(self) -> Range {
        match self {
            Self::Bool => Range { lo: 0, hi: 1 },
            Self::Int | Self::Fixed { .. } => Range::of_width(Width::W64),
            Self::Modular(modulus) => {
                let last = modulus.last();
                Range { lo: 0, hi: if last > i128::MAX as u128 { i128::MAX } else { last as i128 } }
            }
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Fixed { frac } => write!(f, "fixed({frac})"),
            Self::Modular(modulus) => write!(f, "mod {modulus}"),
        }
    }
}

/// An interval of raw values, both ends in it, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    lo: i128,
    hi: i128,
}

impl Range {
    /// `lo` to `hi`; `None` if `lo` is above `hi`.
    pub const fn new(lo: i128, hi: i128) -> Option<Self> {
        if lo <= hi { Some(Self { lo, hi }) } else { None }
    }

    /// One value.
    pub const fn point(value: i128) -> Self {
        Self { lo: value, hi: value }
    }

    /// The signed integers of `width`: what a declared int8 to int64 says.
    pub const fn of_width(width: Width) -> Self {
        let half = 1i128 << (width.bits() - 1);
        Self { lo: -half, hi: half - 1 }
    }

    /// The raw range of the real numbers from `lo` to `hi` with `frac` bits, ends rounded to nearest as
    /// [`crate::encode`] rounds them. `None` if an end isn't a number, if `lo` is above `hi`, or if a raw value
    /// doesn't fit in 64 bits.
    pub fn of_reals(lo: f64, hi: f64, frac: u8) -> Option<Self> {
        let raw = |end: f64| to_raw(end, frac).filter(|raw| Self::of_width(Width::W64).holds(*raw));
        Self::new(raw(lo)?, raw(hi)?)
    }

    /// The range of what `values` holds; `None` if it holds nothing.
    pub fn of_values(values: &[i128]) -> Option<Self> {
        let (lo, hi) = (values.iter().min()?, values.iter().max()?);
        Some(Self { lo: *lo, hi: *hi })
    }

    /// The least value.
    pub const fn lo(self) -> i128 {
        self.lo
    }

    /// The largest value.
    pub const fn hi(self) -> i128 {
        self.hi
    }

    /// Whether `value` lies in it.
    pub const fn holds(self, value: i128) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Whether all of `other` lies in it.
    pub const fn covers(self, other: Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// The least signed width that holds it; `None` if 64 bits don't.
    pub fn width(self) -> Option<Width> {
        Width::ALL.into_iter().find(|width| Self::of_width(*width).covers(self))
    }

    /// The least range that covers both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    // Sums and products saturate: a range that reaches the end of 128 bits is refused like any beyond 64.

    pub(crate) fn add(self, other: Self) -> Self {
        Self { lo: self.lo.saturating_add(other.lo), hi: self.hi.saturating_add(other.hi) }
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        self.add(other.neg())
    }

    pub(crate) fn neg(self) -> Self {
        Self { lo: self.hi.saturating_neg(), hi: self.lo.saturating_neg() }
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        let ends = [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)]
            .map(|(a, b)| a.saturating_mul(b));
        ends.into_iter().map(Self::point).fold(Self::point(ends[0]), Self::hull)
    }

    /// Of `x * x`.
    pub(crate) fn square(self) -> Self {
        let product = self.mul(self);
        let lo = if self.holds(0) { 0 } else { self.lo.saturating_mul(self.lo).min(product.hi) };
        Self { lo: lo.min(self.hi.saturating_mul(self.hi)), hi: product.hi }
    }

    /// Of a sum of `terms` values.
    pub(crate) fn times(self, terms: usize) -> Self {
        self.mul(Self::point(terms as i128))
    }

    pub(crate) fn abs(self) -> Self {
        let (a, b) = (self.lo.saturating_abs(), self.hi.saturating_abs());
        Self { lo: if self.holds(0) { 0 } else { a.min(b) }, hi: a.max(b) }
    }

    pub(crate) fn relu(self) -> Self {
        Self { lo: self.lo.max(0), hi: self.hi.max(0) }
    }

    /// Elementwise maximum.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Elementwise minimum.
    pub(crate) fn min(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Of `floor(x / 2^by)`.
    pub(crate) fn shift_right(self, by: u8) -> Self {
        Self { lo: self.lo >> by, hi: self.hi >> by }
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes, row-major; no axis is empty.
    pub shape: Vec<usize>,
    /// What raw elements can be.
    pub range: Range,
    /// Whether it depends on an input. What doesn't is known to everybody.
    pub secret: bool,
}

impl Type {
    /// Elements in all.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element. Never, in a program.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The least of int8 to int64 that holds it: what a user calls its dtype. Modular integers: the k of 2^k if it
    /// is a machine word's, else 64.
    pub fn width(&self) -> Width {
        match self.kind {
            Dtype::Modular(modulus) => modulus.width().unwrap_or(Width::W64),
            Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => self.range.width().unwrap_or(Width::W64),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, Dims(&self.shape))
    }
}

/// A shape as Python prints it.
pub(crate) struct Dims<'a>(pub(crate) &'a [usize]);

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (axis, length) in self.0.iter().enumerate() {
            if axis > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{length}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

/// `round(x 2^frac)`, ties up; `None` for a NaN or an infinity. Saturates far beyond 64 bits.
pub(crate) fn to_raw(x: f64, frac: u8) -> Option<i128> {
    // Scaling by a power of two is exact, and so is the distance to the floor.
    let scaled = x * (1u128 << frac.min(64)) as f64;
    let floor = scaled.floor();
    x.is_finite().then(|| (floor as i128).saturating_add(i128::from(scaled - floor >= 0.5)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(lo: i128, hi: i128) -> Range {
        Range::new(lo, hi).unwrap()
    }

    #[test]
    fn ranges_follow_the_operations_on_every_pair_of_values() {
        let ends = [-5, -2, 0, 1, 3];
        for (i, &lo) in ends.iter().enumerate() {
            for &hi in &ends[i..] {
                let x = range(lo, hi);
                assert_eq!(x.square(), (lo..=hi).map(|v| Range::point(v * v)).reduce(Range::hull).unwrap());
                assert_eq!(x.abs(), (lo..=hi).map(|v| Range::point(v.abs())).reduce(Range::hull).unwrap());
                for (j, &lo2) in ends.iter().enumerate() {
                    for &hi2 in &ends[j..] {
                        let y = range(lo2, hi2);
                        let pairs = |f: fn(i128, i128) -> i128| {
                            (lo..=hi)
                                .flat_map(|a| (lo2..=hi2).map(move |b| Range::point(f(a, b))))
                                .reduce(Range::hull)
                                .unwrap()
                        };
                        assert_eq!(x.add(y), pairs(|a, b| a + b));
                        assert_eq!(x.sub(y), pairs(|a, b| a - b));
                        assert_eq!(x.mul(y), pairs(|a, b| a * b));
                        assert_eq!(x.max(y), pairs(i128::max));
                        assert_eq!(x.min(y), pairs(i128::min));
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_knows_its_width_at_the_edges() {
        assert_eq!(range(-128, 127).width(), Some(Width::W8));
        assert_eq!(range(-129, 0).width(), Some(Width::W16));
        assert_eq!(range(0, 128).width(), Some(Width::W16));
        assert_eq!(range(0, i128::from(i64::MAX)).width(), Some(Width::W64));
        assert_eq!(range(0, i128::from(i64::MAX) + 1).width(), None);
        assert_eq!(Range::new(1, 0), None);
    }

    #[test]
    fn reals_become_raw_ends() {
        assert_eq!(Range::of_reals(0.0, 1e6, 16), Some(range(0, 65_536_000_000)));
        assert_eq!(Range::of_reals(0.0, f64::INFINITY, 16), None);
        assert_eq!(Range::of_reals(0.0, 1e18, 16), None);
        assert_eq!(Range::of_reals(1.0, 0.0, 16), None);
    }
}
