//! Circuits: operands instance after instance, or once for all instances. Where bools are elements of a field, gates are
//! products.

mod products;

use std::sync::Arc;

use super::Lowering;
use crate::plan::{Domain, OpKind, Operand, Reg};
use crate::program::NodeId;
use crate::types::Type;
use tacit_circuit::{Circuit, Layered};

impl Lowering<'_> {
    /// The register of all outputs of a circuit, instance after instance.
    pub(super) fn circuit(&mut self, circuit: &Arc<Circuit>, operands: &[NodeId], ty: &Type) -> Reg {
        if self.strategy.field().is_some() {
            return self.circuit_by_products(circuit, operands, ty);
        }
        let batch = &ty.shape[..ty.rank() - 1];
        let inputs = operands.iter().zip(circuit.inputs());
        let inputs: Vec<Operand> =
            inputs.map(|(&id, &width)| self.bit_vectors(id, batch, width as usize)).collect();
        // What is the same for all instances is a filled row whenever it is needed: it need not wait in a slot.
        let late: Vec<bool> = inputs.iter().map(|input| matches!(input, Operand::Same(_))).collect();
        let circuit = self.laid_out(circuit, late);
        let dst = self.fresh(Domain::Bits, ty.len());
        self.plan.interact(OpKind::Circuit { circuit, inputs, dst });
        dst
    }

    /// A circuit's layers; the same ones for the same circuit and late inputs.
    pub(super) fn laid_out(&mut self, circuit: &Arc<Circuit>, late: Vec<bool>) -> Arc<Layered> {
        let known = self.circuits.entry((circuit.clone(), late));
        known.or_insert_with_key(|(circuit, late)| Arc::new(Layered::with_late(circuit, late))).clone()
    }

    /// An operand; one that is the same for all instances is not repeated.
    fn bit_vectors(&mut self, id: NodeId, batch: &[usize], width: usize) -> Operand {
        let ty = self.ty(id);
        let instances: usize = batch.iter().product();
        if ty.len() == width && instances != 1 {
            let one = self.term(id, &ty.shape, Domain::Bits);
            Operand::Same(self.register(&one))
        } else {
            let all = self.term(id, &[batch, &[width]].concat(), Domain::Bits);
            Operand::Each(self.register(&all))
        }
    }
}
