//! PRSS: pairwise pseudo-random secret sharing (Cramer, Damgård, Ishai 2005; Araki et al. 2016, section 2.2).
//!
//! Two endpoints that hold a key expand the same randomness from it, without a message. The difference of two such
//! streams at each of three parties is a zero-sharing ([`PrssStream::xor`], [`PrssStream::sub`]).
//!
//! **Addresses.** A stream belongs to a lane. A draw names its step and operation ([`Draw`]) and the block within it,
//! never just "the next". Both endpoints get the same bytes for the same address, in any order and in any pieces.
//!
//! **No reuse.** A second draw at one address would mask two messages with one pad. Builds with debug assertions keep
//! the set of used addresses and panic at a repetition.
//!
//! The stream is AES-128 in counter mode: the computational correlated randomness of Araki et al. 2016, section 2.2,
//! with the address for the counter `id`.

use tacit_kernel::Element;
use tacit_kernel::aes::Aes128Ctr;

/// The address of a draw within a lane: everything but the position within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// Which step of a protocol.
    pub part: u16,
    /// Which operation, input or output.
    pub op: u32,
}

impl Draw {
    /// The first half of a block's counter; the second half is the block's number.
    const fn nonce(self, lane: u16) -> u64 {
        (lane as u64) << 48 | (self.part as u64) << 32 | self.op as u64
    }
}

/// Bytes in a block; a draw starts at a whole block.
const BLOCK: usize = 16;

/// A key that two endpoints share, and the streams under it.
pub struct PrssStream {
    cipher: Aes128Ctr,
    lane: u16,
    /// What is added to the operations of draws.
    first_op: u32,
    drawn: u64,
    #[cfg(debug_assertions)]
    used: used::Used,
}

impl std::fmt::Debug for PrssStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PrssStream").field("drawn", &self.drawn).finish_non_exhaustive()
    }
}

impl PrssStream {
    /// A lane's stream under `key`.
    pub fn new(key: &[u8; 16], lane: u16) -> Self {
        Self {
            cipher: Aes128Ctr::new(key),
            lane,
            first_op: 0,
            drawn: 0,
            #[cfg(debug_assertions)]
            used: used::Used::default(),
        }
    }

    /// Goes on to another plan under the same key: from now on operation `op` of every draw is `first_op + op`.
    pub fn count_from(&mut self, first_op: u32) {
        self.first_op = first_op;
    }

    /// Blocks drawn so far; both holders of the key have the same number after the same work.
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Fills `out` with the stream at `draw`, from block `first` on.
    pub fn fill(&mut self, draw: Draw, first: u64, out: &mut [u8]) {
        let nonce = self.note(draw, first, out.len());
        self.cipher.fill(nonce, first, out);
    }

    /// Fills `out` with `self ^ other`: an XOR-sharing of zero when three parties do so with their keys in turn.
    pub fn xor(&mut self, other: &mut Self, draw: Draw, first: u64, out: &mut [u8]) {
        let nonce = self.note(draw, first, out.len());
        other.note(draw, first, out.len());
        tacit_kernel::aes::xor_streams(&self.cipher, &other.cipher, nonce, first, out);
    }

    /// Fills `out` with elements, each made of [`Element::DRAWN`] bytes of the stream at `draw`, from block `first` on.
    pub fn fill_elements<E: Element>(&mut self, draw: Draw, first: u64, out: &mut [E]) {
        let nonce = self.note(draw, first, out.len() * E::DRAWN);
        E::fill(&self.cipher, nonce, first, out);
    }

    /// As [`fill_elements`](Self::fill_elements), in pairs: first elements and second ones.
    pub fn fill_pairs<E: Element>(&mut self, draw: Draw, first: u64, out: [&mut [E]; 2]) {
        let nonce = self.note(draw, first, 2 * out[0].len() * E::DRAWN);
        E::fill_pairs(&self.cipher, nonce, first, out);
    }

    /// Expands again elements that [`fill_elements`](Self::fill_elements) or [`fill_pairs`](Self::fill_pairs) has drawn
    /// at `draw` from block 0 on, in the order of `places`. So a caller needn't keep what it drew.
    ///
    /// # Security
    ///
    /// May only reproduce values already used for this same message; bypasses the reuse check.
    pub fn reexpand<E: Element, const N: usize>(&mut self, draw: Draw, places: &[u32], out: [&mut [E]; N]) {
        self.drawn += places.len() as u64;
        let draw = Draw { op: self.first_op.wrapping_add(draw.op), ..draw };
        E::fill_at(&self.cipher, draw.nonce(self.lane), places, out);
    }

    /// Expands again elements that [`fill_elements`](Self::fill_elements) or a difference has drawn at `draw`, from block `first`
    /// on, one after another.
    ///
    /// # Security
    ///
    /// May only reproduce values already used for this same message; bypasses the reuse check.
    pub fn refill<E: Element>(&mut self, draw: Draw, first: u64, out: &mut [E]) {
        self.drawn += out.len() as u64;
        let draw = Draw { op: self.first_op.wrapping_add(draw.op), ..draw };
        E::fill(&self.cipher, draw.nonce(self.lane), first, out);
    }

    /// Fills `out` with `self - other` in elements of `E`: an additive sharing of zero likewise.
    pub fn sub<E: Element>(&mut self, other: &mut Self, draw: Draw, first: u64, out: &mut [E]) {
        let bytes = out.len() * E::DRAWN;
        let nonce = self.note(draw, first, bytes);
        other.note(draw, first, bytes);
        E::fill_difference(&self.cipher, &other.cipher, nonce, first, out);
    }

    /// Counts a draw, and gives the first half of its blocks' counters.
    fn note(&mut self, draw: Draw, first: u64, bytes: usize) -> u64 {
        let draw = Draw { op: self.first_op.wrapping_add(draw.op), ..draw };
        let blocks = bytes.div_ceil(BLOCK) as u64;
        self.drawn += blocks;
        #[cfg(debug_assertions)]
        self.used.insert(draw, first, blocks);
        #[cfg(not(debug_assertions))]
        let _ = first;
        draw.nonce(self.lane)
    }
}

#[cfg(debug_assertions)]
mod used {
    //! The set of used addresses, as intervals of blocks.

    use super::Draw;
    use std::collections::{BTreeMap, HashMap};

    #[derive(Default)]
    pub(super) struct Used(HashMap<Draw, BTreeMap<u64, u64>>);

    impl Used {
        /// Notes `first..first + blocks`; an overlap with what was noted before is a bug in a protocol.
        pub(super) fn insert(&mut self, draw: Draw, first: u64, blocks: u64) {
            if blocks == 0 {
                return;
            }
            let intervals = self.0.entry(draw).or_default();
            let end = first + blocks;
            if let Some((&start, &stop)) = intervals.range(..end).next_back() {
                assert!(stop <= first, "randomness at {draw:?}, blocks {first}..{end}, was drawn before");
                if stop == first {
                    intervals.insert(start, end);
                    return;
                }
            }
            intervals.insert(first, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_kernel::field::{Fp61, Fp128};

    const DRAW: Draw = Draw { part: 2, op: 3 };

    #[test]
    fn two_holders_get_the_same_bytes_in_whatever_pieces() {
        let (mut a, mut b) = (PrssStream::new(&[7; 16], 1), PrssStream::new(&[7; 16], 1));
        let (mut whole, mut pieces) = ([0; 64], [0; 64]);
        a.fill(DRAW, 5, &mut whole);
        b.fill(DRAW, 7, &mut pieces[32..]);
        b.fill(DRAW, 5, &mut pieces[..32]);
        assert_eq!(whole, pieces);
        assert_eq!(a.drawn(), b.drawn());
    }

    #[test]
    fn what_was_drawn_is_drawn_again_in_any_order() {
        fn again<E: Element>() {
            let mut stream = PrssStream::new(&[7; 16], 1);
            stream.count_from(40);
            let pairs = Draw { part: 3, ..DRAW };
            let [mut drawn, mut left, mut right] = [(); 3].map(|()| vec![E::ZERO; 1500]);
            stream.fill_elements(DRAW, 0, &mut drawn);
            stream.fill_pairs(pairs, 0, [&mut left, &mut right]);
            for count in [0, 1, 255, 511, 512, 513, 1400] {
                let places: Vec<u32> = (0..count).map(|at| at * 7919 % 1500).collect();
                let at_places = |of: &[E]| -> Vec<E> { places.iter().map(|&at| of[at as usize]).collect() };
                let [mut one, mut other] = [(); 2].map(|()| vec![E::ZERO; places.len()]);
                stream.reexpand(DRAW, &places, [&mut one]);
                assert!(one == at_places(&drawn), "{count} of {} bytes", E::BYTES);
                stream.reexpand(pairs, &places, [&mut one, &mut other]);
                assert!(one == at_places(&left), "{count} pairs of {} bytes", E::BYTES);
                assert!(other == at_places(&right), "{count} pairs of {} bytes", E::BYTES);
            }
        }
        again::<u8>();
        again::<u16>();
        again::<u32>();
        again::<u64>();
        again::<u128>();
        again::<Fp61>();
        again::<Fp128>();
    }

    #[test]
    fn pairs_are_elements_that_follow_each_other_in_whatever_pieces() {
        let [mut a, mut b] = [(); 2].map(|()| PrssStream::new(&[7; 16], 0));
        let (mut all, mut left, mut right) = ([0_u64; 600], [0; 300], [0; 300]);
        a.fill_elements(DRAW, 0, &mut all);
        for pairs in [0..128, 128..300] {
            b.fill_pairs(DRAW, pairs.start as u64, [&mut left[pairs.clone()], &mut right[pairs]]);
        }
        let pairs: Vec<[u64; 2]> = left.into_iter().zip(right).map(|(one, other)| [one, other]).collect();
        assert_eq!(pairs.as_flattened(), all);
        assert_eq!(a.drawn(), b.drawn());
    }

    #[test]
    fn elements_are_the_streams_bytes_and_their_differences_add_up() {
        let [mut a, mut b] = [[7; 16], [8; 16]].map(|key| PrssStream::new(&key, 0));
        let mut bytes = [0; 64];
        a.fill(DRAW, 5, &mut bytes);
        let (mut whole, mut part) = ([Fp61::ZERO; 4], [Fp61::ZERO; 2]);
        Fp61::draw(&bytes, &mut whole);
        let other = Draw { op: 9, ..DRAW };
        PrssStream::new(&[7; 16], 0).fill_elements(DRAW, 7, &mut part);
        assert_eq!(part, whole[2..]);
        let (mut forth, mut back) = ([Fp61::ZERO; 4], [Fp61::ZERO; 4]);
        a.sub(&mut b, other, 0, &mut forth);
        PrssStream::new(&[8; 16], 0).sub(&mut PrssStream::new(&[7; 16], 0), other, 0, &mut back);
        assert!(forth.iter().zip(back).all(|(x, y)| x.wrapping_add(y) == Fp61::ZERO));
        assert_eq!((a.drawn(), b.drawn()), (8, 4));
    }

    #[test]
    fn every_part_of_an_address_matters() {
        let mut seen = std::collections::HashSet::new();
        for lane in [0, 1, u16::MAX] {
            let mut stream = PrssStream::new(&[7; 16], lane);
            for draw in [DRAW, Draw { part: 3, ..DRAW }, Draw { op: 4, ..DRAW }] {
                for first in [0, 1, 1 << 40] {
                    let mut block = [0; 16];
                    stream.fill(draw, first, &mut block);
                    assert!(seen.insert(block));
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "was drawn before")]
    fn a_repeated_draw_is_noticed() {
        let mut stream = PrssStream::new(&[7; 16], 0);
        stream.fill(DRAW, 0, &mut [0; 64]);
        stream.fill(DRAW, 3, &mut [0; 16]);
    }

    #[test]
    fn no_key_in_debug_output() {
        assert!(!format!("{:?}", PrssStream::new(&[0xab; 16], 0)).contains("171"));
    }
}
