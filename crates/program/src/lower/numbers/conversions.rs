//! The interface of the ways from numbers to bits and back.

use crate::capabilities::Feature;
use crate::lower::lowering::Lowering;
use crate::lower::term::Term;
use crate::plan::{Domain, OpKind, Operand, Reg};
use crate::types::Range;

/// What lowering needs of a way from numbers to bits and back, where numbers are elements of a ring or a field. Each
/// register has one row.
pub(super) trait Conversions: Sync {
    /// Whether each number, which is in `range`, is negative: a bit.
    fn sign(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg;
    /// Whether each number, which is in `range`, is 0: a bit.
    fn is_zero(&self, lowering: &mut Lowering<'_>, a: Reg, range: Range) -> Reg;
    /// Bits as the numbers 0 and 1.
    fn inject(&self, lowering: &mut Lowering<'_>, bit: Reg, to: Domain) -> Reg;
    /// `x >> by`, exactly, for numbers in `range`, of which none is negative. In a ring of k bits they are below 2^(k-1),
    /// and `0 < by < k`.
    fn shift(&self, lowering: &mut Lowering<'_>, x: Reg, range: Range, by: u8) -> Term;
    /// Operands of a circuit that sum to the low bits of each number, so many of them; `None` if there is no such way.
    fn additive_components(&self, lowering: &mut Lowering<'_>, a: Reg, bits: u32) -> Option<Vec<Operand>>;
}

/// The protocol's own MSB extraction, if it has one.
pub(super) fn msb(lowering: &mut Lowering<'_>, a: Reg) -> Option<Reg> {
    lowering.capabilities.offers(Feature::Msb).then(|| {
        let dst = lowering.plan.bits(1, lowering.plan.shape(a).cols);
        lowering.plan.interact(OpKind::Msb { a, dst });
        dst
    })
}
