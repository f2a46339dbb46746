//! GF(2^64), and sums of products over it that are reduced late.
//!
//! An element is a polynomial over GF(2) modulo `x^64 + x^4 + x^3 + x + 1`, its coefficient of `x^i` bit `i` of a word.
//! A distributed proof over this field (Boyle et al. 2019) takes inner products of two lists of vectors, a vector's
//! blocks combined by weights, and sums of those elements that bits choose. Products are added up as polynomials of
//! 128 bits and reduced once.
//!
//! A vector of blocks is the blocks one after another, all of the same length.

#[cfg(target_arch = "x86_64")]
mod clmul;

use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use bytemuck::{Pod, Zeroable};

/// An element of GF(2^64).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Gf64(pub u64);

impl Gf64 {
    /// The neutral element of sums.
    pub const ZERO: Self = Self(0);
    /// The neutral element of products.
    pub const ONE: Self = Self(1);

    /// The sum, which is the difference too.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The product. For many there is [`mul_assign`].
    #[inline]
    pub fn times(self, other: Self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if cpu::level() != Level::Portable {
            // SAFETY: the machine has the instructions of every level above.
            return unsafe { clmul::avx2::times(self, other) };
        }
        Self(reduce(product(self.0, other.0)))
    }

    /// `1 / self`, or 0 of 0: `self^(2^64 - 2)`.
    pub fn inverse(self) -> Self {
        let (mut square, mut power) = (self, Self::ONE);
        for _ in 1..64 {
            square = square.times(square);
            power = power.times(square);
        }
        power
    }
}

/// `a[i]` becomes `a[i] b[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn mul_assign(a: &mut [Gf64], b: &[Gf64]) {
    assert_eq!(a.len(), b.len(), "a factor for every element");
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        Level::Portable => {}
        // SAFETY: the machine has the instructions of this level.
        Level::Avx2 => return unsafe { clmul::avx2::mul_assign(a, b) },
        // SAFETY: as above.
        Level::Avx512 => return unsafe { clmul::avx512::mul_assign(a, b) },
    }
    for (a, b) in a.iter_mut().zip(b) {
        *a = Gf64(reduce(product(a.0, b.0)));
    }
}

/// `out[i]` becomes `weight a[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn scale(a: &[Gf64], weight: Gf64, out: &mut [Gf64]) {
    assert_eq!(a.len(), out.len(), "a product for every element");
    combine(a, &[weight], out);
}

/// All inner products of blocks: `out[l * blocks + k]` becomes the inner product of block `l` of `u` and block `k`
/// of `v`. It costs `blocks * u.len()` products.
///
/// # Panics
/// If there are no blocks, if `u` and `v` aren't `blocks` blocks of one length, or `out` isn't `blocks * blocks`
/// elements.
pub fn inner_products(u: &[Gf64], v: &[Gf64], blocks: usize, out: &mut [Gf64]) {
    assert!(blocks > 0, "a vector has a block");
    assert!(u.len() == v.len() && u.len().is_multiple_of(blocks), "both are {blocks} blocks of one length");
    assert_eq!(Some(out.len()), blocks.checked_mul(blocks), "an inner product for every pair of blocks");
    let length = u.len() / blocks;
    out.fill(Gf64::ZERO);
    for first in (0..length).step_by(TILE) {
        let count = TILE.min(length - first);
        for (l, out) in out.chunks_exact_mut(blocks).enumerate() {
            let left = &u[l * length + first..][..count];
            for (k, out) in out.iter_mut().enumerate() {
                *out = out.plus(inner_product(left, &v[k * length + first..][..count]));
            }
        }
    }
}

/// Combines blocks: `out[t]` becomes the sum over `l` of `weights[l] * u[l * out.len() + t]`. It costs `u.len()`
/// products.
///
/// # Panics
/// If `u` isn't a block as long as `out` for every weight.
pub fn combine(u: &[Gf64], weights: &[Gf64], out: &mut [Gf64]) {
    assert_eq!(Some(u.len()), weights.len().checked_mul(out.len()), "a block for every weight");
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        Level::Portable => {}
        // SAFETY: the machine has the instructions of this level.
        Level::Avx2 => return unsafe { clmul::avx2::combine(u, weights, out) },
        // SAFETY: as above.
        Level::Avx512 => return unsafe { clmul::avx512::combine(u, weights, out) },
    }
    let length = out.len();
    for (t, out) in out.iter_mut().enumerate() {
        let sum = weights.iter().enumerate().fold(0, |sum, (l, w)| sum ^ product(u[l * length + t].0, w.0));
        *out = Gf64(reduce(sum));
    }
}

/// The sum of those elements whose bit is 1; bit `i % 64` of word `i / 64` is element `i`'s.
///
/// # Panics
/// If there aren't 64 elements for every word.
pub fn sum_chosen(elements: &[Gf64], bits: &[u64]) -> Gf64 {
    let (elements, rest) = elements.as_chunks::<64>();
    assert!(rest.is_empty() && elements.len() == bits.len(), "64 elements for every word");
    cpu::run(
        #[inline(always)]
        || {
            let mut sums = [0; 64];
            for (elements, bits) in elements.iter().zip(bits) {
                for (i, (sum, element)) in sums.iter_mut().zip(elements).enumerate() {
                    *sum ^= element.0 & mask(*bits, i);
                }
            }
            Gf64(sums.into_iter().fold(0, |sum, part| sum ^ part))
        },
    )
}

/// Adds to each of `out` the element of the same place if its bit is 1, as in [`sum_chosen`].
///
/// # Panics
/// If the lengths differ, or there aren't 64 elements for every word.
pub fn add_chosen(elements: &[Gf64], bits: &[u64], out: &mut [Gf64]) {
    assert_eq!(elements.len(), out.len(), "a sum for every element");
    let (elements, rest) = elements.as_chunks::<64>();
    assert!(rest.is_empty() && elements.len() == bits.len(), "64 elements for every word");
    cpu::run(
        #[inline(always)]
        || {
            for ((out, elements), bits) in out.as_chunks_mut::<64>().0.iter_mut().zip(elements).zip(bits) {
                for (i, (out, element)) in out.iter_mut().zip(elements).enumerate() {
                    out.0 ^= element.0 & mask(*bits, i);
                }
            }
        },
    );
}

/// Elements of each block that are multiplied at a time: the tiles of 8 blocks of both vectors stay in a second-level
/// cache.
const TILE: usize = 2048;

/// All ones if bit `i` is 1, or 0.
#[inline(always)]
fn mask(bits: u64, i: usize) -> u64 {
    (bits >> i & 1).wrapping_neg()
}

fn inner_product(u: &[Gf64], v: &[Gf64]) -> Gf64 {
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        Level::Portable => {}
        // SAFETY: the machine has the instructions of this level.
        Level::Avx2 => return unsafe { clmul::avx2::inner_product(u, v) },
        // SAFETY: as above.
        Level::Avx512 => return unsafe { clmul::avx512::inner_product(u, v) },
    }
    Gf64(reduce(u.iter().zip(v).fold(0, |sum, (u, v)| sum ^ product(u.0, v.0))))
}

/// The product as a polynomial.
#[inline]
pub(crate) fn product(a: u64, b: u64) -> u128 {
    (0..64).fold(0, |sum, i| sum ^ u128::from(a & mask(b, i)) << i)
}

/// A polynomial of 128 bits modulo the field's: `x^64` is `x^4 + x^3 + x + 1`.
#[inline]
fn reduce(value: u128) -> u64 {
    let (low, high) = (value as u64, (value >> 64) as u64);
    // What of high's product with that passes x^63 again has four bits at most.
    let over = high >> 63 ^ high >> 61 ^ high >> 60;
    let spread = |value: u64| value ^ value << 1 ^ value << 3 ^ value << 4;
    low ^ spread(high) ^ spread(over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};

    fn elements(seed: u64, count: usize) -> Vec<Gf64> {
        noise::<u64>(seed, count).into_iter().map(Gf64).collect()
    }

    /// Zeros, the element of all ones, and two without structure.
    fn samples(count: usize) -> [Vec<Gf64>; 4] {
        [vec![Gf64::ZERO; count], vec![Gf64(u64::MAX); count], elements(1, count), elements(2, count)]
    }

    /// By multiplying with x again and again.
    fn reference(a: Gf64, b: Gf64) -> Gf64 {
        let (mut sum, mut power) = (0, a.0);
        for i in 0..64 {
            sum ^= if b.0 >> i & 1 == 1 { power } else { 0 };
            power = power << 1 ^ if power >> 63 == 1 { 0b11011 } else { 0 };
        }
        Gf64(sum)
    }

    fn dot(u: &[Gf64], v: &[Gf64]) -> Gf64 {
        u.iter().zip(v).fold(Gf64::ZERO, |sum, (&u, &v)| sum.plus(reference(u, v)))
    }

    const LENGTHS: [usize; 14] = [0, 1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 1031, TILE, TILE + 1];

    #[test]
    fn products_are_those_of_the_polynomials() {
        for length in lengths(9, LENGTHS) {
            let samples = samples(length);
            for (u, v) in [(0, 2), (1, 1), (1, 3), (2, 3)].map(|(u, v)| (&samples[u], &samples[v])) {
                let expected: Vec<Gf64> = u.iter().zip(v).map(|(&u, &v)| reference(u, v)).collect();
                for level in available() {
                    let mut out = u.clone();
                    at(level, || mul_assign(&mut out, v));
                    assert_eq!(out, expected, "{length} at {level:?}");
                }
            }
        }
        for level in available() {
            at(level, || {
                assert_eq!(Gf64(1 << 63).times(Gf64(2)), Gf64(0b11011));
                let pairs = elements(9, 20).into_iter().zip(elements(10, 20));
                assert!(pairs.into_iter().all(|(a, b)| a.times(b) == reference(a, b)), "at {level:?}");
            });
        }
    }

    #[test]
    fn every_element_but_zero_has_an_inverse() {
        let all = [elements(3, 20), vec![Gf64::ONE, Gf64(u64::MAX), Gf64(2)]].concat();
        assert!(all.iter().all(|element| element.times(element.inverse()) == Gf64::ONE));
        assert_eq!(Gf64::ZERO.inverse(), Gf64::ZERO);
    }

    #[test]
    fn inner_products_are_those_of_every_pair_of_blocks() {
        for (blocks, length) in lengths(9, LENGTHS).map(|length| (1, length)).chain([(3, 9), (8, 65)]) {
            let samples = samples(blocks * length);
            for (u, v) in [(0, 2), (1, 1), (2, 3)].map(|(u, v)| (&samples[u], &samples[v])) {
                let block = |x: &[Gf64], l: usize| x[l * length..][..length].to_vec();
                let pairs = (0..blocks * blocks).map(|pair| (pair / blocks, pair % blocks));
                let expected: Vec<Gf64> = pairs.map(|(l, k)| dot(&block(u, l), &block(v, k))).collect();
                for level in available() {
                    let mut out = vec![Gf64::ONE; blocks * blocks];
                    at(level, || inner_products(u, v, blocks, &mut out));
                    assert_eq!(out, expected, "{blocks} blocks of {length} at {level:?}");
                }
            }
        }
    }

    #[test]
    fn blocks_are_combined_by_their_weights() {
        for blocks in [0, 1, 2, 7, 8, 9] {
            for length in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65] {
                let (u, weights) = (elements(4, blocks * length), elements(5, blocks));
                let column = |t: usize| -> Vec<Gf64> { (0..blocks).map(|l| u[l * length + t]).collect() };
                let expected: Vec<Gf64> = (0..length).map(|t| dot(&column(t), &weights)).collect();
                for level in available() {
                    let mut out = vec![Gf64::ONE; length];
                    at(level, || combine(&u, &weights, &mut out));
                    assert_eq!(out, expected, "{blocks} blocks of {length} at {level:?}");
                    if blocks == 1 {
                        at(level, || scale(&u, weights[0], &mut out));
                        assert_eq!(out, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn bits_choose_elements() {
        for words in [0, 1, 2, 9] {
            let (elements, bits) = (elements(6, 64 * words), noise::<u64>(7, words));
            let before = self::elements(8, 64 * words);
            let chosen: Vec<Gf64> = (0..64 * words)
                .map(|i| if bits[i / 64] >> (i % 64) & 1 == 1 { elements[i] } else { Gf64::ZERO })
                .collect();
            let expected: Vec<Gf64> = before.iter().zip(&chosen).map(|(a, b)| a.plus(*b)).collect();
            for level in available() {
                let sum = at(level, || sum_chosen(&elements, &bits));
                assert_eq!(
                    sum,
                    chosen.iter().fold(Gf64::ZERO, |sum, &x| sum.plus(x)),
                    "{words} at {level:?}"
                );
                let mut out = before.clone();
                at(level, || add_chosen(&elements, &bits, &mut out));
                assert_eq!(out, expected, "{words} at {level:?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a factor for every element")]
    fn a_missing_factor_is_refused() {
        mul_assign(&mut [Gf64::ONE; 2], &[Gf64::ONE]);
    }

    #[test]
    #[should_panic(expected = "both are 3 blocks of one length")]
    fn a_vector_that_is_not_whole_blocks_is_refused() {
        inner_products(&[Gf64::ONE; 4], &[Gf64::ONE; 4], 3, &mut [Gf64::ZERO; 9]);
    }

    #[test]
    #[should_panic(expected = "a block for every weight")]
    fn a_missing_weight_is_refused() {
        combine(&[Gf64::ONE; 6], &[Gf64::ONE; 2], &mut [Gf64::ZERO; 2]);
    }

    #[test]
    #[should_panic(expected = "64 elements for every word")]
    fn a_part_of_a_word_is_refused() {
        sum_chosen(&[Gf64::ONE; 63], &[1]);
    }
}
