//! What endpoints tell one another of the program that they are about to run: enough for each to say where the others
//! differ, in its own author's words. The hash decides; all of this only explains it.

use crate::compiled::Compiled;
use std::path::Path;
use tacit_program::plan::To;
use tacit_program::{Dtype, InputType, Range, Source};
use tacit_session::ProgramStep;

/// As many inputs, and as many outputs, are told to others.
pub(crate) const DESCRIBED: usize = 1000;

/// As many steps of a program: 64 KiB.
const STEPS: usize = 1 << 14;

impl Compiled {
    /// The steps in words. They are hashed once: a circuit is as long as a run on few values.
    pub(crate) fn steps(&self) -> &[ProgramStep] {
        self.steps.get_or_init(|| steps(self))
    }

    /// A line for each input: name, owner, type, shape and range.
    pub fn inputs_in_words(&self) -> Vec<String> {
        inputs(self)
    }

    /// A line for each output: type, shape and who learns it.
    pub fn outputs_in_words(&self) -> Vec<String> {
        outputs(self)
    }
}

/// The inputs in words: names, owners, types, shapes and ranges.
pub(crate) fn inputs(compiled: &Compiled) -> Vec<String> {
    let own = compiled.inputs().len();
    let words = |(at, input): (usize, InputType)| {
        let owner = if at < own { &input.owner } else { "all parties" };
        format!(
            "{} of {owner}: {} {:?}{}",
            input.name,
            input.kind,
            input.shape,
            range(input.kind, input.range)
        )
    };
    compiled.given().into_iter().enumerate().map(words).collect()
}

/// The outputs in words, with who learns them.
pub(crate) fn outputs(compiled: &Compiled) -> Vec<String> {
    let roles = &compiled.plan().roles;
    let outputs = compiled.outputs().iter().enumerate();
    outputs
        .map(|(number, output)| {
            let to = match output.to {
                To::All => "all",
                To::One(role) => roles.get(role as usize).map_or("nobody", String::as_str),
            };
            format!("output {number}: {} {:?} to {to}", output.kind, output.shape)
        })
        .collect()
}

/// The steps, with their lines.
fn steps(compiled: &Compiled) -> Vec<ProgramStep> {
    let outline = compiled.program().outline().take(STEPS);
    let step = |(digest, source): ([u8; 4], &Source)| {
        // Others are told no folders.
        let file = Path::new(&source.file).file_name().map(|file| file.to_string_lossy().into_owned());
        let place =
            file.map_or_else(String::new, |file| format!("{file}, ")) + &format!("line {}", source.line);
        ProgramStep { digest, line: source.to_string(), place }
    };
    outline.map(step).collect()
}

/// A range in words, of dtypes that have one to declare.
pub(crate) fn range(kind: Dtype, range: Range) -> String {
    let frac = match kind {
        Dtype::Bool | Dtype::Modular(_) => return String::new(),
        Dtype::Int => 0,
        Dtype::Fixed { frac } => frac,
    };
    // Ends of ranges have far fewer bits than a float where they have a fraction.
    let real = |raw: i128| {
        if frac == 0 { raw.to_string() } else { (raw as f64 / 2_f64.powi(frac.into())).to_string() }
    };
    format!(", {} to {}", real(range.lo()), real(range.hi()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tacit_program::{Builder, Data, Recipient, Value};

    /// Of alice's `a` in a range and bob's `b`, whether `a < b * by`, or `b * by < a`.
    fn program(high: i128, by: f64, turned: bool) -> Arc<Compiled> {
        let mut builder = Builder::new();
        let at = |builder: &mut Builder, line: u32| {
            let text = format!("text {line}");
            builder.at(Source { file: "/home/alice/survey.py".into(), line, text });
        };
        at(&mut builder, 1);
        let fixed = Dtype::Fixed { frac: 3 };
        let a = builder.input("alice", "a", Dtype::Int, &[2], Range::new(0, high)).unwrap();
        let b = builder.input("bob", "b", fixed, &[2], Range::new(-4, 8)).unwrap();
        at(&mut builder, 2);
        let constant = Value { shape: vec![], data: Data::Float(vec![by]) };
        let constant = builder.constant(&constant, fixed).unwrap();
        let product = builder.mul(b, constant).unwrap();
        at(&mut builder, 3);
        let less = if turned { builder.less(product, a) } else { builder.less(a, product) }.unwrap();
        at(&mut builder, 4);
        builder.reveal(less, Recipient::Role("bob".into())).unwrap();
        Compiled::new(builder.finish().unwrap()).unwrap()
    }

    #[test]
    fn differences_are_at_the_lines_that_differ() {
        let ours = program(9, 1.0, false);
        assert_eq!(inputs(&ours), ["a of alice: int [2], 0 to 9", "b of bob: fixed(3) [2], -0.5 to 1"]);
        assert_eq!(outputs(&ours), ["output 0: bool [2] to bob"]);
        let first = |theirs: &Arc<Compiled>| {
            let (ours, theirs) = (steps(&ours), steps(theirs));
            ours.into_iter()
                .zip(theirs)
                .find(|(ours, theirs)| ours.digest != theirs.digest)
                .map(|(ours, _)| ours)
        };
        assert!(first(&ours).is_none());
        for (theirs, line) in
            [(program(8, 1.0, false), 1), (program(9, 2.0, false), 2), (program(9, 1.0, true), 3)]
        {
            let step = first(&theirs).unwrap();
            assert_eq!(step.line, format!("/home/alice/survey.py:{line}: text {line}"));
            assert_eq!(step.place, format!("survey.py, line {line}"));
        }
    }
}
