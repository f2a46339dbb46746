//! A product is checked against a random triple: elements of a ring or a field, or 64 bits a word, side by side.
//!
//! To check `c = a b` against a triple `f = d e` one opens `rho = a - d` and `sigma = b - e`. Then
//! `c - f - sigma d - rho e - sigma rho` is 0 if both are right, or wrong by the same.
//!
//! All slices of a call are equally long; the functions panic if they aren't.

use crate::{Element, cpu};
use bytemuck::{Pod, Zeroable};

/// What is checked side by side.
pub trait Lanes: Pod {
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
}

impl<E: Element> Lanes for E {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
}

/// 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bits(pub u64);

impl Lanes for Bits {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Of two components each `out = a - b`, and the sum of both.
pub fn differences<L: Lanes>(a: [&[L]; 2], b: [&[L]; 2], out: [&mut [L]; 2], sum: &mut [L]) {
    let n = sum.len();
    let ([a, a_s], [b, b_s], [out, out_s]) = (a, b, out);
    let lengths = [a.len(), a_s.len(), b.len(), b_s.len(), out.len(), out_s.len()];
    assert_eq!(lengths, [n; 6], "components, differences and their sum have the same length");
    cpu::run(
        #[inline(always)]
        || {
            let (a, a_s, b, b_s) = (&a[..n], &a_s[..n], &b[..n], &b_s[..n]);
            let (out, out_s, sum) = (&mut out[..n], &mut out_s[..n], &mut sum[..n]);
            for i in 0..n {
                out[i] = a[i].minus(b[i]);
                out_s[i] = a_s[i].minus(b_s[i]);
                sum[i] = out[i].plus(out_s[i]);
            }
        },
    );
}

/// Two components of `c`, and of a triple `d`, `e`, `f`.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a, L> {
    /// The product.
    pub c: [&'a [L]; 2],
    /// The triple's left factor,
    pub d: [&'a [L]; 2],
    /// its right one,
    pub e: [&'a [L]; 2],
    /// and their product.
    pub f: [&'a [L]; 2],
}

/// Of `tau = c - f - sigma d - rho e - sigma rho`, where the last product belongs to the component `whole` (0 or 1,
/// or none): the first component, and what the third one is if all of `tau` is 0, the negated sum of the two.
pub fn sacrifice<L: Lanes>(
    sides: Sides<'_, L>,
    [rho, sigma]: [&[L]; 2],
    whole: Option<usize>,
    first: &mut [L],
    third: &mut [L],
) {
    match whole {
        Some(0) => tau::<L, 0>(sides, rho, sigma, first, third),
        Some(1) => tau::<L, 1>(sides, rho, sigma, first, third),
        _ => tau::<L, 2>(sides, rho, sigma, first, third),
    }
}

fn tau<L: Lanes, const WHOLE: usize>(
    sides: Sides<'_, L>,
    rho: &[L],
    sigma: &[L],
    first: &mut [L],
    third: &mut [L],
) {
    let n = first.len();
    let Sides { c, d, e, f } = sides;
    let all = [c, d, e, f].iter().flatten().all(|side| side.len() == n);
    assert!(
        all && rho.len() == n && sigma.len() == n && third.len() == n,
        "components, what was opened and results have the same length"
    );
    cpu::run(
        #[inline(always)]
        || {
            let [c, d, e, f] = [c, d, e, f].map(|[one, other]| [&one[..n], &other[..n]]);
            let (rho, sigma) = (&rho[..n], &sigma[..n]);
            let (first, third) = (&mut first[..n], &mut third[..n]);
            for i in 0..n {
                let opened = [rho[i], sigma[i]];
                let one = component([c[0][i], d[0][i], e[0][i], f[0][i]], opened, WHOLE == 0);
                let other = component([c[1][i], d[1][i], e[1][i], f[1][i]], opened, WHOLE == 1);
                first[i] = one;
                third[i] = L::zeroed().minus(one).minus(other);
            }
        },
    );
}

/// A component of `tau`, with the last product or without.
#[inline(always)]
fn component<L: Lanes>([c, d, e, f]: [L; 4], [rho, sigma]: [L; 2], whole: bool) -> L {
    let right = if whole { e.plus(sigma) } else { e };
    c.minus(f).minus(sigma.times(d).plus(rho.times(right)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::field::{Fp61, Fp128};
    use crate::noise::{lengths, noise};

    /// Against the formulas, one operation at a time.
    fn agrees<L: Lanes + PartialEq>(numbers: impl Fn(u64) -> Vec<L>) {
        let planes: Vec<Vec<L>> = (0..10).map(&numbers).collect();
        let n = planes[0].len();
        let pair = |first: usize| [planes[first].as_slice(), planes[first + 1].as_slice()];
        let (rho, sigma) = (&planes[8], &planes[9]);
        for level in available() {
            let [mut one, mut other, mut sum] = [(); 3].map(|()| numbers(11));
            at(level, || differences(pair(0), pair(2), [&mut one, &mut other], &mut sum));
            for i in 0..n {
                assert!(one[i].plus(planes[2][i]) == planes[0][i], "{level:?}");
                assert!(other[i].plus(planes[3][i]) == planes[1][i], "{level:?}");
                assert!(one[i].plus(other[i]) == sum[i], "{level:?}");
            }
            for whole in [None, Some(0), Some(1)] {
                let sides = Sides { c: pair(0), d: pair(2), e: pair(4), f: pair(6) };
                at(level, || sacrifice(sides, [rho, sigma], whole, &mut one, &mut other));
                for i in 0..n {
                    let tau = [0, 1].map(|which| {
                        let [c, d, e, f] = [0, 2, 4, 6].map(|plane| planes[plane + which][i]);
                        let tau = c.minus(f).minus(sigma[i].times(d)).minus(rho[i].times(e));
                        if whole == Some(which) { tau.minus(sigma[i].times(rho[i])) } else { tau }
                    });
                    assert!(one[i] == tau[0], "{level:?}, {whole:?}");
                    assert!(tau[0].plus(tau[1]).plus(other[i]) == L::zeroed(), "{level:?}, {whole:?}");
                }
            }
        }
    }

    #[test]
    fn every_level_computes_the_formulas() {
        for length in lengths(7, [0, 1, 7, 64, 100]) {
            agrees::<u8>(|seed| noise(seed, length));
            agrees::<u32>(|seed| noise(seed, length));
            agrees::<u64>(|seed| noise(seed, length));
            agrees::<u128>(|seed| {
                noise::<u64>(seed, length).into_iter().map(|x| u128::from(x) << 40).collect()
            });
            agrees::<Bits>(|seed| noise::<u64>(seed, length).into_iter().map(Bits).collect());
            let wide = |seed| noise::<u64>(seed, length).into_iter().map(|x| u128::from(x) << 40);
            agrees::<Fp61>(|seed| wide(seed).map(Fp61::from_u128).collect());
            agrees::<Fp128>(|seed| wide(seed).map(Fp128::from_u128).collect());
        }
    }

    #[test]
    #[should_panic(expected = "the same length")]
    fn a_short_slice_is_refused() {
        differences::<u64>([&[1, 2], &[3]], [&[1, 2], &[3, 4]], [&mut [0; 2], &mut [0; 2]], &mut [0; 2]);
    }
}
