//! The walk by the `aes` crate, which picks an implementation without tables.

use super::Leaves;
use aes::Block;
use aes::cipher::BlockCipherEncrypt;

/// Words at a time: 32 blocks.
const PIECE: usize = 64;

/// [`Leaves::sums`].
#[inline(always)]
pub(super) fn sums(leaves: &Leaves, first_block: u64, sum: &mut [u64], planes: &mut [u64]) {
    let words = sum.len();
    planes.fill(0);
    for at in (0..words).step_by(PIECE) {
        let count = PIECE.min(words - at);
        let mut running = [0; PIECE];
        for (step, key) in (leaves.first..).zip(&leaves.portable) {
            if let Some(plane) = Leaves::changes(step) {
                add(&mut planes[plane * words + at..][..count], &running);
            }
            let mut blocks = [Block::default(); PIECE / 2];
            let blocks = &mut blocks[..count / 2];
            for (number, block) in (first_block + at as u64 / 2..).zip(&mut *blocks) {
                block[8..].copy_from_slice(&number.to_le_bytes());
            }
            key.encrypt_blocks(blocks);
            for (pair, block) in running.as_chunks_mut::<2>().0.iter_mut().zip(blocks) {
                let block = u128::from_le_bytes((*block).into());
                pair[0] ^= block as u64;
                pair[1] ^= (block >> 64) as u64;
            }
        }
        let highest = leaves.height - 1;
        add(&mut planes[highest * words + at..][..count], &running);
        sum[at..at + count].copy_from_slice(&running[..count]);
    }
}

#[inline(always)]
fn add(row: &mut [u64], running: &[u64; PIECE]) {
    for (word, running) in row.iter_mut().zip(running) {
        *word ^= running;
    }
}
