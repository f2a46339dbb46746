//! Memory of vectors of words, used again.

use super::field::LONG;

/// Vectors that are kept: a batch's proofs have four long ones, and as many that these are folded to.
const SPARE: usize = 8;

/// Long vectors of words that aren't needed any more: new memory would have to be cleared by the system, page by page.
#[derive(Default)]
pub(super) struct LongVectors(Vec<Vec<u64>>);

impl LongVectors {
    /// So many zeros.
    pub(super) fn take(&mut self, len: usize) -> Vec<u64> {
        let fitting = self.0.iter().enumerate().filter(|(_, vector)| vector.capacity() >= len);
        let smallest = fitting.filter(|_| len >= LONG).min_by_key(|(_, vector)| vector.capacity());
        let at = smallest.map(|(at, _)| at);
        let mut vector = at.map(|at| self.0.swap_remove(at)).unwrap_or_default();
        vector.clear();
        vector.resize(len, 0);
        vector
    }

    /// Takes back what isn't needed any more.
    pub(super) fn put(&mut self, vector: Vec<u64>) {
        if vector.len() >= LONG && self.0.len() < SPARE {
            self.0.push(vector);
        }
    }
}
