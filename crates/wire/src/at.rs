//! Where a message or a draw of randomness belongs.

use std::fmt;

/// The address of a message, and of the randomness that masks it.
///
/// Addresses are injective within a run: no two messages of one party to one peer, and no two draws from one
/// stream, have the same address. They are no secret and stand in every frame's header, so a party that has
/// lost step with its peers is noticed at the first message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The lane: a run's independent strand, with links and streams of its own. A `tacit_net::Mesh` puts in its
    /// own, so whoever sends and receives by it leaves this 0.
    pub lane: u16,
    /// Which of several messages or draws of one batch.
    pub part: u16,
    /// The operation in the plan.
    pub op: u32,
    /// The batch (chunk) of the operation.
    pub batch: u32,
}

impl At {
    /// Bytes of an encoded address.
    pub const BYTES: usize = 12;

    /// The address of part 0, batch 0 of an operation in lane 0.
    pub const fn op(op: u32) -> Self {
        Self { lane: 0, part: 0, op, batch: 0 }
    }

    /// The same address in another batch.
    #[must_use]
    pub const fn with_batch(self, batch: u32) -> Self {
        Self { batch, ..self }
    }

    /// The same address for another part.
    #[must_use]
    pub const fn with_part(self, part: u16) -> Self {
        Self { part, ..self }
    }

    /// Parts from here on are aside.
    pub const ASIDE: u16 = 1 << 15;

    /// Whether messages of this address stand aside: they have an order of their own on their link. So a message of a
    /// proof need not wait its turn among those of the computation that goes on.
    pub const fn is_aside(self) -> bool {
        self.part >= Self::ASIDE
    }

    /// The encoding: lane, part, op, batch, each little-endian.
    pub const fn bytes(self) -> [u8; Self::BYTES] {
        let [l0, l1] = self.lane.to_le_bytes();
        let [p0, p1] = self.part.to_le_bytes();
        let [o0, o1, o2, o3] = self.op.to_le_bytes();
        let [b0, b1, b2, b3] = self.batch.to_le_bytes();
        [l0, l1, p0, p1, o0, o1, o2, o3, b0, b1, b2, b3]
    }

    /// The inverse of [`At::bytes`]; every 12 bytes are an address.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [l0, l1, p0, p1, o0, o1, o2, o3, b0, b1, b2, b3] = bytes;
        Self {
            lane: u16::from_le_bytes([l0, l1]),
            part: u16::from_le_bytes([p0, p1]),
            op: u32::from_le_bytes([o0, o1, o2, o3]),
            batch: u32::from_le_bytes([b0, b1, b2, b3]),
        }
    }
}

impl fmt::Display for At {
    /// `op 17, batch 3`, and the part and the lane if they are not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op {}, batch {}", self.op, self.batch)?;
        if self.part != 0 {
            write!(f, ", part {}", self.part)?;
        }
        if self.lane != 0 {
            write!(f, ", lane {}", self.lane)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_differ_in_every_field() {
        let at = At { lane: 0x0102, part: 0x0304, op: 0x0506_0708, batch: 0x090a_0b0c };
        assert_eq!(at.bytes(), [2, 1, 4, 3, 8, 7, 6, 5, 12, 11, 10, 9]);
        assert_eq!(At::from_bytes(at.bytes()), at);
    }

    #[test]
    fn display_names_only_what_matters() {
        assert_eq!(At::op(17).with_batch(3).to_string(), "op 17, batch 3");
        let at = At { lane: 2, part: 1, op: 17, batch: 0 };
        assert_eq!(at.to_string(), "op 17, batch 0, part 1, lane 2");
    }
}
