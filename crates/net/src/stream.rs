//! Links over sockets: TCP in the clear, or TLS.
//!
//! All sockets are non-blocking and driven by the thread that calls. Short frames are gathered into one write;
//! long payloads are written from, and read into, the buffer that they travel in, so that a frame of 64 KiB
//! costs one system call on each side.

mod lend;
mod link;
mod outbox;
pub(crate) mod reader;
mod sockets;

pub use lend::Lent;
pub(crate) use lend::Resting;
pub(crate) use link::Scratch;
#[doc(hidden)]
pub use reader::parse_frames;
pub use sockets::StreamTransport;
