//! The clear-text shadow of a debug run: which operation is the first whose result isn't what it means.
//!
//! The shadow is arithmetic of exact fractions. It takes a node's operands as numbers, whatever their raw values. What
//! the operation means is then a fraction, and the result must be that fraction, rounded as the operation documents and
//! not by a step more. So the shadow finds a factor that a front end or a plan wrote with too few bits, even if both of
//! them agree on it.

mod meaning;

use std::fmt;

use crate::error::Source;
use crate::lower::Lowered;
use crate::node::NodeId;
use crate::program::Program;
use crate::reference;
use crate::value::{self, Value, ValueError, decode_raw};

/// A node whose revealed value is not what it means, rounded as documented.
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

/// Compares the outputs of a run of a plan with what the program means on the same inputs, and gives the first node, in the
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
    let truth = reference::trace_by(meaning::apply, program, inputs)?;
    let mut revealed: Vec<_> = lowered.outputs.iter().zip(outputs).collect();
    revealed.sort_by_key(|(ty, _)| ty.node);
    let wrong = revealed.into_iter().find_map(|(ty, words)| {
        let id = NodeId::new(ty.node);
        let expected = truth.get(id.index())?;
        // As raw elements: floats can be the same where these differ.
        let computed = decode_raw(ty, words);
        let clear = |raw: &[i128]| value::to_value(ty.kind, &ty.shape, raw);
        (computed.as_ref() != Ok(expected)).then(|| Difference {
            node: id,
            operation: program.node(id).operation.name(),
            at: program.source(id).clone(),
            expected: clear(expected),
            computed: computed.map(|raw| clear(&raw)),
        })
    });
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, Clear};
    use crate::{Builder, Capabilities, Data, Dtype, Range, Recipient, Value, lower_for_debug};
    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    fn seeded(seed: u64) -> TestRng {
        let mut bytes = [11; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        /// The reference, which knows raw values alone, against fractions, which know numbers alone.
        #[test]
        fn the_reference_rounds_what_programs_mean(seed: u64, steps in 1usize..14) {
            let mut rng = seeded(seed);
            let program = testing::program(&mut rng, steps);
            let inputs = testing::inputs(&program.input_types(), &mut rng);
            let meant = reference::trace_by(meaning::apply, &program, &inputs).unwrap();
            prop_assert_eq!(reference::trace(&program, &inputs).unwrap(), meant);
        }
    }

    /// What programs became before factors were kept as they are: the plan agrees with the program that it was made
    /// of, and not with what was meant.
    #[test]
    fn a_factor_of_too_few_bits_is_seen() {
        let end = 1_i128 << 61;
        let scaled = |by: f64| {
            let mut build = Builder::new();
            let x = build.input("alice", "x", Dtype::Fixed { frac: 16 }, &[2], Range::new(0, end)).unwrap();
            build.at(Source { file: "p.py".into(), line: 3, text: "x * 0.1".into() });
            let by = Value { shape: vec![], data: Data::Float(vec![by]) };
            let product = build.scale(x, &by).unwrap();
            build.reveal(product, Recipient::All).unwrap();
            build.finish().unwrap()
        };
        let (meant, made) = (scaled(0.1), scaled((0.1_f64 * 65536.0).round() / 65536.0));
        for inputs in [[vec![1_000_000 << 16, 7]], [vec![end as u64, 0]]] {
            let lowered = lower_for_debug(&made, Capabilities::TWO_COMPONENTS).unwrap();
            let outputs = Clear::run(&lowered.plan, &inputs, seeded(1));
            assert_eq!(first_difference(&made, &lowered, &inputs, &outputs), Ok(None));
            let difference = first_difference(&meant, &lowered, &inputs, &outputs).unwrap().unwrap();
            assert_eq!((difference.operation, difference.at.line), ("*", 3));
        }
    }

    /// Of numbers that floats can't hold.
    #[test]
    fn a_step_in_61_bits_is_seen() {
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Fixed { frac: 16 }, &[], Range::new(0, 1 << 61)).unwrap();
        let doubled = build.add(x, x).unwrap();
        build.reveal(doubled, Recipient::All).unwrap();
        let program = build.finish().unwrap();
        let lowered = lower_for_debug(&program, Capabilities::TWO_COMPONENTS).unwrap();
        let (right, wrong) = ((1 << 61) - 2, (1 << 61) - 1);
        let outputs = |result| [vec![result], vec![right / 2], vec![result]];
        let difference = |result| first_difference(&program, &lowered, &[vec![right / 2]], &outputs(result));
        assert_eq!(difference(right), Ok(None));
        assert_eq!(difference(wrong).unwrap().unwrap().operation, "+");
    }

    #[test]
    fn the_first_wrong_operation_is_named_with_its_line() {
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Int, &[2], Range::new(-9, 9)).unwrap();
        let two = build.public(Dtype::Int, vec![], vec![2]).unwrap();
        build.at(Source { file: "p.py".into(), line: 3, text: "a + 2".into() });
        let sum = build.add(a, two).unwrap();
        build.at(Source { file: "p.py".into(), line: 4, text: "-(a + 2)".into() });
        let negative = build.neg(sum).unwrap();
        build.reveal(negative, Recipient::All).unwrap();
        let program = build.finish().unwrap();
        let lowered = crate::lower_for_debug(&program, Capabilities::TWO_COMPONENTS).unwrap();
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
