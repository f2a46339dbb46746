//! What the parties keep: registers whose form hangs on the type alone, and on no range, so that any program can read them.

use super::lowering::Lowering;
use crate::plan::Domain;
use crate::program::Keep;
use crate::types::Dtype;
use crate::width;

impl Lowering<'_> {
    /// Lets the parties keep a node's elements.
    pub(super) fn keep(&mut self, keep: &Keep) {
        let (id, ty) = (keep.node, self.ty(keep.node));
        self.begin(id);
        if self.capabilities.numbers.are_bits() && ty.kind != Dtype::Bool {
            return self.keep_bits(id, &keep.name);
        }
        let reg = if ty.secret {
            self.whole(id)
        } else {
            // A secret one is in that ring already.
            let domain = match self.domain(id) {
                Domain::Ring(_) if ty.kind.is_ranged() => Domain::Ring(width::KEPT),
                domain => domain,
            };
            let public = self.term(id, &ty.shape, domain);
            self.register(&public)
        };
        self.plan.keep(&keep.name, reg, self.form(id));
    }
}
