//! Sums of products over [`Fp61`], reduced late.
//!
//! What a distributed proof asks of the field (Boneh et al. 2019; Li et al. 2023, sections 3.2 and 4.3): all inner
//! products of two lists of vectors, and a vector's blocks combined by weights. Products are added up as integers
//! and reduced once for many of them.
//!
//! A vector of blocks is the blocks one after another, all of the same length.

#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use crate::field::Fp61;
use crate::{Element, cpu};

/// All inner products of blocks: `out[l * blocks + k]` becomes the inner product of block `l` of `u` and block `k`
/// of `v`. It costs `blocks * u.len()` products.
///
/// # Panics
/// If there are no blocks, if `u` and `v` aren't `blocks` blocks of one length, or `out` isn't `blocks * blocks`
/// elements.
pub fn inner_products(u: &[Fp61], v: &[Fp61], blocks: usize, out: &mut [Fp61]) {
    assert!(blocks > 0, "a vector has a block");
    assert!(u.len() == v.len() && u.len().is_multiple_of(blocks), "both are {blocks} blocks of one length");
    assert_eq!(Some(out.len()), blocks.checked_mul(blocks), "an inner product for every pair of blocks");
    out.fill(Fp61::ZERO);
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::inner_products(u, v, blocks, out) };
    }
    cpu::run(
        #[inline(always)]
        || inner_products_by_word(u, v, blocks, out),
    );
}

/// Combines blocks: `out[t]` becomes the sum over `l` of `weights[l] * u[l * out.len() + t]`. It costs `u.len()`
/// products.
///
/// # Panics
/// If there are more than [`MAX_WEIGHTS`] weights, or `u` isn't a block as long as `out` for every weight.
pub fn combine(u: &[Fp61], weights: &[Fp61], out: &mut [Fp61]) {
    assert!(weights.len() <= MAX_WEIGHTS, "at most {MAX_WEIGHTS} blocks are combined");
    assert_eq!(Some(u.len()), weights.len().checked_mul(out.len()), "a block for every weight");
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::combine(u, weights, out) };
    }
    cpu::run(
        #[inline(always)]
        || combine_by_word(u, weights, out),
    );
}

/// The most blocks that [`combine`] takes: as many products are added up before they are reduced.
pub const MAX_WEIGHTS: usize = 1024;

/// Elements of each block that are multiplied at a time: the tiles of 32 blocks of both vectors stay in a
/// second-level cache.
const TILE: usize = 1024;

/// Products that are added up before a reduction: each is below 2^122, and what was reduced is below 2^68.
const LAZY: usize = 32;

/// Adds the inner products to `out`, tile by tile.
#[inline(always)]
fn inner_products_by_word(u: &[Fp61], v: &[Fp61], blocks: usize, out: &mut [Fp61]) {
    let length = u.len() / blocks;
    for first in (0..length).step_by(TILE) {
        let count = TILE.min(length - first);
        for (l, out) in out.chunks_exact_mut(blocks).enumerate() {
            let left = &u[l * length + first..][..count];
            for (k, out) in out.iter_mut().enumerate() {
                let right = &v[k * length + first..][..count];
                *out = out.wrapping_add(inner_product(left, right));
            }
        }
    }
}

#[inline(always)]
fn inner_product(u: &[Fp61], v: &[Fp61]) -> Fp61 {
    let (whole_u, rest_u) = u.as_chunks::<LAZY>();
    let (whole_v, rest_v) = v.as_chunks::<LAZY>();
    let mut sum = 0;
    for (u, v) in whole_u.iter().zip(whole_v) {
        sum = Fp61::fold(add_products(sum, u, v));
    }
    Fp61::from_u128(add_products(sum, rest_u, rest_v))
}

#[inline(always)]
fn add_products(sum: u128, u: &[Fp61], v: &[Fp61]) -> u128 {
    u.iter().zip(v).fold(sum, |sum, (u, v)| sum.wrapping_add(u.word() as u128 * v.word() as u128))
}

#[inline(always)]
fn combine_by_word(u: &[Fp61], weights: &[Fp61], out: &mut [Fp61]) {
    let length = out.len();
    // So many sums at a time stay in the first-level cache.
    let mut sums = [0_u128; 64];
    for (index, out) in out.chunks_mut(sums.len()).enumerate() {
        let sums = &mut sums[..out.len()];
        sums.fill(0);
        for (group, weights) in weights.chunks(LAZY).enumerate() {
            for (l, weight) in weights.iter().enumerate() {
                let row = &u[(group * LAZY + l) * length + index * 64..][..sums.len()];
                for (sum, u) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(weight.word() as u128 * u.word() as u128);
                }
            }
            for sum in &mut *sums {
                *sum = Fp61::fold(*sum);
            }
        }
        for (out, &sum) in out.iter_mut().zip(&*sums) {
            *out = Fp61::from_u128(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};

    /// Vectors of `blocks` blocks: all zero, all the largest element, and two without structure.
    fn samples(blocks: usize, length: usize) -> [Vec<Fp61>; 4] {
        let count = blocks * length;
        let largest = Fp61::ZERO.wrapping_sub(Fp61::ONE);
        [vec![Fp61::ZERO; count], vec![largest; count], noise(1, count), noise(2, count)]
    }

    fn reference(u: &[Fp61], v: &[Fp61]) -> Fp61 {
        u.iter().zip(v).fold(Fp61::ZERO, |sum, (&u, &v)| sum.wrapping_add(u.wrapping_mul(v)))
    }

    #[test]
    fn inner_products_are_those_of_every_pair_of_blocks() {
        for blocks in [1, 2, 3, 5, 8, 32] {
            for length in lengths(9, [0, 1, 7, 8, 9, 63, 64, 65, 1024, 1031]) {
                let samples = samples(blocks, length);
                for (u, v) in [(0, 2), (1, 1), (1, 3), (2, 3)].map(|(u, v)| (&samples[u], &samples[v])) {
                    let block = |x: &[Fp61], l: usize| x[l * length..][..length].to_vec();
                    let expected: Vec<Fp61> = (0..blocks * blocks)
                        .map(|pair| reference(&block(u, pair / blocks), &block(v, pair % blocks)))
                        .collect();
                    for level in available() {
                        let mut out = vec![Fp61::ONE; blocks * blocks];
                        at(level, || inner_products(u, v, blocks, &mut out));
                        assert_eq!(out, expected, "{blocks} blocks of {length} at {level:?}");
                    }
                }
            }
        }
    }

    /// So many of the largest products that every sum that isn't reduced in time overflows.
    #[test]
    fn long_inner_products_do_not_overflow() {
        let u = vec![Fp61::ZERO.wrapping_sub(Fp61::ONE); 1 << 18];
        for level in available() {
            let mut out = [Fp61::ZERO; 1];
            at(level, || inner_products(&u, &u, 1, &mut out));
            assert_eq!(out[0].to_u128(), 1 << 18, "at {level:?}");
        }
    }

    #[test]
    fn blocks_are_combined_by_their_weights() {
        for blocks in lengths(8, [0, 1, 2, 7, 8, 32, 33, MAX_WEIGHTS]) {
            for length in lengths(8, [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 200]) {
                let samples = samples(blocks, length);
                let weights = self::samples(blocks, 1);
                for (u, w) in [(0, 2), (2, 0), (1, 1), (1, 3), (2, 1), (3, 2)] {
                    let (u, weights) = (&samples[u], &weights[w]);
                    let expected: Vec<Fp61> = (0..length)
                        .map(|t| {
                            reference(&u.iter().skip(t).step_by(length).copied().collect::<Vec<_>>(), weights)
                        })
                        .collect();
                    for level in available() {
                        let mut out = vec![Fp61::ONE; length];
                        at(level, || combine(u, weights, &mut out));
                        assert_eq!(out, expected, "{blocks} blocks of {length} at {level:?}");
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "both are 3 blocks of one length")]
    fn a_vector_that_is_not_whole_blocks_is_refused() {
        inner_products(&[Fp61::ONE; 4], &[Fp61::ONE; 4], 3, &mut [Fp61::ZERO; 9]);
    }

    #[test]
    #[should_panic(expected = "an inner product for every pair of blocks")]
    fn too_few_inner_products_are_refused() {
        inner_products(&[Fp61::ONE; 4], &[Fp61::ONE; 4], 2, &mut [Fp61::ZERO; 3]);
    }

    #[test]
    #[should_panic(expected = "a block for every weight")]
    fn a_missing_weight_is_refused() {
        combine(&[Fp61::ONE; 6], &[Fp61::ONE; 2], &mut [Fp61::ZERO; 2]);
    }

    #[test]
    #[should_panic(expected = "at most 1024 blocks")]
    fn too_many_weights_are_refused() {
        combine(&[], &[Fp61::ONE; MAX_WEIGHTS + 1], &mut []);
    }
}
