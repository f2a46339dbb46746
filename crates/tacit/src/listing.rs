//! A program's operations as lines of text, for whoever looks into a plan before it is run.

use crate::agreed;
use crate::compiled::Compiled;
use std::fmt::{self, Write};
use tacit_program::{Node, NodeId, Operation, Program};

/// As many characters of an operation's parameters are shown.
const SHOWN: usize = 100;

/// As many numbers of a constant.
const NUMBERS: usize = 4;

impl Compiled {
    /// A line for each operation, in order: what it makes of which others, and the user's line. It has the names and
    /// sources of the program, which may hold anything.
    pub fn operations_in_words(&self) -> Vec<String> {
        operations(self.program())
    }

    /// What [`Self::operations_in_words`] calls each input, and then what all parties know.
    pub fn given_numbers(&self) -> Vec<String> {
        given(self.program())
    }
}

/// A line for each node but those that a run is given: its number, what it does with which other ones, what it is, and the line of
/// the user's program. Names and sources are as they stand in the program: whoever writes them to a terminal escapes them.
fn operations(program: &Program) -> Vec<String> {
    let made = program.nodes().iter().enumerate();
    let is_given = |node: &Node| matches!(node.operation, Operation::Input { .. } | Operation::Known { .. });
    let made = made.filter(|(_, node)| !is_given(node));
    made.map(|(number, node)| {
        let operands: Vec<String> = node.operands.iter().map(|id| format!("%{}", id.number())).collect();
        let (ty, range) = (&node.ty, agreed::range(node.ty.kind, node.ty.range));
        let what = [in_words(&node.operation), operands.join(", ")].join(" ");
        let source = program.source(NodeId::new(number as u32));
        let line = format!("%{number} = {}: {ty}{range}  # {source}", what.trim_end());
        // Made without a program's text it has no line.
        line.strip_suffix("  # ").unwrap_or(&line).to_owned()
    })
    .collect()
}

/// The operations that a run is given, to be named beside the others: inputs, and then what all parties know.
fn given(program: &Program) -> Vec<String> {
    let known = program.nodes().iter().zip(0..);
    let known = known.filter(|(node, _)| matches!(node.operation, Operation::Known { .. }));
    let inputs = program.inputs().iter().map(|id| id.number());
    inputs.chain(known.map(|(_, number)| number)).map(|number| format!("%{number}")).collect()
}

/// What an operation is called, and its parameters.
fn in_words(operation: &Operation) -> String {
    if let Operation::Constant(values) = operation {
        let more = if values.len() > NUMBERS { ", ..." } else { "" };
        let first: Vec<String> = values.iter().take(NUMBERS).map(ToString::to_string).collect();
        return format!("constant [{}{more}]", first.join(", "));
    }
    let mut cut = Cut(String::new());
    // An error is the end of what is shown.
    let whole = write!(cut, "{operation:?}").is_ok();
    let text = cut.0;
    let end = text.find([' ', '(']).unwrap_or(text.len());
    // The parts of a loop have one name in Python.
    let name = match operation.name() {
        "repeat" => text[..end].to_lowercase(),
        name => name.to_owned(),
    };
    format!("{name}{}{}", &text[end..], if whole { "" } else { "..." })
}

/// Takes no more than is shown: tables and circuits are long.
struct Cut(String);

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.0.len() >= SHOWN {
                return Err(fmt::Error);
            }
            self.0.push(character);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::{Builder, Data, Dtype, Range, Recipient, Source, Value};

    #[test]
    fn a_line_says_what_is_made_of_what() {
        let mut builder = Builder::new();
        let at = |line, text: &str| Source { file: "survey.py".into(), line, text: text.into() };
        builder.at(at(1, "f"));
        let fixed = Dtype::Fixed { frac: 3 };
        let a = builder.input("alice", "a", fixed, &[9], Range::new(-4, 8)).unwrap();
        builder.at(at(2, "a + [...]"));
        let numbers = Value { shape: vec![9], data: Data::Int((0..9).collect()) };
        let numbers = builder.constant(&numbers, fixed).unwrap();
        let sum = builder.add(a, numbers).unwrap();
        builder.at(at(3, "x.sum()"));
        let sum = builder.sum(sum, None, false).unwrap();
        let mean = builder.divide(sum, &Value { shape: vec![], data: Data::Float(vec![4.5]) }).unwrap();
        builder.reveal(mean, Recipient::All).unwrap();
        let program = builder.finish().unwrap();
        assert_eq!(given(&program), ["%0"]);
        let lines = operations(&program);
        assert_eq!(
            lines[0],
            "%1 = constant [0, 8, 16, 24, ...]: fixed(3) (9,), 0 to 8  # survey.py:2: a + [...]"
        );
        assert_eq!(lines[1], "%2 = + %0, %1: fixed(3) (9,), -0.5 to 9  # survey.py:2: a + [...]");
        assert_eq!(
            lines[2],
            "%3 = sum { axes: [0], keepdims: false } %2: fixed(3) (), -4.5 to 81  # survey.py:3: x.sum()"
        );
        assert!(
            lines[3].starts_with(
                "%4 = / { divisors: Reals { shape: [], numbers: [4.5] }, rounding: Nearest } %3"
            )
        );
    }
}
