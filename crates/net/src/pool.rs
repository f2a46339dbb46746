//! Payload buffers that are used again.

/// Buffers below this size come from the allocator, which is quick with them.
const SMALL: usize = 2 << 10;
/// Buffers above this size are given back to the allocator, so that one long message doesn't hold memory.
const LARGE: usize = 4 << 20;
/// Buffers kept at most.
const KEPT: usize = 32;
/// A message's buffer is at most so many times as large as the message: what waits for its use is counted by its length, and a
/// peer that sends much of little would take all that it leaves unused.
const ROOMY: usize = 2;

/// A stack of used buffers, the warmest on top.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    buffers: Vec<Vec<u8>>,
}

impl Pool {
    /// An empty buffer with room for `capacity` bytes.
    pub(crate) fn empty(&mut self, capacity: usize) -> Vec<u8> {
        let mut buffer = self.any(capacity);
        buffer.clear();
        buffer.reserve(capacity);
        buffer
    }

    /// A buffer of `len` bytes of no meaning, to be written over. A used buffer of that size costs nothing.
    pub(crate) fn filled(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.any(len);
        buffer.resize(len, 0);
        buffer
    }

    /// Takes a buffer back.
    pub(crate) fn put(&mut self, buffer: Vec<u8>) {
        if (SMALL..=LARGE).contains(&buffer.capacity()) && self.buffers.len() < KEPT {
            self.buffers.push(buffer);
        }
    }

    fn any(&mut self, size: usize) -> Vec<u8> {
        if size < SMALL {
            return Vec::new();
        }
        let fits = |buffer: &Vec<u8>| buffer.capacity() <= size.saturating_mul(ROOMY);
        let warmest = self.buffers.iter().rposition(fits);
        warmest.map(|at| self.buffers.remove(at)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back() {
        let mut pool = Pool::default();
        let buffer = pool.filled(SMALL);
        let address = buffer.as_ptr();
        pool.put(buffer);
        let again = pool.filled(SMALL);
        assert_eq!((again.as_ptr(), again.len()), (address, SMALL));
        pool.put(again);
        assert!(pool.empty(SMALL).is_empty());
    }

    /// As a client may send them that nobody awaits.
    #[test]
    fn many_short_messages_hold_no_large_buffers() {
        let mut pool = Pool::default();
        (0..KEPT).for_each(|_| pool.put(vec![0; LARGE]));
        let messages: Vec<Vec<u8>> = (0..KEPT).map(|_| pool.filled(SMALL)).collect();
        let held: usize = messages.iter().map(Vec::capacity).sum();
        assert!(held <= ROOMY * KEPT * SMALL, "{held}");
        assert!(pool.empty(SMALL).capacity() <= ROOMY * SMALL);
        // The large ones are there for large messages still, and one that is too small grows.
        assert_eq!(pool.empty(LARGE / ROOMY).capacity(), LARGE);
        pool.put(vec![0; SMALL]);
        assert_eq!(pool.filled(3 * SMALL).len(), 3 * SMALL);
        assert_eq!(pool.buffers.len(), KEPT - 1);
    }

    #[test]
    fn small_and_large_ones_are_not_kept() {
        let mut pool = Pool::default();
        pool.put(vec![0; SMALL - 1]);
        pool.put(Vec::with_capacity(LARGE + 1));
        assert!(pool.buffers.is_empty());
        for _ in 0..2 * KEPT {
            pool.put(vec![0; SMALL]);
        }
        assert_eq!(pool.buffers.len(), KEPT);
    }
}
