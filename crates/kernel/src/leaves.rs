//! Sums of the AES streams of many keys, by the bits of the keys' numbers: vectors over small fields for oblivious
//! transfer (Roy, CRYPTO 2022, section 3.1).
//!
//! For keys `k_0` to `k_(2^h - 1)` let `r_x` be the stream of `k_x`: block `b` is `AES_k(le64(0) || le64(b))`, as in
//! [`crate::aes`]. Then
//!
//! ```text
//! sum      = r_0 ^ r_1 ^ ... ^ r_(2^h - 1)
//! plane j  = the exclusive or of all r_x where bit j of x is 1
//! ```
//!
//! No plane has `r_0` in it. Who doesn't have that key gets the same planes, and the sum without `r_0`.
//!
//! **The walk.** Keys are taken in the order of a Gray code, in which one bit of the number changes from each to the next.
//! Bit `j` is 1 in runs of steps, and the sum over a run is the difference of the running sums at its two ends. So plane
//! `j` is the exclusive or of the running sums at all steps at which bit `j` changes, and of the last one if bit `j` is
//! then 1, which is so of the highest bit alone. A stream is added once, and once more to one plane, whatever `h` is.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::aes::BLOCK;
#[cfg(target_arch = "x86_64")]
use crate::aes::x86::RoundKeys;
use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use aes::Aes128Enc;
use aes::cipher::KeyInit;
use std::fmt;

/// The most bits that a key's number has.
pub const MAX_HEIGHT: usize = 8;

/// What lengths of rows are multiples of: a vector of 512 bits.
pub const LINE: usize = 8;

/// Keys in the order of the walk. They are wiped when this is dropped, and never printed.
pub struct Leaves {
    height: usize,
    /// The step of the walk at which the first key that is here is taken: 1 if that of leaf 0 is missing.
    first: usize,
    portable: Vec<Aes128Enc>,
    /// For this machine's AES instructions, if it has them.
    #[cfg(target_arch = "x86_64")]
    hardware: Vec<RoundKeys>,
}

impl fmt::Debug for Leaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaves").field("height", &self.height).finish_non_exhaustive()
    }
}

impl Leaves {
    /// The keys of all leaves, `2^h` of them, in order; or of all but leaf 0.
    ///
    /// # Panics
    /// If it's another number of keys, or `h` isn't from 1 to [`MAX_HEIGHT`].
    pub fn new(keys: &[[u8; BLOCK]]) -> Self {
        let first = usize::from(!keys.len().is_power_of_two() || keys.len() == 1);
        let count = keys.len() + first;
        assert!(count.is_power_of_two(), "{} keys are neither all of a tree nor all but one", keys.len());
        let height = count.ilog2() as usize;
        assert!((1..=MAX_HEIGHT).contains(&height), "a tree's height is from 1 to {MAX_HEIGHT}");
        let walk = || (first..count).map(|step| &keys[gray(step) - first]);
        Self {
            height,
            first,
            portable: walk().map(|key| Aes128Enc::new(key.into())).collect(),
            #[cfg(target_arch = "x86_64")]
            hardware: walk().filter_map(RoundKeys::new).collect(),
        }
    }

    /// How many bits a leaf's number has.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Writes the sum and the planes, of the streams from block `first_block` on. Planes follow one another, plane 0
    /// first, each as long as `sum`.
    ///
    /// # Panics
    /// If `sum` isn't whole vectors of 512 bits, there isn't room for [`height`](Self::height) planes, or the block counter
    /// would pass 2^64.
    pub fn sums(&self, first_block: u64, sum: &mut [u64], planes: &mut [u64]) {
        assert!(sum.len().is_multiple_of(LINE), "rows are whole vectors of 512 bits");
        assert_eq!(planes.len(), self.height * sum.len(), "{} planes as long as the sum", self.height);
        assert!(first_block.checked_add(sum.len() as u64).is_some(), "the block counter stays below 2^64");
        #[cfg(target_arch = "x86_64")]
        if self.hardware.len() == self.portable.len() {
            match cpu::level() {
                // SAFETY: the machine has the instructions of this level.
                Level::Avx512 => return unsafe { x86::sums_avx512(self, first_block, sum, planes) },
                // SAFETY: as above.
                Level::Avx2 => return unsafe { x86::sums_avx2(self, first_block, sum, planes) },
                Level::Portable => {}
            }
        }
        cpu::run(
            #[inline(always)]
            || portable::sums(self, first_block, sum, planes),
        );
    }

    /// The plane to which the running sum is added before the key of this step is taken; none before the first.
    #[inline(always)]
    fn changes(step: usize) -> Option<usize> {
        (step > 0).then(|| step.trailing_zeros() as usize)
    }
}

/// The leaf that is taken at a step.
const fn gray(step: usize) -> usize {
    step ^ step >> 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes::Aes128Ctr;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};

    fn keys(height: usize) -> Vec<[u8; 16]> {
        noise::<u128>(height as u64, 1 << height).into_iter().map(u128::to_le_bytes).collect()
    }

    /// The sum and the planes of some leaves by their definition.
    fn expected(keys: &[[u8; 16]], first_leaf: usize, height: usize, block: u64, words: usize) -> Vec<u64> {
        let mut rows = vec![0; (height + 1) * words];
        for (leaf, key) in (first_leaf..).zip(&keys[first_leaf..]) {
            let mut stream = vec![0_u64; words];
            Aes128Ctr::new(key).fill(0, block, bytemuck::cast_slice_mut(&mut stream));
            for (row, out) in rows.chunks_exact_mut(words).enumerate() {
                if row == 0 || leaf >> (row - 1) & 1 == 1 {
                    out.iter_mut().zip(&stream).for_each(|(out, word)| *out ^= word);
                }
            }
        }
        rows
    }

    #[test]
    fn sums_and_planes_are_those_of_the_streams() {
        for height in lengths(2, std::array::from_fn::<_, MAX_HEIGHT, _>(|at| at + 1)) {
            let keys = keys(height);
            for (words, block) in [(8, 0), (16, 7), (64, 1 << 40), (72, 3), (136, 5)] {
                if cfg!(miri) && words > 8 {
                    continue;
                }
                for first in [0, 1] {
                    let leaves = Leaves::new(&keys[first..]);
                    assert_eq!(leaves.height(), height);
                    let expected = expected(&keys, first, height, block, words);
                    for level in available() {
                        let mut rows = vec![0xee; (height + 1) * words];
                        let (sum, planes) = rows.split_at_mut(words);
                        at(level, || leaves.sums(block, sum, planes));
                        assert_eq!(rows, expected, "height {height}, {words} words, from {first}, {level:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn keys_are_not_printed() {
        assert_eq!(format!("{:?}", Leaves::new(&keys(2))), "Leaves { height: 2, .. }");
    }

    #[test]
    #[should_panic(expected = "neither all of a tree nor all but one")]
    fn two_missing_keys_are_refused() {
        Leaves::new(&keys(3)[2..]);
    }

    #[test]
    #[should_panic(expected = "whole vectors")]
    fn parts_of_vectors_are_refused() {
        Leaves::new(&keys(1)).sums(0, &mut [0; 4], &mut [0; 4]);
    }
}
