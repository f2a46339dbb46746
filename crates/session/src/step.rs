//! What the `part` of an address means: the step of a run.
//!
//! An address is (lane, part, op, batch). Part says which step the message or draw belongs to, op which
//! operation, input or output it is for; together they never repeat within a run.

use tacit_net::At;

/// First message of the handshake.
pub const HELLO: u16 = 0;
/// Hash of all first messages.
pub const CONFIRM: u16 = 1;
/// Commitments of a coin toss.
pub const COIN_COMMIT: u16 = 2;
/// Openings of a coin toss.
pub const COIN_OPEN: u16 = 3;
/// Hashes of an echo check.
pub const ECHO: u16 = 4;
/// Digests of the randomness that was drawn.
pub const DRAWN: u16 = 5;
/// Seeds that a client gives the parties.
pub const SEED: u16 = 6;
/// A point that all parties wait for.
pub const BARRIER: u16 = 7;
/// That a party accepts the run.
pub const ACCEPT: u16 = 8;
/// Digests of what clients gave two parties.
pub const SHARED_INPUT: u16 = 9;
/// Draws: the keys of an instance whose material is made offline.
pub const INSTANCE_KEY: u16 = 10;
/// Small messages to and fro between two parties, to see how long they take; batch counts them.
pub const ECHOES: u16 = 0x20;
/// Bursts between two parties, to see how fast they pass; op is the burst's number, batch the message's.
pub const BURST: u16 = 0x21;
/// How long the next burst is to be.
pub const BURST_LENGTH: u16 = 0x22;
/// What a party has measured.
pub const MEASURED: u16 = 0x23;
/// What the parties tell clients that they have selected.
pub const SETTLED: u16 = 0x24;
/// What the parties tell one another that their material was made with.
pub const MADE_WITH: u16 = 0x25;
/// Digests of masked operands, compared before [`COMPUTED_DIGEST`] is sent; draws: their keys.
pub const SHOWN_DIGEST: u16 = 11;
/// Digests of what was computed on masked operands; draws: their keys.
pub const COMPUTED_DIGEST: u16 = 12;
/// The sum of tags of garbled outputs.
pub const TAGS: u16 = 13;
/// Draws: the keys of digests of what an owner of inputs gave two parties, compared as [`SHARED_INPUT`].
pub const GIVEN_DIGEST: u16 = 14;
/// What material a party has in its store.
pub const STORED: u16 = 0x30;
/// Inputs; op is the input's index.
pub const INPUT: u16 = 0x100;
/// Outputs; op is the output's index.
pub const OUTPUT: u16 = 0x200;
/// Digests of outputs' components, and for clients that the sender accepts the run; op is the output's index.
pub const OUTPUT_DIGEST: u16 = 0x201;
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
/// Stages of operations: `OPERATION + stage`; op is the operation's index.
pub const OPERATION: u16 = 0x300;
/// Layers of circuits: `CIRCUIT + piece`; op is the operation's index, batch the tile's number times the circuit's
/// depth, plus the layer.
pub const CIRCUIT: u16 = 0x400;
/// Added to the parts of operations and circuits whose messages show masked operands to a party that computes along.
pub const MASKED: u16 = 0x2000;
/// Added to the parts of operations and circuits whose messages are sent offline.
pub const OFFLINE: u16 = 0x4000;
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
/// Whether a message is sent offline.
pub const fn is_offline(part: u16) -> bool {
    OFFLINE <= part && part < At::ASIDE
}

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
/// Draws: the salts of what right verifiers know.
pub const PROOF_SALT: u16 = At::ASIDE + 6;
/// Draws: the salts of what left verifiers know.
pub const PROOF_SALT_LEFT: u16 = At::ASIDE + 7;
/// The key that hides outputs' components from clients, drawn and sent.
pub const OUTPUT_KEY: u16 = At::ASIDE + 8;
