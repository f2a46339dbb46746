//! Oblivious transfer: a sender has two values, a receiver takes one of them by a choice bit; the sender doesn't learn the
//! bit, nor the receiver the other value.
//!
//! Two parties make 128 *base OTs* with elliptic curves ([`base`](self) in the source), and extend them to as many as they
//! like with AES alone: SoftSpokenOT (Roy, CRYPTO 2022). The page `docs/ot.md` has the construction, the proofs' steps, the
//! parameters and their bounds.
//!
//! | what | where |
//! | --- | --- |
//! | parameters, exact costs and bounds | [`Params`] |
//! | oblivious transfers with some peers, in one direction or both | [`Ot`] |
//! | what the OTs are of: choices, hashed or not | [`Choices`], [`Form`] |
//! | where the OTs go, tile by tile | [`Sink`], [`Sent`], [`Received`] |
//! | shared products with a fixed number | [`copee`] |
//! | the same of many random numbers | [`vole`] |
//! | from random OTs to OTs of values that the sender chooses, or that differ as it says | [`chosen`], [`correlated`] |
//!
//! **Layers.** Everything that computes is pure: base OTs, trees, and the two halves of the extension take and give bytes.
//! [`Ot`] alone speaks over a session.

mod base;
pub mod chosen;
mod context;
pub mod copee;
pub mod correlated;
mod delta;
mod extend;
mod lpn;
mod pairs;
mod params;
#[cfg(any(test, feature = "planted"))]
pub mod planted;
#[cfg(not(any(test, feature = "planted")))]
mod planted;
mod receiver;
mod remembered;
mod sender;
mod setup;
mod sink;
mod spvole;
pub mod step;
mod tile;
mod tree;
pub mod vole;

pub use extend::{Choices, Request};
pub use pairs::{Ot, Roles};
pub use params::{Params, Security};
pub use sink::{Form, Received, Sent, Sink};
