//! What vectors and matrices are made of: elements of a ring or a field, by one face.

use crate::aes::{Aes128Ctr, BLOCK};
use crate::ring;
use bytemuck::Pod;

/// An element of a finite ring.
///
/// Implemented for `u8` to `u128`, which are the integers modulo 2 to the number of their bits, for
/// [`Fp61`](crate::field::Fp61) and [`Fp128`](crate::field::Fp128), and for nothing else.
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

    /// Of what [`fill`](Self::fill) makes of the whole stream of `nonce` the elements at these places.
    ///
    /// # Panics
    /// If there are more elements than places, or fewer.
    fn fill_at(key: &Aes128Ctr, nonce: u64, places: &[u32], out: &mut [Self]) {
        assert_eq!(places.len(), out.len(), "every element has a place");
        let each = BLOCK / Self::DRAWN;
        let (mut numbers, mut blocks) = ([0; SCATTERED], [[0; BLOCK]; SCATTERED]);
        for (places, piece) in places.chunks(SCATTERED).zip(out.chunks_mut(SCATTERED)) {
            let (numbers, blocks) = (&mut numbers[..piece.len()], &mut blocks[..piece.len()]);
            for (number, &place) in numbers.iter_mut().zip(places) {
                *number = (place as usize / each) as u64;
            }
            key.fill_at(nonce, numbers, blocks);
            for ((element, block), &place) in piece.iter_mut().zip(blocks).zip(places) {
                let first = place as usize % each * Self::DRAWN;
                Self::reduce(&block[first..first + Self::DRAWN], std::slice::from_mut(element));
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
