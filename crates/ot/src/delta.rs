//! The sender's secret.

use crate::params::LAMBDA;
use crate::planted::{Mistake, planted};
use tacit_session::{Entropy, Error};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// What the two rows of each OT differ by: 128 random bits, never all zero, wiped when dropped, never printed.
///
/// With a difference of zero both values of every OT would be masked alike, and a receiver would learn both. So there is no
/// way to make one but to draw it.
///
/// # Security
/// It must not be a key of anything else, such as of MACs. A malicious receiver may guess some of its bits, and learns by
/// the run's going on that it was right.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Delta(u128);

impl std::fmt::Debug for Delta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Delta")
    }
}

impl Delta {
    /// A random one.
    pub(crate) fn draw(entropy: &mut dyn Entropy) -> Result<Self, Error> {
        if planted(Mistake::ZeroDelta) {
            return Ok(Self(0));
        }
        loop {
            let mut bytes = [0; 16];
            entropy.fill(&mut bytes)?;
            let bits = u128::from_le_bytes(bytes);
            bytes.zeroize();
            if bits != 0 {
                return Ok(Self(bits));
            }
        }
    }

    /// All bits.
    pub(crate) fn bits(&self) -> u128 {
        self.0
    }

    /// The bits from `first` on, `count` of them, 8 at most.
    pub(crate) fn block(&self, first: usize, count: usize) -> usize {
        (self.0 >> first) as usize & ((1 << count) - 1)
    }

    /// What the base OTs choose: of each level of each tree the side on which the missing leaf isn't. A tree's first level
    /// decides on the highest bit of its block.
    pub(crate) fn choices(&self, heights: impl Iterator<Item = usize>) -> Zeroizing<Vec<u8>> {
        // Never moved to a larger place, which would leave them behind.
        let mut choices = Zeroizing::new(Vec::with_capacity(LAMBDA));
        let mut first = 0;
        for height in heights {
            let block = self.block(first, height);
            choices.extend((0..height).rev().map(|bit| 1 ^ (block >> bit & 1) as u8));
            first += height;
        }
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros first, then ones.
    struct Late(usize);

    impl Entropy for Late {
        fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
            out.fill(u8::from(self.0 == 0));
            self.0 = self.0.saturating_sub(1);
            Ok(())
        }
    }

    #[test]
    fn zero_is_drawn_again() {
        let delta = Delta::draw(&mut Late(3)).unwrap();
        assert_eq!(delta.bits(), u128::from_le_bytes([1; 16]));
        assert_eq!(format!("{delta:?}"), "Delta");
    }

    #[test]
    fn blocks_and_choices_are_its_bits() {
        let delta = Delta(0b1_1001);
        assert_eq!([delta.block(0, 2), delta.block(2, 3), delta.block(5, 8)], [1, 6, 0]);
        assert_eq!(**delta.choices([2, 3].into_iter()), [1, 0, 0, 0, 1]);
    }
}
