//! Bytes between parties.
//!
//! A run's endpoints are numbered: parties from 0, then clients. Every party has a link to every other
//! endpoint; clients have none with one another. A [`Mesh`] is one endpoint's access to its links: it sends
//! and receives addressed messages, counts them by phase, and notices peers that die, hang, abort or send what
//! they should not. Below it a [`Transport`] moves frames: through memory, TCP or TLS, or through whatever a
//! test puts in between.
//!
//! # One thread drives all links
//!
//! There are no reader or writer threads. Sockets do not block, and whoever waits, for a message or for room,
//! meanwhile services every link: queued frames go out, and what has come is taken in.
//!
//! **No deadlock.** Protocols send all messages of a step before they wait for any of it.
//!
//! 1. A send only queues. When the queue is beyond [`Limits::outbox`], the sender waits for room, and while it
//!    waits it takes in what its peers send.
//! 2. A receive waits for one message of one peer, and meanwhile takes in what all peers send.
//! 3. So a party that waits, for whatever reason, still empties the other ends' queues. Parties that wait in a
//!    circle cannot all be waiting for room: the bytes of each are being taken by the next.
//! 4. What is taken in ahead of its use is bounded by [`Limits::inbox`] per peer. Only beyond it is a peer not
//!    read, and never the peer that is waited for, whose inbox is empty, unless a message [aside](At::is_aside) is
//!    waited for. A protocol that puts more than that on a link before its receiver comes to use it could be stuck;
//!    the limit is far above what a step of any protocol has under way, and being stuck ends in an error after
//!    [`Limits::silence`]. A protocol with messages aside refuses a limit that it could reach.
//!
//! A party that computes without sending or receiving calls [`Mesh::tick`] now and then, which services the
//! links and lets the others know that it is alive.
//!
//! # Lanes
//!
//! More throughput comes from more [`Lane`]s: each has links, a mesh and a thread of its own, and all that they
//! share is a [`AbortFlag`], by which the failure of one ends the others.

pub mod frame;
pub mod memory;
pub mod setup;
pub mod shape;
pub mod stream;
pub mod transport;

mod at;
mod channel;
mod counters;
mod error;
mod lane;
mod limits;
mod mesh;
mod phase;
mod pool;
mod tls;

pub use at::At;
pub use counters::{Counters, Traffic, WireBytes};
pub use error::{Doing, Error, ErrorKind, Named};
pub use frame::{Frame, FrameKind};
pub use lane::{AbortFlag, Lane, MAX_LANES};
pub use limits::Limits;
pub use mesh::Mesh;
pub use phase::Phase;
pub use shape::{Profile, Shape, Shaped};
pub use transport::{Event, Transport};
