//! Boolean circuits: what they are, where they come from, and how they are laid out for evaluation on many instances at
//! once.
//!
//! | module | holds |
//! | --- | --- |
//! | `circuit` | [`Circuit`]: gates in order, and what they cost |
//! | `builder` | [`Builder`]: gates that fold constants as they are made |
//! | [`bristol`] | circuits as text: reading and writing |
//! | `bytes` | canonical bytes: one form for each circuit |
//! | `evaluate` | [`Circuit::evaluate`] for one instance, [`Layered::evaluate`] for many |
//! | `layered` | [`Layered`]: AND layers, and slots that are used again |
//! | [`arith`] | sums, products, quotients and comparisons of words |
//! | [`crypto`] | ciphers and hash functions |
//! | [`catalogue`] | whole circuits by name |
//! | [`motif`] | circuits with branches whose inactive wires are zero |
//!
//! A circuit knows nothing of shares. The clear-text engine and every protocol walk the same layers.

pub mod arith;
pub mod bristol;
pub mod catalogue;
pub mod crypto;
pub mod motif;

mod builder;
mod bytes;
mod circuit;
mod evaluate;
mod layered;
#[cfg(test)]
mod testing;

pub use builder::Builder;
pub use bytes::DecodeError;
pub use circuit::{Circuit, Gate, MAX_INPUT_BITS, Wire};
pub use evaluate::InputError;
pub use layered::{Given, Layer, Layered, MAX_SCALING, ONE, Step, UNUSED};
