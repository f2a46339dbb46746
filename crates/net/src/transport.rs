//! One endpoint's links to all its peers.

use std::time::Duration;

use crate::counters::WireBytes;
use crate::error::ErrorKind;
use crate::frame::Frame;

/// What a link brings.
#[derive(Clone, Debug)]
pub enum Event {
    /// A whole frame.
    Frame(Frame),
    /// Part of a frame: the peer is alive and its message is on the way. A transport whose frames come whole
    /// never says so.
    Progress,
    /// The link is gone, and why: [`ErrorKind::Closed`], [`ErrorKind::TooLong`] or [`ErrorKind::Malformed`]. Nothing else
    /// comes from this peer.
    Lost(ErrorKind),
}

/// One endpoint's links to all its peers, for use by one thread.
///
/// A transport delivers every peer's frames whole, in order and at most once. It does not block except in
/// [`Transport::poll`], and there services all links once no event is at hand: what is queued goes out, what has come is
/// taken in.
/// Peers are named by their endpoint number; calls that name an endpoint without a link do nothing.
///
/// [`crate::Mesh`] is its only user in a run. Beside the links of this crate, tests implement it to record,
/// to alter and to delay, and to run on a clock of their own.
pub trait Transport: Send {
    /// Whether there is (or was) a link to this endpoint.
    fn is_linked(&self, peer: usize) -> bool;

    /// Queues a frame. It may go out now, and goes out at the latest when `flush` is called, or `poll` while no event is at
    /// hand, and the link has room. To a link that is gone it is dropped.
    fn send(&mut self, to: usize, frame: Frame);

    /// Pushes out what is queued, as far as the links have room. `true` if nothing is left.
    fn flush(&mut self) -> bool;

    /// Bytes sent to a peer that still take memory on this side's account; 0 if the link is gone. A sender
    /// waits while this is beyond its limit.
    fn backlog(&self, to: usize) -> usize;

    /// Returns the next event with its peer; if none is at hand services all links, and waits for one at most this long, or
    /// with zero not at all. May return `None` early, for instance when queued bytes have gone out.
    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)>;

    /// From now on takes nothing in from this peer (`true`), or does again (`false`). Its sends will back up.
    fn hold(&mut self, peer: usize, hold: bool);

    /// The time by a clock that never goes back. Real transports use the machine's monotonic clock, which all
    /// processes of a machine share.
    fn now(&self) -> Duration;

    /// Bytes on the wire to and from a peer so far.
    fn wire_bytes(&self, peer: usize) -> WireBytes;

    /// Says that no more will be sent to any peer, as far as the links can. Called once, after the last flush;
    /// `poll` still works. `true` if what was sent will arrive even if this transport is dropped at once;
    /// otherwise peers should be given a moment to take it.
    fn finish(&mut self) -> bool;

    /// An empty buffer for a payload, with at least this capacity; from a pool if the transport has one.
    fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        Vec::with_capacity(capacity)
    }

    /// A buffer of `len` bytes for a payload, all of which will be written over; from a pool if the transport has one,
    /// and then with whatever was in it.
    fn filled(&mut self, len: usize) -> Vec<u8> {
        vec![0; len]
    }

    /// Gives a payload's buffer back to the pool.
    fn recycle(&mut self, buffer: Vec<u8>) {
        drop(buffer);
    }
}

/// The machine's monotonic clock.
pub(crate) fn monotonic() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // The monotonic clock counts up from the machine's start.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
