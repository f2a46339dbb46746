//! Learning parity with noise over F_p, p = 2^128 - 159: its parameters, and its code.
//!
//! For a public matrix `A`, a secret `s` and a noise `e` that nobody knows, `A s + e` looks random. The noise is regular: one
//! random element in each block of 16. A row of `A` has ten random elements at random places.
//!
//! The page `docs/vole.md` derives the parameters: no linear test of `A s + e` has an advantage of 2^-153 or more, but for a
//! matrix in 2^127; by what is known of other attacks, these cost 2^205 or more.

use crate::context::Context;
use tacit_kernel::Element;
use tacit_kernel::aes::{Aes128Ctr, BLOCK};
use tacit_kernel::field::Fp128;

/// The height of a tree that makes a block of noise.
pub(crate) const HEIGHT: usize = 4;

/// Elements of a block of noise, of which one isn't zero.
pub(crate) const LEAVES: usize = 1 << HEIGHT;

/// Blocks: the paper's t.
pub(crate) const POINTS: usize = 832;

/// Rows of the matrix: the paper's n.
pub(crate) const ROWS: usize = POINTS * LEAVES;

/// Elements of the secret: the paper's k.
pub(crate) const SECRET: usize = 2398;

/// Elements of a row that may differ from zero: the paper's d.
pub(crate) const WEIGHT: usize = 10;

/// Rows that are drawn at a time: their places take whole blocks.
const PIECE: usize = 32;

/// Streams under a matrix's key.
const ELEMENTS: u64 = 0;
const PLACES: u64 = 1;

/// A matrix. It is public.
pub(crate) struct Code(Aes128Ctr);

impl Code {
    /// That of a round of a direction.
    pub(crate) fn new(context: &Context, round: u32) -> Self {
        let hash = context.hash("code", &[u64::from(round)], &[]);
        Self(Aes128Ctr::new(&hash[..BLOCK].first_chunk().copied().unwrap_or_default()))
    }

    /// Adds the matrix times each secret to the sums beside it.
    ///
    /// # Panics
    /// If a secret or sums have another length.
    pub(crate) fn add<const N: usize>(&self, secrets: [&[Fp128]; N], mut sums: [&mut [Fp128]; N]) {
        assert!(secrets.iter().all(|secret| secret.len() == SECRET), "secrets of the code");
        assert!(sums.iter().all(|sums| sums.len() == ROWS), "a sum for each row");
        let mut elements = [Fp128::ZERO; PIECE * WEIGHT];
        let mut places = [[0; 4]; PIECE * WEIGHT];
        for first in (0..ROWS).step_by(PIECE) {
            Fp128::fill(&self.0, ELEMENTS, (first * WEIGHT) as u64, &mut elements);
            self.0.fill(PLACES, (first * WEIGHT * 4 / BLOCK) as u64, places.as_flattened_mut());
            let rows = elements.as_chunks::<WEIGHT>().0.iter().zip(places.as_chunks::<WEIGHT>().0);
            for (row, (elements, places)) in (first..).zip(rows) {
                let places = places.map(|bytes| {
                    let wide = u64::from(u32::from_le_bytes(bytes)) * SECRET as u64;
                    (wide >> 32) as usize
                });
                for (secret, sums) in secrets.iter().zip(&mut sums) {
                    let terms = elements.iter().zip(places).map(|(element, place)| (*element, secret[place]));
                    sums[row] = sums[row].wrapping_add(Fp128::sum_of_products(terms));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// What the page's bounds are for.
    #[test]
    fn parameters_are_those_of_the_page() {
        assert_eq!([ROWS, SECRET, POINTS, LEAVES, WEIGHT], [13_312, 2398, 832, 16, 10]);
        assert!(ROWS.is_multiple_of(PIECE) && (PIECE * WEIGHT * 4).is_multiple_of(BLOCK));
    }

    /// The binary logarithm of a binomial coefficient.
    fn choose(n: usize, k: usize) -> f64 {
        (0..k).map(|i| ((n - i) as f64 / (k - i) as f64).log2()).sum()
    }

    /// docs/vole.md, "Linear tests": the expected number of sets of `w` rows that aren't independent, for all `w` up to the
    /// distance, and the advantage of a test of that many rows.
    #[test]
    fn no_linear_test_tells_anything() {
        const DISTANCE: usize = 1598;
        let of_secret: Vec<f64> = (0..=SECRET).map(|v| choose(SECRET, v)).collect();
        let mut sets = 0.0_f64;
        for w in 2..=DISTANCE {
            let rows = choose(ROWS, w);
            let expected = (1..=SECRET.min(w + 3)).map(|v| {
                let covered = (WEIGHT * w) as f64 * (v as f64 / SECRET as f64).log2();
                let free = 128.0 * (w as f64 - 1.0 - v as f64).min(0.0);
                (rows + of_secret[v] + covered + free).exp2()
            });
            sets += expected.sum::<f64>();
        }
        assert!(sets.log2() < -127.0, "{}", sets.log2());
        let advantage = POINTS as f64 * (1.0 - DISTANCE as f64 / ROWS as f64).log2();
        assert!((-154.0..-153.0).contains(&advantage), "{advantage}");
    }

    /// The first degree at which `(1 - z)^(ROWS - SECRET - POINTS) (1 + (15 - guessed / POINTS) z)^POINTS` has no positive
    /// coefficient: each follows from the two before.
    fn degree(guessed: usize) -> usize {
        let (conditions, blocks) = ((ROWS - SECRET - POINTS) as f64, POINTS as f64);
        let free = (LEAVES - 1) as f64 - guessed as f64 / blocks;
        // (1 - z) (1 + free z) h' = (blocks free (1 - z) - conditions (1 + free z)) h
        let (mut last, mut next) = (0.0_f64, 1.0_f64);
        for n in 0_u32.. {
            let at = f64::from(n);
            let rest = (blocks * free - conditions - (free - 1.0) * at) * next;
            let sum = rest + (free * (at - 1.0) - free * (conditions + blocks)) * last;
            (last, next) = (next, sum / (at + 1.0));
            if next <= 0.0 {
                return n as usize + 1;
            }
        }
        unreachable!("there is such a degree")
    }

    /// docs/vole.md, "Other attacks": guesses spread evenly over all blocks, and what the algebra costs after them.
    #[test]
    fn equations_of_the_noise_cost_what_the_page_says() {
        let bits = |guessed: usize| {
            let guess = -(POINTS as f64) * (1.0 - guessed as f64 / ROWS as f64).log2();
            let degree = degree(guessed);
            [guess, 2.0 * choose(SECRET - guessed + degree - 1, degree)]
        };
        let cost = |guessed: &usize| bits(*guessed).iter().sum::<f64>();
        let cheapest = (0..SECRET).min_by(|x, y| cost(x).total_cmp(&cost(y))).expect("there are some");
        let [guess, algebra] = bits(cheapest);
        assert!(guess + algebra > 205.0, "{cheapest}: {guess} + {algebra}");
        let quadratic = (0..SECRET).find(|guessed| degree(*guessed) == 2).expect("with many guesses");
        let page = include_str!("../../../docs/vole.md");
        for says in [
            format!("the cheapest is `f = {cheapest}`, `D = {}`", degree(cheapest)),
            format!("{guess:.0} bits for the guess and {algebra:.0} for the algebra"),
            format!("{:.0} in all", guess + algebra),
            format!("At `D = 2` the guess alone is {:.0} bits", bits(quadratic)[0]),
        ] {
            assert!(page.contains(&says), "the page doesn't say {says:?}");
        }
    }

    #[test]
    fn a_code_is_linear_and_each_round_has_its_own() {
        let context = Context::of(3);
        let secret = |start: u128| -> Vec<Fp128> {
            (0..SECRET as u128).map(|i| Fp128::from_u128((start << 100).wrapping_sub(i * i))).collect()
        };
        let words = |round, secret: &[Fp128]| {
            let mut sums = vec![Fp128::ONE; ROWS];
            Code::new(&context, round).add([secret], [&mut sums]);
            sums
        };
        let [x, y] = [secret(5), secret(77)];
        let sum: Vec<Fp128> = x.iter().zip(&y).map(|(x, y)| x.wrapping_add(*y)).collect();
        let [of_x, of_y, of_sum] = [&x, &y, &sum].map(|secret| words(0, secret));
        for ((x, y), sum) in of_x.iter().zip(&of_y).zip(&of_sum) {
            assert_eq!(x.wrapping_add(*y), sum.wrapping_add(Fp128::ONE));
        }
        assert_eq!(of_x.iter().collect::<HashSet<_>>().len(), ROWS);
        assert!(of_x.iter().zip(&words(1, &x)).all(|(x, other)| x != other));
        let (mut left, mut right) = (vec![Fp128::ONE; ROWS], vec![Fp128::ONE; ROWS]);
        Code::new(&context, 0).add([&x, &y], [&mut left, &mut right]);
        assert_eq!([left, right], [of_x, of_y]);
    }
}
