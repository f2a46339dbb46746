//! What is checked: elements of rings and fields, or bits, by one face.
//!
//! A plane is a number in each of its places: an element a word, or 64 bits.

use super::turn::{Drawn, PLANES, RESULT};
use std::marker::PhantomData;
use tacit_kernel::aes::BLOCK;
use tacit_kernel::sacrifice::{self, Lanes};
use tacit_kernel::{Element, pack, transpose};
use tacit_threeparty::Arithmetic;

/// Arithmetic on planes. Lengths are the callers' to know; slices of one call are equally long.
pub(super) trait ElementKind: 'static {
    /// What planes are made of.
    type Word: Element;
    /// The same, with the arithmetic of what is checked.
    type Lanes: Lanes;
    /// What is kept of a triple until its place is known.
    type Record: Element;
    /// Numbers in a word.
    const LANES: usize;
    /// Sums and products of words.
    const ARITHMETIC: Arithmetic<Self::Word>;
    /// The first `count` numbers as they travel, `bits` of each, in a whole number of bytes.
    fn pack(plane: &[Self::Word], count: usize, bits: u32, out: &mut [u8]);
    /// The inverse of [`ElementKind::pack`].
    fn unpack(bytes: &[u8], count: usize, bits: u32, plane: &mut [Self::Word]);
    /// What it takes of so many triples, of which one plane wasn't drawn, or none, to have them again: records.
    fn records(count: usize, undrawn: Option<usize>) -> usize;
    /// Makes records of planes, each of which has [`ElementKind::words`] words.
    fn store(planes: &[Self::Word], undrawn: Option<usize>, records: &mut [Self::Record]);
    /// The triples at these places as planes, and of these records if any are kept: the inverse of
    /// [`ElementKind::store`]. What is behind the last number is unspecified.
    fn fetch(records: &[Self::Record], places: &[u32], drawn: &mut Drawn, planes: &mut [Self::Word]);

    /// The block of a stream in which number `first`, a multiple of 128, is drawn: so many of them at each place.
    fn block(first: usize, at_each: usize) -> u64 {
        (at_each * (first / Self::LANES) * Self::Word::DRAWN / BLOCK) as u64
    }

    /// The words of a plane as what is checked.
    fn lanes(plane: &[Self::Word]) -> &[Self::Lanes] {
        bytemuck::cast_slice(plane)
    }

    /// The same of words that are written.
    fn lanes_mut(plane: &mut [Self::Word]) -> &mut [Self::Lanes] {
        bytemuck::cast_slice_mut(plane)
    }

    /// Words of a plane of so many numbers.
    fn words(count: usize) -> usize {
        count.div_ceil(Self::LANES)
    }
}

/// Elements, one a word.
pub(super) struct Elements<E>(PhantomData<E>);

impl<E: Element> ElementKind for Elements<E> {
    type Word = E;
    type Lanes = E;
    /// Of the plane that wasn't drawn: a stream gives the others again, and faster than memory does in this order.
    type Record = E;
    const LANES: usize = 1;
    const ARITHMETIC: Arithmetic<E> = Arithmetic::NUMBERS;

    fn pack(plane: &[E], count: usize, bits: u32, out: &mut [u8]) {
        pack::pack(&plane[..count], bits, out);
    }

    fn unpack(bytes: &[u8], count: usize, bits: u32, plane: &mut [E]) {
        pack::unpack(bytes, bits, &mut plane[..count]);
    }

    fn records(count: usize, undrawn: Option<usize>) -> usize {
        if undrawn.is_some() { count } else { 0 }
    }

    fn store(planes: &[E], undrawn: Option<usize>, records: &mut [E]) {
        if let Some(plane) = undrawn {
            records.copy_from_slice(&planes[plane * records.len()..][..records.len()]);
        }
    }

    fn fetch(records: &[E], places: &[u32], drawn: &mut Drawn, planes: &mut [E]) {
        let count = places.len();
        let (factors, results) = planes.split_at_mut(RESULT * count);
        for (which, factors) in factors.chunks_exact_mut(2 * count).enumerate() {
            let (d, e) = factors.split_at_mut(count);
            let (stream, draw) = drawn.factors(which);
            stream.reexpand(draw, places, [d, e]);
        }
        for (which, f) in results.chunks_exact_mut(count).enumerate() {
            if let Some((stream, draw)) = drawn.result(which) {
                stream.reexpand(draw, places, [f]);
            } else {
                f.copy_from_slice(records);
            }
        }
    }
}

/// Bits, 64 a word.
pub(super) struct Bits;

impl ElementKind for Bits {
    type Word = u64;
    type Lanes = sacrifice::Bits;
    /// Bit `i` is plane `i`'s.
    type Record = u8;
    const LANES: usize = 64;
    const ARITHMETIC: Arithmetic<u64> = Arithmetic::BITS;

    fn pack(plane: &[u64], count: usize, _bits: u32, out: &mut [u8]) {
        out.copy_from_slice(&bytemuck::cast_slice(plane)[..count.div_ceil(8)]);
        if let Some(last) = out.last_mut().filter(|_| !count.is_multiple_of(8)) {
            *last &= (1 << (count % 8)) - 1;
        }
    }

    fn unpack(bytes: &[u8], count: usize, _bits: u32, plane: &mut [u64]) {
        bytemuck::cast_slice_mut(plane)[..count.div_ceil(8)].copy_from_slice(bytes);
    }

    fn records(count: usize, _undrawn: Option<usize>) -> usize {
        count
    }

    fn store(planes: &[u64], _undrawn: Option<usize>, records: &mut [u8]) {
        transpose::from_planes(planes, PLANES, Self::words(records.len()), records);
    }

    fn fetch(records: &[u8], _places: &[u32], _drawn: &mut Drawn, planes: &mut [u64]) {
        transpose::to_planes(records, PLANES, planes, Self::words(records.len()));
    }
}
