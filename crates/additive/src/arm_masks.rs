//! The masks of a branch ([`crate::arms`]).

use crate::share::Share;
use std::ops::Range;
use tacit_kernel::Buffer;
use tacit_session::{Draw, PrssStream};
use zeroize::Zeroizing;

/// Words of a seed: 128 bits.
pub const SEED_WORDS: usize = 2;

/// Words of a mask for a triple, which is 64 side by side: one for each factor.
pub(crate) const MASK_WORDS: usize = 2;

/// The two masks of a branch.
#[derive(Clone)]
pub(crate) struct ArmMasks {
    /// The places of the triples that they are for.
    pub(crate) triples: Range<u64>,
    /// Seeds of each mask, to be expanded; 0 if masks are there at full length.
    pub(crate) seeds: usize,
    /// `s`, as the supply gave it.
    pub(crate) bit: Share,
    pub(crate) masks: [Share; 2],
}

impl ArmMasks {
    /// Adds a mask to the factors of triples at these places, of those that it is for.
    pub(crate) fn add(&self, number: usize, places: &Range<u64>, [a, b]: [&mut [u64]; 2]) {
        let masked = places.start.max(self.triples.start)..places.end.min(self.triples.end);
        if masked.is_empty() {
            return;
        }
        let own = [&masked.start, &masked.end].map(|place| (place - places.start) as usize);
        let [a, b] = [a, b].map(|factor| &mut factor[own[0]..own[1]]);
        if self.seeds == 0 {
            let first = MASK_WORDS * (masked.start - self.triples.start) as usize;
            return add(&self.masks[number].value.words()[first..], [a, b]);
        }
        for seed in self.masks[number].value.bytes().chunks_exact(8 * SEED_WORDS) {
            add(Expanded::new(seed, &masked).0.words(), [&mut *a, &mut *b]);
        }
    }
}

/// Adds a word of a mask to each factor in turn.
fn add(mask: &[u64], [a, b]: [&mut [u64]; 2]) {
    for ((a, b), mask) in a.iter_mut().zip(b).zip(mask.as_chunks::<MASK_WORDS>().0) {
        *a ^= mask[0];
        *b ^= mask[1];
    }
}

/// A seed's mask at some places; wiped when it is dropped.
struct Expanded(Buffer);

impl Expanded {
    fn new(seed: &[u8], places: &Range<u64>) -> Self {
        let mut key = Zeroizing::new([0; 8 * SEED_WORDS]);
        key.copy_from_slice(seed);
        let mut mask = Buffer::of_words::<u64>(MASK_WORDS * (places.end - places.start) as usize);
        // The key is a branch's own, and each place is a block.
        PrssStream::new(&key, 0).fill(Draw { part: 0, op: 0 }, places.start, mask.bytes_mut());
        Self(mask)
    }
}

impl Drop for Expanded {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(words: &[u64]) -> Share {
        let mut value = Buffer::of_words::<u64>(words.len());
        value.words_mut().copy_from_slice(words);
        Share { value, mac: None }
    }

    /// What a mask adds to zeros at some places.
    fn added(masks: &ArmMasks, number: usize, places: Range<u64>) -> [Vec<u64>; 2] {
        let [mut a, mut b] = [(); 2].map(|()| vec![0; (places.end - places.start) as usize]);
        masks.add(number, &places, [&mut a, &mut b]);
        [a, b]
    }

    #[test]
    fn masks_at_full_length_are_for_their_places_alone() {
        let masks = ArmMasks {
            triples: 7..9,
            seeds: 0,
            bit: share(&[0]),
            masks: [share(&[1, 2, 3, 4]), share(&[5, 6, 7, 8])],
        };
        assert_eq!(added(&masks, 0, 7..9), [vec![1, 3], vec![2, 4]]);
        assert_eq!(added(&masks, 1, 8..9), [vec![7], vec![8]]);
        assert_eq!(added(&masks, 0, 5..8), [vec![0, 0, 1], vec![0, 0, 2]]);
        assert_eq!(added(&masks, 0, 8..11), [vec![3, 0, 0], vec![4, 0, 0]]);
        for elsewhere in [0..7, 9..16] {
            assert_eq!(added(&masks, 0, elsewhere), [vec![0; 7], vec![0; 7]]);
        }
    }

    /// A mask of one triple is as long as a seed: what it is isn't told by its length.
    #[test]
    fn a_seed_is_expanded_and_a_mask_of_its_length_is_not() {
        let words = [share(&[1, 2]), share(&[3, 4])];
        let of = |seeds| ArmMasks { triples: 0..4, seeds, bit: share(&[0]), masks: words.clone() };
        assert_eq!(added(&of(0), 0, 0..1), [vec![1], vec![2]]);
        let expanded = added(&of(1), 0, 0..4);
        assert_ne!(expanded.each_ref().map(|side| side[0]), [1, 2]);
        // Whatever is asked for at a time, a place has one mask.
        assert_eq!(added(&of(1), 0, 2..3), expanded.each_ref().map(|side| vec![side[2]]));
        assert_eq!(added(&of(1), 0, 3..6), expanded.each_ref().map(|side| vec![side[3], 0, 0]));
        let all: std::collections::HashSet<u64> = expanded.concat().into_iter().collect();
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn several_seeds_add_up() {
        let [one, other] = [[1, 2], [3, 4]];
        let of = |words: &[u64]| ArmMasks {
            triples: 0..8,
            seeds: words.len() / SEED_WORDS,
            bit: share(&[0]),
            masks: [share(words), share(words)],
        };
        let [one_a, one_b] = added(&of(&one), 1, 5..8);
        let [other_a, other_b] = added(&of(&other), 1, 5..8);
        let sum = |one: &[u64], other: &[u64]| one.iter().zip(other).map(|(a, b)| a ^ b).collect::<Vec<_>>();
        assert_eq!(
            added(&of(&[one, other].concat()), 1, 5..8),
            [sum(&one_a, &other_a), sum(&one_b, &other_b)]
        );
        assert_eq!(added(&of(&[one, one].concat()), 1, 5..8), [[0; 3], [0; 3]]);
    }
}
