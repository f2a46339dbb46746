//! What prover and verifiers compute, without a message: Li et al. 2023, sections 3.2 and 4 and appendix C. Over GF(2^64)
//! the relation and the first round are others ([`super::binary`]), and all else is the same.
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

use super::field::{BaseField, Field, Spare, Vector};
use super::polynomial::{evaluate, weights};
use super::schedule::FoldingSchedule;
use tacit_kernel::gf64::Gf64;
use tacit_kernel::relation::{LeftPlanes, Planes, RightPlanes};

/// The values that the first round shares; `coefficients` weigh the ANDs, of which F_p needs none.
pub(crate) fn first_values<F: Field>(
    schedule: &FoldingSchedule,
    coefficients: &[Gf64],
    left: LeftPlanes<'_>,
    right: RightPlanes<'_>,
) -> Vec<F> {
    let products = F::Base::bit_products(schedule, coefficients, left, right);
    values(schedule, 0, &products).into_iter().map(F::from_base).collect()
}

/// The values that a round but the last shares, from the inner products of all pairs of blocks: beyond the blocks and,
/// where these aren't public, at all of them but the first.
fn values<F: Field>(schedule: &FoldingSchedule, round: usize, products: &[F]) -> Vec<F> {
    let blocks = schedule.blocks(round);
    let known = products.iter().step_by(blocks + 1).skip(1).filter(|_| !schedule.is_public(round));
    known.copied().chain(extrapolate(products, blocks)).collect()
}

/// The polynomial's values from `blocks + 1` to `2 * blocks - 1`, from the inner products `m` of all pairs of blocks: at
/// `k` the sum of those of blocks `l` and `l'`, each times the weights of both at `k`. These are `Z c_l / (k - l)`, with
/// `Z` the product of all `k - l` and `c_l` of the blocks alone. And `1 / (k - l)(k - l')` is the difference of
/// `1 / (k - l)` and `1 / (k - l')` over `l - l'`. So all pairs come down to a number for each block, whatever `k` is:
///
/// ```text
/// Z^2 (sum over l of a_l / (k - l) + m_ll c_l^2 / (k - l)^2)
/// a_l = c_l (sum over l' != l of c_l' (m_ll' + m_l'l) / (l - l'))
/// ```
fn extrapolate<F: Field>(products: &[F], blocks: usize) -> Vec<F> {
    let inverse = F::Base::inverse_differences(2 * blocks);
    let inverse = |a: usize, b: usize| F::from_base(inverse(a, b));
    // Those of blocks, which count from 1.
    let own: Vec<F> = F::Base::inverse_products(1, blocks).into_iter().map(F::from_base).collect();
    let product = |l: usize, other: usize| products[(l - 1) * blocks + other - 1];
    let of_pairs = |l: usize| {
        let others = (1..=blocks).filter(|&other| other != l);
        let sum = others.fold(F::zero(), |sum, other| {
            let both = product(l, other).add(product(other, l));
            sum.add(both.mul(own[other - 1].mul(inverse(l, other))))
        });
        sum.mul(own[l - 1])
    };
    let pairs: Vec<F> = (1..=blocks).map(of_pairs).collect();
    let squares: Vec<F> = (1..=blocks).map(|l| product(l, l).mul(own[l - 1]).mul(own[l - 1])).collect();
    let value = |k: usize| {
        let (mut sum, mut all) = (F::zero(), F::number(1));
        for (l, (pair, square)) in (1..).zip(pairs.iter().zip(&squares)) {
            let inverse = inverse(k, l);
            sum = sum.add(pair.add(square.mul(inverse)).mul(inverse));
            all = all.mul(F::number(k).sub(F::number(l)));
        }
        sum.mul(all).mul(all)
    };
    (blocks + 1..2 * blocks).map(value).collect()
}

/// A prover's vectors from the second round on.
pub(crate) struct Vectors<F: Field> {
    u: Vector<F>,
    v: Vector<F>,
}

impl<F: Field> Vectors<F> {
    /// Both vectors at the first round's point.
    pub(crate) fn fold_bits(
        schedule: &FoldingSchedule,
        coefficients: &[Gf64],
        left: LeftPlanes<'_>,
        right: RightPlanes<'_>,
        point: F,
        spare: &mut Spare,
    ) -> Self {
        let mut fold = |planes| fold_bits(schedule, coefficients, planes, point, spare);
        Self { u: fold(left.into()), v: fold(right.into()) }
    }

    /// The values that a round shares: of a middle one from 2 to twice its blocks less 1; of the last at 0 and from 2 to
    /// twice its blocks, with its `masks` (eta, tau) at 0.
    pub(crate) fn values(
        &mut self,
        schedule: &FoldingSchedule,
        round: usize,
        masks: impl FnOnce() -> [F; 2],
    ) -> Vec<F> {
        let blocks = schedule.blocks(round);
        if schedule.is_last(round) {
            let [eta, tau] = masks();
            let (p, q) = (masked(&self.u, eta), masked(&self.v, tau));
            let at = |at: usize| {
                let point = F::number(at);
                evaluate(0, &p, point).mul(evaluate(0, &q, point))
            };
            return std::iter::once(0).chain(2..=2 * blocks).map(at).collect();
        }
        pad::<F>(&mut self.u, blocks);
        pad::<F>(&mut self.v, blocks);
        values(schedule, round, &F::inner_products(&self.u, &self.v, blocks))
    }

    /// Both vectors at a middle round's point.
    pub(crate) fn fold(&mut self, blocks: usize, point: F, spare: &mut Spare) {
        fold(&mut self.u, blocks, point, spare);
        fold(&mut self.v, blocks, point, spare);
    }
}

/// What a verifier's own vector comes down to at the points of all rounds: `p(r)` or `q(r)` of the last one.
pub(crate) fn fold_to_point<F: Field>(
    schedule: &FoldingSchedule,
    coefficients: &[Gf64],
    planes: Planes<'_>,
    points: &[F],
    mask: F,
    spare: &mut Spare,
) -> F {
    let mut vector = fold_bits(schedule, coefficients, planes, points[0], spare);
    for (round, &point) in points[..points.len() - 1].iter().enumerate().skip(1) {
        fold(&mut vector, schedule.blocks(round), point, spare);
    }
    evaluate(0, &masked(&vector, mask), points[points.len() - 1])
}

/// A verifier's share of `G(r)` of the last round, from its share of the first claim, its shares of all values and the
/// points of all rounds.
pub(crate) fn claim<F: Field>(schedule: &FoldingSchedule, first: F, values: &[F], points: &[F]) -> F {
    let sum = |values: &[F]| values.iter().fold(F::zero(), |sum, value| sum.add(*value));
    let (mut claim, mut rest) = (first, values);
    for (round, &point) in points.iter().enumerate() {
        let (sent, after) = rest.split_at(schedule.values(round));
        rest = after;
        let blocks = schedule.blocks(round);
        claim = if schedule.is_public(round) {
            evaluate(1, &[&vec![claim; blocks], sent].concat(), point)
        } else if schedule.is_last(round) {
            let at_1 = claim.sub(sum(&sent[1..blocks]));
            evaluate(0, &[&sent[..1], &[at_1], &sent[1..]].concat(), point)
        } else {
            let at_1 = claim.sub(sum(&sent[..blocks - 1]));
            evaluate(1, &[&[at_1], sent].concat(), point)
        };
    }
    claim
}

fn fold_bits<F: Field>(
    schedule: &FoldingSchedule,
    coefficients: &[Gf64],
    planes: Planes<'_>,
    point: F,
    spare: &mut Spare,
) -> Vector<F> {
    let weights = weights(1, schedule.blocks(0), point);
    let fold = |part: usize| {
        let weights: Vec<F::Base> = weights.iter().map(|weight| weight.parts()[part]).collect();
        let mut folded = F::Base::memory(spare, schedule.lengths[0]);
        F::Base::fold_bits(schedule, coefficients, planes, &weights, &mut folded);
        folded
    };
    (0..F::DEGREE).map(fold).collect()
}

/// Brings a vector to a middle round's point.
fn fold<F: Field>(vector: &mut Vector<F>, blocks: usize, point: F, spare: &mut Spare) {
    pad::<F>(vector, blocks);
    let folded = F::combine(vector, &weights(1, blocks, point), spare);
    F::Base::reuse(spare, std::mem::replace(vector, folded));
}

/// Zeros make whole blocks.
fn pad<F: Field>(vector: &mut Vector<F>, blocks: usize) {
    for part in vector {
        part.resize(part.len().next_multiple_of(blocks), F::Base::element(0));
    }
}

/// A vector's elements, after the random one at 0.
fn masked<F: Field>(vector: &Vector<F>, mask: F) -> Vec<F> {
    let of = |at: usize| F::of(&vector.iter().map(|part| part[at]).collect::<Vec<_>>());
    std::iter::once(mask).chain((0..vector[0].len()).map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::field::Extended;
    use super::super::schedule::ProofParams;
    use super::super::testing::{Rng, honest};
    use super::*;
    use tacit_kernel::field::Fp61;

    fn element<F: Field>(rng: &mut Rng) -> F {
        F::of(&[0; 2].map(|_| F::Base::element(rng.word())))
    }

    /// Runs a proof; whether the verifiers accept.
    fn prove<F: Field>(
        schedule: &FoldingSchedule,
        planes: &[Vec<u64>; 6],
        rng: &mut Rng,
        tamper: Option<usize>,
    ) -> bool {
        let [a, c, e, b, d, f] = planes.each_ref().map(Vec::as_slice);
        let (left, right) = (LeftPlanes { a, c, e }, RightPlanes { b, d, f });
        let coefficients: Vec<Gf64> = (0..64 * schedule.padded_words()).map(|_| element(rng)).collect();
        let points: Vec<F> = (0..schedule.rounds()).map(|_| element(rng)).collect();
        let masks = [element(rng), element(rng)];
        let mut values: Vec<F> = first_values(schedule, &coefficients, left, right);
        let spare = &mut Spare::default();
        let mut vectors = Vectors::fold_bits(schedule, &coefficients, left, right, points[0], spare);
        for (round, &point) in points.iter().enumerate().skip(1) {
            values.extend(vectors.values(schedule, round, || masks));
            if !schedule.is_last(round) {
                vectors.fold(schedule.blocks(round), point, spare);
            }
        }
        assert_eq!(values.len(), schedule.values_before(schedule.rounds()));
        let shares: Vec<F> = values.iter().map(|_| element(rng)).collect();
        let mut rest: Vec<F> = values.iter().zip(&shares).map(|(v, s)| v.sub(*s)).collect();
        if let Some(at) = tamper {
            rest[at] = rest[at].add(F::number(1));
        }
        let u = fold_to_point(schedule, &coefficients, left.into(), &points, masks[0], spare);
        let v = fold_to_point(schedule, &coefficients, right.into(), &points, masks[1], spare);
        let claimed = |planes, values: &[F]| {
            let first = F::from_base(F::Base::first_claim(schedule, &coefficients, planes));
            claim(schedule, first, values, &points)
        };
        u.mul(v) == claimed(left.into(), &shares).add(claimed(right.into(), &rest))
    }

    /// That a proof passes, and none with a wrong AND.
    fn check<F: Field>(words: usize, cut: ProofParams, rng: &mut Rng) {
        let schedule = FoldingSchedule::of(words, cut);
        let mut planes = honest(&schedule, rng);
        assert!(prove::<F>(&schedule, &planes, rng, None), "{words} words");
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
            assert!(!prove::<F>(&schedule, &planes, rng, None), "{words} words, plane {plane}, AND {at}");
            planes[plane][at / 64] ^= 1 << (at % 64);
        }
        // Wrong ANDs don't cancel, however many.
        for word in &mut planes[2] {
            *word ^= u64::MAX;
        }
        assert!(!prove::<F>(&schedule, &planes, rng, None), "{words} words, all wrong");
    }

    #[test]
    fn honest_proofs_pass_and_every_wrong_and_fails() {
        let mut rng = Rng(1);
        let usual = [1, 64, 65, 200, 64 * 64 + 1].map(|words| (words, ProofParams::DEFAULT));
        let paper = [1, 32, 33, 200, 10_000].map(|words| (words, ProofParams::LI_2023));
        for (words, cut) in usual.into_iter().chain(paper) {
            check::<Fp61>(words, cut, &mut rng);
            check::<Extended>(words, cut, &mut rng);
        }
        for words in [1, 8, 9, 65, 200] {
            check::<Gf64>(words, ProofParams::BOYLE_2019, &mut rng);
        }
    }

    #[test]
    fn every_wrong_value_fails() {
        fn check<F: Field>(words: usize, cut: ProofParams) {
            let rng = &mut Rng(2);
            let schedule = FoldingSchedule::of(words, cut);
            let planes = honest(&schedule, rng);
            for at in 0..schedule.values_before(schedule.rounds()) {
                assert!(!prove::<F>(&schedule, &planes, rng, Some(at)), "value {at}");
            }
        }
        check::<Fp61>(300, ProofParams::DEFAULT);
        check::<Extended>(300, ProofParams::DEFAULT);
        check::<Gf64>(65, ProofParams::BOYLE_2019);
    }
}
