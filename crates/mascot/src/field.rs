//! The fields that shares are of.

use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_ot::copee;

/// Bits of an element, each of which chooses in an oblivious transfer.
pub(crate) const BITS: usize = 128;

/// A field whose elements have 128 bits, so that a product is shared by 128 oblivious transfers: that of 2^128 - 159 elements,
/// and GF(2^128).
pub trait FieldElement: Element + Default {
    /// It, as products by oblivious transfer name it.
    const FIELD: copee::Field;

    /// `sum of g_h x_h` for all bits `h`, where `g_h` is `2^h` or `X^h`, and an element with the bits `b_h` is `sum of g_h b_h`.
    /// The words `x_h` needn't be elements.
    fn sum_of_powers(x: impl Fn(usize) -> u128) -> Self;
}

impl FieldElement for Fp128 {
    const FIELD: copee::Field = copee::Field::Prime;

    fn sum_of_powers(x: impl Fn(usize) -> u128) -> Self {
        const GROUP: usize = 32;
        let shift = Self::from_u128(1 << GROUP);
        (0..BITS).step_by(GROUP).rev().fold(Self::ZERO, |sum, first| {
            // Of a group an integer below 2^(128 + 32): its low 128 bits, and the rest. 2^128 is 159.
            let (mut low, mut high) = (0_u128, 0_u64);
            for h in (first..first + GROUP).rev() {
                high = high << 1 | (low >> 127) as u64;
                let (next, carry) = (low << 1).overflowing_add(x(h));
                low = next;
                high += u64::from(carry);
            }
            let group = Self::from_u128(low).wrapping_add(Self::from_u128(159 * u128::from(high)));
            sum.wrapping_mul(shift).wrapping_add(group)
        })
    }
}

impl FieldElement for Gf128 {
    const FIELD: copee::Field = copee::Field::Binary;

    fn sum_of_powers(x: impl Fn(usize) -> u128) -> Self {
        (0..BITS).rev().fold(Self::ZERO, |sum, h| sum.double().plus(Self(x(h))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_testkit::Rng;

    fn powers_are_summed<E: FieldElement>(two: u128) {
        let mut rng = Rng::new(1);
        for case in 0..20 {
            let words: Vec<u128> = (0..BITS)
                .map(|_| match case {
                    0 => u128::MAX,
                    1 => 0,
                    _ => u128::from(rng.word()) << 64 | u128::from(rng.word()),
                })
                .collect();
            let expected = words.iter().rev().fold(E::ZERO, |sum, word| {
                sum.wrapping_mul(E::from_u128(two)).wrapping_add(E::from_u128(*word))
            });
            assert_eq!(E::sum_of_powers(|h| words[h]), expected);
            // The bits of an element make it.
            assert_eq!(E::sum_of_powers(|h| expected.to_u128() >> h & 1), expected);
        }
    }

    #[test]
    fn powers_are_summed_in_both_fields() {
        powers_are_summed::<Fp128>(2);
        powers_are_summed::<Gf128>(2);
    }
}
