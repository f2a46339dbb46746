//! What was delivered on the links of a [`World`](crate::World).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tacit_net::At;
use tacit_program::plan::{OpKind, Plan};
use tacit_session::step;

/// A data frame that its receiver took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Who sent it.
    pub from: usize,
    /// Who took it.
    pub to: usize,
    /// Its address.
    pub at: At,
    /// Its contents.
    pub payload: Vec<u8>,
    /// When it was sent.
    pub sent: Duration,
    /// When it was taken.
    pub arrived: Duration,
    /// For an operation's message the length of the longest chain of operations' messages that ends with it,
    /// each sent after its sender had taken the one before.
    pub depth: usize,
}

impl Delivery {
    /// The operation and the stage that it belongs to, if it is an operation's and not sent offline; of a circuit,
    /// the layer.
    pub fn stage(&self, plan: &Plan) -> Option<(u32, u32)> {
        if !self.is_operation() {
            return None;
        }
        let At { part, op, batch, .. } = self.at;
        let part = part & !step::SECOND;
        match &(op < plan.op_count()).then(|| plan.op(op))?.kind {
            OpKind::Circuit { circuit, .. } if part >= step::CIRCUIT => {
                Some((op, batch % circuit.depth().max(1)))
            }
            _ => Some((op, (part - step::OPERATION).into())),
        }
    }

    /// Whether it is an operation's, and not sent offline.
    fn is_operation(&self) -> bool {
        (step::OPERATION..step::OFFLINE).contains(&self.at.part)
    }
}

/// All data frames of a run. Those of one receiver, and so of one link, are in the order in which they were taken.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    deliveries: Vec<Delivery>,
}

impl Trace {
    pub(crate) fn new(deliveries: Vec<Delivery>) -> Self {
        Self { deliveries }
    }

    /// All of them; those of different receivers in no certain order.
    pub fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }

    /// What came by one link, in order.
    pub fn link(&self, from: usize, to: usize) -> impl Iterator<Item = &Delivery> {
        self.deliveries.iter().filter(move |delivery| (delivery.from, delivery.to) == (from, to))
    }

    /// What came to one endpoint, by sender and then in order.
    pub fn received(&self, to: usize) -> Vec<&Delivery> {
        let mut received: Vec<&Delivery> =
            self.deliveries.iter().filter(|delivery| delivery.to == to).collect();
        received.sort_by_key(|delivery| delivery.from);
        received
    }

    /// The links that were used.
    pub fn links(&self) -> Vec<(usize, usize)> {
        let mut links: Vec<_> = self.deliveries.iter().map(|delivery| (delivery.from, delivery.to)).collect();
        links.sort_unstable();
        links.dedup();
        links
    }

    /// Rounds of the operations, as they were: the longest chain of messages.
    pub fn rounds(&self) -> usize {
        let operations = self.deliveries.iter().filter(|delivery| delivery.is_operation());
        operations.map(|delivery| delivery.depth).max().unwrap_or(0)
    }

    /// Payload bytes of every stage of every operation on every link: (operation, stage, from, to).
    pub fn bytes_by_stage(&self, plan: &Plan) -> BTreeMap<(u32, u32, usize, usize), u64> {
        let mut bytes = BTreeMap::new();
        for delivery in &self.deliveries {
            if let Some((op, stage)) = delivery.stage(plan) {
                *bytes.entry((op, stage, delivery.from, delivery.to)).or_default() +=
                    delivery.payload.len() as u64;
            }
        }
        bytes
    }

    /// Everything but the contents: from, to, address and length, by link and in order.
    pub fn skeleton(&self) -> Vec<(usize, usize, At, usize)> {
        let outline = |delivery: &Delivery| (delivery.from, delivery.to, delivery.at, delivery.payload.len());
        let mut skeleton: Vec<_> = self.deliveries.iter().map(outline).collect();
        skeleton.sort_by_key(|&(from, to, ..)| (from, to));
        skeleton
    }

    /// A SHA-256 for every link, over addresses, lengths and contents: one line each, for a file.
    pub fn hashes(&self) -> String {
        let mut lines = String::new();
        for (from, to) in self.links() {
            let mut hash = Sha256::new_with_prefix(b"tacit trace 1");
            for delivery in self.link(from, to) {
                hash.update(delivery.at.bytes());
                hash.update((delivery.payload.len() as u64).to_le_bytes());
                hash.update(&delivery.payload);
            }
            // Writing into a string can't fail.
            let _ = write!(lines, "{from} {to} ");
            for byte in hash.finalize() {
                let _ = write!(lines, "{byte:02x}");
            }
            lines.push('\n');
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::{Builder, Rows};

    fn delivery(from: usize, to: usize, part: u16, payload: &[u8], depth: usize) -> Delivery {
        let at = At { lane: 0, part, op: 7, batch: 0 };
        let payload = payload.to_vec();
        Delivery { from, to, at, payload, sent: Duration::ZERO, arrived: Duration::ZERO, depth }
    }

    fn eight_ands() -> Plan {
        let mut builder = Builder::new();
        let [a, b, dst] = std::array::from_fn(|_| Rows::one(builder.bits(1, 1), 0));
        (0..8).for_each(|_| builder.interact(OpKind::And { a, b, dst }));
        builder.finish()
    }

    #[test]
    fn rounds_and_bytes_are_those_of_operations() {
        let trace = Trace::new(vec![
            delivery(0, 1, step::INPUT, b"abc", 9),
            delivery(0, 1, step::OPERATION + 1, b"de", 2),
            delivery(0, 1, step::OPERATION + 1, b"f", 2),
            delivery(1, 0, step::OPERATION, b"", 1),
        ]);
        assert_eq!(trace.rounds(), 2);
        let bytes: Vec<_> = trace.bytes_by_stage(&eight_ands()).into_iter().collect();
        assert_eq!(bytes, [((7, 0, 1, 0), 0), ((7, 1, 0, 1), 3)]);
        assert_eq!(trace.links(), [(0, 1), (1, 0)]);
        assert_eq!(trace.received(1).len(), 3);
    }

    #[test]
    fn hashes_tell_contents_addresses_and_cuts_between_messages_apart() {
        let hash = |deliveries: &[Delivery]| Trace::new(deliveries.to_vec()).hashes();
        let whole = hash(&[delivery(0, 1, 5, b"abc", 1)]);
        assert_eq!(whole, hash(&[delivery(0, 1, 5, b"abc", 2)]));
        assert_ne!(whole, hash(&[delivery(0, 1, 5, b"abd", 1)]));
        assert_ne!(whole, hash(&[delivery(0, 1, 6, b"abc", 1)]));
        assert_ne!(whole, hash(&[delivery(0, 1, 5, b"ab", 1), delivery(0, 1, 5, b"c", 1)]));
        assert_eq!(whole.lines().count(), 1);
        assert!(whole.starts_with("0 1 "));
    }
}
