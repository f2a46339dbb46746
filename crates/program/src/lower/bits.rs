//! MSB extraction, equality and carries, from the bits of a number's additive components.
//!
//! With `x = S + T mod 2^k` all that is asked of the bits of `x` is a carry: into the top bit for MSB extraction, out
//! of the low ones for a truncation. Generate and propagate bits are combined pair by pair in a balanced tree, a
//! circuit on the rows of the components' bits: its tiles stay in the cache from the bits to the carry.
//!
//! With two components one party knows `S` and shares its bits, in a message; the others know `T`. A layer of full
//! adders turns three components into two, in the same circuit and without a message before it.

use super::term::Term;
use super::{AdditiveComponents, Lowering};
use crate::plan::{OpKind, Operand, Reg, SECOND_COMPONENT};
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

    /// The top bit of each number. By two additive components of k bits: 1 + 1 + ceil(log2(k - 1)) rounds; of ANDs, k -
    /// 1 to generate and 2 (k - 2) - ceil(log2(k - 1)) in the tree. By three: 2 + ceil(log2(k - 2)) rounds; k - 1 ANDs
    /// in full adders, and then those of k - 2 positions, k - 2 and 2 (k - 3) - ceil(log2(k - 2)). Where the engine has
    /// a way of its own, two rounds.
    pub(super) fn sign(&mut self, a: &Term) -> Term {
        let a = match a {
            Term::Secret(a) => *a,
            Term::Public(clear) => return Term::Public(clear.sign()),
        };
        if let Some(&known) = self.signs.get(&a) {
            return Term::Secret(known);
        }
        let sign = if self.native.msb {
            let dst = self.plan.bits(1, self.plan.shape(a).cols);
            self.plan.interact(OpKind::Msb { a, dst });
            dst
        } else {
            let top = self.bits_of(a) as usize - 1;
            self.of_components(a, self.bits_of(a), false, |build, sum| {
                let apart = sum.apart(build, top);
                let carry = sum.carry_into(build, top);
                carry.map_or(apart, |carry| build.xor(apart, carry))
            })
        };
        self.signs.insert(a, sign);
        Term::Secret(sign)
    }

    /// Whether a number is 0, that is whether `x - 1` is all ones: whether no two bits of `s + t = x - 1` at one
    /// position are equal. The last component less one is the complement of its negative. By two components k - 1 ANDs
    /// and 1 + log2 k rounds; by three 2 (k - 1) ANDs and as many rounds.
    pub(super) fn is_zero(&mut self, a: Reg) -> Reg {
        let bits = self.bits_of(a);
        self.of_components(a, bits, true, |build, sum| {
            let mut apart: Vec<Wire> =
                (0..bits as usize).map(|position| sum.apart(build, position)).collect();
            while apart.len() > 1 {
                let both = |pair: &[Wire]| if let &[a, b] = pair { build.and(a, b) } else { pair[0] };
                apart = apart.chunks(2).map(both).collect();
            }
            apart[0]
        })
    }

    /// The carry out of the low `by` bits of a number's two components. 2 + ceil(log2 by) rounds; as many ANDs to
    /// generate, and 2 (by - 1) - ceil(log2 by) in the tree.
    pub(super) fn carry_out(&mut self, a: Reg, by: u8) -> Reg {
        self.of_components(a, by.into(), false, |build, sum| match sum.carry_into(build, by.into()) {
            Some(carry) => carry,
            None => build.constant(false),
        })
    }

    /// A bit of each number, from the low bits of two rows that sum to it, or, where `less_one`, to it less one.
    fn of_components(
        &mut self,
        a: Reg,
        bits: u32,
        less_one: bool,
        bit: impl FnOnce(&mut circuit::Builder, &Pair) -> Wire,
    ) -> Reg {
        let cols = self.plan.shape(a).cols;
        let mut build = circuit::Builder::new();
        let addend = |component, negate| Operand::Component { a, component, negate };
        let (sum, inputs) = if self.native.additive_components == AdditiveComponents::Three {
            let mut addends = [(); 3].map(|()| build.input(bits));
            if less_one {
                complement(&mut build, &mut addends[2]);
            }
            let inputs = vec![addend(0, false), addend(1, false), addend(2, less_one)];
            (Pair::of_three(&mut build, &addends), inputs)
        } else {
            let s = self.plan.bits(bits, cols);
            self.plan.interact(OpKind::Split { a, bits: bits as u8, s });
            let (first, mut second) = (build.input(bits), build.input(bits));
            if less_one {
                complement(&mut build, &mut second);
            }
            (Pair { s: first, t: second }, vec![Operand::Rows(s), addend(SECOND_COMPONENT, less_one)])
        };
        let bit = bit(&mut build, &sum);
        let circuit = self.laid_out(&Arc::new(build.finish(vec![vec![bit]])), vec![false; inputs.len()]);
        let dst = self.plan.bits(1, cols);
        self.plan.interact(OpKind::Circuit { circuit, inputs, dst });
        dst
    }

    fn bits_of(&self, a: Reg) -> u32 {
        self.plan.shape(a).domain.bits() as u32
    }
}

fn complement(build: &mut circuit::Builder, bits: &mut [Wire]) {
    for bit in bits {
        *bit = build.not(*bit);
    }
}

/// Whether two of three bits are set, or all: one AND.
pub(super) fn majority(build: &mut circuit::Builder, [a, b, c]: [Wire; 3]) -> Wire {
    let (a, b) = (build.xor(a, c), build.xor(b, c));
    let both = build.and(a, b);
    build.xor(both, c)
}

/// Two rows of bits, lowest first, that are to be added.
pub(super) struct Pair {
    s: Vec<Wire>,
    /// As many as `s` has, or fewer: none in the lowest positions.
    t: Vec<Wire>,
}

impl Pair {
    /// Three rows of equal length as two: a full adder at each position. The carry out of the highest is left out. One
    /// AND for each bit of `t` that is used.
    pub(super) fn of_three(build: &mut circuit::Builder, [a, b, c]: &[Vec<Wire>; 3]) -> Self {
        let (mut s, mut t) = (Vec::with_capacity(a.len()), Vec::with_capacity(a.len()));
        for ((&a, &b), &c) in a.iter().zip(b).zip(c) {
            let both = build.xor(a, b);
            s.push(build.xor(both, c));
            t.push(majority(build, [a, b, c]));
        }
        t.pop();
        Self { s, t }
    }

    /// The bit of `s` at a position.
    pub(super) fn first(&self, position: usize) -> Wire {
        self.s[position]
    }

    /// The bit of `t` at a position that it has.
    pub(super) fn second(&self, position: usize) -> Wire {
        self.t[position - self.lowest()]
    }

    /// The exclusive or of both bits at a position.
    fn apart(&self, build: &mut circuit::Builder, position: usize) -> Wire {
        if position < self.lowest() {
            return self.first(position);
        }
        build.xor(self.first(position), self.second(position))
    }

    /// The carry into a position; `None` if nothing can be carried there.
    pub(super) fn carry_into(&self, build: &mut circuit::Builder, position: usize) -> Option<Wire> {
        let lowest = self.lowest();
        (position > lowest).then(|| carry(build, &self.s[lowest..position], &self.t[..position - lowest]))
    }

    /// The lowest position that `t` has.
    fn lowest(&self) -> usize {
        self.s.len() - self.t.len()
    }
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
