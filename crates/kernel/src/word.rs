//! Machine words as elements of `Z_2^k`.

use bytemuck::Pod;

/// An unsigned machine word: an element of the ring of integers modulo 2^[`BITS`](Self::BITS).
///
/// Implemented for `u8`, `u16`, `u32` and `u64`, and for nothing else.
pub trait Word: Pod + Ord + std::fmt::Debug + Send + Sync + private::Sealed {
    /// Bits in a word: 8, 16, 32 or 64.
    const BITS: u32;
    /// Bytes in a word.
    const BYTES: usize = Self::BITS as usize / 8;
    /// The word 0.
    const ZERO: Self;
    /// The word 1.
    const ONE: Self;

    /// `self + other`.
    fn wrapping_add(self, other: Self) -> Self;
    /// `self - other`.
    fn wrapping_sub(self, other: Self) -> Self;
    /// `self * other`.
    fn wrapping_mul(self, other: Self) -> Self;
    /// `-self`.
    fn wrapping_neg(self) -> Self;
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

mod private {
    pub trait Sealed {}
}

macro_rules! word {
    ($($word:ty, $signed:ty);*) => {$(
        impl private::Sealed for $word {}

        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
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

#[cfg(test)]
mod tests {
    use super::Word;

    #[test]
    fn words_wrap_and_shift_as_elements_of_their_own_width() {
        assert_eq!(Word::wrapping_add(u8::MAX, 1), 0);
        assert_eq!(Word::wrapping_sub(0_u16, 1), u16::MAX);
        assert_eq!(Word::wrapping_mul(1_u32 << 31, 3), 1 << 31);
        assert_eq!(Word::wrapping_neg(1_u64), u64::MAX);
        assert_eq!(0x80_u8.sar(3), 0xf0);
        assert_eq!(0x80_u8.shr(3), 0x10);
        assert_eq!(0x81_u8.shl(1), 0x02);
        assert_eq!(u16::from_u64(0x12_3456), 0x3456);
        assert_eq!(0xfedc_u16.to_u64(), 0xfedc);
    }
}
