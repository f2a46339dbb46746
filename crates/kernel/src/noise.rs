//! Operands for tests.

use crate::Word;

/// Words without structure, from a linear congruential generator.
pub(crate) fn noise<W: Word>(seed: u64, count: usize) -> Vec<W> {
    let mut state = seed | 1;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        W::from_u64(state >> 32 ^ state << 32)
    };
    std::iter::repeat_with(next).take(count).collect()
}
