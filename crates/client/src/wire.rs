//! Vectors as they travel: the bits that count of one element after another, without a gap.

use crate::with_element;
use std::ops::Range;
use tacit_kernel::{Buffer, bits, pack};
use tacit_program::plan::{Domain, Register};

/// Words that a row of bits takes: whole blocks of 128 bits, so that a row's randomness starts at a block.
pub const fn row_words(cols: usize) -> usize {
    cols.div_ceil(128) * 2
}

/// Bytes that a message should have: large enough that the cost of a message doesn't show, small enough that it
/// stays in the cache between computing and sending.
pub const MESSAGE_BYTES: usize = 64 << 10;

/// Jobs start at multiples of this many columns, so that packed messages and blocks of randomness have no
/// ragged edge but at the very end.
pub const ALIGNMENT: usize = 512;

/// Columns that a message of `MESSAGE_BYTES` carries, at `bits` each.
pub fn columns_per_message(bits: u64) -> usize {
    let columns = MESSAGE_BYTES * 8 / (bits.max(1) as usize);
    (columns / ALIGNMENT).max(1) * ALIGNMENT
}

/// Vectors are single rows.
const ONE_ROW: bits::Rows = bits::Rows { first: 0, step: 1, count: 1 };

/// The pieces in which a register of one row travels, each about a message: number and columns.
pub fn pieces(shape: Register) -> impl Iterator<Item = (u32, Range<usize>)> {
    let grain = columns_per_message(shape.domain.bits());
    (0..shape.cols.div_ceil(grain))
        .map(move |piece| (piece as u32, piece * grain..shape.cols.min((piece + 1) * grain)))
}

/// Columns of a register of one row as a message.
pub fn message_of(shape: Register, data: &Buffer, range: &Range<usize>) -> Vec<u8> {
    let mut message = Vec::with_capacity(message_bytes(shape.domain, range.len()));
    pack_columns(shape, data, range.clone(), &mut message);
    message
}

/// Bytes of `count` elements in a message.
pub fn message_bytes(domain: Domain, count: usize) -> usize {
    pack::packed_len(count, domain.bits() as u32)
}

/// Makes columns `range` of a register of one row a message of [`message_bytes`], in memory that was empty.
pub fn pack_columns(shape: Register, data: &Buffer, range: Range<usize>, message: &mut Vec<u8>) {
    let bytes = message_bytes(shape.domain, range.len());
    match shape.domain {
        Domain::Bits => {
            message.resize(bytes, 0);
            bits::pack_rows(data.words(), row_words(shape.cols), ONE_ROW, range, message);
        }
        // Whole words are copied as they are.
        Domain::Ring(width) => {
            message.extend_from_slice(&data.bytes()[range.start * width.bytes()..range.end * width.bytes()]);
        }
        domain @ Domain::Modular(_) => with_element!(domain, E => {
            message.resize(bytes, 0);
            pack::pack(&data.words::<E>()[range], domain.bits() as u32, message);
        }),
    }
}

/// Reads what [`pack_columns`] wrote. What isn't an element of a field is reduced to one.
pub fn unpack_columns(shape: Register, message: &[u8], range: Range<usize>, data: &mut Buffer) {
    match shape.domain {
        Domain::Bits => bits::unpack_rows(message, data.words_mut(), row_words(shape.cols), ONE_ROW, range),
        domain => with_element!(domain, E => {
            pack::unpack(message, domain.bits() as u32, &mut data.words_mut::<E>()[range]);
        }),
    }
}

/// A vector as its messages, each with its number.
pub fn messages(shape: Register, data: &Buffer) -> impl Iterator<Item = (u32, Vec<u8>)> {
    pieces(shape).map(move |(batch, range)| (batch, message_of(shape, data, &range)))
}

/// The vector that messages are, in order; nothing if they aren't as many or as long as its shape says.
pub fn vector_of(shape: Register, messages: &[Vec<u8>]) -> Option<Buffer> {
    let mut data = Buffer::new(crate::bytes_of(shape.domain, shape.cols));
    let mut rest = messages.iter();
    for (_, range) in pieces(shape) {
        let message =
            rest.next().filter(|message| message.len() == message_bytes(shape.domain, range.len()))?;
        unpack_columns(shape, message, range, &mut data);
    }
    rest.next().is_none().then_some(data)
}
