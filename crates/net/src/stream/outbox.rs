//! Frames on their way out, as the stretches of bytes that they are written from.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::frame::{Frame, HEADER_BYTES};
use crate::pool::Pool;

/// Payloads below this size are copied together with their headers; longer ones are written from where they
/// are.
const COPIED: usize = 4 << 10;
/// A stretch of copied frames is closed when it has grown to this.
const STRETCH: usize = 32 << 10;

/// A queue of bytes to be written.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    stretches: VecDeque<Stretch>,
    /// Bytes of the first stretch that have been written.
    written: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Stretch {
    bytes: Vec<u8>,
    /// Headers and short payloads, to which more can be added.
    open: bool,
}

impl Outbox {
    /// A queue with something at its head that is no frame.
    pub(crate) fn starting_with(bytes: Vec<u8>) -> Self {
        let mut outbox = Self { bytes: bytes.len(), ..Self::default() };
        if !bytes.is_empty() {
            outbox.stretches.push_back(Stretch { bytes, open: false });
        }
        outbox
    }

    pub(crate) fn push(&mut self, frame: Frame, pool: &mut Pool) {
        let header = frame.header().bytes();
        self.bytes += header.len() + frame.payload.len();
        self.copy(&header);
        if frame.payload.len() < COPIED {
            self.copy(&frame.payload);
            pool.put(frame.payload);
        } else {
            self.stretches.push_back(Stretch { bytes: frame.payload, open: false });
        }
    }

    /// Bytes not written yet.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// What is to be written next, in order: as many stretches as there is room for. The number used.
    pub(crate) fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut skip = self.written;
        let mut count = 0;
        for (slice, stretch) in slices.iter_mut().zip(&self.stretches) {
            *slice = IoSlice::new(stretch.bytes.get(skip..).unwrap_or_default());
            skip = 0;
            count += 1;
        }
        count
    }

    /// Says that the next `count` bytes have been written.
    pub(crate) fn advance(&mut self, count: usize, pool: &mut Pool) {
        self.bytes -= count;
        self.written += count;
        while let Some(first) = self.stretches.front()
            && self.written >= first.bytes.len()
        {
            self.written -= first.bytes.len();
            if let Some(done) = self.stretches.pop_front() {
                pool.put(done.bytes);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn copy(&mut self, bytes: &[u8]) {
        match self.stretches.back_mut() {
            Some(last) if last.open && last.bytes.len() < STRETCH => last.bytes.extend_from_slice(bytes),
            _ => {
                let mut stretch = Vec::with_capacity(bytes.len().max(HEADER_BYTES));
                stretch.extend_from_slice(bytes);
                self.stretches.push_back(Stretch { bytes: stretch, open: true });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::At;

    #[test]
    fn what_goes_in_comes_out_whatever_the_pieces() {
        let lens = [0, 1, 63, 64, 65, COPIED - 1, COPIED, COPIED + 1, 0, 100_000, 5, 20_000, 3000, 3000];
        for piece in [1, 16, 17, 4096, 1 << 20] {
            let (mut outbox, mut pool) = (Outbox::default(), Pool::default());
            let (mut expected, mut written) = (Vec::new(), Vec::new());
            for (op, len) in lens.into_iter().enumerate() {
                let frame = Frame::data(At::op(op as u32), (0..len).map(|i| (i + op) as u8).collect());
                expected.extend_from_slice(&frame.header().bytes());
                expected.extend_from_slice(&frame.payload);
                outbox.push(frame, &mut pool);
                if op % 3 == 0 {
                    write(&mut outbox, &mut pool, piece, &mut written);
                }
            }
            while outbox.len() > 0 {
                write(&mut outbox, &mut pool, piece, &mut written);
            }
            assert!(written == expected);
            assert_eq!(outbox.len(), 0);
        }
    }

    fn write(outbox: &mut Outbox, pool: &mut Pool, mut piece: usize, written: &mut Vec<u8>) {
        let before = written.len();
        let mut slices = [IoSlice::new(&[]); 4];
        let count = outbox.slices(&mut slices);
        for slice in &slices[..count] {
            let taken = piece.min(slice.len());
            written.extend_from_slice(&slice[..taken]);
            piece -= taken;
        }
        outbox.advance(written.len() - before, pool);
    }
}
