//! Boolean circuits: what they are, where they come from, and how they are laid out for evaluation on many
//! instances at once.
//!
//! | module | holds |
//! | --- | --- |
//! | `circuit` | [`Circuit`]: gates in order, and what they cost |
//! | `builder` | [`Builder`]: gates that fold constants as they are made |
//! | `layered` | [`Layered`]: AND layers, and slots that are used again |
//! | [`arith`] | sums, products, quotients and comparisons of words |
//! | [`crypto`] | ciphers and hash functions |
//! | [`catalogue`] | whole circuits by name |
//!
//! A circuit says nothing of shares. The same layers are walked in the clear and by every protocol.

pub mod arith;
mod builder;
pub mod catalogue;
mod circuit;
pub mod crypto;
mod layered;
#[cfg(test)]
mod testing;

pub use builder::Builder;
pub use circuit::{Circuit, Gate, Wire};
pub use layered::{Layer, Layered, ONE, UNUSED};
