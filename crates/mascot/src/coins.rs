//! Public random elements: the paper's `F_Rand`.

use crate::field::FieldElement;
use tacit_kernel::aes::{Aes128Ctr, BLOCK};
use tacit_session::{Error, Session};

/// Elements that nobody could foresee before all parties had committed to their parts.
///
/// A toss gives a key, and AES under it the elements. The key is public, so AES is taken for an ideal cipher here.
pub(crate) struct Coins {
    stream: Aes128Ctr,
    drawn: u64,
}

impl Coins {
    /// Tosses: two rounds, [`crate::cost::TOSS`] bytes to each other party.
    ///
    /// # Security
    /// A party that calls this commits. So it has to hold every message by then that the elements are to test.
    pub(crate) fn toss(session: &mut Session) -> Result<Self, Error> {
        let coins = session.toss(BLOCK)?;
        let key = coins.first_chunk().copied().unwrap_or_default();
        Ok(Self { stream: Aes128Ctr::new(&key), drawn: 0 })
    }

    /// The next elements.
    pub(crate) fn fill<E: FieldElement>(&mut self, out: &mut [E]) {
        E::fill(&self.stream, 0, self.drawn, out);
        self.drawn += out.len() as u64;
    }

    /// The next element.
    pub(crate) fn one<E: FieldElement>(&mut self) -> E {
        let mut one = [E::ZERO];
        self.fill(&mut one);
        one[0]
    }

    /// The sums of both lists, weighed by the next elements: the same weight for both entries of a place.
    pub(crate) fn weigh<E: FieldElement>(&mut self, left: &[E], right: &[E]) -> [E; 2] {
        const PIECE: usize = 256;
        let (mut weights, mut sums) = ([E::ZERO; PIECE], [E::ZERO; 2]);
        for (left, right) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
            let weights = &mut weights[..left.len()];
            self.fill(weights);
            for ((weight, x), y) in weights.iter().zip(left).zip(right) {
                sums[0] = sums[0].wrapping_add(weight.wrapping_mul(*x));
                sums[1] = sums[1].wrapping_add(weight.wrapping_mul(*y));
            }
        }
        sums
    }
}
