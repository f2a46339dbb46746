//! Piecewise polynomials of which the sums are numbers of a ring.
//!
//! A circuit finds the piece that a number is in, with its coefficients and the place in it; these become numbers
//! ([`super::compose`]). Then a step of Horner's rule is a product and a truncation of it, where a circuit has an AND for each
//! two bits and as many again to add them.
//!
//! Each step rounds as [`Piecewise`] says, so results are those of the circuit ([`functions::piecewise`]). The last one has one
//! truncation, too: with `p` places, `g` bits of guard and `c + 2^(g-1) = 2^g h + l`, `floor((floor(s u / 2^p) + c + 2^(g-1)) /
//! 2^g)` is `h + floor((s u + 2^p l) / 2^(p+g))`.
//!
//! Tables have `h` and `l` in the place of `c`.

use tacit_circuit::arith::Style;
use tacit_circuit::{Builder, Layered, Wire};

use super::compose::{composed_bits, less_mask};
use super::element::style;
use super::functions;
use super::gates::Word;
use crate::capabilities::Feature;
use crate::lower::lowering::Lowering;
use crate::lower::term::Term;
use crate::lower::weight::ROUND;
use crate::node::NodeId;
use crate::operations::Rounding;
use crate::piecewise::Piecewise;
use crate::plan::{Domain, Layout, Operand, Reg};
use crate::types::{Range, Type};
use crate::width::Format;

impl Lowering<'_> {
    /// A function of a secret number; `None` where it is cheaper as a circuit, or the ring has no room for its products.
    pub(super) fn polynomial(
        &mut self,
        function: &Piecewise,
        id: NodeId,
        ty: &Type,
        domain: Domain,
    ) -> Option<Reg> {
        let of = self.ty(id);
        let ranges = products(function, of.range, domain)?;
        let (len, ring, count) = (ty.len(), domain.bits() as usize, parts_of(function));
        let offered = [Feature::Compose, Feature::Inject, Feature::Shift, Feature::Mul];
        if offered.into_iter().any(|feature| !self.capabilities.offers(feature))
            || !of.secret
            || !self.is_cheaper(function, Format::of(of), ty, domain)
        {
            return None;
        }
        let (mut b, mut inputs) = (Builder::new(), Vec::new());
        let operand = self.additive_operand(id, &ty.shape, &mut b, &mut inputs)?;
        let mask = self.pair_mask(domain, count * len, &inputs);
        inputs.push(Operand::Each(mask));
        let wires = b.input((count * ring) as u32);
        let style = style(len);
        let x = operand.sum(&mut b, style);
        let parts = masked_parts(&mut b, style, &x, function, &wires);
        let bits = self.evaluated(b, inputs, parts, len);
        let all = self.composed(bits, mask, domain, count * len);
        let part = |lowering: &mut Self, at: usize| {
            let walk = Layout { offset: at, shape: vec![len], strides: vec![count as isize] };
            Term::Secret(lowering.gathered(all, walk))
        };
        let u = part(self, count - 1);
        let mut sum = part(self, 0);
        for (step, range) in (1..).zip(ranges) {
            let (coefficient, mut product) = (part(self, step), self.mul(&sum, &u));
            let mut by = function.places();
            if step + 1 == function.terms() && function.guard() > 0 {
                let unit = Term::integer(1 << by, domain, len);
                let low = part(self, step + 1);
                let low = self.mul(&low, &unit);
                product = self.add(&product, &low);
                by += function.guard();
            }
            let product = self.register(&product);
            let shifted = self.truncated(product, range, by, Rounding::Floor);
            sum = self.add(&Term::Secret(shifted), &coefficient);
        }
        Some(self.register(&sum))
    }

    /// Whether the ring takes less than a circuit and a composition of its result: bits that each party sends, and
    /// rounds. What both have, the bits of the number, is left out.
    fn is_cheaper(&self, function: &Piecewise, of: Format, ty: &Type, domain: Domain) -> bool {
        let (ring, len, terms) = (domain.bits(), ty.len(), function.terms() as u64);
        let style = style(len);
        let weigh = |each: u64, rounds: u64| (len as u64).saturating_mul(each).saturating_add(rounds * ROUND);
        let laid = |make: &dyn Fn(&mut Builder, &Word) -> Vec<Wire>| {
            let mut b = Builder::new();
            let x = Word { bits: b.input(of.bits as u32), signed: of.signed };
            let outputs = make(&mut b, &x);
            let layered = Layered::new(&b.finish(vec![outputs]));
            (layered.ands(), u64::from(layered.depth()))
        };
        let (ands, depth) = laid(&|b, x| {
            let wires = b.input((parts_of(function) as u64 * ring) as u32);
            masked_parts(b, style, x, function, &wires)
        });
        let places = u64::from(function.places());
        // A product; a shift by so many places, an injection, and the tree of the carry between them.
        let step = |by: u64| (ring + 4 * ring / 3 + ring + 3 * by + by / 3, 7 + u64::from(by.max(1).ilog2()));
        // The last one takes the bits of guard, too.
        let (others, last) = (step(places), step(places + u64::from(function.guard())));
        let others = [others.0, others.1].map(|each| (terms - 2) * each);
        let in_ring = weigh(
            ands + parts_of(function) as u64 * composed_bits(ring) + others[0] + last.0,
            depth + 2 + others[1] + last.1,
        );
        let format = Format::of(ty);
        let (ands, depth) = laid(&|b, x| functions::piecewise(b, style, x, function, format.bits));
        in_ring < weigh(ands, depth).saturating_add(self.to_number(format, domain, len).0)
    }
}

/// The ranges of what is truncated, step by step; `None` if there is no room for one of them.
fn products(function: &Piecewise, of: Range, domain: Domain) -> Option<Vec<Range>> {
    let Domain::Ring(width) = domain else { return None };
    let (terms, places) = (function.terms(), function.places());
    let by = u32::from(places) + u32::from(function.guard());
    if terms < 2 || places == 0 || by + 2 >= width.bits().into() {
        return None;
    }
    let u = Range::point(0).hull(Range::point((1 << places) - 1));
    let sums = function.sums(of);
    let mut ranges: Vec<Range> = sums[..terms - 1].iter().map(|sum| sum.mul(u)).collect();
    let low = Range::point(0).hull(Range::point((1 << by) - (1 << places)));
    ranges[terms - 2] = ranges[terms - 2].add(low);
    let room = Range::point(-1 << (width.bits() - 2)).hull(Range::point((1 << (width.bits() - 2)) - 1));
    ranges.iter().all(|&range| room.covers(range)).then_some(ranges)
}

/// How many numbers a piece's coefficients are, with the place in it.
fn parts_of(function: &Piecewise) -> usize {
    function.terms() + 1 + usize::from(function.guard() > 0)
}

/// Coefficients from the highest on, of which the last is in two parts where there is a guard, and the place in the
/// piece; each less its mask.
fn masked_parts(b: &mut Builder, style: Style, x: &Word, function: &Piecewise, masks: &[Wire]) -> Vec<Wire> {
    let (selected, u) = functions::located(b, style, x, function);
    let mut tables: Vec<Vec<i64>> =
        (0..function.terms()).rev().map(|degree| function.column(degree)).collect();
    if function.guard() > 0
        && let Some(last) = tables.pop()
    {
        let (guard, half) = (function.guard(), 1 << function.guard() >> 1);
        tables.push(last.iter().map(|c| (c + half) >> guard).collect());
        tables.push(last.iter().map(|c| (c + half) & ((1 << guard) - 1)).collect());
    }
    let mut parts: Vec<Word> = tables.iter().map(|table| functions::chosen(b, &selected, table)).collect();
    parts.push(u);
    let masks = masks.chunks(masks.len() / parts.len());
    parts.iter().zip(masks).flat_map(|(part, mask)| less_mask(b, style, part, mask)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;
    use crate::plan::OpKind;
    use crate::{Capabilities, Dtype, Pieces, Recipient, lower, testing};

    const OFFERED: Capabilities = Capabilities::TWO_COMPONENTS.with(Feature::Compose);

    /// Of all numbers of so many bits, in rings where the products just fit and where they don't.
    #[test]
    fn all_numbers_have_the_results_of_the_function() {
        let even = |bits| Pieces::Even { low: -5000, high: 7000, bits };
        let octaves = Pieces::Octaves { bits: 13, parts: 1 };
        for (pieces, count, places, guard, terms, most, in_ring) in [
            (even(9), 24, 9, 4, 4, 1 << 48, true),
            (even(9), 24, 9, 12, 2, 1 << 52, true),
            (even(9), 24, 5, 0, 3, 1 << 40, true),
            (even(10), 12, 10, 3, 2, 1 << 51, true),
            (octaves, 26, 11, 2, 3, 1 << 45, true),
            (even(9), 24, 9, 4, 4, 1 << 54, false),
        ] {
            let number = |at: i64| at.wrapping_mul(0x5851_f42d_4c95_7f2d) >> 2 & (most - 1);
            let coefficients = (0..count * terms as i64).map(|at| number(at) - most / 2).collect();
            let function = Arc::new(Piecewise::new(pieces, places, guard, terms, coefficients).unwrap());
            let mut build = crate::Builder::new();
            let numbers: Vec<i64> = (-8192..8192).chain(-8192..8192).collect();
            let x = build.input("alice", "x", Dtype::Int, &[numbers.len()], Range::new(-8192, 8191)).unwrap();
            let result = build.piecewise(x, function.clone(), 0).unwrap();
            build.reveal(result, Recipient::All).unwrap();
            let program = build.finish().unwrap();
            let plan = lower(&program, OFFERED).unwrap().plan;
            let products = plan.ops.iter().filter(|op| matches!(op.kind, OpKind::Mul { .. })).count();
            assert_eq!(products, if in_ring { terms - 1 } else { 0 }, "{pieces:?}, {most}");
            let inputs = [numbers.iter().map(|number| number.cast_unsigned()).collect()];
            testing::check(&program, OFFERED, &inputs, TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]));
        }
    }
}
