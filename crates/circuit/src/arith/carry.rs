//! Where the cost of an addition is: its carries.

use crate::{Builder, Wire};

use super::word::pairs;

/// The sum and the carry of three bits: 1 AND.
pub(super) fn full_adder(b: &mut Builder, x: Wire, y: Wire, carry: Wire) -> (Wire, Wire) {
    let left = b.xor(x, carry);
    let right = b.xor(y, carry);
    let sum = b.xor(left, y);
    let differs = b.and(left, right);
    (sum, b.xor(differs, carry))
}

/// Whether two of three bits are set at least: 1 AND.
pub(super) fn majority(b: &mut Builder, x: Wire, y: Wire, carry: Wire) -> Wire {
    let left = b.xor(x, carry);
    let right = b.xor(y, carry);
    let differs = b.and(left, right);
    b.xor(differs, carry)
}

/// The carries out of every bit of `x + y + carry`, with the prefix network of Ladner and Fischer ("Parallel prefix
/// computation", 1980) that is as shallow as any, depth ceil(log2 n) + 1.
///
/// Sklansky's network has the same depth and n log2(n) / 2 nodes; this one has fewer than 4 n. A node costs two
/// ANDs, or one if its span starts at the lowest bit, where no carry is left to propagate.
pub(super) fn prefix_carries(b: &mut Builder, x: &[Wire], y: &[Wire], carry: Wire) -> Vec<Wire> {
    let mut spans: Vec<Span> = pairs(x, y)
        .skip(1)
        .map(|(x, y)| Span { generate: b.and(x, y), propagate: Some(b.xor(x, y)) })
        .collect();
    if let Some((x, y)) = pairs(x, y).next() {
        spans.insert(0, Span { generate: majority(b, x, y, carry), propagate: None });
    }
    prefixes(b, &spans, 0).iter().map(|span| span.generate).collect()
}

/// Neighbouring bits, seen from above.
#[derive(Clone, Copy)]
struct Span {
    /// Whether a carry leaves it though none enters.
    generate: Wire,
    /// Whether it hands on a carry that enters; `None` if it starts at the lowest bit, where none does.
    propagate: Option<Wire>,
}

impl Span {
    /// This span with the one below it.
    fn over(self, b: &mut Builder, below: Span) -> Span {
        let propagate = self.propagate.expect("only the lowest span has nothing below");
        let handed_on = b.and(propagate, below.generate);
        Span {
            // A span doesn't generate what it propagates, and so the disjunction is a sum.
            generate: b.xor_exclusive(self.generate, handed_on),
            propagate: below.propagate.map(|below| b.and(propagate, below)),
        }
    }
}

/// For each span, all from the first one up to it. The last is ready after ceil(log2 n) steps, the others no more
/// than `slack` steps later.
fn prefixes(b: &mut Builder, spans: &[Span], slack: u32) -> Vec<Span> {
    if spans.len() < 2 {
        return spans.to_vec();
    }
    if slack == 0 { halves(b, spans) } else { couples(b, spans, slack) }
}

/// The lower half may take a step more for all but its last prefix, which is all that the upper half waits for.
fn halves(b: &mut Builder, spans: &[Span]) -> Vec<Span> {
    let middle = spans.len().next_power_of_two() / 2;
    let (low, high) = spans.split_at(middle);
    let mut done = prefixes(b, low, 1);
    let below = done[middle - 1];
    let spare = log(middle) - log(high.len());
    for span in prefixes(b, high, spare) {
        done.push(span.over(b, below));
    }
    done
}

/// Couples first: half as many spans, and afterwards a step for those in between.
fn couples(b: &mut Builder, spans: &[Span], slack: u32) -> Vec<Span> {
    let joined: Vec<Span> = spans
        .chunks(2)
        .map(|couple| match couple {
            [low, high] => high.over(b, *low),
            [single] => *single,
            _ => unreachable!("chunks of two have one or two members"),
        })
        .collect();
    let joined = prefixes(b, &joined, slack - 1);
    let mut done = vec![spans[0]];
    for at in 1..spans.len() {
        let below = joined[(at - 1) / 2];
        // An odd place ends a couple; so does the last place, whatever it is.
        let ends = at % 2 == 1 || at + 1 == spans.len();
        done.push(if ends { joined[at / 2] } else { spans[at].over(b, below) });
    }
    done
}

/// ceil(log2 n).
fn log(n: usize) -> u32 {
    n.next_power_of_two().trailing_zeros()
}
