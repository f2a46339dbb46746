//! Prime fields of 64, 256 and 512 bits: integers modulo `2^k` less a little, the largest prime below it.
//!
//! | elements | modulus |
//! | --- | --- |
//! | [`Fp<1>`](Fp) | `2^64 - 59` |
//! | [`Fp<4>`](Fp) | `2^256 - 189` |
//! | [`Fp<8>`](Fp) | `2^512 - 569` |
//!
//! Arithmetic is that of `crypto-bigint`, whose time doesn't depend on values. The field of 128 bits, which protocols compute in,
//! has kernels of its own ([`crate::field::Fp128`]).

use crate::aes::Aes128Ctr;
use crate::element::Element as _;
use bytemuck::{Pod, Zeroable};
use crypto_bigint::{Limb, Uint};

/// An element of the field of `64 LIMBS` bits, below the modulus: 64-bit words, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Fp<const LIMBS: usize>([u64; LIMBS]);

/// Elements that are drawn at a time.
const PIECE: usize = 16;

impl<const LIMBS: usize> Fp<LIMBS> {
    /// `2^k` less the modulus.
    const GAP: Limb = Limb(match LIMBS {
        1 => 59,
        4 => 189,
        8 => 569,
        _ => panic!("fields have 64, 256 or 512 bits"),
    });

    /// Bits of an element.
    pub const BITS: usize = 64 * LIMBS;
    /// Blocks of 128 bits that an element is drawn from.
    pub const BLOCKS: usize = LIMBS.div_ceil(2);
    /// The neutral element of sums.
    pub const ZERO: Self = Self([0; LIMBS]);
    /// The neutral element of products.
    pub const ONE: Self = {
        let mut words = [0; LIMBS];
        words[0] = 1;
        Self(words)
    };

    /// `2^bit`.
    ///
    /// # Panics
    /// If an element has no such bit.
    pub fn power_of_two(bit: usize) -> Self {
        let mut words = [0; LIMBS];
        words[bit / 64] = 1 << (bit % 64);
        Self(words)
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        Self(self.uint().add_mod_special(&other.uint(), Self::GAP).to_words())
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Self {
        Self(self.uint().sub_mod_special(&other.uint(), Self::GAP).to_words())
    }

    /// The product.
    pub fn times(self, other: Self) -> Self {
        Self(self.uint().mul_mod_special(&other.uint(), Self::GAP).to_words())
    }

    /// It where a bit is set, else 0.
    pub fn where_set(self, bit: bool) -> Self {
        let mask = u64::from(bit).wrapping_neg();
        Self(self.0.map(|word| word & mask))
    }

    /// The number with these 64-bit words, reduced.
    pub fn from_words(words: [u64; LIMBS]) -> Self {
        // It is below 2^k, and so below twice the modulus.
        Self(words).plus(Self::ZERO)
    }

    /// The number with these bytes, the lowest first, reduced.
    ///
    /// # Panics
    /// If there aren't as many as an element has.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = [0; LIMBS];
        bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
        Self::from_words(words)
    }

    /// An element from [`BLOCKS`](Self::BLOCKS) uniform blocks: at most `2^-64` from uniform at 64 bits, which are
    /// drawn from 128, and `2^-248` above.
    ///
    /// # Panics
    /// If there aren't as many.
    pub fn from_blocks(blocks: &[u128]) -> Self {
        assert_eq!(blocks.len(), Self::BLOCKS, "an element is drawn from whole blocks");
        let words: &[u64] = bytemuck::cast_slice(blocks);
        let mut low = [0; LIMBS];
        low.copy_from_slice(&words[..LIMBS]);
        let low = Self::from_words(low);
        // At 64 bits a block has a word more, and 2^64 is the gap.
        words[LIMBS..].iter().fold(low, |low, &word| {
            let [mut high, mut gap] = [[0; LIMBS]; 2];
            (high[0], gap[0]) = (word, Self::GAP.0);
            low.plus(Self::from_words(high).times(Self(gap)))
        })
    }

    /// Elements from the stream of `nonce`, from element `first` on: each from [`BLOCKS`](Self::BLOCKS) blocks.
    ///
    /// # Panics
    /// If the block counter would pass 2^64.
    pub fn fill(key: &Aes128Ctr, nonce: u64, first: u64, out: &mut [Self]) {
        let mut blocks = vec![0; PIECE * Self::BLOCKS];
        for (piece, first) in out.chunks_mut(PIECE).zip((first..).step_by(PIECE)) {
            let blocks = &mut blocks[..piece.len() * Self::BLOCKS];
            u128::fill(key, nonce, first * Self::BLOCKS as u64, blocks);
            for (element, blocks) in piece.iter_mut().zip(blocks.chunks_exact(Self::BLOCKS)) {
                *element = Self::from_blocks(blocks);
            }
        }
    }

    fn uint(self) -> Uint<LIMBS> {
        Uint::from_words(self.0)
    }
}

impl<const LIMBS: usize> Default for Fp<LIMBS> {
    fn default() -> Self {
        Self::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn integer<const LIMBS: usize>(x: Fp<LIMBS>) -> BigUint {
        BigUint::from_bytes_le(bytemuck::bytes_of(&x))
    }

    fn modulus<const LIMBS: usize>() -> BigUint {
        (BigUint::from(1_u8) << Fp::<LIMBS>::BITS) - Fp::<LIMBS>::GAP.0
    }

    /// Words of which some are close to what is carried.
    fn words() -> impl Strategy<Value = [u64; 8]> {
        proptest::array::uniform8(prop_oneof![
            any::<u64>(),
            Just(0),
            Just(u64::MAX),
            (u64::MAX - 600)..=u64::MAX
        ])
    }

    fn as_integers<const LIMBS: usize>(x: &[u64; 8], y: &[u64; 8]) {
        let p = modulus::<LIMBS>();
        let [x, y] =
            [x, y].map(|words| Fp::<LIMBS>::from_words(*words.first_chunk().expect("there are eight")));
        let [a, b] = [x, y].map(integer);
        assert!(a < p && b < p);
        assert_eq!(integer(x.plus(y)), (&a + &b) % &p);
        assert_eq!(integer(x.minus(y)), (&a + &p - &b) % &p);
        assert_eq!(integer(x.times(y)), (&a * &b) % &p);
        assert_eq!(x.times(Fp::ONE), x);
        assert_eq!([false, true].map(|bit| x.where_set(bit)), [Fp::ZERO, x]);
        assert_eq!(Fp::from_bytes(bytemuck::bytes_of(&x)), x);
    }

    proptest! {
        #[test]
        fn elements_are_integers_modulo_the_prime(x in words(), y in words()) {
            as_integers::<1>(&x, &y);
            as_integers::<4>(&x, &y);
            as_integers::<8>(&x, &y);
        }

        #[test]
        fn a_block_of_128_bits_is_reduced(block in any::<u128>()) {
            let drawn = Fp::<1>::from_blocks(&[block]);
            prop_assert_eq!(integer(drawn), BigUint::from(block) % modulus::<1>());
        }
    }

    /// Fermat's test to several bases, and that no larger number below `2^k` passes it.
    #[test]
    #[cfg_attr(miri, ignore = "takes an interpreter hours")]
    fn moduli_are_the_largest_primes_of_their_length() {
        fn passes(number: &BigUint) -> bool {
            let less = number - 1_u8;
            [2_u8, 3, 5, 7, 11]
                .iter()
                .all(|&base| BigUint::from(base).modpow(&less, number) == BigUint::from(1_u8))
        }
        fn is_largest<const LIMBS: usize>() {
            let p = modulus::<LIMBS>();
            assert!(passes(&p));
            let larger = (2..Fp::<LIMBS>::GAP.0).step_by(2);
            assert!(larger.into_iter().all(|more| !passes(&(&p + more))), "{LIMBS}");
        }
        is_largest::<1>();
        is_largest::<4>();
        is_largest::<8>();
    }

    #[test]
    fn a_stream_is_the_same_from_anywhere() {
        let key = Aes128Ctr::new(&[7; 16]);
        let mut all = [Fp::<4>::ZERO; 40];
        Fp::fill(&key, 3, 0, &mut all);
        let mut later = [Fp::<4>::ZERO; 7];
        Fp::fill(&key, 3, 30, &mut later);
        assert_eq!(all[30..37], later);
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
