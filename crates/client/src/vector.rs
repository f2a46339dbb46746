//! Registers of one row as vectors of their domain: what sharing a value takes.

use crate::with_element;
use tacit_kernel::{Buffer, Element, bits, ring};
use tacit_program::plan::{Domain, Register};
use tacit_wire::{Draw, PrssStream};

/// Fills a vector from a stream.
pub fn fill(stream: &mut PrssStream, draw: Draw, shape: Register, out: &mut Buffer) {
    match shape.domain {
        Domain::Bits => stream.fill(draw, 0, out.bytes_mut()),
        domain => with_element!(domain, E => stream.fill_elements::<E>(draw, 0, out.words_mut())),
    }
}

/// Fills a vector with the difference of two streams: a part of a sharing of zero.
pub fn fill_difference(
    a: &mut PrssStream,
    b: &mut PrssStream,
    draw: Draw,
    shape: Register,
    out: &mut Buffer,
) {
    match shape.domain {
        Domain::Bits => a.xor(b, draw, 0, out.bytes_mut()),
        domain => with_element!(domain, E => a.sub::<E>(b, draw, 0, out.words_mut())),
    }
}

/// A vector's blocks in another order, of as many: block `i` is what block `order[i]` was.
///
/// # Panics
/// If there is no such block.
pub fn in_order(shape: Register, data: &Buffer, order: &[u32], out: &mut Buffer) {
    let block = shape.cols / order.len().max(1);
    assert!(gather(shape, data, order, block, out), "an order has each block once");
}

/// Blocks of a vector, of so many elements: block `i` is what block `places[i]` was. `false` if there is no such block; what is
/// written then is unspecified. Blocks as long as words are moved as such.
pub fn gather(shape: Register, data: &Buffer, places: &[u32], block: usize, out: &mut Buffer) -> bool {
    let blocks = shape.cols / block.max(1);
    if places.iter().any(|&place| place as usize >= blocks) {
        return false;
    }
    match (shape.domain, block) {
        (Domain::Bits, 8) => words::<u8>(data, places, 1, out),
        (Domain::Bits, 16) => words::<u16>(data, places, 1, out),
        (Domain::Bits, 32) => words::<u32>(data, places, 1, out),
        (Domain::Bits, 64) => words::<u64>(data, places, 1, out),
        (Domain::Bits, 128) => words::<u128>(data, places, 1, out),
        (Domain::Bits, 1) => {
            let (source, out) = (data.words::<u64>(), out.words_mut::<u64>());
            out.fill(0);
            for (at, &place) in places.iter().enumerate() {
                let place = place as usize;
                out[at / 64] |= (source[place / 64] >> (place % 64) & 1) << (at % 64);
            }
        }
        (Domain::Bits, _) => {
            out.bytes_mut().fill(0);
            for (to, &place) in (0..).step_by(block).zip(places) {
                let from = place as usize * block;
                bits::copy_strided(data.words(), shape.cols, from, &[block], &[1], out.words_mut(), to);
            }
        }
        (domain, _) => with_element!(domain, E => words::<E>(data, places, block, out)),
    }
    true
}

/// Blocks of words, at places that are there.
fn words<W: Element>(data: &Buffer, places: &[u32], block: usize, out: &mut Buffer) {
    let (from, out) = (data.words::<W>(), out.words_mut::<W>());
    out[places.len() * block..].fill(W::ZERO);
    if block == 1 {
        for (out, &place) in out.iter_mut().zip(places) {
            *out = from[place as usize];
        }
        return;
    }
    for (out, &place) in out.chunks_exact_mut(block.max(1)).zip(places) {
        out.copy_from_slice(&from[place as usize * block..][..block]);
    }
}

/// `a += b`.
pub fn add_assign(shape: Register, a: &mut Buffer, b: &Buffer) {
    match shape.domain {
        Domain::Bits => bits::xor_assign(a.words_mut(), b.words()),
        domain => with_element!(domain, E => ring::add_assign::<E>(a.words_mut(), b.words())),
    }
}

/// Adds to all of `a` as many elements of `b`, those from `start` on; of bits that is the first of a word.
pub fn add_part(domain: Domain, a: &mut Buffer, b: &Buffer, start: usize) {
    match domain {
        Domain::Bits => {
            let a = a.words_mut::<u64>();
            let count = a.len().min(b.words::<u64>().len() - start / 64);
            bits::xor_assign(&mut a[..count], &b.words::<u64>()[start / 64..][..count]);
        }
        domain => with_element!(domain, E => {
            let a = a.words_mut::<E>();
            let count = a.len();
            ring::add_assign(a, &b.words::<E>()[start..start + count]);
        }),
    }
}

/// Writes all of `a` to elements of `out` from `start` on; of bits that is the first of a word.
pub fn copy_part(domain: Domain, out: &mut Buffer, a: &Buffer, start: usize) {
    match domain {
        Domain::Bits => {
            let out = &mut out.words_mut::<u64>()[start / 64..];
            let count = out.len().min(a.words::<u64>().len());
            out[..count].copy_from_slice(&a.words::<u64>()[..count]);
        }
        domain => with_element!(domain, E => {
            let a = a.words::<E>();
            out.words_mut::<E>()[start..start + a.len()].copy_from_slice(a);
        }),
    }
}

/// `a -= b`.
pub fn sub_assign(shape: Register, a: &mut Buffer, b: &Buffer) {
    match shape.domain {
        Domain::Bits => bits::xor_assign(a.words_mut(), b.words()),
        domain => with_element!(domain, E => ring::sub_assign::<E>(a.words_mut(), b.words())),
    }
}

/// One row of so many elements.
pub const fn row(domain: Domain, cols: usize) -> Register {
    Register { domain, rows: 1, cols, public: false }
}

/// `z += a b`, element by element; of bits in whole words.
pub fn mul_add(domain: Domain, a: &Buffer, b: &Buffer, z: &mut Buffer) {
    match domain {
        Domain::Bits => bits::and_xor(a.words(), b.words(), z.words_mut()),
        domain => with_element!(domain, E => ring::mul_add::<E>(a.words(), b.words(), z.words_mut())),
    }
}
