//! What modular integers are reduced by, and their exact arithmetic in the clear.

use std::fmt;

/// A modulus: a power of two up to 2^128, one of two primes, or a polynomial over two elements.
///
/// Its elements are the integers from 0 to the modulus less 1, and the polynomials of a degree below 128, with the coefficient
/// of `x^i` as bit `i` of an integer. One takes a word of 64 bits where raw elements are
/// written, or two, the low one first, if it has more bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Modulus {
    /// 2^n, for an n from 1 to 128.
    PowerOfTwo(u8),
    /// The prime 2^61 - 1.
    Mersenne61,
    /// The prime 2^128 - 159, the largest of 128 bits.
    Prime128,
    /// The polynomial `x^128 + x^7 + x^2 + x + 1`: elements of GF(2^128), where a sum is an exclusive or.
    Gf128,
}

/// `x^128` modulo [`Modulus::Gf128`].
const TAIL: u128 = 0x87;

/// 2^128 modulo [`Modulus::Prime128`].
const GAP: u128 = 159;

impl Modulus {
    /// Whether programs can have integers modulo it: it is no polynomial, and the exponent is from 1 to 128.
    pub const fn is_valid(self) -> bool {
        match self {
            Self::PowerOfTwo(n) => 1 <= n && n <= 128,
            Self::Mersenne61 | Self::Prime128 => true,
            Self::Gf128 => false,
        }
    }

    /// The largest element.
    pub const fn last(self) -> u128 {
        match self {
            Self::PowerOfTwo(n) => u128::MAX >> (128 - n),
            Self::Mersenne61 => (1 << 61) - 2,
            Self::Prime128 => u128::MAX - GAP,
            Self::Gf128 => u128::MAX,
        }
    }

    /// Bits of an element, and so of one in a message.
    pub const fn bits(self) -> u8 {
        match self {
            Self::PowerOfTwo(n) => n,
            Self::Mersenne61 => 61,
            Self::Prime128 | Self::Gf128 => 128,
        }
    }

    /// Words of 64 bits that a raw element takes.
    pub const fn limbs(self) -> usize {
        self.bits().div_ceil(64) as usize
    }

    /// Whether `value` is an element.
    pub const fn holds(self, value: u128) -> bool {
        value <= self.last()
    }

    /// An integer, reduced.
    pub fn reduce(self, value: i128) -> u128 {
        let magnitude = self.reduce_unsigned(value.unsigned_abs());
        if value < 0 { self.sub(0, magnitude) } else { magnitude }
    }

    /// An unsigned integer, reduced.
    pub const fn reduce_unsigned(self, value: u128) -> u128 {
        match self {
            Self::PowerOfTwo(_) => value & self.last(),
            Self::Mersenne61 => value % (self.last() + 1),
            // The modulus is more than half of 2^128.
            Self::Prime128 if value > self.last() => value - self.last() - 1,
            Self::Prime128 | Self::Gf128 => value,
        }
    }

    /// `a + b`, of elements.
    pub const fn add(self, a: u128, b: u128) -> u128 {
        match self {
            Self::PowerOfTwo(_) => a.wrapping_add(b) & self.last(),
            Self::Gf128 => a ^ b,
            Self::Mersenne61 | Self::Prime128 => {
                // a + b = a - (p - b): no sum has to fit.
                let rest = self.last() + 1 - b;
                if a >= rest { a - rest } else { a + b }
            }
        }
    }

    /// `a - b`, of elements.
    pub const fn sub(self, a: u128, b: u128) -> u128 {
        match self {
            Self::PowerOfTwo(_) => a.wrapping_sub(b) & self.last(),
            Self::Gf128 => a ^ b,
            Self::Mersenne61 | Self::Prime128 => {
                if a >= b {
                    a - b
                } else {
                    self.last() + 1 - b + a
                }
            }
        }
    }

    /// `a * b`, of elements.
    pub fn mul(self, a: u128, b: u128) -> u128 {
        match self {
            Self::PowerOfTwo(_) => a.wrapping_mul(b) & self.last(),
            // Horner's rule, from the highest coefficient of b on.
            Self::Gf128 => (0..128).rev().fold(0, |sum: u128, bit| {
                let times_x = sum << 1 ^ if sum >> 127 == 1 { TAIL } else { 0 };
                times_x ^ if b >> bit & 1 == 1 { a } else { 0 }
            }),
            Self::Mersenne61 => self.reduce_unsigned(a * b),
            Self::Prime128 => {
                // a b = a (b_1 2^64 + b_0); each product of a with 64 bits has 192, of which those above 128 count
                // `GAP` times.
                let times = |b: u64| {
                    let (low, high) = (u128::from(a as u64) * u128::from(b), (a >> 64) * u128::from(b));
                    let (sum, carry) = low.overflowing_add(high << 64);
                    let above = (high >> 64) + u128::from(carry);
                    self.add(self.reduce_unsigned(sum), above * GAP)
                };
                let (low, high) = (times(b as u64), times((b >> 64) as u64));
                // high 2^64, by 32 bits at a time: what leaves at the top comes back `GAP` times.
                let shift = |x: u128| self.add(self.reduce_unsigned(x << 32), (x >> 96) * GAP);
                self.add(low, shift(shift(high)))
            }
        }
    }
}

impl fmt::Display for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PowerOfTwo(n) => write!(f, "2^{n}"),
            Self::Mersenne61 => f.write_str("2^61-1"),
            Self::Prime128 => f.write_str("2^128-159"),
            Self::Gf128 => f.write_str("x^128+x^7+x^2+x+1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Width};
    use num_bigint::{BigInt, Sign};

    fn all() -> impl Iterator<Item = Modulus> {
        (1..=128).map(Modulus::PowerOfTwo).chain([Modulus::Mersenne61, Modulus::Prime128])
    }

    fn big(value: u128) -> BigInt {
        BigInt::from(value)
    }

    #[test]
    fn arithmetic_is_that_of_integers_of_any_size() {
        for modulus in all() {
            let p = big(modulus.last()) + 1;
            let last = modulus.last();
            let spread = [0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978, 1 << 64, u64::MAX.into(), 1 << 127];
            let mut samples = vec![0, 1.min(last), last, last - 1.min(last), last / 2, last / 3];
            samples.extend(spread.map(|value| modulus.reduce_unsigned(value)));
            for &a in &samples {
                for &b in &samples {
                    assert_eq!(big(modulus.add(a, b)), (big(a) + big(b)) % &p, "{a} + {b} mod {modulus}");
                    assert_eq!(
                        big(modulus.sub(a, b)),
                        (&p + big(a) - big(b)) % &p,
                        "{a} - {b} mod {modulus}"
                    );
                    assert_eq!(big(modulus.mul(a, b)), big(a) * big(b) % &p, "{a} * {b} mod {modulus}");
                }
            }
            for value in [0, -1, i128::MIN, i128::MAX, 300, -300] {
                let expected = (BigInt::from(value) % &p + &p) % &p;
                assert_eq!(big(modulus.reduce(value)), expected, "{value} mod {modulus}");
                assert_ne!(expected.sign(), Sign::Minus);
            }
        }
    }

    #[test]
    fn a_polynomial_makes_a_field() {
        const FIELD: Modulus = Modulus::Gf128;
        // x^127 x, and x^127 x^127 = x^126 (x^7 + x^2 + x + 1) = x^133 + x^128 + x^127 + x^126.
        assert_eq!(FIELD.mul(1 << 127, 2), 0x87);
        assert_eq!(FIELD.mul(1 << 127, 1 << 127), 3 << 126 ^ 0x87 ^ 0x87 << 5);
        let (a, b, c) = (0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978, u128::MAX / 3, u128::MAX / 7);
        assert_eq!(FIELD.mul(FIELD.add(a, b), c), FIELD.add(FIELD.mul(a, c), FIELD.mul(b, c)));
        assert_eq!((FIELD.add(a, a), FIELD.sub(a, b), FIELD.mul(a, 1)), (0, FIELD.add(a, b), a));
        // a^(2^128) = a.
        assert_eq!((0..128).fold(a, |power, _| FIELD.mul(power, power)), a);
        assert!(!FIELD.is_valid());
    }

    #[test]
    fn a_modulus_has_limbs_and_a_domain() {
        assert!(!Modulus::PowerOfTwo(0).is_valid() && !Modulus::PowerOfTwo(129).is_valid());
        assert_eq!((Modulus::PowerOfTwo(64).limbs(), Modulus::PowerOfTwo(65).limbs()), (1, 2));
        assert_eq!(Modulus::PowerOfTwo(32).domain(), Domain::Ring(Width::W32));
        assert_eq!(Modulus::Mersenne61.domain(), Domain::Modular(Modulus::Mersenne61));
    }
}
