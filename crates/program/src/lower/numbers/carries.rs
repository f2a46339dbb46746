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
    /// first's ends, so both cost what the second alone costs, or an AND or two more. Of a position between them also whether
    /// all bits of the sum from there to the second are 0: an AND or two for the carry into it, and one for each bit.
    pub(super) fn carries_into(
        &self,
        build: &mut circuit::Builder,
        [low, high]: [usize; 2],
        zero_from: Option<usize>,
    ) -> ([Wire; 2], Option<Wire>) {
        let lowest = self.lowest();
        let all = self.leaves(build, lowest..low, true);
        self.carries_from(build, all, [low, high], zero_from)
    }

    /// The same from the positions below the first.
    fn carries_from(
        &self,
        build: &mut circuit::Builder,
        below: Vec<Span>,
        [low, high]: [usize; 2],
        zero_from: Option<usize>,
    ) -> ([Wire; 2], Option<Wire>) {
        let lowest = self.lowest();
        let mut all = joined(build, below);
        let first = all.generate;
        // The carry into the position between, and what each from there on generates.
        let (mut into, mut both) = (None, Vec::new());
        // As deep as what is there already: so the whole is as shallow as a balanced tree.
        let (mut from, mut length) = (low, (low - lowest).next_power_of_two());
        while from < high {
            let to = high.min(from + length);
            let mut more = self.leaves(build, from..to, false);
            let between = zero_from.filter(|at| (from..to).contains(at)).map_or(0, |at| at - from);
            if zero_from.is_some_and(|at| at < to) {
                both.extend(more[between..].iter().map(|span| Some(span.generate)));
            }
            let upper = more.split_off(between);
            let upper = joined(build, upper);
            let more = if more.is_empty() { vec![upper] } else { vec![joined(build, more), upper] };
            if zero_from.is_some_and(|at| (from..to).contains(&at)) {
                // By itself, so that the tree gets no deeper.
                into = Some(if between == 0 { all } else { join(build, &[all, more[0]]) }.generate);
            }
            let more = joined(build, more);
            all = join(build, &[all, more]);
            (from, length) = (to, 2 * length);
        }
        let zeros = zero_from.zip(into).map(|(at, into)| self.is_zero_after(build, at, Some(into), &both));
        ([first, all.generate], zeros)
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

    /// Whether the bits of the sum from a position on, which isn't the last, are all 0.
    pub(super) fn is_zero_from(&self, build: &mut circuit::Builder, position: usize) -> Wire {
        let carry = self.carry_into(build, position);
        let both = self.both_from(build, position);
        self.is_zero_after(build, position, carry, &both)
    }

    /// Whether both bits are set, at each position from one on, where there are two.
    fn both_from(&self, build: &mut circuit::Builder, position: usize) -> Vec<Option<Wire>> {
        let both = (position..self.s.len()).map(|at| {
            let is_second = at >= self.lowest() && at + 1 < self.s.len();
            is_second.then(|| build.and(self.first(at), self.second(at)))
        });
        both.collect()
    }

    /// Whether the bits of the sum are 0 at a position and those after it, as many as `both` is said of, where the carry into that
    /// position is known. In a sum of zeros a carry leaves each position where `s` or `t` is set, so no tree is needed to know the
    /// carries after it. The one that is known comes late, and so is looked at last.
    fn is_zero_after(
        &self,
        build: &mut circuit::Builder,
        position: usize,
        carry: Option<Wire>,
        both: &[Option<Wire>],
    ) -> Wire {
        let above = self.zeros_above(build, position, &both[..both.len() - 1]);
        let first = self.apart(build, position);
        let first = carry.map_or(first, |carry| build.xor(first, carry));
        let first = build.not(first);
        if above.is_empty() {
            return first;
        }
        let above = all(build, above);
        build.and(first, above)
    }

    /// That the bits after a position are 0, one by one, each if that one and those between are; `both` has whether both bits
    /// are set at each position before one of them, where there are two.
    fn zeros_above(&self, build: &mut circuit::Builder, position: usize, both: &[Option<Wire>]) -> Vec<Wire> {
        let mut zeros = Vec::with_capacity(both.len());
        for (at, both) in (position..).zip(both) {
            let before = self.apart(build, at);
            let carry = both.map_or(before, |both| build.xor(before, both));
            let apart = self.apart(build, at + 1);
            let bit = build.xor(apart, carry);
            zeros.push(build.not(bit));
        }
        zeros
    }

    /// Whether the sum is 2^`position` at most, for a position above the lowest that `t` has and below the last: whether all bits
    /// above are 0, and that one or all below it. What tells that these are 0 is half of what their carries take.
    pub(super) fn is_at_most_power(&self, build: &mut circuit::Builder, position: usize) -> Wire {
        let lowest = self.lowest();
        let below = self.leaves(build, lowest..position, true);
        let both = below.iter().map(|span| Some(span.generate));
        let both: Vec<_> = (0..lowest).map(|_| None).chain(both).take(position - 1).collect();
        let mut zeros = self.zeros_above(build, 0, &both);
        let lowest_bit = self.apart(build, 0);
        zeros.push(build.not(lowest_bit));
        let is_power = all(build, zeros);
        let ([into, out], _) = self.carries_from(build, below, [position, position + 1], None);
        let apart = self.apart(build, position);
        let bit = build.xor(apart, into);
        let is_less = build.not(is_power);
        let is_more = build.and(bit, is_less);
        let is_not_more = build.not(is_more);
        let both = self.both_from(build, position + 1);
        let above = self.is_zero_after(build, position + 1, Some(out), &both);
        build.and(is_not_more, above)
    }

    /// Positions from the lowest that `t` has on, one by one; `starts` if nothing is carried into the first.
    fn leaves(&self, build: &mut circuit::Builder, positions: Range<usize>, starts: bool) -> Vec<Span> {
        let lowest = self.lowest();
        let own = positions.start - lowest..positions.end - lowest;
        leaves(build, &self.s[positions], &self.t[own], starts)
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
    let all = leaves(build, s, t, true);
    joined(build, all).generate
}

/// The positions of two numbers of as many bits; `starts` if nothing is carried into the first, so that it doesn't
/// matter what that propagates.
fn leaves(build: &mut circuit::Builder, s: &[Wire], t: &[Wire], starts: bool) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::with_capacity(s.len());
    for (&s, &t) in s.iter().zip(t) {
        let generate = build.and(s, t);
        let propagate = (!starts || !spans.is_empty()).then(|| build.xor(s, t));
        spans.push(Span { generate, propagate });
    }
    spans
}

/// Spans that follow one another, of which there is one at least, as one.
fn joined(build: &mut circuit::Builder, mut spans: Vec<Span>) -> Span {
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
