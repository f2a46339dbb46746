//! Numbers for tests that have to be the same in every run. No secret, and no use outside of tests.

use tacit_program::Modulus;

/// A generator of 64-bit words (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014). Equal seeds give equal sequences.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `bound`, which isn't 0. Small ones come slightly more often, by less than 2^-32 for bounds
    /// below 2^32.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// Whether something of a probability of one in `n` happens.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// An element of a modulus, often an end.
    pub fn element(&mut self, modulus: Modulus) -> u128 {
        match self.below(6) {
            0 => modulus.last(),
            1 => modulus.reduce_unsigned(self.below(3) as u128),
            2 => modulus.last() / 2,
            _ => modulus.reduce_unsigned(u128::from(self.word()) << 64 | u128::from(self.word())),
        }
    }

    /// A number from `lo` to `hi`, which are at most 2^64 apart: often an end or near zero, where faults are.
    pub fn edgy(&mut self, lo: i128, hi: i128) -> i128 {
        match self.below(6) {
            0 => lo,
            1 => hi,
            2 => (self.below(5) as i128 - 2).clamp(lo, hi),
            _ => lo + i128::from(self.word()) % (hi - lo + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_in_their_bounds() {
        let (mut a, mut b) = (Rng::new(5), Rng::new(5));
        for _ in 0..1000 {
            let number = a.edgy(-3, 9);
            assert!((-3..=9).contains(&number));
            assert_eq!(number, b.edgy(-3, 9));
        }
        assert_ne!(Rng::new(1).word(), Rng::new(2).word());
    }
}
