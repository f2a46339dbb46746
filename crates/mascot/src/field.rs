//! The fields that shares are of.
//!
//! Protocols compute in that of 2^128 - 159 elements. GF(2^128) and primes of 64, 256 and 512 bits are there beside it: the same
//! steps on other elements, by a trait that says what these steps need of one. What isn't of 128 bits has no kernels of its own.

use bytemuck::Pod;
use std::fmt::Debug;
use tacit_kernel::Element;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_kernel::mersenne::Fp;
use tacit_ot::copee::{Field, Multiplicand, Multiplier};
use tacit_session::{Draw, PrssStream};
use zeroize::Zeroizing;

/// Bits of an element of the fields that have kernels of their own.
const WORD: usize = 128;

/// An element of a field in which triples are made. In memory and in messages it is its bytes, the lowest first.
pub trait FieldElement: Pod + Eq + Default + Debug + Send + Sync {
    /// It, as products by oblivious transfer name it.
    const FIELD: Field;
    /// Bits of an element, each of which chooses in an oblivious transfer.
    const BITS: usize = Self::FIELD.bits();
    /// Bytes of an element.
    const BYTES: usize = Self::FIELD.bytes();
    /// Oblivious transfers that are taken at a time: those of an element, or a part of them.
    const GROUP: usize = if Self::BITS < WORD { Self::BITS } else { WORD };
    /// The neutral element of sums.
    const ZERO: Self;
    /// The neutral element of products.
    const ONE: Self;

    /// `self + other`.
    #[must_use]
    fn wrapping_add(self, other: Self) -> Self;
    /// `self - other`.
    #[must_use]
    fn wrapping_sub(self, other: Self) -> Self;
    /// `self * other`.
    #[must_use]
    fn wrapping_mul(self, other: Self) -> Self;
    /// The number with so many bytes, the lowest first, reduced.
    ///
    /// # Panics
    /// If there aren't [`BYTES`](Self::BYTES).
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Elements of the stream of `nonce`, from element `first` on: each at most 2^-64 from uniform at 64 bits, 2^-120 above.
    fn fill(key: &Aes128Ctr, nonce: u64, first: u64, out: &mut [Self]);
    /// Elements that this party draws together with another one.
    fn fill_shared(stream: &mut PrssStream, draw: Draw, out: &mut [Self]);

    /// Takes a [`GROUP`](Self::GROUP) of OTs as their sender: appends the bytes of `zero_h - one_h + x` for each, and gives
    /// `sum of g_h zero_h`, where `g_h` is `2^h` or `X^h`. A value that an OT gives is an element expanded from its string.
    fn offered(zeros: &[u128], ones: &[u128], x: Self, message: &mut Vec<u8>) -> Self;
    /// `sum of g_h value_h` for the values of a group of OTs, as their receiver.
    fn taken(values: &[u128]) -> Self;
    /// `sum of g_h b_h d_h` for bits `b_h`, the first of a word the lowest, and the bytes of elements `d_h`: one for each bit.
    fn chosen(bits: &[u64], differences: &[u8]) -> Self;
    /// `g_h self`, for the first bit of a group.
    #[must_use]
    fn raised(self, h: usize) -> Self;

    /// [`Multiplicand::extend`] in this field.
    fn extend_own(half: &mut Multiplicand, xs: &[Self], shares: &mut [Self], message: &mut Vec<u8>);
    /// [`Multiplier::extend`] in this field.
    fn extend_theirs(half: &mut Multiplier, message: &[u8], shares: &mut [Self]);
}

/// A field of 128 bits, in which strings of OTs are elements as they are.
macro_rules! of_one_word {
    ($element:ty, $field:expr, $sum_of_powers:path) => {
        impl FieldElement for $element {
            const FIELD: Field = $field;
            const ZERO: Self = <Self as Element>::ZERO;
            const ONE: Self = <Self as Element>::ONE;

            fn wrapping_add(self, other: Self) -> Self {
                Element::wrapping_add(self, other)
            }

            fn wrapping_sub(self, other: Self) -> Self {
                Element::wrapping_sub(self, other)
            }

            fn wrapping_mul(self, other: Self) -> Self {
                Element::wrapping_mul(self, other)
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                let mut word = [0; WORD / 8];
                word.copy_from_slice(bytes);
                Self::from_u128(u128::from_le_bytes(word))
            }

            fn fill(key: &Aes128Ctr, nonce: u64, first: u64, out: &mut [Self]) {
                <Self as Element>::fill(key, nonce, first, out);
            }

            fn fill_shared(stream: &mut PrssStream, draw: Draw, out: &mut [Self]) {
                stream.fill_elements(draw, 0, out);
            }

            fn offered(zeros: &[u128], ones: &[u128], x: Self, message: &mut Vec<u8>) -> Self {
                let (zeros, ones) = (word_group(zeros), word_group(ones));
                let x = x.to_u128();
                let mut differences = [0; WORD];
                for ((difference, zero), one) in differences.iter_mut().zip(zeros).zip(ones) {
                    *difference = Self::FIELD.masked(*zero, *one, x);
                }
                message.extend_from_slice(bytemuck::bytes_of(&differences));
                $sum_of_powers(|h| zeros[h])
            }

            fn taken(values: &[u128]) -> Self {
                let values = word_group(values);
                $sum_of_powers(|h| values[h])
            }

            fn chosen(bits: &[u64], differences: &[u8]) -> Self {
                let differences = word_group(differences.as_chunks().0);
                $sum_of_powers(|h| {
                    let mask = (bits[h / 64] >> (h % 64) & 1).wrapping_neg();
                    u128::from_le_bytes(differences[h]) & (u128::from(mask) << 64 | u128::from(mask))
                })
            }

            fn raised(self, h: usize) -> Self {
                debug_assert_eq!(h, 0, "a group is a whole element");
                self
            }

            fn extend_own(half: &mut Multiplicand, xs: &[Self], shares: &mut [Self], message: &mut Vec<u8>) {
                half.extend(bytemuck::cast_slice(xs), bytemuck::cast_slice_mut(shares), message);
            }

            fn extend_theirs(half: &mut Multiplier, message: &[u8], shares: &mut [Self]) {
                half.extend(message, bytemuck::cast_slice_mut(shares));
            }
        }
    };
}

of_one_word!(Fp128, Field::Prime, prime_sum_of_powers);
of_one_word!(Gf128, Field::Binary, binary_sum_of_powers);

/// The items of a group of OTs, one for each bit of a word.
fn word_group<T>(items: &[T]) -> &[T; WORD] {
    items.try_into().expect("a group has an OT for each bit of an element")
}

/// `sum of 2^h x_h`; the words `x_h` needn't be elements.
fn prime_sum_of_powers(x: impl Fn(usize) -> u128) -> Fp128 {
    const GROUP: usize = 32;
    let shift = Fp128::from_u128(1 << GROUP);
    (0..WORD).step_by(GROUP).rev().fold(Element::ZERO, |sum: Fp128, first| {
        // Of a group an integer below 2^(128 + 32): its low 128 bits, and the rest. 2^128 is 159.
        let (mut low, mut high) = (0_u128, 0_u64);
        for h in (first..first + GROUP).rev() {
            high = high << 1 | (low >> 127) as u64;
            let (next, carry) = (low << 1).overflowing_add(x(h));
            low = next;
            high += u64::from(carry);
        }
        let group = Fp128::from_u128(low);
        let group = Element::wrapping_add(group, Fp128::from_u128(159 * u128::from(high)));
        Element::wrapping_add(Element::wrapping_mul(sum, shift), group)
    })
}

/// `sum of X^h x_h`.
fn binary_sum_of_powers(x: impl Fn(usize) -> u128) -> Gf128 {
    (0..WORD).rev().fold(Gf128::ZERO, |sum, h| sum.double().plus(Gf128(x(h))))
}

/// The field of so many 64-bit words.
const fn field_of(limbs: usize) -> Field {
    match limbs {
        1 => Field::Prime64,
        4 => Field::Prime256,
        8 => Field::Prime512,
        _ => panic!("there is no such field"),
    }
}

impl<const LIMBS: usize> FieldElement for Fp<LIMBS> {
    const FIELD: Field = field_of(LIMBS);
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    fn wrapping_add(self, other: Self) -> Self {
        self.plus(other)
    }

    fn wrapping_sub(self, other: Self) -> Self {
        self.minus(other)
    }

    fn wrapping_mul(self, other: Self) -> Self {
        self.times(other)
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_bytes(bytes)
    }

    fn fill(key: &Aes128Ctr, nonce: u64, first: u64, out: &mut [Self]) {
        Self::fill(key, nonce, first, out);
    }

    fn fill_shared(stream: &mut PrssStream, draw: Draw, out: &mut [Self]) {
        let mut blocks = Zeroizing::new(vec![0_u128; Self::BLOCKS * out.len()]);
        stream.fill_elements(draw, 0, &mut blocks[..]);
        for (element, blocks) in out.iter_mut().zip(blocks.chunks_exact(Self::BLOCKS)) {
            *element = Self::from_blocks(blocks);
        }
    }

    fn offered(zeros: &[u128], ones: &[u128], x: Self, message: &mut Vec<u8>) -> Self {
        let values: Vec<Self> = zeros.iter().map(|&zero| expanded(zero)).collect();
        for (zero, &one) in values.iter().zip(ones) {
            message.extend_from_slice(bytemuck::bytes_of(&zero.minus(expanded(one)).plus(x)));
        }
        sum_of_doubled(values.into_iter())
    }

    fn taken(values: &[u128]) -> Self {
        sum_of_doubled(values.iter().map(|&value| expanded(value)))
    }

    fn chosen(bits: &[u64], differences: &[u8]) -> Self {
        sum_of_doubled(
            differences
                .chunks_exact(Self::BITS / 8)
                .enumerate()
                .map(|(h, bytes)| Self::from_bytes(bytes).where_set(bits[h / 64] >> (h % 64) & 1 == 1)),
        )
    }

    fn raised(self, h: usize) -> Self {
        if h == 0 { self } else { self.times(Self::power_of_two(h)) }
    }

    fn extend_own(half: &mut Multiplicand, xs: &[Self], shares: &mut [Self], message: &mut Vec<u8>) {
        half.extend_fp(xs, shares, message);
    }

    fn extend_theirs(half: &mut Multiplier, message: &[u8], shares: &mut [Self]) {
        half.extend_fp(message, shares);
    }
}

/// `sum of 2^h x_h`.
fn sum_of_doubled<const LIMBS: usize>(x: impl DoubleEndedIterator<Item = Fp<LIMBS>>) -> Fp<LIMBS> {
    x.rev().fold(Fp::ZERO, |sum, x| sum.plus(sum).plus(x))
}

/// An OT's value as an element: the string reduced where it is longer, else what AES under it makes, as the string is used for
/// nothing else.
fn expanded<const LIMBS: usize>(string: u128) -> Fp<LIMBS> {
    if Fp::<LIMBS>::BLOCKS == 1 {
        return Fp::from_blocks(&[string]);
    }
    let mut element = [Fp::ZERO];
    Fp::fill(&Aes128Ctr::new(&string.to_le_bytes()), 0, 0, &mut element);
    element[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_testkit::Rng;

    fn words(rng: &mut Rng, count: usize) -> Vec<u128> {
        (0..count).map(|_| u128::from(rng.word()) << 64 | u128::from(rng.word())).collect()
    }

    fn powers_are_summed<E: Element>(two: u128, sum_of_powers: impl Fn(&[u128]) -> E) {
        let mut rng = Rng::new(1);
        for case in 0..20 {
            let words = match case {
                0 => vec![u128::MAX; WORD],
                1 => vec![0; WORD],
                _ => words(&mut rng, WORD),
            };
            let expected = words.iter().rev().fold(E::ZERO, |sum, word| {
                sum.wrapping_mul(E::from_u128(two)).wrapping_add(E::from_u128(*word))
            });
            assert_eq!(sum_of_powers(&words), expected);
            // The bits of an element make it.
            let bits: Vec<u128> = (0..WORD).map(|h| expected.to_u128() >> h & 1).collect();
            assert_eq!(sum_of_powers(&bits), expected);
        }
    }

    #[test]
    fn powers_are_summed_in_both_fields_of_a_word() {
        powers_are_summed(2, |words| prime_sum_of_powers(|h| words[h]));
        powers_are_summed(2, |words| binary_sum_of_powers(|h| words[h]));
    }

    /// What Multiply makes of a factor's OTs: both halves add up to the product, group by group.
    fn halves_are_shares_of_the_product<E: FieldElement>() {
        let mut rng = Rng::new(2);
        let mut element = || E::from_bytes(&(0..E::BYTES).map(|_| rng.word() as u8).collect::<Vec<u8>>());
        let (a, b) = (element(), element());
        let bits: Vec<u64> =
            bytemuck::bytes_of(&a).as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let bit = |h: usize| bits[h / 64] >> (h % 64) & 1;
        let [zeros, ones] = [(); 2].map(|()| words(&mut rng, E::BITS));
        let values: Vec<u128> = (0..E::BITS).map(|h| if bit(h) == 1 { ones[h] } else { zeros[h] }).collect();
        let (mut sent, mut own, mut theirs) = (Vec::new(), E::ZERO, E::ZERO);
        for h in (0..E::BITS).step_by(E::GROUP) {
            let group = h..h + E::GROUP;
            let sum = E::offered(&zeros[group.clone()], &ones[group.clone()], b, &mut sent);
            own = own.wrapping_sub(sum.raised(h));
            theirs = theirs.wrapping_add(E::taken(&values[group]).raised(h));
        }
        assert_eq!(sent.len(), E::BITS * E::BYTES);
        theirs = theirs.wrapping_add(E::chosen(&bits, &sent));
        assert_eq!(own.wrapping_add(theirs), a.wrapping_mul(b), "{:?}", E::FIELD);
    }

    #[test]
    fn halves_are_shares_of_products_in_all_fields() {
        halves_are_shares_of_the_product::<Fp128>();
        halves_are_shares_of_the_product::<Gf128>();
        halves_are_shares_of_the_product::<Fp<1>>();
        halves_are_shares_of_the_product::<Fp<4>>();
        halves_are_shares_of_the_product::<Fp<8>>();
    }
}
