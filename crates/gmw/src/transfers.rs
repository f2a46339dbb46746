//! What is kept of random oblivious transfers: some bits of each value.
//!
//! A transfer from `P_i` to `P_j` gives `P_i` vectors `r_0`, `r_1` of bits and `P_j` a bit `c` and `r_c`. With `d =
//! r_0 ^ r_1` the two have shares `r_0` and `r_c` of `c d`: a product of a random bit of one with a random vector of
//! the other. Vectors have a bit for triples, and up to 128 for products of a bit with a vector.

use tacit_kernel::{Buffer, bits};
use tacit_ot::{Received, Sent, Sink};
use zeroize::Zeroizing;

/// Transfers with one peer in both directions: of all values the lowest bits, then the next ones. Wiped when dropped.
pub(crate) struct Pair {
    /// `c`, as receiver.
    pub(crate) choices: Buffer,
    /// `r_c`, as receiver.
    pub(crate) received: Buffer,
    /// `r_0`, as sender.
    pub(crate) zeros: Buffer,
    /// `r_0 ^ r_1`, as sender.
    pub(crate) differences: Buffer,
}

impl Pair {
    fn new(words: usize, length: usize) -> Self {
        let [received, zeros, differences] = [(); 3].map(|()| Buffer::of_words::<u64>(words * length));
        Self { choices: Buffer::of_words::<u64>(words), received, zeros, differences }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for vector in [&mut self.choices, &mut self.received, &mut self.zeros, &mut self.differences] {
            vector.wipe();
        }
    }
}

/// Takes transfers with all parties.
pub(crate) struct Transfers {
    /// By party; this one's own is empty.
    pub(crate) pairs: Vec<Pair>,
    /// Times 64 transfers.
    pub(crate) words: usize,
    /// Bits of each value.
    pub(crate) length: usize,
}

impl Transfers {
    /// For `words` times 64 transfers with every other party, in each direction, of which so many bits are kept.
    pub(crate) fn new(me: usize, parties: usize, words: usize, length: usize) -> Self {
        let pair = |party| Pair::new(if party == me { 0 } else { words }, length);
        Self { pairs: (0..parties).map(pair).collect(), words, length }
    }

    /// Puts the bits of some values, the first of which is number `first`, into their places of all.
    fn keep(words: usize, length: usize, first: usize, values: &[u128], out: &mut Buffer) {
        let own = first / 64..(first + values.len()).div_ceil(64);
        let out = &mut out.words_mut::<u64>()[..words * length];
        bits::lowest(values, &mut out[own.clone()]);
        let mut shifted = Zeroizing::new(if length > 1 { values.to_vec() } else { Vec::new() });
        for out in out.chunks_exact_mut(words).skip(1) {
            shifted.iter_mut().for_each(|value| *value >>= 1);
            bits::lowest(&shifted, &mut out[own.clone()]);
        }
    }
}

impl Sink for Transfers {
    fn sent(&mut self, Sent { peer, first, zeros, ones }: Sent<'_>) {
        let (words, length) = (self.words, self.length);
        let Pair { zeros: own, differences, .. } = &mut self.pairs[peer];
        Self::keep(words, length, first, zeros, own);
        Self::keep(words, length, first, ones, differences);
        let sent = first / 64..(first + zeros.len()).div_ceil(64);
        let (own, differences) = (own.words::<u64>(), differences.words_mut::<u64>());
        for (own, differences) in own.chunks_exact(words).zip(differences.chunks_exact_mut(words)) {
            bits::xor_assign(&mut differences[sent.clone()], &own[sent.clone()]);
        }
    }

    fn received(&mut self, Received { peer, first, choices, values }: Received<'_>) {
        let (words, length) = (self.words, self.length);
        let pair = &mut self.pairs[peer];
        Self::keep(words, length, first, values, &mut pair.received);
        pair.choices.words_mut()[first / 64..][..choices.len()].copy_from_slice(choices);
    }
}
