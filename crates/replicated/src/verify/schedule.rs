//! How a proof folds its relation: a first folding of the bits themselves, later ones of vectors over a field, and
//! a last round that is masked (Li et al. 2023, appendix C).
//!
//! **Soundness.** A wrong proof passes a round if the point at which the polynomial is compared is one at which the
//! claimed and the true one agree: at most as many as its degree, 2 lambda - 2, or 2 lambda in the last round. A point
//! is one of all but lambda (or lambda + 1) elements of the field. Added up over the rounds:
//!
//! | parameters | field | degrees | chance at most |
//! | --- | --- | --- | --- |
//! | [`ProofParams::DEFAULT`] | F_p | 254 | 254 / (2^61 - 65), less than 2^-53 |
//! | [`ProofParams::LI_2023`] | F_p | 138 | 138 / (2^61 - 33), less than 2^-53 |
//! | [`ProofParams::BOYLE_2019`] | GF(2^64) | 94 | 95 / (2^64 - 9), less than 2^-57 |
//!
//! The last one has one more for the random coefficients: wrong ANDs add up to nothing with a chance of 2^-64.

/// AND relations in a word.
const WORD: usize = 64;

/// What a relation of bits is checked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProofField {
    /// F_p: every AND's relation is a sum of four products, whose value is public (Li et al. 2023, equation 5).
    Prime,
    /// GF(2^64): every AND's relation is a sum of two products and two bits, and all are combined by random
    /// coefficients (Boyle et al. 2019).
    Binary,
    /// F_p for a p that is drawn: products of numbers, whose relation is one of polynomials ([`super::ring`]).
    Drawn,
}

impl ProofField {
    /// Products for an AND.
    const fn products(self) -> usize {
        match self {
            Self::Prime => 4,
            Self::Binary | Self::Drawn => 2,
        }
    }
}

/// How ANDs are divided into batches, and these into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProofParams {
    pub(crate) field: ProofField,
    /// Words of ANDs that a batch has at most.
    pub(crate) batch_words: usize,
    /// Blocks of the first folding.
    pub(crate) blocks: usize,
    /// Blocks of the later ones.
    pub(crate) later_blocks: usize,
}

impl ProofParams {
    /// Batches of 2^22 ANDs.
    pub(crate) const DEFAULT: Self =
        Self { field: ProofField::Prime, batch_words: 1 << 16, blocks: 64, later_blocks: 16 };
    /// Of products of numbers.
    const PRODUCTS: Self = Self { field: ProofField::Drawn, batch_words: 0, blocks: 8, later_blocks: 16 };
    /// Li et al. 2023, section 4.4: batches of 640,000 ANDs.
    pub(crate) const LI_2023: Self =
        Self { field: ProofField::Prime, batch_words: 10_000, blocks: 32, later_blocks: 8 };
    /// Boyle et al. 2019 with the parameters that Li et al. 2023 found best for it, appendix E.2.
    pub(crate) const BOYLE_2019: Self =
        Self { field: ProofField::Binary, batch_words: 10_000, blocks: 8, later_blocks: 8 };
}

/// The rounds of a batch's proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoldingSchedule {
    cut: ProofParams,
    /// Words of a block of the first round. The batch is padded with ANDs of zeros to whole blocks of whole words.
    pub(crate) block_words: usize,
    /// The length of the vectors after the first round, then after each later one; the last length is that of the masked
    /// round's.
    pub(crate) lengths: Vec<usize>,
}

impl FoldingSchedule {
    /// Of a batch with so many words of ANDs.
    pub(crate) fn of(words: usize, cut: ProofParams) -> Self {
        let block_words = words.div_ceil(cut.blocks).max(1);
        Self::folded(cut.field.products() * WORD * block_words, block_words, cut)
    }

    /// Of a batch of products whose vectors have so many elements.
    pub(crate) fn of_products(elements: usize) -> Self {
        Self::folded(elements.div_ceil(ProofParams::PRODUCTS.blocks).max(1), 0, ProofParams::PRODUCTS)
    }

    fn folded(length: usize, block_words: usize, cut: ProofParams) -> Self {
        let mut lengths = vec![length];
        while let Some(&length) = lengths.last().filter(|length| **length > cut.later_blocks) {
            lengths.push(length.div_ceil(cut.later_blocks));
        }
        Self { cut, block_words, lengths }
    }

    /// What the relation is checked over.
    pub(crate) fn field(&self) -> ProofField {
        self.cut.field
    }

    /// Seeds before those of the rounds: over GF(2^64) that of the coefficients, of products those of the bits, and of the
    /// prime and its point.
    pub(crate) fn lead(&self) -> usize {
        match self.cut.field {
            ProofField::Prime => 0,
            ProofField::Binary => 1,
            ProofField::Drawn => 2,
        }
    }

    /// Whether a round's values at the blocks' points are public: those of the first over F_p.
    pub(crate) fn is_public(&self, round: usize) -> bool {
        (round, self.cut.field) == (0, ProofField::Prime)
    }

    /// ANDs in a block of the first round.
    pub(crate) fn block_ands(&self) -> usize {
        self.block_words * WORD
    }

    /// Words of ANDs with the padding.
    pub(crate) fn padded_words(&self) -> usize {
        self.cut.blocks * self.block_words
    }

    /// How many rounds: the prover sends values in each, and a point is drawn after each.
    pub(crate) fn rounds(&self) -> usize {
        self.lengths.len() + 1
    }

    /// Blocks of a round, from 0.
    pub(crate) fn blocks(&self, round: usize) -> usize {
        match round {
            0 => self.cut.blocks,
            round if self.is_last(round) => self.lengths[round - 1],
            _ => self.cut.later_blocks,
        }
    }

    /// Whether a round is the last one, whose polynomials have a random value at 0.
    pub(crate) fn is_last(&self, round: usize) -> bool {
        round + 1 == self.rounds()
    }

    /// Values of the polynomial that the prover shares in a round. Where those at the blocks aren't public, that at 1
    /// follows from the sum.
    pub(crate) fn values(&self, round: usize) -> usize {
        let blocks = self.blocks(round);
        match round {
            round if self.is_public(round) => blocks - 1,
            round if self.is_last(round) => 2 * blocks,
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
    const DEGREES: [(ProofParams, usize); 3] =
        [(ProofParams::DEFAULT, 254), (ProofParams::LI_2023, 138), (ProofParams::BOYLE_2019, 94)];

    fn degrees(schedule: &FoldingSchedule) -> usize {
        let degree = |round| 2 * schedule.blocks(round) - if schedule.is_last(round) { 0 } else { 2 };
        (0..schedule.rounds()).map(degree).sum()
    }

    #[test]
    fn a_full_batch_has_the_sequence_of_the_bound() {
        let full = FoldingSchedule::of(ProofParams::DEFAULT.batch_words, ProofParams::DEFAULT);
        assert_eq!(full.lengths, [1 << 18, 1 << 14, 1 << 10, 64, 4]);
        let blocks: Vec<usize> = (0..full.rounds()).map(|round| full.blocks(round)).collect();
        assert_eq!(blocks, [64, 16, 16, 16, 16, 4]);
        assert_eq!(degrees(&full), 254);
        assert_eq!(full.values_before(full.rounds()), 63 + 4 * 30 + 8);
    }

    #[test]
    fn the_papers_full_batches_are_640_000_ands() {
        let li = FoldingSchedule::of(ProofParams::LI_2023.batch_words, ProofParams::LI_2023);
        assert_eq!(li.lengths, [80_128, 10_016, 1252, 157, 20, 3]);
        assert_eq!((ProofParams::LI_2023.batch_words * WORD, degrees(&li)), (640_000, 62 + 5 * 14 + 6));
        assert_eq!(li.values_before(li.rounds()), 31 + 5 * 14 + 6);
        let boyle = FoldingSchedule::of(ProofParams::BOYLE_2019.batch_words, ProofParams::BOYLE_2019);
        assert_eq!(boyle.lengths, [160_000, 20_000, 2500, 313, 40, 5]);
        assert_eq!((ProofParams::BOYLE_2019.batch_words * WORD, degrees(&boyle)), (640_000, 6 * 14 + 10));
        assert_eq!(boyle.values_before(boyle.rounds()), 6 * 14 + 10);
    }

    #[test]
    fn no_batch_is_worse_than_the_bound() {
        for (cut, bound) in DEGREES {
            let all = (0..=cut.batch_words).map(|words| {
                let schedule = FoldingSchedule::of(words, cut);
                assert!(schedule.padded_words() >= words);
                degrees(&schedule)
            });
            assert_eq!(all.max(), Some(bound), "{cut:?}");
            let (wrong, points, bits) = match cut.field {
                ProofField::Prime => (bound, 2_f64.powi(61) - 1.0, 53),
                ProofField::Binary => (bound + 1, 2_f64.powi(64), 57),
                ProofField::Drawn => unreachable!("products have a bound of their own"),
            };
            let chance = wrong as f64 / (points - (cut.blocks.max(cut.later_blocks) + 1) as f64);
            assert!(chance <= 2_f64.powi(-bits), "{cut:?}");
            // A sum of wrong ANDs can't wrap around the field.
            assert!(cut.batch_words * WORD < 1 << 61);
        }
    }
}
