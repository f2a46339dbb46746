//! What travels between endpoints is named by, without anything that moves it: addresses of messages, streams that two endpoints
//! expand alike, phases by which traffic is counted, and what a network is like. No I/O: it compiles for a browser, too.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod at;
mod phase;
mod profile;
mod prss;
pub mod step;

pub use at::At;
pub use phase::Phase;
pub use profile::{Profile, ProfileError, Shape};
pub use prss::{Draw, PrssStream};

/// The version of a session's messages that this code sends and reads, and of what it draws, in which order.
pub const VERSION: u16 = 12;
