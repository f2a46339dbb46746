//! Folding over a field whose prime is drawn with the challenge: as [`super::super::proof`] has it for fields that are
//! known before, with a shared claim, a value at 1 that follows from the others, and a masked last round.

use super::super::schedule::FoldingSchedule;
use tacit_kernel::prime::{Prime, Weight};

/// A prover's vectors.
pub(super) struct Vectors {
    pub(super) u: Vec<u64>,
    pub(super) v: Vec<u64>,
}

impl Vectors {
    /// The values that a round shares: from 2 to twice its blocks less 1; of the last at 0 and from 2 to twice its blocks,
    /// with its masks (eta, tau) at 0.
    pub(super) fn values(
        &mut self,
        schedule: &FoldingSchedule,
        round: usize,
        prime: &Prime,
        masks: impl FnOnce() -> [u64; 2],
    ) -> Vec<u64> {
        let blocks = schedule.blocks(round);
        if schedule.is_last(round) {
            let [p, q] = masks();
            let (p, q) = ([&[p], &self.u[..]].concat(), [&[q], &self.v[..]].concat());
            let at = |at: usize| {
                let weights = factors_at(prime, 0, p.len(), at as u64);
                prime.mul(prime.weighted_sum(&weights, &p), prime.weighted_sum(&weights, &q))
            };
            return std::iter::once(0).chain(2..=2 * blocks).map(at).collect();
        }
        pad(&mut self.u, blocks);
        pad(&mut self.v, blocks);
        let mut products = vec![0; blocks * blocks];
        prime.inner_products(&self.u, &self.v, blocks, &mut products);
        values(prime, &products, blocks)
    }

    /// Both vectors at a round's point.
    pub(super) fn fold(&mut self, blocks: usize, prime: &Prime, point: u64) {
        let weights = round_weights(prime, blocks, point);
        for vector in [&mut self.u, &mut self.v] {
            pad(vector, blocks);
            let mut folded = vec![0; vector.len() / blocks];
            prime.combine(vector, &weights, &mut folded);
            *vector = folded;
        }
    }
}

/// The values that a round shares, but for the last one, of the inner products of all pairs of its blocks.
pub(super) fn values(prime: &Prime, products: &[u64], blocks: usize) -> Vec<u64> {
    let known = products.iter().step_by(blocks + 1).skip(1).copied();
    known.chain((blocks + 1..2 * blocks).map(|at| beyond(prime, products, blocks, at as u64))).collect()
}

/// The value at `at` of the polynomial whose pairs of blocks have these inner products.
fn beyond(prime: &Prime, products: &[u64], blocks: usize, at: u64) -> u64 {
    let weights = round_weights(prime, blocks, at);
    let rows: Vec<u64> = products.chunks(blocks).map(|row| prime.weighted_sum(&weights, row)).collect();
    prime.weighted_sum(&weights, &rows)
}

/// What the elements of a verifier's own vector are multiplied by and added up to `p(r)` or `q(r)` of the last round, but for
/// its mask: the product of the factor of the block of the first round that the element is in, and of that of its place in
/// the block. With them the factor of the mask.
pub(super) fn factors(
    schedule: &FoldingSchedule,
    prime: &Prime,
    points: &[u64],
) -> (Vec<Weight>, Vec<Weight>, u64) {
    let (&last, earlier) = points.split_last().expect("a proof has a round");
    let of_last = weights(prime, 0, 1 + schedule.blocks(earlier.len()), last);
    let mut places: Vec<Weight> = of_last[1..].iter().map(|&weight| prime.weight(weight)).collect();
    for (round, &point) in earlier.iter().enumerate().skip(1).rev() {
        let of_round = round_weights(prime, schedule.blocks(round), point);
        let mut of_block = places.clone();
        let mut all = Vec::with_capacity(of_round.len() * places.len());
        for weight in of_round {
            prime.scale(weight, &places, &mut of_block);
            all.extend(&of_block);
        }
        // Zeros made whole blocks.
        all.truncate(schedule.lengths[round - 1]);
        places = all;
    }
    (round_weights(prime, schedule.blocks(0), points[0]), places, of_last[0])
}

/// A verifier's share of `G(r)` of the last round, from its share of the first claim, its shares of all values and the
/// points of all rounds.
pub(super) fn claim(
    schedule: &FoldingSchedule,
    first: u64,
    prime: &Prime,
    values: &[u64],
    points: &[u64],
) -> u64 {
    let less = |claim: u64, known: &[u64]| known.iter().fold(claim, |rest, &value| prime.sub(rest, value));
    let (mut claim, mut rest) = (first, values);
    for (round, &point) in points.iter().enumerate() {
        let (sent, after) = rest.split_at(schedule.values(round));
        rest = after;
        let blocks = schedule.blocks(round);
        claim = if schedule.is_last(round) {
            let at_1 = less(claim, &sent[1..blocks]);
            evaluate(prime, 0, &[&sent[..1], &[at_1], &sent[1..]].concat(), point)
        } else {
            let at_1 = less(claim, &sent[..blocks - 1]);
            evaluate(prime, 1, &[&[at_1], sent].concat(), point)
        };
    }
    claim
}

/// What the blocks of a round that isn't the last one are multiplied by to give their combination at a point.
pub(super) fn round_weights(prime: &Prime, blocks: usize, point: u64) -> Vec<Weight> {
    factors_at(prime, 1, blocks, point)
}

/// [`weights`] as factors.
fn factors_at(prime: &Prime, first: usize, count: usize, point: u64) -> Vec<Weight> {
    weights(prime, first, count, point).into_iter().map(|weight| prime.weight(weight)).collect()
}

/// Zeros make whole blocks.
fn pad(vector: &mut Vec<u64>, blocks: usize) {
    vector.resize(vector.len().next_multiple_of(blocks), 0);
}

/// What the values at `first`, `first + 1`, ... (`count` of them) are multiplied by to give the value at `point`:
/// Lagrange's coefficients.
fn weights(prime: &Prime, first: usize, count: usize, point: u64) -> Vec<u64> {
    let differences: Vec<u64> = (first..first + count).map(|x| prime.sub(point, x as u64)).collect();
    // Of each k the inverse of k!: one inversion is enough for all.
    let factorial = (1..count).fold(1, |product, k| prime.mul(product, k as u64));
    let mut inverses = vec![prime.inverse(factorial); count];
    for k in (1..count).rev() {
        inverses[k - 1] = prime.mul(inverses[k], k as u64);
    }
    // The product of all differences but one, over the denominator `k! (count - 1 - k)!` up to the sign.
    let mut after = vec![1; count];
    for k in (1..count).rev() {
        after[k - 1] = prime.mul(after[k], differences[k]);
    }
    let mut before = 1;
    let weight = |k: usize| {
        let product = prime.mul(before, after[k]);
        before = prime.mul(before, differences[k]);
        let weight = prime.mul(product, prime.mul(inverses[k], inverses[count - 1 - k]));
        if (count - 1 - k).is_multiple_of(2) { weight } else { prime.sub(0, weight) }
    };
    (0..count).map(weight).collect()
}

/// The value at `point` of the polynomial with these values at `first`, `first + 1`, ...
fn evaluate(prime: &Prime, first: usize, values: &[u64], point: u64) -> u64 {
    let weights = weights(prime, first, values.len(), point);
    values.iter().zip(weights).fold(0, |sum, (&value, weight)| prime.add(sum, prime.mul(value, weight)))
}
