//! How products with public numbers that aren't integers and quotients of a program come about.

use std::collections::HashMap;

use super::numbers::room::room;
use crate::capabilities::Field;
use crate::node::{Node, NodeId};
use crate::operations::{Operation, Rounding};
use crate::plan::Width;
use crate::program::Program;
use crate::real::Reals;
use crate::rounded::{Chain, Multiples};
use crate::types::Type;

/// How the products with public numbers and the quotients of a program come about.
pub(super) fn scalings(program: &Program, field: Option<Field>) -> HashMap<NodeId, Scaling> {
    let nodes = program.nodes().iter().enumerate().filter(|(_, node)| node.ty.secret);
    let scaling = |(number, node): (usize, &Node)| {
        let operand = &program.node(*node.operands.first()?).ty;
        let quotient = field.and_then(|_| quotient_by_public(program, node));
        let operation = quotient.as_ref().unwrap_or(&node.operation);
        Some((NodeId::new(number as u32), Scaling::of(operation, operand, &node.ty, field)?))
    };
    nodes.filter_map(scaling).collect()
}

/// What a node is made by, and how.
#[derive(Clone, Debug)]
pub(super) struct Scaling {
    pub(super) multiples: Multiples,
    /// Of the ring that it takes, at least; the narrowest in a field.
    pub(super) width: Width,
    /// `None` if a field has no room for it.
    pub(super) chain: Option<Chain>,
}

impl Scaling {
    /// Of a secret node that is such a product or quotient; else `None`.
    pub(super) fn of(
        operation: &Operation,
        operand: &Type,
        result: &Type,
        field: Option<Field>,
    ) -> Option<Self> {
        let multiples = Multiples::of(operation, operand.range)?;
        let sizes = [operand.len(), result.len()];
        let (width, chain) = match field {
            None => {
                let (width, chain) = multiples.in_rings(sizes);
                (width, Some(chain))
            }
            Some(field) => (Width::W8, multiples.in_field(room(field), sizes)),
        };
        Some(Self { multiples, width, chain })
    }

    /// How often a plan has the public numbers: as limbs of multipliers, for each part of the operand, and of offsets.
    pub(super) fn copies(&self) -> usize {
        self.chain.as_ref().map_or(1, |chain| (chain.parts.len() + 1) * (chain.stages.len() + 1))
    }
}

/// The quotient that `a // b` or `a % b` takes, where `b` is public.
pub(super) fn quotient_by_public(program: &Program, node: &Node) -> Option<Operation> {
    let (Operation::Divide | Operation::Remainder) = node.operation else { return None };
    let divisors = program.node(node.operands[1]);
    let Operation::Constant(raw) = &divisors.operation else { return None };
    let divisors = Reals::of_raw(&divisors.ty.shape, raw, 0)?;
    Some(Operation::Over { divisors, rounding: Rounding::Floor })
}
