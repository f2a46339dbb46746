//! One endpoint's part in a run: its identity, what was agreed, and the tools that protocols share.
//!
//! A [`Session`] starts with a handshake ([`Session::establish`]). All endpoints state what they are about to run and
//! contribute fresh randomness. Afterwards every pair holds a key that nobody else knows, and PRSS under it
//! ([`PrssStream`]). The parties also hold an identity of the run that can't have occurred before. Commitments, coin
//! tosses and the echo check are bound to it.
//!
//! A run may depend on how fast the parties' links are. Then an earlier session, over the same links, measures them
//! ([`Session::measure`]) and tells the clients what was selected ([`Session::send_selection`],
//! [`Session::receive_selection`]).
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod commitment;
mod entropy;
mod error;
mod handshake;
mod measure;
mod planted;
mod session;

pub use commitment::{Commitment, Opening};
pub use entropy::{Entropy, OsEntropy};
pub use error::{Disagreement, Error};
pub use handshake::{Agreement, ProgramStep};
#[doc(hidden)]
pub use handshake::{key_of_first_messages, read_first_message, write_first_message};
pub use session::Session;
pub use tacit_net::{At, Limits, Mesh, Phase};
pub use tacit_wire::{Draw, PrssStream, VERSION, step};
