//! What all parties know of a run, and a program doesn't hold.

use super::Builder;
use crate::error::ProgramError;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::types::{Dtype, Range};

impl Builder {
    /// A value that all parties hold, which this program calls `name`: each run says what it is, and the parties make sure that
    /// all hold the same before anything is shared. It is outside the program's hash, so one program serves all values. Without a
    /// range its elements are all that the kind holds.
    ///
    /// A circuit's AND with one is not paid for, nor is a product of elements; all else takes it as it takes a secret.
    ///
    /// # Errors
    /// [`Fault::KeptTwice`](crate::Fault::KeptTwice) for a second one of the name, and as [`Builder::input`].
    ///
    /// # Security
    /// Nothing keeps it secret from any party.
    pub fn known(
        &mut self,
        name: &str,
        kind: Dtype,
        shape: &[usize],
        range: Option<Range>,
    ) -> Result<NodeId, ProgramError> {
        self.named("what all parties know", name)?;
        let ty = self.declaration(kind, shape, range)?;
        self.first("knows", name)?;
        let id = self.append(Operation::Known { name: name.to_owned() }, vec![], ty)?;
        self.known.push(id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Op, OpKind};
    use crate::{Capabilities, Feature, Program, Recipient, lower, reference, testing};
    use proptest::test_runner::{RngAlgorithm, TestRng};
    use std::sync::Arc;
    use tacit_circuit::arith::{self, Style};

    fn product(shape: &[usize]) -> Result<Program, ProgramError> {
        let circuit = Arc::new(arith::circuits::multiply(Style::Small, 4));
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Bool, &[3, 4], None)?;
        let b = build.known("b", Dtype::Bool, shape, None)?;
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
            let OpKind::Circuit { circuit, .. } = &plan.ops[0].kind else { panic!("a circuit") };
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

    /// Products by public numbers and bools in many places, and other operations with them.
    fn mixed() -> Program {
        let circuit = Arc::new(arith::circuits::multiply(Style::Small, 4));
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Int, &[2, 3], Range::new(-50, 50)).unwrap();
        let bits = build.input("alice", "bits", Dtype::Bool, &[3, 4], None).unwrap();
        let weights = build.known("weights", Dtype::Int, &[3, 2], Range::new(-9, 9)).unwrap();
        let one = build.known("one", Dtype::Int, &[1], Range::new(-9, 9)).unwrap();
        let mask = build.known("mask", Dtype::Bool, &[4], None).unwrap();
        let turned = build.transpose(weights, None).unwrap();
        let (weighed, scaled) = (build.mul(x, turned).unwrap(), build.mul(one, x).unwrap());
        let masked = build.and(bits, mask).unwrap();
        let both = build.mul(weights, weights).unwrap();
        let by_circuit = build.circuit(&circuit, &[bits, mask]).unwrap()[0];
        let (sum, less) = (build.add(weighed, one).unwrap(), build.less(x, turned).unwrap());
        let (product, differ) = (build.matmul(x, weights).unwrap(), build.xor(mask, bits).unwrap());
        let all = [weighed, scaled, masked, both, by_circuit, sum, less, product, differ, one, mask];
        for node in all {
            build.reveal(node, Recipient::All).unwrap();
        }
        build.finish().unwrap()
    }

    #[test]
    fn what_all_know_is_a_value_like_others_and_products_by_it_are_local() {
        let program = mixed();
        assert_eq!(Program::from_bytes(&program.to_bytes()).unwrap(), program);
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[4; 32]);
        for capabilities in [
            Capabilities::TWO_COMPONENTS,
            Capabilities::THREE_COMPONENTS,
            Capabilities::BITS,
            Capabilities::masked_opening(crate::Field::Fp128),
        ] {
            let capabilities = capabilities.with(Feature::PublicInputs).with(Feature::PublicSteps);
            let inputs = testing::inputs(&program.given(), &mut rng);
            let plan = testing::check(&program, capabilities, &inputs, rng.clone()).plan;
            assert_eq!(plan.public_inputs.len(), 3);
            if capabilities.numbers.field().is_none() {
                let interacts = |op: &&Op| matches!(op.kind, OpKind::Mul { .. } | OpKind::And { .. });
                assert_eq!(plan.ops.iter().filter(interacts).count(), 0);
            }
        }
    }

    #[test]
    fn bits_that_all_know_save_ands_of_numbers() {
        let ands = |is_known: bool| {
            let mut build = Builder::new();
            let range = Range::new(-50, 50);
            let x = build.input("alice", "x", Dtype::Int, &[2], range).unwrap();
            let y = if is_known {
                build.known("y", Dtype::Int, &[2], range)
            } else {
                build.input("bob", "y", Dtype::Int, &[2], range)
            };
            let product = build.mul(x, y.unwrap()).unwrap();
            build.reveal(product, Recipient::All).unwrap();
            let capabilities = Capabilities::BITS.with(Feature::PublicInputs).with(Feature::PublicSteps);
            let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
            let OpKind::Circuit { circuit, .. } = &plan.ops[0].kind else { panic!("a circuit") };
            circuit.ands()
        };
        // Those of partial products.
        assert!(ands(true) + 49 <= ands(false), "{} and {}", ands(true), ands(false));
    }

    #[test]
    fn what_all_know_has_a_name_and_is_for_protocols_that_take_it() {
        let refused = |error: ProgramError| error.fault.to_string();
        let mut build = Builder::new();
        build.known("k", Dtype::Bool, &[4], None).unwrap();
        let again = build.known("k", Dtype::Int, &[], None);
        assert!(refused(again.unwrap_err()).contains("already knows"));
        assert!(build.known("", Dtype::Bool, &[4], None).is_err());
        for program in [product(&[4]).unwrap(), mixed()] {
            let refusal = lower(&program, Capabilities::THREE_COMPONENTS).unwrap_err();
            assert!(refused(refusal).contains("public inputs"));
        }
    }
}
