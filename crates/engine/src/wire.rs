//! Vectors as they travel: the bits that count of one element after another, without a gap.

use crate::bank::row_words;
use crate::with_element;
use std::ops::Range;
use tacit_kernel::{Buffer, bits, pack};
use tacit_program::plan::{Domain, Register};

/// Vectors are single rows.
const ONE_ROW: bits::Rows = bits::Rows { first: 0, step: 1, count: 1 };

/// The pieces in which a register of one row travels, each about a message: number and columns.
pub fn pieces(shape: Register) -> impl Iterator<Item = (u32, Range<usize>)> {
    let grain = crate::columns_per_message(shape.domain.bits());
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
