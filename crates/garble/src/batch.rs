//! Keys of hashes.

use tacit_kernel::aes::Aes128Ctr;

/// Which hashes a batch is garbled with. Public, and the same for garblers and evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// A value that no other session has, from the parties' nonces: what keeps the keys of sessions apart, so that
    /// nobody can work against many at once, or before they begin.
    pub session: [u8; 16],
    /// Which batch of the session it is, whatever its plan. (Two batches of one number would hash under the same keys:
    /// with seeds of their own that costs a bit of security, under one seed it tells `delta`.)
    pub number: u32,
}

/// The keys of a batch: a stream under the session's value, so that no two are equal. Every tile has a block of it for
/// each AND, then one for each bit of the outputs; and, apart from these, one for each bit of the inputs.
#[derive(Clone)]
pub(crate) struct Keys {
    stream: Aes128Ctr,
    batch: u64,
    /// Keys of a tile.
    count: usize,
}

impl Keys {
    pub(crate) fn new(batch: Batch, count: usize) -> Self {
        Self { stream: Aes128Ctr::new(&batch.session), batch: batch.number.into(), count }
    }

    /// The keys of a tile, from one on.
    pub(crate) fn fill(&self, tile: u64, first: usize, keys: &mut [[u8; 16]]) {
        let block = tile * self.count as u64 + first as u64;
        self.stream.fill(self.batch, block, keys.as_flattened_mut());
    }

    /// The key of a tile for commitments to labels of one of so many bits of the inputs.
    pub(crate) fn of_input(&self, tile: u64, bits: usize, bit: usize) -> [u8; 16] {
        let mut key = [0; 16];
        self.stream.fill(1 << 32 | self.batch, tile * bits as u64 + bit as u64, &mut key);
        key
    }
}
