//! Truncation of numbers, and injection of bits: the conversions that need a sharing's additive components.
//!
//! **Two additive components.** [`OpKind::Shift`] and [`OpKind::Inject`] do it, but for the carry out of the low bits.
//!
//! **Three additive components, injection.** A bit is `b = b_0 xor b_1 xor b_2`, and each `b_j` is a number that is
//! shared already ([`Local::BitComponent`]). As numbers `u xor v = u + v - 2 u v`: two products, one after the other.
//!
//! **Three additive components, shift.** For `0 <= x < 2^(k-1)` the integers `x_0 + x_1 + x_2 = x + 2^k w` with `w` in
//! 0, 1, 2. So
//!
//! `x >> d = sum of (x_j >> d) + c - w 2^(k-d)  mod 2^k`,
//!
//! where `c`, in 0, 1, 2, is the carry out of the low `d` bits of the sum of the three. Full adders make a sum of two of
//! it, `s + t`, with `s_i` the exclusive or of the three bits at position `i`, and `t_(i+1)` their majority.
//!
//! - *c* is `t_d`, the adders' own carry, and the carry out of the low `d` bits of `s + t`, each 0 or 1: their sum. As
//!   `t` has no bit 0, the latter needs positions 1 to `d - 1` only.
//! - *w* takes no carry through all positions, since the top bit of `x` is known to be 0. Let `h` be the sum of
//!   the top bits of the three, `h = 2m + p` with `m` their majority and `p = s_(k-1)`; and let `v` be the carry that
//!   comes into the top position, `v = t_(k-1) + g` with `g` that of `s + t`. Then `h + v = 2w`, for the top bit of the
//!   sum is 0, and so `w = m + (p + v) / 2`. The top bit is also `p xor t_(k-1) xor g`, so `g = p xor t_(k-1)`, and
//!   `(p + v) / 2 = (p + t_(k-1) + (p xor t_(k-1))) / 2`, which is `p or t_(k-1)`: 0 if both are 0, else
//!   `(1 + 1) / 2` or `(1 + 1 + 0) / 2`. Hence `w = m + (p or t_(k-1))`: three ANDs, for the two majorities and the or.
//!
//! No local function of each component makes `c` or `w` a single bit: rounding takes up to a unit off each of the
//! three, and so up to three in all.
//!
//! Four bits are so to be injected, with weights 1, 1, `-2^(k-d)`, `-2^(k-d)`; three if `d = 1`. Of each the first
//! product is needed by itself, `e = b_0 xor b_1`. The second ones are only summed:
//!
//! `sum of a_i (e_i xor b_(i,2)) = sum of a_i e_i + sum of a_i b_(i,2) + sum of e_i (-2 a_i b_(i,2))`,
//!
//! a product of a row and a column, which is one element to send. That makes five products of eight.

use super::bits::{Pair, majority};
use super::term::{Term, limbs};
use super::{AdditiveComponents, Lowering, width_of};
use crate::plan::{Local, MatrixShape, OpKind, Operand, Reg, Rows, Width};
use std::sync::Arc;
use tacit_circuit as circuit;

impl Lowering<'_> {
    /// Bits as the numbers 0 and 1; each is turned into a ring once. Two rounds.
    pub(super) fn inject(&mut self, bit: Reg, width: Width) -> Reg {
        if let Some(&known) = self.injected.get(&(bit, width)) {
            return known;
        }
        let dst = if self.native.additive_components == AdditiveComponents::Three {
            let [both, third] = self.two_and_one(bit, width);
            let number = self.exclusive_or(&both, &third);
            self.register(&number)
        } else {
            let dst = self.plan.ring(width, self.plan.shape(bit).cols);
            self.plan.interact(OpKind::Inject { a: Rows::one(bit, 0), dst });
            dst
        };
        self.injected.insert((bit, width), dst);
        dst
    }

    /// `x >> by`, for `0 <= x < 2^(k-1)` and `0 < by < k`.
    ///
    /// With d for `by`: by two additive components 3d - 2 - ceil(log2 d) ANDs, 4 + ceil(log2 d) rounds. By three
    /// 4d - 2 - ceil(log2(d - 1)) ANDs, five products and 4 + ceil(log2(d - 1)) rounds; for d = 1 four ANDs, four
    /// products and as many rounds.
    pub(super) fn shift(&mut self, x: Reg, by: u8) -> Term {
        let width = width_of(self.plan.shape(x).domain);
        let shifted = self.plan.ring(width, self.plan.shape(x).cols);
        let missing = if self.native.additive_components == AdditiveComponents::Three {
            self.plan.local(Local::ShiftComponents { a: x, by, dst: shifted });
            self.carry_and_wrap(x, by)
        } else {
            self.plan.interact(OpKind::Shift { a: x, by, dst: shifted });
            let carry = self.carry_out(x, by);
            Term::Secret(self.inject(carry, width))
        };
        self.add(&Term::Secret(shifted), &missing)
    }

    /// `c - w 2^(k-by)`, of three additive components.
    fn carry_and_wrap(&mut self, x: Reg, by: u8) -> Term {
        let shape = self.plan.shape(x);
        let bits = shape.domain.bits();
        let (low, top) = (usize::from(by), bits as usize - 1);
        let mut build = circuit::Builder::new();
        let addends = [(); 3].map(|()| build.input(bits as u32));
        let sum = Pair::of_three(&mut build, &addends);
        let tops = addends.map(|addend| addend[top]);
        let (parity, carried) = (sum.first(top), sum.second(top));
        let neither = {
            let (p, t) = (build.not(parity), build.not(carried));
            build.and(p, t)
        };
        let wraps = [majority(&mut build, tops), build.not(neither)];
        let carries = [sum.second(low)].into_iter().chain(sum.carry_into(&mut build, low));
        let modulus = shape.domain.modulus();
        let weight = modulus.sub(0, 1 << (bits - u64::from(by)));
        let weighted: Vec<(circuit::Wire, u128)> =
            carries.map(|carry| (carry, 1)).chain(wraps.map(|wrap| (wrap, weight))).collect();
        let (outputs, weights): (Vec<_>, Vec<_>) = weighted.into_iter().unzip();
        let dst = self.plan.bits(1, weights.len() * shape.cols);
        let circuit = self.laid_out(&Arc::new(build.finish(vec![outputs])), vec![false; 3]);
        let inputs =
            [0, 1, 2].map(|component| Operand::Component { a: x, component, negate: false }).to_vec();
        self.plan.interact(OpKind::Circuit { circuit, inputs, dst });
        self.weighted_sum(dst, &weights, width_of(shape.domain))
    }

    /// Of bits that stand group after group, of as many as there are weights: the weighted sum of each group.
    fn weighted_sum(&mut self, bits: Reg, weights: &[u128], width: Width) -> Term {
        let count = weights.len();
        let groups = self.plan.shape(bits).cols / count;
        let [both, third] = self.two_and_one(bits, width);
        let (domain, modulus) = (self.domain_of(&both), self.domain_of(&both).modulus());
        let mut diagonal = vec![0; count * count];
        for (place, &weight) in weights.iter().enumerate() {
            diagonal[place * (count + 1)] = modulus.sub(0, modulus.add(weight, weight));
        }
        let (column, diagonal) = (limbs(weights, domain), limbs(&diagonal, domain));
        let rows = MatrixShape { batch: 1, m: groups, k: count, n: 1 };
        // The third components first: they are gone before the others' product comes.
        let third_sum = self.times(&third, &column, rows);
        let scaled = self.times(&third, &diagonal, MatrixShape { n: count, ..rows });
        let both_sum = self.times(&both, &column, rows);
        let (a, b, dst) = (self.register(&both), self.register(&scaled), self.plan.ring(width, groups));
        self.plan.interact(OpKind::MatMul { a, b, shape: MatrixShape { batch: groups, m: 1, ..rows }, dst });
        let sum = self.add(&third_sum, &both_sum);
        self.add(&sum, &Term::Secret(dst))
    }

    /// Secret rows by a public matrix.
    fn times(&mut self, rows: &Term, c: &Arc<[u64]>, shape: MatrixShape) -> Term {
        let dst = self.fresh(self.domain_of(rows), shape.m * shape.n);
        let (a, c) = (self.register(rows), c.clone());
        self.plan.local(Local::MatMulPublic { a, c, left: false, shape, dst });
        Term::Secret(dst)
    }

    /// `b_0 xor b_1` and `b_2` of the components of bits, as numbers: a product.
    fn two_and_one(&mut self, bits: Reg, width: Width) -> [Term; 2] {
        let cols = self.plan.shape(bits).cols;
        let [first, second, third] = [0, 1, 2].map(|component| {
            let dst = self.plan.ring(width, cols);
            self.plan.local(Local::BitComponent { a: bits, component, dst });
            Term::Secret(dst)
        });
        [self.exclusive_or(&first, &second), third]
    }

    /// `u + v - 2 u v`, of numbers that are 0 or 1.
    fn exclusive_or(&mut self, u: &Term, v: &Term) -> Term {
        let minus_two = Term::splat(2u128.wrapping_neg(), self.domain_of(u), self.len_of(u));
        let (sum, both) = (self.add(u, v), self.mul(u, v));
        let twice = self.mul(&both, &minus_two);
        self.add(&sum, &twice)
    }
}
