//! The `part` of this family's addresses: those of the three-party families, and its proofs'.

pub use tacit_threeparty::step::*;

use tacit_session::At;

/// Proofs, to the previous party; batch is the step.
pub const PROOF_BACK: u16 = At::ASIDE;
/// Proofs, to the next party; batch is the step.
pub const PROOF_FORTH: u16 = At::ASIDE + 1;
/// Draws: the shares of proofs' values.
pub const PROOF_SHARE: u16 = At::ASIDE + 2;
/// Draws: the values at 0 of the left vectors of proofs.
pub const PROOF_LEFT_MASK: u16 = At::ASIDE + 3;
/// Draws: the values at 0 of the right vectors of proofs.
pub const PROOF_RIGHT_MASK: u16 = At::ASIDE + 4;
/// Draws: the seeds of proofs' points.
pub const PROOF_SEED: u16 = At::ASIDE + 5;
/// Draws of proofs of products: the shares of values.
pub const RING_SHARE: u16 = At::ASIDE + 9;
/// The values at 0 of the left vectors.
pub const RING_LEFT_MASK: u16 = At::ASIDE + 10;
/// The values at 0 of the right vectors.
pub const RING_RIGHT_MASK: u16 = At::ASIDE + 11;
/// The seeds.
pub const RING_SEED: u16 = At::ASIDE + 12;
/// The left verifiers' shares of quotients.
pub const RING_QUOTIENT: u16 = At::ASIDE + 13;
/// Draws: the salts of what right verifiers know.
pub const PROOF_SALT: u16 = At::ASIDE + 6;
/// Draws: the salts of what left verifiers know.
pub const PROOF_SALT_LEFT: u16 = At::ASIDE + 7;
