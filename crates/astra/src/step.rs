//! The `part` of this family's addresses: those of the three-party families, and its own.

pub use tacit_threeparty::step::*;

/// Added to the parts of operations and circuits whose messages show masked operands to a party that computes along.
pub const MASKED: u16 = SECOND;
/// Draws: the keys of an instance whose material is made offline.
pub const INSTANCE_KEY: u16 = 10;
/// Digests of masked operands, compared before [`COMPUTED_DIGEST`] is sent; draws: their keys.
pub const SHOWN_DIGEST: u16 = 11;
/// Digests of what was computed on masked operands; draws: their keys.
pub const COMPUTED_DIGEST: u16 = 12;
/// The sum of tags of garbled outputs.
pub const TAGS: u16 = 13;
/// Draws: the keys of digests of what an owner of inputs gave two parties, compared as [`SHARED_INPUT`].
pub const GIVEN_DIGEST: u16 = 14;
/// Fair outputs: that the party that prepares knows all to be done, to the evaluators.
pub const FAIR_VERDICT: u16 = 0x20f;
/// Fair outputs: that an evaluator is ready to open them, to the other one.
pub const FAIR_READY: u16 = 0x210;
/// A commitment to the evaluators' common component of outputs.
pub const FAIR_COMMITMENT: u16 = 0x211;
/// Whether the party that prepares goes on.
pub const FAIR_SIGNAL: u16 = 0x212;
/// What the evaluators have been told of that, to each other.
pub const FAIR_REPORT: u16 = 0x213;
/// The openings of components' commitments; draws: the same; op is the component.
pub const FAIR_OPENING: u16 = 0x214;
/// Draws: proofs that the party that prepares aborts, and the openings of their commitments; op is the component.
pub const FAIR_PROOF: u16 = 0x215;
/// The check of products of masks, offline; op is the batch's number, batch the piece's: shares of
/// products, to the party that prepares.
pub const CHECK_PRODUCTS: u16 = OFFLINE + 0x3000;
/// Parts of triples; as above.
pub const CHECK_TRIPLES: u16 = OFFLINE + 0x3001;
/// Differences of products and triples that are opened; as above.
pub const CHECK_OPENED: u16 = OFFLINE + 0x3002;
/// Digests of what was opened; op is the first batch's number.
pub const CHECK_DIGEST: u16 = OFFLINE + 0x3003;
/// Digests of what has to be zero; as above.
pub const CHECK_ZERO: u16 = OFFLINE + 0x3004;
/// That a party accepts the batches; as above.
pub const CHECK_ACCEPT: u16 = OFFLINE + 0x3005;
/// Draws: pairs of triples' factors; op is the batch's number.
pub const CHECK_FACTORS: u16 = OFFLINE + 0x3006;
/// Draws: the masks of triples' products.
pub const CHECK_RESULT: u16 = OFFLINE + 0x3007;
/// Draws: what hides parts of triples.
pub const CHECK_SHARE: u16 = OFFLINE + 0x3008;
/// Draws: keys of digests; op is the first batch's number.
pub const CHECK_KEY: u16 = OFFLINE + 0x3009;
/// Commitments to masks of outputs, and to proofs that the party that prepares aborts.
pub const FAIR_PROMISE: u16 = OFFLINE + 0x300a;
/// A digest of what two garblers made; draws: its key.
pub const GARBLED_DIGEST: u16 = OFFLINE + 0x300b;
/// That a party accepts garbled circuits.
pub const GARBLED_ACCEPT: u16 = OFFLINE + 0x300c;
