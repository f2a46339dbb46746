//! Three additive components, `x = x_0 + x_1 + x_2 mod 2^k`, which their holders share without a message.
//!
//! A layer of full adders turns the three into two, in the circuit that takes a carry or a sign of them, and without a
//! message before it. Beyond circuits, all is done by products.
//!
//! **Injection.** A bit is `b = b_0 xor b_1 xor b_2`, and each `b_j` is a number that is
//! shared already ([`Local::BitComponent`]). As numbers `u xor v = u + v - 2 u v`: two products, one after the other.
//!
//! **Shift.** For `0 <= x < 2^(k-1)` the integers `x_0 + x_1 + x_2 = x + 2^k w` with `w` in
//! 0, 1, 2. So
//!
//! `x >> d = sum of (x_j >> d) + c - w 2^(k-d)  mod 2^k`,
//!
//! where `c`, in 0, 1, 2, is the carry out of the low `d` bits of the sum of the three. Full adders make a sum of two of
//! it, `s + t`, with `s_i` the exclusive or of the three bits at position `i`, and `t_(i+1)` their majority.
//!
//! - *c* is `t_d`, the adders' own carry, and the carry out of the low `d` bits of `s + t`, each 0 or 1: their sum. As
//!   `t` has no bit 0, the latter needs positions 1 to `d - 1` only.
//! - *w* takes no carry through all positions, since the top bit of `x` is known to be 0. Let `h` be the sum of the top bits of
//!   the three, `h = 2m + p` with `m` their majority and `p = s_(k-1)`; and let `v` be the carry that comes into the top position,
//!   `v = t_(k-1) + g` with `g` that of `s + t`.
//!
//!   Then `h + v = 2w`, for the top bit of the sum is 0, and so `w = m + (p + v) / 2`. The top bit is also `p xor t_(k-1) xor g`,
//!   so `g = p xor t_(k-1)`, and `(p + v) / 2 = (p + t_(k-1) + (p xor t_(k-1))) / 2`, which is `p or t_(k-1)`: 0 if both are 0,
//!   else `(1 + 1) / 2` or `(1 + 1 + 0) / 2`. Hence `w = m + (p or t_(k-1))`: three ANDs, for the two majorities and the or.
//!
//! No local function of each component makes `c` or `w` a single bit: rounding takes up to a unit off each of the
//! three, and so up to three in all.
//!
//! **Rectified.** `max(x, 0) >> d` needs the sign of `x` beside its shift. Both come from the same full adders, and the
//! carry into the sign's position from a tree that goes on where that of `c` ends.
//!
//! Four bits are so to be injected, with weights 1, 1, `-2^(k-d)`, `-2^(k-d)`; three if `d = 1`. Of each the first
//! product is needed by itself, `e = b_0 xor b_1`. The second ones are only summed:
//!
//! `sum of a_i (e_i xor b_(i,2)) = sum of a_i e_i + sum of a_i b_(i,2) + sum of e_i (-2 a_i b_(i,2))`,
//!
//! a product of a row and a column, which is one element to send. That makes five products of eight.
//!
//! **Turns.** Where nobody sends parts that are zero, the first product is sent by one party and the second by the two
//! others. Which ones follows from the order of the components, and any order does. So of many numbers a third is
//! converted in each order that goes around: in every round all three send as much.

use super::carries::{Pair, complement, majority};
use super::conversions::{Conversions, msb};
use crate::lower::lowering::Lowering;
use crate::lower::term::{Term, limbs};
use crate::plan::{Domain, Layout, Local, MatrixShape, OpKind, Operand, Reg};
use crate::types::Range;
use std::sync::Arc;
use tacit_circuit::{self as circuit, Wire};

/// Bits from which on the parties take turns: what fewer ones send takes less time than a message travels, and thirds of them
/// would be three products to set up.
const TURNS_FROM: usize = 3 << 10;

/// The orders in which components go around.
const ORDERS: [[u8; 3]; 3] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];

/// The strategy.
pub(super) struct ThreeComponents;

impl Conversions for ThreeComponents {
    /// With k bits of the range: 2 + ceil(log2(k - 2)) rounds; k - 1 ANDs in full adders, and then of k - 2 positions,
    /// k - 2 to generate and 2 (k - 3) - ceil(log2(k - 2)) in the tree. Where the protocol has MSB extraction of its own,
    /// two rounds.
    fn sign(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        msb(lowering, a).unwrap_or_else(|| {
            let bits = lowering.low_bits(a, range);
            of_sum(lowering, a, bits, false, |build, sum| sum.bit(build, bits as usize - 1))
        })
    }

    /// Whether `x - 1` is all ones, in the k bits of the range. The last component less one is the complement of its
    /// negative. 2 (k - 1) ANDs and 1 + log2 k rounds.
    fn is_zero(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        let bits = lowering.low_bits(a, range);
        of_sum(lowering, a, bits, true, |build, sum| sum.is_all_ones(build))
    }

    /// Two rounds.
    fn inject(&self, lowering: &mut Lowering<'_>, bit: Reg, to: Domain) -> Reg {
        let cols = lowering.plan.shape(bit).cols;
        let [number] = in_turns(lowering, bit, cols, |lowering, bits, turn| {
            let [both, third] = two_and_one(lowering, bits, to, turn.order);
            [lowering.exclusive_or(&both, &third)]
        });
        lowering.register(&number)
    }

    /// With d for `by`: 4d - 2 - ceil(log2(d - 1)) ANDs, five products (four that one party sends, and one that two
    /// send) and 4 + ceil(log2(d - 1)) rounds; for d = 1 four ANDs, four products and as many rounds.
    fn shift(&self, lowering: &mut Lowering<'_>, x: Reg, _: Range, by: u8) -> Term {
        let shape = lowering.plan.shape(x);
        let shifted = lowering.fresh(shape.domain, shape.cols);
        lowering.plan.local(Local::ShiftComponents { a: x, by, dst: shifted });
        let (missing, _) = carry_and_wrap(lowering, x, by, None);
        lowering.add(&Term::Secret(shifted), &missing)
    }

    fn additive_components(&self, _: &mut Lowering<'_>, a: Reg, _: u32) -> Option<Vec<Operand>> {
        Some((0..3).map(|component| Operand::Component { a, component, negate: false }).collect())
    }
}

/// Where the sign of a number stands that is shifted and rectified.
#[derive(Clone, Copy)]
pub(in crate::lower) struct Place {
    /// Its position, above the bits that are dropped and below the topmost.
    pub(in crate::lower) sign: u8,
    /// The position from which the bits below the sign have to be 0 unless that is set, if any; above those that are dropped, of
    /// which there are two at least.
    pub(in crate::lower) bound: Option<u8>,
}

/// `x >> by` as [`Conversions::shift`] has it, and the sign of `x` as a number. If there is a bound, whether numbers keep it is
/// noted ([`Lowering::note_inside`]).
///
/// For k = `sign` + 1 what the sign alone takes, k - 1 ANDs in full adders and those of a tree of k - 2 positions, and 3 ANDs for
/// the wrap; seven products, and as many rounds as the sign alone and two. A bound takes an AND for each bit between it and the
/// sign, an AND or two more, and a round.
pub(in crate::lower) fn shift_and_sign(
    lowering: &mut Lowering<'_>,
    x: Reg,
    by: u8,
    place: Place,
) -> (Term, Term) {
    let shape = lowering.plan.shape(x);
    let shifted = lowering.fresh(shape.domain, shape.cols);
    lowering.plan.local(Local::ShiftComponents { a: x, by, dst: shifted });
    match carry_and_wrap(lowering, x, by, Some(place)) {
        (missing, Some(sign)) => (lowering.add(&Term::Secret(shifted), &missing), sign),
        (_, None) => unreachable!("a sign was asked for"),
    }
}

/// A bit of each number, from the low bits of two rows that sum to it, or, where `less_one`, to it less one.
pub(super) fn of_sum(
    lowering: &mut Lowering<'_>,
    a: Reg,
    bits: u32,
    less_one: bool,
    bit: impl FnOnce(&mut circuit::Builder, &Pair) -> Wire,
) -> Reg {
    let cols = lowering.plan.shape(a).cols;
    let mut build = circuit::Builder::new();
    let mut summands = [(); 3].map(|()| build.input(bits));
    if less_one {
        complement(&mut build, &mut summands[2]);
    }
    let sum = Pair::of_three(&mut build, &summands);
    let bit = bit(&mut build, &sum);
    let circuit = Arc::new(build.finish(vec![vec![bit]]));
    let dst = lowering.plan.bits(1, cols);
    let component = |component| Operand::Component { a, component, negate: less_one && component == 2 };
    lowering.evaluate_circuit(&circuit, [0, 1, 2].map(component).to_vec(), dst);
    dst
}

/// `c - w 2^(k-by)`; and, as a number, the sign of the sum, if it is asked for.
fn carry_and_wrap(lowering: &mut Lowering<'_>, x: Reg, by: u8, place: Option<Place>) -> (Term, Option<Term>) {
    let shape = lowering.plan.shape(x);
    let bits = shape.domain.bits();
    let (low, top) = (usize::from(by), bits as usize - 1);
    let mut build = circuit::Builder::new();
    let summands = [(); 3].map(|()| build.input(bits as u32));
    let sum = Pair::of_three(&mut build, &summands);
    let tops = summands.map(|summand| summand[top]);
    let (parity, carried) = (sum.first(top), sum.second(top));
    let neither = {
        let (p, t) = (build.not(parity), build.not(carried));
        build.and(p, t)
    };
    let wraps = [majority(&mut build, tops), build.not(neither)];
    let mut carries = vec![sum.second(low)];
    let mut asked = Vec::new();
    match place {
        // Nothing is carried into the lowest positions.
        Some(Place { sign, bound }) if low > 1 => {
            let sign = usize::from(sign);
            let (into, zeros) = sum.carries_into(&mut build, [low, sign], bound.map(usize::from));
            carries.push(into[0]);
            let apart = sum.apart(&mut build, sign);
            let negative = build.xor(apart, into[1]);
            asked.push(negative);
            asked.extend(zeros.map(|zeros| {
                let positive = build.not(negative);
                let beyond = build.not(zeros);
                let outside = build.and(positive, beyond);
                build.not(outside)
            }));
        }
        _ => {
            carries.extend(sum.carry_into(&mut build, low));
            asked.extend(place.map(|place| sum.bit(&mut build, place.sign.into())));
        }
    }
    let modulus = shape.domain.modulus();
    let weight = modulus.sub(0, 1 << (bits - u64::from(by)));
    let weighted: Vec<(circuit::Wire, u128)> =
        carries.into_iter().map(|carry| (carry, 1)).chain(wraps.map(|wrap| (wrap, weight))).collect();
    let (mut outputs, weights): (Vec<_>, Vec<_>) = weighted.into_iter().unzip();
    outputs.extend(&asked);
    let all = outputs.len();
    let mut dst = lowering.plan.bits(1, all * shape.cols);
    let circuit = Arc::new(build.finish(vec![outputs]));
    let inputs = [0, 1, 2].map(|component| Operand::Component { a: x, component, negate: false }).to_vec();
    lowering.evaluate_circuit(&circuit, inputs, dst);
    if asked.len() == 2 {
        // The last one is no number.
        let [rest, inside] = [(0, all - 1), (all - 1, 1)].map(|(offset, length)| {
            let layout = Layout { offset, shape: vec![shape.cols, length], strides: vec![all as isize, 1] };
            lowering.gathered(dst, layout)
        });
        lowering.note_inside(inside);
        dst = rest;
    }
    let weights = Weights { of: &weights, domain: shape.domain };
    if asked.is_empty() {
        let [sum] = in_turns(lowering, dst, shape.cols, |lowering, bits, turn| {
            let [both, third] = two_and_one(lowering, bits, shape.domain, turn.order);
            [weighted_sum(lowering, &both, &third, turn.groups, weights)]
        });
        return (sum, None);
    }
    let [sum, sign] = in_turns(lowering, dst, shape.cols, |lowering, bits, turn| {
        let [both, third] = two_and_one(lowering, bits, shape.domain, turn.order);
        let (count, all) = (weights.of.len(), weights.of.len() + 1);
        let shape = |length| vec![turn.groups, length];
        let walk = |offset, length| Layout { offset, shape: shape(length), strides: vec![all as isize, 1] };
        let [sign_both, sign_third] = [&both, &third].map(|numbers| lowering.part(numbers, &walk(count, 1)));
        let sign = lowering.exclusive_or(&sign_both, &sign_third);
        let [both, third] = [&both, &third].map(|numbers| lowering.part(numbers, &walk(0, count)));
        [weighted_sum(lowering, &both, &third, turn.groups, weights), sign]
    });
    (sum, Some(sign))
}

/// A part of what is converted.
struct Turn {
    /// The components, the two that are multiplied first.
    order: [u8; 3],
    /// Groups of bits.
    groups: usize,
}

/// What `work` makes of bits that stand group after group, as many of each: an element of each term for a group. If there are
/// many, of each third with another order of the components.
fn in_turns<const N: usize>(
    lowering: &mut Lowering<'_>,
    bits: Reg,
    groups: usize,
    work: impl Fn(&mut Lowering<'_>, Reg, Turn) -> [Term; N],
) -> [Term; N] {
    let all = lowering.plan.shape(bits).cols;
    if !lowering.capabilities.silent_parts || all < TURNS_FROM {
        return work(lowering, bits, Turn { order: ORDERS[0], groups });
    }
    let (each, third) = (all / groups, groups.div_ceil(3));
    let mut from = 0;
    let parts = ORDERS.map(|order| {
        let groups = third.min(groups - from);
        let layout = Layout { offset: from * each, ..Layout::whole(&[groups * each]) };
        let bits = lowering.gathered(bits, layout);
        from += groups;
        work(lowering, bits, Turn { order, groups })
    });
    std::array::from_fn(|term| {
        let parts = parts.each_ref().map(|terms| {
            let reg = lowering.register(&terms[term]);
            (reg, Layout::whole(&[lowering.plan.shape(reg).cols]))
        });
        let domain = lowering.plan.shape(parts[0].0).domain;
        Term::Secret(lowering.joined(domain, &parts))
    })
}

/// Of the bits of a group.
#[derive(Clone, Copy)]
struct Weights<'a> {
    of: &'a [u128],
    domain: Domain,
}

/// Of the exclusive or of numbers that are bits, group after group, the weighted sum of each.
fn weighted_sum(
    lowering: &mut Lowering<'_>,
    both: &Term,
    third: &Term,
    groups: usize,
    weights: Weights<'_>,
) -> Term {
    let Weights { of: weights, domain } = weights;
    let count = weights.len();
    let modulus = domain.modulus();
    let mut diagonal = vec![0; count * count];
    for (place, &weight) in weights.iter().enumerate() {
        diagonal[place * (count + 1)] = modulus.sub(0, modulus.add(weight, weight));
    }
    let (column, diagonal) = (limbs(weights, domain), limbs(&diagonal, domain));
    let rows = MatrixShape { batch: 1, m: groups, k: count, n: 1 };
    // The third components first: they are gone before the others' product comes.
    let third_sum = times(lowering, third, &column, rows);
    let scaled = times(lowering, third, &diagonal, MatrixShape { n: count, ..rows });
    let both_sum = times(lowering, both, &column, rows);
    let (a, b, dst) = (lowering.register(both), lowering.register(&scaled), lowering.fresh(domain, groups));
    lowering.plan.interact(OpKind::MatMul { a, b, shape: MatrixShape { batch: groups, m: 1, ..rows }, dst });
    let sum = lowering.add(&third_sum, &both_sum);
    lowering.add(&sum, &Term::Secret(dst))
}

/// Secret rows by a public matrix.
fn times(lowering: &mut Lowering<'_>, rows: &Term, c: &Arc<[u64]>, shape: MatrixShape) -> Term {
    let dst = lowering.fresh(lowering.domain_of(rows), shape.m * shape.n);
    let (a, c) = (lowering.register(rows), c.clone());
    lowering.plan.local(Local::MatMulPublic { a, c, left: false, shape, dst });
    Term::Secret(dst)
}

/// The exclusive or of the first two components of bits, and the third, as numbers: a product.
fn two_and_one(lowering: &mut Lowering<'_>, bits: Reg, to: Domain, order: [u8; 3]) -> [Term; 2] {
    let cols = lowering.plan.shape(bits).cols;
    let [first, second, third] = order.map(|component| {
        let dst = lowering.fresh(to, cols);
        lowering.plan.local(Local::BitComponent { a: bits, component, dst });
        Term::Secret(dst)
    });
    [lowering.exclusive_or(&first, &second), third]
}
