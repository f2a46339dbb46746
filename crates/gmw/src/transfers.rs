//! What is kept of random oblivious transfers: a bit of each value.
//!
//! A transfer from `P_i` to `P_j` gives `P_i` bits `r_0`, `r_1` and `P_j` a bit `c` and `r_c`. With `d = r_0 ^ r_1` the two have
//! shares `r_0` and `r_c` of `c d`: a product of a random bit of each.

use tacit_kernel::{Buffer, bits};
use tacit_ot::{Received, Sent, Sink};

/// Transfers with one peer in both directions, a bit of each in every vector. Wiped when dropped.
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
    fn new(words: usize) -> Self {
        let [choices, received, zeros, differences] = [(); 4].map(|()| Buffer::of_words::<u64>(words));
        Self { choices, received, zeros, differences }
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
}

impl Transfers {
    /// For `words` times 64 transfers with every other party, in each direction.
    pub(crate) fn new(me: usize, parties: usize, words: usize) -> Self {
        let pair = |party| Pair::new(if party == me { 0 } else { words });
        Self { pairs: (0..parties).map(pair).collect() }
    }
}

impl Sink for Transfers {
    fn sent(&mut self, Sent { peer, first, zeros, ones }: Sent<'_>) {
        let Pair { zeros: own, differences, .. } = &mut self.pairs[peer];
        let words = first / 64..(first + zeros.len()).div_ceil(64);
        let (own, differences) = (&mut own.words_mut()[words.clone()], &mut differences.words_mut()[words]);
        bits::lowest(zeros, own);
        bits::lowest(ones, differences);
        bits::xor_assign(differences, own);
    }

    fn received(&mut self, Received { peer, first, choices, values }: Received<'_>) {
        let pair = &mut self.pairs[peer];
        let words = first / 64..(first + values.len()).div_ceil(64);
        bits::lowest(values, &mut pair.received.words_mut()[words.clone()]);
        pair.choices.words_mut()[words].copy_from_slice(choices);
    }
}
