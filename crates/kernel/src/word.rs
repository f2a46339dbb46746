//! Machine words as elements of `Z_2^k`.

use crate::Element;
use crate::aes::{Aes128Ctr, sub_streams};
use crate::element::private::Sealed;

/// An unsigned machine word: an element of the ring of integers modulo 2^[`BITS`](Self::BITS), whose bits can be
/// taken apart.
///
/// Implemented for `u8`, `u16`, `u32` and `u64`, and for nothing else.
pub trait Word: Element + Ord {
    /// Bits in a word: 8, 16, 32 or 64.
    const BITS: u32;

    /// Shifted left, for `by < BITS`.
    fn shl(self, by: u32) -> Self;
    /// Shifted right, zeros coming in, for `by < BITS`.
    fn shr(self, by: u32) -> Self;
    /// Shifted right, copies of the top bit coming in, for `by < BITS`.
    fn sar(self, by: u32) -> Self;
    /// The low bits of `value`.
    fn from_u64(value: u64) -> Self;
    /// The word with zeros above.
    fn to_u64(self) -> u64;
}

macro_rules! element {
    ($word:ty { $($more:tt)* }) => {
        impl Sealed for $word {
            #[inline(always)]
            fn reduce(bytes: &[u8], out: &mut [Self]) {
                bytemuck::cast_slice_mut(out).copy_from_slice(bytes);
            }
        }

        impl Element for $word {
            const DRAWN: usize = size_of::<$word>();
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                <$word>::wrapping_add(self, other)
            }

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$word>::wrapping_sub(self, other)
            }

            #[inline(always)]
            fn wrapping_mul(self, other: Self) -> Self {
                <$word>::wrapping_mul(self, other)
            }

            #[inline(always)]
            fn wrapping_neg(self) -> Self {
                <$word>::wrapping_neg(self)
            }

            #[inline(always)]
            fn from_u128(value: u128) -> Self {
                value as Self
            }

            #[inline(always)]
            fn to_u128(self) -> u128 {
                self as u128
            }

            fn fill(key: &Aes128Ctr, nonce: u64, first_block: u64, out: &mut [Self]) {
                key.fill(nonce, first_block, bytemuck::cast_slice_mut(out));
            }

            $($more)*
        }
    };
}

macro_rules! word {
    ($($word:ty, $signed:ty);*) => {$(
        element! { $word {
            const VECTORS: bool = true;

            fn fill_difference(a: &Aes128Ctr, b: &Aes128Ctr, nonce: u64, first_block: u64, out: &mut [Self]) {
                sub_streams(a, b, nonce, first_block, out);
            }
        } }

        impl Word for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline(always)]
            fn shl(self, by: u32) -> Self {
                self.wrapping_shl(by)
            }

            #[inline(always)]
            fn shr(self, by: u32) -> Self {
                self.wrapping_shr(by)
            }

            #[inline(always)]
            fn sar(self, by: u32) -> Self {
                (self as $signed).wrapping_shr(by) as Self
            }

            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn to_u64(self) -> u64 {
                self as u64
            }
        }
    )*};
}

word! { u8, i8; u16, i16; u32, i32; u64, i64 }

element! { u128 {
    const VECTORS: bool = false;
} }

#[cfg(test)]
mod tests {
    use super::Word;
    use crate::Element;

    #[test]
    fn words_wrap_and_shift_as_elements_of_their_own_width() {
        assert_eq!(Element::wrapping_add(u8::MAX, 1), 0);
        assert_eq!(Element::wrapping_sub(0_u16, 1), u16::MAX);
        assert_eq!(Element::wrapping_mul(1_u32 << 31, 3), 1 << 31);
        assert_eq!(Element::wrapping_neg(1_u64), u64::MAX);
        assert_eq!(0x80_u8.sar(3), 0xf0);
        assert_eq!(0x80_u8.shr(3), 0x10);
        assert_eq!(0x81_u8.shl(1), 0x02);
        assert_eq!(u16::from_u64(0x12_3456), 0x3456);
        assert_eq!(0xfedc_u16.to_u64(), 0xfedc);
    }
}
