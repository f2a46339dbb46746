//! What prover and verifiers draw from the keys that two of them share. All is addressed by the batch.

use super::field::{BaseField, Field};
use super::schedule::FoldingSchedule;
use super::seeds::Seed;
use crate::planted::{Mistake, planted};
use crate::step;
use tacit_kernel::prime::Prime;
use tacit_session::{Draw, Session};
use tacit_threeparty::{next, prev};
use zeroize::Zeroizing;

/// Blocks of a stream that a batch has for itself.
const BATCH_BLOCKS: u64 = 1 << 16;

/// Of these, what a repetition has.
const REPETITION_BLOCKS: u64 = 1 << 12;

/// A repetition of a batch's proofs: the batch's number and its own.
pub(super) type Place = (u32, usize);

/// The left verifier's shares of the values of a round: the stream of the key that it has in common with the prover, who
/// is this party's `peer` or the other way round. The first round's are for all repetitions.
pub(super) fn shares<F: Field>(
    session: &mut Session,
    peer: usize,
    schedule: &FoldingSchedule,
    place: Place,
    round: usize,
) -> Vec<F> {
    let first = block(place) + (F::DEGREE * schedule.values_before(round)) as u64;
    elements(session, peer, step::PROOF_SHARE, first, schedule.values(round))
}

/// The random value at 0 of the last round: on the left (`step::PROOF_LEFT_MASK`) from the key of prover and left
/// verifier, on the right (`step::PROOF_RIGHT_MASK`) from that of prover and right verifier.
pub(super) fn mask<F: Field>(session: &mut Session, peer: usize, part: u16, place: Place) -> F {
    let drawn = elements(session, peer, part, block(place), 1);
    if planted(Mistake::Unmasked) { F::zero() } else { drawn[0] }
}

/// Both, as the prover.
pub(super) fn masks<F: Field>(session: &mut Session, place: Place) -> [F; 2] {
    let (left, right) = (next(session.me()), prev(session.me()));
    [(left, step::PROOF_LEFT_MASK), (right, step::PROOF_RIGHT_MASK)]
        .map(|(peer, part)| mask(session, peer, part, place))
}

/// The seed of the last round, from the key that the verifiers share; or the salt of a digest, from that of prover and
/// verifier.
pub(super) fn seed(session: &mut Session, peer: usize, part: u16, batch: u32) -> Zeroizing<Seed> {
    let mut seed = Zeroizing::new(Seed::default());
    session.stream(peer).fill(Draw { part, op: 0 }, block((batch, 0)), seed.as_mut_slice());
    seed
}

fn elements<F: Field>(session: &mut Session, peer: usize, part: u16, block: u64, count: usize) -> Vec<F> {
    let mut parts = vec![F::Base::element(0); F::DEGREE * count];
    F::Base::draw(session.stream(peer), Draw { part, op: 0 }, block, &mut parts);
    parts.chunks_exact(F::DEGREE).map(F::of).collect()
}

/// What the left verifier's shares of the quotients of a proof of products come from: the key that it has in common with
/// the prover.
pub(super) fn quotients<const N: usize>(
    session: &mut Session,
    peer: usize,
    place: Place,
) -> Zeroizing<[u8; N]> {
    let place = if planted(Mistake::SameQuotientShares) { (place.0, 0) } else { place };
    let mut drawn = Zeroizing::new([0; N]);
    session.stream(peer).fill(Draw { part: step::RING_QUOTIENT, op: 0 }, block(place), drawn.as_mut_slice());
    drawn
}

/// As [`shares`], of a proof of products.
pub(super) fn ring_shares(
    session: &mut Session,
    peer: usize,
    schedule: &FoldingSchedule,
    place: Place,
    round: usize,
    prime: &Prime,
) -> Vec<u64> {
    let first = block(place) + schedule.values_before(round) as u64;
    residues(session, peer, step::RING_SHARE, first, schedule.values(round), prime)
}

/// As [`mask`], of a proof of products.
pub(super) fn ring_mask(session: &mut Session, peer: usize, part: u16, place: Place, prime: &Prime) -> u64 {
    let drawn = residues(session, peer, part, block(place), 1, prime);
    if planted(Mistake::Unmasked) { 0 } else { drawn[0] }
}

/// Both, as the prover.
pub(super) fn ring_masks(session: &mut Session, place: Place, prime: &Prime) -> [u64; 2] {
    let (left, right) = (next(session.me()), prev(session.me()));
    [(left, step::RING_LEFT_MASK), (right, step::RING_RIGHT_MASK)]
        .map(|(peer, part)| ring_mask(session, peer, part, place, prime))
}

/// Elements of a prime field, a block of 128 bits each: within 2^-69 of uniform.
fn residues(
    session: &mut Session,
    peer: usize,
    part: u16,
    block: u64,
    count: usize,
    prime: &Prime,
) -> Vec<u64> {
    let mut drawn = Zeroizing::new(vec![0_u8; 16 * count]);
    session.stream(peer).fill(Draw { part, op: 0 }, block, &mut drawn);
    let residue = |bytes: &[u8; 16]| (u128::from_le_bytes(*bytes) % u128::from(prime.order())) as u64;
    drawn.as_chunks().0.iter().map(residue).collect()
}

/// The first block of a repetition's draws.
fn block((batch, repetition): Place) -> u64 {
    u64::from(batch) * BATCH_BLOCKS + repetition as u64 * REPETITION_BLOCKS
}
