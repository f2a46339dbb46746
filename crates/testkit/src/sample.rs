//! Are these bits uniform and independent? A few hundred runs must tell.
//!
//! Two tests: the frequency of each bit; and whether some bits, and products of two of a chosen few, add up (over
//! GF(2)) to a constant in all runs. Products matter because messages are products of shares: of two that are
//! masked alike the masks cancel, and what is left is quadratic in what else was received.
//!
//! **False alarms.** For the frequency see [`Sample::check`]. For sums: a sum that takes part in products by `h`
//! pairs of independent factors is constant in all of `r` runs with a probability of (1/2 + 2^(-h-1))^r at most.
//! There are fewer than 2^(2hn + n + 1) of them with n chosen bits, and fewer than 2^c in all with c terms. With
//! n = 20 and r = c + 104, at least 256, all together are below 2^-60.

/// Bits of many runs: one row for each, all of one length.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    rows: Vec<BitRow>,
}

/// How bits fail to be uniform and independent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Flaw {
    /// A bit is the same too often.
    #[error("bit {bit} is set in {ones} of {runs} runs")]
    Biased {
        /// Which bit.
        bit: usize,
        /// How often it was 1.
        ones: usize,
        /// Of so many.
        runs: usize,
    },
    /// Some bits and products of bits add up to a constant in every run.
    #[error("these bits and products of bits add up to the same in every run: {terms:?}")]
    Dependent {
        /// The terms, each with its factors. One term of one factor is a constant bit.
        terms: Vec<Vec<usize>>,
    },
    /// A bit is set more often on one input than on another.
    #[error("bit {bit} is set in {} of {runs} runs on one input, and in {} on another", ones[0], ones[1])]
    Unlike {
        /// Which bit.
        bit: usize,
        /// How often it was 1.
        ones: [usize; 2],
        /// Of so many.
        runs: usize,
    },
    /// Some bits and products of bits add up to a constant on one input, and not on another.
    #[error("these bits and products of bits add up to the same on one input, and not on another: {terms:?}")]
    DependentOnInputs {
        /// The terms, each with its factors; one without any is 1.
        terms: Vec<Vec<usize>>,
    },
}

/// Bits that products are taken of, at most.
const MULTIPLIED: usize = 20;

/// Standard deviations that a bit's frequency may be off.
const DEVIATIONS: f64 = 7.5;

/// Runs in which a sum that is constant in one sample has to differ from that in the other.
const VIOLATIONS: usize = 40;

impl Sample {
    /// Adds a run.
    ///
    /// # Panics
    /// If it has more bits than the runs before, or fewer.
    pub fn push(&mut self, row: BitRow) {
        assert!(
            self.rows.first().is_none_or(|first| first.len() == row.len()),
            "every run has the same bits"
        );
        self.rows.push(row);
    }

    /// Runs that [`Sample::check`] needs for so many bits, of which `multiplied` are chosen.
    pub fn runs_for(bits: usize, multiplied: usize) -> usize {
        let chosen = multiplied.min(MULTIPLIED);
        (bits + chosen * chosen.saturating_sub(1) / 2 + 104).max(256)
    }

    /// Whether all bits look uniform and jointly independent. The first 20 of `multiplied` are the chosen ones.
    ///
    /// By Hoeffding's inequality the frequency of a uniform bit is so far off with a probability below
    /// 2 exp(-7.5^2 / 2) < 2^-39; for the hundred thousand bits of a suite together, below 2^-22.
    ///
    /// # Errors
    /// What is wrong with them.
    ///
    /// # Panics
    /// If there are too few runs to say anything.
    pub fn check(&self, multiplied: &[usize]) -> Result<(), Flaw> {
        let (runs, bits) = (self.rows.len(), self.bits());
        assert!(runs >= Self::runs_for(bits, multiplied.len()), "{runs} runs tell nothing of {bits} bits");
        for bit in 0..bits {
            let ones = self.rows.iter().filter(|row| row.get(bit)).count();
            let off = (ones as f64 - runs as f64 / 2.0).abs();
            // A constant bit is named as such below.
            if off > DEVIATIONS * (runs as f64).sqrt() / 2.0 && ones != 0 && ones != runs {
                return Err(Flaw::Biased { bit, ones, runs });
            }
        }
        match self.dependent(&terms(bits, multiplied)) {
            None => Ok(()),
            Some(terms) => Err(Flaw::Dependent { terms }),
        }
    }

    /// Whether another sample, of as many runs, looks like this one: bits that need not be uniform are as often set,
    /// and what adds up to a constant in the one does so in the other. The first 20 of `multiplied` are the chosen bits.
    ///
    /// **False alarms.** Of two samples alike the frequencies of a bit are so far apart with a probability below
    /// 2 exp(-7.5^2 / 2) < 2^-39, by Hoeffding's inequality. A sum that differs from a constant with probability q in each
    /// run of either sample does so in no run of the one and in v = `VIOLATIONS` of r in the other with a probability
    /// below exp(-rq) (e r q / v)^v exp(-rq), which is at most 2^-v, where rq is v/2.
    ///
    /// # Errors
    /// How they differ.
    ///
    /// # Panics
    /// If there are too few runs to say anything.
    pub fn check_alike(&self, other: &Self, multiplied: &[usize]) -> Result<(), Flaw> {
        let (runs, bits) = (self.rows.len(), self.bits());
        assert!(runs >= Self::runs_for(bits, multiplied.len()), "{runs} runs tell nothing of {bits} bits");
        assert_eq!((runs, bits), (other.rows.len(), other.bits()), "samples of the same size");
        for bit in 0..bits {
            let [one, two] = [self, other].map(|of| of.rows.iter().filter(|row| row.get(bit)).count());
            if one.abs_diff(two) as f64 > DEVIATIONS * (runs as f64 / 2.0).sqrt() {
                return Err(Flaw::Unlike { bit, ones: [one, two], runs });
            }
        }
        let terms = terms(bits, multiplied);
        for (one, two) in [(self, other), (other, self)] {
            for sum in one.dependencies(&terms) {
                let is_set = |row: &&BitRow| {
                    sum.iter().filter(|&&term| terms[term].iter().all(|&bit| row.get(bit))).count() % 2 == 1
                };
                if two.rows.iter().filter(is_set).count() >= VIOLATIONS {
                    let terms = sum.iter().map(|&term| terms[term].clone()).collect();
                    return Err(Flaw::DependentOnInputs { terms });
                }
            }
        }
        Ok(())
    }

    /// How many bits a run has.
    pub fn bits(&self) -> usize {
        self.rows.first().map_or(0, BitRow::len)
    }

    /// Terms that add up to a constant, if there are any.
    fn dependent(&self, terms: &[Vec<usize>]) -> Option<Vec<Vec<usize>>> {
        let sum = self.dependencies(terms).into_iter().next()?;
        Some(sum.into_iter().filter(|&term| term > 0).map(|term| terms[term].clone()).collect())
    }

    /// Terms that add up to 0 in every run, by their numbers: a basis of all such sums. Elimination over terms' columns,
    /// each beside a note of the terms that it is the sum of; the empty product, 1, comes first.
    fn dependencies(&self, terms: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut reduced: Vec<(usize, BitRow, BitRow)> = Vec::new();
        let mut found = Vec::new();
        for number in 0..terms.len() {
            let mut column = BitRow::default();
            self.rows.iter().for_each(|row| column.push(terms[number].iter().all(|&bit| row.get(bit))));
            let mut note = BitRow::default();
            (0..terms.len()).for_each(|other| note.push(other == number));
            for (pivot, other, other_note) in &reduced {
                if column.get(*pivot) {
                    column.add(other);
                    note.add(other_note);
                }
            }
            match (0..column.len()).find(|&run| column.get(run)) {
                Some(pivot) => reduced.push((pivot, column, note)),
                None => found.push((0..terms.len()).filter(|&term| note.get(term)).collect()),
            }
        }
        found
    }
}

/// 1, all bits, and all products of two of the first chosen ones.
fn terms(bits: usize, multiplied: &[usize]) -> Vec<Vec<usize>> {
    let chosen = &multiplied[..multiplied.len().min(MULTIPLIED)];
    let mut terms = vec![vec![]];
    terms.extend((0..bits).map(|bit| vec![bit]));
    for (place, &a) in chosen.iter().enumerate() {
        terms.extend(chosen[place + 1..].iter().map(|&b| vec![a, b]));
    }
    terms
}

/// Bits in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitRow {
    words: Vec<u64>,
    len: usize,
}

impl BitRow {
    /// Adds a bit.
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
    }

    /// Adds the first `bits` bits of a message, the lowest of each byte first.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn extend(&mut self, message: &[u8], bits: usize) {
        (0..bits).for_each(|bit| self.push(message[bit / 8] >> (bit % 8) & 1 == 1));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn get(&self, bit: usize) -> bool {
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a ^= b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn sample(bits: usize, multiplied: usize, spoil: impl Fn(&mut Vec<u8>)) -> Sample {
        let mut rng = Rng::new(1);
        let mut sample = Sample::default();
        for _ in 0..Sample::runs_for(bits, multiplied) {
            let mut bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| rng.word() as u8).collect();
            spoil(&mut bytes);
            let mut row = BitRow::default();
            row.extend(&bytes, bits);
            sample.push(row);
        }
        sample
    }

    fn dependent(terms: &[&[usize]]) -> Result<(), Flaw> {
        Err(Flaw::Dependent { terms: terms.iter().map(|term| term.to_vec()).collect() })
    }

    #[test]
    fn uniform_bits_pass() {
        for bits in [0, 1, 7, 63, 64, 65, 200, 300] {
            let chosen: Vec<usize> = (0..bits).step_by(3).collect();
            assert_eq!(sample(bits, chosen.len(), |_| ()).check(&chosen), Ok(()));
        }
    }

    #[test]
    fn constant_repeated_and_summed_bits_are_noticed() {
        assert_eq!(sample(70, 0, |bytes| bytes[1] |= 4).check(&[]), dependent(&[&[10]]));
        assert_eq!(sample(70, 0, |bytes| bytes[1] &= 0xfb).check(&[]), dependent(&[&[10]]));
        let repeated = sample(16, 0, |bytes| bytes[1] = (bytes[1] & 0xfe) | (bytes[0] & 1));
        assert_eq!(repeated.check(&[]), dependent(&[&[0], &[8]]));
        let summed = sample(300, 0, |b| b[30] = (b[30] & 0xfe) | ((b[2] ^ b[9] >> 3 ^ 1) & 1));
        assert_eq!(summed.check(&[]), dependent(&[&[16], &[75], &[240]]));
    }

    #[test]
    fn a_masked_product_passes_and_an_unmasked_sum_of_products_is_noticed() {
        let masked = |bytes: &mut Vec<u8>| bytes[2] ^= bytes[0] & bytes[1];
        assert_eq!(sample(24, 3, masked).check(&[0, 8, 16]), Ok(()));
        let bare =
            |bytes: &mut Vec<u8>| bytes[2] = (bytes[2] & 0xfe) | ((bytes[0] & bytes[1] ^ bytes[3]) & 1);
        assert_eq!(sample(32, 3, bare).check(&[0, 8, 16]), dependent(&[&[16], &[24], &[0, 8]]));
        assert_eq!(sample(32, 2, bare).check(&[16, 24]), Ok(()), "the factors are not among the chosen");
    }

    #[test]
    fn a_biased_bit_is_noticed() {
        let biased = sample(16, 0, |bytes| bytes[0] |= bytes[1] >> 1 & 1).check(&[]);
        assert!(matches!(biased, Err(Flaw::Biased { bit: 0, .. })), "{biased:?}");
    }

    #[test]
    fn bits_that_are_alike_need_not_be_uniform() {
        // A number below 3 under a mask of few bits, and one of many; the rest of the mask is 0.
        let masked = |seed: u64, number: u64, bits: u32| {
            let mut rng = Rng::new(seed);
            let mut sample = Sample::default();
            for _ in 0..Sample::runs_for(64, 1) {
                let mut row = BitRow::default();
                row.extend(&(number + (rng.word() >> (64 - bits))).to_le_bytes(), 64);
                sample.push(row);
            }
            sample
        };
        assert_eq!(masked(1, 0, 40).check_alike(&masked(2, 2, 40), &[0]), Ok(()));
        assert!(masked(1, 0, 40).check(&[0]).is_err(), "not uniform");
        assert!(matches!(
            masked(1, 0, 1).check_alike(&masked(2, 2, 1), &[0]),
            Err(Flaw::Unlike { bit: 1, runs: 256, .. })
        ));
        // Bits that are the same on one input, and differ on another.
        let pair = |seed: u64, differ: bool| {
            let mut rng = Rng::new(seed);
            let mut sample = Sample::default();
            for _ in 0..Sample::runs_for(2, 0) {
                let (bit, mut row) = (rng.one_in(2), BitRow::default());
                row.push(bit);
                row.push(bit != differ);
                sample.push(row);
            }
            sample
        };
        assert_eq!(pair(1, true).check_alike(&pair(2, true), &[]), Ok(()));
        let flaw = pair(1, true).check_alike(&pair(2, false), &[]);
        assert_eq!(flaw, Err(Flaw::DependentOnInputs { terms: vec![vec![], vec![0], vec![1]] }));
    }
}
