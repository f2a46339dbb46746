//! Half gates by the `aes` crate, a few instances at a time.

use super::{LABEL, TABLE, mask, sigma};
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};

/// Instances at a time: enough blocks for a cipher that works on many at once.
const PIECE: usize = 8;

/// [`super::garble`].
#[inline(always)]
pub(super) fn garble(
    memory: &mut [u128],
    width: usize,
    delta: u128,
    gates: &[[u32; 3]],
    keys: &[[u8; 16]],
    tables: &mut [u8],
) {
    for ((gate, key), table) in gates.iter().zip(keys).zip(tables.chunks_exact_mut(width * TABLE)) {
        let key = Aes128Enc::new(key.into());
        let [a, b, to] = gate.map(|slot| slot as usize * width);
        let (left, right) = table.split_at_mut(width * LABEL);
        let tables = left.chunks_mut(PIECE * LABEL).zip(right.chunks_mut(PIECE * LABEL));
        for (first, (left, right)) in (0..width).step_by(PIECE).zip(tables) {
            let [a, b] = [a, b].map(|row| take(memory, row + first, left.len() / LABEL));
            let [ha, hb] = [inputs(&a, first, 0), inputs(&b, first, 1)];
            let [other_ha, other_hb] = [ha, hb].map(|inputs| inputs.map(|input| input ^ sigma(delta)));
            let hashes = hash_all(&key, [ha, other_ha, hb, other_hb]);
            let tables = left.as_chunks_mut().0.iter_mut().zip(right.as_chunks_mut().0);
            for (i, (left, right)) in tables.enumerate() {
                let [ha, other_ha, hb, other_hb] = hashes.map(|hashes| hashes[i]);
                let generator = ha ^ other_ha ^ delta & mask(b[i]);
                let evaluator = hb ^ other_hb ^ a[i];
                memory[to + first + i] = ha ^ generator & mask(a[i]) ^ hb ^ (evaluator ^ a[i]) & mask(b[i]);
                *left = generator.to_le_bytes();
                *right = evaluator.to_le_bytes();
            }
        }
    }
}

/// [`super::evaluate`].
#[inline(always)]
pub(super) fn evaluate(
    memory: &mut [u128],
    width: usize,
    gates: &[[u32; 3]],
    keys: &[[u8; 16]],
    tables: &[u8],
) {
    for ((gate, key), table) in gates.iter().zip(keys).zip(tables.chunks_exact(width * TABLE)) {
        let key = Aes128Enc::new(key.into());
        let [a, b, to] = gate.map(|slot| slot as usize * width);
        let (left, right) = table.split_at(width * LABEL);
        let tables = left.chunks(PIECE * LABEL).zip(right.chunks(PIECE * LABEL));
        for (first, (left, right)) in (0..width).step_by(PIECE).zip(tables) {
            let [a, b] = [a, b].map(|row| take(memory, row + first, left.len() / LABEL));
            let [ha, hb] = hash_all(&key, [inputs(&a, first, 0), inputs(&b, first, 1)]);
            let tables = left.as_chunks().0.iter().zip(right.as_chunks().0);
            for (i, (left, right)) in tables.enumerate() {
                let [generator, evaluator] = [left, right].map(|label| u128::from_le_bytes(*label));
                memory[to + first + i] =
                    ha[i] ^ generator & mask(a[i]) ^ hb[i] ^ (evaluator ^ a[i]) & mask(b[i]);
            }
        }
    }
}

/// [`super::hash`].
#[inline(always)]
pub(super) fn hash(key: &[u8; 16], labels: &mut [[u8; LABEL]]) {
    let key = Aes128Enc::new(key.into());
    for (first, labels) in (0..).step_by(PIECE).zip(labels.chunks_mut(PIECE)) {
        let mut piece = [0; PIECE];
        for (place, label) in piece.iter_mut().zip(&*labels) {
            *place = u128::from_le_bytes(*label);
        }
        let [hashes] = hash_all(&key, [inputs(&piece, first, 0)]);
        for (label, hash) in labels.iter_mut().zip(hashes) {
            *label = hash.to_le_bytes();
        }
    }
}

/// Some labels, followed by zeros.
#[inline(always)]
fn take(memory: &[u128], first: usize, count: usize) -> [u128; PIECE] {
    let mut piece = [0; PIECE];
    piece[..count].copy_from_slice(&memory[first..][..count]);
    piece
}

/// What of labels the cipher is given, for the instances from `first` on.
#[inline(always)]
fn inputs(labels: &[u128; PIECE], first: usize, half: u128) -> [u128; PIECE] {
    std::array::from_fn(|i| sigma(labels[i]) ^ (2 * (first + i) as u128 + half))
}

/// The hashes of labels whose [`inputs`] these are.
#[inline(always)]
fn hash_all<const N: usize>(key: &Aes128Enc, inputs: [[u128; PIECE]; N]) -> [[u128; PIECE]; N] {
    let mut blocks = [[Block::default(); PIECE]; N];
    for (block, input) in blocks.as_flattened_mut().iter_mut().zip(inputs.as_flattened()) {
        *block = input.to_le_bytes().into();
    }
    key.encrypt_blocks(blocks.as_flattened_mut());
    let mut hashes = inputs;
    for (hash, block) in hashes.as_flattened_mut().iter_mut().zip(blocks.as_flattened()) {
        *hash ^= u128::from_le_bytes((*block).into());
    }
    hashes
}
