//! From configuration files to connected links.
//!
//! [`init`] writes what each machine needs. Then every party and client reads its own `parties.toml` into a [`Config`].
//! Parties open a [`Listener`] and [`Listener::gather`] the others; clients [`connect`].
//!
//! The party with the higher number dials the other one; clients dial every party, one after the other. Over TLS both
//! sides prove who they are.
//!
//! Then the caller says hello ([`hello`]): version, number, lane, and its list of all parties and clients. The listener
//! checks it. It takes the caller in, with its own hello, when all who must call it for this run have called; until
//! then it says now and then who is missing. So an early caller waits for the others, and knows for whom. A caller for
//! a later run waits without knowing more.
//!
//! A run in several lanes has a connection for each lane between any two endpoints. A caller draws a number for the
//! occasion and says it in all of its connections: so they belong together.

pub mod hello;

mod attend;
mod caller;
mod config;
mod crowd;
mod dial;
mod door;
mod enrolled;
mod error;
mod files;
mod gather;
mod greeting;
mod hub;
mod identity;
mod init;
mod listener;
mod look;
mod notes;
mod renewed;
mod roster;

pub use crate::tls::pin::{Fingerprint, NotAFingerprint};
pub use attend::{Attendance, Word};
pub use config::{Client, Config, INSECURE_TCP, Party, Security};
pub use enrolled::enrolled;
#[doc(hidden)]
pub use enrolled::parse_enrolled;
pub use error::SetupError;
pub use gather::{connect, connect_lanes};
pub use hub::{Hub, MAX_CONTROL, News, Speaker, Waker};
pub use init::init;
pub use listener::Listener;
pub use look::{Seen, look};
pub use notes::{Note, Notes, TurnedAway, Vacant, quiet};
pub use renewed::{accept, renew, strike_renewed, use_renewed};
pub use roster::{enrol, strike};
