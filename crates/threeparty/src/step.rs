//! The `part` of the addresses that both families have: those of every run, and of what hides outputs.

pub use tacit_session::step::*;

use tacit_session::At;

/// Seeds that a client gives the parties.
pub const SEED: u16 = 6;
/// Digests of outputs' components, and for clients that the sender accepts the run; op is the output's index.
pub const OUTPUT_DIGEST: u16 = 0x201;
/// The key that hides outputs' components from clients, drawn and sent.
pub const OUTPUT_KEY: u16 = At::ASIDE + 8;
