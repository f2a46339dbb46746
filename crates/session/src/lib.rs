//! One endpoint's seat in a run: who it is, what was agreed, and the tools that protocols share.
//!
//! A [`Session`] starts with a handshake ([`Session::establish`]) in which all endpoints state what they are
//! about to run and contribute fresh randomness. Afterwards every pair holds a key that nobody else knows
//! ([`PrssStream`]), and the parties have an identity of the run that can't have occurred before. Commitments,
//! coin tosses and the echo check are bound to it.
//!
//! What a run is to be may depend on how fast the parties' links are. Then a session of its own comes first, over the same
//! links, in which the parties measure them ([`Session::measure`]) and tell the clients what follows from it
//! ([`Session::tell_clients`], [`Session::told`]).

mod commitment;
mod entropy;
mod error;
mod handshake;
mod measure;
mod prss;
mod session;
pub mod step;

pub use commitment::{Commitment, Opening};
pub use entropy::{Entropy, OsEntropy};
pub use error::{Disagreement, Error};
pub use handshake::{Agreement, ProgramStep};
#[doc(hidden)]
pub use handshake::{read_first_message, write_first_message};
pub use prss::{Draw, PrssStream};
pub use session::Session;
pub use tacit_net::{At, Limits, Mesh, Phase};
