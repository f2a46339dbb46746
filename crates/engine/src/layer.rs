//! How the ANDs of a circuit's layer travel, and where their randomness is.

use crate::Job;
use crate::bank::{Bank, row_words};
use std::ops::Range;
use tacit_circuit::{Layer, Layered};
use tacit_kernel::bits;
use tacit_net::Mesh;
use tacit_program::plan::Rows;

/// Bytes of a message, about. A layer with more goes in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// The messages of a layer: number and ANDs. All but the last have a multiple of eight ANDs, and so whole bytes.
pub fn pieces(layer: &Layer, job: &Job) -> impl Iterator<Item = (u16, Range<usize>)> + use<> {
    let count = layer.ands.len();
    let grain = (PIECE_BYTES / (row_words(job.cols.len()) * 8)).max(8) / 8 * 8;
    (0..count.div_ceil(grain)).map(move |piece| (piece as u16, piece * grain..count.min((piece + 1) * grain)))
}

/// Bytes of a message of some ANDs of a tile.
pub fn message_bytes(job: &Job, ands: usize) -> usize {
    (ands * job.cols.len()).div_ceil(8)
}

/// The block of the stream at which the masks of a layer's ANDs begin, from AND `and` on. Rows are whole blocks of 128
/// columns; tiles start at such a block.
pub fn first_block(job: &Job, circuit: &Layered, layer: &Layer, and: usize) -> u64 {
    let row_blocks = row_words(job.cols.len()) as u64 / 2;
    (job.cols.start / 128) as u64 * circuit.ands() + (layer.first_and + and as u64) * row_blocks
}

/// Rows as they travel: without the columns that a tile doesn't have.
pub fn message_of_rows(mesh: &mut Mesh, job: &Job, rows: Vec<u8>) -> Vec<u8> {
    let words = row_words(job.cols.len());
    if job.cols.len() == words * 64 {
        return rows;
    }
    let count = rows.len() / (words * 8);
    let mut message = mesh.buffer(0);
    message.resize(message_bytes(job, count), 0);
    let stack: Vec<u64> = rows.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    bits::pack_rows(&stack, words, all(count), 0..job.cols.len(), &mut message);
    mesh.recycle(rows);
    message
}

/// Takes what [`message_of_rows`] made apart: `put` gets the number of each row, and its words.
pub fn each_row(job: &Job, count: usize, message: &[u8], mut put: impl FnMut(usize, &[u64])) {
    let words = row_words(job.cols.len());
    match bytemuck::try_cast_slice(message) {
        Ok(rows) if job.cols.len() == words * 64 => {
            rows.chunks_exact(words).enumerate().for_each(|(index, row)| put(index, row));
        }
        _ => {
            let mut rows = vec![0; count * words];
            bits::unpack_rows(message, &mut rows, words, all(count), 0..job.cols.len());
            rows.chunks_exact(words).enumerate().for_each(|(index, row)| put(index, row));
        }
    }
}

/// Rows of a stack of their own.
pub fn all(count: usize) -> bits::Rows {
    Bank::stack(Rows::run(0, 0, count as u32))
}
