//! What prover and verifiers compute, without a message: Li et al. 2023, sections 3.2 and 4 and appendix C.
//!
//! **The relation.** `P_i` sent `z_i` for an AND of `x` and `y`. With `a = x_i`, `c = y_i`, `e = x_i y_i ^ z_i ^ rho_i`
//! (known to `P_i` and `P_(i+1)`) and `b = y_(i-1)`, `d = x_(i-1)`, `f = rho_(i-1)` (known to `P_i` and `P_(i-1)`),
//! `z_i` is right if `ab ^ cd ^ e ^ f = 0` (equation 4). With `e' = 1 - 2e` and `f' = 1 - 2f`,
//!
//! ```text
//! -2 (ac e')(bd f') + (c e')(d f') + (a e')(b f') - 1/2 e' f' + 1/2 = ab ^ cd ^ e ^ f
//! ```
//!
//! for any bits, in F_p (equation 5). So the left parts of all ANDs make a vector `u`, the right parts a vector `v`,
//! and `<u, v> + m/2` is the number of wrong ANDs, which is less than p.
//!
//! **The first round.** The ANDs lie in 64 blocks of `T` (or 32, as the paper has it). `p(X)` and `q(X)` are the
//! vectors of polynomials with `p(l) = u_l` and `q(l) = v_l` for the blocks `l` from 1, and `G(X) = <p(X), q(X)>`. For
//! an honest prover `G(l) = -T/2` at every block: these values are public, and stand for the check of their sum.
//!
//! The prover shares the other `64 - 1` values that determine `G`, of degree 2 * 64 - 2. For blocks `l` and `l'`,
//! `<u_l, v_l'>` is `T/2` less than the number of positions at which `a_l b_l' ^ c_l d_l' ^ e_l ^ f_l'` is 1, so the
//! values take logic and counts of bits only.
//!
//! **Later rounds.** At a random point `r`, `<p(r), q(r)> = G(r)` is a relation of the same kind on vectors as long as
//! a block. Its polynomial's value at 1 follows from the others: the values at the blocks add up to the claim.
//!
//! **The last round** has one element a block, and random values at 0, `eta` on the left and `tau` on the right, so
//! that `p(r)` and `q(r)` can be shown; then `p(r) q(r) = G(r)` is checked.

use super::field::{Field, Spare, Vector};
use super::planes::{LeftPlanes, Planes, RightPlanes};
use super::polynomial::{evaluate, number, weights};
use super::schedule::FoldingSchedule;
use crate::planted::{Mistake, planted};
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::fp61::inner_products;
use tacit_kernel::relation::{self, Side};

/// The values of the first round's polynomial from the number of its blocks, and 1, on.
pub(crate) fn first_values(
    sequence: &FoldingSchedule,
    left: LeftPlanes<'_>,
    right: RightPlanes<'_>,
) -> Vec<Fp61> {
    let blocks = sequence.blocks(0);
    let mut counts = vec![0; blocks * blocks];
    relation::counts(left.all(), right.all(), blocks, &mut counts);
    let expected = expected(sequence);
    let mut products: Vec<Fp61> =
        counts.iter().map(|&count| Fp61::from_u128(count.into()).wrapping_add(expected)).collect();
    products.iter_mut().step_by(blocks + 1).for_each(|product| *product = expected);
    extrapolate(&products, blocks)
}

/// `-T/2`: the inner product of a block's vectors if its ANDs are right.
fn expected(sequence: &FoldingSchedule) -> Fp61 {
    // T is a multiple of 64.
    number(sequence.block_ands() / 2).wrapping_neg()
}

/// The polynomial's values from `blocks + 1` to `2 * blocks - 1`, from the inner products of all pairs of blocks: at
/// `k` the sum of those of blocks `l` and `l'`, each times the weights of both at `k`.
fn extrapolate<F: Field>(products: &[F], blocks: usize) -> Vec<F> {
    let mut all: Vec<Fp61> = (blocks + 1..2 * blocks).flat_map(|at| weights(1, blocks, number(at))).collect();
    all.resize(blocks * blocks, Fp61::ZERO);
    // The inner products of the rows of `products` with the weights of every point, part by part.
    let parts = (0..F::DEGREE).map(|part| {
        let rows: Vec<Fp61> = products.iter().map(|product| product.parts()[part]).collect();
        let mut sums = vec![Fp61::ZERO; blocks * blocks];
        inner_products(&rows, &all, blocks, &mut sums);
        sums
    });
    let parts: Vec<Vec<Fp61>> = parts.collect();
    let value = |point: usize| {
        let sum = |l: usize| F::of(&parts.iter().map(|sums| sums[l * blocks + point]).collect::<Vec<_>>());
        (0..blocks).fold(F::zero(), |value, l| value.add(sum(l).scale(all[point * blocks + l])))
    };
    (0..blocks - 1).map(value).collect()
}

/// A prover's vectors from the second round on.
#[derive(Clone)]
pub(crate) struct Vectors {
    u: Vector,
    v: Vector,
}

impl Vectors {
    /// Both vectors at the first round's point.
    pub(crate) fn fold_bits<F: Field>(
        sequence: &FoldingSchedule,
        left: LeftPlanes<'_>,
        right: RightPlanes<'_>,
        point: F,
        spare: &mut Spare,
    ) -> Self {
        Self {
            u: fold_bits(sequence, left.into(), point, spare),
            v: fold_bits(sequence, right.into(), point, spare),
        }
    }

    /// The values that a middle round shares: from 2 to twice its blocks less 1.
    pub(crate) fn values<F: Field>(&mut self, blocks: usize) -> Vec<F> {
        pad(&mut self.u, blocks);
        pad(&mut self.v, blocks);
        let products = F::inner_products(&self.u, &self.v, blocks);
        let known = products.iter().step_by(blocks + 1).skip(1).copied();
        known.chain(extrapolate(&products, blocks)).collect()
    }

    /// Both vectors at a middle round's point.
    pub(crate) fn fold<F: Field>(&mut self, blocks: usize, point: F, spare: &mut Spare) {
        fold(&mut self.u, blocks, point, spare);
        fold(&mut self.v, blocks, point, spare);
    }

    /// The values that the last round shares: at 0 and from 2 to twice the length, with `masks` (eta, tau) at 0.
    pub(crate) fn last_values<F: Field>(&self, masks: [F; 2]) -> Vec<F> {
        let [p, q] = [(&self.u, masks[0]), (&self.v, masks[1])].map(|(vector, mask)| masked(vector, mask));
        let at = |at: usize| {
            let point = F::from_base(number(at));
            evaluate(0, &p, point).mul(evaluate(0, &q, point))
        };
        std::iter::once(at(0)).chain((2..=2 * self.u[0].len()).map(at)).collect()
    }
}

/// What a verifier's own vector comes down to at the points of all rounds: `p(r)` or `q(r)` of the last one.
pub(crate) fn fold_to_point<F: Field>(
    sequence: &FoldingSchedule,
    planes: Planes<'_>,
    points: &[F],
    mask: F,
    spare: &mut Spare,
) -> F {
    let mut vector = fold_bits(sequence, planes, points[0], spare);
    for (round, &point) in points[..points.len() - 1].iter().enumerate().skip(1) {
        fold(&mut vector, sequence.blocks(round), point, spare);
    }
    evaluate(0, &masked(&vector, mask), points[points.len() - 1])
}

/// A verifier's share of `G(r)` of the last round, from its shares of all values and the points of all rounds. The
/// verifier after the prover (`Side::Left`) adds what is public.
pub(crate) fn claim<F: Field>(sequence: &FoldingSchedule, side: Side, values: &[F], points: &[F]) -> F {
    let mut rest = values;
    let mut claim = F::zero();
    for (round, &point) in points.iter().enumerate() {
        let (sent, after) = rest.split_at(sequence.values(round));
        rest = after;
        let blocks = sequence.blocks(round);
        let sum = |values: &[F]| values.iter().fold(F::zero(), |sum, value| sum.add(*value));
        claim = if round == 0 {
            let public = if side == Side::Left { expected(sequence) } else { Fp61::ZERO };
            let all = [&vec![F::from_base(public); blocks], sent].concat();
            evaluate(1, &all, point)
        } else if sequence.is_last(round) {
            let first = claim.sub(sum(&sent[1..blocks]));
            let all = [&sent[..1], &[first], &sent[1..]].concat();
            evaluate(0, &all, point)
        } else {
            let first = claim.sub(sum(&sent[..blocks - 1]));
            let all = [&[first], sent].concat();
            evaluate(1, &all, point)
        };
    }
    claim
}

fn fold_bits<F: Field>(
    sequence: &FoldingSchedule,
    planes: Planes<'_>,
    point: F,
    spare: &mut Spare,
) -> Vector {
    let (side, [x, y, z]) = (planes.side(), planes.all());
    let planes = if planted(Mistake::WrongMask) { [x, y, x] } else { [x, y, z] };
    let weights = weights(1, sequence.blocks(0), point);
    let fold = |part: usize| {
        let weights: Vec<Fp61> = weights.iter().map(|weight| weight.parts()[part]).collect();
        let mut folded = spare.take(sequence.lengths[0]);
        relation::fold(planes, side, &weights, &mut folded);
        folded
    };
    (0..F::DEGREE).map(fold).collect()
}

/// Brings a vector to a middle round's point.
fn fold<F: Field>(vector: &mut Vector, blocks: usize, point: F, spare: &mut Spare) {
    pad(vector, blocks);
    let folded = F::combine(vector, &weights(1, blocks, point), spare);
    spare.put(std::mem::replace(vector, folded));
}

/// Zeros make whole blocks.
fn pad(vector: &mut Vector, blocks: usize) {
    for part in vector {
        part.resize(part.len().next_multiple_of(blocks), Fp61::ZERO);
    }
}

/// A vector's elements, after the random one at 0.
fn masked<F: Field>(vector: &Vector, mask: F) -> Vec<F> {
    let of = |at: usize| F::of(&vector.iter().map(|part| part[at]).collect::<Vec<_>>());
    std::iter::once(mask).chain((0..vector[0].len()).map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::field::Extended;
    use super::super::schedule::ProofParams;
    use super::super::testing::{Rng, honest};
    use super::*;

    fn element<F: Field>(rng: &mut Rng) -> F {
        F::of(&[0; 2].map(|_| Fp61::from_u128(rng.word().into())))
    }

    /// Runs a proof; whether the verifiers accept.
    fn prove<F: Field>(
        sequence: &FoldingSchedule,
        planes: &[Vec<u64>; 6],
        rng: &mut Rng,
        tamper: Option<usize>,
    ) -> bool {
        let [a, c, e, b, d, f] = planes.each_ref().map(Vec::as_slice);
        let (left, right) = (LeftPlanes { a, c, e }, RightPlanes { b, d, f });
        let points: Vec<F> = (0..sequence.rounds()).map(|_| element(rng)).collect();
        let masks = [element(rng), element(rng)];
        let mut values: Vec<F> = first_values(sequence, left, right).into_iter().map(F::from_base).collect();
        let spare = &mut Spare::default();
        let mut vectors = Vectors::fold_bits(sequence, left, right, points[0], spare);
        for (round, &point) in points[..points.len() - 1].iter().enumerate().skip(1) {
            values.extend(vectors.values::<F>(sequence.blocks(round)));
            vectors.fold(sequence.blocks(round), point, spare);
        }
        values.extend(vectors.last_values(masks));
        assert_eq!(values.len(), sequence.values_before(sequence.rounds()));
        let shares: Vec<F> = values.iter().map(|_| element(rng)).collect();
        let mut rest: Vec<F> = values.iter().zip(&shares).map(|(v, s)| v.sub(*s)).collect();
        if let Some(at) = tamper {
            rest[at] = rest[at].add(F::from_base(Fp61::ONE));
        }
        let u = fold_to_point(sequence, left.into(), &points, masks[0], spare);
        let v = fold_to_point(sequence, right.into(), &points, masks[1], spare);
        let ours = claim(sequence, Side::Left, &shares, &points);
        let theirs = claim(sequence, Side::Right, &rest, &points);
        u.mul(v) == ours.add(theirs)
    }

    #[test]
    fn honest_proofs_pass_and_every_wrong_and_fails() {
        let mut rng = Rng(1);
        let usual = [1, 64, 65, 200, 64 * 64 + 1].map(|words| (words, ProofParams::DEFAULT));
        let paper = [1, 32, 33, 200, 10_000].map(|words| (words, ProofParams::LI_2023));
        for (words, cut) in usual.into_iter().chain(paper) {
            let sequence = FoldingSchedule::of(words, cut);
            let mut planes = honest(&sequence, &mut rng);
            assert!(prove::<Fp61>(&sequence, &planes, &mut rng, None), "{words} words");
            assert!(prove::<Extended>(&sequence, &planes, &mut rng, None), "{words} words");
            let ands = 64 * planes[0].len();
            for plane in 0..6 {
                let at = rng.word() as usize % ands;
                // A flip of e or f is a wrong message; one of another plane is wrong if its partner is 1.
                let partner = [3, 4, 2, 0, 1, 5][plane];
                if plane % 3 != 2 {
                    planes[partner][at / 64] |= 1 << (at % 64);
                    let [a, c, _, b, d, f] = &planes;
                    let w = at / 64;
                    planes[2][w] = a[w] & b[w] ^ c[w] & d[w] ^ f[w];
                }
                planes[plane][at / 64] ^= 1 << (at % 64);
                assert!(
                    !prove::<Fp61>(&sequence, &planes, &mut rng, None),
                    "{words} words, plane {plane}, AND {at}"
                );
                planes[plane][at / 64] ^= 1 << (at % 64);
            }
            // Wrong ANDs don't cancel, however many.
            for word in &mut planes[2] {
                *word ^= u64::MAX;
            }
            assert!(!prove::<Fp61>(&sequence, &planes, &mut rng, None), "{words} words, all wrong");
            assert!(!prove::<Extended>(&sequence, &planes, &mut rng, None), "{words} words, all wrong");
        }
    }

    #[test]
    fn every_wrong_value_fails() {
        let mut rng = Rng(2);
        let sequence = FoldingSchedule::of(300, ProofParams::DEFAULT);
        let planes = honest(&sequence, &mut rng);
        for at in 0..sequence.values_before(sequence.rounds()) {
            assert!(!prove::<Fp61>(&sequence, &planes, &mut rng, Some(at)), "value {at}");
            assert!(!prove::<Extended>(&sequence, &planes, &mut rng, Some(at)), "value {at}");
        }
    }
}
