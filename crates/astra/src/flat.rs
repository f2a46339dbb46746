//! Products whose operands stand one after another: vectors of elements, or packed bits, 64 to a word.
//!
//! What is checked of an AND and of a product is the same but for the arithmetic, and what a circuit's layer, rows of
//! bits and vectors have in common is that they can be laid out like this.

use crate::draws::Drawn;
use std::ops::Range;
use tacit_engine::wire::message_bytes;
use tacit_kernel::{Element, bits, pack};
use tacit_program::plan::Domain;
use tacit_session::{At, Draw};

/// Some products of a message, and where they belong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub(crate) domain: Domain,
    /// Products.
    pub(crate) count: usize,
    /// The operation.
    pub(crate) op: u32,
    /// The first product's word among the operation's draws and in the material; those of bits are words of 64.
    pub(crate) first: usize,
    /// The address of masks, and from one [`Drawn`] to the next.
    pub(crate) draws: (Draw, u16),
    /// The address of messages, as if they were the operation's own.
    pub(crate) at: At,
}

impl Batch {
    pub(crate) fn draw(&self, drawn: Drawn) -> Draw {
        let (first, step) = self.draws;
        Draw { part: first.part + step * drawn as u16, ..first }
    }

    /// Words of a vector with an element for each product.
    pub(crate) fn words(&self) -> usize {
        words(self.domain, self.count)
    }
}

/// Words of a vector.
pub(crate) fn words(domain: Domain, count: usize) -> usize {
    if domain == Domain::Bits { bits::words(count) } else { count }
}

/// Makes `rows` vectors of `count` elements, which stand one after another, a message: without gaps.
pub(crate) fn pack<E: Element>(
    domain: Domain,
    data: &[E],
    rows: usize,
    count: usize,
    mut message: Vec<u8>,
) -> Vec<u8> {
    match domain {
        Domain::Bits => {
            message.resize(message_bytes(domain, rows * count), 0);
            let stack = bits::Rows { first: 0, step: 1, count: rows };
            bits::pack_rows(bytemuck::cast_slice(data), words(domain, count), stack, 0..count, &mut message);
        }
        // Whole words are copied as they are.
        Domain::Ring(_) => message.extend_from_slice(bytemuck::cast_slice(data)),
        Domain::Modular(_) => {
            message.resize(message_bytes(domain, rows * count), 0);
            pack::pack(data, domain.bits() as u32, &mut message);
        }
    }
    message
}

/// Reads what [`pack`] wrote. Bits that fill a vector's last word are zero.
///
/// # Panics
/// If the message hasn't the bytes of so many elements.
pub(crate) fn unpack<E: Element>(domain: Domain, message: &[u8], rows: usize, count: usize) -> Vec<E> {
    let stride = words(domain, count);
    let mut data = vec![E::ZERO; rows * stride];
    match domain {
        Domain::Bits => {
            let stack = bits::Rows { first: 0, step: 1, count: rows };
            bits::unpack_rows(message, bytemuck::cast_slice_mut(&mut data), stride, stack, 0..count);
        }
        domain => pack::unpack(message, domain.bits() as u32, &mut data),
    }
    data
}

/// Two vectors that stand one after the other.
pub(crate) fn halves<E>(both: &mut [E]) -> [&mut [E]; 2] {
    let (one, other) = both.split_at_mut(both.len() / 2);
    [one, other]
}

/// Columns of rows as packed bits, which fill the first bytes of some words.
pub(crate) fn pack_bits<E: Element>(
    src: &[u64],
    stride: usize,
    rows: bits::Rows,
    cols: Range<usize>,
    out: &mut [E],
) {
    let bytes = (rows.count * cols.len()).div_ceil(8);
    bits::pack_rows(src, stride, rows, cols, &mut bytemuck::cast_slice_mut(out)[..bytes]);
}
