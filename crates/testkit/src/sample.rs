//! Are these bits uniform and independent? A few runs must tell.

/// Bits of many runs: one row for each run, one column for each bit. All rows are of one length.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    rows: Vec<Vec<u64>>,
    columns: usize,
}

/// How bits fail to be uniform and independent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Flaw {
    /// A bit is the same too often.
    #[error("bit {column} is set in {ones} of {runs} runs")]
    Biased {
        /// Which bit.
        column: usize,
        /// How often it was 1.
        ones: usize,
        /// Of so many.
        runs: usize,
    },
    /// Some bits add up to a constant in every run.
    #[error("bits {columns:?} add up to the same bit in every run")]
    Dependent {
        /// Which bits. One alone is constant.
        columns: Vec<usize>,
    },
}

/// Standard deviations that a bit's frequency may be off. By Hoeffding's inequality a uniform bit is so with a
/// probability below 2 exp(-7.5^2 / 2) < 2^-39: over the ten thousands of bits of a suite, below 2^-23.
const DEVIATIONS: f64 = 7.5;

impl Sample {
    /// A run's bits: the lowest `bits` of these words.
    ///
    /// # Panics
    /// If it has more or fewer than the runs before.
    pub fn push(&mut self, row: &BitRow) {
        assert!(self.rows.is_empty() || self.columns == row.bits, "every run has the same bits");
        self.columns = row.bits;
        self.rows.push(row.words.clone());
    }

    /// Runs that [`Sample::check`] needs for so many bits: by 64 more than there are bits, so that uniform ones
    /// look dependent with a probability below 2^-62, and enough that a bit can show its bias.
    pub fn runs_for(bits: usize) -> usize {
        (bits + 64).max(256)
    }

    /// Whether all bits look uniform and jointly independent, as far as two tests tell: each bit's frequency, and
    /// whether any bits add up (over GF(2)) to a constant.
    ///
    /// # Errors
    /// What is wrong with them.
    ///
    /// # Panics
    /// If there are too few runs to say anything.
    pub fn check(&self) -> Result<(), Flaw> {
        let runs = self.rows.len();
        assert!(runs >= Self::runs_for(self.columns), "{runs} runs tell nothing of {} bits", self.columns);
        for column in 0..self.columns {
            let ones = self.rows.iter().filter(|row| row[column / 64] >> (column % 64) & 1 == 1).count();
            let off = (ones as f64 - runs as f64 / 2.0).abs();
            if off > DEVIATIONS * (runs as f64).sqrt() / 2.0 && ones != 0 && ones != runs {
                return Err(Flaw::Biased { column, ones, runs });
            }
        }
        match self.dependent() {
            None => Ok(()),
            Some(columns) => Err(Flaw::Dependent { columns }),
        }
    }

    /// Columns that add up to a constant, if there are any: elimination over columns, each beside a note of which
    /// ones have been added to it.
    fn dependent(&self) -> Option<Vec<usize>> {
        let runs = self.rows.len();
        // The constant one comes first, and carries no note.
        let mut reduced: Vec<(usize, Vec<u64>, Vec<u64>)> = Vec::new();
        for column in 0..=self.columns {
            let mut bits = vec![0; runs.div_ceil(64)];
            for (run, row) in self.rows.iter().enumerate() {
                let bit = if column == 0 { 1 } else { row[(column - 1) / 64] >> ((column - 1) % 64) & 1 };
                bits[run / 64] |= bit << (run % 64);
            }
            let mut note = vec![0; (self.columns + 1).div_ceil(64)];
            note[column / 64] |= 1 << (column % 64);
            for (pivot, other, other_note) in &reduced {
                if bits[pivot / 64] >> (pivot % 64) & 1 == 1 {
                    bits.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
                    note.iter_mut().zip(other_note).for_each(|(a, b)| *a ^= b);
                }
            }
            let Some(pivot) = (0..runs).find(|run| bits[run / 64] >> (run % 64) & 1 == 1) else {
                let noted = (1..=self.columns).filter(|at| note[at / 64] >> (at % 64) & 1 == 1);
                return Some(noted.map(|at| at - 1).collect());
            };
            reduced.push((pivot, bits, note));
        }
        None
    }
}

/// The bits of one run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitRow {
    words: Vec<u64>,
    bits: usize,
}

impl BitRow {
    /// Adds the first `bits` bits of a message.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn extend(&mut self, message: &[u8], bits: usize) {
        for bit in 0..bits {
            if self.bits.is_multiple_of(64) {
                self.words.push(0);
            }
            let set = u64::from(message[bit / 8] >> (bit % 8) & 1);
            self.words[self.bits / 64] |= set << (self.bits % 64);
            self.bits += 1;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bits
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn sample(bits: usize, spoil: impl Fn(&mut Vec<u8>)) -> Sample {
        let mut rng = Rng::new(1);
        let mut sample = Sample::default();
        for _ in 0..Sample::runs_for(bits) {
            let mut bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| rng.word() as u8).collect();
            spoil(&mut bytes);
            let mut row = BitRow::default();
            row.extend(&bytes, bits);
            sample.push(&row);
        }
        sample
    }

    #[test]
    fn uniform_bits_pass() {
        for bits in [0, 1, 7, 63, 64, 65, 200, 300] {
            assert_eq!(sample(bits, |_| ()).check(), Ok(()));
        }
    }

    #[test]
    fn constant_repeated_and_summed_bits_are_noticed() {
        let dependent = |columns: &[usize]| Err(Flaw::Dependent { columns: columns.to_vec() });
        assert_eq!(sample(70, |bytes| bytes[1] |= 4).check(), dependent(&[10]));
        assert_eq!(sample(70, |bytes| bytes[1] &= 0xfb).check(), dependent(&[10]));
        assert_eq!(sample(16, |b| b[1] = (b[1] & 0xfe) | (b[0] & 1)).check(), dependent(&[0, 8]));
        let summed = sample(300, |b| b[30] = (b[30] & 0xfe) | ((b[2] ^ b[9] >> 3 ^ 1) & 1));
        assert_eq!(summed.check(), dependent(&[16, 75, 240]));
    }

    #[test]
    fn a_biased_bit_is_noticed() {
        let biased = sample(16, |bytes| bytes[0] |= bytes[1] >> 1 & 1).check();
        assert!(matches!(biased, Err(Flaw::Biased { column: 0, .. })), "{biased:?}");
    }
}
