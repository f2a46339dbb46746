//! What messages are for: each protocol says it of its own.

use crate::conformance::order::Sent;

/// An entry of a protocol's table of messages. Messages that no entry is for, such as those of the handshake, aren't attacked.
#[derive(Debug)]
pub struct Sort {
    /// What such a message is.
    pub what: &'static str,
    /// What the attacks have to know of it.
    pub role: Role,
    /// Whether a message is of this sort; the first entry counts for which it is.
    pub is: fn(Sent) -> bool,
}

/// What a change of a message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It makes a client's input: the client may change what it tells all alike, and so give another input.
    ClientInput,
    /// It makes a party's input: a change may make another input.
    PartyInput,
    /// It belongs to an operation.
    Online,
    /// It belongs to an operation, and shows masked operands to a party that computes along.
    Masked,
    /// It belongs to an operation, and is sent offline.
    Offline,
    /// It opens outputs. Where outputs are fair, others make up for it.
    Opening,
    /// Anything else: it must be as it should be.
    Other,
}

/// The table's entry for a message.
pub(super) fn of(sorts: &[Sort], sent: Sent) -> Option<usize> {
    sorts.iter().position(|sort| (sort.is)(sent))
}
