//! Counts by ternary logic and vectors' own counts of ones; folds by lookups in pairs of registers.
//!
//! What runs for every vector is written out in loops over indices: an adaptor of the library that isn't inlined, as
//! `array::map` without optimisation at link time, costs more than the vector.

use super::Side;
use crate::field::Fp61;
use crate::field::avx512::{fold_words, load, once, rotate, store};
use crate::transpose::from_planes;
use crate::{Buffer, Element};
use std::arch::x86_64::*;
use std::ops::Range;

/// [`super::counts`], of blocks of `words` words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
pub(super) fn counts(left: [&[u64]; 3], right: [&[u64]; 3], words: usize, out: &mut [u64]) {
    if words == 0 {
        return;
    }
    let blocks = left[0].len() / words;
    let depth = (TILE / blocks).min(DEEPEST).min(words.div_ceil(LINE));
    let mut own = Buffer::of_words::<u64>(depth * QUAD);
    let mut others = Buffer::of_words::<u64>(blocks / 4 * depth * QUAD);
    let (own, others) = (own.words_mut(), others.words_mut());
    for first in (0..words).step_by(depth * LINE) {
        let part = first..words.min(first + depth * LINE);
        for (k, quads) in others.chunks_exact_mut(depth * QUAD).enumerate() {
            pack(right, words, 4 * k, part.clone(), quads);
        }
        for l in (0..blocks).step_by(4) {
            pack(left, words, l, part.clone(), own);
            for (k, quads) in (0..).step_by(4).zip(others.chunks_exact(depth * QUAD)) {
                for (i, counts) in compare(own, quads).into_iter().enumerate() {
                    let out = &mut out[(l + i) * blocks + k..][..4];
                    for (j, out) in out.iter_mut().enumerate() {
                        // A block isn't compared with itself.
                        *out += if l + i == k + j { 0 } else { counts >> (16 * j) & 0xffff };
                    }
                }
            }
        }
    }
}

/// Words of a vector.
const LINE: usize = 8;

/// Words of four blocks' vectors of three planes.
const QUAD: usize = 4 * 3 * LINE;

/// Vectors of a plane that are compared at a time, of all blocks together: the right side's three planes take a
/// fifth of a megabyte, and stay in a second-level cache.
const TILE: usize = 1024;

/// The most vectors of a block that are compared at a time.
const DEEPEST: usize = 64;

/// Puts words `part` of blocks `first` to `first + 3` next to what they are met with: for each vector the four
/// blocks, and of each the three planes. Past the blocks' end there are zeros, for which the relation holds.
#[inline]
#[target_feature(enable = "avx512f")]
fn pack(planes: [&[u64]; 3], words: usize, first: usize, part: Range<usize>, quads: &mut [u64]) {
    let start = |row: usize| (planes[row % 3], (first + row / 3) * words);
    for row in 0..12 {
        let (plane, block) = start(row);
        let (next_plane, next_block) = start(row + 1);
        let mut lines = plane[block..][part.clone()].chunks(LINE);
        for (index, quad) in quads.chunks_exact_mut(QUAD).enumerate() {
            // The next row is far from this one.
            prefetch(next_plane, next_block + part.start + index * LINE);
            let to = &mut quad[row * LINE..][..LINE];
            match lines.next() {
                Some(line) if line.len() == LINE => to.copy_from_slice(line),
                line => {
                    let line = line.unwrap_or_default();
                    to.fill(0);
                    to[..line.len()].copy_from_slice(line);
                }
            }
        }
    }
}

/// The counts of four packed blocks against four others, those of one block in the 16-bit fields of a word:
/// [`DEEPEST`] vectors have fewer bits than a field can count.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn compare(left: &[u64], right: &[u64]) -> [u64; 4] {
    let mut sums = [[_mm512_setzero_si512(); 4]; 4];
    let (left, right) = (left.as_chunks::<LINE>().0, right.as_chunks::<LINE>().0);
    for (left, right) in left.as_chunks::<12>().0.iter().zip(right.as_chunks::<12>().0) {
        for i in 0..4 {
            let [a, c, e] = [load(&left[3 * i]), load(&left[3 * i + 1]), load(&left[3 * i + 2])];
            for j in 0..4 {
                let [b, d, f] = [load(&right[3 * j]), load(&right[3 * j + 1]), load(&right[3 * j + 2])];
                let both = _mm512_ternarylogic_epi64::<XOR_AND>(_mm512_and_si512(a, b), c, d);
                let wrong = _mm512_ternarylogic_epi64::<XOR>(both, e, f);
                sums[i][j] = _mm512_add_epi64(sums[i][j], _mm512_popcnt_epi64(wrong));
            }
        }
    }
    let mut counts = [0; 4];
    for (counts, [first, second, third, fourth]) in counts.iter_mut().zip(sums) {
        let low = _mm512_or_si512(first, _mm512_slli_epi64::<16>(second));
        let high = _mm512_or_si512(third, _mm512_slli_epi64::<16>(fourth));
        *counts = _mm512_reduce_add_epi64(_mm512_or_si512(low, _mm512_slli_epi64::<32>(high))) as u64;
    }
    counts
}

/// `x ^ (y & z)`, as ternary logic has it.
const XOR_AND: i32 = 0b0111_1000;

/// `x ^ y ^ z`.
const XOR: i32 = 0b1001_0110;

/// [`super::fold`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn fold(planes: [&[u64]; 3], side: Side, weights: &[Fp61], out: &mut [Fp61]) {
    let words = planes[0].len() / weights.len();
    let groups: Vec<Group> = weights.chunks(GROUP).map(Group::new).collect();
    let all = weights.iter().fold(Fp61::ZERO, |sum, &weight| sum.wrapping_add(weight));
    // For each group and plane a word for each place.
    let mut bits = Buffer::of_words::<u64>(groups.len() * 3 * CHUNK);
    let bits = bits.words_mut::<u64>();
    let out = bytemuck::cast_slice_mut::<Fp61, u64>(out).as_chunks_mut().0;
    for first in (0..words).step_by(LINE) {
        let count = LINE.min(words - first);
        for (index, bits) in bits.chunks_exact_mut(CHUNK).enumerate() {
            let (group, plane) = (index / 3, planes[index % 3]);
            let rows = &plane[GROUP * group * words + first..];
            from_planes(rows, groups[group].blocks, words, &mut bits[..64 * count]);
        }
        for place in 0..8 * count {
            let mut sums = [_mm512_setzero_si512(); 4];
            for (group, bits) in groups.iter().zip(bits.chunks_exact(3 * CHUNK)) {
                let lines = bits.as_chunks().0;
                let at = [place, CHUNK / LINE + place, 2 * CHUNK / LINE + place];
                group.add_sums(&mut sums, [load(&lines[at[0]]), load(&lines[at[1]]), load(&lines[at[2]])]);
            }
            // The first places' turns are also blocks', whose words are far from all others'.
            if place < weights.len() {
                for plane in planes {
                    prefetch(plane, place * words + first + PREFETCH_DISTANCE);
                }
            }
            for (i, sum) in combined(sums, all, side).into_iter().enumerate() {
                store(&mut out[8 * (i * words + first) + place], sum);
            }
        }
    }
}

/// Asks for a word before it is needed.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch(plane: &[u64], word: usize) {
    // A hint may name any address, also one after the plane.
    _mm_prefetch::<_MM_HINT_T1>(plane.as_ptr().wrapping_add(word).cast());
}

/// Places that are folded at a time.
const CHUNK: usize = 64 * LINE;

/// How far ahead of a block's words that are folded others are asked for: processors fetch lines in pairs.
const PREFETCH_DISTANCE: usize = 2 * LINE;

/// Blocks whose bits make a word for each place.
const GROUP: usize = 64;

/// The weights of up to [`GROUP`] blocks.
struct Group {
    blocks: usize,
    /// For every four blocks the sums of their weights, by the bits that say which are added up.
    tables: Vec<[[u64; LINE]; 2]>,
}

impl Group {
    fn new(weights: &[Fp61]) -> Self {
        let table = |weights: &[Fp61]| {
            let mut table = [Fp61::ZERO; 16];
            for (bit, &weight) in weights.iter().enumerate() {
                for without in 0..1 << bit {
                    table[1 << bit | without] = table[without].wrapping_add(weight);
                }
            }
            bytemuck::cast(table)
        };
        Self { blocks: weights.len(), tables: weights.chunks(4).map(table).collect() }
    }

    /// Adds the sums of the weights of the blocks where `z`, `x ^ z`, `y ^ z` and `x ^ y ^ z` are 1, for eight places.
    ///
    /// A table's entry is below p, so that eight fit a word; at most 2p + 14 is added.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add_sums(&self, sums: &mut [__m512i; 4], [x, y, z]: [__m512i; 3]) {
        let xz = _mm512_xor_si512(x, z);
        let mut bits = [z, xz, _mm512_xor_si512(y, z), _mm512_xor_si512(y, xz)];
        for tables in self.tables.chunks(8) {
            let mut part = [_mm512_setzero_si512(); 4];
            for table in tables {
                let [low, high] = [load(&table[0]), load(&table[1])];
                for i in 0..4 {
                    // The lookup minds an index's low four bits alone.
                    part[i] = _mm512_add_epi64(part[i], _mm512_permutex2var_epi64(low, bits[i], high));
                    bits[i] = _mm512_srli_epi64::<4>(bits[i]);
                }
            }
            for i in 0..4 {
                sums[i] = _mm512_add_epi64(sums[i], fold_words(part[i]));
            }
        }
    }
}

/// From the sums of [`Group::add_sums`] over all groups, and of all weights: those of the weights times `xy z'`,
/// `y z'`, `x z'` and `z'`, times the side's factors, reduced.
///
/// As `z' = 1 - 2z`, `x z' = (x ^ z) - z` and `2 xy z' = (x ^ z) + (y ^ z) - z - (x ^ y ^ z)`, four lookups do. The
/// sums of two groups are at most 4p + 28, or p + 3 once folded; three moduli keep the differences above zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn combined(sums: [__m512i; 4], all: Fp61, side: Side) -> [__m512i; 4] {
    let [z, xz, yz, xyz] =
        [fold_words(sums[0]), fold_words(sums[1]), fold_words(sums[2]), fold_words(sums[3])];
    let difference = |plus, minus| {
        let above = _mm512_set1_epi64((3 * Fp61::MODULUS) as i64);
        once(fold_words(_mm512_sub_epi64(_mm512_add_epi64(plus, above), minus)))
    };
    // Twice the sums for `xy z'`, as a difference. Products with 1/2 are rotations of 61 bits.
    let (plus, minus) = (_mm512_add_epi64(xz, yz), _mm512_add_epi64(z, xyz));
    let half = |words| rotate::<60, 1>(words);
    let all = _mm512_set1_epi64(all.word() as i64);
    let [y, x] = [difference(yz, z), difference(xz, z)];
    match side {
        Side::Left => [difference(minus, plus), y, x, difference(z, half(all))],
        Side::Right => [half(difference(plus, minus)), y, x, difference(all, _mm512_add_epi64(z, z))],
    }
}
