//! Operands for tests, and their lengths.

use crate::Element;

/// A test's lengths; where an interpreter runs it, which takes a thousand times as long, those up to `most` alone.
pub(crate) fn lengths<const N: usize>(most: usize, all: [usize; N]) -> impl Iterator<Item = usize> + Clone {
    all.into_iter().filter(move |&length| !cfg!(miri) || length <= most)
}

/// Elements without structure, from a linear congruential generator.
pub(crate) fn noise<E: Element>(seed: u64, count: usize) -> Vec<E> {
    let mut state = seed | 1;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let low = state >> 32 ^ state << 32;
        E::from_u128(u128::from(low.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(low))
    };
    std::iter::repeat_with(next).take(count).collect()
}
