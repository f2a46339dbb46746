//! What a corrupt party knows of a batch of ANDs: a copy of its log.

use std::ops::Range;

use tacit_replicated::planted::{Noted, session};

use super::field::{F, weights};

/// A copy of a party's log of a batch. Planes are in blocks, one after another.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) session: [u8; 32],
    pub(crate) me: usize,
    pub(crate) number: u32,
    pub(crate) blocks: usize,
    pub(crate) block_words: usize,
    /// `a = x_i`, `c = y_i`, `e = x_i y_i ^ z_i ^ rho_i` of its own messages: what the left verifier has.
    left: [Vec<u64>; 3],
    /// `b = y_(i-1)`, `d = x_(i-1)`, `f = rho_(i-1)`: what the right one has.
    right: [Vec<u64>; 3],
}

impl Log {
    pub(crate) fn of(noted: &Noted<'_>) -> Self {
        Self {
            session: session(),
            me: noted.me,
            number: noted.number,
            blocks: noted.blocks,
            block_words: noted.block_words,
            left: [&*noted.x[0], &*noted.y[0], &*noted.e].map(<[u64]>::to_vec),
            right: [&*noted.y[1], &*noted.x[1], &*noted.mask_prev].map(<[u64]>::to_vec),
        }
    }

    /// ANDs in the batch, with the padding.
    pub(crate) fn ands(&self) -> usize {
        64 * self.blocks * self.block_words
    }

    /// By how much `<p(r), q(r)>` changes if `e` of an AND is flipped, for each of some ANDs and the point `r` of the first
    /// round.
    ///
    /// With `e' = 1 - 2e`, the left vector has `u = (-2 ac e', c e', a e', -1/2 e')` for an AND. All four have the factor `e'`,
    /// so a flip of `e` turns `u` into `-u`. The AND is at some place `t` of some block `l`, and `p(r)_t` is the sum over blocks
    /// of `w_l u_(l,t)`, with Lagrange's coefficients `w_l` of `r`.
    ///
    /// So `p(r)_t` changes by `-2 w_l u_(l,t)`, and the inner product by `-2 w_l <u_(l,t), q(r)_t>`. Here `q(r)_t`, the sum of
    /// all `w_l v_(l,t)` with `v = (bd f', d f', b f', f')`, is as it was: flips of several ANDs add up.
    ///
    /// A prover that has sent values of the polynomial as it was before passes this round, and so all others, if what it
    /// flips adds up to 0.
    pub(crate) fn changes(&self, ands: Range<usize>, r: F) -> Vec<F> {
        let w = weights(self.blocks, r);
        let change = |and: usize| {
            let (block, offset, bit) = (and / 64 / self.block_words, and / 64 % self.block_words, and % 64);
            let at = |planes: &[Vec<u64>; 3], block: usize| {
                planes.each_ref().map(|plane| (plane[block * self.block_words + offset] >> bit & 1) as i64)
            };
            let mut q = [F::ZERO; 4];
            for (block, &weight) in w.iter().enumerate() {
                let [b, d, f] = at(&self.right, block);
                let sign = 1 - 2 * f;
                for (sum, factor) in q.iter_mut().zip([b * d * sign, d * sign, b * sign, sign]) {
                    *sum = sum.add(weight.mul(F::number(factor)));
                }
            }
            let [a, c, e] = at(&self.left, block);
            let sign = 1 - 2 * e;
            // -2 u, whose last element is e' without a fraction.
            let u = [4 * a * c * sign, -2 * c * sign, -2 * a * sign, sign];
            let product = u.iter().zip(q).fold(F::ZERO, |sum, (&u, q)| sum.add(F::number(u).mul(q)));
            w[block].mul(product)
        };
        ands.map(change).collect()
    }
}

/// Flips bits of a plane.
pub(crate) fn flip(plane: &mut [u64], ands: &[usize]) {
    for and in ands {
        plane[and / 64] ^= 1 << (and % 64);
    }
}
