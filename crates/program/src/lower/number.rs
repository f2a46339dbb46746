//! Comparison, truncation and choice.

use super::lowering::{Lowering, View};
use super::term::Term;
use crate::error::Fault;
use crate::node::NodeId;
use crate::operations::{Extreme, Operation, Rounding, exact_product};
use crate::plan::{Domain, Layout, Reg, Width};
use crate::rounded::raise;
use crate::types::{Range, Type};
use crate::width;

impl Lowering<'_> {
    /// `floor((x + h) / 2^d)`, where `h` is 0 or 2^(d-1): exactly, for `-2^(k-2) <= x + h < 2^(k-2)`.
    ///
    /// In a ring the number is raised by 2^(k-2) into `0 <= x' < 2^(k-1)` and shifted there; this is 2^(k-2-d) too much. In
    /// a field it is raised by as much as makes it not negative. Costs what a shift does.
    pub(super) fn truncate(&mut self, id: NodeId, by: u8, rounding: Rounding) -> Reg {
        let x = self.whole(id);
        self.truncated(x, self.ty(id).range, by, rounding)
    }

    /// The product of two operands, rounded to the nearest, whose exact product no ring holds or truncates. Costs the
    /// product and a shift in a field; in rings as [`Self::wide_in_ring`]; where an operand is too long for that it
    /// is a circuit on bits, element by element, and matrices are refused.
    pub(super) fn wide_product(
        &mut self,
        operands: &[NodeId],
        matrix: bool,
        by: u8,
        ty: &Type,
        domain: Domain,
    ) -> Reg {
        let (a, b) = (operands[0], operands[1]);
        let Ok((kind, _, range)) = exact_product(matrix, &[self.ty(a), self.ty(b)]) else {
            unreachable!("typing has looked at the product");
        };
        let Some(field) = self.capabilities.numbers.field() else {
            if let Some(product) = self.wide_in_ring(operands, matrix, by, ty, domain) {
                return product;
            }
            if !matrix {
                return self.by_circuit(&Operation::WideProduct { matrix, by }, operands, ty, domain);
            }
            let (frac, bits) = (kind.frac(), 62);
            self.refuse(|operation| Fault::TruncationGuard { operation, range, frac, bits });
            return self.fresh(Domain::Ring(Width::W64), ty.len());
        };
        let domain = field.domain();
        let product = if matrix {
            self.matmul(operands, domain)
        } else {
            let (a, b) = (self.term(a, &ty.shape, domain), self.term(b, &ty.shape, domain));
            let product = self.mul(&a, &b);
            self.register(&product)
        };
        self.truncated(product, range, by, Rounding::Nearest)
    }

    /// The same in a ring, where one operand leaves room: with `x = h 2^by + l`, the product is `h y 2^by + l y`, and so it is
    /// rounded `h y + ((l y + 2^(by-1)) >> by)`. The first may leave the ring before they are added, for the sum is back in it.
    /// Costs a shift of each `x`, two products, and a shift of the result.
    fn wide_in_ring(
        &mut self,
        operands: &[NodeId],
        matrix: bool,
        by: u8,
        ty: &Type,
        domain: Domain,
    ) -> Option<Reg> {
        if by > 60 || domain != Domain::Ring(Width::W64) || operands.iter().any(|&id| !self.ty(id).secret) {
            return None;
        }
        let types = [0, 1].map(|at| self.ty(operands[at]));
        let terms = if matrix { types[0].shape.last().copied().unwrap_or(1) } else { 1 };
        let room = Range::point(-1 << 61).hull(Range::point((1 << 61) - 1));
        let low = Range::point(0).hull(Range::point((1 << by) - 1));
        let lows = |other: &Type| low.mul(other.range).times(terms);
        let split = (0..2).find(|&at| room.covers(types[at].range) && room.covers(lows(types[1 - at])))?;
        let range = lows(types[1 - split]);
        let whole = self.whole(operands[split]);
        let high = self.truncated(whole, types[split].range, by, Rounding::Floor);
        let above = Term::integer(-(1 << by), domain, types[split].len());
        let above = self.mul(&Term::Secret(high), &above);
        let rest = self.add(&Term::Secret(whole), &above);
        let rest = self.register(&rest);
        let [high, rest] = [high, rest].map(|part| {
            let mut views = [0, 1].map(|at| self.view(operands[at]).clone());
            views[split] = View { reg: part, layout: Layout::whole(&types[split].shape) };
            if matrix {
                return self.matrix_product(views, [&types[0].shape, &types[1].shape], domain);
            }
            let [a, b] = views
                .map(|View { reg, layout }| Term::Secret(self.gathered(reg, layout.broadcast(&ty.shape))));
            let product = self.mul(&a, &b);
            self.register(&product)
        });
        let rest = self.truncated(rest, range, by, Rounding::Nearest);
        let sum = self.add(&Term::Secret(high), &Term::Secret(rest));
        Some(self.register(&sum))
    }

    /// As [`Self::truncate`], of a register's numbers, which are in `range`.
    pub(super) fn truncated(&mut self, x: Reg, range: Range, by: u8, rounding: Rounding) -> Reg {
        let shape = self.plan.shape(x);
        let half = rounding.half(by);
        let range = range.add(Range::point(half));
        let by_all = match shape.domain {
            Domain::Ring(width) => 1 << (width.bits() - 2),
            Domain::Bits | Domain::Modular(_) => raise(range, by.into()),
        };
        let raised = Term::integer(by_all + half, shape.domain, shape.cols);
        let raised = self.add(&Term::Secret(x), &raised);
        let raised = self.register(&raised);
        let shifted = self.shift(raised, range.add(Range::point(by_all)), by);
        let lowered = Term::integer(-(by_all >> by), shape.domain, shape.cols);
        let result = self.add(&shifted, &lowered);
        self.register(&result)
    }

    /// Whether `a < b`, where `range` is that of `a - b`.
    ///
    /// If the difference isn't in the ring's signed range, numbers of different signs are compared by these, and others
    /// by their difference: two more extractions and one more AND.
    pub(super) fn less(&mut self, a: &Term, b: &Term, range: Range) -> Term {
        let difference = self.sub(a, b);
        let below = self.sign(&difference, range);
        if fits(range, self.domain_of(a)) {
            return below;
        }
        let (a_sign, b_sign) = (self.sign(a, range), self.sign(b, range));
        let apart = self.xor(&a_sign, &b_sign);
        let wrong = self.xor(&a_sign, &below);
        let flip = self.and(&apart, &wrong);
        self.xor(&below, &flip)
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
                Term::Secret(self.is_zero(difference, width::difference(a_type, b_type)))
            }
            Operation::Pick(which) => {
                // The right one only if it beats the left.
                let beaten = match which {
                    Extreme::Max => self.less(&a, &b, width::difference(a_type, b_type)),
                    Extreme::Min => self.less(&b, &a, width::difference(b_type, a_type)),
                };
                self.mux(&beaten, &b, &a)
            }
            _ => self.less(&a, &b, width::difference(a_type, b_type)),
        };
        self.register(&result)
    }

    /// `where(c, a, b)`. The condition is injected before it is broadcast.
    pub(super) fn choice(&mut self, operands: &[NodeId], ty: &Type, domain: Domain) -> Reg {
        let [c, a, b] = [operands[0], operands[1], operands[2]];
        let (a, b) = (self.term(a, &ty.shape, domain), self.term(b, &ty.shape, domain));
        let condition = if domain != Domain::Bits && self.ty(c).secret {
            let bit = self.whole(c);
            let number = self.inject(bit, domain);
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
        let number = self.inject(bit, self.domain_of(a));
        self.blend(&Term::Secret(number), a, b)
    }

    /// `x` within bounds that are nodes.
    pub(super) fn clip(&mut self, operands: &[NodeId], ty: &Type) -> Reg {
        let [x, low, high] = [0, 1, 2].map(|at| self.ty(operands[at]));
        let ranges = [width::difference(x, low), width::difference(high, x)];
        let secret = operands.iter().find(|id| self.ty(**id).secret).copied().unwrap_or(operands[0]);
        let domain = self.domain(secret);
        let [x, low, high] = [0, 1, 2].map(|at| self.term(operands[at], &ty.shape, domain));
        self.within(&x, low, high, ranges).0
    }

    /// What is assumed to be in a range, where its bits are found by openings under masks: clipped to the range. A mask is as
    /// long as what it hides, and on an author's word it would be too short if the author errs, or an owner gives what
    /// makes the author err: what is opened would show what it should hide.
    pub(super) fn assumed(&mut self, node: NodeId, id: NodeId, ty: &Type) -> Reg {
        let (all, domain) = (self.ty(id).range, self.domain(id));
        if all == ty.range {
            return self.whole(id);
        }
        let x = Term::Secret(self.whole(id));
        let [low, high] = [ty.range.lo(), ty.range.hi()].map(|end| Term::integer(end, domain, ty.len()));
        let [least, most] = [Range::point(ty.range.lo()), Range::point(ty.range.hi())];
        let (clipped, [below, above]) = self.within(&x, low, high, [all.sub(least), most.sub(all)]);
        if self.is_watched(node) {
            let outside = self.or(&Term::Secret(below), &Term::Secret(above));
            let outside = self.register(&outside);
            let inside = self.not(outside);
            self.note_inside(inside);
        }
        clipped
    }

    /// `x + (x < low) (low - x) + (high < x) (high - x)`, where at most one of the two holds. Both comparisons share their
    /// rounds, and so do both products. `ranges` are those of `x - low` and of `high - x`. Beside it whether `x` is below, and
    /// whether it is above.
    fn within(&mut self, x: &Term, low: Term, high: Term, ranges: [Range; 2]) -> (Reg, [Reg; 2]) {
        let domain = self.domain_of(x);
        let below = self.less(x, &low, ranges[0]);
        let above = self.less(&high, x, ranges[1]);
        let sides = [below, above].map(|outside| self.register(&outside));
        let mut result = x.clone();
        for (outside, bound) in sides.into_iter().zip([low, high]) {
            let outside = Term::Secret(self.inject(outside, domain));
            let change = self.sub(&bound, x);
            let change = self.mul(&outside, &change);
            result = self.add(&result, &change);
        }
        (self.register(&result), sides)
    }

    /// `max(x, 0)`: x times whether it isn't negative.
    pub(super) fn relu(&mut self, id: NodeId) -> Reg {
        let x = Term::Secret(self.whole(id));
        let sign = self.sign(&x, self.ty(id).range);
        let sign = self.register(&sign);
        let positive = self.not(sign);
        let number = self.inject(positive, self.domain_of(&x));
        let product = self.mul(&x, &Term::Secret(number));
        self.register(&product)
    }

    /// `|x|`: x times 1 or -1.
    pub(super) fn abs(&mut self, id: NodeId) -> Reg {
        let x = Term::Secret(self.whole(id));
        let (domain, len) = (self.domain_of(&x), self.len_of(&x));
        let sign = self.sign(&x, self.ty(id).range);
        let sign = self.register(&sign);
        let negative = Term::Secret(self.inject(sign, domain));
        let (minus_two, one) = (Term::integer(-2, domain, len), Term::splat(1, domain, len));
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
fn fits(difference: Range, domain: Domain) -> bool {
    match domain {
        Domain::Ring(width) => Range::of_width(width).covers(difference),
        // A field's numbers are refused where there is no room for them.
        Domain::Bits | Domain::Modular(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Domain, Width};
    use crate::testing::Clear;
    use crate::{Builder, Capabilities, Dtype, Feature, Range, Recipient, Uses, lower};
    use proptest::test_runner::{RngAlgorithm, TestRng};

    /// Every element of a ring of eight bits, and some of longer ones, between numbers of the range: if it isn't in
    /// the range, all are the least number of it, so that a shift gives one result however its components are drawn.
    #[test]
    fn inputs_of_which_a_number_is_outside_its_range_are_the_least_numbers_in_it() {
        let capabilities = Capabilities::THREE_COMPONENTS.holding_ranges();
        for (lo, hi) in
            [(0, 9), (0, 7), (-7, -7), (-60, 60), (-64, 63), (-120, 100), (3, 1000), (-(1 << 40), 1 << 20)]
                .into_iter()
                .chain([(-1, 1), (-2, 2), (5, 13), (-32, 32), (-1 << 20, 1 << 20), (-1 << 46, 1 << 46)])
        {
            let range = Range::new(lo, hi).unwrap();
            let program = |len: usize| {
                let mut build = Builder::new();
                let x = build.input("alice", "x", Dtype::Int, &[len], Some(range)).unwrap();
                let y = build.shift_right(x, 1).unwrap();
                build.reveal(y, Recipient::All).unwrap();
                lower(&build.finish().unwrap(), capabilities).unwrap().plan
            };
            let (one, five) = (program(1), program(5));
            let ring = one.register(one.inputs[0].reg).domain;
            let modulus = ring.modulus();
            let step = (modulus.last() / 255) as u64;
            let signed = |word: u64| {
                let raw = modulus.reduce_unsigned(word.into());
                if raw > modulus.last() / 2 { raw as i128 - modulus.last() as i128 - 1 } else { raw as i128 }
            };
            let raw = |number: i128| modulus.reduce(number) as u64;
            let steps = (0..256).map(|at: u64| at.wrapping_mul(step).wrapping_add(at));
            let ends = [lo - 1, lo, lo + 1, hi - 1, hi, hi + 1].map(raw);
            for (seed, word) in steps.chain(ends).enumerate() {
                let x = signed(word);
                let is_in = (lo..=hi).contains(&x);
                let rng = || TestRng::from_seed(RngAlgorithm::ChaCha, &[seed as u8; 32]);
                let outputs = Clear::run(&one, &[vec![word]], rng());
                assert_eq!(signed(outputs[0][0]), if is_in { x } else { lo } >> 1, "{x} in {lo} to {hi}");
                let numbers = [hi, lo, x, hi, lo];
                let outputs = Clear::run(&five, &[numbers.map(raw).to_vec()], rng());
                let expected = numbers.map(|number| if is_in { number } else { lo } >> 1);
                assert_eq!(outputs[0].iter().map(|&word| signed(word)).collect::<Vec<_>>(), expected, "{x}");
            }
            // Where no result depends on how a number is split, it is taken as it comes.
            let mut build = Builder::new();
            let x = build.input("alice", "x", Dtype::Int, &[1], Some(range)).unwrap();
            build.reveal(x, Recipient::All).unwrap();
            assert!(lower(&build.finish().unwrap(), capabilities).unwrap().plan.ops.is_empty());
        }
    }

    /// What is kept may be shifted by another plan, so it is looked at where it is given.
    #[test]
    fn inputs_that_are_kept_are_held_to_their_ranges() {
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Int, &[2], Range::new(-5, 100)).unwrap();
        build.keep(x, "x", Uses::default()).unwrap();
        build.reveal(x, Recipient::All).unwrap();
        let program = build.finish().unwrap();
        let capabilities = Capabilities::THREE_COMPONENTS.holding_ranges().with(Feature::Keep);
        let plan = lower(&program, capabilities).unwrap().plan;
        for (given, is_in) in [(-5, true), (100, true), (-6, false), (101, false), (i64::MIN, false)] {
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[8; 32]);
            let outputs = Clear::run(&plan, &[vec![7, given as u64]], rng);
            let expected = if is_in { [7, given] } else { [-5; 2] };
            assert_eq!(outputs[0], expected.map(|number| number as u64), "{given}");
        }
    }

    /// A number that isn't shifted itself, beside one that is, has a ring that is hardly larger than its range: all
    /// elements of it, in ranges of more than half of the ring, in others, and in all of the ring, where nothing is
    /// to be looked at.
    #[test]
    fn ranges_that_fill_most_of_their_ring_are_held() {
        let capabilities = Capabilities::THREE_COMPONENTS.holding_ranges();
        let ranges = [(-100, 100), (-64, 64), (-128, 126), (-127, 127), (-1, 127), (-128, 127), (-63, 64)];
        for (lo, hi) in ranges.into_iter().chain((0..128).map(|at| (at - 128, 90 - at / 2))) {
            let mut build = Builder::new();
            let range = |lo, hi| Some(Range::new(lo, hi).unwrap());
            let x = build.input("alice", "x", Dtype::Int, &[1], range(lo, hi)).unwrap();
            let y = build.input("bob", "y", Dtype::Int, &[1], range(0, 3)).unwrap();
            let half = build.shift_right(y, 1).unwrap();
            for out in [x, half] {
                build.reveal(out, Recipient::All).unwrap();
            }
            let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
            assert_eq!(plan.register(plan.inputs[0].reg).domain, Domain::Ring(Width::W8), "{lo} to {hi}");
            for number in -128..128_i128 {
                let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[number as u8; 32]);
                let outputs = Clear::run(&plan, &[vec![number as u8 as u64], vec![3]], rng);
                let expected = if (lo..=hi).contains(&number) { number } else { lo };
                assert_eq!(outputs[0][0] as u8 as i8 as i128, expected, "{number} in {lo} to {hi}");
                assert_eq!(outputs[1][0], 1);
            }
        }
    }
}
