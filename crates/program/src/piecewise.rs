//! Functions by polynomials on pieces of a domain: integers in, integers out, and every rounding is a part of what they mean.

use std::sync::Arc;

use crate::types::Range;

/// Where pieces begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pieces {
    /// Pieces of `2^bits` integers, from `low` to `high`; what is outside counts as the nearer end.
    Even {
        /// The first integer.
        low: i64,
        /// The last one.
        high: i64,
        /// Of a piece, the binary logarithm of how many integers it has.
        bits: u8,
    },
    /// Every octave, from a power of two to the next, in `2^parts` pieces; there are `bits` octaves from 1 on. What is below 1
    /// counts as 1, and what is `2^bits` or more as the last integer before it.
    Octaves {
        /// How many octaves.
        bits: u8,
        /// The binary logarithm of how many pieces an octave has.
        parts: u8,
    },
}

/// A function of integers: on each piece a polynomial in how far a number is into it.
///
/// A number is in piece `i`, `u / 2^places` of the way through it, rounded down. From the highest coefficient on, a sum `s` becomes
/// `c_j + floor(s u / 2^places)`. The last one is divided by `2^guard` and rounded to the nearest, ties up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piecewise {
    pieces: Pieces,
    places: u8,
    guard: u8,
    /// Coefficients of a piece, the lowest first.
    terms: usize,
    coefficients: Arc<[i64]>,
}

/// Pieces that a function may have.
const MAX_PIECES: usize = 1 << 12;

/// Coefficients that a polynomial may have.
const MAX_TERMS: usize = 5;

impl Piecewise {
    /// `None` if the numbers of pieces and coefficients don't agree, or are too large.
    pub fn new(
        pieces: Pieces,
        places: u8,
        guard: u8,
        terms: usize,
        coefficients: Arc<[i64]>,
    ) -> Option<Self> {
        let (count, rest) = match pieces {
            Pieces::Even { low, high, bits } => {
                let length = i128::from(high) - i128::from(low);
                if length < 0 || bits > 62 {
                    return None;
                }
                (usize::try_from((length >> bits) + 1).ok()?, bits)
            }
            Pieces::Octaves { bits, parts } => {
                let rest = bits.checked_sub(1)?.checked_sub(parts)?;
                if bits > 63 || parts > 10 {
                    return None;
                }
                (usize::from(bits) << parts, rest)
            }
        };
        let fits =
            count <= MAX_PIECES && (1..=MAX_TERMS).contains(&terms) && places <= rest.min(40) && guard <= 30;
        let small = coefficients.iter().all(|c| c.unsigned_abs() < 1 << 62);
        (fits && small && coefficients.len() == count * terms).then_some(Self {
            pieces,
            places,
            guard,
            terms,
            coefficients,
        })
    }

    /// Where pieces begin.
    pub fn pieces(&self) -> Pieces {
        self.pieces
    }

    /// Bits of the place in a piece.
    pub fn places(&self) -> u8 {
        self.places
    }

    /// Bits that coefficients have beyond those of results.
    pub fn guard(&self) -> u8 {
        self.guard
    }

    /// Coefficients of a piece.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// All coefficients, piece by piece, of each the lowest first.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// The coefficient of a degree, piece by piece.
    pub(crate) fn column(&self, degree: usize) -> Vec<i64> {
        self.coefficients.iter().skip(degree).step_by(self.terms).copied().collect()
    }

    /// The piece that a number is in, and how far into it.
    fn place(&self, x: i128) -> (usize, i128) {
        let (piece, within, rest) = match self.pieces {
            Pieces::Even { low, high, bits } => {
                let from = x.clamp(low.into(), high.into()) - i128::from(low);
                (from >> bits, from & ((1 << bits) - 1), bits)
            }
            Pieces::Octaves { bits, parts } => {
                let x = x.clamp(1, (1 << bits) - 1);
                let octave = x.ilog2();
                let rest = bits - 1 - parts;
                let from = (x << (u32::from(bits) - 1 - octave)) - (1 << (bits - 1));
                (i128::from(octave) << parts | from >> rest, from & ((1 << rest) - 1), rest)
            }
        };
        (piece as usize, within >> (rest - self.places))
    }

    /// The function.
    pub fn at(&self, x: i128) -> i128 {
        let (piece, u) = self.place(x);
        let row = &self.coefficients[piece * self.terms..(piece + 1) * self.terms];
        let sum = row.iter().rev().fold(0, |sum, &c| i128::from(c) + ((sum * u) >> self.places));
        rounded(sum, self.guard)
    }

    /// What the sums can be after each coefficient from the highest on, for numbers of a range.
    pub(crate) fn sums(&self, of: Range) -> Vec<Range> {
        let (first, last) = (self.place(of.lo()).0, self.place(of.hi()).0);
        let mut sums: Vec<Option<Range>> = vec![None; self.terms];
        for row in self.coefficients[first * self.terms..(last + 1) * self.terms].chunks(self.terms) {
            let mut sum = Range::point(0);
            for (&c, all) in row.iter().rev().zip(&mut sums) {
                let moved = sum.mul(Range::point(0).hull(Range::point((1 << self.places) - 1)));
                sum = moved.shift_right(self.places).add(Range::point(c.into()));
                *all = Some(all.map_or(sum, |all| all.hull(sum)));
            }
        }
        sums.into_iter().flatten().collect()
    }

    /// What the function can be, for numbers of a range.
    pub(crate) fn range(&self, of: Range) -> Range {
        let last = self.sums(of).pop().unwrap_or(Range::point(0));
        let ends = [last.lo(), last.hi()].map(|end| Range::point(rounded(end, self.guard)));
        ends[0].hull(ends[1])
    }
}

fn rounded(sum: i128, guard: u8) -> i128 {
    (sum + ((1 << guard) >> 1)) >> guard
}
