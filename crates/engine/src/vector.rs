//! Registers of one row as vectors of their domain: what sharing a value takes.

use crate::with_element;
use tacit_kernel::{Buffer, bits, ring};
use tacit_program::plan::{Domain, Register};
use tacit_session::{Draw, PrssStream};

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
