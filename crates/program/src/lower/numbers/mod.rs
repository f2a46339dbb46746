//! The ways from numbers to bits and back: a strategy each, behind one interface.
//!
//! | module | strategy |
//! | --- | --- |
//! | `two` | two additive components, of which single parties know one each |
//! | `three` | three additive components, which their holders share without a message |
//! | `masked` | masked openings in a field, where bools are elements too |
//! | `bits` | numbers are bits, and what is done with them is a circuit |
//!
//! `carries` has the circuits on the bits of additive components, and `within` whether these are of numbers in a range.

pub(super) mod bits;
mod carries;
mod conversions;
pub(super) mod masked;
pub(super) mod room;
pub(super) mod three;
mod two;
pub(super) mod within;

use super::lowering::Lowering;
use super::term::Term;
use crate::capabilities::{Field, Numbers};
use crate::error::Fault;
use crate::plan::{Domain, Operand, Reg};
use crate::types::Range;
use conversions::Conversions;
use masked::MaskedOpening;

/// No way: whatever needs one is refused.
struct ElementsAlone;

impl ElementsAlone {
    fn refuse(lowering: &mut Lowering<'_>) {
        let missing = "conversion between numbers and bits";
        lowering.refuse(|operation| Fault::NotOffered { operation, missing });
    }
}

impl Conversions for ElementsAlone {
    fn sign(&self, lowering: &mut Lowering<'_>, a: Reg, _: Range) -> Reg {
        Self::refuse(lowering);
        lowering.fresh(Domain::Bits, lowering.plan.shape(a).cols)
    }

    fn is_zero(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg {
        self.sign(lowering, a, range)
    }

    fn inject(&self, lowering: &mut Lowering<'_>, bit: Reg, to: Domain) -> Reg {
        Self::refuse(lowering);
        lowering.fresh(to, lowering.plan.shape(bit).cols)
    }

    fn shift(&self, lowering: &mut Lowering<'_>, x: Reg, _: Range, _: u8) -> Term {
        Self::refuse(lowering);
        Term::Secret(x)
    }

    fn additive_components(&self, _: &mut Lowering<'_>, _: Reg, _: u32) -> Option<Vec<Operand>> {
        None
    }
}

impl Lowering<'_> {
    /// So many low bits of numbers in `range` tell them all apart, and the highest of these is their sign: all bits of a ring
    /// that the range leaves, and two at least.
    fn low_bits(&self, a: Reg, range: Range) -> u32 {
        let all = self.bits_of(a);
        let holds = |bits: &u32| range.lo() >= -(1 << (bits - 1)) && range.hi() < 1 << (bits - 1);
        (2..all).find(holds).unwrap_or(all)
    }

    /// The top bit of each number, which is in `range`; taken once of each register.
    pub(super) fn sign(&mut self, a: &Term, range: Range) -> Term {
        let a = match a {
            Term::Secret(a) => *a,
            Term::Public(clear) => return Term::Public(clear.sign()),
        };
        if let Some(&known) = self.signs.get(&a) {
            return Term::Secret(known);
        }
        let sign = self.conversions().sign(self, a, range);
        self.signs.insert(a, sign);
        Term::Secret(sign)
    }

    /// Whether a number, which is in `range`, is 0.
    pub(super) fn is_zero(&mut self, a: Reg, range: Range) -> Reg {
        self.conversions().is_zero(self, a, range)
    }

    /// Bits as the numbers 0 and 1; each is turned into a domain's once.
    pub(super) fn inject(&mut self, bit: Reg, to: Domain) -> Reg {
        if let Some(&known) = self.injected.get(&(bit, to)) {
            return known;
        }
        let dst = self.conversions().inject(self, bit, to);
        self.injected.insert((bit, to), dst);
        dst
    }

    /// `x >> by`, for an `x` in `range` that is not negative ([`Conversions::shift`]).
    pub(super) fn shift(&mut self, x: Reg, range: Range, by: u8) -> Term {
        self.conversions().shift(self, x, range, by)
    }

    /// As [`Conversions::additive_components`].
    fn components_of(&mut self, a: Reg, bits: u32) -> Option<Vec<Operand>> {
        self.conversions().additive_components(self, a, bits)
    }

    fn conversions(&self) -> &'static dyn Conversions {
        match self.capabilities.numbers {
            Numbers::ElementsAlone => &ElementsAlone,
            Numbers::TwoComponents => &two::TwoComponents,
            Numbers::ThreeComponents => &three::ThreeComponents,
            Numbers::MaskedOpening(Field::Fp61) => &MaskedOpening(Field::Fp61),
            Numbers::MaskedOpening(Field::Fp128) => &MaskedOpening(Field::Fp128),
            Numbers::BitsAlone => unreachable!("numbers that are bits are lowered as circuits"),
        }
    }

    fn bits_of(&self, a: Reg) -> u32 {
        self.plan.shape(a).domain.bits() as u32
    }
}
