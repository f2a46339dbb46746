//! What all parties know of a run, and a program doesn't hold: operands of circuits.

use super::Builder;
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::Operation;
use crate::shape;
use crate::types::{Dtype, Type};

impl Builder {
    /// Bools that all parties hold, which this program calls `name`; each run says what they are, and the parties make sure that
    /// all hold the same before anything is shared. They are outside the program's hash, so one program serves all of them.
    ///
    /// They are operands of circuits, whole: for each instance its own, or the same for all. An AND with one is not paid for.
    ///
    /// # Errors
    /// [`Fault::KeptTwice`] for a second one of the name, and for a shape that no value has.
    ///
    /// # Security
    /// Nothing keeps them secret from any party.
    pub fn known(&mut self, name: &str, shape: &[usize]) -> Result<NodeId, ProgramError> {
        self.named("what all parties know", name)?;
        let ty = self.declaration(Dtype::Bool, shape, None)?;
        shape::check(shape).map_err(|fault| self.fault(fault))?;
        self.is_first("knows", name)?;
        let id = self.append(Operation::Known { name: name.to_owned() }, vec![], ty)?;
        self.others.insert(("knows", name.to_owned()));
        self.known.push(id);
        Ok(id)
    }

    /// Refuses what all parties know as an operand of anything but circuits, and of those in parts.
    pub(super) fn refuse_known_in(
        &self,
        operation: &Operation,
        operands: &[NodeId],
        result: &Type,
    ) -> Result<(), ProgramError> {
        for &operand in operands {
            if let Operation::Circuit(_) = operation {
                let shape = &self.type_of(operand)?.shape;
                let (_, instances) = result.shape.split_last().unwrap_or((&0, &[]));
                let is_whole = shape
                    .split_last()
                    .is_some_and(|(_, own)| own == instances || own.iter().product::<usize>() == 1);
                if is_whole {
                    continue;
                }
            }
            self.refuse_known(operation.name(), operand)?;
        }
        Ok(())
    }

    /// Refuses what all parties know where a secret is due.
    pub(super) fn refuse_known(&self, operation: &'static str, id: NodeId) -> Result<(), ProgramError> {
        match self.nodes.get(id.index()).map(|node| &node.operation) {
            Some(Operation::Known { .. }) => Err(self.fault(Fault::Known { operation })),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capabilities, Feature, Program, Recipient, lower, reference};
    use std::sync::Arc;
    use tacit_circuit::arith::{self, Style};

    fn product(shape: &[usize]) -> Result<Program, ProgramError> {
        let circuit = Arc::new(arith::circuits::multiply(Style::Small, 4));
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Bool, &[3, 4], None)?;
        let b = build.known("b", shape)?;
        let product = build.circuit(&circuit, &[a, b])?[0];
        build.reveal(product, Recipient::All)?;
        build.finish()
    }

    #[test]
    fn what_all_know_saves_ands_and_is_no_part_of_the_hash() {
        let all = arith::circuits::multiply(Style::Small, 4).ands();
        for shape in [&[4][..], &[1, 4], &[3, 4]] {
            let program = product(shape).unwrap();
            assert_eq!(Program::from_bytes(&program.to_bytes()).unwrap(), program);
            let capabilities = Capabilities::THREE_COMPONENTS.with(Feature::PublicInputs);
            let plan = lower(&program, capabilities).unwrap().plan;
            let crate::plan::OpKind::Circuit { circuit, .. } = &plan.ops[0].kind else { panic!("a circuit") };
            assert!(circuit.ands() + 10 <= all as u64 && plan.public_inputs.len() == 1);
            let bits = |n: u64, count: u64| (0..count).map(|at| n >> at & 1).collect::<Vec<u64>>();
            let (a, b) = ([bits(3, 4), bits(5, 4), bits(7, 4)].concat(), bits(6, 4));
            let given = vec![a, b.repeat(shape.iter().product::<usize>() / 4)];
            let crate::Data::Bool(out) = &reference::run(&program, &given).unwrap()[0].data else {
                panic!("bools")
            };
            let number = |bits: &[bool]| bits.iter().rev().fold(0, |n, &bit| n << 1 | u32::from(bit));
            assert_eq!(out.chunks(4).map(number).collect::<Vec<_>>(), [18 % 16, 30 % 16, 42 % 16]);
        }
    }

    #[test]
    fn what_all_know_is_for_circuits_alone_and_for_protocols_that_take_it() {
        let refused = |error: ProgramError| error.fault.to_string();
        let mut build = Builder::new();
        let known = build.known("k", &[4]).unwrap();
        assert!(refused(build.known("k", &[4]).unwrap_err()).contains("already knows"));
        let secret = build.input("alice", "a", Dtype::Bool, &[4], None).unwrap();
        for refusal in [
            build.xor(secret, known).map(|_| ()),
            build.reveal(known, Recipient::All),
            build.keep(known, "kept", crate::Uses::default()),
        ] {
            assert!(refused(refusal.unwrap_err()).contains("operands of circuits"));
        }
        let program = product(&[4]).unwrap();
        let refusal = lower(&program, Capabilities::THREE_COMPONENTS).unwrap_err();
        assert!(refused(refusal).contains("public inputs"));
        let field = Capabilities::masked_opening(crate::Field::Fp128).with(Feature::PublicInputs);
        assert!(lower(&program, field).is_err());
    }
}
