//! Protocols on additive shares for any number of parties, with preprocessed triples: without MACs if nobody deviates, and
//! with MACs (SPDZ) if all but one may.
//!
//! **Sharing.** `x = x_0 + ... + x_(n-1)`, of numbers modulo a prime or of bits under XOR. Party `P_i` holds `x_i`.
//!
//! **Products** (Beaver 1991). A supply gives shares of `a`, `b` and `c = a b`. All open `d = x - a` and `e = y - b` to all,
//! and `z_i = c_i + d b_i + a_i e`, to which `P_0` adds `d e`. Nobody knows `a` and `b`, so `d` and `e` tell nothing to any n-1
//! parties, whatever they send. A product of matrices is all its products of elements.
//!
//! **Openings.** All send their shares to all. Random elements and random bits are the supply's to give.
//!
//! **Inputs.** The owner has a PRSS stream with every party. Those of all parties but one are their shares, and that one's
//! is what is left: the owner's own, or `P_0`'s of a client's input.
//!
//! **Outputs.** All send their shares to whoever learns.
//!
//! **MACs** (Damgard, Pastro, Smart, Zakarias 2012; Keller, Orsini, Scholl 2016). There is a recorder beside: the supply gives
//! shares of MACs along with those of values, what is opened is recorded, and all is checked before a verified opening and
//! around outputs (`macs`). Inputs and outputs go under masks (`inputs`, `outputs`), and inputs that have to be in a
//! range go bit by bit (`bit_masks`). Parties may deviate then, up to n-1 of them, and who
//! gets an output gets the right one or an error.
//!
//! **Security.** Without MACs private if all parties follow the protocol, against n-1 of them. With MACs it is as good as what
//! the supply gives.
//!
//! Which protocol it is says a value of [`Additive`].

mod arm_masks;
mod arms;
mod bank;
mod bit_masks;
mod client;
mod cost;
mod demand;
mod engine;
mod inputs;
mod keep;
mod macs;
mod messages;
mod openings;
mod outputs;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(not(feature = "planted"))]
mod planted;
mod preprocessing;
mod products;
mod protocol;
mod ranges;
mod rekey;
mod scalings;
mod share;
mod shared;
mod state;
mod vectors;

pub use arm_masks::SEED_WORDS;
pub use macs::{Keys, MAC_COMMIT, MAC_OPEN, check_weights};
pub use messages::{BIT_MASKS, REKEY_SHARES, REKEY_SUM};
pub use preprocessing::Preprocessing;
pub use protocol::Additive;
pub use share::FIRST;
pub use vectors::{mul_add, row};
