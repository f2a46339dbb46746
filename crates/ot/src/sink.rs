//! What comes out of an extension.

use std::fmt;

/// What an OT's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Random strings of 128 bits, independent of all others: what the OTs of a protocol's messages are made of.
    Random,
    /// Random strings of 128 bits whose difference is the same in all OTs of a sender: `q` and `q ^ delta`.
    ///
    /// # Security
    /// The difference is the extension's own secret. A malicious receiver may have guessed some of its bits, and everything
    /// that a sender sends about these strings tells of it. It must not be a MAC key, nor must these strings mask messages.
    Correlated,
}

/// OTs that this party is the sender of. Values are never printed.
pub struct Sent<'a> {
    /// The receiver.
    pub peer: usize,
    /// The first one's place among those asked for.
    pub first: usize,
    /// The values for choice 0.
    pub zeros: &'a mut [u128],
    /// The values for choice 1.
    pub ones: &'a mut [u128],
}

/// OTs that this party is the receiver of. Choices and values are never printed.
pub struct Received<'a> {
    /// The sender.
    pub peer: usize,
    /// The first one's place among those asked for: a multiple of 64.
    pub first: usize,
    /// The choices, packed; bits after the last OT's mean nothing.
    pub choices: &'a [u64],
    /// The chosen values.
    pub values: &'a mut [u128],
}

impl fmt::Debug for Sent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "Sent", self.peer, self.first, self.zeros.len())
    }
}

impl fmt::Debug for Received<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "Received", self.peer, self.first, self.values.len())
    }
}

fn brief(f: &mut fmt::Formatter<'_>, name: &str, peer: usize, first: usize, ots: usize) -> fmt::Result {
    let mut brief = f.debug_struct(name);
    brief.field("peer", &peer).field("first", &first).field("ots", &ots).finish_non_exhaustive()
}

/// Takes OTs, tile by tile, in order for each peer and direction. All of a batch have passed its check.
pub trait Sink {
    /// OTs that this party is the sender of.
    fn sent(&mut self, ots: Sent<'_>);
    /// OTs that this party is the receiver of.
    fn received(&mut self, ots: Received<'_>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_choices_are_not_printed() {
        let sent = Sent { peer: 1, first: 64, zeros: &mut [7; 2], ones: &mut [8; 2] };
        assert_eq!(format!("{sent:?}"), "Sent { peer: 1, first: 64, ots: 2, .. }");
        let received = Received { peer: 1, first: 64, choices: &[7], values: &mut [8; 2] };
        assert_eq!(format!("{received:?}"), "Received { peer: 1, first: 64, ots: 2, .. }");
    }
}
