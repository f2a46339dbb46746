//! The relation that a proof of correct ANDs is about, on packed bits: Li et al. 2023, sections 3.2 and 4.
//!
//! An AND of one party has six bits. One verifier shares `a`, `c`, `e` with the prover, the other one `b`, `d`, `f`,
//! and the AND is right if `ab ^ cd ^ e ^ f = 0`. Over the field of p = 2^61 - 1 elements this is an inner product
//! (equation 5): with `x' = 1 - 2x`,
//!
//! ```text
//! ab ^ cd ^ e ^ f = g_0 h_0 + g_1 h_1 + g_2 h_2 + g_3 h_3 + 1/2
//! g = (-2 ac e', c e', a e', -e'/2)     h = (bd f', d f', b f', f')
//! ```
//!
//! A batch is cut into blocks of T ANDs each (the paper's lambda blocks), T a multiple of 64. A plane holds one of
//! the six bits for every AND of the batch, packed as in [`crate::bits`], the blocks one after another.
//!
//! **Timing.** The bits, the weights and the counts are secret: none is branched on or is an address.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod planes;

#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use crate::field::Fp61;
use crate::{Element, cpu};

pub use planes::{LeftPlanes, Planes, RightPlanes, Side};

/// Counts, for every pair of two different blocks, the places where the relation of the one's left bits and the
/// other's right bits doesn't hold: adds to `out[l * blocks + k]` the number of places t below T with
/// `a_l b_k ^ c_l d_k ^ e_l ^ f_k = 1`, each plane at place t of its block.
///
/// Entries with `l = k` stay as they are: that these counts are zero is what is to be proved. For every AND and every
/// other block it costs five operations on bits and a count of ones.
///
/// The sum of `g h` over a pair of blocks is its count less T/2 (section 4.1: what the prover computes first).
///
/// # Panics
/// If `blocks` isn't a multiple of 8 from 8 to 128, if the planes aren't all `blocks` blocks of whole words of one
/// length, or `out` isn't `blocks * blocks` counts.
pub fn counts(left: LeftPlanes<'_>, right: RightPlanes<'_>, blocks: usize, out: &mut [u64]) {
    let (left, right) = (left.all(), right.all());
    let words = check_planes(left, blocks);
    assert_eq!(check_planes(right, blocks), words, "both sides have as many ANDs");
    assert_eq!(out.len(), blocks * blocks, "a count for every pair of blocks");
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::counts(left, right, words, out) };
    }
    cpu::run(
        #[inline(always)]
        || counts_by_word(left, right, words, out),
    );
}

/// Combines blocks by weights: `out[i * T + t]` becomes the sum over `l` of `weights[l] * g_i`, or `h_i` on the
/// right, of the bits at place t of block l. There are `weights.len()` blocks and four times T elements.
///
/// This is the evaluation of the proof's polynomials at a point (section 4.3, lookup table), where the Lagrange
/// polynomials' values are the weights. For every AND it costs four masked additions of elements; with lookups in
/// registers, four lookups and additions for every four ANDs.
///
/// # Panics
/// If the number of weights isn't a multiple of 8 from 8 to 128, if the planes aren't all as many blocks of whole
/// words of one length, or `out` isn't four elements for each place of a block.
pub fn fold(planes: Planes<'_>, weights: &[Fp61], out: &mut [Fp61]) {
    let (planes, side) = (planes.all(), planes.side());
    let words = check_planes(planes, weights.len());
    assert_eq!(out.len(), 4 * 64 * words, "four elements for each place of a block");
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::fold(planes, side, weights, out) };
    }
    cpu::run(
        #[inline(always)]
        || fold_by_word(planes, side, weights, out),
    );
}

/// The number of words of each block.
fn check_planes(planes: [&[u64]; 3], blocks: usize) -> usize {
    assert!((8..=128).contains(&blocks) && blocks.is_multiple_of(8), "8, 16, ... or 128 blocks");
    let words = planes[0].len();
    assert!(planes.iter().all(|plane| plane.len() == words), "planes of one length");
    assert!(words.is_multiple_of(blocks), "{blocks} blocks of whole words");
    words / blocks
}

/// Words of each block that are compared with all other blocks before the next ones are.
const TILE: usize = 128;

#[inline(always)]
fn counts_by_word(left: [&[u64]; 3], right: [&[u64]; 3], words: usize, out: &mut [u64]) {
    let blocks = left[0].len().checked_div(words).unwrap_or(0);
    for first in (0..words).step_by(TILE) {
        let part = |block: usize| block * words + first..block * words + words.min(first + TILE);
        for l in 0..blocks {
            let own = left.map(|plane| &plane[part(l)]);
            for k in (0..blocks).filter(|&k| k != l) {
                out[l * blocks + k] += count(own, right.map(|plane| &plane[part(k)]));
            }
        }
    }
}

/// The number of ones of `ab ^ cd ^ e ^ f`.
#[inline(always)]
fn count([a, c, e]: [&[u64]; 3], [b, d, f]: [&[u64]; 3]) -> u64 {
    let mut sum = 0;
    for i in 0..a.len() {
        sum += ((a[i] & b[i]) ^ (c[i] & d[i]) ^ e[i] ^ f[i]).count_ones() as u64;
    }
    sum
}

impl Side {
    /// What `xy z'`, `y z'`, `x z'` and `z'` are multiplied by, for planes x, y and z.
    fn scales(self) -> [Fp61; 4] {
        let minus_half = u128::from(Fp61::MODULUS) - (1 << 60);
        match self {
            Self::Left => [u128::from(Fp61::MODULUS) - 2, 1, 1, minus_half].map(Fp61::from_u128),
            Self::Right => [Fp61::ONE; 4],
        }
    }
}

/// Blocks whose weights are added up before a reduction: eight elements fit a word.
const LAZY: usize = 8;

#[inline(always)]
fn fold_by_word(planes: [&[u64]; 3], side: Side, weights: &[Fp61], out: &mut [Fp61]) {
    let words = planes[0].len() / weights.len();
    for word in 0..words {
        let mut sums = [[0_u64; 64]; 4];
        for (group, weights) in weights.chunks(LAZY).enumerate() {
            let mut part = [[0_u64; 64]; 4];
            for (l, weight) in weights.iter().enumerate() {
                let bits = planes.map(|plane| plane[(group * LAZY + l) * words + word]);
                add_signed(&mut part, bits, weight.word());
            }
            for (sum, part) in sums.as_flattened_mut().iter_mut().zip(part.as_flattened()) {
                *sum = Fp61::fold_word(sum.wrapping_add(Fp61::fold_word(*part)));
            }
        }
        for (i, (sums, scale)) in sums.iter().zip(side.scales()).enumerate() {
            for (out, sum) in out[(i * words + word) * 64..][..64].iter_mut().zip(sums) {
                *out = Fp61::once(*sum).wrapping_mul(scale);
            }
        }
    }
}

/// Adds the weight times `xy z'`, `y z'`, `x z'` and `z'` for 64 ANDs. Bits are masks here: the weight, or its
/// negative where z is 1, is added or isn't.
#[inline(always)]
fn add_signed(sums: &mut [[u64; 64]; 4], [x, y, z]: [u64; 3], weight: u64) {
    let flip = weight ^ Fp61::MODULUS.wrapping_sub(weight);
    let [xy, only_y, only_x, all] = sums;
    for i in 0..64 {
        let [x, y, z] = [x, y, z].map(|bits| (bits >> i & 1).wrapping_neg());
        let signed = weight ^ (flip & z);
        xy[i] = xy[i].wrapping_add(signed & x & y);
        only_y[i] = only_y[i].wrapping_add(signed & y);
        only_x[i] = only_x[i].wrapping_add(signed & x);
        all[i] = all[i].wrapping_add(signed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::get;
    use crate::cpu::{at, available};
    use crate::noise::noise;
    use std::array::from_fn;

    /// An interpreter has no time for more.
    fn is_tried(blocks: usize, words: usize) -> bool {
        !cfg!(miri) || blocks * words <= 8
    }

    /// Numbers of blocks, each with lengths of a block in words.
    const SHAPES: [(usize, &[usize]); 6] = [
        (8, &[0, 1, 2, 3, 7, 8, 9, 65, 130]),
        (16, &[1, 9]),
        (32, &[1, 8, 65]),
        (64, &[1, 2, 3, 8, 65, 130]),
        (72, &[2, 9]),
        (128, &[1, 9, 65]),
    ];

    type Rows = [Vec<u64>; 3];

    fn random(seed: u64, words: usize) -> Rows {
        from_fn(|i| noise(seed + 10 * i as u64, words))
    }

    fn left_of([a, c, e]: &Rows) -> LeftPlanes<'_> {
        LeftPlanes { a, c, e }
    }

    fn right_of([b, d, f]: &Rows) -> RightPlanes<'_> {
        RightPlanes { b, d, f }
    }

    /// Planes of so many words, all zeros.
    fn zeros<const N: usize>() -> (LeftPlanes<'static>, RightPlanes<'static>) {
        (
            LeftPlanes { a: &[0; N], c: &[0; N], e: &[0; N] },
            RightPlanes { b: &[0; N], d: &[0; N], f: &[0; N] },
        )
    }

    /// Six planes: without structure; all zeros; of the largest sums with and without a sign; and such that the
    /// relation holds nowhere.
    fn batches(words: usize) -> [(Rows, Rows); 4] {
        let [zeros, ones] = [0, u64::MAX].map(|word| vec![word; words]);
        let uniform = |words: &Vec<u64>| from_fn(|_| words.clone());
        [
            (random(1, words), random(2, words)),
            (uniform(&zeros), uniform(&zeros)),
            (uniform(&ones), [ones.clone(), ones.clone(), zeros.clone()]),
            ([zeros.clone(), zeros.clone(), ones], uniform(&zeros)),
        ]
    }

    fn expected_counts(left: &Rows, right: &Rows, blocks: usize, before: &[u64]) -> Vec<u64> {
        let places = 64 * (left[0].len() / blocks);
        let bits = |planes: &Rows| -> [Vec<bool>; 3] {
            planes.each_ref().map(|plane| (0..blocks * places).map(|place| get(plane, place)).collect())
        };
        let (left, right) = (bits(left), bits(right));
        let mut counts = before.to_vec();
        for (pair, count) in counts.iter_mut().enumerate().filter(|(pair, _)| pair / blocks != pair % blocks)
        {
            let [a, c, e] = left.each_ref().map(|bits| &bits[pair / blocks * places..][..places]);
            let [b, d, f] = right.each_ref().map(|bits| &bits[pair % blocks * places..][..places]);
            *count +=
                (0..places).map(|t| u64::from((a[t] & b[t]) ^ (c[t] & d[t]) ^ e[t] ^ f[t])).sum::<u64>();
        }
        counts
    }

    #[test]
    fn counts_are_those_of_the_places_one_by_one() {
        for (blocks, lengths) in SHAPES {
            for words in lengths.iter().filter(|words| is_tried(blocks, **words)) {
                for (left, right) in batches(blocks * words) {
                    let before: Vec<u64> = (0..blocks * blocks).map(|pair| pair as u64).collect();
                    let expected = expected_counts(&left, &right, blocks, &before);
                    for level in available() {
                        let mut out = before.clone();
                        at(level, || counts(left_of(&left), right_of(&right), blocks, &mut out));
                        assert_eq!(out, expected, "{blocks} blocks of {words} words at {level:?}");
                    }
                }
            }
        }
    }

    /// A block so long that its counts leave 16 bits.
    #[test]
    fn large_counts_do_not_overflow() {
        let words = 1030;
        let (zeros, ones) = (vec![0; 8 * words], vec![u64::MAX; 8 * words]);
        let left = LeftPlanes { a: &zeros, c: &ones, e: &zeros };
        for level in available() {
            let mut out = [0; 64];
            at(level, || counts(left, RightPlanes { b: &ones, d: &ones, f: &ones }, 8, &mut out));
            assert_eq!(out, [0; 64], "at {level:?}");
            at(level, || counts(left, RightPlanes { b: &ones, d: &ones, f: &zeros }, 8, &mut out));
            for (pair, count) in out.into_iter().enumerate() {
                let places = if pair / 8 == pair % 8 { 0 } else { 64 * words as u64 };
                assert_eq!(count, places, "pair {pair} at {level:?}");
            }
        }
    }

    /// The vectors `g` or `h` of one AND, as the paper has them.
    fn vector(side: Side, [x, y, z]: [bool; 3]) -> [Fp61; 4] {
        let [x, y, z] = [x, y, z].map(|bit| Fp61::from_u128(u128::from(bit)));
        let two = Fp61::ONE.wrapping_add(Fp61::ONE);
        let half = Fp61::from_u128(1 << 60);
        assert_eq!(two.wrapping_mul(half), Fp61::ONE);
        let sign = Fp61::ONE.wrapping_sub(two.wrapping_mul(z));
        let of = |factor: Fp61| factor.wrapping_mul(sign);
        match side {
            Side::Left => [
                of(x.wrapping_mul(y)).wrapping_mul(two).wrapping_neg(),
                of(y),
                of(x),
                of(half).wrapping_neg(),
            ],
            Side::Right => [of(x.wrapping_mul(y)), of(y), of(x), sign],
        }
    }

    fn expected_fold(planes: &Rows, side: Side, weights: &[Fp61]) -> Vec<Fp61> {
        let places = 64 * (planes[0].len() / weights.len());
        let mut out = vec![Fp61::ZERO; 4 * places];
        for (l, &weight) in weights.iter().enumerate() {
            for t in 0..places {
                let vector = vector(side, planes.each_ref().map(|plane| get(plane, l * places + t)));
                for (i, term) in vector.into_iter().enumerate() {
                    out[i * places + t] = out[i * places + t].wrapping_add(weight.wrapping_mul(term));
                }
            }
        }
        out
    }

    #[test]
    fn folds_are_those_of_the_vectors_one_by_one() {
        let largest = Fp61::ZERO.wrapping_sub(Fp61::ONE);
        for (blocks, lengths) in SHAPES {
            let weights = [noise(5, blocks), vec![largest; blocks], vec![Fp61::ZERO; blocks]];
            let lengths = lengths.iter().filter(|words| is_tried(blocks, **words));
            for (words, weights) in lengths.flat_map(|words| weights.iter().map(move |w| (words, w))) {
                for (planes, other) in batches(blocks * words) {
                    for (planes, side) in
                        [(&planes, Side::Left), (&planes, Side::Right), (&other, Side::Left)]
                    {
                        let expected = expected_fold(planes, side, weights);
                        for level in available() {
                            let mut out = vec![Fp61::ONE; 256 * words];
                            let planes = Planes::of(side, planes.each_ref().map(Vec::as_slice));
                            at(level, || fold(planes, weights, &mut out));
                            assert!(out == expected, "{blocks} blocks of {words} words, {side:?}, {level:?}");
                        }
                    }
                }
            }
        }
    }

    /// What makes the proof complete: for an honest prover the inner product of the folded vectors is the counts'
    /// combination by the same weights, less a half for each place and pair.
    #[test]
    fn folds_of_honest_bits_multiply_to_the_counts() {
        for (blocks, words) in
            [(8, 9), (32, 2), (64, 3), (128, 1)].into_iter().take(if cfg!(miri) { 1 } else { 4 })
        {
            let (left, mut right) = (random(6, blocks * words), random(7, blocks * words));
            for i in 0..blocks * words {
                right[2][i] = (left[0][i] & right[0][i]) ^ (left[1][i] & right[1][i]) ^ left[2][i];
            }
            let (p, q): (Vec<Fp61>, Vec<Fp61>) = (noise(8, blocks), noise(9, blocks));
            let half_places = Fp61::from_u128(32 * words as u128);
            for level in available() {
                at(level, || {
                    let mut pairs = vec![0; blocks * blocks];
                    counts(left_of(&left), right_of(&right), blocks, &mut pairs);
                    let [mut g, mut h] = [(); 2].map(|()| vec![Fp61::ZERO; 256 * words]);
                    fold(left_of(&left).into(), &p, &mut g);
                    fold(right_of(&right).into(), &q, &mut h);
                    let sum =
                        |terms: &mut dyn Iterator<Item = Fp61>| terms.fold(Fp61::ZERO, Fp61::wrapping_add);
                    let product = sum(&mut g.iter().zip(&h).map(|(g, h)| g.wrapping_mul(*h)));
                    let combined = sum(&mut pairs.iter().enumerate().map(|(pair, &count)| {
                        let weight = p[pair / blocks].wrapping_mul(q[pair % blocks]);
                        weight.wrapping_mul(Fp61::from_u128(count.into()).wrapping_sub(half_places))
                    }));
                    assert_eq!(product, combined, "{blocks} blocks of {words} words at {level:?}");
                });
            }
        }
    }

    #[test]
    #[should_panic(expected = "8, 16, ... or 128 blocks")]
    fn a_number_of_blocks_between_is_refused() {
        let (left, right) = zeros::<12>();
        counts(left, right, 12, &mut [0; 144]);
    }

    #[test]
    #[should_panic(expected = "planes of one length")]
    fn a_short_plane_is_refused() {
        let (left, right) = zeros::<8>();
        counts(LeftPlanes { e: &[0; 7], ..left }, right, 8, &mut [0; 64]);
    }

    #[test]
    #[should_panic(expected = "8 blocks of whole words")]
    fn a_part_of_a_block_is_refused() {
        fold(zeros::<9>().0.into(), &[Fp61::ONE; 8], &mut [Fp61::ZERO; 256]);
    }

    #[test]
    #[should_panic(expected = "both sides have as many ANDs")]
    fn a_shorter_side_is_refused() {
        counts(zeros::<16>().0, zeros::<8>().1, 8, &mut [0; 64]);
    }

    #[test]
    #[should_panic(expected = "a count for every pair of blocks")]
    fn too_few_counts_are_refused() {
        let (left, right) = zeros::<8>();
        counts(left, right, 8, &mut [0; 63]);
    }

    #[test]
    #[should_panic(expected = "four elements for each place of a block")]
    fn too_few_elements_are_refused() {
        fold(zeros::<8>().0.into(), &[Fp61::ONE; 8], &mut [Fp61::ZERO; 255]);
    }
}
