//! What prover and verifiers draw from the keys that two of them share. All is addressed by the batch.

use super::field::Field;
use super::schedule::FoldingSchedule;
use super::seeds::Seed;
use crate::planted::{Mistake, planted};
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::Gf64;
use tacit_session::{Draw, Session, step};
use zeroize::Zeroizing;

/// Blocks of a stream that a batch has for itself.
const BATCH_BLOCKS: u64 = 1 << 16;

/// Of these, what a repetition has.
const REPETITION_BLOCKS: u64 = 1 << 12;

/// The left verifier's shares of the values of a round: the stream of the key that it has in common with the prover, who
/// is this party's `peer` or the other way round. The first round's are for all repetitions.
pub(super) fn shares<F: Field>(
    session: &mut Session,
    peer: usize,
    sequence: &FoldingSchedule,
    place: (u32, usize),
    round: usize,
) -> Vec<F> {
    let (batch, repetition) = place;
    let first = block(batch, repetition) + (F::DEGREE * sequence.values_before(round)) as u64;
    let mut parts = vec![Fp61::ZERO; F::DEGREE * sequence.values(round)];
    session.stream(peer).fill_elements(draw(step::PROOF_SHARE), first, &mut parts);
    parts.chunks_exact(F::DEGREE).map(F::of).collect()
}

/// The random value at 0 of the last round: on the left (`step::PROOF_LEFT_MASK`) from the key of prover and left
/// verifier, on the right (`step::PROOF_RIGHT_MASK`) from that of prover and right verifier.
pub(super) fn mask<F: Field>(
    session: &mut Session,
    peer: usize,
    part: u16,
    (batch, repetition): (u32, usize),
) -> F {
    let mut parts = vec![Fp61::ZERO; F::DEGREE];
    session.stream(peer).fill_elements(draw(part), block(batch, repetition), &mut parts);
    if planted(Mistake::Unmasked) {
        parts.fill(Fp61::ZERO);
    }
    F::of(&parts)
}

/// As [`shares`], of elements of GF(2^64).
pub(super) fn binary_shares(
    session: &mut Session,
    peer: usize,
    batch: u32,
    sequence: &FoldingSchedule,
    round: usize,
) -> Vec<Gf64> {
    let first = block(batch, 0) + sequence.values_before(round) as u64;
    let mut shares = vec![Gf64::ZERO; sequence.values(round)];
    let bytes = bytemuck::cast_slice_mut(&mut shares);
    session.stream(peer).fill(draw(step::PROOF_SHARE), first, bytes);
    shares
}

/// As [`mask`], of GF(2^64).
pub(super) fn binary_mask(session: &mut Session, peer: usize, part: u16, batch: u32) -> Gf64 {
    let mut bytes = [0; size_of::<Gf64>()];
    session.stream(peer).fill(draw(part), block(batch, 0), &mut bytes);
    Gf64(u64::from_le_bytes(bytes))
}

/// The seed of the last round, from the key that the verifiers share; or the salt of a digest, from that of prover and
/// verifier.
pub(super) fn seed(session: &mut Session, peer: usize, part: u16, batch: u32) -> Zeroizing<Seed> {
    let mut seed = Zeroizing::new(Seed::default());
    session.stream(peer).fill(draw(part), block(batch, 0), seed.as_mut_slice());
    seed
}

fn draw(part: u16) -> Draw {
    Draw { part, op: 0 }
}

fn block(batch: u32, repetition: usize) -> u64 {
    u64::from(batch) * BATCH_BLOCKS + repetition as u64 * REPETITION_BLOCKS
}
