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

/// Replaces each block by its cipher.
pub(super) fn encrypt_all(key: &Aes128, blocks: &mut [[u8; BLOCK]]) {
    for piece in blocks.chunks_mut(PIECE / BLOCK) {
        let mut ciphers = [Block::default(); PIECE / BLOCK];
        let ciphers = &mut ciphers[..piece.len()];
        for (cipher, block) in ciphers.iter_mut().zip(&*piece) {
            cipher.copy_from_slice(block);
        }
        key.encrypt_blocks(ciphers);
        for (block, cipher) in piece.iter_mut().zip(ciphers) {
            block.copy_from_slice(cipher);
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
        block[..8].copy_from_slice(&nonce.to_le_bytes());
        block[8..].copy_from_slice(&(first_block + index as u64).to_le_bytes());
    }
    key.encrypt_blocks(blocks);
    for (bytes, block) in out.chunks_mut(BLOCK).zip(blocks) {
        bytes.copy_from_slice(&block[..bytes.len()]);
    }
}
