//! Registers of one row as vectors of their domain: what sharing a value takes.

use crate::{bytes_of, with_element};
use tacit_kernel::{Buffer, bits, ring};
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
pub fn in_order(shape: Register, data: &Buffer, order: &[u32]) -> Buffer {
    let mut out = Buffer::new(bytes_of(shape.domain, shape.cols));
    let length = shape.cols / order.len();
    let blocks = order.iter().map(|&block| block as usize * length);
    match shape.domain {
        Domain::Bits => {
            for (to, from) in (0..).step_by(length).zip(blocks) {
                bits::copy_strided(data.words(), shape.cols, from, &[length], &[1], out.words_mut(), to);
            }
        }
        domain => with_element!(domain, E => {
            for (out, from) in out.words_mut::<E>().chunks_exact_mut(length).zip(blocks) {
                out.copy_from_slice(&data.words::<E>()[from..from + length]);
            }
        }),
    }
    out
}

/// `a += b`.
pub fn add_assign(shape: Register, a: &mut Buffer, b: &Buffer) {
    match shape.domain {
        Domain::Bits => bits::xor_assign(a.words_mut(), b.words()),
        domain => with_element!(domain, E => ring::add_assign::<E>(a.words_mut(), b.words())),
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
