//! From configuration files to connected links.
//!
//! [`init`] writes what each machine needs. Then every party and client reads its own `parties.toml` into a
//! [`Config`]; parties open a [`Listener`] and [`Listener::gather`] the others, clients [`connect`].
//!
//! Of two parties the one with the higher number dials; clients dial every party, one after the other. Over TLS both
//! sides prove who they are. Then the caller says hello ([`hello`]): version, number, lane, and the list of all parties
//! and clients as it has it. The listener checks it, and takes the caller in, with its own hello, when all who have to
//! call it for this run have called; until then it says now and then who is missing. So a caller that is early waits
//! for the others, and knows for whom; one that comes for a later run waits without knowing more.
//!
//! A run in several lanes has a connection for each lane between any two. What makes a caller's connections
//! belong together is a number that it draws for the occasion and says in all of them.

pub mod hello;

mod config;
mod crowd;
mod dial;
mod error;
mod files;
mod gather;
mod greeting;
mod init;
mod listener;

pub use crate::tls::pin::{Fingerprint, NotAFingerprint};
pub use config::{Client, Config, INSECURE_TCP, Party, Security};
pub use error::SetupError;
pub use gather::{Note, Notes, connect, connect_lanes, quiet};
pub use init::init;
pub use listener::{Listener, TurnedAway};
