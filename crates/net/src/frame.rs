//! Frames: what travels on a link, and the 16 bytes in front of each.
//!
//! ```text
//! | kind: 2 bits, payload length: 30 bits | lane | part | op  | batch | payload ...
//! |          u32, little-endian           | u16  | u16  | u32 |  u32  |
//! ```
//!
//! All four values of the kind are in use, so the only thing that can be wrong with a header is its length.

use tacit_wire::At;

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 16;

/// The longest payload that a header can name; [`crate::Limits::frame`] is usually far below it.
pub const MAX_PAYLOAD: usize = (1 << LENGTH_BITS) - 1;

const LENGTH_BITS: u32 = 30;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A protocol's message.
    Data,
    /// A sign of life. Its address holds the endpoint it comes from (`part`) and that endpoint's running
    /// number (`batch`); no payload.
    KeepAlive,
    /// The run is over. The payload is the reason, in UTF-8; `part` of the address is the endpoint that
    /// stopped first, and `batch` is not 0 if it did so because a check failed.
    Abort,
    /// The sender has sent all it ever will, and leaves in good order; no payload. `batch` of the address is not 0 if it
    /// stays to hear how the run ends: of signs of life, of an abort, and of the receiver's own goodbye.
    Goodbye,
}

impl FrameKind {
    const fn code(self) -> u32 {
        match self {
            Self::Data => 0,
            Self::KeepAlive => 1,
            Self::Abort => 2,
            Self::Goodbye => 3,
        }
    }

    const fn from_top_bits(word: u32) -> Self {
        match word >> LENGTH_BITS {
            0 => Self::Data,
            1 => Self::KeepAlive,
            2 => Self::Abort,
            _ => Self::Goodbye,
        }
    }
}

/// One message with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is for.
    pub kind: FrameKind,
    /// Where it belongs.
    pub at: At,
    /// The message itself, at most [`MAX_PAYLOAD`] bytes.
    pub payload: Vec<u8>,
}

impl Frame {
    /// A protocol's message.
    pub const fn data(at: At, payload: Vec<u8>) -> Self {
        Self { kind: FrameKind::Data, at, payload }
    }

    /// The header that goes before the payload on a wire.
    pub fn header(&self) -> Header {
        Header { kind: self.kind, at: self.at, len: self.payload.len() }
    }
}

/// A frame's header: all but the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is for.
    pub kind: FrameKind,
    /// Where it belongs.
    pub at: At,
    /// Bytes of the payload, at most [`MAX_PAYLOAD`].
    pub len: usize,
}

/// A header that names a payload beyond the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {got} bytes, where at most {limit} are allowed")]
pub struct FrameTooLong {
    /// The limit in force.
    pub limit: usize,
    /// What the header names.
    pub got: usize,
}

impl Header {
    /// The encoding.
    pub fn bytes(self) -> [u8; HEADER_BYTES] {
        debug_assert!(self.len <= MAX_PAYLOAD, "the mesh bounds what it sends");
        let word = (self.kind.code() << LENGTH_BITS) | (self.len as u32 & MAX_PAYLOAD as u32);
        let mut bytes = [0; HEADER_BYTES];
        let (length, at) = bytes.split_at_mut(4);
        length.copy_from_slice(&word.to_le_bytes());
        at.copy_from_slice(&self.at.bytes());
        bytes
    }

    /// Reads a header and refuses payloads of more than `limit` bytes.
    ///
    /// # Errors
    /// [`FrameTooLong`] if a payload would be longer.
    pub fn parse(bytes: [u8; HEADER_BYTES], limit: usize) -> Result<Self, FrameTooLong> {
        let [w0, w1, w2, w3, at @ ..] = bytes;
        let word = u32::from_le_bytes([w0, w1, w2, w3]);
        let len = word as usize & MAX_PAYLOAD;
        if len > limit {
            return Err(FrameTooLong { limit, got: len });
        }
        Ok(Self { kind: FrameKind::from_top_bits(word), at: At::from_bytes(at), len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        for kind in [FrameKind::Data, FrameKind::KeepAlive, FrameKind::Abort, FrameKind::Goodbye] {
            for len in [0, 1, 63, 64, 65, 65_536, MAX_PAYLOAD] {
                let header = Header { kind, at: At { lane: 1, part: 2, op: 3, batch: u32::MAX }, len };
                assert_eq!(Header::parse(header.bytes(), MAX_PAYLOAD), Ok(header));
            }
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused() {
        let header = Header { kind: FrameKind::Data, at: At::op(1), len: 65 };
        assert!(Header::parse(header.bytes(), 65).is_ok());
        assert_eq!(Header::parse(header.bytes(), 64), Err(FrameTooLong { limit: 64, got: 65 }));
    }

    #[test]
    fn any_bytes_parse_or_are_too_long() {
        for fill in [0_u8, 1, 0x3f, 0x40, 0x7f, 0x80, 0xff] {
            if let Ok(header) = Header::parse([fill; HEADER_BYTES], 1 << 26) {
                assert_eq!(header.bytes(), [fill; HEADER_BYTES]);
            }
        }
    }
}
