//! How many triples are sacrificed for so many products.
//!
//! Of `M = B n + C` triples, in an order that is drawn when all of them and all products are fixed, each of `n` products
//! is checked against `B`, its bucket, and `C` are checked in the clear. A product passes against a triple only if both
//! have the same error (`checks`), and a triple passes in the clear only if it has none. So if `k` products are wrong,
//! all passes only if exactly the triples in their `k` buckets are wrong: the `B k` places of the wrong triples, which
//! were chosen before, have to come to lie in `B k` given places of a random order. Of `binom(M, B k)` sets of places,
//! all equally likely, one will do.
//!
//! As `binom(M, t)` rises with `t` up to `M / 2` and then falls, it is least at `k = 1` or at `k = n`: at `binom(M, B)` or
//! at `binom(M, B n) = binom(M, C)`. Both have to be `2^40` at least. At 2^20 products, `B = C = 2` gives a little over
//! 2^41; `C = 1`, which is in the literature, only 2^21.
//!
//! Whoever cheats in several batches has to pass in each, and one failure is final. So the bound of a batch is the bound
//! of a run.

use crate::planted::{Mistake, planted};

/// A wrong product passes with a chance of at most 2 to the minus this, however many there are.
pub(super) const SECURITY: u32 = 40;

/// The most products of a batch: the least power of two of which each needs two triples and two more are enough.
pub(super) const BATCH: usize = 1 << 20;

/// How a batch is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Triples against which each product is checked: `B`.
    pub(super) bucket: usize,
    /// Triples that are checked in the clear: `C`.
    pub(super) cut: usize,
}

impl Parameters {
    /// Those with the fewest triples for so many products, 1 at least: each triple costs as much as any other.
    pub(super) fn of(products: usize) -> Self {
        let mut best = Self { bucket: usize::MAX, cut: usize::MAX };
        // A larger bucket than this needs more triples than one that is that large.
        for bucket in 2..=SECURITY as usize {
            let fewest = best.triples(products);
            if bucket.saturating_mul(products) >= fewest {
                break;
            }
            if let Some(cut) = least_cut(products, bucket, fewest - bucket * products) {
                best = Self { bucket, cut };
            }
        }
        if planted(Mistake::BucketsOfOne) {
            best.bucket = 1;
        }
        if planted(Mistake::OneTripleCut) {
            best.cut = 1;
        }
        best
    }

    /// All triples of a batch: `M`.
    pub(super) fn triples(self, products: usize) -> usize {
        self.bucket.saturating_mul(products).saturating_add(self.cut)
    }
}

/// The least `C` below `limit` that goes with `B`.
fn least_cut(products: usize, bucket: usize, limit: usize) -> Option<usize> {
    // No bucket needs more than the triples of which a set of two is as hard to guess.
    let (mut low, mut high) = (0, limit.min(1 << 21));
    while low < high {
        let cut = low.midpoint(high);
        if is_enough(products, bucket, cut) {
            high = cut;
        } else {
            low = cut + 1;
        }
    }
    (low < limit && is_enough(products, bucket, low)).then_some(low)
}

/// Whether both ends of the range of `k` are as unlikely as they have to be; if so, it is with more cut triples too.
fn is_enough(products: usize, bucket: usize, cut: usize) -> bool {
    let triples = bucket * products + cut;
    has_many_subsets(triples, bucket) && has_many_subsets(triples, cut)
}

/// Whether `binom(of, size)` is `2^SECURITY` at least. Exact: what it is up to, `binom(of, 1)`, `binom(of, 2)` and on,
/// rises and stays below 2^64 until it is enough.
fn has_many_subsets(of: usize, size: usize) -> bool {
    let mut subsets: u128 = 1;
    for at in 0..size.min(of - size) {
        subsets = subsets * (of - at) as u128 / (at + 1) as u128;
        if subsets >= 1 << SECURITY {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// log2 of binom(n, k), by sums of logarithms.
    fn log_binomial(logs: &[f64], n: usize, k: usize) -> f64 {
        logs[n] - logs[k] - logs[n - k]
    }

    fn log_factorials(up_to: usize) -> Vec<f64> {
        let mut logs = vec![0.0; up_to + 1];
        for n in 1..=up_to {
            logs[n] = logs[n - 1] + (n as f64).log2();
        }
        logs
    }

    /// The bound over all numbers of wrong products.
    fn error(logs: &[f64], products: usize, parameters: Parameters) -> f64 {
        let triples = parameters.triples(products);
        let passes = |k| -log_binomial(logs, triples, parameters.bucket * k);
        (1..=products).map(passes).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn the_constants_are_what_the_bound_asks_for() {
        assert_eq!(SECURITY, 40);
        assert_eq!(BATCH, 1 << 20);
        assert_eq!(Parameters::of(BATCH), Parameters { bucket: 2, cut: 2 });
        let logs = log_factorials(2 * BATCH + 2);
        let error_of = |cut| error(&logs, BATCH, Parameters { bucket: 2, cut });
        assert!((-41.01..-41.0).contains(&error_of(2)), "{}", error_of(2));
        assert!((-21.01..-21.0).contains(&error_of(1)), "{}", error_of(1));
    }

    #[test]
    fn every_size_is_as_safe() {
        let logs = log_factorials(4 << 20);
        let sizes = (1..=3000).chain((12..20).map(|log| 1 << log)).chain([741_453, 741_455, 1_000_003]);
        for products in sizes {
            let parameters = Parameters::of(products);
            let error = error(&logs, products, parameters);
            assert!(error <= -f64::from(SECURITY) + 1e-6, "{products}: {parameters:?} gives 2^{error}");
        }
    }

    #[test]
    fn no_others_send_less() {
        for products in [1, 2, 3, 10, 64, 100, 1000, 1 << 14, 1 << 19, BATCH] {
            let best = Parameters::of(products).triples(products);
            for bucket in 2..=60 {
                if bucket * products < best {
                    assert!(
                        !is_enough(products, bucket, best - 1 - bucket * products),
                        "{products}, {bucket}"
                    );
                }
            }
        }
    }
}
