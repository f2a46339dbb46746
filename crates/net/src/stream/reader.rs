//! From a stream of bytes to frames.

use crate::frame::{Frame, FrameTooLong, HEADER_BYTES, Header};
use crate::pool::Pool;

/// How far memory for a payload runs ahead of the bytes that have come, so that a peer that announces a long
/// frame and sends nothing costs little.
const ALLOC_STEP: usize = 1 << 20;

/// All complete frames in a piece of a stream; a pure function for tests and fuzzing.
///
/// # Errors
/// If a header names a payload of more than `limit` bytes.
#[doc(hidden)]
pub fn parse_frames(bytes: &[u8], limit: usize) -> Result<Vec<Frame>, FrameTooLong> {
    let mut frames = Vec::new();
    FrameReader::new(limit).push(bytes, &mut Pool::default(), &mut |frame| frames.push(frame))?;
    Ok(frames)
}

/// Puts frames together from whatever pieces the bytes come in.
///
/// Bytes are either pushed, which copies them, or read straight into the room that the current payload still
/// has.
#[derive(Debug)]
pub(crate) struct FrameReader {
    limit: usize,
    header: [u8; HEADER_BYTES],
    header_len: usize,
    payload: Option<Payload>,
}

#[derive(Debug)]
struct Payload {
    header: Header,
    /// Bytes of meaning up to `len`; the rest is room.
    bytes: Vec<u8>,
    len: usize,
}

impl FrameReader {
    /// A reader that refuses payloads of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, header: [0; HEADER_BYTES], header_len: 0, payload: None }
    }

    /// Refuses payloads of more than so many bytes from now on.
    ///
    /// # Errors
    /// If one that is under way is longer.
    pub(crate) fn limit(&mut self, bytes: usize) -> Result<(), FrameTooLong> {
        self.limit = bytes;
        match &self.payload {
            Some(Payload { header, .. }) if header.len > bytes => {
                Err(FrameTooLong { limit: bytes, got: header.len })
            }
            _ => Ok(()),
        }
    }

    /// Whether the stream stands between two frames.
    pub(crate) fn is_between_frames(&self) -> bool {
        self.header_len == 0 && self.payload.is_none()
    }

    /// Takes bytes in and hands complete frames to `done`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        pool: &mut Pool,
        done: &mut dyn FnMut(Frame),
    ) -> Result<(), FrameTooLong> {
        while !bytes.is_empty() {
            let room = self.room();
            let taken = if room.is_empty() {
                self.push_header(bytes, pool)?
            } else {
                let taken = room.len().min(bytes.len());
                if let (Some(to), Some(from)) = (room.get_mut(..taken), bytes.get(..taken)) {
                    to.copy_from_slice(from);
                }
                self.advance(taken);
                taken
            };
            self.complete(done);
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Bytes of the current payload, those to come included; 0 between payloads.
    pub(crate) fn payload_len(&self) -> usize {
        self.payload.as_ref().map_or(0, |payload| payload.header.len)
    }

    /// Room for the current payload's next bytes; empty between payloads. What is read into it is made known
    /// by [`FrameReader::filled`].
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let Some(payload) = &mut self.payload else { return &mut [] };
        let end = payload.header.len.min(payload.len + ALLOC_STEP);
        if payload.bytes.len() < end {
            payload.bytes.resize(end, 0);
        }
        payload.bytes.get_mut(payload.len..end).unwrap_or_default()
    }

    /// Says that the first `count` bytes of the room have been filled.
    pub(crate) fn filled(&mut self, count: usize, done: &mut dyn FnMut(Frame)) {
        self.advance(count);
        self.complete(done);
    }

    fn advance(&mut self, count: usize) {
        if let Some(payload) = &mut self.payload {
            payload.len += count;
        }
    }

    /// Takes what is missing of a header; the number of bytes taken.
    fn push_header(&mut self, bytes: &[u8], pool: &mut Pool) -> Result<usize, FrameTooLong> {
        let missing = self.header.iter_mut().skip(self.header_len);
        let taken = missing.zip(bytes).map(|(to, from)| *to = *from).count();
        self.header_len += taken;
        if self.header_len == HEADER_BYTES {
            let header = Header::parse(self.header, self.limit)?;
            self.header_len = 0;
            let bytes = pool.filled(header.len.min(ALLOC_STEP));
            self.payload = Some(Payload { header, bytes, len: 0 });
        }
        Ok(taken)
    }

    fn complete(&mut self, done: &mut dyn FnMut(Frame)) {
        if self.payload.as_ref().is_some_and(|payload| payload.len == payload.header.len)
            && let Some(Payload { header, mut bytes, len }) = self.payload.take()
        {
            bytes.truncate(len);
            done(Frame { kind: header.kind, at: header.at, payload: bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{At, FrameKind};

    fn frames() -> Vec<Frame> {
        [0_usize, 1, 63, 64, 65, 0, 70_000, 3, ALLOC_STEP + 5]
            .into_iter()
            .enumerate()
            .map(|(op, len)| Frame::data(At::op(op as u32), (0..len).map(|i| (i * 7) as u8).collect()))
            .collect()
    }

    fn wire(frames: &[Frame]) -> Vec<u8> {
        frames.iter().flat_map(|frame| [&frame.header().bytes()[..], &frame.payload].concat()).collect()
    }

    #[test]
    fn frames_come_out_whatever_the_pieces() {
        let (frames, mut pool) = (frames(), Pool::default());
        let wire = wire(&frames);
        for piece in [1, 15, 16, 17, 1000, 65_536, wire.len()] {
            let (mut reader, mut out) = (FrameReader::new(2 * ALLOC_STEP), Vec::new());
            for bytes in wire.chunks(piece) {
                reader.push(bytes, &mut pool, &mut |frame| out.push(frame)).unwrap();
            }
            assert_eq!(out, frames);
            assert!(reader.is_between_frames());
        }
    }

    #[test]
    fn payloads_are_read_in_place() {
        let (frames, mut pool) = (frames(), Pool::default());
        let wire = wire(&frames);
        let (mut reader, mut out) = (FrameReader::new(2 * ALLOC_STEP), Vec::new());
        let mut rest = &wire[..];
        while !rest.is_empty() {
            let room = reader.room();
            assert!(room.len() <= ALLOC_STEP);
            let count = room.len().min(rest.len()).min(30_000);
            room[..count].copy_from_slice(&rest[..count]);
            reader.filled(count, &mut |frame| out.push(frame));
            let header = (rest.len() - count).min(HEADER_BYTES);
            reader.push(&rest[count..count + header], &mut pool, &mut |frame| out.push(frame)).unwrap();
            rest = &rest[count + header..];
        }
        assert_eq!(out, frames);
    }

    #[test]
    fn too_long_a_frame_is_refused_before_it_comes() {
        let header = Header { kind: FrameKind::Data, at: At::op(0), len: 101 }.bytes();
        assert_eq!(parse_frames(&header, 101), Ok(Vec::new()));
        assert_eq!(parse_frames(&header, 100), Err(FrameTooLong { limit: 100, got: 101 }));
    }

    #[test]
    fn a_limit_is_for_what_is_under_way_too() {
        let header = Header { kind: FrameKind::Data, at: At::op(0), len: 101 }.bytes();
        let mut reader = FrameReader::new(101);
        reader.push(&header, &mut Pool::default(), &mut |_| panic!()).unwrap();
        assert_eq!(reader.limit(101), Ok(()));
        assert_eq!(reader.limit(100), Err(FrameTooLong { limit: 100, got: 101 }));
    }

    #[test]
    fn any_bytes_are_frames_or_too_long() {
        for seed in 0..200_u32 {
            let bytes: Vec<u8> = (0..500_u32)
                .map(|i| (seed.wrapping_mul(2_654_435_761).wrapping_add(i * i) >> (seed % 24)) as u8)
                .collect();
            if let Ok(frames) = parse_frames(&bytes, 100) {
                let again = wire(&frames);
                assert_eq!(again, bytes[..again.len()]);
            }
        }
    }

    #[test]
    fn memory_follows_the_bytes() {
        let mut reader = FrameReader::new(1 << 29);
        let header = Header { kind: FrameKind::Data, at: At::op(0), len: 1 << 29 }.bytes();
        reader.push(&header, &mut Pool::default(), &mut |_| panic!()).unwrap();
        reader.push(&[0; 100], &mut Pool::default(), &mut |_| panic!()).unwrap();
        assert!(reader.payload.unwrap().bytes.len() <= ALLOC_STEP + 100);
    }
}
