//! How a proof shrinks its relation: a first compression of the bits themselves, later ones of vectors over F_p, and a
//! last round that is masked (Li et al. 2023, appendix C).
//!
//! **Soundness.** A wrong proof passes a round if the point at which the polynomial is compared is one at which the
//! claimed and the true one agree: at most as many as its degree, 2 lambda - 2, or 2 lambda in the last round. A point
//! is one of p - lambda (or p - lambda - 1), so the chance is at most the sum of the degrees over p - 65: at most
//! 254 / (2^61 - 65), which is less than 2^-53.

/// AND relations in a word.
const WORD: usize = 64;

/// Blocks of the first compression.
pub(crate) const BLOCKS: usize = 64;

/// Blocks of the later ones.
pub(crate) const LATER_BLOCKS: usize = 16;

/// Words of ANDs that a batch has at most: 2^22 ANDs.
pub(crate) const BATCH_WORDS: usize = 1 << 16;

/// The rounds of a batch's proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// Words of a block of the first round. The batch is padded with ANDs of zeros to whole blocks of whole words.
    pub(crate) block_words: usize,
    /// The length of the vectors after the first round, then after each later one; the last length is that of the masked
    /// round's.
    pub(crate) lengths: Vec<usize>,
}

impl Sequence {
    /// Of a batch with so many words of ANDs.
    pub(crate) fn of(words: usize) -> Self {
        let block_words = words.div_ceil(BLOCKS).max(1);
        let mut lengths = vec![4 * WORD * block_words];
        while let Some(&length) = lengths.last().filter(|length| **length > LATER_BLOCKS) {
            lengths.push(length.div_ceil(LATER_BLOCKS));
        }
        Self { block_words, lengths }
    }

    /// ANDs in a block of the first round.
    pub(crate) fn block_ands(&self) -> usize {
        self.block_words * WORD
    }

    /// How many rounds: the prover sends values in each, and a point is drawn after each.
    pub(crate) fn rounds(&self) -> usize {
        self.lengths.len() + 1
    }

    /// Blocks of a round, from 0.
    pub(crate) fn blocks(&self, round: usize) -> usize {
        match round {
            0 => BLOCKS,
            round if round + 1 == self.rounds() => self.lengths[round - 1],
            _ => LATER_BLOCKS,
        }
    }

    /// Whether a round is the last one, whose polynomials have a random value at 0.
    pub(crate) fn is_last(&self, round: usize) -> bool {
        round + 1 == self.rounds()
    }

    /// Values of the polynomial that the prover shares in a round. In the first the values at the blocks' points are
    /// public; in the later ones that at 1 follows from the sum.
    pub(crate) fn values(&self, round: usize) -> usize {
        let blocks = self.blocks(round);
        match round {
            0 => blocks - 1,
            _ if self.is_last(round) => 2 * blocks,
            _ => 2 * blocks - 2,
        }
    }

    /// Values of all rounds before this one.
    pub(crate) fn values_before(&self, round: usize) -> usize {
        (0..round).map(|round| self.values(round)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most that the degrees of a proof's polynomials add up to.
    const DEGREES: usize = 254;

    fn degrees(sequence: &Sequence) -> usize {
        let degree = |round| 2 * sequence.blocks(round) - if sequence.is_last(round) { 0 } else { 2 };
        (0..sequence.rounds()).map(degree).sum()
    }

    #[test]
    fn a_full_batch_has_the_sequence_of_the_bound() {
        let full = Sequence::of(BATCH_WORDS);
        assert_eq!(full.lengths, [1 << 18, 1 << 14, 1 << 10, 64, 4]);
        let blocks: Vec<usize> = (0..full.rounds()).map(|round| full.blocks(round)).collect();
        assert_eq!(blocks, [64, 16, 16, 16, 16, 4]);
        assert_eq!(degrees(&full), DEGREES);
        assert_eq!(full.values_before(full.rounds()), 63 + 4 * 30 + 8);
    }

    /// 2^-53: a wrong proof passes with a chance of at most `DEGREES / (2^61 - 65)`.
    #[test]
    fn no_batch_is_worse_than_the_bound() {
        for words in 0..=BATCH_WORDS {
            let sequence = Sequence::of(words);
            assert!(degrees(&sequence) <= DEGREES, "{words} words: {sequence:?}");
            assert!(sequence.block_words * BLOCKS >= words);
        }
        assert!((DEGREES as f64) / ((1_u64 << 61) - 65) as f64 <= 2_f64.powi(-53));
        // A sum of wrong ANDs can't wrap around the field.
        const { assert!((BATCH_WORDS * WORD) < 1 << 61) }
    }
}
