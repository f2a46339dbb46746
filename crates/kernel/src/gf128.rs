//! GF(2^128), and inner products of columns of bits over it.
//!
//! An element is a polynomial over GF(2) modulo `x^128 + x^7 + x^2 + x + 1`, its coefficient of `x^i` bit `i` of the
//! word. A column of bits is taken as elements, 128 bits each, the first bit the lowest. For columns `c` with elements
//! `c_0`, `c_1`, ... and weights `w_0`, `w_1`, ... the hash `w_0 c_0 + w_1 c_1 + ...` is linear over bits. Products are
//! added up as polynomials of 255 bits and reduced once.

#[cfg(target_arch = "x86_64")]
mod clmul;

use crate::Element;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{self, Level};
use crate::element::private::Sealed;
use crate::gf64::product as product_of_words;
use bytemuck::{Pod, Zeroable};

/// An element of GF(2^128).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Gf128(pub u128);

impl Gf128 {
    /// The neutral element of sums.
    pub const ZERO: Self = Self(0);
    /// The neutral element of products.
    pub const ONE: Self = Self(1);

    /// The sum, which is the difference too.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The product.
    pub fn times(self, other: Self) -> Self {
        let mut sum = [Self::ZERO];
        let words = [other.0 as u64, (other.0 >> 64) as u64];
        weigh(&[self], &words, &mut sum);
        sum[0]
    }

    /// `1 / self`, or 0 of 0: `self^(2^128 - 2)`.
    pub fn inverse(self) -> Self {
        let (mut square, mut power) = (self, Self::ONE);
        for _ in 1..128 {
            square = square.times(square);
            power = power.times(square);
        }
        power
    }

    /// `x self`: shifted, and what leaves at the top comes back reduced.
    #[inline]
    pub fn double(self) -> Self {
        Self(self.0 << 1 ^ (self.0 >> 127).wrapping_neg() & 0x87)
    }
}

/// Sums are exclusive ors, and an element is its own negative. Drawn from blocks of 128 bits, elements are uniform.
impl Element for Gf128 {
    const DRAWN: usize = 16;
    const VECTORS: bool = false;
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline(always)]
    fn wrapping_add(self, other: Self) -> Self {
        self.plus(other)
    }

    #[inline(always)]
    fn wrapping_sub(self, other: Self) -> Self {
        self.plus(other)
    }

    #[inline(always)]
    fn wrapping_mul(self, other: Self) -> Self {
        self.times(other)
    }

    #[inline(always)]
    fn wrapping_neg(self) -> Self {
        self
    }

    #[inline(always)]
    fn from_u128(value: u128) -> Self {
        Self(value)
    }

    #[inline(always)]
    fn to_u128(self) -> u128 {
        self.0
    }
}

impl Sealed for Gf128 {
    fn reduce(bytes: &[u8], out: &mut [Self]) {
        for (element, block) in out.iter_mut().zip(bytes.as_chunks::<16>().0) {
            *element = Self(u128::from_le_bytes(*block));
        }
    }
}

/// Adds to each of `sums` the inner product of `weights` and a column. Columns follow one another in `columns`, two words
/// for each weight.
///
/// # Panics
/// If there isn't a column for every sum, or columns have another length.
pub fn weigh(weights: &[Gf128], columns: &[u64], sums: &mut [Gf128]) {
    assert_eq!(
        Some(columns.len()),
        (2 * weights.len()).checked_mul(sums.len()),
        "an element for every weight"
    );
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        Level::Portable => {}
        // SAFETY: the machine has the instructions of this level.
        Level::Avx2 => return unsafe { clmul::weigh_avx2(weights, columns, sums) },
        // SAFETY: as above.
        Level::Avx512 => return unsafe { clmul::weigh_avx512(weights, columns, sums) },
    }
    for (index, sum) in sums.iter_mut().enumerate() {
        let column = &columns[2 * weights.len() * index..][..2 * weights.len()];
        let mut wide = (0, 0);
        for (weight, pair) in weights.iter().zip(column.as_chunks::<2>().0) {
            let (low, high) = product(weight.0, *pair);
            wide = (wide.0 ^ low, wide.1 ^ high);
        }
        sum.0 ^= reduce(wide.0, wide.1);
    }
}

/// The low and the high half of a product of polynomials.
fn product(a: u128, b: [u64; 2]) -> (u128, u128) {
    let a = [a as u64, (a >> 64) as u64];
    let middle = product_of_words(a[0], b[1]) ^ product_of_words(a[1], b[0]);
    (product_of_words(a[0], b[0]) ^ middle << 64, product_of_words(a[1], b[1]) ^ middle >> 64)
}

/// A polynomial of 255 bits modulo the field's: `x^128` is `x^7 + x^2 + x + 1`.
#[inline]
fn reduce(low: u128, high: u128) -> u128 {
    // What of high's product with that passes x^127 has seven bits at most, and is reduced with high.
    let high = high ^ high >> 127 ^ high >> 126 ^ high >> 121;
    low ^ high ^ high << 1 ^ high << 2 ^ high << 7
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::noise;

    /// The product by its definition: shifts and sums.
    fn reference(a: Gf128, b: Gf128) -> Gf128 {
        let mut shifted = a;
        let mut sum = Gf128::ZERO;
        for i in 0..128 {
            if b.0 >> i & 1 == 1 {
                sum = sum.plus(shifted);
            }
            shifted = shifted.double();
        }
        sum
    }

    fn elements(seed: u64, count: usize) -> Vec<Gf128> {
        noise::<u128>(seed, count).into_iter().map(Gf128).collect()
    }

    #[test]
    fn products_are_those_of_the_polynomials() {
        let edges = [0, 1, 2, 1 << 63, 1 << 64, 1 << 127, u128::MAX, 0x87].map(Gf128);
        let all: Vec<Gf128> = edges.into_iter().chain(elements(1, 8)).collect();
        for level in available() {
            at(level, || {
                for (&a, &b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                    assert_eq!(a.times(b), reference(a, b), "{a:?} {b:?} at {level:?}");
                }
            });
        }
        assert_eq!(Gf128(1 << 127).times(Gf128(2)), Gf128(0x87));
        assert!(elements(2, 5).into_iter().all(|a| a.times(a.inverse()) == Gf128::ONE));
        assert_eq!(Gf128::ZERO.inverse(), Gf128::ZERO);
    }

    #[test]
    fn columns_are_weighed_at_every_level() {
        for (count, columns) in [(0, 3), (1, 1), (3, 2), (4, 129), (32, 5), (33, 5), (64, 3)] {
            let weights = elements(3, count);
            let words = noise::<u64>(4, 2 * count * columns);
            let before = elements(5, columns);
            let expected: Vec<Gf128> = before
                .iter()
                .enumerate()
                .map(|(index, &sum)| {
                    let column = &words[2 * count * index..][..2 * count];
                    weights.iter().zip(column.as_chunks::<2>().0).fold(sum, |sum, (&weight, &[low, high])| {
                        sum.plus(reference(weight, Gf128(u128::from(high) << 64 | u128::from(low))))
                    })
                })
                .collect();
            for level in available() {
                let mut sums = before.clone();
                at(level, || weigh(&weights, &words, &mut sums));
                assert_eq!(sums, expected, "{columns} columns of {count} at {level:?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "an element for every weight")]
    fn columns_of_another_length_are_refused() {
        weigh(&[Gf128::ONE], &[0; 3], &mut [Gf128::ZERO]);
    }
}
