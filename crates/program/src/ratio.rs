//! Products with public numbers and quotients by them, as fractions of large integers.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;

use crate::operations::parameters::Rounding;
use crate::real::{Real, Reals};
use crate::types::Range;

/// `x -> a x / d`, for a `d` above 0.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    a: BigInt,
    d: BigInt,
}

impl Ratio {
    /// Multiplies by a number.
    pub(crate) fn times(number: Real) -> Self {
        let fraction = number.exponent().min(0).unsigned_abs();
        Self { a: number.scaled(fraction), d: BigInt::from(1) << fraction }
    }

    /// Divides by a number, which isn't 0.
    pub(crate) fn over(number: Real) -> Self {
        let Self { a, d } = Self::times(number);
        match a.sign() {
            Sign::Minus => Self { a: -d, d: -a },
            Sign::NoSign | Sign::Plus => Self { a: d, d: a },
        }
    }

    /// `floor(a x / d)`, or the nearest integer, ties up.
    pub(crate) fn of(&self, x: i128, rounding: Rounding) -> BigInt {
        let line = self.line(rounding);
        (line.a * x + line.b).div_floor(&line.d)
    }

    pub(crate) fn line(&self, rounding: Rounding) -> Line {
        let Self { a, d } = self;
        match rounding {
            Rounding::Floor => Line { a: a.clone(), b: BigInt::ZERO, d: d.clone() },
            Rounding::Nearest => Line { a: a * 2, b: d.clone(), d: d * 2 },
        }
    }
}

/// An operation that is elementwise: by these numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elementwise<'a> {
    pub(crate) numbers: &'a Reals,
    pub(crate) rounding: Rounding,
    pub(crate) divides: bool,
}

impl<'a> Elementwise<'a> {
    /// A product.
    pub(crate) const fn times(numbers: &'a Reals) -> Self {
        Self { numbers, rounding: Rounding::Nearest, divides: false }
    }

    /// A quotient.
    pub(crate) const fn over(divisors: &'a Reals, rounding: Rounding) -> Self {
        Self { numbers: divisors, rounding, divides: true }
    }

    /// What one of the numbers does.
    pub(crate) fn ratio(&self, number: Real) -> Ratio {
        if self.divides { Ratio::over(number) } else { Ratio::times(number) }
    }
}

/// A matrix of public numbers as those places of one sum which follow each other: `outer` times `terms` times `inner`
/// numbers, summed over the middle.
pub(crate) fn lines(shape: &[usize], left: bool) -> (usize, usize, usize) {
    let (batch, last) = match *shape {
        [.., _, last] => (shape[..shape.len() - 1].iter().product(), last),
        [last] => (1, last),
        [] => (1, 1),
    };
    match *shape {
        [.., terms, last] if !left => (batch / terms, terms, last),
        [terms] if !left => (1, terms, 1),
        _ => (batch, last, 1),
    }
}

/// The range of each sum of products with a public matrix, rounded; of all of them together.
pub(crate) fn weighed(matrix: &Reals, left: bool, x: Range) -> Range {
    let fraction = matrix.fraction();
    let (outer, terms, inner) = lines(matrix.shape(), left);
    let line = |outer: usize, at: usize| {
        let mut ends = [BigInt::ZERO, BigInt::ZERO];
        for term in 0..terms {
            let number = matrix.numbers()[(outer * terms + term) * inner + at];
            let weight = number.scaled(fraction);
            let of = if number.mantissa() < 0 { [x.hi(), x.lo()] } else { [x.lo(), x.hi()] };
            of.iter().zip(&mut ends).for_each(|(&of, end)| *end += &weight * of);
        }
        let [lo, hi] = ends.map(|end| Range::point(saturated(&nearest(end, fraction))));
        lo.hull(hi)
    };
    let lines = (0..outer).flat_map(|outer| (0..inner).map(move |at| (outer, at)));
    lines.map(|(outer, at)| line(outer, at)).reduce(Range::hull).unwrap_or(Range::point(0))
}

/// The nearest integer to `x / 2^by`, ties up.
pub(crate) fn nearest(x: BigInt, by: u16) -> BigInt {
    if by == 0 { x } else { (x + (BigInt::from(1) << (by - 1))) >> by }
}

/// The nearest number of 128 bits.
pub(crate) fn saturated(x: &BigInt) -> i128 {
    i128::try_from(x).unwrap_or(if x.sign() == Sign::Minus { i128::MIN } else { i128::MAX })
}

/// `x -> floor((a x + b) / d)`.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) a: BigInt,
    pub(crate) b: BigInt,
    pub(crate) d: BigInt,
}
