//! F_p with p = 2^61 - 1, and the relation of ANDs over it ([`super::proof`]).

use super::field::{BaseField, Field, Spare, Vector};
use super::schedule::FoldingSchedule;
use crate::planted::{Mistake, planted};
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::Gf64;
use tacit_kernel::relation::{self, LeftPlanes, Planes, RightPlanes, Side};
use tacit_kernel::{Element, fp61};
use tacit_session::{Draw, PrssStream};

impl Field for Fp61 {
    type Base = Self;
    const DEGREE: usize = 1;

    fn of(parts: &[Self]) -> Self {
        parts[0]
    }

    fn parts(self) -> [Self; 2] {
        [self, Self::ZERO]
    }

    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn sub(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn mul(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
}

impl BaseField for Fp61 {
    const ORDER: u128 = Self::MODULUS as u128;

    fn element(word: u64) -> Self {
        Self::from_u128(word.into())
    }

    fn word(self) -> u64 {
        self.to_u128() as u64
    }

    fn draw(stream: &mut PrssStream, draw: Draw, block: u64, out: &mut [Self]) {
        stream.fill_elements(draw, block, out);
    }

    /// The denominators are `(k - first)! (last - k)!` up to the sign, so one inversion does.
    fn inverse_products(_: usize, count: usize) -> Vec<Self> {
        let factorial = (1..count).fold(Self::ONE, |product, k| product.mul(Self::number(k)));
        // 1 / (count - 1)!, and from it all smaller ones.
        let mut inverses = vec![inverse(factorial); count];
        for k in (1..count).rev() {
            inverses[k - 1] = inverses[k].mul(Self::number(k));
        }
        let product = |k: usize| {
            let product = inverses[k].mul(inverses[count - 1 - k]);
            if (count - 1 - k).is_multiple_of(2) { product } else { product.wrapping_neg() }
        };
        (0..count).map(product).collect()
    }

    fn inverse_differences(count: usize) -> impl Fn(usize, usize) -> Self {
        // 1 / k is (k - 1)! / k!.
        let mut factorial = Self::ONE;
        let mut inverses = vec![Self::ZERO; count];
        for (k, before) in inverses.iter_mut().enumerate().skip(1) {
            *before = factorial;
            factorial = factorial.mul(Self::number(k));
        }
        let mut inverse = inverse(factorial);
        for (k, place) in inverses.iter_mut().enumerate().skip(1).rev() {
            *place = place.mul(inverse);
            inverse = inverse.mul(Self::number(k));
        }
        move |a, b| if a > b { inverses[a - b] } else { inverses[b - a].wrapping_neg() }
    }

    fn inner_products_into(u: &[Self], v: &[Self], blocks: usize, out: &mut [Self]) {
        fp61::inner_products(u, v, blocks, out);
    }

    fn combine_into(u: &[Self], weights: &[Self], out: &mut [Self]) {
        fp61::combine(u, weights, out);
    }

    /// The left verifier adds what is public.
    fn first_claim(schedule: &FoldingSchedule, _: &[Gf64], planes: Planes<'_>) -> Self {
        match planes.side() {
            Side::Left => expected(schedule),
            Side::Right => Self::ZERO,
        }
    }

    fn bit_products(
        schedule: &FoldingSchedule,
        _: &[Gf64],
        left: LeftPlanes<'_>,
        right: RightPlanes<'_>,
    ) -> Vec<Self> {
        let (blocks, expected) = (schedule.blocks(0), expected(schedule));
        let mut counts = vec![0; blocks * blocks];
        relation::counts(left, right, blocks, &mut counts);
        let mut products: Vec<Self> =
            counts.into_iter().map(|count| expected.add(Self::element(count))).collect();
        products.iter_mut().step_by(blocks + 1).for_each(|product| *product = expected);
        products
    }

    fn fold_bits(_: &FoldingSchedule, _: &[Gf64], planes: Planes<'_>, weights: &[Self], out: &mut [Self]) {
        let [x, y, _] = planes.all();
        let planes = if planted(Mistake::WrongMask) { Planes::of(planes.side(), [x, y, x]) } else { planes };
        relation::fold(planes, weights, out);
    }

    fn memory(spare: &mut Spare, len: usize) -> Vec<Self> {
        spare.take(len)
    }

    fn reuse(spare: &mut Spare, vector: Vector<Self>) {
        spare.put(vector);
    }
}

/// `-T/2`: the inner product of a block's vectors if its ANDs are right.
fn expected(schedule: &FoldingSchedule) -> Fp61 {
    // T is a multiple of 64.
    Fp61::number(schedule.block_ands() / 2).wrapping_neg()
}

/// `1 / value` for a value that isn't 0: `value^(p - 2)`.
fn inverse(value: Fp61) -> Fp61 {
    let (mut power, mut square, mut exponent) = (Fp61::ONE, value, Fp61::MODULUS - 2);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power.mul(square);
        }
        square = square.mul(square);
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses() {
        for value in [1, 2, 3, Fp61::MODULUS - 1, 1 << 60] {
            assert_eq!(Fp61::element(value).mul(inverse(Fp61::element(value))), Fp61::ONE);
        }
    }
}
