//! Signs, equality and carries, from the bits of a number's two addends.
//!
//! With `x = S + T mod 2^k`, of which one party knows `S` and the others `T`, all that is asked of the bits of
//! `x` is a carry: into the top bit for its sign, out of the low ones for a truncation. Generate and propagate
//! bits are combined pair by pair in a balanced tree, all pairs of a layer in one or two operations.

use super::Lowering;
use super::term::Term;
use crate::plan::{Kind, Local, Reg, Rows};

impl Lowering<'_> {
    /// Whether `a < b`, where `fits` says that `a - b` is in the ring's signed range.
    ///
    /// If it isn't, numbers of different signs are compared by these, and others by their difference: two more
    /// extractions and one more AND.
    pub(super) fn less(&mut self, a: &Term, b: &Term, fits: bool) -> Term {
        let difference = self.sub(a, b);
        let below = self.sign(&difference);
        if fits {
            return below;
        }
        let (a_sign, b_sign) = (self.sign(a), self.sign(b));
        let apart = self.xor(&a_sign, &b_sign);
        let wrong = self.xor(&a_sign, &below);
        let flip = self.and(&apart, &wrong);
        self.xor(&below, &flip)
    }

    /// The top bit of each number. For k bits: 1 + 1 + ceil(log2(k - 1)) rounds; of ANDs, k - 1 to generate and
    /// 2 (k - 2) - ceil(log2(k - 1)) in the tree.
    pub(super) fn sign(&mut self, a: &Term) -> Term {
        let a = match a {
            Term::Secret(a) => *a,
            Term::Public(clear) => return Term::Public(clear.sign()),
        };
        if let Some(&known) = self.signs.get(&a) {
            return Term::Secret(known);
        }
        let k = self.bits_of(a);
        let (s, t) = self.split(a, k as u8, false);
        let carry = self.carry(s, t, k - 1);
        let cols = self.plan.shape(a).cols;
        let (apart, sign) = (self.plan.bits(1, cols), self.plan.bits(1, cols));
        let top = [s, t].map(|reg| Rows::one(reg, k - 1));
        self.plan.local(Local::Xor { a: top[0], b: top[1], dst: Rows::one(apart, 0) });
        self.plan.local(Local::Xor {
            a: Rows::one(apart, 0),
            b: Rows::one(carry, 0),
            dst: Rows::one(sign, 0),
        });
        self.signs.insert(a, sign);
        Term::Secret(sign)
    }

    /// Whether a number is 0, that is whether `S = -T`: k - 1 ANDs, 1 + log2 k rounds.
    pub(super) fn is_zero(&mut self, a: Reg) -> Reg {
        let k = self.bits_of(a);
        let cols = self.plan.shape(a).cols;
        let (s, t) = self.split(a, k as u8, true);
        let (differ, mut same) = (self.plan.bits(k, cols), self.plan.bits(k, cols));
        self.plan.local(Local::Xor {
            a: Rows::run(s, 0, k),
            b: Rows::run(t, 0, k),
            dst: Rows::run(differ, 0, k),
        });
        self.plan.local(Local::Not { a: Rows::run(differ, 0, k), dst: Rows::run(same, 0, k) });
        let mut rows = k;
        while rows > 1 {
            rows /= 2;
            let dst = self.plan.bits(rows, cols);
            self.and_rows(every_other(same, 0, rows), every_other(same, 1, rows), Rows::run(dst, 0, rows));
            same = dst;
        }
        same
    }

    /// The carry out of the low `m` rows of `s` and `t`, added as numbers. 1 + ceil(log2 m) rounds; m ANDs to
    /// generate and 2 (m - 1) - ceil(log2 m) in the tree.
    pub(super) fn carry(&mut self, s: Reg, t: Reg, m: u32) -> Reg {
        let cols = self.plan.shape(s).cols;
        let mut generate = self.plan.bits(m, cols);
        self.and_rows(Rows::run(s, 0, m), Rows::run(t, 0, m), Rows::run(generate, 0, m));
        if m == 1 {
            return generate;
        }
        // Nothing is carried into the lowest position, so it doesn't matter what that one propagates: row `i` is
        // position `i + 1`.
        let mut propagate = self.plan.bits(m - 1, cols);
        let [a, b, dst] = [(s, 1), (t, 1), (propagate, 0)].map(|(reg, first)| Rows::run(reg, first, m - 1));
        self.plan.local(Local::Xor { a, b, dst });
        let mut groups = m;
        while groups > 1 {
            (generate, propagate) = self.pair_up(generate, propagate, groups);
            groups = groups.div_ceil(2);
        }
        generate
    }

    /// One layer of the tree: groups 2j and 2j + 1 become group j, an odd one at the top stays.
    ///
    /// A pair generates if its upper half does, or propagates what the lower one generates, and propagates if
    /// both do. The two cases of generating exclude one another, so XOR joins them.
    fn pair_up(&mut self, generate: Reg, propagate: Reg, groups: u32) -> (Reg, Reg) {
        let cols = self.plan.shape(generate).cols;
        let pairs = groups / 2;
        let next = groups.div_ceil(2);
        let passed = self.plan.bits(pairs, cols);
        let passed = Rows::run(passed, 0, pairs);
        self.and_rows(every_other(propagate, 0, pairs), every_other(generate, 0, pairs), passed);
        let joined = self.plan.bits(next, cols);
        let upper = every_other(generate, 1, pairs);
        self.plan.local(Local::Xor { a: passed, b: upper, dst: Rows::run(joined, 0, pairs) });
        if next > pairs {
            self.keep_row(generate, groups - 1, joined, pairs);
        }
        if next == 1 {
            return (joined, propagate);
        }
        let through = self.plan.bits(next - 1, cols);
        if pairs > 1 {
            let (upper, lower) = (every_other(propagate, 2, pairs - 1), every_other(propagate, 1, pairs - 1));
            self.and_rows(upper, lower, Rows::run(through, 0, pairs - 1));
        }
        if next > pairs {
            self.keep_row(propagate, groups - 2, through, pairs - 1);
        }
        (joined, through)
    }

    /// The low bits of a number's addends, or of the first and the negative of the second.
    pub(super) fn split(&mut self, a: Reg, bits: u8, negate: bool) -> (Reg, Reg) {
        let cols = self.plan.shape(a).cols;
        let (s, t) = (self.plan.bits(bits.into(), cols), self.plan.bits(bits.into(), cols));
        self.plan.interact(Kind::Split { a, bits, negate, s, t });
        (s, t)
    }

    fn and_rows(&mut self, a: Rows, b: Rows, dst: Rows) {
        self.plan.interact(Kind::And { a, b, dst });
    }

    fn keep_row(&mut self, from: Reg, row: u32, to: Reg, at: u32) {
        self.plan.local(Local::CopyRows { a: Rows::one(from, row), dst: Rows::one(to, at) });
    }

    fn bits_of(&self, a: Reg) -> u32 {
        self.plan.shape(a).domain.bits() as u32
    }
}

/// Every second row from `first` on.
const fn every_other(reg: Reg, first: u32, count: u32) -> Rows {
    Rows { reg, first, step: 2, count }
}
