//! What attackers compute of a proof's challenges; for tests.

use crate::verify::{ChallengeId, Seed, field_of_products, picked, seeds};
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::prime::Prime;

/// The point that a seed gives ([`seeds::point`]): prover, batch, round and repetition say of what.
pub fn point(session: &[u8; 32], seed: &Seed, place: [usize; 4], blocks: usize) -> u64 {
    let [prover, batch, round, repetition] = place;
    let place = ChallengeId { prover, batch: batch as u32, round, repetition };
    seeds::point::<Fp61>(session, seed, place, blocks).to_u128() as u64
}

/// The coefficients that a seed gives ([`seeds::coefficients`]).
pub fn coefficients(session: &[u8; 32], seed: &Seed, prover: usize, batch: u32, count: usize) -> Vec<u64> {
    seeds::coefficients(session, seed, prover, batch, count).into_iter().map(|one| one.0).collect()
}

/// What picks each of so many products, a batch's only operation, in the statement of a proof: the polynomials over F_2 of its
/// row and of its column, as the first seed gives them to a prover in a batch and a repetition.
pub fn picks(session: &[u8; 32], seed: &Seed, place: [usize; 3], count: usize) -> Vec<[u64; 2]> {
    picked(session, seed, place, count)
}

/// The prime and the element of its field that a seed gives to a proof of products.
pub fn field(session: &[u8; 32], seed: &Seed, place: [usize; 3]) -> (Prime, u64) {
    field_of_products(session, seed, place)
}
