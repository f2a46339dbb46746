//! The clear-text shadow of a debug run: which operation is the first whose result isn't what it should be.

use std::fmt;

use crate::error::Source;
use crate::lower::Lowered;
use crate::program::{NodeId, Program};
use crate::value::{self, Value, ValueError};
use crate::{decode, reference};

/// A node whose revealed value is not what the program means.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The node; all before it that were revealed are right.
    pub node: NodeId,
    /// What it does.
    pub operation: &'static str,
    /// The user's line.
    pub at: Source,
    /// What it should be.
    pub expected: Value,
    /// What came out; an error if it isn't even in the node's range.
    pub computed: Result<Value, ValueError>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  `{}` (node {}) ", self.at, self.operation, self.node.number())?;
        match &self.computed {
            Ok(value) => write!(f, "gave {:?} and should have given {:?}", value.data, self.expected.data),
            Err(error) => write!(f, "gave what it can't: {error}"),
        }
    }
}

/// Compares the outputs of a run of a plan with the reference on the same inputs, and gives the first node, in the
/// program's order, that differs. With a plan by [`crate::lower_for_debug`] every secret node is looked at.
///
/// # Errors
/// If the inputs are not as declared, or if the outputs are fewer or more than the plan's.
pub fn first_difference(
    program: &Program,
    lowered: &Lowered,
    inputs: &[Vec<u64>],
    outputs: &[Vec<u64>],
) -> Result<Option<Difference>, ValueError> {
    if outputs.len() != lowered.outputs.len() {
        return Err(ValueError::Outputs { given: outputs.len(), declared: lowered.outputs.len() });
    }
    let truth = reference::trace(program, inputs)?;
    let mut revealed: Vec<_> = lowered.outputs.iter().zip(outputs).collect();
    revealed.sort_by_key(|(ty, _)| ty.node);
    let wrong = revealed.into_iter().find_map(|(ty, words)| {
        let id = NodeId::new(ty.node);
        let expected = value::to_value(ty.kind, &ty.shape, truth.get(id.index())?);
        let computed = decode(ty, words);
        let node = program.node(id);
        (computed.as_ref() != Ok(&expected)).then(|| Difference {
            node: id,
            operation: node.operation.name(),
            at: program.source(id).clone(),
            expected,
            computed,
        })
    });
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Kind, Native, Range, Recipient};

    #[test]
    fn the_first_wrong_operation_is_named_with_its_line() {
        let mut build = Builder::new();
        let a = build.input("alice", "a", Kind::Int, &[2], Range::new(-9, 9)).unwrap();
        let two = build.public(Kind::Int, vec![], vec![2]).unwrap();
        build.at(Source { file: "p.py".into(), line: 3, text: "a + 2".into() });
        let sum = build.add(a, two).unwrap();
        build.at(Source { file: "p.py".into(), line: 4, text: "-(a + 2)".into() });
        let negative = build.neg(sum).unwrap();
        build.reveal(negative, Recipient::All).unwrap();
        let program = build.finish().unwrap();
        let lowered = crate::lower_for_debug(&program, Native::ALL).unwrap();
        let inputs = [vec![1, 2]];
        // The program's output, then the input, the sum, its negative.
        let word = |x: i64| x as u64;
        let right = [vec![word(-3), word(-4)], vec![1, 2], vec![3, 4], vec![word(-3), word(-4)]];
        assert_eq!(first_difference(&program, &lowered, &inputs, &right), Ok(None));
        let mut wrong = right.clone();
        (wrong[0][0], wrong[2][1], wrong[3][0]) = (5, 5, 5);
        let difference = first_difference(&program, &lowered, &inputs, &wrong).unwrap().unwrap();
        assert_eq!((difference.operation, difference.at.line), ("+", 3));
        assert!(difference.to_string().starts_with("p.py:3: a + 2\n"), "{difference}");
        let missing = first_difference(&program, &lowered, &inputs, &right[1..]);
        assert!(matches!(missing, Err(ValueError::Outputs { given: 3, declared: 4 })));
    }
}
