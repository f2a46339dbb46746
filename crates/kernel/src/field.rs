//! Prime fields: integers modulo 2^61 - 1, and modulo 2^128 - 159.
//!
//! Both primes lie just below a power of two, so that a product is reduced by a shift or a small product and an
//! addition. 2^61 - 1 is the largest Mersenne prime below a word; a product of two elements, and a sum of 63 of
//! them, fits 128 bits. 2^128 - 159 is the largest prime below 2^128: no bit of an element's 128 is lost, which is
//! what protocols that guess field elements with probability 2^-128 ask for, and what the 127 bits of the Mersenne
//! prime 2^127 - 1 don't give.
//!
//! **Draws.** An element is a block of 128 bits reduced modulo p. With 2^128 = q p + r the first r elements have q + 1
//! blocks each and the others q, so the statistical distance from uniform is `r (p - r) / (2^128 p)`, less than
//! `r / 2^128`: r = 64 gives 2^-122 for 2^61 - 1, and r = 159 less than 2^-120 for 2^128 - 159.
//!
//! **Memory.** Elements are kept reduced. Values of another origin enter through
//! [`from_u128`](crate::Element::from_u128), which reduces; bytes that were never an element give a wrong
//! result, never a panic.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

use crate::Element;
use crate::element::private::Sealed;
use bytemuck::{Pod, Zeroable};

/// An element of the field of 2^61 - 1 elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Fp61(u64);

impl Fp61 {
    /// The modulus.
    pub const MODULUS: u64 = (1 << 61) - 1;

    /// The element of a value of up to twice the modulus less 1. No branch: the smaller of two words is the
    /// reduced one, since a difference below zero wraps to a large one.
    #[inline(always)]
    pub(crate) const fn once(value: u64) -> Self {
        let less = value.wrapping_sub(Self::MODULUS);
        Self(if less < value { less } else { value })
    }

    /// Folds what is above 61 bits onto what is below: 2^61 = 1.
    #[inline(always)]
    pub(crate) const fn fold(value: u128) -> u128 {
        (value & Self::MODULUS as u128) + (value >> 61)
    }

    /// The same of a word: at most the modulus and 7.
    #[inline(always)]
    pub(crate) const fn fold_word(value: u64) -> u64 {
        (value & Self::MODULUS) + (value >> 61)
    }

    /// The element's word.
    #[inline(always)]
    pub(crate) const fn word(self) -> u64 {
        self.0
    }
}

impl Element for Fp61 {
    const DRAWN: usize = 16;
    const VECTORS: bool = false;
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);

    #[inline(always)]
    fn wrapping_add(self, other: Self) -> Self {
        Self::once(self.0.wrapping_add(other.0))
    }

    #[inline(always)]
    fn wrapping_sub(self, other: Self) -> Self {
        let difference = self.0.wrapping_sub(other.0);
        Self(difference.min(difference.wrapping_add(Self::MODULUS)))
    }

    #[inline(always)]
    fn wrapping_mul(self, other: Self) -> Self {
        Self::once(Self::fold(self.0 as u128 * other.0 as u128) as u64)
    }

    #[inline(always)]
    fn wrapping_neg(self) -> Self {
        Self::ZERO.wrapping_sub(self)
    }

    #[inline(always)]
    fn from_u128(value: u128) -> Self {
        // 61, 61 and 6 bits; their sum has 63 at most, and folded it is below twice the modulus.
        let [low, middle, high] = [value, value >> 61, value >> 122].map(|part| part as u64 & Self::MODULUS);
        Self::once(Self::fold((low + middle + high) as u128) as u64)
    }

    /// One reduction for both products: with elements below 2^61 the sum is below 2^124.
    #[inline(always)]
    fn cross(xi: Self, xp: Self, yi: Self, yp: Self, sum: Self) -> Self {
        let left = xi.0 as u128 * yi.0.wrapping_add(yp.0) as u128;
        let right = xp.0 as u128 * yi.0 as u128;
        Self::from_u128(left.wrapping_add(right).wrapping_add(sum.0 as u128))
    }

    #[inline(always)]
    fn to_u128(self) -> u128 {
        self.0 as u128
    }
}

/// An element of the field of 2^128 - 159 elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Fp128(u128);

impl Fp128 {
    /// The modulus.
    pub const MODULUS: u128 = 0_u128.wrapping_sub(Self::GAP);

    /// 2^128 modulo the modulus.
    const GAP: u128 = 159;

    /// The element of `value + carry 2^128`, which is less than twice the modulus. Taking the modulus away is
    /// adding the gap; it is to be done from the modulus on. No branch: the gap is added once or not at all.
    #[inline(always)]
    const fn once(value: u128, carry: bool) -> Self {
        let above = value >= Self::MODULUS;
        Self(value.wrapping_add(Self::GAP * (carry | above) as u128))
    }

    /// The element of `low + high 2^128`.
    #[inline(always)]
    const fn fold(low: u128, high: u128) -> Self {
        // It is low + 159 high; 159 high has up to 136 bits.
        let near = (high as u64 as u128).wrapping_mul(Self::GAP);
        let far = (high >> 64).wrapping_mul(Self::GAP).wrapping_add(near >> 64);
        let (sum, carry) = low.overflowing_add(far << 64 | near as u64 as u128);
        // What is above 2^128 is at most 159, so that the second time it is a carry at most.
        let above = (far >> 64).wrapping_add(carry as u128);
        let (sum, carry) = sum.overflowing_add(above.wrapping_mul(Self::GAP));
        Self::once(sum, carry)
    }

    /// The sum of all products of two, reduced once: of up to 2^64 of them.
    #[inline(always)]
    pub fn sum_of_products(pairs: impl IntoIterator<Item = (Self, Self)>) -> Self {
        let (mut low, mut high, mut above) = (0_u128, 0_u128, 0_u64);
        for (x, y) in pairs {
            let (near, far) = widening_mul(x.0, y.0);
            let (sum, carry) = low.overflowing_add(near);
            low = sum;
            // A product of elements has a high half below 2^128 - 1.
            let (sum, carry) = high.overflowing_add(far.wrapping_add(carry as u128));
            high = sum;
            above = above.wrapping_add(carry as u64);
        }
        Self::fold(low, high).wrapping_add(Self::fold(above as u128 * (Self::GAP * Self::GAP), 0))
    }
}

impl Element for Fp128 {
    const DRAWN: usize = 16;
    const VECTORS: bool = false;
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);

    #[inline(always)]
    fn wrapping_add(self, other: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(other.0);
        Self::once(sum, carry)
    }

    #[inline(always)]
    fn wrapping_sub(self, other: Self) -> Self {
        let (difference, borrow) = self.0.overflowing_sub(other.0);
        Self(difference.wrapping_sub(Self::GAP * borrow as u128))
    }

    #[inline(always)]
    fn wrapping_mul(self, other: Self) -> Self {
        let (low, high) = widening_mul(self.0, other.0);
        Self::fold(low, high)
    }

    #[inline(always)]
    fn wrapping_neg(self) -> Self {
        Self::ZERO.wrapping_sub(self)
    }

    #[inline(always)]
    fn from_u128(value: u128) -> Self {
        Self::once(value, false)
    }

    #[inline(always)]
    fn to_u128(self) -> u128 {
        self.0
    }
}

/// The low and the high half of a product, from products of halves.
#[inline(always)]
const fn widening_mul(a: u128, b: u128) -> (u128, u128) {
    let (a0, a1) = (a as u64 as u128, a >> 64);
    let (b0, b1) = (b as u64 as u128, b >> 64);
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let other = a0 * b1 + (middle as u64 as u128);
    (other << 64 | low as u64 as u128, a1 * b1 + (middle >> 64) + (other >> 64))
}

impl Sealed for Fp61 {
    fn reduce(bytes: &[u8], out: &mut [Self]) {
        reduce(bytes, out);
    }
}

impl Sealed for Fp128 {
    fn reduce(bytes: &[u8], out: &mut [Self]) {
        reduce(bytes, out);
    }
}

/// Blocks to elements.
fn reduce<E: Element>(bytes: &[u8], out: &mut [E]) {
    for (element, block) in out.iter_mut().zip(bytes.as_chunks().0) {
        *element = E::from_u128(u128::from_le_bytes(*block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes::Aes128Ctr;
    use crate::noise::{lengths, noise};
    use num_bigint::BigUint;

    /// Elements where carries and reductions change, and some without structure.
    fn samples<E: Element>(modulus: u128) -> Vec<E> {
        let edges = [0, 1, 2, 3, 158, 159, 160, 1 << 31, 1 << 32, (1 << 60) - 1, 1 << 60, u64::MAX as u128];
        let from_above = [1, 2, 3, 158, 159, 160, 1 << 32].map(|less| modulus - less);
        let halves = [modulus / 2, modulus / 2 + 1, modulus >> 3];
        let all = edges.into_iter().chain(from_above).chain(halves).map(E::from_u128);
        all.chain(noise(3, 40)).collect()
    }

    /// The laws of a field, and every operation against integers of any size.
    fn is_the_field_of<E: Element>(modulus: u128) {
        let big = |x: E| BigUint::from(x.to_u128());
        let p = BigUint::from(modulus);
        let all = samples::<E>(modulus);
        assert_eq!((E::ZERO.to_u128(), E::ONE.to_u128()), (0, 1));
        for &a in &all {
            assert!(a.to_u128() < modulus);
            assert_eq!(E::from_u128(a.to_u128()), a);
            assert_eq!((a.wrapping_add(E::ZERO), a.wrapping_mul(E::ONE)), (a, a));
            assert_eq!(a.wrapping_add(a.wrapping_neg()), E::ZERO);
            assert_eq!(big(a.wrapping_neg()), (&p - big(a)) % &p);
            if a != E::ZERO {
                assert_eq!(a.wrapping_mul(power(a, modulus - 2)), E::ONE, "{a:?} has an inverse");
            }
            for &b in &all {
                assert_eq!(big(a.wrapping_add(b)), (big(a) + big(b)) % &p, "{a:?} + {b:?}");
                assert_eq!(big(a.wrapping_sub(b)), (&p + big(a) - big(b)) % &p, "{a:?} - {b:?}");
                assert_eq!(big(a.wrapping_mul(b)), big(a) * big(b) % &p, "{a:?} * {b:?}");
                assert_eq!(a.wrapping_add(b), b.wrapping_add(a));
                assert_eq!(a.wrapping_mul(b), b.wrapping_mul(a));
                for &c in &all[all.len() - 5..] {
                    assert_eq!(a.wrapping_add(b).wrapping_add(c), a.wrapping_add(b.wrapping_add(c)));
                    assert_eq!(a.wrapping_mul(b).wrapping_mul(c), a.wrapping_mul(b.wrapping_mul(c)));
                    let apart = a.wrapping_mul(b).wrapping_add(a.wrapping_mul(c));
                    assert_eq!(a.wrapping_mul(b.wrapping_add(c)), apart);
                }
            }
        }
        for value in [0, 1, modulus - 1, modulus, modulus.wrapping_add(1), 1 << 122, u128::MAX - 1, u128::MAX]
        {
            assert_eq!(big(E::from_u128(value)), BigUint::from(value) % &p, "{value} reduced");
        }
    }

    #[test]
    fn sums_of_products_are_reduced_once() {
        let all = samples::<Fp128>(Fp128::MODULUS);
        let largest = vec![Fp128::ZERO.wrapping_sub(Fp128::ONE); 300];
        for (x, y) in [(&all[..], &all[3..]), (&largest, &largest), (&all[..1], &all[..0]), (&all, &largest)]
        {
            let pairs = || x.iter().copied().zip(y.iter().copied());
            let expected = pairs().fold(Fp128::ZERO, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(y)));
            assert_eq!(Fp128::sum_of_products(pairs()), expected);
        }
    }

    fn power<E: Element>(base: E, exponent: u128) -> E {
        (0..128).rev().fold(E::ONE, |result, bit| {
            let square = result.wrapping_mul(result);
            if exponent >> bit & 1 == 1 { square.wrapping_mul(base) } else { square }
        })
    }

    #[test]
    fn both_are_fields() {
        is_the_field_of::<Fp61>(Fp61::MODULUS.into());
        is_the_field_of::<Fp128>(Fp128::MODULUS);
    }

    /// Miller and Rabin's test; that both are prime is proved elsewhere, and this notices another modulus.
    #[test]
    fn the_moduli_are_prime() {
        for modulus in [u128::from(Fp61::MODULUS), Fp128::MODULUS] {
            let p = BigUint::from(modulus);
            let (twos, odd) =
                ((modulus - 1).trailing_zeros(), (modulus - 1) >> (modulus - 1).trailing_zeros());
            for base in [2_u32, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
                let mut x = BigUint::from(base).modpow(&BigUint::from(odd), &p);
                let mut passes = x == BigUint::from(1_u32);
                for _ in 0..twos {
                    passes |= x == &p - 1_u32;
                    x = &x * &x % &p;
                }
                assert!(passes, "{modulus} is not prime");
            }
        }
    }

    /// The distance of a reduced block of 128 bits from uniform, as the module says.
    #[test]
    fn draws_are_close_to_uniform() {
        for (modulus, distance) in [(u128::from(Fp61::MODULUS), 122), (Fp128::MODULUS, 120)] {
            let above = (u128::MAX % modulus + 1) % modulus;
            assert!(above <= 1 << (128 - distance), "2^-{distance} for {modulus}");
        }
    }

    fn drawn_from_blocks<E: Element>() {
        let [a, b] = [[1; 16], [2; 16]].map(|key| Aes128Ctr::new(&key));
        let block = |key: &Aes128Ctr, at: u64| {
            let mut bytes = [0; 16];
            key.fill(7, at, &mut bytes);
            E::from_u128(u128::from_le_bytes(bytes))
        };
        for count in lengths(1, [0, 1, 63, 64, 65, 200]) {
            let mut out = vec![E::ONE; count];
            E::fill(&a, 7, 5, &mut out);
            assert_eq!(out, (5..5 + count as u64).map(|at| block(&a, at)).collect::<Vec<E>>());
            E::fill_difference(&a, &b, 7, 5, &mut out);
            let differences = (5..5 + count as u64).map(|at| block(&a, at).wrapping_sub(block(&b, at)));
            assert_eq!(out, differences.collect::<Vec<E>>());
        }
        let mut out = [E::ZERO; 2];
        E::draw(&[0xff; 32], &mut out);
        assert_eq!(out, [E::from_u128(u128::MAX); 2]);
    }

    #[test]
    fn an_element_is_drawn_from_a_block() {
        drawn_from_blocks::<u128>();
        drawn_from_blocks::<Fp61>();
        drawn_from_blocks::<Fp128>();
    }

    #[test]
    #[should_panic(expected = "every element is drawn from 16 bytes")]
    fn a_draw_from_too_few_bytes_is_refused() {
        Fp61::draw(&[0; 31], &mut [Fp61::ZERO; 2]);
    }
}
