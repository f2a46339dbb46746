//! What all parties know of a run: public registers, and sharings of them for what takes shares.
//!
//! Circuits take the public bits, and products of elements the public elements, so that neither takes a message for them. All else
//! reads a sharing: the value as one component, which no message makes.

use super::lowering::{Lowering, View};
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{Domain, Form, Local, Public, Reg};
use crate::program::Program;

impl Lowering<'_> {
    /// A public input, as a sharing of it; where circuits alone read it, as it is.
    pub(super) fn public_input(
        &mut self,
        id: NodeId,
        name: &str,
        domain: Domain,
        cols: usize,
        form: Form,
    ) -> Reg {
        let public = self.plan.public(domain, cols);
        self.plan.public_input(name, public, form);
        if self.is_for_circuits(id) {
            return public;
        }
        let dst = self.fresh(domain, cols);
        self.plan.local(Local::Constant { value: Public::Register(public), dst });
        self.known.insert(dst, public);
        dst
    }

    /// Whether nothing but circuits reads a node. In a field their gates are products, and in a debug run all is revealed.
    fn is_for_circuits(&mut self, id: NodeId) -> bool {
        if self.read_elsewhere.is_empty() {
            self.read_elsewhere = read_elsewhere(self.program);
        }
        !self.debug && self.capabilities.numbers.field().is_none() && !self.read_elsewhere[id.index()]
    }

    /// The elements of what all parties know, broadcast to `shape`, in a public register; `None` of anything else.
    pub(super) fn known_elements(&mut self, id: NodeId, shape: &[usize]) -> Option<Reg> {
        let View { reg, layout } = self.views[id.index()].clone()?;
        let public = *self.known.get(&reg)?;
        Some(self.gathered(public, layout.broadcast(shape)))
    }

    /// The product of two operands element by element, of which all parties know one and neither stands in the program.
    pub(super) fn by_known(&mut self, operands: &[NodeId], shape: &[usize], domain: Domain) -> Option<Reg> {
        let &[a, b] = operands else { return None };
        if !self.ty(a).secret || !self.ty(b).secret {
            return None;
        }
        let (other, known) = match self.known_elements(b, shape) {
            Some(known) => (a, known),
            None => (b, self.known_elements(a, shape)?),
        };
        let other = self.term(other, shape, domain);
        let (a, c) = (self.register(&other), Public::Register(known));
        let dst = self.fresh(domain, self.plan.shape(a).cols);
        let step = match domain {
            Domain::Bits => Local::AndPublic { a, c, dst },
            _ => Local::MulPublic { a, c, dst },
        };
        self.plan.local(step);
        Some(dst)
    }
}

/// Which nodes something else than circuits reads, outputs and what is kept among it.
fn read_elsewhere(program: &Program) -> Vec<bool> {
    let others = program.nodes().iter().filter(|node| !matches!(node.operation, Operation::Circuit(_)));
    let operands = others.flat_map(|node| node.operands.iter().copied());
    let outputs = program.outputs().iter().map(|output| output.node);
    let keeps = program.keeps().iter().map(|keep| keep.node);
    let mut read = vec![false; program.nodes().len()];
    operands.chain(outputs).chain(keeps).for_each(|id| read[id.index()] = true);
    read
}
