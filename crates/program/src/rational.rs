//! Fractions of integers of any size.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;

/// A fraction; its denominator is above 0. It isn't reduced: what is added up mostly has one denominator already.
#[derive(Clone, Debug)]
pub(crate) struct Rational {
    numerator: BigInt,
    denominator: BigInt,
}

impl Default for Rational {
    fn default() -> Self {
        Self::whole(BigInt::ZERO)
    }
}

impl Rational {
    /// 0 or 1.
    pub(crate) fn bit(set: bool) -> Self {
        Self::whole(set.into())
    }

    /// An integer.
    pub(crate) fn whole(numerator: BigInt) -> Self {
        Self { numerator, denominator: BigInt::from(1) }
    }

    /// `mantissa * 2^exponent`.
    pub(crate) fn binary(mantissa: BigInt, exponent: i32) -> Self {
        let below = exponent.min(0).unsigned_abs();
        Self { numerator: mantissa << exponent.max(0), denominator: BigInt::from(1) << below }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let (a, b) = (&self.denominator, &other.denominator);
        if a == b {
            return Self { numerator: &self.numerator + &other.numerator, denominator: a.clone() };
        }
        if a.is_multiple_of(b) {
            return Self { numerator: &self.numerator + &other.numerator * (a / b), denominator: a.clone() };
        }
        if b.is_multiple_of(a) {
            return other.add(self);
        }
        Self { numerator: &self.numerator * b + &other.numerator * a, denominator: a * b }
    }

    pub(crate) fn neg(&self) -> Self {
        Self { numerator: -&self.numerator, denominator: self.denominator.clone() }
    }

    pub(crate) fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        let denominator = &self.denominator * &other.denominator;
        Self { numerator: &self.numerator * &other.numerator, denominator }
    }

    /// By another one than 0.
    pub(crate) fn div(&self, other: &Self) -> Self {
        let inverse = Self { numerator: other.denominator.clone(), denominator: other.numerator.clone() };
        let product = self.mul(&inverse);
        if product.denominator.sign() == Sign::Minus {
            return Self { numerator: -product.numerator, denominator: -product.denominator };
        }
        product
    }

    /// The largest integer that isn't above it.
    pub(crate) fn floor(&self) -> BigInt {
        self.numerator.div_floor(&self.denominator)
    }

    pub(crate) fn order(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    pub(crate) fn less(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Less
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }
}
