//! Challenges: where the points come from at which proofs are compared.
//!
//! A prover's verifiers draw a seed for each round from the key that they share and the prover doesn't have. The right
//! verifier sends the prover a round's seed, once the prover's message of that round is there.
//!
//! That verifier must not be able to give the prover another seed than the left one uses: it would learn a linear
//! function of what it shouldn't know. So the left verifier commits to all seeds first. They form a chain: the seed of
//! a round is the hash of the next round's, and the hash of the first seed is the anchor, which the prover has from the
//! beginning. A seed's hash says nothing of the seed, so no point is known before its time. Nothing secret is derived
//! from the anchor.
//!
//! The anchor also goes from the left verifier to the right one, as its word that it holds the batch: everything that
//! the prover sent it for the ANDs. Without that word no seed is released. Otherwise a prover could keep messages back
//! until it has a point, and choose those whose errors cancel there.

use super::field::BaseField;
use super::part::Reader;
use crate::planted::{Mistake, planted};
use sha2::{Digest, Sha256};
use tacit_engine::Error;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::gf64::Gf64;
use tacit_session::Session;
use tacit_threeparty::next;
use zeroize::Zeroizing;

/// A seed, or the anchor.
pub(crate) type Seed = [u8; 32];

/// The seeds of all rounds, from that of the last one.
pub(crate) fn chain(last: &Seed, rounds: usize) -> Zeroizing<Vec<Seed>> {
    let mut seeds = Zeroizing::new(Vec::with_capacity(rounds));
    seeds.push(*last);
    for _ in 1..rounds {
        let next = before(&seeds[seeds.len() - 1]);
        seeds.push(next);
    }
    seeds.reverse();
    seeds
}

/// What stands before a seed in its chain: the seed of the round before, or the anchor.
pub(crate) fn before(seed: &Seed) -> Seed {
    Sha256::new_with_prefix(b"tacit proof seed 1").chain_update(seed).finalize().into()
}

/// Bytes of the left verifier's word to the right one, at this age of a batch.
pub(super) fn word_bytes(age: usize) -> usize {
    if age == 0 && !planted(Mistake::LeftWordUnawaited) { size_of::<Seed>() } else { 0 }
}

/// Appends the left verifier's word to the right one that it holds the batch.
pub(super) fn give_word(anchor: &Seed, out: &mut Vec<u8>) {
    out.extend(&anchor[..word_bytes(0)]);
}

/// Takes that word. The right verifier has the seeds itself, so it knows what the word has to be.
pub(super) fn take_word(
    first: &Seed,
    reader: &mut Reader<'_>,
    prover: usize,
    session: &mut Session,
) -> Result<(), Error> {
    if word_bytes(0) == 0 || reader.take() == before(first) {
        return Ok(());
    }
    let (left, prover) = (session.name(next(prover)), session.name(prover));
    let what = format!("{left} doesn't say that it holds what {prover} computed as both verifiers drew it");
    Err(session.reject(&what).into())
}

/// Takes the next seed, which must be the one that the left verifier has committed to: the one before is its hash.
pub(super) fn take_seed(
    last: &mut Seed,
    reader: &mut Reader<'_>,
    session: &mut Session,
) -> Result<(), Error> {
    let seed = reader.take();
    if before(&seed) != *last && !planted(Mistake::SeedsUnchecked) {
        let what = "a seed of a proof's coins is not the one that was committed to";
        return Err(session.reject(what).into());
    }
    *last = seed;
    Ok(())
}

/// What a point is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChallengeId {
    pub(crate) prover: usize,
    pub(crate) batch: u32,
    pub(crate) round: usize,
    pub(crate) repetition: usize,
}

/// A point of a field from a round's seed, none of `0..=blocks`: the values there are those of the vectors. Within 2^-66
/// of uniform in F_p, and within 2^-63 in GF(2^64).
pub(crate) fn point<B: BaseField>(session: &[u8; 32], seed: &Seed, place: ChallengeId, blocks: usize) -> B {
    let mut hash = Sha256::new_with_prefix(b"tacit proof point 1");
    hash.update(session);
    let repetition = if planted(Mistake::SamePoints) { 0 } else { place.repetition };
    for number in [place.prover, place.batch as usize, place.round, repetition] {
        hash.update((number as u64).to_le_bytes());
    }
    let constant = planted(Mistake::ConstantChallenge) || planted(Mistake::ConstantRound) && place.round == 1;
    let seed = if constant { &Seed::default() } else { seed };
    let digest = hash.chain_update(seed).finalize();
    let excluded = blocks as u128 + 1;
    let (drawn, _) = digest.split_at(16);
    let drawn = drawn.iter().rev().fold(0_u128, |value, byte| value << 8 | u128::from(*byte));
    B::element((drawn % (B::ORDER - excluded) + excluded) as u64)
}

/// Random coefficients of a batch's ANDs, from the first seed: a stream whose key is its hash.
pub(crate) fn coefficients(
    session: &[u8; 32],
    seed: &Seed,
    prover: usize,
    batch: u32,
    count: usize,
) -> Vec<Gf64> {
    let mut hash = Sha256::new_with_prefix(b"tacit proof coefficients 1");
    hash.update(session);
    hash.update((prover as u64).to_le_bytes());
    hash.update(u64::from(batch).to_le_bytes());
    let key: Seed = hash.chain_update(seed).finalize().into();
    let key = Aes128Ctr::new(&std::array::from_fn(|at| key[at]));
    let mut coefficients = vec![Gf64::ZERO; count];
    key.fill(0, 0, bytemuck::cast_slice_mut(&mut coefficients));
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_kernel::Element;
    use tacit_kernel::field::Fp61;

    #[test]
    fn every_seed_is_checked_by_the_one_before() {
        let seeds = chain(&[7; 32], 4);
        assert_eq!((seeds.len(), seeds[3]), (4, [7; 32]));
        assert!(seeds.windows(2).all(|pair| before(&pair[1]) == pair[0]));
    }

    #[test]
    fn points_differ_by_all_that_they_are_for_and_are_none_of_the_known_ones() {
        let place = ChallengeId { prover: 1, batch: 2, round: 3, repetition: 0 };
        let mut points: Vec<Fp61> = vec![point(&[0; 32], &[0; 32], place, 64)];
        points.push(point(&[1; 32], &[0; 32], place, 64));
        points.push(point(&[0; 32], &[1; 32], place, 64));
        points.push(point(&[0; 32], &[0; 32], ChallengeId { prover: 2, ..place }, 64));
        points.push(point(&[0; 32], &[0; 32], ChallengeId { batch: 3, ..place }, 64));
        points.push(point(&[0; 32], &[0; 32], ChallengeId { round: 4, ..place }, 64));
        points.push(point(&[0; 32], &[0; 32], ChallengeId { repetition: 1, ..place }, 64));
        let distinct: std::collections::HashSet<u128> = points.iter().map(|point| point.to_u128()).collect();
        assert_eq!(distinct.len(), points.len());
        assert!(points.iter().all(|point| point.to_u128() > 64));
    }

    #[test]
    fn coefficients_differ_by_all_that_they_are_for() {
        let first = coefficients(&[0; 32], &[0; 32], 1, 2, 3);
        let others = [
            coefficients(&[1; 32], &[0; 32], 1, 2, 3),
            coefficients(&[0; 32], &[1; 32], 1, 2, 3),
            coefficients(&[0; 32], &[0; 32], 2, 2, 3),
            coefficients(&[0; 32], &[0; 32], 1, 3, 3),
        ];
        assert!(others.iter().all(|other| other[0] != first[0]));
        assert!(first[0] != first[1] && first[1] != first[2]);
    }
}
