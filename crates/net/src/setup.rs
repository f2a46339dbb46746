//! From configuration files to connected links.
//!
//! [`init`] writes what each machine needs. Then every party and client reads its own `parties.toml` into a
//! [`Config`]; parties open a [`Listener`] and [`Listener::gather`] the others, clients [`connect`].
//!
//! Of two parties the one with the higher number dials; clients dial every party. Over TLS both sides prove
//! who they are. Then the caller says hello ([`hello`]): version, number, and the list of all parties and
//! clients as it has it. The listener checks it, and answers with its own hello when it takes the caller in;
//! so a caller that is early, or comes a second time, waits without knowing more.

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
pub use gather::connect;
pub use init::init;
pub use listener::{Listener, TurnedAway};
