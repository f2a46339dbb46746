//! What the seeds of a proof give: bits, a prime, points. Every one is hashed from its seed under a label of its own, with
//! the session, the prover, the batch and the repetition.

use super::super::seeds::Seed;
use super::statement::{Operation, Picked};
use crate::planted::{Mistake, planted};
use sha2::{Digest, Sha256};
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::prime::Prime;

/// What a proof's coins are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProofId<'a> {
    pub(crate) session: &'a [u8; 32],
    pub(crate) prover: usize,
    pub(crate) batch: u32,
    pub(crate) repetition: usize,
}

impl ProofId<'_> {
    /// Of the first repetition, with this mistake.
    fn unless(self, mistake: Mistake) -> Self {
        if planted(mistake) { Self { repetition: 0, ..self } } else { self }
    }

    fn hash(&self, label: &str, round: usize, seed: &Seed) -> Seed {
        let mut hash = Sha256::new_with_prefix(label);
        hash.update(self.session);
        for number in [self.prover, self.batch as usize, self.repetition, round] {
            hash.update((number as u64).to_le_bytes());
        }
        hash.chain_update(seed).finalize().into()
    }

    /// The words of 64 bits of every row and column of every operation that is proved, from the first seed.
    pub(crate) fn bits(&self, seed: &Seed, operations: impl IntoIterator<Item = Operation>) -> Vec<Picked> {
        let key = self.unless(Mistake::SameBits).hash("tacit ring proof bits 1", 0, seed);
        let key = Aes128Ctr::new(&std::array::from_fn(|at| key[at]));
        let mut next = 0;
        let mut words = |count: usize| {
            let mut words = vec![0_u64; count];
            key.fill(0, next, bytemuck::cast_slice_mut(&mut words));
            next += words.len().div_ceil(2) as u64;
            words
        };
        operations
            .into_iter()
            .map(|operation| operation.grid())
            .map(|(rows, columns)| Picked { rows: words(rows), columns: words(columns) })
            .collect()
    }

    /// A prime between 2^60 and 2^61, uniform among them, and an element of its field, within 2^-67 of uniform: from the
    /// second seed.
    pub(crate) fn field(&self, seed: &Seed) -> (Prime, u64) {
        let id = self.unless(Mistake::SamePrime);
        let key = id.hash("tacit ring proof prime 1", 0, seed);
        let key = Aes128Ctr::new(&std::array::from_fn(|at| key[at]));
        let candidate = |block: u64| {
            let mut drawn = [0; 8];
            key.fill(0, block, &mut drawn);
            Prime::new(u64::from_le_bytes(drawn) >> 4 | 1 << 60)
        };
        let Some(prime) = (0..).find_map(candidate) else { unreachable!("one number in 42 is a prime") };
        let point = id.element("tacit ring proof chi 1", 0, seed, &prime, 0);
        (prime, point)
    }

    /// The point of a round of folding, none of `0..=blocks`: the values there are those of the vectors.
    pub(crate) fn point(&self, round: usize, seed: &Seed, prime: &Prime, blocks: usize) -> u64 {
        self.element("tacit ring proof point 1", round, seed, prime, blocks as u64 + 1)
    }

    /// An element from `first` on, within 2^-67 of uniform.
    fn element(&self, label: &str, round: usize, seed: &Seed, prime: &Prime, first: u64) -> u64 {
        let digest = self.hash(label, round, seed);
        let drawn = u128::from_le_bytes(std::array::from_fn(|at| digest[at]));
        (drawn % u128::from(prime.order() - first)) as u64 + first
    }
}
