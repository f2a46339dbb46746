//! How a batch lies in memory: tiles of 4,096 rows, each tile's columns one after another, and what a coin makes of them.
//!
//! A tile's 128 columns are 64 KiB, and each of its trees' part 2 KiB: expanding, transposing and hashing go from tile to
//! tile and find in a core's second cache what they made before.

use crate::context::Context;
use crate::params::{ANSWER_BYTES, COIN_BYTES, LAMBDA};
use sha2::{Digest, Sha256};
use std::ops::Range;
use tacit_kernel::gf128::{Gf128, weigh};
use tacit_kernel::robust::RobustHash;
use tacit_kernel::{Buffer, rows};

/// Words of a column in a tile.
pub(crate) const TILE: usize = 64;

/// The words of a batch's columns that each of its tiles has.
pub(crate) fn tiles(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let words = rows / 64;
    (0..words).step_by(TILE).map(move |first| first..words.min(first + TILE))
}

/// Words in which a batch's columns, or rows, are kept; wiped when dropped.
#[derive(Default)]
pub(crate) struct Secret(pub(crate) Buffer);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

impl Secret {
    /// So many words, all of which are to be written over.
    pub(crate) fn reuse(&mut self, words: usize) -> &mut [u64] {
        self.0.reuse(8 * words);
        self.0.words_mut()
    }

    /// The words.
    pub(crate) fn words(&self) -> &[u64] {
        self.0.words()
    }
}

/// A tile of columns.
pub(crate) fn tile<'a>(columns: &'a [u64], words: &Range<usize>) -> &'a [u64] {
    &columns[LAMBDA * words.start..LAMBDA * words.end]
}

/// The weights of a batch's blocks of 128 rows: the powers of the coin, down to 1 for the last, the sacrificed one. So hashes
/// are values of polynomials, and two different columns have the same one for as many coins as a degree at most.
pub(crate) fn weights(coin: &[u8; COIN_BYTES], rows: usize) -> Vec<Gf128> {
    let mut weights = vec![Gf128::ONE; rows / LAMBDA];
    let (point, mut power) = (Gf128(u128::from_le_bytes(*coin)), Gf128::ONE);
    for weight in weights.iter_mut().rev().skip(1) {
        power = power.times(point);
        *weight = power;
    }
    weights
}

/// Adds a tile's part to the hashes of its columns.
pub(crate) fn add_hashes(weights: &[Gf128], words: &Range<usize>, columns: &[u64], hashes: &mut [Gf128]) {
    weigh(&weights[words.start / 2..words.end / 2], columns, hashes);
}

/// The answer to a coin: the hash of the choices, and a digest of the hashes of all columns.
pub(crate) fn answer(
    context: &Context,
    batch: u64,
    coin: &[u8; COIN_BYTES],
    choices: Gf128,
    columns: &[Gf128],
) -> [u8; ANSWER_BYTES] {
    let mut hash =
        Sha256::new_with_prefix(context.hash("answer", &[batch], &[coin, &choices.0.to_le_bytes()]));
    hash.update(bytemuck::cast_slice(columns));
    let mut answer = [0; ANSWER_BYTES];
    answer[..16].copy_from_slice(&choices.0.to_le_bytes());
    answer[16..].copy_from_slice(&hash.finalize());
    answer
}

/// The hash of a batch's rows: each batch has a key of its own, which everybody knows.
pub(crate) fn row_hash(context: &Context, batch: u64) -> RobustHash {
    let hash = context.hash("row hash", &[batch], &[]);
    RobustHash::new(&hash[..16].first_chunk().copied().unwrap_or_default())
}

/// The rows of a tile.
pub(crate) fn to_rows<'a>(columns: &[u64], words: &Range<usize>, memory: &'a mut Secret) -> &'a mut [u128] {
    memory.0.reuse(16 * 64 * words.len());
    let all = memory.0.words_mut();
    rows::from_columns(tile(columns, words), all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns that differ by a polynomial with chosen roots have the same hash at these coins, and at no other.
    #[test]
    fn columns_collide_at_the_roots_of_their_difference() {
        let roots = [3_u128, 1 << 127 | 5, 77];
        // The product of all `X + root`, from the highest coefficient down, as blocks of a column are.
        let mut difference = vec![Gf128::ONE];
        for root in roots {
            let shifted = difference.iter().map(|one| one.times(Gf128(root)));
            let shifted: Vec<Gf128> = std::iter::once(Gf128::ZERO).chain(shifted).collect();
            difference.push(Gf128::ZERO);
            difference.iter_mut().zip(shifted).for_each(|(one, other)| *one = one.plus(other));
        }
        let rows = LAMBDA * difference.len();
        let hash = |coin: u128| {
            let mut hash = [Gf128::ZERO];
            let words = 0..rows / 64;
            let weights = weights(&coin.to_le_bytes(), rows);
            add_hashes(&weights, &words, bytemuck::cast_slice(&difference), &mut hash);
            hash[0]
        };
        assert!(roots.iter().all(|&root| hash(root) == Gf128::ZERO));
        assert!([0, 1, 4, 76, 1 << 127].iter().all(|&coin| hash(coin) != Gf128::ZERO));
    }
}
