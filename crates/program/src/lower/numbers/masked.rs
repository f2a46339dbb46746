//! Openings under random masks, in a field of p elements: numbers and bools are elements, bools 0 or 1.
//!
//! Nothing but random bits, products and openings is asked of the protocol. XOR of bools is `u + v - 2 u v`, a
//! product; injection is the identity.
//!
//! **Masks.** To be opened, a number `y` with `0 <= y < 2^k` is masked by `r`, of `k + 40` random bits. As
//! `y + r < 2^k + 2^(k + 40) <= p`, the opened `c = y + r` holds over the integers. For any two `y` the distributions of
//! `c` are at a distance below `2^k / 2^(k + 40) = 2^-40`, and so are those of `c + e` for whatever `e` a deviator adds
//! to `c` itself. This is statistical secrecy, as in Catrina and de Hoogh, "Improved primitives for secure multiparty
//! integer computation", 2010, section 2.2.
//!
//! That is for each element opened. Masks are independent, so what all openings of a run show is at a distance below `2^-40`
//! times the elements opened, in all lanes and all parts of a stream: `2^-20` after a million comparisons. Nothing limits
//! their number here; a protocol that promises a bound for a run has to.
//!
//! **Checks come first.** Such a mask hides a `y` in its range, and no other. A deviator could see to it that `y` is out of it:
//! if it opens `d + e` in place of the `d` of a product by a triple, the product `u v` becomes `u v + e v`; with `e = 2^100` the
//! next opening would show `v` above the mask.
//!
//! So all that an opening depends on is checked before it ([`Opening::Verified`]); where nobody deviates, that costs nothing. A
//! mask that is uniform in the field needs no check ([`Opening::Masked`]), and many more products, so it is for numbers that
//! leave no room for another.
//!
//! **Remainders** (their protocol Mod2m, where all of `r` is made of bits). Let `c' = c mod 2^m` and `r' = r mod 2^m`, for
//! `m <= k`. From `c = y + r` follows `c' = (y mod 2^m + r') mod 2^m`. The sum in brackets is below `2^(m+1)`, so it is
//! `c'` or `c' + 2^m`, and the latter just if `c' < r'`: a sum of two numbers below `2^m` that wraps is less than either,
//! and one that doesn't isn't. Hence
//!
//! `y mod 2^m = c' - r' + 2^m [c' < r']`.
//!
//! `c'` has public bits and `r'` shared ones. At one position `[c_i < r_i] = (1 - c_i) r_i`, and equality is
//! `1 - c_i - r_i + 2 c_i r_i`, without a product. For a span of positions of an upper and a lower half
//! `less = less_u + equal_u less_l` and `equal = equal_u equal_l`; of the lowest span nobody asks `equal`. That makes
//! `2 (m - 1) - ceil(log2 m)` products in `ceil(log2 m)` rounds, after the round of the opening.
//!
//! - *Bits*, of a `y` with `0 <= y < 2^k`: it is `c' - r'` modulo `2^k`, and so its bit at a position is `c_i xor r_i xor b_i`,
//!   where `b_i` is what is borrowed from there: whether `c'` is less than `r'` below it.
//!
//!   What holds of all positions up to each one is made by Sklansky's network ("Conditional-sum addition logic", 1960): of a span
//!   over another `less = less_u + equal_u less_l` and `equal = equal_u equal_l`. A number that may be negative is raised by
//!   `2^(k-1)`, which turns its highest bit round in two's complement.
//! - *Shift*, of an `x` that isn't negative: `x >> m = (x - x mod 2^m) / 2^m`, with the inverse of `2^m` in the field. It
//!   is exact: no rounding depends on `r`.
//! - *Sign*, of `-2^(k-1) <= x < 2^(k-1)`: with `y = x + 2^(k-1)`, `0 <= y < 2^k`, `x < 0` just if `y < 2^(k-1)`, and so if
//!   `(y - y mod 2^(k-1)) / 2^(k-1)`, which is the top bit of `y`, is 0.
//! - *Zero*, of such an `x`: let `d = c + 2^(k-1)`, which is `x + 2^k + r`. If `x = 0` then `d = r mod 2^k`. If
//!   `d = r mod 2^k` then `2^k` divides `x`, and by its range `x = 0`. So all of the k low bits of `d`, which are public,
//!   are compared with those of `r`: `k - 1` products in `ceil(log2 k)` rounds.
//!
//! **Without slack.** Let `p` have b bits, and let `0 <= y < 2^(b-1)` be too long for a mask of 40 bits more. Then `r` is a number
//! of b random bits, and `c = y + r mod p` is opened. Of `2^b` numbers `2^b - p` are found twice modulo p and all others once, so
//! `r mod p`, and `c` with it, is at a distance below `(2^b - p) / 2^b` from uniform, whatever `y` is: `2^-120` for `p = 2^128 -
//! 159`, for each element opened, and `2^-61` for the smaller field. Nothing is tossed again.
//!
//! Since `y + r < 2^(b-1) + 2^b < 2 p`, over the integers `y + r = c + w p` with a bit `w`. If `w = 0` then `c >= r`;
//! if `w = 1` then `c = r - (p - y) < r`. So `w = [c < r]`, a comparison of b bits, also where `r >= p`. Then `y mod
//! 2^m` is `(c - r) mod 2^m` or `(c + p - r) mod 2^m`; with `c' = c mod 2^m`, `c'' = (c + p) mod 2^m` and `r'` as
//! above the two are
//!
//! `c' - r' + 2^m [c' < r']` and `c'' - r' + 2^m [c'' < r']`,
//!
//! the first of them plus `w` times `(c'' - c') + 2^m ([c'' < r'] - [c' < r'])` is the right one. All three comparisons have a
//! public operand, and go at the same time.
//!
//! | of k bits | random bits | openings | products | rounds |
//! | --- | --- | --- | --- | --- |
//! | sign | k + 40 | 1 | 2 (k - 2) - ceil(log2(k - 1)) | 1 + ceil(log2(k - 1)) |
//! | zero | k + 40 | 1 | k - 1 | 1 + ceil(log2 k) |
//! | shift by m | k + 40 | 1 | 2 (m - 1) - ceil(log2 m) | 1 + ceil(log2 m) |
//! | all bits | k + 40 | 1 | less than k log2 k + k | 2 + ceil(log2(k - 1)) |
//! | without slack | b | 1 | 2 (b - 1) - ceil(log2 b) + 2 (2 (m - 1) - ceil(log2 m)) + 1 | 2 + ceil(log2 b) |
//!
//! # Security
//! For the same reason inputs have to be in their ranges. A protocol whose owners of inputs may deviate has to see to
//! it that inputs are in the ranges that the program declares, and bools 0 or 1.

use super::conversions::Conversions;
use super::room::{STATISTICAL, room};
use crate::capabilities::Field;
use crate::error::Fault;
use crate::lower::lowering::Lowering;
use crate::lower::term::{Term, limbs};
use crate::plan::{Domain, Layout, Local, MatrixShape, OpKind, Opening, Operand, Public, Reg};
use crate::types::Range;
use crate::width::Format;

/// The strategy, in a field.
pub(super) struct MaskedOpening(pub(super) Field);

impl Conversions for MaskedOpening {
    fn sign(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(a).cols);
        if range.lo() >= 0 {
            return lowering.register(&Term::splat(0, domain, cols));
        }
        let bits = signed_bits(range);
        let half = Term::splat(1 << (bits - 1), domain, cols);
        let raised = lowering.add(&Term::Secret(a), &half);
        let raised = lowering.register(&raised);
        let top = self.above(lowering, raised, bits, bits - 1);
        let sign = lowering.not(top);
        lowering.register(&Term::Secret(sign))
    }

    fn is_zero(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(a).cols);
        let bits = signed_bits(range);
        let half = Public::Splat(1 << (bits - 1));
        let raised = lowering.fresh(domain, cols);
        lowering.plan.local(Local::AddPublic { a, c: half.clone(), dst: raised });
        if bits > room(self.0) {
            self.refuse(lowering, bits, room(self.0));
            return a;
        }
        let Masked { opened, mask } = self.open(lowering, raised, bits + STATISTICAL, Opening::Verified);
        let random = lowering.gathered(mask, rows(0, 1, bits as usize, cols));
        let again = lowering.plan.public(domain, cols);
        lowering.plan.local(Local::AddPublic { a: opened, c: half, dst: again });
        let public = self.bits_of(lowering, again, bits);
        let Compared { mut equal, .. } = self.compared(lowering, public, random);
        let mut left = bits as usize;
        while left > 1 {
            let pairs = left / 2;
            let [even, odd] = [0, 1].map(|first| lowering.gathered(equal, rows(first, 2, pairs, cols)));
            let both = lowering.fresh(domain, pairs * cols);
            lowering.plan.interact(OpKind::Mul { a: even, b: odd, dst: both });
            let rest = (equal, rows(left - 1, 1, left % 2, cols));
            equal = lowering.joined(domain, &[(both, rows(0, 1, pairs, cols)), rest]);
            left = left.div_ceil(2);
        }
        equal
    }

    fn inject(&self, lowering: &mut Lowering<'_>, bit: Reg, to: Domain) -> Reg {
        if to != self.0.domain() {
            let missing = "bools as integers modulo a power of two; it computes modulo one prime";
            lowering.refuse(|operation| Fault::NotOffered { operation, missing });
        }
        bit
    }

    fn shift(&self, lowering: &mut Lowering<'_>, x: Reg, range: Range, by: u8) -> Term {
        let bits = i128::BITS - range.hi().leading_zeros();
        if bits <= u32::from(by) {
            return Term::splat(0, self.0.domain(), lowering.plan.shape(x).cols);
        }
        Term::Secret(self.above(lowering, x, bits, by.into()))
    }

    fn additive_components(&self, _: &mut Lowering<'_>, _: Reg, _: u32) -> Option<Vec<Operand>> {
        None
    }
}

/// What an opening under a mask leaves.
struct Masked {
    /// The number and its mask: a public register.
    opened: Reg,
    /// The mask, as [`rows`] of bits.
    mask: Reg,
}

/// How public numbers compare with shared ones, position by position, as [`rows`].
struct Compared {
    /// Whether the public bit is 0 and the other one 1.
    less: Reg,
    /// Whether they are the same.
    equal: Reg,
}

impl MaskedOpening {
    /// `floor(y / 2^low)`, for `0 <= y < 2^bits`.
    fn above(&self, lowering: &mut Lowering<'_>, y: Reg, bits: u32, low: u32) -> Reg {
        if low == 0 {
            return y;
        }
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(y).cols);
        let Some(rest) = self.remainder(lowering, y, bits, low) else { return y };
        let multiple = lowering.sub(&Term::Secret(y), &rest);
        let modulus = self.0.modulus();
        let half = modulus.last() / 2 + 1;
        let inverse = (0..low).fold(1, |power, _| modulus.mul(power, half));
        let quotient = lowering.mul(&multiple, &Term::splat(inverse, domain, cols));
        lowering.register(&quotient)
    }

    /// `y mod 2^low`, for `0 <= y < 2^bits`; `None` if there is no room for such numbers.
    fn remainder(&self, lowering: &mut Lowering<'_>, y: Reg, bits: u32, low: u32) -> Option<Term> {
        if bits > room(self.0) {
            return self.remainder_without_slack(lowering, y, bits, low);
        }
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(y).cols);
        let Masked { opened, mask } = self.open(lowering, y, bits + STATISTICAL, Opening::Verified);
        let random = lowering.gathered(mask, rows(0, 1, low as usize, cols));
        let public = self.bits_of(lowering, opened, low);
        let wrapped = self.less(lowering, public, random, low as usize);
        let wrap = lowering.mul(&Term::Secret(wrapped), &Term::splat(1 << low, domain, cols));
        let random = Term::Secret(self.number(lowering, random, low, cols));
        let shared = lowering.sub(&wrap, &random);
        let shared = lowering.register(&shared);
        let public = self.number(lowering, public, low, cols);
        let dst = lowering.fresh(domain, cols);
        lowering.plan.local(Local::AddPublic { a: shared, c: Public::Register(public), dst });
        Some(Term::Secret(dst))
    }

    /// The same under a mask that is uniform.
    fn remainder_without_slack(
        &self,
        lowering: &mut Lowering<'_>,
        y: Reg,
        bits: u32,
        low: u32,
    ) -> Option<Term> {
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(y).cols);
        let (modulus, all) = (self.0.modulus(), u32::from(self.0.modulus().bits()));
        if bits >= all {
            self.refuse(lowering, bits, all - 1);
            return None;
        }
        let Masked { opened, mask } = self.open(lowering, y, all, Opening::Masked);
        let public = self.bits_of(lowering, opened, all);
        let wrapped = self.less(lowering, public, mask, all as usize);
        let random = lowering.gathered(mask, rows(0, 1, low as usize, cols));
        // The low bits of c and of c + p, and whether they are below those of r.
        let low_bits = self.bits_of(lowering, opened, low);
        let public = self.number(lowering, low_bits, low, cols);
        let less = self.less(lowering, low_bits, random, low as usize);
        let order = modulus.last().wrapping_add(1) & ((1 << low) - 1);
        let sum = lowering.plan.public(domain, cols);
        lowering.plan.local(Local::AddPublic { a: public, c: Public::Splat(order), dst: sum });
        let low_bits = self.bits_of(lowering, sum, low);
        let raised = self.number(lowering, low_bits, low, cols);
        let raised_less = self.less(lowering, low_bits, random, low as usize);
        // What a wrap changes.
        let change = lowering.plan.public(domain, cols);
        lowering.plan.local(Local::Sub { a: raised, b: public, dst: change });
        let flip = lowering.sub(&Term::Secret(raised_less), &Term::Secret(less));
        let power = Term::splat(1 << low, domain, cols);
        let flip = lowering.mul(&flip, &power);
        let flip = lowering.register(&flip);
        let both = lowering.fresh(domain, cols);
        lowering.plan.local(Local::AddPublic { a: flip, c: Public::Register(change), dst: both });
        let changed = lowering.mul(&Term::Secret(wrapped), &Term::Secret(both));
        // And all without it.
        let less = lowering.mul(&Term::Secret(less), &power);
        let random = Term::Secret(self.number(lowering, random, low, cols));
        let shared = lowering.sub(&less, &random);
        let shared = lowering.add(&shared, &changed);
        let shared = lowering.register(&shared);
        let dst = lowering.fresh(domain, cols);
        lowering.plan.local(Local::AddPublic { a: shared, c: Public::Register(public), dst });
        Some(Term::Secret(dst))
    }

    /// The bits of numbers of a format, in two's complement, as [`rows`].
    pub(super) fn bits(&self, lowering: &mut Lowering<'_>, a: Reg, format: Format) -> Reg {
        let Format { bits, signed } = format;
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(a).cols);
        if bits as u32 > room(self.0) {
            self.refuse(lowering, bits as u32, room(self.0));
            return lowering.fresh(domain, bits * cols);
        }
        if bits == 1 && !signed {
            return a;
        }
        let half = Term::splat(1 << (bits - 1), domain, cols);
        let raised = if signed { lowering.add(&Term::Secret(a), &half) } else { Term::Secret(a) };
        let raised = lowering.register(&raised);
        let Masked { opened, mask } =
            self.open(lowering, raised, bits as u32 + STATISTICAL, Opening::Verified);
        let random = lowering.gathered(mask, rows(0, 1, bits, cols));
        let public = self.bits_of(lowering, opened, bits as u32);
        let Compared { less, equal } = self.compared(lowering, public, random);
        // c xor r, and all but the lowest xor what is borrowed.
        let unlike = lowering.not(equal);
        let lowest = (unlike, rows(0, 1, 1, cols));
        let mut all = lowest.clone();
        if bits > 1 {
            let borrowed = self.borrows(lowering, less, equal, bits - 1, cols);
            let upper = lowering.gathered(unlike, rows(1, 1, bits - 1, cols));
            let upper = lowering.exclusive_or(&Term::Secret(upper), &Term::Secret(borrowed));
            let upper = lowering.register(&upper);
            let joined = lowering.joined(domain, &[lowest, (upper, rows(0, 1, bits - 1, cols))]);
            all = (joined, rows(0, 1, bits, cols));
        }
        let all = lowering.gathered(all.0, all.1);
        if !signed {
            return all;
        }
        let top = lowering.gathered(all, rows(bits - 1, 1, 1, cols));
        let turned = lowering.not(top);
        lowering.joined(domain, &[(all, rows(0, 1, bits - 1, cols)), (turned, rows(0, 1, 1, cols))])
    }

    /// For each of the lowest positions whether public numbers, up to it, are less than shared ones: of how they compare there.
    fn borrows(&self, lowering: &mut Lowering<'_>, less: Reg, equal: Reg, count: usize, cols: usize) -> Reg {
        let domain = self.0.domain();
        let [mut less, mut equal] = [less, equal].map(|reg| lowering.gathered(reg, rows(0, 1, count, cols)));
        let mut reach = 1;
        while reach < count {
            // Positions of which the span so far has another one below it; the lowest span's `equal` nobody asks for.
            let upper: Vec<usize> = (0..count).filter(|at| at & reach != 0).collect();
            let below = |at: usize| (at & !(reach - 1)) - 1;
            let both: Vec<usize> = upper.iter().copied().filter(|at| *at >= 2 * reach).collect();
            let one = |reg, at| (reg, rows(at, 1, 1, cols));
            let left = upper.iter().chain(&both).map(|&at| one(equal, at));
            let left = lowering.joined(domain, &left.collect::<Vec<_>>());
            let right = upper.iter().map(|&at| one(less, below(at)));
            let right = right.chain(both.iter().map(|&at| one(equal, below(at))));
            let right = lowering.joined(domain, &right.collect::<Vec<_>>());
            let product = lowering.fresh(domain, (upper.len() + both.len()) * cols);
            lowering.plan.interact(OpKind::Mul { a: left, b: right, dst: product });
            let handed_on = lowering.gathered(product, rows(0, 1, upper.len(), cols));
            let before = upper.iter().map(|&at| one(less, at));
            let before = lowering.joined(domain, &before.collect::<Vec<_>>());
            let won = lowering.fresh(domain, upper.len() * cols);
            lowering.plan.local(Local::Add { a: before, b: handed_on, dst: won });
            let place = |list: &[usize], at: usize| list.iter().position(|&other| other == at);
            let rest = |at: usize| place(&upper, at).map_or(one(less, at), |place| one(won, place));
            let next = (0..count).map(rest).collect::<Vec<_>>();
            let even = |at: usize| {
                place(&both, at).map_or(one(equal, at), |place| one(product, upper.len() + place))
            };
            let next_equal = (0..count).map(even).collect::<Vec<_>>();
            less = lowering.joined(domain, &next);
            equal = lowering.joined(domain, &next_equal);
            reach *= 2;
        }
        less
    }

    /// Opens `y + r`, for an `r` of so many random bits.
    fn open(&self, lowering: &mut Lowering<'_>, y: Reg, bits: u32, how: Opening) -> Masked {
        let (domain, cols) = (self.0.domain(), lowering.plan.shape(y).cols);
        let random = lowering.fresh(domain, bits as usize * cols);
        lowering.plan.one_level_before(random, y);
        lowering.plan.interact(OpKind::Random { dst: random, bits: true });
        let mask = self.number(lowering, random, bits, cols);
        let (sum, opened) = (lowering.fresh(domain, cols), lowering.plan.public(domain, cols));
        lowering.plan.local(Local::Add { a: y, b: mask, dst: sum });
        lowering.plan.interact(OpKind::Open { a: sum, dst: opened, how });
        Masked { opened, mask: random }
    }

    /// Refuses a number of more bits than the most that there is room for.
    fn refuse(&self, lowering: &mut Lowering<'_>, bits: u32, most: u32) {
        let field = self.0;
        lowering.refuse(|operation| Fault::NoRoomForMask { operation, bits, field, most });
    }

    /// The low bits of public numbers, as [`rows`].
    fn bits_of(&self, lowering: &mut Lowering<'_>, a: Reg, bits: u32) -> Reg {
        let cols = lowering.plan.shape(a).cols;
        let dst = lowering.plan.public(self.0.domain(), bits as usize * cols);
        lowering.plan.local(Local::PublicBits { a, bits: bits as u8, dst });
        dst
    }

    /// Numbers from [`rows`] of their bits; public if these are.
    fn number(&self, lowering: &mut Lowering<'_>, bits: Reg, count: u32, cols: usize) -> Reg {
        let domain = self.0.domain();
        let weights: Vec<u128> = (0..count).map(|bit| 1 << bit).collect();
        let dst = lowering.fresh_as(bits, domain, cols);
        let shape = MatrixShape { batch: 1, m: 1, k: count as usize, n: cols };
        lowering.plan.local(Local::MatMulPublic {
            a: bits,
            c: limbs(&weights, domain),
            left: true,
            shape,
            dst,
        });
        dst
    }

    /// How public bits compare with shared ones, position by position. No message.
    fn compared(&self, lowering: &mut Lowering<'_>, public: Reg, random: Reg) -> Compared {
        let (domain, len) = (self.0.domain(), lowering.plan.shape(public).cols);
        let [minus, complement] = [(); 2].map(|()| lowering.plan.public(domain, len));
        lowering.plan.local(Local::MulPublic {
            a: public,
            c: Public::Splat(self.0.modulus().last()),
            dst: minus,
        });
        lowering.plan.local(Local::AddPublic { a: minus, c: Public::Splat(1), dst: complement });
        let [both, less] = [(); 2].map(|()| lowering.fresh(domain, len));
        lowering.plan.local(Local::MulPublic { a: random, c: Public::Register(public), dst: both });
        lowering.plan.local(Local::Sub { a: random, b: both, dst: less });
        // 1 - c - r + 2 c r = (1 - c) + c r - (r - c r).
        let [apart, equal] = [(); 2].map(|()| lowering.fresh(domain, len));
        lowering.plan.local(Local::Sub { a: both, b: less, dst: apart });
        lowering.plan.local(Local::AddPublic { a: apart, c: Public::Register(complement), dst: equal });
        Compared { less, equal }
    }

    /// Whether public numbers of so many bits are less than shared ones.
    fn less(&self, lowering: &mut Lowering<'_>, public: Reg, random: Reg, bits: usize) -> Reg {
        let domain = self.0.domain();
        let cols = lowering.plan.shape(public).cols / bits;
        let Compared { mut less, equal } = self.compared(lowering, public, random);
        // Of `equal` the lowest span is left out: row i is that of span i + 1.
        let mut equal = if bits > 1 { lowering.gathered(equal, rows(1, 1, bits - 1, cols)) } else { equal };
        let mut spans = bits;
        while spans > 1 {
            let pairs = spans / 2;
            let upper = |from: usize| (equal, rows(2 * from, 2, pairs - from, cols));
            let left = lowering.joined(domain, &[upper(0), upper(1)]);
            let lower = [(less, rows(0, 2, pairs, cols)), (equal, rows(1, 2, pairs - 1, cols))];
            let right = lowering.joined(domain, &lower);
            let both = lowering.fresh(domain, (2 * pairs - 1) * cols);
            lowering.plan.interact(OpKind::Mul { a: left, b: right, dst: both });
            let handed_on = lowering.gathered(both, rows(0, 1, pairs, cols));
            let upper = lowering.gathered(less, rows(1, 2, pairs, cols));
            let won = lowering.fresh(domain, pairs * cols);
            lowering.plan.local(Local::Add { a: upper, b: handed_on, dst: won });
            let odd = spans % 2;
            less = lowering
                .joined(domain, &[(won, rows(0, 1, pairs, cols)), (less, rows(spans - 1, 1, odd, cols))]);
            if pairs + odd > 1 {
                equal = lowering.joined(
                    domain,
                    &[
                        (both, rows(pairs, 1, pairs - 1, cols)),
                        (equal, rows(spans.saturating_sub(2), 1, odd, cols)),
                    ],
                );
            }
            spans = pairs + odd;
        }
        less
    }
}

/// Rows of a register of one row that has a run of `cols` elements for each of them: `count` from `first` on, `step` apart.
fn rows(first: usize, step: usize, count: usize, cols: usize) -> Layout {
    Layout { offset: first * cols, shape: vec![count, cols], strides: vec![(step * cols) as isize, 1] }
}

/// The least k with the range in `-2^(k-1)` to `2^(k-1) - 1`.
fn signed_bits(range: Range) -> u32 {
    let with_negative = range.hull(Range::point(-1));
    Format::of_range(with_negative).bits as u32
}

#[cfg(test)]
mod tests;
