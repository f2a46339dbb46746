//! What is checked: elements of rings and fields, or bits, by one face.
//!
//! A plane is a number in each of its places: an element a word, or 64 bits.

use super::turn::Drawn;
use std::marker::PhantomData;
use tacit_kernel::{Element, bits, pack, ring, transpose};
use tacit_session::{Draw, Stream};

/// Planes of a batch of triples `(d, e, f)`: a party's two components of each.
pub(super) const PLANES: usize = 6;

/// Arithmetic on planes. Lengths are the callers' to know; slices of one call are equally long.
pub(super) trait Kind: 'static {
    /// What planes are made of.
    type Word: Element;
    /// What is kept of a triple until its place is known.
    type Record: Element;
    /// Numbers in a word.
    const LANES: usize;
    /// Bytes of a stream for 16 numbers or, of bits, 128.
    fn draw(stream: &mut Stream, draw: Draw, first: usize, out: &mut [Self::Word]);
    /// `out += a`.
    fn add(out: &mut [Self::Word], a: &[Self::Word]);
    /// `out -= a`.
    fn sub(out: &mut [Self::Word], a: &[Self::Word]);
    /// `out = a - b`.
    fn difference(a: &[Self::Word], b: &[Self::Word], out: &mut [Self::Word]);
    /// `out -= a b`.
    fn mul_sub(a: &[Self::Word], b: &[Self::Word], out: &mut [Self::Word]);
    /// A party's part of a product, added to `out`: `x y + x y' + x' y`, of first and second components.
    fn cross(x: [&[Self::Word]; 2], y: [&[Self::Word]; 2], out: &mut [Self::Word]);
    /// The first `count` numbers as they travel, `bits` of each, in a whole number of bytes.
    fn pack(plane: &[Self::Word], count: usize, bits: u32, out: &mut [u8]);
    /// The inverse of [`Kind::pack`].
    fn unpack(bytes: &[u8], count: usize, bits: u32, plane: &mut [Self::Word]);
    /// What it takes of so many triples, of which one plane wasn't drawn, or none, to have them again: records.
    fn records(count: usize, undrawn: Option<usize>) -> usize;
    /// Makes records of planes, each of which has [`Kind::words`] words.
    fn store(planes: &[Self::Word], undrawn: Option<usize>, records: &mut [Self::Record]);
    /// The triples at these places as planes: the inverse of [`Kind::store`]. What is behind the last number is
    /// unspecified. `scratch` is memory to use.
    fn fetch(
        records: &[Self::Record],
        places: &[u32],
        drawn: &mut Drawn,
        planes: &mut [Self::Word],
        scratch: &mut Vec<Self::Record>,
    );

    /// Words of a plane of so many numbers.
    fn words(count: usize) -> usize {
        count.div_ceil(Self::LANES)
    }
}

/// Elements, one a word.
pub(super) struct Elements<E>(PhantomData<E>);

impl<E: Element> Kind for Elements<E> {
    type Word = E;
    /// Of the plane that wasn't drawn: a stream gives the others again, and faster than memory does in this order.
    type Record = E;
    const LANES: usize = 1;

    fn draw(stream: &mut Stream, draw: Draw, first: usize, out: &mut [E]) {
        stream.fill_elements(draw, (first * E::DRAWN / 16) as u64, out);
    }

    fn add(out: &mut [E], a: &[E]) {
        ring::add_assign(out, a);
    }

    fn sub(out: &mut [E], a: &[E]) {
        ring::sub_assign(out, a);
    }

    fn difference(a: &[E], b: &[E], out: &mut [E]) {
        ring::sub(a, b, out);
    }

    fn mul_sub(a: &[E], b: &[E], out: &mut [E]) {
        ring::mul_sub(a, b, out);
    }

    fn cross(x: [&[E]; 2], y: [&[E]; 2], out: &mut [E]) {
        ring::cross(x[0], x[1], y[0], y[1], out);
    }

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

    fn fetch(records: &[E], places: &[u32], drawn: &mut Drawn, planes: &mut [E], _scratch: &mut Vec<E>) {
        for (plane, out) in planes.chunks_exact_mut(places.len()).enumerate() {
            if let Some((stream, draw)) = drawn.plane(plane) {
                stream.draw_again(draw, places, out);
            } else {
                for (out, &place) in out.iter_mut().zip(places) {
                    *out = records[place as usize];
                }
            }
        }
    }
}

/// Bits, 64 a word.
pub(super) struct Bits;

impl Kind for Bits {
    type Word = u64;
    /// Bit `i` is plane `i`'s.
    type Record = u8;
    const LANES: usize = 64;

    fn draw(stream: &mut Stream, draw: Draw, first: usize, out: &mut [u64]) {
        stream.fill(draw, (first / 128) as u64, bytemuck::cast_slice_mut(out));
    }

    fn add(out: &mut [u64], a: &[u64]) {
        bits::xor_assign(out, a);
    }

    fn sub(out: &mut [u64], a: &[u64]) {
        bits::xor_assign(out, a);
    }

    fn difference(a: &[u64], b: &[u64], out: &mut [u64]) {
        bits::xor(a, b, out);
    }

    fn mul_sub(a: &[u64], b: &[u64], out: &mut [u64]) {
        bits::and_xor(a, b, out);
    }

    fn cross(x: [&[u64]; 2], y: [&[u64]; 2], out: &mut [u64]) {
        bits::cross(x[0], x[1], y[0], y[1], out);
    }

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

    fn fetch(records: &[u8], places: &[u32], _drawn: &mut Drawn, planes: &mut [u64], scratch: &mut Vec<u8>) {
        scratch.clear();
        scratch.extend(places.iter().map(|&place| records[place as usize]));
        transpose::to_planes(scratch, PLANES, planes, Self::words(places.len()));
    }
}
