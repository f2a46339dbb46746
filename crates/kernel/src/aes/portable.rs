//! Streams by the `aes` crate, which picks an implementation without tables.

use super::{BLOCK, XOR};
use crate::Word;
use aes::cipher::BlockCipherEncrypt;
use aes::{Aes128, Block};

/// Bytes made at a time.
const PIECE: usize = 512;

pub(super) fn fill(key: &Aes128, nonce: u64, first_block: u64, out: &mut [u8]) {
    for (piece, first) in out.chunks_mut(PIECE).zip((first_block..).step_by(PIECE / BLOCK)) {
        fill_piece(key, nonce, first, piece);
    }
}

pub(super) fn fill_at(key: &Aes128, nonce: u64, numbers: &[u64], out: &mut [[u8; BLOCK]]) {
    for (piece, numbers) in out.chunks_mut(PIECE / BLOCK).zip(numbers.chunks(PIECE / BLOCK)) {
        let mut blocks = [Block::default(); PIECE / BLOCK];
        let blocks = &mut blocks[..piece.len()];
        for (block, &number) in blocks.iter_mut().zip(numbers) {
            *block = input(nonce, number);
        }
        key.encrypt_blocks(blocks);
        for (bytes, block) in piece.iter_mut().zip(blocks) {
            bytes.copy_from_slice(block);
        }
    }
}

pub(super) fn combine<W: Word, const HOW: bool>(
    a: &Aes128,
    b: &Aes128,
    nonce: u64,
    first_block: u64,
    out: &mut [u8],
) {
    let mut other = [0; PIECE];
    for (piece, first) in out.chunks_mut(PIECE).zip((first_block..).step_by(PIECE / BLOCK)) {
        let other = &mut other[..piece.len()];
        fill_piece(a, nonce, first, piece);
        fill_piece(b, nonce, first, other);
        if HOW == XOR {
            for (x, y) in piece.iter_mut().zip(other) {
                *x ^= *y;
            }
        } else {
            for (x, y) in piece.chunks_exact_mut(W::BYTES).zip(other.chunks_exact(W::BYTES)) {
                let [minuend, subtrahend]: [W; 2] = [x, y].map(bytemuck::pod_read_unaligned);
                x.copy_from_slice(bytemuck::bytes_of(&minuend.wrapping_sub(subtrahend)));
            }
        }
    }
}

/// At most [`PIECE`] bytes of a stream.
fn fill_piece(key: &Aes128, nonce: u64, first_block: u64, out: &mut [u8]) {
    let mut blocks = [Block::default(); PIECE / BLOCK];
    let blocks = &mut blocks[..out.len().div_ceil(BLOCK)];
    for (index, block) in blocks.iter_mut().enumerate() {
        *block = input(nonce, first_block + index as u64);
    }
    key.encrypt_blocks(blocks);
    for (bytes, block) in out.chunks_mut(BLOCK).zip(blocks) {
        bytes.copy_from_slice(&block[..bytes.len()]);
    }
}

/// What block `number` of a stream is the cipher of.
fn input(nonce: u64, number: u64) -> Block {
    let mut block = Block::default();
    block[..8].copy_from_slice(&nonce.to_le_bytes());
    block[8..].copy_from_slice(&number.to_le_bytes());
    block
}
