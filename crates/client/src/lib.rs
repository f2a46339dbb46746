//! A client's half of every protocol as functions: from keys, addresses and values to messages, and from messages to values. No
//! I/O, no thread and no session: what moves messages calls it, be that an engine over links ([`tacit_engine`'s `Client`]), or a
//! page in a browser (crate `tacit-client-js`).
//!
//! | module | for |
//! | --- | --- |
//! | [`components`] | protocols of three parties that hold two of three components each: `replicated`, `astra` and their malicious kin |
//! | [`additive`] | protocols of any number of parties whose shares add up, with MACs or without: `gmw`, `mascot` |
//! | [`vector`], [`wire`] | vectors of a domain's elements, and how they travel |
//!
//! [`tacit_engine`'s `Client`]: https://docs.rs/tacit-engine
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod additive;
pub mod components;
pub mod digits;
mod elements;
mod values;
pub mod vector;
pub mod wire;

pub use values::{Clear, bytes_of};

/// Why a client's input isn't shared, or an output not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The value isn't one that may be given; nothing is to be sent.
    #[error("{0}")]
    Refused(String),
    /// Somebody deviates: the run has to end for all.
    #[error("{0}")]
    Deviates(String),
}
