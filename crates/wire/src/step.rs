//! What the `part` of an address means: the step of a run.
//!
//! An address is (lane, part, op, batch). Part says which step the message or draw belongs to, op which
//! operation, input or output it is for; together they never repeat within a run. Here are the steps that every protocol
//! has; each protocol's crate has its own, in ranges of its own.

use crate::At;

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
// 6 is a step of the three-party families.
/// A point that all parties wait for.
pub const BARRIER: u16 = 7;
/// That a party accepts the run.
pub const ACCEPT: u16 = 8;
/// Digests of what clients gave two parties.
pub const SHARED_INPUT: u16 = 9;
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
/// What material a party has in its store; with op 1, whether it goes on to a part, batch, of what fills it.
pub const STORED: u16 = 0x30;
/// What a party keeps between runs; op is 0 for what there is, 1 for digests of what is read, 2 for what it has kept, and 3 for
/// digests of that. From 0x100 on, fresh vectors to share it anew.
pub const KEPT: u16 = 0x31;
/// Inputs; op is the input's index.
pub const INPUT: u16 = 0x100;
/// Outputs; op is the output's index.
pub const OUTPUT: u16 = 0x200;
/// Stages of operations: `OPERATION + stage`; op is the operation's index.
pub const OPERATION: u16 = 0x300;
/// Layers of circuits: `CIRCUIT + piece`; op is the operation's index, batch the tile's number times the circuit's
/// depth, plus the layer.
pub const CIRCUIT: u16 = 0x400;
/// Added to the parts of operations and circuits for a second sort of messages of a stage; a protocol that has one says
/// what it is for.
pub const SECOND: u16 = 0x2000;
/// Added to the parts of operations and circuits whose messages are sent offline.
pub const OFFLINE: u16 = 0x4000;
/// Whether a message is sent offline.
pub const fn is_offline(part: u16) -> bool {
    OFFLINE <= part && part < At::ASIDE
}
