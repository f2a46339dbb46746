//! Results are those of the clear reference: at everybody who learns them, and at nobody else.

use std::ops::Range;

use tacit_engine::Outcome;
use tacit_program::{Modulus, OutputType, Program, Recipient, Value, ValueError, decode, reference};

use super::Subject;
use super::catalogue::{self, Numbers};
use crate::links::{Medium, links};
use crate::{Case, Draws, Rng, generate, outcomes};

/// Lengths around words, blocks of randomness and pieces of messages.
const LENGTHS: [usize; 7] = [1, 63, 64, 65, 511, 512, 513];

/// One operation of the catalogue, on all numbers that it is defined for and on all lengths, and with inputs
/// from and outputs to parties and clients.
///
/// # Panics
/// At the first difference.
pub fn operation(subject: &Subject, name: &str) {
    let (mut rng, mut cut) = (Rng::new(1), subject.cut());
    let last = &subject.last();
    for numbers in Numbers::all() {
        // Every length with some numbers, every number with some lengths.
        for len in [subject.length(&mut rng, &LENGTHS), subject.length(&mut rng, &LENGTHS), 3] {
            let owners = [rng.pick(&["P0", "P1", last, "alice"]), rng.pick(&["P1", "alice", "bob"])];
            let to = [Recipient::All, Recipient::Role(rng.pick(&["P0", "P1", last, "bob", "carol"]).into())];
            if let Some(program) = subject.sample(name, numbers, len, owners, &to)
                && cut.takes()
            {
                check(
                    subject,
                    &program,
                    &mut rng,
                    &format!("{name} of {len} {numbers:?}, {owners:?} {to:?}"),
                );
            }
        }
    }
}

/// Random programs with these seeds.
///
/// # Panics
/// At the first difference.
pub fn random_programs(subject: &Subject, seeds: Range<u64>) {
    let mut cut = subject.cut();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let len = subject.length(&mut rng, &LENGTHS);
        let program = generate::program(&mut rng, subject.parties, 14, len);
        if subject.offers(&program) && cut.takes() {
            check(subject, &program, &mut rng, &format!("random program {seed}"));
        }
    }
}

/// Operations whose messages are just full, just not, and just over.
///
/// # Panics
/// At the first difference.
pub fn around_a_message(subject: &Subject) {
    let words = tacit_engine::columns_per_message(64);
    let rows = tacit_engine::columns_per_message(63);
    let bits = tacit_engine::columns_per_message(1);
    let (mut rng, mut cut) = (Rng::new(2), subject.cut());
    for (name, numbers, full) in [
        ("input", Numbers::int(64), words),
        ("mul", Numbers::int(32), words),
        ("less", Numbers::int(63), rows),
        ("truncate", Numbers::int(62), words / 2),
        ("from_bool", Numbers::wrapping(tacit_program::plan::Width::W64), words),
        ("and", Numbers::int(8), bits),
        ("mul", Numbers::modular(Modulus::PowerOfTwo(9)), tacit_engine::columns_per_message(9)),
        ("mul", Numbers::modular(Modulus::Mersenne61), tacit_engine::columns_per_message(61)),
        ("input", Numbers::modular(Modulus::Prime128), tacit_engine::columns_per_message(128)),
    ] {
        for len in [full - 1, full, full + 1].into_iter().filter(|len| *len <= subject.longest) {
            let to = [Recipient::All, Recipient::Role("alice".into())];
            let program = catalogue::program(name, numbers, len, [&subject.last(), "alice"], &to);
            let program = program.expect("the operation is defined for these numbers");
            if subject.offers(&program) && cut.takes() {
                check(subject, &program, &mut rng, &format!("{name} of {len} {numbers:?}"));
            }
        }
    }
}

/// A program on random inputs: protocol, clear engine and reference agree.
///
/// # Panics
/// If they don't.
pub fn check(subject: &Subject, program: &Program, rng: &mut Rng, what: &str) {
    let (case, declared, expected) = case(subject, program, rng);
    let run = case.run(&Draws::fixed(rng.word()));
    compare(&case, &declared, &run.outcomes(), &expected, what);
    let clear = case.run_in_the_clear().expect("nothing can go wrong in the clear");
    for (index, expected) in expected.into_iter().enumerate() {
        let got = decoded(&case, &declared[index], &clear, index);
        assert_eq!(got, Some(Ok(expected)), "{what}, in the clear");
    }
}

/// A program over real links.
///
/// # Panics
/// If results differ from the reference's.
pub fn check_over(subject: &Subject, program: &Program, rng: &mut Rng, medium: Medium, what: &str) {
    let (case, declared, expected) = case(subject, program, rng);
    let endings = case.run_over(links(medium, &case), &Draws::fixed(rng.word()));
    compare(&case, &declared, &outcomes(endings.iter().flatten()), &expected, what);
}

/// A case of random inputs, and the types and values of its outputs.
fn case(subject: &Subject, program: &Program, rng: &mut Rng) -> (Case, Vec<OutputType>, Vec<Value>) {
    let inputs = generate::inputs(&program.input_types(), rng);
    let expected = reference::run(program, &inputs).expect("inputs are in their ranges");
    let lowered = subject.lowered(program);
    (subject.case(lowered.plan, &inputs), lowered.outputs, expected)
}

pub(super) fn compare(
    case: &Case,
    declared: &[OutputType],
    outcomes: &[&Outcome],
    expected: &[Value],
    what: &str,
) {
    for (endpoint, outcome) in outcomes.iter().enumerate() {
        let name = case.name(endpoint);
        for (index, declared) in declared.iter().enumerate() {
            let got = decoded(case, declared, outcome, index);
            let learns = case.roles().learns(endpoint, case.plan.outputs[index].to);
            let expected = learns.then(|| Ok(expected[index].clone()));
            assert_eq!(got, expected, "{what}: output {index} at {name}");
        }
    }
}

/// An endpoint's output, if it has it.
fn decoded(
    case: &Case,
    declared: &OutputType,
    outcome: &Outcome,
    index: usize,
) -> Option<Result<Value, ValueError>> {
    let words = outcome.outputs[index].as_ref()?.to_elements(case.plan.outputs[index].form);
    Some(decode(declared, &words))
}
