//! Deployments that live: parties stay connected and run many programs of many clients, several at a time.
//!
//! Docs: decision 25 in `docs/adr`.
//!
//! # The order of things
//! 1. A client sends the same request to all parties: the program's hash, which of its names it plays, a tag.
//! 2. Each party checks it by itself: is the program one that it serves, may this client play this name?
//! 3. Party 0 puts requests that belong together into a run, and proposes it: its number, a lane, who plays what. Requests of
//!    one program may be instances of one run ([`batch`]).
//! 4. Each other party accepts if it has been told the same by each of these clients, and its own links of the lane rest.
//! 5. When all have accepted, party 0 says so. Each party tells the run's clients that it begins, and with whom, and plays.
//! 6. The session's handshake is over the program, the protocol, the run's number and the clients with their fingerprints:
//!    who was told something else by whomever finds a difference there, before anything secret is sent.
//!
//! A program that names parties alone is asked for by the parties: each says that it is ready, and its run is proposed when
//! all have.
//!
//! A program whose runs have inputs of the parties' own ([`Asker`]) is asked for by each party under a tag, and proposed when all
//! have asked under the same: the tag is part of what the session agrees on. Requests that come to all parties from outside are
//! instances of one such run, too ([`batcher`]).
//!
//! # Security
//! A party that deviates here can delay runs and refuse service, party 0 more than others. It can't have a party run a program
//! that this one doesn't serve, nor twice what a client has asked for once; nor have a client's input be shared in another
//! program, run or company than all honest endpoints of the run have agreed on.

mod asker;
mod batch;
pub mod batcher;
pub(crate) mod client;
mod control;
mod desk;
mod filler;
mod gauges;
mod lock;
mod order;
mod quota;
mod server;
mod serving;

pub use asker::{Asker, Wanted};
pub use filler::Level;
pub use gauges::{Gauges, Reading};
pub use quota::Quota;
pub use server::{Drain, Served, Server};
pub use serving::{Holdings, Offer, Serving};

#[cfg(test)]
mod tests;
