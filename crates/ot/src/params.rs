//! Parameters of the extension, what they cost, and what they leave an attacker.

use std::fmt;

/// Bits of the extension's secret, and of keys.
pub(crate) const LAMBDA: usize = 128;

/// Bytes of a key, a node or a row.
pub(crate) const KEY: usize = LAMBDA / 8;

/// Rows of a batch that are given up: they hide the choices in the answer to the coin, which is as long.
pub(crate) const SACRIFICED: usize = 128;

/// What numbers of rows are multiples of: a vector of bits.
pub(crate) const GRAIN: usize = 512;

/// Bytes of a coin.
pub(crate) const COIN_BYTES: usize = 16;

/// Bytes of an answer: the choices' hash, and a digest of the columns' hashes.
pub(crate) const ANSWER_BYTES: usize = 16 + 32;

/// Bytes of a base OT from who chooses, and from who has two keys: points.
pub(crate) const BASE_BYTES: [usize; 2] = [64, 32];

/// What deviations are withstood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Security {
    /// None: both follow the protocol.
    SemiHonest,
    /// Any, of either side: an honest one ends the run, or its OTs are right and tell no more than they should.
    Malicious,
}

/// Parameters of an extension. Both sides have the same: they are part of what all keys are derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    height: usize,
    security: Security,
    rows: usize,
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let security = if self.is_malicious() { "malicious" } else { "semi-honest" };
        write!(f, "k={} security={security} rows={}", self.height, self.rows)
    }
}

impl Params {
    /// The usual ones: k = 4, against malicious parties.
    pub const DEFAULT: Self = Self { height: 4, security: Security::Malicious, rows: 8192 };

    /// Rows of a batch, sacrificed ones included, at most.
    pub const MAX_ROWS: usize = 1 << 16;

    /// Trees of height `k`, from 1 to 8: a larger one sends less and computes more, `128 / k` bits and `128 * 2^k / k` bits
    /// of AES for an OT. `None` if there is no such height.
    pub const fn new(k: usize, security: Security) -> Option<Self> {
        if k < 1 || k > tacit_kernel::leaves::MAX_HEIGHT {
            return None;
        }
        Some(Self { height: k, security, ..Self::DEFAULT })
    }

    /// The same with so many rows in a batch: a multiple of 512, from 512 to [`MAX_ROWS`](Self::MAX_ROWS). `None` if it's
    /// another number.
    pub fn with_rows(self, rows: usize) -> Option<Self> {
        let fits = (GRAIN..=Self::MAX_ROWS).contains(&rows) && rows.is_multiple_of(GRAIN);
        fits.then_some(Self { rows, ..self })
    }

    /// The height of trees, but for the last one's if it doesn't divide 128.
    pub fn height(&self) -> usize {
        self.height
    }

    /// What deviations are withstood.
    pub fn security(&self) -> Security {
        self.security
    }

    /// Whether any deviation is.
    pub fn is_malicious(&self) -> bool {
        self.security == Security::Malicious
    }

    /// The heights of all trees, 128 in all.
    pub(crate) fn heights(&self) -> impl Iterator<Item = usize> + use<> {
        let (height, rest) = (self.height, LAMBDA % self.height);
        std::iter::repeat_n(height, LAMBDA / height).chain((rest > 0).then_some(rest))
    }

    /// How many trees there are.
    pub(crate) fn trees(&self) -> usize {
        LAMBDA.div_ceil(self.height)
    }

    /// Rows of each batch that give no OT.
    pub(crate) fn sacrificed(&self) -> usize {
        if self.is_malicious() { SACRIFICED } else { 0 }
    }

    /// OTs of a full batch.
    pub fn batch(&self) -> usize {
        self.rows - self.sacrificed()
    }

    /// Batches whose columns are sent before one's are taken. Who checks has them wait for coins in a near cache.
    pub fn ahead(&self) -> usize {
        if self.is_malicious() { 1 } else { 16 }
    }

    /// How many batches `count` OTs take.
    pub fn batch_count(&self, count: usize) -> usize {
        count.div_ceil(self.batch())
    }

    /// The rows and the OTs of one of the batches of `count` OTs; `None` after the last.
    pub(crate) fn batch_of(&self, count: usize, number: usize) -> Option<[usize; 2]> {
        let left = count.checked_sub(number.checked_mul(self.batch())?).filter(|&left| left > 0)?;
        let ots = left.min(self.batch());
        Some([(ots + self.sacrificed()).next_multiple_of(GRAIN), ots])
    }

    /// Columns that are sent for each batch: one for each tree, but for the first one's if choices are random.
    pub(crate) fn columns(&self, chosen: bool) -> usize {
        self.trees() - usize::from(!chosen)
    }

    /// Bytes of trees' corrections and of what checks them.
    pub(crate) fn tree_bytes(&self) -> usize {
        self.heights().map(|height| self.bytes_of_tree(height)).sum::<usize>() + self.digest_bytes()
    }

    /// Two sums for each level after the first, and the sum of the leaves' checks.
    pub(crate) fn bytes_of_tree(&self, height: usize) -> usize {
        let checked = self.is_malicious() && height > 1;
        2 * KEY * (height - 1) + if checked { 32 } else { 0 }
    }

    /// The digest of all trees' checks; trees of height 1 have nothing to check.
    pub(crate) fn digest_bytes(&self) -> usize {
        if self.is_malicious() && self.height > 1 { 32 } else { 0 }
    }

    /// Payload bytes of the base OTs and trees of one direction: those that the OTs' sender sends, and those that their
    /// receiver does.
    pub fn setup_bytes(&self) -> [u64; 2] {
        let [choices, points] = BASE_BYTES;
        [(LAMBDA * choices) as u64, (LAMBDA * points + self.tree_bytes()) as u64]
    }

    /// Payload bytes of `count` OTs of one direction, with `chosen` or random choices: those that the OTs' sender sends, and
    /// those that their receiver does.
    pub fn extension_bytes(&self, count: usize, chosen: bool) -> [u64; 2] {
        let (full, left) = (count / self.batch(), self.batch_of(count % self.batch(), 0));
        let rows = full * self.rows + left.map_or(0, |[rows, _]| rows);
        let checked = if self.is_malicious() { self.batch_count(count) as u64 } else { 0 };
        let columns = (self.columns(chosen) * rows / 8) as u64;
        [checked * COIN_BYTES as u64, columns + checked * ANSWER_BYTES as u64]
    }

    /// Bits that an OT of a full batch costs on the link from its sender, and on the one from its receiver.
    pub fn bits_per_ot(&self, chosen: bool) -> [f64; 2] {
        let batch = self.batch();
        self.extension_bytes(batch, chosen).map(|bytes| 8.0 * bytes as f64 / batch as f64)
    }

    /// The binary logarithm of the chance that in so many batches columns of different choices pass the check though their
    /// hashes don't differ: `C(trees, 2) (rows / 128 - 1) 2^-128` for each batch (docs/ot.md, "The check of columns"). A
    /// receiver that guesses bits of the sender's secret is another matter: `c` right bits let it through with `2^-c`, and
    /// it has them.
    pub fn unnoticed_log2(&self, batches: u64) -> f64 {
        let trees = self.trees() as f64;
        let (pairs, roots) = (trees * (trees - 1.0) / 2.0, (self.rows / LAMBDA - 1) as f64);
        (batches as f64 * pairs * roots).max(1.0).log2() - LAMBDA as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows and the OTs of each batch.
    fn batches(params: &Params, count: usize) -> Vec<[usize; 2]> {
        (0..).map_while(|number| params.batch_of(count, number)).collect()
    }

    #[test]
    fn trees_have_128_bits_in_all() {
        for k in 1..=8 {
            let params = Params::new(k, Security::Malicious).unwrap();
            assert_eq!(params.heights().sum::<usize>(), 128);
            assert_eq!(params.heights().count(), params.trees());
            assert!(params.heights().all(|height| (1..=k).contains(&height)));
        }
        assert_eq!(Params::new(0, Security::Malicious), None);
        assert_eq!(Params::new(9, Security::Malicious), None);
        assert_eq!(Params::new(4, Security::Malicious), Some(Params::DEFAULT));
        for rows in [0, 511, 1000, Params::MAX_ROWS + 512] {
            assert_eq!(Params::DEFAULT.with_rows(rows), None);
        }
    }

    #[test]
    fn batches_hold_what_is_asked_for() {
        for security in [Security::SemiHonest, Security::Malicious] {
            let params = Params::new(4, security).and_then(|params| params.with_rows(1024)).unwrap();
            for count in [0, 1, 384, 385, 896, 897, 1024, 5000] {
                let batches = batches(&params, count);
                assert_eq!(batches.iter().map(|[_, ots]| ots).sum::<usize>(), count);
                for [rows, ots] in batches {
                    assert!(rows.is_multiple_of(GRAIN) && rows <= 1024);
                    assert!((1..=rows - params.sacrificed()).contains(&ots));
                }
            }
        }
    }

    #[test]
    fn bytes_of_an_extension_are_those_of_its_batches() {
        for security in [Security::SemiHonest, Security::Malicious] {
            let params = Params::new(4, security).and_then(|params| params.with_rows(1024)).unwrap();
            for count in [0, 1, 384, 385, 896, 897, 1024, 1792, 5000] {
                let mut bytes = [0; 2];
                for [rows, _] in batches(&params, count) {
                    bytes[0] += if params.is_malicious() { COIN_BYTES as u64 } else { 0 };
                    bytes[1] += (params.columns(true) * rows / 8) as u64;
                    bytes[1] += if params.is_malicious() { ANSWER_BYTES as u64 } else { 0 };
                }
                assert_eq!(params.extension_bytes(count, true), bytes, "{count}");
            }
        }
    }

    /// Constants that security rests on, and the bounds that follow.
    #[test]
    fn bounds_are_those_of_the_page() {
        assert_eq!([LAMBDA, SACRIFICED, COIN_BYTES, ANSWER_BYTES], [128, 128, 16, 48]);
        assert!(Params::DEFAULT.is_malicious());
        let bounds = [(1, [-109, -82]), (4, [-113, -86]), (8, [-115, -88])];
        for (k, bound) in bounds {
            let params = Params::new(k, Security::Malicious).unwrap();
            let batches = params.batch_count(1 << 40) as u64;
            let bounds = [1, batches].map(|batches| params.unnoticed_log2(batches).round() as i32);
            assert_eq!(bounds, bound, "k = {k}");
        }
        // 8 times the rows, of which one block isn't weighed.
        let more = Params::DEFAULT.with_rows(Params::MAX_ROWS).unwrap().unnoticed_log2(1);
        assert!((more - Params::DEFAULT.unnoticed_log2(1) - (511.0_f64 / 63.0).log2()).abs() < 1e-9);
    }

    #[test]
    fn an_ot_costs_less_with_higher_trees() {
        let bytes = |k, chosen| {
            let [back, forth] = Params::new(k, Security::Malicious).unwrap().bits_per_ot(chosen);
            (back + forth) / 8.0
        };
        assert!(bytes(4, false) <= 4.1, "{} bytes", bytes(4, false));
        assert!((1..8).all(|k| bytes(k, false) > bytes(k + 1, false)));
        assert!((1..=8).all(|k| bytes(k, true) > bytes(k, false) + 0.125));
    }
}
