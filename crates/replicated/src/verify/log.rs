//! What a party knows of the ANDs that it has computed and that are not yet proved: 7/8 of a byte for each.

use super::schedule::{FoldingSchedule, ProofParams};
use crate::planted::{Mistake, planted};
use tacit_kernel::bits;
use tacit_kernel::relation::{LeftPlanes, RightPlanes};

/// Bits that are known when an AND is begun: `x_i`, `y_i`, `x_(i-1)`, `y_(i-1)`, `rho_i`, `rho_(i-1)`.
pub(crate) const BEGUN: usize = 6;

/// Words of a plane of which seven at a time stay in a first cache.
const CACHED_WORDS: usize = 512;

/// ANDs in the order in which they are begun, which is that in which they are finished, and the same at all parties.
///
/// Planes are as long as they ever had to be, and those of batches that were proved are used again: clearing memory
/// would take as long as noting the ANDs.
pub(crate) struct Log {
    begun: Plane<[Vec<u64>; BEGUN]>,
    /// `z_(i-1)`, of those that are finished.
    received: Plane<[Vec<u64>; 1]>,
    cut: ProofParams,
    spare: Vec<Vec<u64>>,
}

/// Vectors that are filled alike: so many words, from `first` on. What is before that was taken.
#[derive(Default)]
struct Plane<V> {
    vectors: V,
    first: usize,
    words: usize,
}

impl<const N: usize> Plane<[Vec<u64>; N]> {
    /// So many words more of each; the last of them is zero, the others hold anything.
    fn extend(&mut self, words: usize) -> [&mut [u64]; N] {
        if self.first > self.words {
            // So a word is moved once at most for each that was taken.
            let kept = self.first..self.first + self.words;
            self.vectors.iter_mut().for_each(|vector| vector.copy_within(kept.clone(), 0));
            self.first = 0;
        }
        let begin = self.first + self.words;
        let range = begin..begin + words;
        self.words += words;
        self.vectors.each_mut().map(|vector| {
            if vector.len() < range.end {
                vector.resize(range.end, 0);
            }
            let part = &mut vector[range.clone()];
            if let Some(last) = part.last_mut() {
                *last = 0;
            }
            part
        })
    }

    /// Takes the first words of each vector, with zeros up to `padded`. Copies them, or the others if these are fewer.
    fn take(&mut self, words: usize, padded: usize, spare: &mut Vec<Vec<u64>>) -> [Vec<u64>; N] {
        let taken = self.first..self.first + words;
        let rest = taken.end..self.first + self.words;
        let whole = taken.start == 0 && rest.len() <= words;
        self.first = if whole || rest.is_empty() { 0 } else { taken.end };
        self.words = rest.len();
        self.vectors.each_mut().map(|vector| {
            let copied = if whole { rest.clone() } else { taken.clone() };
            let mut other = spare.pop().unwrap_or_default();
            if other.len() < copied.len() {
                other.resize(copied.len(), 0);
            }
            other[..copied.len()].copy_from_slice(&vector[copied]);
            let mut front = if whole { std::mem::replace(vector, other) } else { other };
            if front.len() < padded {
                front.resize(padded, 0);
            }
            front[words..padded].fill(0);
            if planted(Mistake::QuarterSkipped) {
                front[padded / 4 * 3..padded].fill(0);
            }
            front
        })
    }
}

impl Log {
    /// An empty one, to be proved in batches with these parameters.
    pub(crate) fn new(cut: ProofParams) -> Self {
        let (begun, received) = (Plane::default(), Plane::default());
        Self { begun, received, cut, spare: Vec::new() }
    }

    /// Room for so many words of ANDs that are begun: a plane for each of the [`BEGUN`] bits. All of it is to be
    /// written, but for the bits of the last word that have no AND: these are 0 in every plane.
    pub(crate) fn begin(&mut self, words: usize) -> [&mut [u64]; BEGUN] {
        self.begun.extend(words)
    }

    /// Notes the message that finishes what was begun first.
    pub(crate) fn finish(&mut self, message: &[u8]) {
        let [plane] = self.received.extend(message.len().div_ceil(8));
        bytemuck::cast_slice_mut(plane)[..message.len()].copy_from_slice(message);
    }

    /// A batch of finished ANDs, if there is a whole one.
    pub(crate) fn full(&mut self) -> Option<Batch> {
        (self.received.words >= self.cut.batch_words).then(|| self.take(self.cut.batch_words))
    }

    /// What is left at the end, less than a batch.
    ///
    /// # Panics
    /// If an AND is begun and not finished: a caller's mistake.
    pub(crate) fn rest(&mut self) -> Option<Batch> {
        assert_eq!(self.begun.words, self.received.words, "all ANDs are finished at the end");
        (self.received.words > 0).then(|| self.take(self.received.words))
    }

    /// Takes back the memory of a batch whose bits aren't needed any more.
    pub(crate) fn reuse(&mut self, batch: Batch) {
        self.spare.extend([batch.x, batch.y, batch.x_prev, batch.y_prev]);
        self.spare.extend([batch.mask, batch.mask_prev, batch.e, batch.e_prev]);
    }

    fn take(&mut self, words: usize) -> Batch {
        let schedule = FoldingSchedule::of(words, self.cut);
        let padded = schedule.padded_words();
        let mut e = self.spare.pop().unwrap_or_default();
        let [x, y, x_prev, y_prev, mask, mask_prev] = self.begun.take(words, padded, &mut self.spare);
        let [mut e_prev] = self.received.take(words, padded, &mut self.spare);
        if e.len() < padded {
            e.resize(padded, 0);
        }
        // What one of the two relations reads is still in the first cache for the other.
        for first in (0..padded).step_by(CACHED_WORDS) {
            let part = first..padded.min(first + CACHED_WORDS);
            let [x, y, x_prev, y_prev, mask_prev] =
                [&x, &y, &x_prev, &y_prev, &mask_prev].map(|plane| &plane[part.clone()]);
            let [e, e_prev] = [&mut e, &mut e_prev].map(|plane| &mut plane[part.clone()]);
            // e of the previous party's relation: x_(i-1) y_(i-1) ^ z_(i-1) ^ rho_(i-1).
            bits::and_xor(x_prev, y_prev, e_prev);
            bits::xor_assign(e_prev, mask_prev);
            // e of one's own: x_i y_i ^ z_i ^ rho_i, which is x_i y_(i-1) ^ x_(i-1) y_i ^ rho_(i-1).
            bits::and(x, y_prev, e);
            bits::and_xor(x_prev, y, e);
            bits::xor_assign(e, mask_prev);
        }
        Batch { schedule, words, x, y, x_prev, y_prev, mask, mask_prev, e, e_prev }
    }
}

/// ANDs that are proved together, padded with ANDs of zeros. What is behind the padding means nothing.
pub(crate) struct Batch {
    pub(crate) schedule: FoldingSchedule,
    /// Without the padding.
    pub(crate) words: usize,
    x: Vec<u64>,
    y: Vec<u64>,
    x_prev: Vec<u64>,
    y_prev: Vec<u64>,
    mask: Vec<u64>,
    mask_prev: Vec<u64>,
    e: Vec<u64>,
    e_prev: Vec<u64>,
}

impl Batch {
    fn plane<'a>(&self, vector: &'a [u64]) -> &'a [u64] {
        &vector[..self.schedule.padded_words()]
    }

    /// Of this party's own messages.
    pub(crate) fn own_left(&self) -> LeftPlanes<'_> {
        LeftPlanes { a: self.plane(&self.x), c: self.plane(&self.y), e: self.plane(&self.e) }
    }

    /// Of this party's own messages.
    pub(crate) fn own_right(&self) -> RightPlanes<'_> {
        RightPlanes {
            b: self.plane(&self.y_prev),
            d: self.plane(&self.x_prev),
            f: self.plane(&self.mask_prev),
        }
    }

    /// Of the previous party's messages, which this one received.
    pub(crate) fn left_of_prev(&self) -> LeftPlanes<'_> {
        LeftPlanes { a: self.plane(&self.x_prev), c: self.plane(&self.y_prev), e: self.plane(&self.e_prev) }
    }

    /// Of the next party's messages.
    pub(crate) fn right_of_next(&self) -> RightPlanes<'_> {
        RightPlanes { b: self.plane(&self.y), d: self.plane(&self.x), f: self.plane(&self.mask) }
    }

    /// What a corrupt party looks at.
    #[cfg(feature = "planted")]
    pub(crate) fn noted(&mut self, me: usize, number: u32) -> crate::planted::Noted<'_> {
        let words = self.schedule.padded_words();
        crate::planted::Noted {
            me,
            number,
            blocks: self.schedule.blocks(0),
            block_words: self.schedule.block_words,
            x: [&mut self.x[..words], &mut self.x_prev[..words]],
            y: [&mut self.y[..words], &mut self.y_prev[..words]],
            mask_prev: &mut self.mask_prev[..words],
            e: &mut self.e[..words],
            e_prev: &mut self.e_prev[..words],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_words(batch_words: usize) -> ProofParams {
        ProofParams { batch_words, ..ProofParams::DEFAULT }
    }

    /// Words of a stream that has no structure.
    fn noise(seed: u64, count: usize) -> Vec<u64> {
        (0..count as u64)
            .map(|at| (seed << 32 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
            .collect()
    }

    #[test]
    fn what_the_parties_note_of_an_and_fits_together() {
        let words = 5;
        let [xs, ys, masks] = [1, 2, 3].map(|kind| [0, 1, 2].map(|party| noise(kind << 4 | party, words)));
        let z: [Vec<u64>; 3] = std::array::from_fn(|me| {
            let before = (me + 2) % 3;
            let and = |a: &[u64], b: &[u64], w: usize| a[w] & b[w];
            (0..words)
                .map(|w| {
                    and(&xs[me], &ys[me], w)
                        ^ and(&xs[me], &ys[before], w)
                        ^ and(&xs[before], &ys[me], w)
                        ^ masks[me][w]
                        ^ masks[before][w]
                })
                .collect()
        });
        let batches = [0, 1, 2].map(|me| {
            let before = (me + 2) % 3;
            let mut log = Log::new(of_words(words));
            let planes = log.begin(words);
            let from = [&xs[me], &ys[me], &xs[before], &ys[before], &masks[me], &masks[before]];
            planes.into_iter().zip(from).for_each(|(plane, from)| plane.copy_from_slice(from));
            assert!(log.full().is_none(), "nothing was received yet");
            log.finish(bytemuck::cast_slice(&z[before]));
            log.full().expect("a whole batch")
        });
        for me in 0..3 {
            let (after, before) = ((me + 1) % 3, (me + 2) % 3);
            assert_eq!(batches[me].own_left(), batches[after].left_of_prev());
            assert_eq!(batches[me].own_right(), batches[before].right_of_next());
            let (LeftPlanes { a, c, e }, RightPlanes { b, d, f }) =
                (batches[me].own_left(), batches[me].own_right());
            assert!((0..a.len()).all(|w| a[w] & b[w] ^ c[w] & d[w] ^ e[w] ^ f[w] == 0));
        }
    }

    #[test]
    fn memory_that_is_used_again_leaves_nothing_behind() {
        let mut log = Log::new(of_words(2));
        for round in 0..3 {
            let value = if round == 0 { u64::MAX } else { 0 };
            for plane in log.begin(2) {
                bytemuck::cast_slice_mut::<u64, u8>(plane)[..9].fill(value as u8);
            }
            log.finish(&[value as u8; 9]);
            let batch = log.full().unwrap();
            let own = [batch.own_left().all(), batch.own_right().all()].concat();
            assert!(own.iter().all(|plane| plane[2..].iter().all(|word| *word == 0)), "padding");
            assert_eq!(own[0][..2], [value, value & 0xff]);
            log.reuse(batch);
        }
    }

    /// However many batches a message completes: what is noted of each is what was begun, and nothing is moved for each of
    /// them that isn't its own.
    #[test]
    fn many_small_batches_of_one_message_move_little() {
        let (batch, words) = (3, 1000);
        let mut log = Log::new(of_words(batch));
        let mut next = 0;
        for round in 0..4_u64 {
            let from = noise(round, words);
            log.begin(words).into_iter().for_each(|plane| plane.copy_from_slice(&from));
            log.finish(&vec![0; 8 * words]);
            let begun = log.begun.vectors[0].as_ptr();
            while let Some(taken) = log.full() {
                for word in 0..batch {
                    let round = ((next + word) / words) as u64;
                    assert_eq!(taken.x[word], noise(round, words)[(next + word) % words]);
                }
                next += batch;
                log.reuse(taken);
            }
            // The vector that all of it lies in is still the same: no batch has taken it along.
            assert_eq!(log.begun.vectors[0].as_ptr(), begun);
            assert!(log.begun.vectors[0].len() <= 2 * words + batch);
        }
        assert_eq!(next, 3999);
        assert_eq!(log.rest().unwrap().x[0], noise(3, words)[999]);
    }

    #[test]
    fn batches_are_cut_by_words_wherever_messages_end() {
        let mut log = Log::new(of_words(4));
        for (words, bytes) in [(3, 24), (2, 13), (4, 32)] {
            log.begin(words).into_iter().for_each(|plane| plane.fill(words as u64));
            log.finish(&vec![0; bytes]);
        }
        let first = log.full().unwrap();
        assert_eq!((first.words, &first.x[..5]), (4, &[3, 3, 3, 2, 0][..]));
        assert_eq!(log.full().unwrap().x[..4], [2, 4, 4, 4]);
        assert!(log.full().is_none());
        assert_eq!(log.rest().unwrap().words, 1);
        assert!(log.rest().is_none());
    }
}
