//! What prover and verifiers compute over GF(2^64), without a message: Boyle, Gilboa, Ishai and Nof 2019, in the form
//! that Li et al. 2023 compare with (section 4.2 and appendix E.2).
//!
//! **The relation.** An AND is right if `ab ^ cd ^ e ^ f = 0` ([`super::proof`]). With random coefficients `theta` that
//! are drawn when all ANDs are fixed, the sum over the ANDs of `theta a b + theta c d` is that of `theta e`, which the
//! left verifier knows, and of `theta f`, which the right one knows: their shares of the first claim.
//!
//! The sum is an inner product of vectors `u` of all `theta a` and `theta c` and `v` of all `b` and `d`, which lie in 8
//! blocks, each with its own ANDs. One wrong AND or more go unnoticed here with a chance of 2^-64.
//!
//! **Rounds.** All but the last are middle rounds, the last is masked, both as in [`super::proof`]. The points' numbers
//! are the polynomials of the same bits. A product of the first round's blocks is a sum of those coefficients whose bit
//! is 1, so it takes no multiplication.

use super::planes::{LeftPlanes, Planes, RightPlanes};
use super::schedule::FoldingSchedule;
use tacit_kernel::gf64::{self, Gf64};
use tacit_kernel::relation::Side;

/// A verifier's share of the first claim: the sum of the coefficients of `e`, or of `f`.
pub(super) fn first_claim(coefficients: &[Gf64], planes: Planes<'_>) -> Gf64 {
    let [.., e_or_f] = planes.all();
    gf64::sum_chosen(coefficients, e_or_f)
}

/// The values of the first round's polynomial from 2 to twice its blocks less 1.
pub(super) fn first_values(
    sequence: &FoldingSchedule,
    coefficients: &[Gf64],
    left: LeftPlanes<'_>,
    right: RightPlanes<'_>,
) -> Vec<Gf64> {
    let (blocks, words, ands) = (sequence.blocks(0), sequence.block_words, sequence.block_ands());
    let mut bits = vec![0; words];
    let mut products = Vec::with_capacity(blocks * blocks);
    for l in 0..blocks {
        for k in 0..blocks {
            let [a, c] = [left.a, left.c].map(|plane| &plane[l * words..][..words]);
            let [b, d] = [right.b, right.d].map(|plane| &plane[k * words..][..words]);
            for (w, bits) in bits.iter_mut().enumerate() {
                *bits = a[w] & b[w] ^ c[w] & d[w];
            }
            products.push(gf64::sum_chosen(&coefficients[l * ands..][..ands], &bits));
        }
    }
    values(&products, blocks)
}

/// A verifier's or the prover's vector at the first round's point.
pub(super) fn fold_bits(
    sequence: &FoldingSchedule,
    coefficients: &[Gf64],
    planes: Planes<'_>,
    point: Gf64,
) -> Vec<Gf64> {
    let (words, ands) = (sequence.block_words, sequence.block_ands());
    let mut folded = vec![Gf64::ZERO; 2 * ands];
    let mut weighted = vec![Gf64::ZERO; ands];
    for (l, weight) in weights(1, sequence.blocks(0), point).into_iter().enumerate() {
        match planes.side() {
            Side::Left => gf64::scale(&coefficients[l * ands..][..ands], weight, &mut weighted),
            Side::Right => weighted.fill(weight),
        }
        for (plane, folded) in planes.all().iter().zip(folded.chunks_exact_mut(ands)) {
            gf64::add_chosen(&weighted, &plane[l * words..][..words], folded);
        }
    }
    folded
}

/// The values that a middle round shares: from 2 to twice its blocks less 1. Pads both vectors to whole blocks.
pub(super) fn middle_values(blocks: usize, u: &mut Vec<Gf64>, v: &mut Vec<Gf64>) -> Vec<Gf64> {
    pad(u, blocks);
    pad(v, blocks);
    let mut products = vec![Gf64::ZERO; blocks * blocks];
    gf64::inner_products(u, v, blocks, &mut products);
    values(&products, blocks)
}

/// Brings a vector to a middle round's point.
pub(super) fn fold(blocks: usize, vector: &mut Vec<Gf64>, point: Gf64) {
    pad(vector, blocks);
    let mut folded = vec![Gf64::ZERO; vector.len() / blocks];
    gf64::combine(vector, &weights(1, blocks, point), &mut folded);
    *vector = folded;
}

/// The values that the last round shares: at 0 and from 2 to twice the length, with `masks` (eta, tau) at 0.
pub(super) fn last_values(u: &[Gf64], v: &[Gf64], masks: [Gf64; 2]) -> Vec<Gf64> {
    let [p, q] = [(u, masks[0]), (v, masks[1])].map(|(vector, mask)| masked(vector, mask));
    let at = |at: usize| evaluate(0, &p, number(at)).times(evaluate(0, &q, number(at)));
    std::iter::once(at(0)).chain((2..=2 * u.len()).map(at)).collect()
}

/// What a verifier's own vector comes down to at the points of all rounds: `p(r)` or `q(r)` of the last one.
pub(super) fn fold_to_point(
    sequence: &FoldingSchedule,
    coefficients: &[Gf64],
    planes: Planes<'_>,
    points: &[Gf64],
    mask: Gf64,
) -> Gf64 {
    let (first, last) = (points[0], points.len() - 1);
    let mut vector = fold_bits(sequence, coefficients, planes, first);
    for (round, &point) in points[..last].iter().enumerate().skip(1) {
        fold(sequence.blocks(round), &mut vector, point);
    }
    evaluate(0, &masked(&vector, mask), points[last])
}

/// A verifier's share of `G(r)` of the last round, from its share of the first claim, its shares of all values and the
/// points of all rounds.
pub(super) fn claim(sequence: &FoldingSchedule, first: Gf64, values: &[Gf64], points: &[Gf64]) -> Gf64 {
    let sum = |values: &[Gf64]| values.iter().fold(Gf64::ZERO, |sum, &value| sum.plus(value));
    let (mut claim, mut rest) = (first, values);
    for (round, &point) in points.iter().enumerate() {
        let (sent, after) = rest.split_at(sequence.values(round));
        rest = after;
        let blocks = sequence.blocks(round);
        claim = if sequence.is_last(round) {
            let at_1 = claim.plus(sum(&sent[1..blocks]));
            evaluate(0, &[&sent[..1], &[at_1], &sent[1..]].concat(), point)
        } else {
            let at_1 = claim.plus(sum(&sent[..blocks - 1]));
            evaluate(1, &[&[at_1], sent].concat(), point)
        };
    }
    claim
}

/// The polynomial's values from 2 to `2 * blocks - 1`, from the inner products of all pairs of blocks.
fn values(products: &[Gf64], blocks: usize) -> Vec<Gf64> {
    let at = |at: usize| {
        let weights = weights(1, blocks, number(at));
        let row = |l: usize| dot(&products[l * blocks..][..blocks], &weights).times(weights[l]);
        (0..blocks).fold(Gf64::ZERO, |sum, l| sum.plus(row(l)))
    };
    (2..2 * blocks).map(at).collect()
}

/// What the values at `first`, `first + 1`, ... (`count` of them) are multiplied by to give the value at `point`:
/// Lagrange's coefficients.
fn weights(first: usize, count: usize, point: Gf64) -> Vec<Gf64> {
    let all = first..first + count;
    let weight = |j: usize| {
        let others = all.clone().filter(|&k| k != j);
        let (above, below) = others.fold((Gf64::ONE, Gf64::ONE), |(above, below), k| {
            (above.times(point.plus(number(k))), below.times(number(j).plus(number(k))))
        });
        above.times(below.inverse())
    };
    all.clone().map(weight).collect()
}

/// The value at `point` of the polynomial with these values at `first`, `first + 1`, ...
fn evaluate(first: usize, values: &[Gf64], point: Gf64) -> Gf64 {
    dot(values, &weights(first, values.len(), point))
}

fn dot(a: &[Gf64], b: &[Gf64]) -> Gf64 {
    a.iter().zip(b).fold(Gf64::ZERO, |sum, (a, b)| sum.plus(a.times(*b)))
}

/// The element of a number's bits.
fn number(value: usize) -> Gf64 {
    Gf64(value as u64)
}

/// Zeros make whole blocks.
fn pad(vector: &mut Vec<Gf64>, blocks: usize) {
    vector.resize(vector.len().next_multiple_of(blocks), Gf64::ZERO);
}

/// A vector's elements, after the random one at 0.
fn masked(vector: &[Gf64], mask: Gf64) -> Vec<Gf64> {
    [&[mask], vector].concat()
}

#[cfg(test)]
mod tests {
    use super::super::schedule::ProofParams;
    use super::super::testing::{Rng, honest};
    use super::*;

    fn elements(rng: &mut Rng, count: usize) -> Vec<Gf64> {
        (0..count).map(|_| Gf64(rng.word())).collect()
    }

    /// Runs a proof; whether the verifiers accept.
    fn prove(
        sequence: &FoldingSchedule,
        planes: &[Vec<u64>; 6],
        rng: &mut Rng,
        tamper: Option<usize>,
    ) -> bool {
        let [a, c, e, b, d, f] = planes.each_ref().map(Vec::as_slice);
        let (left, right) = (LeftPlanes { a, c, e }, RightPlanes { b, d, f });
        let coefficients = elements(rng, 64 * sequence.padded_words());
        let points = elements(rng, sequence.rounds());
        let masks = [Gf64(rng.word()), Gf64(rng.word())];
        let mut values = first_values(sequence, &coefficients, left, right);
        let fold_first = |planes| fold_bits(sequence, &coefficients, planes, points[0]);
        let (mut u, mut v) = (fold_first(left.into()), fold_first(right.into()));
        for &point in &points[1..points.len() - 1] {
            values.extend(middle_values(sequence.blocks(1), &mut u, &mut v));
            fold(sequence.blocks(1), &mut u, point);
            fold(sequence.blocks(1), &mut v, point);
        }
        values.extend(last_values(&u, &v, masks));
        assert_eq!(values.len(), sequence.values_before(sequence.rounds()));
        let shares = elements(rng, values.len());
        let mut rest: Vec<Gf64> = values.iter().zip(&shares).map(|(v, s)| v.plus(*s)).collect();
        if let Some(at) = tamper {
            rest[at] = rest[at].plus(Gf64::ONE);
        }
        let own = |planes, mask| fold_to_point(sequence, &coefficients, planes, &points, mask);
        let (p, q) = (own(left.into(), masks[0]), own(right.into(), masks[1]));
        let ours = claim(sequence, first_claim(&coefficients, left.into()), &shares, &points);
        let theirs = claim(sequence, first_claim(&coefficients, right.into()), &rest, &points);
        p.times(q) == ours.plus(theirs)
    }

    #[test]
    fn honest_proofs_pass_and_every_wrong_and_fails() {
        let mut rng = Rng(1);
        for words in [1, 8, 9, 65, 200] {
            let sequence = FoldingSchedule::of(words, ProofParams::BOYLE_2019);
            let mut planes = honest(&sequence, &mut rng);
            assert!(prove(&sequence, &planes, &mut rng, None), "{words} words");
            // Of e, f and, where its partner is 1, of another bit a flip is a wrong message.
            for (plane, partner) in [(0, 3), (1, 4), (3, 0), (4, 1), (2, 2), (5, 5)] {
                let at = rng.word() as usize % planes[0].len();
                planes[partner][at] = u64::MAX;
                let [a, c, _, b, d, f] = &planes;
                planes[2][at] = a[at] & b[at] ^ c[at] & d[at] ^ f[at];
                planes[plane][at] ^= 1 << 63;
                assert!(!prove(&sequence, &planes, &mut rng, None), "{words} words, plane {plane}");
                planes[plane][at] ^= 1 << 63;
                assert!(prove(&sequence, &planes, &mut rng, None), "{words} words, plane {plane}");
            }
            // Wrong ANDs don't cancel, however many.
            planes[2].iter_mut().for_each(|word| *word ^= u64::MAX);
            assert!(!prove(&sequence, &planes, &mut rng, None), "{words} words, all wrong");
        }
    }

    #[test]
    fn every_wrong_value_fails() {
        let mut rng = Rng(2);
        let sequence = FoldingSchedule::of(65, ProofParams::BOYLE_2019);
        let planes = honest(&sequence, &mut rng);
        for at in 0..sequence.values_before(sequence.rounds()) {
            assert!(!prove(&sequence, &planes, &mut rng, Some(at)), "value {at}");
        }
    }
}
