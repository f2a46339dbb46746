//! How many triples cut and choose takes for so many products.
//!
//! There are `M = B n + C` triples, in an order that is drawn when all of them and all products are fixed. Each of `n`
//! products is checked against its bucket of `B` triples, and `C` triples, the cut, are checked in the clear. A product
//! passes against a triple only if both have the same error (`checks`), and a triple passes in the clear only if it has
//! none.
//!
//! So if `k` products are wrong, all passes only if exactly the triples in their `k` buckets are wrong. The `B k`
//! places of the wrong triples, which were chosen before, must come to lie in `B k` given places of a random order. Of
//! `binom(M, B k)` sets of places, all equally likely, one will do.
//!
//! As `binom(M, t)` rises with `t` up to `M / 2` and then falls, it is least at `k = 1` or at `k = n`: at `binom(M, B)`
//! or at `binom(M, B n) = binom(M, C)`. Both must be `2^40` at least, for each lane of the run. At 2^20 products,
//! `B = C = 2` gives a little over 2^41, which is enough for two lanes; `C = 1`, which is in the literature, only 2^21.
//!
//! **What doesn't multiply.** Batches of one session come one after another, and one failure ends it, before any of its
//! material is used that isn't used yet; nothing is kept of an offline session that fails. Domains are checked side by
//! side, but all must pass.
//!
//! So a party that cheats in several batches must pass in the first one in which it cheats, whether these belong to one
//! instance, to several that are prepared together or to several parts of a stream. The bound of a batch is the bound
//! of a session.
//!
//! **What does.** Lanes are sessions side by side, and one that is done has revealed its outputs before another has
//! failed. A party that knows all coins can see to it that the lane that lets it pass comes first. So each lane has its
//! part of the bound, and the sum over all is 2^-40 again.
//!
//! Larger batches keep it at no cost a product: `B = C = 2` of 2^21 products is enough for eight lanes, of 2^22 for 32,
//! of 2^23 for all 64. Runs that are repeated multiply, too; that is not for a run to mend (`docs/security.md`).

use crate::planted::{Mistake, planted};

/// A wrong product passes with a chance of at most 2 to the minus this in a run, however many products and lanes there are.
pub(super) const SECURITY: u32 = 40;

/// Whole batches after which instances are sealed, so that what was made doesn't pile up in memory.
pub(super) const MANY: usize = 8;

/// How the products of a run in so many lanes are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Equally likely sets of places of wrong triples, of which one lets a wrong product pass: as many as that at least.
    sets: u128,
    /// The most products of a batch: the least power of two of which each needs two triples and two more are enough.
    batch: usize,
}

/// How a batch is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// Triples against which each product is checked: `B`.
    pub(crate) bucket: usize,
    /// Triples that are checked in the clear: `C`.
    pub(crate) cut: usize,
}

impl Rules {
    /// Those of each of a run's lanes.
    pub(crate) fn of_lanes(lanes: u16) -> Self {
        let mut rules = Self { sets: u128::from(lanes.max(1)) << SECURITY, batch: 1 };
        while !rules.is_enough(rules.batch, Parameters { bucket: 2, cut: 2 }) {
            rules.batch *= 2;
        }
        if planted(Mistake::SmallBatches) {
            rules.batch = 64;
        }
        rules
    }

    /// The most products of a batch.
    pub(super) fn batch(self) -> usize {
        self.batch
    }

    /// Those with the fewest triples for so many products, 1 at least: each triple costs as much as any other.
    pub(crate) fn parameters(self, products: usize) -> Parameters {
        let mut best = Parameters { bucket: usize::MAX, cut: usize::MAX };
        for bucket in 2.. {
            let fewest = best.triples(products);
            if products.saturating_mul(bucket) >= fewest {
                break;
            }
            if let Some(cut) = self.least_cut(products, bucket, fewest - bucket * products) {
                best = Parameters { bucket, cut };
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

    /// The least `C` below `limit` that goes with `B`.
    fn least_cut(self, products: usize, bucket: usize, limit: usize) -> Option<usize> {
        // No bucket needs more than as many as, with two for each, make a whole batch.
        let (mut low, mut high) = (0, limit.min(2 * self.batch + 2));
        let is_enough = |cut| self.is_enough(products, Parameters { bucket, cut });
        while low < high {
            let cut = low.midpoint(high);
            if is_enough(cut) {
                high = cut;
            } else {
                low = cut + 1;
            }
        }
        (low < limit && is_enough(low)).then_some(low)
    }

    /// Whether both ends of the range of `k` are as unlikely as they have to be; if so, it is with more triples in the
    /// cut too.
    fn is_enough(self, products: usize, parameters: Parameters) -> bool {
        let triples = parameters.triples(products);
        [parameters.bucket, parameters.cut].into_iter().all(|size| self.has_many_subsets(triples, size))
    }

    /// Whether `binom(of, size)` is as much as it has to be. Exact: what it is up to, `binom(of, 1)`, `binom(of, 2)` and on,
    /// rises and stays below 2^64 until it is enough.
    fn has_many_subsets(self, of: usize, size: usize) -> bool {
        let mut subsets: u128 = 1;
        for at in 0..size.min(of - size) {
            subsets = subsets * (of - at) as u128 / (at + 1) as u128;
            if subsets >= self.sets {
                return true;
            }
        }
        false
    }
}

impl Parameters {
    /// All triples of a batch: `M`.
    pub(crate) fn triples(self, products: usize) -> usize {
        self.bucket.saturating_mul(products).saturating_add(self.cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_net::MAX_LANES;

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

    /// The bound over all these numbers of wrong products.
    fn error(logs: &[f64], products: usize, parameters: Parameters, wrong: &[usize]) -> f64 {
        let triples = parameters.triples(products);
        let passes = |&k: &usize| -log_binomial(logs, triples, parameters.bucket * k);
        wrong.iter().map(passes).fold(f64::NEG_INFINITY, f64::max)
    }

    fn batch(lanes: u16) -> usize {
        Rules::of_lanes(lanes).batch()
    }

    #[test]
    fn the_constants_are_what_the_bound_asks_for() {
        assert_eq!((SECURITY, MAX_LANES), (40, 64));
        let logs = log_factorials(2 * batch(1) + 2);
        let error_of = |cut| error(&logs, batch(1), Parameters { bucket: 2, cut }, &[1, batch(1)]);
        assert!((-41.01..-41.0).contains(&error_of(2)), "{}", error_of(2));
        assert!((-21.01..-21.0).contains(&error_of(1)), "{}", error_of(1));
        for lanes in 1..=MAX_LANES {
            let expected = match lanes {
                1..=2 => 20,
                3..=8 => 21,
                9..=32 => 22,
                _ => 23,
            };
            assert_eq!(batch(lanes), 1 << expected, "{lanes} lanes");
            let whole = Rules::of_lanes(lanes).parameters(batch(lanes));
            assert_eq!(whole, Parameters { bucket: 2, cut: 2 }, "{lanes} lanes");
        }
    }

    #[test]
    fn the_ends_of_the_range_are_the_least_likely_to_be_missed() {
        let logs = log_factorials(4 << 20);
        let sizes = (1..=300).chain((12..=20).map(|log| 1 << log)).chain([741_453, 741_455, 1_000_003]);
        for products in sizes {
            let parameters = Rules::of_lanes(1).parameters(products);
            let all: Vec<usize> = (1..=products).collect();
            let [ends, all] =
                [&[1, products], &all[..]].map(|wrong| error(&logs, products, parameters, wrong));
            assert!((ends - all).abs() < 1e-6, "{products}: 2^{ends}, 2^{all}");
        }
    }

    /// All lanes together, for every number of lanes; of the sizes all up to 100, then in steps of 3 %, and both sides of each
    /// power of two. (That [`Rules::parameters`] gives only what is enough, at any size, is checked in integers as it does so.)
    #[test]
    fn every_size_in_every_number_of_lanes_is_as_safe() {
        let logs = log_factorials(2 * batch(MAX_LANES) + 2);
        for lanes in 1..=MAX_LANES {
            let rules = Rules::of_lanes(lanes);
            let steps = std::iter::successors(Some(100), |&size| Some(size + size * 3 / 100));
            let powers =
                (7..=rules.batch().ilog2()).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]);
            let sizes = (1..100).chain(steps.take_while(|&size| size < rules.batch())).chain(powers);
            for products in sizes.filter(|&size| size <= rules.batch()) {
                let parameters = rules.parameters(products);
                let error = error(&logs, products, parameters, &[1, products]) + f64::from(lanes).log2();
                let most = -f64::from(SECURITY) + 1e-6;
                assert!(error <= most, "{lanes} lanes, {products}: {parameters:?} gives 2^{error}");
            }
        }
    }

    #[test]
    fn no_others_send_less() {
        for lanes in [1, 2, 5, MAX_LANES] {
            let rules = Rules::of_lanes(lanes);
            for products in [1, 2, 3, 10, 64, 100, 1000, 1 << 14, 1 << 19, rules.batch()] {
                let best = rules.parameters(products).triples(products);
                for bucket in (2..=60).filter(|bucket| bucket * products < best) {
                    let cut = best - 1 - bucket * products;
                    let less = Parameters { bucket, cut };
                    assert!(!rules.is_enough(products, less), "{lanes} lanes, {products}, {bucket}");
                }
            }
        }
    }
}
