//! Between the plan and the protocols: what an engine does, and who calls it in which order.
//!
//! An [`Engine`] is one party's protocol state. It owns its shares, in banks of registers, and moves them one batch at
//! a time. The [`executor`] walks a plan and divides every operation into jobs of about one message.
//! What engines need and needn't know any input for comes from a [`supply`].
//! [`clear::ClearEngine`] runs every plan in the clear and defines the right result.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod bank;
pub mod clear;
mod engine;
mod error;
pub mod executor;
mod job;
mod kept;
pub mod layer;
mod material;
mod participants;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(not(feature = "planted"))]
mod planted;
pub mod profile;
pub mod supply;
pub mod tile;

pub use engine::{
    Auto, Checks, Client, Engine, Parameter, Protocol, ProtocolSpec, Security, Threshold, offers_all,
};
pub use error::Error;
pub use executor::{Observer, Outcome};
pub use job::{Job, at_work, jobs, rounds};
pub use kept::{KeptPart, KeptShare};
pub use material::Material;
pub use participants::Participants;
pub use tacit_client::wire::columns_per_message;
pub use tacit_client::{Clear, Fault, bytes_of, vector, wire, with_element, with_word};
