//! Public numbers as they are written: binary fractions, kept exactly.
//!
//! A factor or a divisor has no step to be rounded to: what a 64-bit float or integer holds is what counts. So a
//! product with 0.1 is one with 3602879701896397 / 2^55, which is that float, and is rounded once, as a result.

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;

use crate::value::{Data, Value, ValueError, position};

/// The least exponent: that of the last bit of the smallest float.
const LEAST: i16 = -1074;
/// The largest exponent: that of the first bit of the largest float.
const MOST: i16 = 1023;

/// `mantissa * 2^exponent`: a float, or an integer of 64 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Real {
    /// Odd, or 0 where the number is.
    mantissa: i64,
    exponent: i16,
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integer() {
            Some(whole) => write!(f, "{whole}"),
            None => write!(f, "{}", self.to_float()),
        }
    }
}

impl Real {
    /// The number in its one form; `None` if the exponent is beyond those of floats.
    pub fn new(mantissa: i64, exponent: i16) -> Option<Self> {
        let zeros = mantissa.trailing_zeros();
        if mantissa == 0 {
            return Some(Self { mantissa, exponent: 0 });
        }
        let exponent =
            exponent.checked_add(zeros as i16).filter(|exponent| (LEAST..=MOST).contains(exponent))?;
        Some(Self { mantissa: mantissa >> zeros, exponent })
    }

    /// The number that a float holds; `None` for a NaN or an infinity.
    pub fn of_float(x: f64) -> Option<Self> {
        const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
        if !x.is_finite() {
            return None;
        }
        let (bits, below) = (x.to_bits(), (1_u64 << FRACTION) - 1);
        let exponent = (bits >> FRACTION) as i16 & 0x7ff;
        // Without the leading 1 where the exponent is the least.
        let magnitude = (bits & below | u64::from(exponent > 0) << FRACTION) as i64;
        Self::new(if x < 0.0 { -magnitude } else { magnitude }, exponent.max(1) - 1 + LEAST)
    }

    /// An integer; `None` if it has an odd factor of 2^63 or more.
    fn of_unsigned(x: u128) -> Option<Self> {
        let zeros = if x == 0 { 0 } else { x.trailing_zeros() };
        Self::new(i64::try_from(x >> zeros).ok()?, zeros as i16)
    }

    /// The odd part, with the sign.
    pub const fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// The exponent of 2.
    pub const fn exponent(self) -> i16 {
        self.exponent
    }

    /// Whether it is 0.
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The number times 2^by, for a `by` that leaves no fraction.
    pub(crate) fn scaled(self, by: u16) -> BigInt {
        BigInt::from(self.mantissa) << (i32::from(self.exponent) + i32::from(by)).max(0)
    }

    /// The number as an integer of 64 bits, if it is one.
    pub(crate) fn integer(self) -> Option<i64> {
        let by = u32::try_from(self.exponent).ok().filter(|&by| by < 64)?;
        i64::try_from(i128::from(self.mantissa) << by).ok()
    }

    /// The nearest float.
    pub fn to_float(self) -> f64 {
        // A mantissa of more than 53 bits is that of an integer, and rounded here; the rest is exact. In two steps, since
        // 2^-1074 is a float, and 2^1074 isn't.
        let half = i32::from(self.exponent) / 2;
        self.mantissa as f64 * 2_f64.powi(half) * 2_f64.powi(i32::from(self.exponent) - half)
    }
}

/// An array of [`Real`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reals {
    shape: Vec<usize>,
    numbers: Arc<[Real]>,
}

impl Reals {
    /// Numbers in row-major order; `None` if there are not as many as the shape has.
    pub(crate) fn new(shape: Vec<usize>, numbers: Vec<Real>) -> Option<Self> {
        let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        (count == Some(numbers.len())).then(|| Self { shape, numbers: Arc::from(numbers) })
    }

    /// Raw elements of `frac` fraction bits, of 64 bits each.
    pub(crate) fn of_raw(shape: &[usize], raw: &[i128], frac: u8) -> Option<Self> {
        let number = |&raw: &i128| Real::new(i64::try_from(raw).ok()?, -i16::from(frac));
        Self::new(shape.to_vec(), raw.iter().map(number).collect::<Option<_>>()?)
    }

    /// The numbers of a clear value.
    ///
    /// # Errors
    /// Of another length, a NaN, an infinity, an integer that has an odd factor of 2^63 or more.
    pub(crate) fn of_value(value: &Value) -> Result<Self, ValueError> {
        let Value { shape, data } = value;
        let mut numbers = Vec::with_capacity(data.len());
        for place in 0..data.len() {
            let outside = |shown: String| {
                let (lo, hi) = (i64::MIN as f64, i64::MAX as f64);
                ValueError::Range { position: position(shape, place), value: shown, lo, hi }
            };
            numbers.push(match data {
                Data::Bool(data) => Real::of_unsigned(data[place].into()).unwrap_or_default(),
                Data::Int(data) => Real::new(data[place], 0).unwrap_or_default(),
                Data::Unsigned(data) => {
                    Real::of_unsigned(data[place].into()).ok_or_else(|| outside(data[place].to_string()))?
                }
                Data::Wide(data) => {
                    Real::of_unsigned(data[place]).ok_or_else(|| outside(data[place].to_string()))?
                }
                Data::Float(data) => Real::of_float(data[place]).ok_or_else(|| ValueError::NotFinite {
                    position: position(shape, place),
                    value: data[place].to_string(),
                })?,
            });
        }
        let length = || ValueError::Length { given: data.len(), shape: shape.clone() };
        Self::new(shape.clone(), numbers).ok_or_else(length)
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers, in row-major order.
    pub fn numbers(&self) -> &[Real] {
        &self.numbers
    }

    /// The numbers as integers of 64 bits, if all are.
    pub(crate) fn integers(&self) -> Option<Vec<i128>> {
        self.numbers.iter().map(|number| number.integer().map(i128::from)).collect()
    }

    /// The most fraction bits that one of them has.
    pub(crate) fn fraction(&self) -> u16 {
        let bits = |number: &Real| number.exponent.min(0).unsigned_abs();
        self.numbers.iter().map(bits).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_is_kept_to_its_last_bit() {
        for x in
            [0.0, -0.0, 1.0, -2.5, 0.1, 1e300, -1e-300, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::EPSILON]
        {
            let real = Real::of_float(x).unwrap();
            assert_eq!(real.to_float().total_cmp(&(x + 0.0)), std::cmp::Ordering::Equal, "{real:?}");
            assert!(real.mantissa % 2 != 0 || (real.mantissa, real.exponent) == (0, 0));
        }
        assert_eq!(Real::of_float(0.1), Real::new(3_602_879_701_896_397, -55));
        assert!([f64::NAN, f64::INFINITY].iter().all(|&x| Real::of_float(x).is_none()));
        assert_eq!((Real::new(1, -1075), Real::new(2, -1075)), (None, Real::of_float(5e-324)));
        assert_eq!((Real::new(1, 1024), Real::new(i64::MIN, 961)), (None, None));
    }

    #[test]
    fn integers_are_known() {
        for x in [0, 1, -1, 96, i64::MAX, i64::MIN, -6] {
            assert_eq!(Real::new(x, 0).unwrap().integer(), Some(x));
        }
        for x in [0.5, 2_f64.powi(63), 1e300, -1e19, 5e-324] {
            assert_eq!(Real::of_float(x).unwrap().integer(), None);
        }
        assert_eq!(Real::new(3, 2).unwrap().scaled(5), BigInt::from(3 << 7));
        let odd = Value { shape: vec![2], data: Data::Unsigned(vec![1 << 63, u64::MAX]) };
        assert!(matches!(Reals::of_value(&odd), Err(ValueError::Range { position, .. }) if position == [1]));
        let wide = Value { shape: vec![2], data: Data::Wide(vec![10_u128.pow(20), 0]) };
        let numbers = Reals::of_value(&wide).unwrap();
        assert_eq!(numbers.numbers(), [Real::of_float(1e20).unwrap(), Real::default()]);
    }
}
