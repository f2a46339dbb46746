//! What a party puts up with: sizes, and how long it waits.

use std::time::Duration;

/// What a message in the inbox takes beside its payload.
pub(crate) const FRAME_OVERHEAD: usize = 64;

/// Bounds on memory and time. Sizes are in bytes. Of parties `silence`, `linger` and `inbox` have to be the same, which a
/// session's handshake sees to: others rely on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest payload, sent or received. A little less than [`crate::frame::MAX_PAYLOAD`] at
    /// most. (A link itself takes 8 bytes more: the time that a shaped link adds.)
    pub frame: usize,
    /// What is held of one peer's messages ahead of their use. Beyond it the peer is not read, and so has to
    /// wait. A protocol must not have more than this under way on a link whose receiver first waits for
    /// somebody else.
    pub inbox: usize,
    /// What is queued for one peer before a send waits for room.
    pub outbox: usize,
    /// How long nothing at all is heard from an awaited peer before it counts as lost.
    pub silence: Duration,
    /// How long a peer that keeps sounding alive is waited for without its sending anything; or half as long in all
    /// ([`crate::Mesh::hurry`]).
    pub patience: Duration,
    /// How long a party or client tries to reach the others.
    pub connect: Duration,
    /// How long a caller may take to say who it is.
    pub handshake: Duration,
    /// How many callers that have not said who they are yet are heard at a time.
    pub callers: usize,
    /// How long closing waits for peers to take the last messages.
    pub linger: Duration,
}

impl Limits {
    /// Bytes of an inbox that messages take whose payloads have these lengths.
    pub fn inbox_bytes(lengths: impl IntoIterator<Item = usize>) -> usize {
        lengths.into_iter().fold(0, |sum, length| sum.saturating_add(length).saturating_add(FRAME_OVERHEAD))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 64 << 20,
            inbox: 256 << 20,
            outbox: 8 << 20,
            silence: Duration::from_secs(10),
            patience: Duration::from_mins(10),
            connect: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            callers: 64,
            linger: Duration::from_secs(1),
        }
    }
}
