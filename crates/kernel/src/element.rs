//! What vectors and matrices are made of: elements of a ring or a field, by one face.

use crate::aes::{Aes128Ctr, BLOCK};
use crate::ring;
use bytemuck::Pod;

/// An element of a finite ring.
///
/// Implemented for `u8` to `u128`, which are the integers modulo 2 to the number of their bits, for
/// [`Fp61`](crate::field::Fp61), [`Fp128`](crate::field::Fp128) and [`Gf128`](crate::gf128::Gf128), and for nothing else.
pub trait Element: Pod + Eq + std::fmt::Debug + Send + Sync + private::Sealed {
    /// Bytes in memory.
    const BYTES: usize = size_of::<Self>();
    /// Bytes of a stream from which an element is drawn: a block of 16, or a part of one that divides it.
    const DRAWN: usize;
    /// Whether [`crate::matrix`] has vector code for it: words of up to eight bytes.
    const VECTORS: bool;
    /// The neutral element of sums.
    const ZERO: Self;
    /// The neutral element of products.
    const ONE: Self;

    /// `self + other`, around the modulus.
    fn wrapping_add(self, other: Self) -> Self;
    /// `self - other`, around the modulus.
    fn wrapping_sub(self, other: Self) -> Self;
    /// `self * other`, around the modulus.
    fn wrapping_mul(self, other: Self) -> Self;
    /// `-self`, around the modulus.
    fn wrapping_neg(self) -> Self;
    /// `value`, reduced.
    fn from_u128(value: u128) -> Self;
    /// The element as an integer from 0 to the modulus less 1.
    fn to_u128(self) -> u128;

    /// `sum + xi (yi + yp) + xp yi`: what [`crate::ring::cross`] does with each element.
    #[inline(always)]
    fn cross(xi: Self, xp: Self, yi: Self, yp: Self, sum: Self) -> Self {
        let left = xi.wrapping_mul(yi.wrapping_add(yp));
        sum.wrapping_add(left).wrapping_add(xp.wrapping_mul(yi))
    }

    /// Elements from uniform bytes, [`DRAWN`](Self::DRAWN) for each: uniform too, but for the statistical distance
    /// that the element's type states.
    ///
    /// # Panics
    /// If there are more or fewer bytes.
    fn draw(bytes: &[u8], out: &mut [Self]) {
        assert_eq!(bytes.len(), out.len() * Self::DRAWN, "every element is drawn from {} bytes", Self::DRAWN);
        Self::reduce(bytes, out);
    }

    /// Elements from the stream of `nonce`, from block `first_block` on.
    ///
    /// # Panics
    /// If the block counter would pass 2^64.
    fn fill(key: &Aes128Ctr, nonce: u64, first_block: u64, out: &mut [Self]) {
        let mut bytes = [0; PIECE * BLOCK];
        for (piece, first) in out.chunks_mut(BLOCK / Self::DRAWN * PIECE).zip((first_block..).step_by(PIECE))
        {
            let bytes = &mut bytes[..piece.len() * Self::DRAWN];
            key.fill(nonce, first, bytes);
            Self::reduce(bytes, piece);
        }
    }

    /// As [`fill`](Self::fill), in pairs: `out` receives first elements, and second ones.
    ///
    /// # Panics
    /// If there aren't equally many of both, or the block counter would pass 2^64.
    fn fill_pairs(key: &Aes128Ctr, nonce: u64, first_block: u64, out: [&mut [Self]; 2]) {
        let [left, right] = out;
        assert_eq!(left.len(), right.len(), "an element of a pair is missing");
        let mut pairs = [[Self::ZERO; 2]; PIECE];
        let per_piece = (2 * PIECE * Self::DRAWN / BLOCK) as u64;
        let mut first = first_block;
        for (left, right) in left.chunks_mut(PIECE).zip(right.chunks_mut(PIECE)) {
            let pairs = &mut pairs[..left.len()];
            Self::fill(key, nonce, first, pairs.as_flattened_mut());
            for ((left, right), pair) in left.iter_mut().zip(right).zip(pairs) {
                [*left, *right] = *pair;
            }
            first += per_piece;
        }
    }

    /// Of what [`fill`](Self::fill) makes of the whole stream of `nonce` in tuples of `N`, which is 1 or 2, the tuples at
    /// these places: `out` receives their first elements, and their second ones. Places are public: addresses depend on
    /// them.
    ///
    /// # Panics
    /// If there are more elements than places, or fewer.
    fn fill_at<const N: usize>(key: &Aes128Ctr, nonce: u64, places: &[u32], mut out: [&mut [Self]; N]) {
        const { assert!(N == 1 || N == 2, "tuples fill blocks without gaps") };
        assert!(out.iter().all(|out| out.len() == places.len()), "every element has a place");
        let bytes = N * Self::DRAWN;
        // Tuples of a block, or blocks of a tuple.
        let (each, of) = ((BLOCK / bytes).max(1), bytes.div_ceil(BLOCK));
        let (mut numbers, mut blocks) = ([0; SCATTERED], [[0; BLOCK]; SCATTERED]);
        for (places, first) in places.chunks(SCATTERED / of).zip((0..).step_by(SCATTERED / of)) {
            let (numbers, blocks) = (&mut numbers[..of * places.len()], &mut blocks[..of * places.len()]);
            for (numbers, &place) in numbers.chunks_exact_mut(of).zip(places) {
                for (number, block) in numbers.iter_mut().zip((place as usize / each * of) as u64..) {
                    *number = block;
                }
            }
            key.fill_at(nonce, numbers, blocks);
            for (number, out) in out.iter_mut().enumerate() {
                let out = &mut out[first..first + places.len()];
                for ((element, blocks), &place) in out.iter_mut().zip(blocks.chunks_exact(of)).zip(places) {
                    let start = place as usize % each * bytes + number * Self::DRAWN;
                    let bytes = &blocks.as_flattened()[start..start + Self::DRAWN];
                    Self::reduce(bytes, std::slice::from_mut(element));
                }
            }
        }
    }

    /// The difference of what two keys [`fill`](Self::fill): a sharing of zero's part.
    ///
    /// # Panics
    /// If the block counter would pass 2^64.
    fn fill_difference(a: &Aes128Ctr, b: &Aes128Ctr, nonce: u64, first_block: u64, out: &mut [Self]) {
        let mut other = [Self::ZERO; PIECE];
        let per_piece = (PIECE * Self::DRAWN / BLOCK) as u64;
        let mut first = first_block;
        for piece in out.chunks_mut(PIECE) {
            let other = &mut other[..piece.len()];
            Self::fill(a, nonce, first, piece);
            Self::fill(b, nonce, first, other);
            ring::sub_assign(piece, other);
            first += per_piece;
        }
    }
}

/// Blocks, or elements, that are made at a time: they stay in the first cache.
const PIECE: usize = 64;

/// The same of blocks from anywhere.
const SCATTERED: usize = 512;

pub(crate) mod private {
    pub trait Sealed: Sized {
        /// Elements from as many bytes as they are drawn from.
        fn reduce(bytes: &[u8], out: &mut [Self]);
    }
}
