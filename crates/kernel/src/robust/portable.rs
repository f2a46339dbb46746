//! The hash by the `aes` crate, some rows at a time.

use aes::cipher::BlockCipherEncrypt;
use aes::{Aes128Enc, Block};

/// Rows at a time: enough blocks for a cipher that works on many at once.
const PIECE: usize = 32;

/// [`super::RobustHash::hash`].
pub(super) fn hash(key: &Aes128Enc, first: u64, rows: &mut [u128]) {
    for (first, rows) in (first..).step_by(PIECE).zip(rows.chunks_mut(PIECE)) {
        let mut blocks = [Block::default(); PIECE];
        let blocks = &mut blocks[..rows.len()];
        for (block, row) in blocks.iter_mut().zip(&*rows) {
            *block = row.to_le_bytes().into();
        }
        key.encrypt_blocks(blocks);
        for ((block, row), index) in blocks.iter_mut().zip(&mut *rows).zip(first..) {
            *row = u128::from_le_bytes((*block).into());
            *block = (*row ^ u128::from(index)).to_le_bytes().into();
        }
        key.encrypt_blocks(blocks);
        for (block, row) in blocks.iter().zip(rows) {
            *row ^= u128::from_le_bytes((*block).into());
        }
    }
}
