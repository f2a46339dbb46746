//! What is kept of the outputs of a piece: decoding, and tags that show that a bit is right.

use std::fmt;

use subtle::ConstantTimeEq;
use tacit_kernel::Buffer;
use tacit_kernel::bits::{clear_tail, words};
use tacit_kernel::garble::{self, LABEL};
use zeroize::Zeroizing;

use crate::Plan;
use crate::batch::Keys;
use crate::error::{Error, length};
use crate::walk::Tile;

/// A piece's labels of the outputs' bits: rows of all bits, one after another.
struct Labels {
    rows: Buffer,
    bits: usize,
    instances: usize,
    /// For each tile its number in the batch, and where it is in a row.
    tiles: Vec<(u64, Tile)>,
    /// How many keys of a tile are for ANDs; the outputs' come after.
    ands: usize,
    keys: Keys,
}

impl Labels {
    fn new(plan: &Plan, keys: Keys, start: u64, instances: usize, rows: Buffer) -> Self {
        let tiles = Tile::of(plan, start, instances).collect();
        Self { rows, bits: plan.output_bits(), instances, tiles, ands: plan.ands() as usize, keys }
    }

    /// Checks that there are packed rows for all bits.
    fn check(&self, what: &'static str, bits: &[u64]) -> Result<(), Error> {
        length(what, "words", self.bits * words(self.instances), bits.len())
    }

    /// Adds the labels' lowest bits to packed rows, whose unused bits become 0.
    fn xor_low_bits(&self, bits: &mut [u64]) {
        if self.instances > 0 {
            let labels = self.rows.bytes().chunks_exact(self.instances * LABEL);
            for (labels, bits) in labels.zip(bits.chunks_exact_mut(words(self.instances))) {
                garble::xor_low_bits(labels, bits);
                clear_tail(bits, self.instances);
            }
        }
    }

    /// Hashes labels, rows as these are, where they stand.
    fn hash(&self, labels: &mut [u8]) {
        if self.instances > 0 {
            for (bit, row) in labels.chunks_exact_mut(self.instances * LABEL).enumerate() {
                for &(number, tile) in &self.tiles {
                    let mut key = [[0; 16]];
                    self.keys.fill(number, self.ands + bit, &mut key);
                    garble::hash(&key[0], &mut row[tile.bytes()]);
                }
            }
        }
    }
}

/// What a garbler keeps of a piece: the false labels of the outputs' bits. Wiped when dropped.
pub struct Outputs {
    falses: Labels,
    delta: Zeroizing<u128>,
}

impl Outputs {
    pub(crate) fn new(
        plan: &Plan,
        keys: Keys,
        start: u64,
        instances: usize,
        falses: Buffer,
        delta: u128,
    ) -> Self {
        let delta = Zeroizing::new(delta);
        Self { falses: Labels::new(plan, keys, start, instances, falses), delta }
    }

    /// What the evaluator needs to decode: for every bit of the outputs a packed row. Of bits that it isn't to learn
    /// it doesn't get the rows.
    pub fn decoding(&self) -> Vec<u64> {
        let mut bits = vec![0; self.falses.bits * words(self.falses.instances)];
        self.falses.xor_low_bits(&mut bits);
        bits
    }

    /// The labels that stand for given bits of the outputs: rows of them, from packed rows.
    ///
    /// # Errors
    /// [`Error::Length`] if there aren't rows for all bits.
    pub fn labels(&self, bits: &[u64]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.falses.check("the bits of the outputs", bits)?;
        let mut labels = Zeroizing::new(self.falses.rows.bytes().to_vec());
        if self.falses.instances > 0 {
            let rows = labels.chunks_exact_mut(self.falses.instances * LABEL);
            for (labels, bits) in rows.zip(bits.chunks_exact(words(self.falses.instances))) {
                garble::choose(labels, bits, *self.delta);
            }
        }
        Ok(labels)
    }

    /// The tags that an evaluator has if these bits are the outputs' ([`Active::tags`]): what a hash of its tags is
    /// compared with.
    ///
    /// # Errors
    /// [`Error::Length`] if there aren't rows for all bits.
    pub fn tags(&self, bits: &[u64]) -> Result<Vec<u8>, Error> {
        let mut tags = self.labels(bits)?;
        self.falses.hash(&mut tags);
        Ok(std::mem::take(&mut *tags))
    }

    /// Checks that these bits are the outputs' of an evaluator who has these tags. One that hasn't evaluated to a
    /// bit guesses its tag with probability 2^-127.
    ///
    /// # Errors
    /// [`Error::Length`] for other lengths, [`Error::Forged`] if a tag isn't of its bit's label; all are compared,
    /// in constant time.
    pub fn check(&self, bits: &[u64], tags: &[u8]) -> Result<(), Error> {
        let expected = self.tags(bits)?;
        length("the tags of the outputs", "bytes", expected.len(), tags.len())?;
        if expected.as_slice().ct_eq(tags).into() { Ok(()) } else { Err(Error::Forged) }
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        self.falses.rows.wipe();
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs").field("instances", &self.falses.instances).finish_non_exhaustive()
    }
}

/// What an evaluator has of a piece: the active labels of the outputs' bits.
pub struct Active(Labels);

impl Active {
    pub(crate) fn new(plan: &Plan, keys: Keys, start: u64, instances: usize, active: Buffer) -> Self {
        Self(Labels::new(plan, keys, start, instances, active))
    }

    /// The outputs' bits as packed rows, from what [`Outputs::decoding`] gave.
    ///
    /// # Errors
    /// [`Error::Length`] if it isn't rows for all bits.
    pub fn decode(&self, decoding: &[u64]) -> Result<Vec<u64>, Error> {
        self.0.check("what decodes the outputs", decoding)?;
        let mut bits = decoding.to_vec();
        self.0.xor_low_bits(&mut bits);
        Ok(bits)
    }

    /// Rows of the labels' hashes, 16 bytes each: they show a garbler that the bits are right, and tell nobody else
    /// the labels.
    pub fn tags(&self) -> Vec<u8> {
        let mut tags = self.0.rows.bytes().to_vec();
        self.0.hash(&mut tags);
        tags
    }

    /// Rows of the labels.
    pub fn labels(&self) -> &[u8] {
        self.0.rows.bytes()
    }
}

impl fmt::Debug for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Active").field("instances", &self.0.instances).finish_non_exhaustive()
    }
}
