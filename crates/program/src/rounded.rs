//! Products with public numbers and quotients by them, rounded once: from what they mean to small integers.
//!
//! Each result is `floor((a x + b) / d)` for a raw operand `x` and integers that may be large: `x * 0.1` has `a` of 52
//! bits, `x / 1e6` has `d = 10^6`. To the nearest, ties up, adds half of `d` to `b`.
//!
//! **A shift for the division.** For all `x` of a range it is `floor((m x + c) / 2^s)` with some other `m`, `c`, `s`
//! (after Granlund and Montgomery, "Division by invariant integers using multiplication", 1994, and with an offset
//! Robison, "N-bit unsigned division via N-bit multiply-add", 2005).
//!
//! The line `(m x + c) / 2^s` may run above `(a x + b) / d` as long as it stays below the next integer, and below it
//! down to the last one. The least and the largest of the remainders `(a x + b) mod d` give the least distance on each
//! side; Euclid's algorithm finds them without trying all `x`. Lowering takes the least `s` with a line in that
//! channel, one for negative and one for other `x`.
//!
//! **Limbs.** The product `m x` can have 190 bits, and a ring has 64. With `m` and `c` divided into limbs of `g` bits,
//! lowest first, the carry from one limb to the next is a truncation of a small number:
//!
//! `floor((m x + c) / 2^g) = floor((m_0 x + c_0) / 2^g) + (m >> g) x + (c >> g)`, with `m_0 = m mod 2^g`,
//! `c_0 = c mod 2^g`,
//!
//! and so on, until `s` bits are gone; what `m` has above them goes with `x` into the result as it is, modulo 2^64. If
//! `x` alone fills most of the ring, truncations first divide it into parts. The same goes for a sum of products with a
//! public matrix, whose entries are binary fractions: `s` is the most fraction bits that one has.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;

use crate::domain::{Domain, Width};
use crate::operations::Operation;
use crate::ratio::{Elementwise, Line, lines, saturated};
use crate::types::Range;

/// Numbers for each of which the shortest line is sought. For more, one that always does.
pub(crate) const SOUGHT: usize = 1 << 12;

/// The most bits that go in one truncation.
const LIMB: u32 = 62;

/// `x -> floor((m x + c) / 2^s)`.
#[derive(Clone, Debug, PartialEq)]
struct Shifted {
    m: BigInt,
    c: BigInt,
    s: u32,
}

impl<'a> Elementwise<'a> {
    /// `None` if it is another operation.
    pub(crate) const fn of(operation: &'a Operation) -> Option<Self> {
        match operation {
            Operation::Times(numbers) => Some(Self::times(numbers)),
            Operation::Over { divisors, rounding } => Some(Self::over(divisors, *rounding)),
            _ => None,
        }
    }
}

impl Line {
    /// The same function of the `x` of a range.
    fn shifted(&self, range: Range, sought: bool) -> Shifted {
        let Self { a, b, d } = self;
        if range.lo() == range.hi() {
            return Shifted { m: BigInt::ZERO, c: (a * range.lo() + b).div_floor(d), s: 0 };
        }
        // Ties of negative numbers are on the other side of their integers than those of positive ones.
        let parts = match Range::new(range.lo(), -1).zip(Range::new(0, range.hi())) {
            Some((below, above)) => vec![below, above],
            None => vec![range],
        };
        // At the ends of each part, the bounds of `m x + c`, times d / 2^s: at least this, and less than that.
        let bounds = parts.iter().flat_map(|part| {
            let (lowest, highest) = if sought { self.remainders(*part) } else { (BigInt::ZERO, d - 1) };
            [part.lo(), part.hi()].map(|x| {
                let line = a * x + b;
                (x, &line - &lowest, line - &highest + d)
            })
        });
        let bounds: Vec<_> = bounds.collect();
        let enough = d * (range.hi().abs_diff(range.lo()) + 1);
        let power = d.trailing_zeros().filter(|&zeros| d.bits() == zeros + 1);
        let from = if sought { 0 } else { power.unwrap_or(enough.bits()) as u32 };
        for s in from.. {
            let below = (a << s).div_floor(d);
            for m in [below.clone(), below + 1] {
                let least = bounds.iter().map(|(x, least, _)| (least << s).div_ceil(d) - &m * x);
                let c = least.max().unwrap_or_default();
                if bounds.iter().all(|(x, _, above)| (&m * x + &c) * d < above << s) {
                    return Shifted { m, c, s };
                }
            }
        }
        unreachable!("a shift by as many bits as d times the numbers of the range have is enough")
    }

    /// The least and the largest of `(a x + b) mod d`.
    fn remainders(&self, range: Range) -> (BigInt, BigInt) {
        let Self { a, b, d } = self;
        let (b, count) = (b + a * range.lo(), BigInt::from(range.hi().abs_diff(range.lo())));
        let above = least_remainder(&-a, &(-&b - 1), d, &count);
        (least_remainder(a, &b, d, &count), d - 1 - above)
    }
}

/// The least of `(a z + b) mod q` for `z` from 0 to `n`.
///
/// While `a z + b` grows by less than half of `q` at a time, the least is the first or one of those just after a wrap, which
/// are an arithmetic progression modulo `a`. Growth by more is from the other end growth by less.
fn least_remainder(a: &BigInt, b: &BigInt, q: &BigInt, n: &BigInt) -> BigInt {
    let (mut a, mut b, mut q, mut n) = (a.mod_floor(q), b.mod_floor(q), q.clone(), n.clone());
    let mut least = b.clone();
    loop {
        if &a * 2 > q {
            b = (&a * &n + &b) % &q;
            a = &q - &a;
        }
        least = least.min(b.clone());
        let wraps = (&a * &n + &b) / &q;
        if wraps == BigInt::ZERO {
            return least;
        }
        let step = (-&q).mod_floor(&a);
        b = (b - &q).mod_floor(&a);
        (q, a, n) = (a, step, wraps - 1);
        least = least.min(b.clone());
    }
}

/// An operation's multipliers, in the order of its numbers, offsets (one for all, or one for each), and shift.
#[derive(Clone, Debug)]
pub(crate) struct Multiples {
    m: Vec<BigInt>,
    c: Vec<BigInt>,
    s: u32,
    /// Products that are summed.
    terms: usize,
    range: Range,
}

impl Multiples {
    /// Of an operation on an operand of this range; `None` for other operations.
    pub(crate) fn of(operation: &Operation, range: Range) -> Option<Self> {
        if let Operation::Weigh { matrix, left } = operation {
            let s = matrix.fraction();
            let m = matrix.numbers().iter().map(|number| number.scaled(s)).collect();
            let half = if s == 0 { BigInt::ZERO } else { BigInt::from(1) << (s - 1) };
            let (_, terms, _) = lines(matrix.shape(), *left);
            return Some(Self { m, c: vec![half], s: s.into(), terms, range });
        }
        let elementwise = Elementwise::of(operation)?;
        let numbers = elementwise.numbers.numbers();
        let mut known = std::collections::HashMap::new();
        for &number in numbers {
            known.entry(number).or_insert(None);
        }
        let sought = known.len() <= SOUGHT;
        for (number, line) in &mut known {
            *line = Some(elementwise.ratio(*number).line(elementwise.rounding).shifted(range, sought));
        }
        let lines: Vec<&Shifted> = numbers.iter().filter_map(|number| known[number].as_ref()).collect();
        let s = lines.iter().map(|line| line.s).max().unwrap_or(0);
        let all = |of: fn(&Shifted) -> &BigInt| -> Vec<BigInt> {
            let same = known.len() == 1;
            lines
                .iter()
                .take(if same { 1 } else { lines.len() })
                .map(|line| of(line) << (s - line.s))
                .collect()
        };
        Some(Self { m: all(|line| &line.m), c: all(|line| &line.c), s, terms: 1, range })
    }

    /// Bits of the multipliers of an operand's part: those from one on, so many.
    pub(crate) fn limb(&self, part: &Part, from: u32, bits: u32) -> Vec<u128> {
        self.m.iter().map(|m| low(&((m << part.from) >> from), bits)).collect()
    }

    /// The like of the offsets.
    pub(crate) fn offset(&self, from: u32, bits: u32) -> Vec<u128> {
        self.c.iter().map(|c| low(&(c >> from), bits)).collect()
    }

    /// What the multipliers of a part have above the bits that go, as elements of a ring or field.
    pub(crate) fn above(&self, part: &Part, domain: Domain) -> Vec<u128> {
        self.m.iter().map(|m| element(&((m << part.from) >> self.s), domain)).collect()
    }

    /// The like of the offsets.
    pub(crate) fn offset_above(&self, domain: Domain) -> Vec<u128> {
        self.c.iter().map(|c| element(&(c >> self.s), domain)).collect()
    }

    /// Multipliers and offsets of a stage where numbers are bits.
    pub(crate) fn signed(&self, stage: &Stage) -> [Vec<i128>; 2] {
        let limbs = |all: &[BigInt]| {
            let limb = |x: &BigInt| {
                let x = x >> stage.from;
                if stage.joined { saturated(&x) } else { low(&x, stage.bits) as i128 }
            };
            all.iter().map(limb).collect()
        };
        [limbs(&self.m), limbs(&self.c)]
    }

    /// How it goes in rings: in the narrowest in which one truncation does it, else in that of 64 bits, with as few
    /// truncations as there can be. `sizes` are the elements of operand and result.
    pub(crate) fn in_rings(&self, sizes: [usize; 2]) -> (Width, Chain) {
        let whole = Part::whole(self.range);
        for width in [Width::W8, Width::W16, Width::W32] {
            let room = u32::from(width.bits()) - 1;
            if self.s >= room {
                continue;
            }
            match self.stages(std::slice::from_ref(&whole), Room::Ring(room)) {
                Some(stages) if stages.len() <= 1 => return (width, Chain { parts: vec![whole], stages }),
                _ => {}
            }
        }
        match self.cheapest(63, sizes) {
            Some(chain) => (Width::W64, chain),
            None => unreachable!("parts of 16 bits leave room for as many terms as a value can have"),
        }
    }

    /// How it goes in a field that has room to mask numbers of so many bits; `None` if there is no way.
    pub(crate) fn in_field(&self, room: u32, sizes: [usize; 2]) -> Option<Chain> {
        self.cheapest(room, sizes)
    }

    /// The way with the fewest truncations of numbers that are below 2 to so many bits once they are raised.
    fn cheapest(&self, room: u32, sizes: [usize; 2]) -> Option<Chain> {
        let cost = |parts: usize, stages: usize| (parts - 1) * sizes[0] + stages * sizes[1];
        let mut best: Option<(usize, Chain)> = None;
        for count in 1..=4 {
            let parts = Part::cut(self.range, count);
            let least = cost(parts.len(), usize::from(self.s > 0));
            if best.as_ref().is_some_and(|(cost, _)| *cost <= least) {
                break;
            }
            let Some(stages) = self.stages(&parts, Room::Ring(room)) else { continue };
            let cost = cost(parts.len(), stages.len());
            if best.as_ref().is_none_or(|(other, _)| cost < *other) {
                best = Some((cost, Chain { parts, stages }));
            }
        }
        best.map(|(_, chain)| chain)
    }

    /// How it goes where numbers are bits. The last stage has the multipliers' bits from its first one on, all of them.
    pub(crate) fn in_bits(&self) -> Vec<Stage> {
        match self.stages(&[Part::whole(self.range)], Room::Bits) {
            Some(stages) => stages,
            None => unreachable!("a number of 64 bits leaves room for 2^28 terms in 126"),
        }
    }

    /// Stages by which `s` bits go, each of as many as there is room for; `None` if there is none.
    fn stages(&self, parts: &[Part], room: Room) -> Option<Vec<Stage>> {
        let mut stages = Vec::new();
        // The multipliers' part below 2^s, at most.
        let below = |part: &Part| {
            let rest = self.m.iter().map(|m| low_bits(&(m << part.from), self.s));
            rest.max().unwrap_or_default()
        };
        let below: Vec<BigUint> = parts.iter().map(below).collect();
        let (mut from, mut carry) = (0, Range::point(0));
        while from < self.s || (room == Room::Bits && stages.is_empty()) {
            let left = self.s - from;
            let joined = |bits: u32| room == Room::Bits && bits == left;
            let bits = (u32::from(left > 0)..=left.min(LIMB)).rev();
            let stage = bits.filter_map(|bits| {
                let mut sum = self.offsets(from, bits, joined(bits))?.add(carry);
                for (part, below) in parts.iter().zip(&below) {
                    let factors = self.factors(part, below, from, bits, joined(bits))?;
                    sum = sum.add(factors.mul(part.range).times(self.terms));
                }
                room.holds(sum, bits).then_some(Stage { from, bits, sum, joined: joined(bits) })
            });
            let stage = { stage }.next()?;
            carry = stage.sum.shift_right(stage.bits as u8);
            from += stage.bits;
            stages.push(stage);
        }
        Some(stages)
    }

    /// What a stage's multipliers can be.
    fn factors(&self, part: &Part, below: &BigUint, from: u32, bits: u32, joined: bool) -> Option<Range> {
        if joined {
            let all = self.m.iter().map(|m| i128::try_from(m >> from).ok()).collect::<Option<Vec<_>>>()?;
            return Range::of_values(&all);
        }
        if let [m] = &self.m[..] {
            return Some(Range::point(low(&((m << part.from) >> from), bits) as i128));
        }
        let all = (1_i128 << bits) - 1;
        Range::new(0, i128::try_from(below >> from).unwrap_or(all).min(all))
    }

    /// What a stage's offsets can be.
    fn offsets(&self, from: u32, bits: u32, joined: bool) -> Option<Range> {
        if joined {
            let all = self.c.iter().map(|c| i128::try_from(c >> from).ok()).collect::<Option<Vec<_>>>()?;
            return Range::of_values(&all);
        }
        match &self.c[..] {
            [c] => Some(Range::point(low(&(c >> from), bits) as i128)),
            _ => Range::new(0, (1 << bits) - 1),
        }
    }
}

/// Where sums of products have to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// In a ring or field, once they are raised to be not negative: below 2 to so many bits.
    Ring(u32),
    /// In two's complement of 127 bits.
    Bits,
}

impl Room {
    fn holds(self, sum: Range, bits: u32) -> bool {
        let end = 1 << 126;
        let within = -end <= sum.lo() && sum.hi() < end;
        match self {
            Self::Ring(room) => within && sum.hi() + raise(sum, bits) < 1 << room,
            Self::Bits => within,
        }
    }
}

/// The least multiple of 2^bits that makes all of a range not negative.
pub(crate) fn raise(range: Range, bits: u32) -> i128 {
    -(range.lo().min(0) >> bits << bits)
}

/// What of an operand is multiplied: its bits from one on, up to where the next part begins.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The bit.
    pub(crate) from: u8,
    /// What it can be; the highest has the sign.
    pub(crate) range: Range,
}

impl Part {
    fn whole(range: Range) -> Self {
        Self { from: 0, range }
    }

    /// Parts of about as many bits each.
    fn cut(range: Range, count: u32) -> Vec<Self> {
        let magnitude = range.hi().max(!range.lo()).max(1);
        let bits = (i128::BITS - magnitude.leading_zeros()).div_ceil(count) as u8;
        let lower = (1..count as u8).filter_map(|at| {
            let all = Range::new(0, (1 << bits) - 1)?;
            Some(Self { from: (at - 1) * bits, range: all })
        });
        let from = (count as u8 - 1) * bits;
        lower.chain([Self { from, range: range.shift_right(from) }]).collect()
    }
}

/// How an operation's results come about in a ring.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    /// The operand's parts, the lowest first.
    pub(crate) parts: Vec<Part>,
    /// Limb by limb, the lowest first.
    pub(crate) stages: Vec<Stage>,
}

/// A sum of products with limbs of the multipliers, with limbs of the offsets, and with what is carried from the stage
/// before: of which the low bits go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    /// The limbs' lowest bit.
    pub(crate) from: u32,
    /// How many bits they have, and go.
    pub(crate) bits: u32,
    /// What the sum can be.
    pub(crate) sum: Range,
    /// Whether these limbs have all bits from the lowest one on.
    pub(crate) joined: bool,
}

/// A number as an element; for a ring modulo 2^64, from which elements are reduced.
fn element(x: &BigInt, domain: Domain) -> u128 {
    if let Domain::Ring(_) = domain {
        return low(x, 64);
    }
    let modulus = BigInt::from(domain.modulus().last()) + 1;
    u128::try_from(x.mod_floor(&modulus)).unwrap_or(0)
}

/// The low bits of a number, at most 127.
fn low(x: &BigInt, bits: u32) -> u128 {
    u128::try_from(low_bits(x, bits)).unwrap_or(0)
}

/// A number modulo 2^bits.
fn low_bits(x: &BigInt, bits: u32) -> BigUint {
    let rest: BigInt = x & ((BigInt::from(1) << bits) - 1);
    rest.into_parts().1
}

#[cfg(test)]
mod tests;
