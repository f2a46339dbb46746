//! What front ends build and every protocol runs: a closed program of typed tensors, and the plan it is lowered to.
//!
//! A [`Builder`] makes a [`Program`] and refuses what would go wrong. [`encode`] and [`decode`] turn clear values into
//! raw words and back. [`mod@reference`] defines what the program means. [`lower`] turns it into a [`plan::Plan`], and
//! [`cost`] computes its price. [`first_difference`] finds the operation at which a debug run went wrong.

mod branches;
pub mod builder;
mod bytes;
mod capabilities;
mod codec;
mod columns;
pub mod cost;
mod domain;
mod error;
mod expand;
pub mod insertion;
mod instances;
mod layout;
mod loops;
mod lower;
mod modulus;
mod node;
mod operations;
mod piecewise;
pub mod plan;
mod program;
mod ratio;
mod rational;
mod real;
pub mod reference;
mod rounded;
mod shadow;
mod shape;
mod signature;
#[cfg(test)]
mod testing;
mod types;
mod typing;
mod value;
mod width;

pub use builder::Builder;
pub use capabilities::{Capabilities, Feature, Features, Field, Numbers, ProofCosts, Traffic};
pub use codec::DecodeError;
pub use error::{Fault, ProgramError, Source};
pub use instances::Instances;
pub use lower::{Lowered, lower, lower_for_debug};
pub use modulus::Modulus;
pub use node::{Node, NodeId};
pub use operations::{Extreme, Operation, RATIO_BITS, Rounding};
pub use piecewise::{Pieces, Piecewise};
pub use program::{Keep, KeptType, Output, Program, Recipient, Uses};
pub use real::{Real, Reals};
pub use shadow::{Difference, first_difference};
pub use shape::{Index, Span};
pub use signature::{InputType, KnownType, OutputType};
pub use types::{Dtype, MAX_ELEMENTS, MAX_FRACTION, MAX_RANK, Range, Type};
pub use value::{Data, Value, ValueError, bools, decode, decode_raw, encode, to_value};
