//! Signs, equality and carries, from the bits of a number's two addends.
//!
//! With `x = S + T mod 2^k`, of which one party knows `S` and the others `T`, all that is asked of the bits of
//! `x` is a carry: into the top bit for its sign, out of the low ones for a truncation. Generate and propagate
//! bits are combined pair by pair in a balanced tree, a circuit on the rows of the addends' bits: its tiles stay in
//! the cache from the bits to the carry.

use super::Lowering;
use super::term::Term;
use crate::plan::{Kind, Operand, Reg};
use std::sync::Arc;
use tacit_circuit::{self as circuit, Wire};

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
        let sign = self.of_addends(a, self.bits_of(a), false, |build, s, t| {
            let top = s.len() - 1;
            let carry = carry(build, &s[..top], &t[..top]);
            let apart = build.xor(s[top], t[top]);
            build.xor(apart, carry)
        });
        self.signs.insert(a, sign);
        Term::Secret(sign)
    }

    /// Whether a number is 0, that is whether `S = -T`: k - 1 ANDs, 1 + log2 k rounds.
    pub(super) fn is_zero(&mut self, a: Reg) -> Reg {
        self.of_addends(a, self.bits_of(a), true, |build, s, t| {
            let mut same: Vec<Wire> = s.iter().zip(t).map(|(&s, &t)| equal(build, s, t)).collect();
            while same.len() > 1 {
                let both = |pair: &[Wire]| if let &[a, b] = pair { build.and(a, b) } else { pair[0] };
                same = same.chunks(2).map(both).collect();
            }
            same[0]
        })
    }

    /// The carry out of the low `by` bits of a number's addends. 2 + ceil(log2 by) rounds; as many ANDs to generate,
    /// and 2 (by - 1) - ceil(log2 by) in the tree.
    pub(super) fn carry_out(&mut self, a: Reg, by: u8) -> Reg {
        self.of_addends(a, by.into(), false, carry)
    }

    /// A bit of each number, from the low bits of its addends, or of the first and the negative of the second.
    fn of_addends(
        &mut self,
        a: Reg,
        bits: u32,
        negate: bool,
        bit: impl FnOnce(&mut circuit::Builder, &[Wire], &[Wire]) -> Wire,
    ) -> Reg {
        let cols = self.plan.shape(a).cols;
        let s = self.plan.bits(bits, cols);
        self.plan.interact(Kind::Split { a, bits: bits as u8, s });
        let mut build = circuit::Builder::new();
        let (s_bits, t_bits) = (build.input(bits), build.input(bits));
        let bit = bit(&mut build, &s_bits, &t_bits);
        let circuit = self.laid_out(&Arc::new(build.finish(vec![vec![bit]])), vec![false; 2]);
        let dst = self.plan.bits(1, cols);
        let inputs = vec![Operand::Rows(s), Operand::Addend { a, negate }];
        self.plan.interact(Kind::Circuit { circuit, inputs, dst });
        dst
    }

    fn bits_of(&self, a: Reg) -> u32 {
        self.plan.shape(a).domain.bits() as u32
    }
}

fn equal(build: &mut circuit::Builder, a: Wire, b: Wire) -> Wire {
    let differ = build.xor(a, b);
    build.not(differ)
}

/// The carry out of the sum of two numbers of as many bits, of which there is one at least. For m bits: m ANDs to
/// generate and 2 (m - 1) - ceil(log2 m) in the tree, whose depth is 1 + ceil(log2 m).
fn carry(build: &mut circuit::Builder, s: &[Wire], t: &[Wire]) -> Wire {
    let mut spans: Vec<Span> = Vec::with_capacity(s.len());
    for (&s, &t) in s.iter().zip(t) {
        let generate = build.and(s, t);
        // Nothing is carried into the lowest position, so it doesn't matter what that one propagates.
        let propagate = (!spans.is_empty()).then(|| build.xor(s, t));
        spans.push(Span { generate, propagate });
    }
    while spans.len() > 1 {
        spans = spans.chunks(2).map(|pair| join(build, pair)).collect();
    }
    spans[0].generate
}

/// Neighbouring positions of a sum.
#[derive(Clone, Copy)]
struct Span {
    /// Whether a carry leaves it though none enters.
    generate: Wire,
    /// Whether it hands on a carry that enters; `None` if it starts at the lowest position.
    propagate: Option<Wire>,
}

/// One span of two, the lower first; an odd one at the top stays.
///
/// A pair generates if its upper half does, or propagates what the lower one generates, and propagates if
/// both do. The two cases of generating exclude one another, so XOR joins them.
fn join(build: &mut circuit::Builder, pair: &[Span]) -> Span {
    let &[low, Span { generate, propagate: Some(propagate) }] = pair else { return pair[0] };
    let handed_on = build.and(propagate, low.generate);
    Span {
        generate: build.xor(generate, handed_on),
        propagate: low.propagate.map(|low| build.and(propagate, low)),
    }
}
