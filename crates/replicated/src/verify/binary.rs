//! GF(2^64), and the relation of ANDs over it: Boyle, Gilboa, Ishai and Nof 2019, in the form that Li et al. 2023 compare
//! with (section 4.2 and appendix E.2).
//!
//! **The relation.** An AND is right if `ab ^ cd ^ e ^ f = 0` ([`super::proof`]). With random coefficients `theta` that
//! are drawn when all ANDs are fixed, the sum over the ANDs of `theta a b + theta c d` is that of `theta e`, which the
//! left verifier knows, and of `theta f`, which the right one knows: their shares of the first claim.
//!
//! The sum is an inner product of vectors `u` of all `theta a` and `theta c` and `v` of all `b` and `d`, which lie in 8
//! blocks, each with its own ANDs. One wrong AND or more go unnoticed here with a chance of 2^-64.
//!
//! The points' numbers are the polynomials of the same bits. A product of the first round's blocks is a sum of those
//! coefficients whose bit is 1, so it takes no multiplication.

use super::field::{BaseField, Field};
use super::schedule::FoldingSchedule;
use tacit_kernel::gf64::{self, Gf64};
use tacit_kernel::relation::{LeftPlanes, Planes, RightPlanes, Side};
use tacit_session::{Draw, PrssStream};

impl Field for Gf64 {
    type Base = Self;
    const DEGREE: usize = 1;

    fn of(parts: &[Self]) -> Self {
        parts[0]
    }

    fn parts(self) -> [Self; 2] {
        [self, Self::ZERO]
    }

    fn add(self, other: Self) -> Self {
        self.plus(other)
    }

    fn sub(self, other: Self) -> Self {
        self.plus(other)
    }

    fn mul(self, other: Self) -> Self {
        self.times(other)
    }
}

impl BaseField for Gf64 {
    const ORDER: u128 = 1 << 64;

    fn element(word: u64) -> Self {
        Self(word)
    }

    fn word(self) -> u64 {
        self.0
    }

    fn draw(stream: &mut PrssStream, draw: Draw, block: u64, out: &mut [Self]) {
        stream.fill(draw, block, bytemuck::cast_slice_mut(out));
    }

    fn inverse_products(first: usize, count: usize) -> Vec<Self> {
        let all = first..first + count;
        let product = |k: usize| {
            let others = all.clone().filter(|&other| other != k);
            let differences = others.map(|other| Self::number(k).sub(Self::number(other)));
            differences.fold(Self::ONE, Self::mul).inverse()
        };
        all.clone().map(product).collect()
    }

    fn inverse_differences(count: usize) -> impl Fn(usize, usize) -> Self {
        let inverse = |k: usize| Self::number(k).inverse();
        let inverses: Vec<Self> = (0..count.next_power_of_two()).map(inverse).collect();
        move |a, b| inverses[a ^ b]
    }

    fn inner_products_into(u: &[Self], v: &[Self], blocks: usize, out: &mut [Self]) {
        gf64::inner_products(u, v, blocks, out);
    }

    fn combine_into(u: &[Self], weights: &[Self], out: &mut [Self]) {
        gf64::combine(u, weights, out);
    }

    /// The sum of the coefficients of `e`, or of `f`.
    fn first_claim(_: &FoldingSchedule, coefficients: &[Self], planes: Planes<'_>) -> Self {
        let [.., e_or_f] = planes.all();
        gf64::sum_chosen(coefficients, e_or_f)
    }

    fn bit_products(
        schedule: &FoldingSchedule,
        coefficients: &[Self],
        left: LeftPlanes<'_>,
        right: RightPlanes<'_>,
    ) -> Vec<Self> {
        let (blocks, words, ands) = (schedule.blocks(0), schedule.block_words, schedule.block_ands());
        let mut bits = vec![0; words];
        let mut products = Vec::with_capacity(blocks * blocks);
        for l in 0..blocks {
            for k in 0..blocks {
                let [a, c] = [left.a, left.c].map(|plane| &plane[l * words..][..words]);
                let [b, d] = [right.b, right.d].map(|plane| &plane[k * words..][..words]);
                for (w, bits) in bits.iter_mut().enumerate() {
                    *bits = a[w] & b[w] ^ c[w] & d[w];
                }
                products.push(gf64::sum_chosen(&coefficients[l * ands..][..ands], &bits));
            }
        }
        products
    }

    fn fold_bits(
        schedule: &FoldingSchedule,
        coefficients: &[Self],
        planes: Planes<'_>,
        weights: &[Self],
        out: &mut [Self],
    ) {
        let (words, ands) = (schedule.block_words, schedule.block_ands());
        let mut weighted = vec![Self::ZERO; ands];
        out.fill(Self::ZERO);
        for (l, &weight) in weights.iter().enumerate() {
            match planes.side() {
                Side::Left => gf64::scale(&coefficients[l * ands..][..ands], weight, &mut weighted),
                Side::Right => weighted.fill(weight),
            }
            for (plane, folded) in planes.all().iter().zip(out.chunks_exact_mut(ands)) {
                gf64::add_chosen(&weighted, &plane[l * words..][..words], folded);
            }
        }
    }
}
