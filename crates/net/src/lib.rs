//! Bytes between parties.
//!
//! The endpoints of a run are numbered: parties from 0, then clients. Every party has a link to every other endpoint;
//! clients have none with one another.
//!
//! A [`Mesh`] is one endpoint's access to its links. It sends and receives addressed messages, counts them by phase,
//! and notices peers that die, hang, abort or send what they should not. Below it a [`Transport`] moves frames: through
//! memory, TCP or TLS, or through whatever a test puts in between.
//!
//! # One thread drives all links
//!
//! There are no reader or writer threads. Sockets do not block. An endpoint that waits, for a message or for room,
//! services every link meanwhile: it sends queued frames and takes in what has come.
//!
//! **No deadlock.** Protocols send all messages of a step before they wait for any of it.
//!
//! 1. A send only queues. When the queue is beyond [`Limits::outbox`], the sender waits for room, and meanwhile takes
//!    in what its peers send.
//! 2. A receive waits for one message of one peer, and meanwhile takes in what all peers send.
//! 3. So a party that waits, for whatever reason, still empties the other ends' queues. Parties that wait in a circle
//!    cannot all be waiting for room: the next one takes the bytes of each.
//! 4. [`Limits::inbox`] bounds what is taken in before its use, per peer. Only beyond it is a peer not read. The peer
//!    that is waited for is always read, since its inbox is empty, unless a message [aside](At::is_aside) is waited
//!    for.
//!
//! A protocol could be stuck if it put more than [`Limits::inbox`] on a link before its receiver came to use it. The
//! limit is far above what a step of any protocol has under way, and being stuck ends in an error after
//! [`Limits::silence`]. A protocol with messages aside refuses a limit that it could reach.
//!
//! A party that computes without sending or receiving calls [`Mesh::tick`] now and then. This services the links and
//! tells the others that it is alive.
//!
//! # Lanes
//!
//! More throughput comes from more [`Lane`]s: each has links, a mesh and a thread of its own. They share only an
//! [`AbortFlag`], by which the failure of one ends the others.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod frame;
pub mod memory;
pub mod setup;
pub mod shape;
pub mod stream;
pub mod transport;

mod channel;
mod counters;
mod error;
mod lane;
mod limits;
mod mesh;
mod named;
mod pool;
mod tls;

pub use counters::{Counters, Traffic, WireBytes};
pub use error::{Doing, Error, ErrorKind, Named};
pub use frame::{Frame, FrameKind};
pub use lane::{AbortFlag, Lane, MAX_LANES};
pub use limits::Limits;
pub use mesh::Mesh;
pub use named::{UnknownNetwork, load_profile};
pub use shape::Shaped;
pub use tacit_wire::{At, Phase, Profile, ProfileError, Shape};
pub use transport::{Event, Transport};
