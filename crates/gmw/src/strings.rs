//! Random oblivious transfers of whole strings, of which masks for branches are made.

use tacit_ot::{Received, Sent, Sink};
use tacit_session::{Draw, PrssStream};
use zeroize::{Zeroize, Zeroizing};

/// Transfers of strings with all others, several of which make masks. Wiped when dropped.
pub(crate) struct Strings {
    /// By party; this one's own is empty.
    pub(crate) pairs: Vec<Pair>,
}

/// Those with one peer, in both directions.
pub(crate) struct Pair {
    /// `c`, as receiver.
    pub(crate) choices: Vec<u64>,
    /// `w_c`, as receiver.
    pub(crate) received: Vec<u128>,
    /// `w_0`, as sender.
    pub(crate) zeros: Vec<u128>,
    /// `w_1`, as sender.
    pub(crate) ones: Vec<u128>,
}

impl Strings {
    /// For so many with every other party, in each direction.
    pub(crate) fn new(me: usize, parties: usize, transfers: usize) -> Self {
        let pair = |party| {
            let count = if party == me { 0 } else { transfers };
            let [received, zeros, ones] = [(); 3].map(|()| vec![0; count]);
            Pair { choices: vec![0; count.div_ceil(64)], received, zeros, ones }
        };
        Self { pairs: (0..parties).map(pair).collect() }
    }
}

/// Fills a vector with what a string expands to. A string is expanded at one length alone.
pub(crate) fn expand(string: u128, out: &mut [u8]) {
    let key = Zeroizing::new(string.to_le_bytes());
    PrssStream::new(&key, 0).fill(Draw { part: 0, op: 0 }, 0, out);
}

impl Sink for Strings {
    fn sent(&mut self, Sent { peer, first, zeros, ones }: Sent<'_>) {
        let pair = &mut self.pairs[peer];
        pair.zeros[first..first + zeros.len()].copy_from_slice(zeros);
        pair.ones[first..first + ones.len()].copy_from_slice(ones);
    }

    fn received(&mut self, Received { peer, first, choices, values }: Received<'_>) {
        let pair = &mut self.pairs[peer];
        pair.choices[first / 64..][..choices.len()].copy_from_slice(choices);
        pair.received[first..first + values.len()].copy_from_slice(values);
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        for Pair { choices, received, zeros, ones } in &mut self.pairs {
            choices.zeroize();
            [received, zeros, ones].into_iter().for_each(Zeroize::zeroize);
        }
    }
}
