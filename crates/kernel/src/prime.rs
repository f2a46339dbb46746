//! Prime fields whose order is drawn at run time, between 2^60 and 2^61.
//!
//! An element is its least residue. Products are reduced by Montgomery's method (1985), with 2^64 for the radix, and late:
//! many are added up as integers before.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod tests;

use crate::cpu;
use bytemuck::{Pod, Zeroable};

/// What a kernel of the highest level gives where this thread uses that, else what is usual.
macro_rules! vectors {
    ($usual:expr, $kernel:expr) => {{
        #[cfg(target_arch = "x86_64")]
        let given = if cpu::level() == cpu::Level::Avx512 {
            // SAFETY: the machine has the instructions of this level.
            unsafe { $kernel }
        } else {
            $usual
        };
        #[cfg(not(target_arch = "x86_64"))]
        let given = $usual;
        given
    }};
}

/// A field of `p` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prime {
    p: u64,
    /// `-1 / p` modulo 2^64.
    negated_inverse: u64,
    /// 2^64, 2^128 and 2^192 modulo p.
    radix: [u64; 3],
}

/// What a product with is an element at once: an element times 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Weight(u64);

impl Weight {
    /// Of the element 0.
    pub const ZERO: Self = Self(0);
}

/// Products of elements that are added up before a reduction: each is below 2^122.
const LAZY: usize = 32;

/// Products of an element and a word likewise: each is below 2^125.
const LAZY_WORDS: usize = 4;

/// Blocks of words that are combined at once: their sums are below 2^128.
const LAZY_BLOCKS: usize = 8;

/// Witnesses that tell primes from other numbers below 3.3 * 10^24 (Sorenson and Webster 2015).
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

impl Prime {
    /// The field, if `p` is a prime between 2^60 and 2^61 (Miller and Rabin's test with the first twelve primes, which
    /// is certain below 2^81).
    pub fn new(p: u64) -> Option<Self> {
        let candidate =
            p % 2 == 1 && p >> 60 == 1 && WITNESSES[1..].iter().all(|small| !p.is_multiple_of(*small));
        let ring = candidate.then(|| Self::modulo(p))?;
        WITNESSES.iter().all(|&witness| ring.passes(witness)).then_some(ring)
    }

    /// Residues modulo any odd number between 2^60 and 2^61.
    fn modulo(p: u64) -> Self {
        // Each step doubles the bits that are right; an odd number is its own inverse modulo 8.
        let inverse = (0..5).fold(p, |x, _| x.wrapping_mul(2_u64.wrapping_sub(p.wrapping_mul(x))));
        let one = ((1_u128 << 64) % u128::from(p)) as u64;
        let square = (u128::from(one) * u128::from(one) % u128::from(p)) as u64;
        let cube = (u128::from(square) * u128::from(one) % u128::from(p)) as u64;
        Self { p, negated_inverse: inverse.wrapping_neg(), radix: [one, square, cube] }
    }

    /// Whether `p` looks prime to a witness.
    fn passes(&self, witness: u64) -> bool {
        let (odd, twos) = ((self.p - 1) >> (self.p - 1).trailing_zeros(), (self.p - 1).trailing_zeros());
        let mut power = self.power(witness, odd);
        if power == 1 {
            return true;
        }
        for _ in 0..twos {
            if power == self.p - 1 {
                return true;
            }
            power = self.mul(power, power);
        }
        false
    }

    /// How many elements it has.
    pub const fn order(&self) -> u64 {
        self.p
    }

    /// `t / 2^64` modulo p and below 2^63 + 2^61, for `t` below 2^127.
    #[inline(always)]
    const fn redc(&self, t: u128) -> u64 {
        let m = (t as u64).wrapping_mul(self.negated_inverse);
        ((t + m as u128 * self.p as u128) >> 64) as u64
    }

    /// The least residue of a number below 16 p.
    #[inline(always)]
    fn least(&self, x: u64) -> u64 {
        let x = x.min(x.wrapping_sub(8 * self.p));
        let x = x.min(x.wrapping_sub(4 * self.p));
        let x = x.min(x.wrapping_sub(2 * self.p));
        x.min(x.wrapping_sub(self.p))
    }

    /// The residue of a number below 2^127.
    #[inline(always)]
    pub fn reduce(&self, x: u128) -> u64 {
        self.least(self.redc(u128::from(self.redc(x)) * u128::from(self.radix[1])))
    }

    /// The residue of a number between -2^127 and 2^127.
    pub fn integer(&self, x: i128) -> u64 {
        let (size, sign) = (self.reduce(x.unsigned_abs()), (x >> 127) as u64);
        // Of a negative number p less it, which is p for 0.
        self.least((size ^ sign).wrapping_sub(sign).wrapping_add(self.p & sign))
    }

    /// The sum.
    #[inline(always)]
    pub fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        sum.min(sum.wrapping_sub(self.p))
    }

    /// The difference.
    #[inline(always)]
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        difference.min(difference.wrapping_add(self.p))
    }

    /// The product.
    #[inline(always)]
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    /// A power. The exponent is public.
    pub fn power(&self, base: u64, exponent: u64) -> u64 {
        let (mut power, mut square, mut rest) = (1, base, exponent);
        while rest > 0 {
            if rest % 2 == 1 {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
            rest /= 2;
        }
        power
    }

    /// `1 / value`; 0 of 0.
    pub fn inverse(&self, value: u64) -> u64 {
        self.power(value, self.p - 2)
    }

    /// 2^(64 n), for n = 1, 2, 3.
    ///
    /// # Panics
    /// If `n` is another one.
    pub const fn radix(&self, n: usize) -> u64 {
        self.radix[n - 1]
    }

    /// An element as a weight.
    pub fn weight(&self, element: u64) -> Weight {
        Weight(self.mul(element, self.radix[0]))
    }

    /// An element times a weight.
    pub fn times(&self, weight: Weight, element: u64) -> u64 {
        self.least(self.redc(u128::from(weight.0) * u128::from(element)))
    }

    /// The product of two weights, as one.
    pub fn both(&self, a: Weight, b: Weight) -> Weight {
        Weight(self.times(a, b.0))
    }

    /// The sum of at most eight weights, as one.
    #[inline(always)]
    pub fn total<const N: usize>(&self, weights: [Weight; N]) -> Weight {
        const { assert!(N <= 8, "sums of more leave a word") };
        Weight(self.least(weights.iter().map(|weight| weight.0).sum()))
    }

    /// An element times any word, of their integers' product.
    #[inline(always)]
    fn weighed(&self, weight: Weight, word: u64) -> u64 {
        // Below 2^125 / 2^64 + p, which is less than 4 p.
        let x = self.redc(u128::from(weight.0) * u128::from(word));
        let x = x.min(x.wrapping_sub(2 * self.p));
        x.min(x.wrapping_sub(self.p))
    }

    /// `out = weight * words`, elements, of any words.
    ///
    /// # Panics
    /// If there are fewer words, or more.
    pub fn weigh(&self, weight: Weight, words: &[u64], out: &mut [u64]) {
        assert_eq!(words.len(), out.len(), "a product for every word");
        let done = vectors!(0, avx512::weigh(self, weight, words, out));
        cpu::run(
            #[inline(always)]
            || {
                let rest = out[done..].iter_mut().zip(&words[done..]);
                rest.for_each(|(out, &word)| *out = self.weighed(weight, word));
            },
        );
    }

    /// `out = weights * words`, place by place.
    ///
    /// # Panics
    /// If there are fewer words than weights, or more.
    pub fn weigh_each(&self, weights: &[Weight], words: &[u64], out: &mut [u64]) {
        assert!(
            words.len() == out.len() && words.len() == weights.len(),
            "a weight and a product for every word"
        );
        let done = vectors!(0, avx512::weigh_each(self, bytemuck::cast_slice(weights), words, out));
        cpu::run(
            #[inline(always)]
            || {
                for ((out, &word), &weight) in
                    out[done..].iter_mut().zip(&words[done..]).zip(&weights[done..])
                {
                    *out = self.weighed(weight, word);
                }
            },
        );
    }

    /// Weights times a weight.
    ///
    /// # Panics
    /// If there are fewer results, or more.
    pub fn scale(&self, weight: Weight, weights: &[Weight], out: &mut [Weight]) {
        self.weigh(weight, bytemuck::cast_slice(weights), bytemuck::cast_slice_mut(out));
    }

    /// The sum of products of weights and any words.
    ///
    /// # Panics
    /// If there are fewer words than weights, or more.
    pub fn weighted_sum(&self, weights: &[Weight], words: &[u64]) -> u64 {
        assert_eq!(weights.len(), words.len(), "a weight for every word");
        let (total, done) =
            vectors!((0, 0), avx512::weighted_sum(self, bytemuck::cast_slice(weights), words));
        let (weights, words) = (&weights[done..], &words[done..]);
        cpu::run(
            #[inline(always)]
            || {
                let sum = |(weights, words): (&[Weight], &[u64])| {
                    let products =
                        weights.iter().zip(words).map(|(w, &word)| u128::from(w.0) * u128::from(word));
                    u128::from(self.redc(products.sum()))
                };
                let sums = weights.chunks(LAZY_WORDS).zip(words.chunks(LAZY_WORDS)).map(sum);
                self.reduce(total + sums.sum::<u128>())
            },
        )
    }

    /// Adds to each column's sum the products of its words and their weights, one for each word: rows of words follow one
    /// another. Sums are less than 2^127 as long as fewer than 2^60 rows are added, and are no residues yet.
    ///
    /// # Panics
    /// If there isn't a weight for every word, or rows aren't whole.
    pub fn add_columns(&self, weights: &[Weight], words: &[u64], sums: &mut [u128]) {
        assert_eq!(weights.len(), words.len(), "a weight for every word");
        let columns = sums.len();
        assert_rows(words, columns);
        let done = vectors!(0, avx512::add_columns(self, bytemuck::cast_slice(weights), words, sums));
        self.columns(words, sums, done, |row, column| weights[row * columns + column]);
    }

    /// Adds to each column's sum the products of its words and their rows' weights, as [`Self::add_columns`] does.
    ///
    /// # Panics
    /// If there isn't a weight for every row, or rows aren't whole.
    pub fn add_rows(&self, weights: &[Weight], words: &[u64], sums: &mut [u128]) {
        assert_eq!(weights.len() * sums.len(), words.len(), "a weight for every row");
        assert_rows(words, sums.len());
        let done = vectors!(0, avx512::add_columns(self, bytemuck::cast_slice(weights), words, sums));
        self.columns(words, sums, done, |row, _| weights[row]);
    }

    /// Adds to the sums of columns from `done` on.
    #[inline(always)]
    fn columns(
        &self,
        words: &[u64],
        sums: &mut [u128],
        done: usize,
        weight: impl Fn(usize, usize) -> Weight,
    ) {
        let columns = sums.len();
        cpu::run(
            #[inline(always)]
            || {
                let rows = |first: usize, row: usize| &words[(first + row) * columns..][..columns];
                let whole = words.len() / columns / LAZY_WORDS * LAZY_WORDS;
                for first in (0..whole).step_by(LAZY_WORDS) {
                    let rows: [&[u64]; LAZY_WORDS] = std::array::from_fn(|row| rows(first, row));
                    for (column, sum) in sums.iter_mut().enumerate().skip(done) {
                        let product = |row: usize| {
                            u128::from(weight(first + row, column).0) * u128::from(rows[row][column])
                        };
                        *sum += u128::from(self.redc((0..LAZY_WORDS).map(product).sum()));
                    }
                }
                for row in whole..words.len() / columns {
                    for (column, (sum, &word)) in sums.iter_mut().zip(rows(row, 0)).enumerate().skip(done) {
                        *sum += u128::from(self.redc(u128::from(weight(row, column).0) * u128::from(word)));
                    }
                }
            },
        );
    }

    /// All inner products of blocks of elements: `out[l * blocks + k]` becomes the inner product of block `l` of `u` and
    /// block `k` of `v`. It costs `blocks * u.len()` products.
    ///
    /// # Panics
    /// If there are no blocks, if `u` and `v` aren't `blocks` blocks of one length below 2^60, or `out` isn't
    /// `blocks * blocks` elements.
    pub fn inner_products(&self, u: &[u64], v: &[u64], blocks: usize, out: &mut [u64]) {
        assert!(
            blocks > 0 && u.len() == v.len() && u.len().is_multiple_of(blocks),
            "{blocks} blocks of one length"
        );
        let length = u.len() / blocks;
        let of = |vector: &[u64], block: usize, first: usize| -> std::ops::Range<usize> {
            let start = block * length + first;
            start..(start + TILE).min(vector.len()).min((block + 1) * length)
        };
        let mut sums = vec![0; out.len()];
        // A tile of all blocks of both vectors stays in a second-level cache.
        for first in (0..length).step_by(TILE) {
            let [u, v] = [u, v].map(|vector| -> Vec<&[u64]> {
                (0..blocks).map(|block| &vector[of(vector, block, first)]).collect()
            });
            self.add_inner_products(&u, &v, &mut sums);
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = self.inner_product(sum);
        }
    }

    /// Adds to sums what [`Self::inner_product`] makes the inner products of: of blocks of any words, and of blocks of elements.
    ///
    /// # Panics
    /// If there are fewer blocks on a side, or sums than pairs of them, or more; if they aren't of one length, at most
    /// [`TILE`].
    pub fn add_inner_products(&self, words: &[&[u64]], elements: &[&[u64]], sums: &mut [u128]) {
        let (blocks, length) = (words.len(), words.first().map_or(0, |block| block.len()));
        let all = words.iter().chain(elements);
        assert!(
            elements.len() == blocks && length <= TILE && all.clone().all(|block| block.len() == length),
            "{blocks} blocks of one length"
        );
        assert_eq!(Some(sums.len()), blocks.checked_mul(blocks), "an inner product for every pair of blocks");
        #[cfg(target_arch = "x86_64")]
        if cpu::level() == cpu::Level::Avx512 {
            // SAFETY: the machine has the instructions of this level.
            return unsafe { avx512::add_inner_products(self, words, elements, sums) };
        }
        for (pair, sum) in sums.iter_mut().enumerate() {
            let (left, right) = (words[pair / blocks], elements[pair % blocks]);
            for (left, right) in left.chunks(LAZY_WORDS).zip(right.chunks(LAZY_WORDS)) {
                let products = left.iter().zip(right).map(|(&a, &b)| u128::from(a) * u128::from(b));
                *sum += u128::from(self.redc(products.sum()));
            }
        }
    }

    /// An inner product, of the sum that [`Self::add_inner_products`] has for it.
    pub fn inner_product(&self, sum: u128) -> u64 {
        self.least(self.redc(u128::from(self.redc(sum)) * u128::from(self.radix[2])))
    }

    /// Combines blocks of elements: `out[t]` becomes the sum over `l` of `weights[l] * u[l * out.len() + t]`.
    ///
    /// # Panics
    /// If there are more than 32 weights, or `u` isn't a block as long as `out` for every weight.
    pub fn combine(&self, u: &[u64], weights: &[Weight], out: &mut [u64]) {
        assert!(weights.len() <= LAZY, "at most {LAZY} blocks are combined");
        assert_eq!(Some(u.len()), weights.len().checked_mul(out.len()), "a block for every weight");
        let length = out.len();
        let done = vectors!(0, avx512::combine(self, u, weights, out));
        cpu::run(
            #[inline(always)]
            || {
                for (t, out) in out.iter_mut().enumerate().skip(done) {
                    let product =
                        |(l, weight): (usize, &Weight)| u128::from(weight.0) * u128::from(u[l * length + t]);
                    *out = self.least(self.redc(weights.iter().enumerate().map(product).sum()));
                }
            },
        );
    }

    /// Combines blocks of any words: `out[t]` becomes the sum of `weight * words[t]` over all.
    ///
    /// # Panics
    /// If there are more than eight, or weights aren't as many, or a block isn't as long as `out`.
    pub fn combine_words(&self, blocks: &[&[u64]], weights: &[Weight], out: &mut [u64]) {
        assert!(blocks.len() <= LAZY_BLOCKS, "at most {LAZY_BLOCKS} blocks are combined");
        assert_eq!(blocks.len(), weights.len(), "a block for every weight");
        assert!(blocks.iter().all(|block| block.len() == out.len()), "blocks as long as their combination");
        let done = vectors!(0, avx512::combine_words(self, blocks, weights, out));
        cpu::run(
            #[inline(always)]
            || {
                for (t, out) in out.iter_mut().enumerate().skip(done) {
                    let sum = |(blocks, weights): (&[&[u64]], &[Weight])| {
                        let products =
                            blocks.iter().zip(weights).map(|(b, w)| u128::from(w.0) * u128::from(b[t]));
                        u128::from(self.redc(products.sum()))
                    };
                    let sums = blocks.chunks(LAZY_WORDS).zip(weights.chunks(LAZY_WORDS)).map(sum);
                    *out = self.sixteenfold(sums.sum());
                }
            },
        );
    }

    /// The residue of what is below 2^64 + 2^62.
    #[inline(always)]
    fn sixteenfold(&self, x: u128) -> u64 {
        let carry = (x >> 64) as u64;
        self.least((x as u64).wrapping_sub(4 * self.p * carry))
    }
}

/// # Panics
/// If these aren't whole rows of so many words.
fn assert_rows(words: &[u64], columns: usize) {
    assert!(columns > 0 && words.len().is_multiple_of(columns), "whole rows of {columns}");
}

/// Elements of each block that are multiplied at a time.
pub const TILE: usize = 1024;
