//! Truncation and choice.

use super::term::Term;
use super::{Lowering, width_of};
use crate::operations::{Extreme, Operation, Rounding};
use crate::plan::{Domain, Layout, Reg};
use crate::program::NodeId;
use crate::types::{Range, Type};
use crate::width;

impl Lowering<'_> {
    /// `floor((x + h) / 2^d)`, where `h` is 0 or 2^(d-1): exactly, for `-2^(k-2) <= x + h < 2^(k-2)`.
    ///
    /// The number is raised by 2^(k-2) into `0 <= x' < 2^(k-1)` and shifted there; this is 2^(k-2-d) too much. Costs
    /// what [`Self::shift`] does.
    pub(super) fn truncate(&mut self, id: NodeId, by: u8, rounding: Rounding) -> Reg {
        let x = self.whole(id);
        let shape = self.plan.shape(x);
        let width = width_of(shape.domain);
        let half = match rounding {
            Rounding::Floor => 0,
            Rounding::Nearest => 1 << (by - 1),
        };
        let guard = width.bits() - 2;
        let raise = Term::splat((1 << guard) + half, shape.domain, shape.cols);
        let raised = self.add(&Term::Secret(x), &raise);
        let raised = self.register(&raised);
        let shifted = self.shift(raised, by);
        let lowered = Term::splat((1u128 << (guard - by)).wrapping_neg(), shape.domain, shape.cols);
        let result = self.add(&shifted, &lowered);
        self.register(&result)
    }

    /// `a < b`, `a == b`, or the smaller or larger of both.
    pub(super) fn compared(&mut self, operation: &Operation, operands: &[NodeId], ty: &Type) -> Reg {
        let (a_type, b_type) = (self.ty(operands[0]), self.ty(operands[1]));
        let secret = if a_type.secret { operands[0] } else { operands[1] };
        let domain = self.domain(secret);
        let (a, b) = (self.term(operands[0], &ty.shape, domain), self.term(operands[1], &ty.shape, domain));
        let result = match operation {
            Operation::Equal => {
                let difference = self.sub(&a, &b);
                let difference = self.register(&difference);
                Term::Secret(self.is_zero(difference))
            }
            Operation::Pick(which) => {
                // The right one only if it beats the left.
                let beaten = match which {
                    Extreme::Max => self.less(&a, &b, fits(width::difference(a_type, b_type), domain)),
                    Extreme::Min => self.less(&b, &a, fits(width::difference(b_type, a_type), domain)),
                };
                self.mux(&beaten, &b, &a)
            }
            _ => self.less(&a, &b, fits(width::difference(a_type, b_type), domain)),
        };
        self.register(&result)
    }

    /// `where(c, a, b)`. The condition is injected before it is broadcast.
    pub(super) fn choice(&mut self, operands: &[NodeId], ty: &Type, domain: Domain) -> Reg {
        let [c, a, b] = [operands[0], operands[1], operands[2]];
        let (a, b) = (self.term(a, &ty.shape, domain), self.term(b, &ty.shape, domain));
        let condition = if domain != Domain::Bits && self.ty(c).secret {
            let bit = self.whole(c);
            let number = self.inject(bit, width_of(domain));
            let walk = Layout::whole(&self.ty(c).shape).broadcast(&ty.shape);
            Term::Secret(self.gathered(number, walk))
        } else {
            self.term(c, &ty.shape, domain)
        };
        let result = self.blend(&condition, &a, &b);
        self.register(&result)
    }

    /// `a` where the bit `c` is set, else `b`, of numbers.
    pub(super) fn mux(&mut self, c: &Term, a: &Term, b: &Term) -> Term {
        let bit = self.register(c);
        let number = self.inject(bit, width_of(self.domain_of(a)));
        self.blend(&Term::Secret(number), a, b)
    }

    /// `x` within bounds: `x + (x < low) (low - x) + (high < x) (high - x)`, where at most one of the two holds. Both
    /// comparisons share their rounds, and so do both products.
    pub(super) fn clip(&mut self, operands: &[NodeId], ty: &Type) -> Reg {
        let [x, low, high] = [0, 1, 2].map(|at| self.ty(operands[at]));
        let (below, above) = (width::difference(x, low), width::difference(high, x));
        let secret = operands.iter().find(|id| self.ty(**id).secret).copied().unwrap_or(operands[0]);
        let domain = self.domain(secret);
        let [x, low, high] = [0, 1, 2].map(|at| self.term(operands[at], &ty.shape, domain));
        let below = self.less(&x, &low, fits(below, domain));
        let above = self.less(&high, &x, fits(above, domain));
        let mut result = x.clone();
        for (outside, bound) in [(below, low), (above, high)] {
            let outside = self.register(&outside);
            let outside = Term::Secret(self.inject(outside, width_of(domain)));
            let change = self.sub(&bound, &x);
            let change = self.mul(&outside, &change);
            result = self.add(&result, &change);
        }
        self.register(&result)
    }

    /// `max(x, 0)`: x times whether it isn't negative.
    pub(super) fn relu(&mut self, id: NodeId) -> Reg {
        let x = Term::Secret(self.whole(id));
        let sign = self.sign(&x);
        let sign = self.register(&sign);
        let positive = self.not(sign);
        let number = self.inject(positive, width_of(self.domain_of(&x)));
        let product = self.mul(&x, &Term::Secret(number));
        self.register(&product)
    }

    /// `|x|`: x times 1 or -1.
    pub(super) fn abs(&mut self, id: NodeId) -> Reg {
        let x = Term::Secret(self.whole(id));
        let (domain, len) = (self.domain_of(&x), self.len_of(&x));
        let sign = self.sign(&x);
        let sign = self.register(&sign);
        let negative = Term::Secret(self.inject(sign, width_of(domain)));
        let (minus_two, one) = (Term::splat(2u128.wrapping_neg(), domain, len), Term::splat(1, domain, len));
        let doubled = self.mul(&negative, &minus_two);
        let factor = self.add(&doubled, &one);
        let product = self.mul(&x, &factor);
        self.register(&product)
    }

    /// `b + c (a - b)`, of bits with XOR and AND.
    fn blend(&mut self, c: &Term, a: &Term, b: &Term) -> Term {
        if self.domain_of(a) == Domain::Bits {
            let differ = self.xor(a, b);
            let change = self.and(c, &differ);
            return self.xor(b, &change);
        }
        let differ = self.sub(a, b);
        let change = self.mul(c, &differ);
        self.add(b, &change)
    }
}

/// Whether a difference is in a ring's signed range, so that its top bit is its sign.
pub(super) fn fits(difference: Range, domain: Domain) -> bool {
    Range::of_width(width_of(domain)).covers(difference)
}
