//! What products take of their elements, so that it is written once for bits, 64 to a word, and for numbers.

use tacit_kernel::{Element, bits, ring};
use tacit_session::{Draw, PrssStream};

/// `z += x_f y_f + x_f y_s + x_s y_f`, of `x_f`, `x_s`, `y_f` and `y_s`: a party's terms of a product of sharings of three
/// components of which it holds two.
pub type Cross<E> = fn(&[E], &[E], &[E], &[E], &mut [E]);

/// What is computed word by word.
pub struct Arithmetic<E> {
    /// `out += a`.
    pub add: fn(&mut [E], &[E]),
    /// `out -= a`.
    pub sub: fn(&mut [E], &[E]),
    /// `out += a b`.
    pub mul_add: fn(&[E], &[E], &mut [E]),
    /// `out -= a b`.
    pub mul_sub: fn(&[E], &[E], &mut [E]),
    /// A party's terms of a product ([`ring::cross`]).
    pub cross: Cross<E>,
    /// `out` = the difference of two streams, at an address and from a block on.
    pub difference: fn(&mut PrssStream, &mut PrssStream, Draw, u64, &mut [E]),
}

impl<E: Element> Arithmetic<E> {
    /// That of elements.
    pub const NUMBERS: Self = Self {
        add: ring::add_assign,
        sub: ring::sub_assign,
        mul_add: ring::mul_add,
        mul_sub: ring::mul_sub,
        cross: ring::cross,
        difference: PrssStream::sub,
    };
}

impl Arithmetic<u64> {
    /// That of 64 bits in a word.
    pub const BITS: Self = Self {
        add: bits::xor_assign,
        sub: bits::xor_assign,
        mul_add: bits::and_xor,
        mul_sub: bits::and_xor,
        cross: bits::cross,
        difference: |one, other, draw, block, out| {
            one.xor(other, draw, block, bytemuck::cast_slice_mut(out));
        },
    };
}
