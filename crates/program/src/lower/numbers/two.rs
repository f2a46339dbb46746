//! Two additive components, `x = S + T mod 2^k`: one party knows `S`, and the others know `T`.
//!
//! The party that knows `S` shares its bits, in a message ([`OpKind::Split`]). With those of `T`, which need none, they
//! go into a circuit on the rows of both: its tiles stay in the cache from the bits to the carry. Injection and shift
//! are operations of such a sharing ([`OpKind::Inject`], [`OpKind::Shift`]), but for the carry out of the low bits.

use super::carries::{Pair, complement};
use super::conversions::{Conversions, msb};
use crate::lower::lowering::Lowering;
use crate::lower::term::Term;
use crate::plan::{Domain, OpKind, Operand, Reg, Rows, SECOND_COMPONENT};
use crate::types::Range;
use std::sync::Arc;
use tacit_circuit::{self as circuit, Wire};

/// The strategy.
pub(super) struct TwoComponents;

impl Conversions for TwoComponents {
    /// With k bits of the range: 1 + 1 + ceil(log2(k - 1)) rounds; of ANDs, k - 1 to generate and
    /// 2 (k - 2) - ceil(log2(k - 1)) in the tree. Where the protocol has MSB extraction of its own, two rounds.
    fn sign(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        msb(lowering, a).unwrap_or_else(|| {
            let bits = lowering.low_bits(a, range);
            of_sum(lowering, a, bits, false, |build, sum| sum.bit(build, bits as usize - 1))
        })
    }

    /// Whether `x - 1` is all ones, in the k bits of the range. `T` less one is the complement of its negative. k - 1 ANDs
    /// and 1 + log2 k rounds.
    fn is_zero(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        let bits = lowering.low_bits(a, range);
        of_sum(lowering, a, bits, true, |build, sum| sum.is_all_ones(build))
    }

    /// Two rounds.
    fn inject(&self, lowering: &mut Lowering<'_>, bit: Reg, to: Domain) -> Reg {
        let dst = lowering.fresh(to, lowering.plan.shape(bit).cols);
        lowering.plan.interact(OpKind::Inject { a: Rows::one(bit, 0), dst });
        dst
    }

    /// With d for `by`: 3d - 2 - ceil(log2 d) ANDs, 4 + ceil(log2 d) rounds.
    fn shift(&self, lowering: &mut Lowering<'_>, x: Reg, _: Range, by: u8) -> Term {
        let shape = lowering.plan.shape(x);
        let shifted = lowering.fresh(shape.domain, shape.cols);
        lowering.plan.interact(OpKind::Shift { a: x, by, dst: shifted });
        let carry = of_sum(lowering, x, by.into(), false, |build, sum| {
            sum.carry_into(build, by.into()).unwrap_or_else(|| build.constant(false))
        });
        let missing = Term::Secret(lowering.inject(carry, shape.domain));
        lowering.add(&Term::Secret(shifted), &missing)
    }

    fn additive_components(&self, lowering: &mut Lowering<'_>, a: Reg, bits: u32) -> Option<Vec<Operand>> {
        let s = lowering.plan.bits(bits, lowering.plan.shape(a).cols);
        lowering.plan.interact(OpKind::Split { a, bits: bits as u8, s });
        let t = Operand::Component { a, component: SECOND_COMPONENT, negate: false };
        Some(vec![Operand::Rows(s), t])
    }
}

/// A bit of each number, from the low bits of `S` and `T`, or, where `less_one`, of `S` and `T - 1`.
pub(super) fn of_sum(
    lowering: &mut Lowering<'_>,
    a: Reg,
    bits: u32,
    less_one: bool,
    bit: impl FnOnce(&mut circuit::Builder, &Pair) -> Wire,
) -> Reg {
    let cols = lowering.plan.shape(a).cols;
    let mut build = circuit::Builder::new();
    let s = lowering.plan.bits(bits, cols);
    lowering.plan.interact(OpKind::Split { a, bits: bits as u8, s });
    let (first, mut second) = (build.input(bits), build.input(bits));
    if less_one {
        complement(&mut build, &mut second);
    }
    let t = Operand::Component { a, component: SECOND_COMPONENT, negate: less_one };
    let sum = Pair { s: first, t: second };
    let bit = bit(&mut build, &sum);
    let circuit = Arc::new(build.finish(vec![vec![bit]]));
    let dst = lowering.plan.bits(1, cols);
    lowering.evaluate_circuit(&circuit, vec![Operand::Rows(s), t], dst);
    dst
}
