//! Memory for shares and messages: aligned to cache lines, always initialised, kept for reuse.

use crate::Element;
use std::fmt;
use zeroize::Zeroize;

/// Bytes that begin at a 64-byte boundary and can be seen as elements of any type.
///
/// Fresh memory comes zeroed from the system, page by page as it is touched.
#[derive(Default)]
pub struct Buffer {
    /// The bytes and, around them, what it takes to begin at a boundary.
    store: Vec<u8>,
    /// Where in `store` the first byte is.
    start: usize,
    len: usize,
}

/// What every buffer begins at a multiple of: a cache line, which is also the widest vector.
const ALIGNMENT: usize = 64;

impl Buffer {
    /// `len` zero bytes.
    pub fn new(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let mut store = vec![0; len.next_multiple_of(ALIGNMENT) + ALIGNMENT - 1];
        use_huge_pages(&mut store);
        let start = store.as_ptr().align_offset(ALIGNMENT);
        Self { store, start, len }
    }

    /// `count` elements 0 of `E`.
    pub fn of_words<E: Element>(count: usize) -> Self {
        Self::new(count.checked_mul(E::BYTES).expect("a buffer's size must fit the address space"))
    }

    /// Bytes in use.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no byte is in use.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The length up to which [`resize`](Self::resize) and [`reuse`](Self::reuse) allocate nothing.
    pub fn capacity(&self) -> usize {
        self.store.len().saturating_sub(ALIGNMENT - 1)
    }

    /// Makes the length `len`: bytes that were there stay, further ones are zero.
    pub fn resize(&mut self, len: usize) {
        if len > self.capacity() {
            let mut larger = Self::new(len);
            larger.bytes_mut()[..self.len].copy_from_slice(self.bytes());
            self.wipe();
            *self = larger;
        } else {
            let old = std::mem::replace(&mut self.len, len);
            if old < len {
                self.bytes_mut()[old..].fill(0);
            }
        }
    }

    /// Makes the length `len`, for a caller who will write all of it: what the bytes hold is unspecified,
    /// either zeros or what this buffer held before.
    pub fn reuse(&mut self, len: usize) {
        if len > self.capacity() {
            self.wipe();
            *self = Self::new(len);
        } else {
            self.len = len;
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.store[self.start..self.start + self.len]
    }

    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.store[self.start..self.start + self.len]
    }

    /// The bytes as elements; bytes after the last whole one are left out.
    pub fn words<E: Element>(&self) -> &[E] {
        let whole = self.len / E::BYTES * E::BYTES;
        if whole == 0 {
            return &[];
        }
        bytemuck::cast_slice(&self.bytes()[..whole])
    }

    /// The bytes as elements; bytes after the last whole one are left out.
    pub fn words_mut<E: Element>(&mut self) -> &mut [E] {
        let whole = self.len / E::BYTES * E::BYTES;
        if whole == 0 {
            return &mut [];
        }
        bytemuck::cast_slice_mut(&mut self.bytes_mut()[..whole])
    }

    /// Overwrites with zeros all memory that the buffer has, in use or not, in a way that isn't optimised out.
    /// Length and capacity stay.
    pub fn wipe(&mut self) {
        self.store.as_mut_slice().zeroize();
    }
}

/// What is worth asking for huge pages: below, the few pages are touched as fast.
#[cfg(target_os = "linux")]
const HUGE: usize = 4 << 20;

/// Asks the system to back large memory by huge pages. It comes a page at a time as it is first touched, and 512
/// small faults take longer than filling one huge page. Only advice: nothing depends on the answer.
#[cfg(target_os = "linux")]
fn use_huge_pages(store: &mut [u8]) {
    const PAGE: usize = 4096;
    if store.len() < HUGE {
        return;
    }
    let skipped = store.as_ptr().align_offset(PAGE);
    let Some(pages) = store.get_mut(skipped..) else { return };
    let whole = pages.len() / PAGE * PAGE;
    // SAFETY: the range is whole pages of memory that we own, and this advice changes neither contents nor rights.
    let _ =
        unsafe { rustix::mm::madvise(pages.as_mut_ptr().cast(), whole, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn use_huge_pages(_store: &mut [u8]) {}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.len);
        copy.bytes_mut().copy_from_slice(self.bytes());
        copy
    }
}

/// Says the length, never the contents: they may be secret.
impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::lengths;

    #[test]
    fn is_aligned_and_zero_at_every_length() {
        for len in lengths(1000, [0, 1, 63, 64, 65, 1000, 1 << 20]) {
            let buffer = Buffer::new(len);
            assert_eq!((buffer.len(), buffer.is_empty()), (len, len == 0));
            assert!(buffer.bytes().iter().all(|&byte| byte == 0));
            assert!(len == 0 || buffer.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
            assert_eq!(buffer.words::<u64>().len(), len / 8);
            assert_eq!(buffer.words::<u8>().len(), len);
        }
        assert_eq!(Buffer::of_words::<u32>(5).len(), 20);
    }

    #[test]
    fn resizing_keeps_what_was_there_and_zeroes_the_rest() {
        let mut buffer = Buffer::new(3);
        buffer.bytes_mut().copy_from_slice(&[1, 2, 3]);
        buffer.resize(1000);
        assert_eq!(buffer.bytes()[..4], [1, 2, 3, 0]);
        buffer.bytes_mut().fill(7);
        let place = buffer.bytes().as_ptr();
        buffer.resize(2);
        buffer.resize(1000);
        assert_eq!(buffer.bytes()[..3], [7, 7, 0]);
        assert!(buffer.bytes()[2..].iter().all(|&byte| byte == 0));
        assert_eq!(buffer.bytes().as_ptr(), place);
    }

    #[test]
    fn reuse_allocates_only_beyond_the_capacity() {
        let mut buffer = Buffer::new(100);
        let place = buffer.bytes().as_ptr();
        buffer.reuse(10);
        buffer.reuse(buffer.capacity());
        assert_eq!(buffer.bytes().as_ptr(), place);
        buffer.reuse(buffer.capacity() + 1);
        assert!(buffer.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
    }

    #[test]
    fn words_are_little_endian_views_of_the_bytes() {
        let mut buffer = Buffer::new(9);
        buffer.words_mut::<u64>()[0] = 0x0807_0605_0403_0201;
        assert_eq!(buffer.bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 0]);
        assert_eq!(buffer.words::<u16>(), [0x0201, 0x0403, 0x0605, 0x0807]);
    }

    #[test]
    fn wiping_clears_unused_memory_too_and_nothing_is_printed() {
        let mut buffer = Buffer::new(64);
        buffer.bytes_mut().fill(0xaa);
        let copy = buffer.clone();
        buffer.reuse(1);
        buffer.wipe();
        buffer.reuse(64);
        assert!(buffer.bytes().iter().all(|&byte| byte == 0));
        assert_eq!(copy.bytes(), [0xaa; 64]);
        assert_eq!(format!("{copy:?}"), "Buffer { len: 64, .. }");
    }
}
