//! Circuits: operands instance after instance, or once for all instances. Where bools are elements of a field, gates are
//! products.

pub(super) mod products;

use std::sync::Arc;

use super::lowering::Lowering;
use crate::node::NodeId;
use crate::plan::{Domain, OpKind, Operand, Reg};
use crate::types::Type;
use tacit_circuit::{Circuit, Given, Layered};

impl Lowering<'_> {
    /// The register of all outputs of a circuit, instance after instance.
    pub(super) fn circuit(&mut self, circuit: &Arc<Circuit>, operands: &[NodeId], ty: &Type) -> Reg {
        if self.capabilities.numbers.field().is_some() {
            return self.circuit_by_products(circuit, operands, ty);
        }
        let batch = &ty.shape[..ty.rank() - 1];
        let inputs = operands.iter().zip(circuit.inputs());
        let inputs: Vec<Operand> =
            inputs.map(|(&id, &width)| self.bit_vectors(id, batch, width as usize)).collect();
        let dst = self.fresh(Domain::Bits, ty.len());
        self.evaluate_circuit(circuit, inputs, dst);
        dst
    }

    /// A circuit on operands, laid out for what is public of them, and for what is the same for all instances: that is a
    /// filled row whenever it is needed, and need not wait in a slot.
    pub(super) fn evaluate_circuit(&mut self, circuit: &Arc<Circuit>, inputs: Vec<Operand>, dst: Reg) {
        let given = inputs.iter().map(|input| Given {
            late: matches!(input, Operand::Same(_)),
            public: self.plan.shape(input.reg()).public,
        });
        let circuit = self.laid_out(circuit, given.collect());
        self.deepest = self.deepest.max(Some((circuit.depth(), dst)));
        self.plan.interact(OpKind::Circuit { circuit, inputs, dst });
    }

    /// A circuit's layers, which equal circuits share. (They are compared, which is shorter than to hash them.)
    fn laid_out(&mut self, circuit: &Arc<Circuit>, given: Vec<Given>) -> Arc<Layered> {
        let mut known = self.circuits.iter();
        if let Some((.., layered)) = known.find(|(other, of, _)| other == circuit && *of == given) {
            return layered.clone();
        }
        let layered = Layered::shared(circuit, &given);
        self.circuits.push((circuit.clone(), given, layered.clone()));
        layered
    }

    /// An operand; one that is the same for all instances is not repeated, and one that all know stays public.
    fn bit_vectors(&mut self, id: NodeId, batch: &[usize], width: usize) -> Operand {
        let ty = self.ty(id);
        let instances: usize = batch.iter().product();
        if ty.len() == width && instances != 1 {
            Operand::Same(self.operand_bits(id, &ty.shape))
        } else {
            Operand::Each(self.operand_bits(id, &[batch, &[width]].concat()))
        }
    }

    fn operand_bits(&mut self, id: NodeId, shape: &[usize]) -> Reg {
        if let Some(known) = self.known_elements(id, shape) {
            return known;
        }
        let bits = self.term(id, shape, Domain::Bits);
        self.operand_register(&bits)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::test_runner::{RngAlgorithm, TestRng};
    use tacit_circuit::arith::{self, Style};

    use crate::plan::OpKind;
    use crate::{Builder, Capabilities, Dtype, Field, Recipient, testing};

    /// ANDs of circuits, and elements of products, of `a` and 4 or 12 public bits, the same for all instances or not.
    fn cost(capabilities: Capabilities, width: usize, shape: &[usize]) -> (u64, usize) {
        let circuit = Arc::new(arith::circuits::multiply(Style::Small, width as u32));
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Bool, &[3, width], None).unwrap();
        let raw = (0..shape.iter().product::<usize>()).map(|at| (at % 5 % 2) as i128).collect();
        let known = build.public(Dtype::Bool, shape.to_vec(), raw).unwrap();
        let product = build.circuit(&circuit, &[a, known]).unwrap()[0];
        build.reveal(product, Recipient::All).unwrap();
        let inputs = vec![(0..3 * width as u64).map(|at| at % 3 % 2).collect()];
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
        let plan = testing::check(&build.finish().unwrap(), capabilities, &inputs, rng).plan;
        let (mut ands, mut products) = (0, 0);
        for op in &plan.ops {
            match &op.kind {
                OpKind::Circuit { circuit, .. } => ands += circuit.ands(),
                OpKind::Mul { .. } => products += op.kind.extent(&plan),
                _ => {}
            }
        }
        (ands, products)
    }

    #[test]
    fn ands_with_public_bits_are_not_paid_for() {
        let all = arith::circuits::multiply(Style::Small, 4).ands() as u64;
        for shape in [&[4][..], &[3, 4]] {
            for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::BITS] {
                let (ands, products) = cost(capabilities, 4, shape);
                // Of the partial products none is left, of the sums of them all.
                assert!(products == 0 && ands <= all - 10, "{ands} of {all}");
            }
            let (ands, products) = cost(Capabilities::masked_opening(Field::Fp128), 4, shape);
            assert!(ands == 0 && products > 0);
            assert!(products <= 3 * (arith::circuits::multiply(Style::Small, 4).gates().len() - 10));
        }
    }
}
