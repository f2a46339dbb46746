//! What has been sent and received, by phase and peer.

use std::ops::AddAssign;

use tacit_wire::Phase;

/// Payload and number of messages in both directions; framing and encryption not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Payload bytes sent.
    pub sent_bytes: u64,
    /// Messages sent.
    pub sent_messages: u64,
    /// Payload bytes received and used.
    pub received_bytes: u64,
    /// Messages received and used.
    pub received_messages: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.sent_bytes += other.sent_bytes;
        self.sent_messages += other.sent_messages;
        self.received_bytes += other.received_bytes;
        self.received_messages += other.received_messages;
    }
}

/// Bytes as they went over the wire, in all phases: headers, signs of life and encryption included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireBytes {
    /// Bytes handed to the link.
    pub sent: u64,
    /// Bytes the link delivered.
    pub received: u64,
}

/// One endpoint's traffic, by phase and peer.
///
/// A message counts for the phase that its sender or its receiver was in when it sent or used it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    by_peer: Vec<[Traffic; Phase::ALL.len()]>,
    wire: Vec<WireBytes>,
}

impl Counters {
    pub(crate) fn new(endpoints: usize) -> Self {
        Self { by_peer: vec![Default::default(); endpoints], wire: vec![WireBytes::default(); endpoints] }
    }

    pub(crate) fn sent(&mut self, phase: Phase, to: usize, bytes: usize) {
        let traffic = &mut self.by_peer[to][phase as usize];
        traffic.sent_bytes += bytes as u64;
        traffic.sent_messages += 1;
    }

    pub(crate) fn received(&mut self, phase: Phase, from: usize, bytes: usize) {
        let traffic = &mut self.by_peer[from][phase as usize];
        traffic.received_bytes += bytes as u64;
        traffic.received_messages += 1;
    }

    pub(crate) fn set_wire(&mut self, peer: usize, bytes: WireBytes) {
        self.wire[peer] = bytes;
    }

    /// Traffic with one peer in one phase. Zero for an endpoint that is not there.
    pub fn with_peer(&self, phase: Phase, peer: usize) -> Traffic {
        self.by_peer.get(peer).map_or_else(Traffic::default, |phases| phases[phase as usize])
    }

    /// Traffic with all peers in one phase.
    pub fn in_phase(&self, phase: Phase) -> Traffic {
        let mut sum = Traffic::default();
        for phases in &self.by_peer {
            sum += phases[phase as usize];
        }
        sum
    }

    /// Traffic with all peers in all phases.
    pub fn total(&self) -> Traffic {
        let mut sum = Traffic::default();
        for phase in Phase::ALL {
            sum += self.in_phase(phase);
        }
        sum
    }

    /// Bytes on the wire to and from one peer. Zero for an endpoint that is not there.
    pub fn wire(&self, peer: usize) -> WireBytes {
        self.wire.get(peer).copied().unwrap_or_default()
    }

    /// Bytes on the wire to and from all peers.
    pub fn wire_total(&self) -> WireBytes {
        let mut sum = WireBytes::default();
        for bytes in &self.wire {
            sum.sent += bytes.sent;
            sum.received += bytes.received;
        }
        sum
    }
}
