//! From configuration files to connected links.
//!
//! [`init`] writes what each machine needs. Then every party and client reads its own `parties.toml` into a
//! [`Config`]; parties open a [`Listener`] and [`Listener::gather`] the others, clients [`connect`].
//!
//! Of two parties the one with the higher number dials; clients dial every party. Over TLS both sides prove
//! who they are. Then the caller says hello ([`hello`]): version, number, lane, and the list of all parties and
//! clients as it has it. The listener checks it, and answers with its own hello when it takes the caller in;
//! so a caller that is early, or comes a second time, waits without knowing more.
//!
//! A run in several lanes has a connection for each lane between any two. What makes a caller's connections
//! belong together is a number that it draws for the occasion and says in all of them.

pub mod hello;

mod config;
mod error;
mod gather;
mod greeting;
mod init;
mod listener;

pub use crate::tls::pin::{Fingerprint, NotAFingerprint};
pub use config::{Client, Config, INSECURE_TCP, Party, Security};
pub use error::SetupError;
pub use gather::{connect, connect_lanes};
pub use init::init;
pub use listener::{Listener, TurnedAway};
