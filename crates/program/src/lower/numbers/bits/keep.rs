//! Kept numbers where numbers are bits: as many bits as any range takes, of which a program reads those of its own.

use super::number::Number;
use crate::lower::lowering::Lowering;
use crate::node::NodeId;
use crate::plan::Domain;
use crate::types::Type;
use crate::width::Format;

impl Lowering<'_> {
    /// What the parties keep from an earlier run.
    pub(super) fn kept_number(&mut self, name: &str, ty: &Type) -> Number {
        let (all, own) = (Format::kept(ty), Format::of(ty));
        let reg = self.fresh(Domain::Bits, ty.len() * all.bits);
        self.plan.kept(name, reg, all.form());
        Number::whole(reg, &ty.shape, all).bits(0, own.bits, own.signed)
    }

    /// Lets the parties keep a node's numbers.
    pub(in crate::lower) fn keep_bits(&mut self, id: NodeId, name: &str) {
        let number = self.number(id);
        let number = self.formatted(&number, Format::kept(self.ty(id)));
        let form = number.format().form();
        let reg = self.laid(&number);
        self.plan.keep(name, reg, form);
    }
}
