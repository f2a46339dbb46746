//! Whether numbers in rings are in a range.

use super::{three, two};
use crate::capabilities::Numbers;
use crate::lower::lowering::Lowering;
use crate::lower::term::Term;
use crate::plan::{Domain, Layout, Reg, Register};
use crate::types::Range;

/// Elements of a ring that may be any, as numbers in `range`: if one of them is outside, all are the least number of it. Costs
/// [`within`], an AND and a product for each number, and one bit as a number.
pub(in crate::lower) fn held(lowering: &mut Lowering<'_>, x: Reg, range: Range) -> Reg {
    let Register { domain: Domain::Ring(width), cols, .. } = lowering.plan.shape(x) else { return x };
    let (domain, all) = (Domain::Ring(width), Range::of_width(width));
    // Integers modulo 2^k have as many elements as their ring, none of which is negative.
    if range.hi() - range.lo() + 1 >= 1 << width.bits() || cols == 0 {
        return x;
    }
    let inside = within(lowering, x, all, range);
    let holds = lowering.all_of(inside);
    let holds = lowering.inject(holds, domain);
    let everywhere = Term::Secret(lowering.gathered(holds, Layout::whole(&[1]).broadcast(&[cols])));
    let number = Term::Secret(x);
    let least = Term::integer(range.lo(), domain, cols);
    let above_least = lowering.sub(&number, &least);
    let product = lowering.mul(&everywhere, &above_least);
    let held = lowering.add(&least, &product);
    lowering.register(&held)
}

/// Whether each number of a ring, which is in `all`, is in `range`: a bit. With k bits of the range's length, of n that tell
/// all numbers apart: the full adders of three components, a carry out of k bits and 2 (n - k) - 1 ANDs. Unless the length is a
/// power of two, k ANDs more where it is one and 1, as between -2^j and 2^j, and else a sign of k + 1 bits.
///
/// Let `m = hi - lo` be less than half of the ring, and below 2^k. `t = x - lo` is in `0..=m` if its bits from k on are 0 and
/// `m - t`, which has k + 1 bits then, isn't negative; for `m = 2^(k-1)`, if bit k - 1 of `t` is 0, or all below it. What is outside
/// a larger range is in one that is less than half.
pub(in crate::lower) fn within(lowering: &mut Lowering<'_>, x: Reg, all: Range, range: Range) -> Reg {
    let Register { domain, cols, .. } = lowering.plan.shape(x);
    let size = 1_i128 << domain.bits();
    let is_wide = range.hi() - range.lo() + 1 > size / 2;
    let (first, last) = if is_wide { (range.hi() + 1, range.lo() - 1) } else { (range.lo(), range.hi()) };
    // One of them is outside a range that leaves out fewer: it is none of these, which go on from the largest element of the ring
    // to its smallest. `m` may be 0 there.
    let most = (last - first).rem_euclid(size);
    let bits = (1..64).find(|&bits| most < 1 << bits).unwrap_or(64);
    let number = Term::Secret(x);
    let above = all.sub(Range::point(first));
    let first = Term::integer(first, domain, cols);
    let above_first = lowering.sub(&number, &first);
    let above_first = lowering.register(&above_first);
    let looked_at = if is_wide { domain.bits() as u32 } else { lowering.low_bits(above_first, above) };
    // Carries come from below, and so there is something below.
    let is_power = bits > 2 && most == 1 << (bits - 1);
    let within_power = {
        let bit = |build: &mut tacit_circuit::Builder, sum: &super::carries::Pair| {
            if is_power {
                sum.is_at_most_power(build, bits as usize - 1)
            } else {
                sum.is_zero_from(build, bits as usize)
            }
        };
        match lowering.capabilities.numbers {
            Numbers::TwoComponents => two::of_sum(lowering, above_first, looked_at, false, bit),
            Numbers::ThreeComponents => three::of_sum(lowering, above_first, looked_at, false, bit),
            Numbers::ElementsAlone | Numbers::MaskedOpening(_) | Numbers::BitsAlone => {
                unreachable!("these numbers are looked at in other ways")
            }
        }
    };
    let mut within = Term::Secret(within_power);
    if !is_power && most + 1 < 1 << bits {
        let last = Term::integer(most, domain, cols);
        let left = lowering.sub(&last, &Term::Secret(above_first));
        let range = Range::point(most).hull(Range::point(most + 1 - (1 << bits)));
        let beyond = lowering.sign(&left, range);
        let beyond = lowering.register(&beyond);
        let not_beyond = Term::Secret(lowering.not(beyond));
        within = lowering.and(&within, &not_beyond);
    }
    let within = lowering.register(&within);
    if is_wide { lowering.not(within) } else { within }
}
