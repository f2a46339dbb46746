//! Circuits on the bits of a number's additive components: carries, most significant bits, tests for 0.
//!
//! All that is asked of the bits of a sum is a carry: into the top bit for MSB extraction, out of the low ones for a
//! truncation. Generate and propagate bits are combined pair by pair in a balanced tree. A layer of full adders turns
//! three summands into two.

use std::ops::Range;
use tacit_circuit::{self as circuit, Wire};

/// The complement of each bit.
pub(super) fn complement(build: &mut circuit::Builder, bits: &mut [Wire]) {
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
    pub(super) s: Vec<Wire>,
    /// As many as `s` has, or fewer: none in the lowest positions.
    pub(super) t: Vec<Wire>,
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
    pub(super) fn apart(&self, build: &mut circuit::Builder, position: usize) -> Wire {
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

    /// The carries into two positions, of which the first is above the lowest that `t` has: the second's tree goes on where the
    /// first's ends, so both cost what the second alone costs, or an AND or two more.
    pub(super) fn carries_into(&self, build: &mut circuit::Builder, [low, high]: [usize; 2]) -> [Wire; 2] {
        let lowest = self.lowest();
        let tree = |build: &mut circuit::Builder, positions: Range<usize>, starts: bool| {
            let own = positions.start - lowest..positions.end - lowest;
            span(build, &self.s[positions], &self.t[own], starts)
        };
        let mut all = tree(build, lowest..low, true);
        let first = all.generate;
        // As deep as what is there already: so the whole is as shallow as a balanced tree.
        let (mut from, mut length) = (low, (low - lowest).next_power_of_two());
        while from < high {
            let to = high.min(from + length);
            let more = tree(build, from..to, false);
            all = join(build, &[all, more]);
            (from, length) = (to, 2 * length);
        }
        [first, all.generate]
    }

    /// The bit of the sum at a position.
    pub(super) fn bit(&self, build: &mut circuit::Builder, position: usize) -> Wire {
        let apart = self.apart(build, position);
        let carry = self.carry_into(build, position);
        carry.map_or(apart, |carry| build.xor(apart, carry))
    }

    /// Whether all bits of the sum are set: whether no two bits at one position are equal.
    pub(super) fn is_all_ones(&self, build: &mut circuit::Builder) -> Wire {
        let apart = (0..self.s.len()).map(|position| self.apart(build, position)).collect();
        all(build, apart)
    }

    /// Whether the bits of the sum from a position on, which isn't the last, are all 0. In a sum of zeros a carry leaves each
    /// position where `s` or `t` is set, so no tree is needed to know the carries.
    pub(super) fn is_zero_from(&self, build: &mut circuit::Builder, position: usize) -> Wire {
        let mut carry = self.carry_into(build, position);
        let mut zeros = Vec::with_capacity(self.s.len() - position);
        for at in position..self.s.len() {
            let apart = self.apart(build, at);
            let bit = carry.map_or(apart, |carry| build.xor(apart, carry));
            zeros.push(build.not(bit));
            if at + 1 < self.s.len() {
                carry = Some(if at < self.lowest() {
                    apart
                } else {
                    let both = build.and(self.first(at), self.second(at));
                    build.xor(apart, both)
                });
            }
        }
        all(build, zeros)
    }

    /// The lowest position that `t` has.
    fn lowest(&self) -> usize {
        self.s.len() - self.t.len()
    }
}

/// Whether all of some bits are set, of which there is one at least.
fn all(build: &mut circuit::Builder, mut bits: Vec<Wire>) -> Wire {
    while bits.len() > 1 {
        let both = |pair: &[Wire]| if let &[a, b] = pair { build.and(a, b) } else { pair[0] };
        bits = bits.chunks(2).map(both).collect();
    }
    bits[0]
}

/// The carry out of the sum of two numbers of as many bits, of which there is one at least. For m bits: m ANDs to
/// generate and 2 (m - 1) - ceil(log2 m) in the tree, whose depth is 1 + ceil(log2 m).
fn carry(build: &mut circuit::Builder, s: &[Wire], t: &[Wire]) -> Wire {
    span(build, s, t, true).generate
}

/// Two numbers of as many bits, of which there is one at least, as one span; `starts` if nothing is carried into it, so that it
/// doesn't matter what its lowest position propagates.
fn span(build: &mut circuit::Builder, s: &[Wire], t: &[Wire], starts: bool) -> Span {
    let mut spans: Vec<Span> = Vec::with_capacity(s.len());
    for (&s, &t) in s.iter().zip(t) {
        let generate = build.and(s, t);
        let propagate = (!starts || !spans.is_empty()).then(|| build.xor(s, t));
        spans.push(Span { generate, propagate });
    }
    while spans.len() > 1 {
        spans = spans.chunks(2).map(|pair| join(build, pair)).collect();
    }
    spans[0]
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
