//! What a program means: exact arithmetic in the clear, node by node.
//!
//! This is the truth that lowering and every protocol are tested against, and what a debug run compares with. It
//! knows nothing of rings but for modular integers. Raw values are the integers that [`crate::encode`] makes; a
//! modular one from 2^127 on stands for itself less 2^128.

use std::collections::HashMap;

use crate::loops::Visit;
use crate::node::{Node, NodeId};
use crate::operations::{Operation, Tensor};
use crate::program::Program;
use crate::types::Type;
use crate::value::{self, Value, ValueError};

/// The clear outputs of a program on inputs as [`crate::encode`] makes them, one vector of words for each; what it reads of
/// what is kept comes after the inputs, and then what all parties know.
///
/// # Errors
/// If the number of inputs, the length of one, or an element is not as declared.
pub fn run(program: &Program, inputs: &[Vec<u64>]) -> Result<Vec<Value>, ValueError> {
    let values = walk(apply, program, inputs, &Last::of(program))?;
    let clear = |id: NodeId| {
        let ty = &program.node(id).ty;
        value::to_value(ty.kind, &ty.shape, &values[id.index()])
    };
    Ok(program.outputs().iter().map(|output| clear(output.node)).collect())
}

/// The raw elements of every node, by its number; of a node in a repeated body, those of the last step.
///
/// # Errors
/// As for [`run`].
pub fn trace(program: &Program, inputs: &[Vec<u64>]) -> Result<Vec<Vec<i128>>, ValueError> {
    trace_by(apply, program, inputs)
}

/// The raw elements of one node, from its operands', all of which have the types that they should.
type Apply = fn(&Operation, &[(&Type, &[i128])], &Type) -> Vec<i128>;

/// The raw elements of every node, where operations do what `apply` says.
pub(crate) fn trace_by(
    apply: Apply,
    program: &Program,
    inputs: &[Vec<u64>],
) -> Result<Vec<Vec<i128>>, ValueError> {
    walk(apply, program, inputs, &Last::default())
}

/// By which visit the elements of a node are last read; none of it where all are kept.
#[derive(Default)]
struct Last(Vec<usize>);

impl Last {
    /// Of a program of which only the outputs are wanted.
    fn of(program: &Program) -> Self {
        let mut last = vec![usize::MAX; program.nodes().len()];
        for (at, visit) in program.visits().into_iter().enumerate() {
            reads(program, visit).for_each(|id| last[id.index()] = at);
        }
        program.outputs().iter().for_each(|output| last[output.node.index()] = usize::MAX);
        Self(last)
    }

    /// Whether a node isn't read after a visit.
    fn is(&self, id: NodeId, visit: usize) -> bool {
        self.0.get(id.index()) == Some(&visit)
    }
}

/// The nodes that a visit reads.
fn reads(program: &Program, visit: Visit) -> impl Iterator<Item = NodeId> + '_ {
    program.node(visit.node).operands.iter().copied().chain(program.taken(visit))
}

/// The elements of every node, without those that were read for the last time.
fn walk(
    apply: Apply,
    program: &Program,
    inputs: &[Vec<u64>],
    last: &Last,
) -> Result<Vec<Vec<i128>>, ValueError> {
    let declared: Vec<NodeId> =
        program.inputs.iter().chain(&program.kept).chain(&program.known).copied().collect();
    if inputs.len() != declared.len() {
        return Err(ValueError::Inputs { given: inputs.len(), declared: declared.len() });
    }
    let mut given = HashMap::with_capacity(inputs.len());
    for (id, words) in declared.iter().zip(inputs) {
        let ty = &program.node(*id).ty;
        given.insert(*id, value::checked_raw(ty.kind, &ty.shape, ty.range, words)?);
    }
    let mut values: Vec<Vec<i128>> = vec![Vec::new(); program.nodes().len()];
    for (at, visit) in program.visits().into_iter().enumerate() {
        let Node { operation, operands, ty, .. } = program.node(visit.node);
        let raw = match (operation, program.taken(visit)) {
            (Operation::Input { .. } | Operation::Kept { .. } | Operation::Known { .. }, _) => {
                given.remove(&visit.node).unwrap_or_default()
            }
            (Operation::Constant(raw), _) => raw.to_vec(),
            (_, Some(from)) => values[from.index()].clone(),
            (Operation::Step, _) => {
                let from = visit.step as usize * ty.len();
                values[operands[0].index()][from..from + ty.len()].to_vec()
            }
            _ => {
                let operands =
                    operands.iter().map(|id| (&program.node(*id).ty, values[id.index()].as_slice()));
                apply(operation, &operands.collect::<Vec<_>>(), ty)
            }
        };
        values[visit.node.index()] = raw;
        for id in reads(program, visit).filter(|&id| last.is(id, at)) {
            values[id.index()] = Vec::new();
        }
    }
    Ok(values)
}

/// What an operation does. See [`Apply`].
pub(crate) fn apply(operation: &Operation, operands: &[(&Type, &[i128])], ty: &Type) -> Vec<i128> {
    let operands: Vec<_> = operands.iter().map(|&(ty, data)| Tensor { shape: &ty.shape, data }).collect();
    operation.entry().raw(&operands, ty)
}
