//! What is on the links: addresses, lengths, and bytes that only change on purpose.

use std::collections::HashSet;
use std::fmt::Write;

use tacit_program::{Feature, Program, Recipient};

use super::Subject;
use super::catalogue::{self, Numbers};
use crate::{Case, Draws, Rng, generate};

/// The environment variable that has a baseline written anew, if it is `write`.
const VARIABLE: &str = "TACIT_BASELINE";

/// No two messages on a link have one address. (That no draw has, is for streams to see: builds with debug
/// assertions stop at a repetition.)
///
/// # Panics
/// If two have.
pub fn addresses_never_repeat(subject: &Subject) {
    for (what, program) in programs(subject) {
        let run = case(subject, &program, 1).run(&Draws::fixed(1));
        run.outcomes();
        let mut seen = HashSet::new();
        for delivery in run.trace.deliveries() {
            let address = (delivery.from, delivery.to, delivery.at);
            assert!(seen.insert(address), "{what}: two messages are {address:?}");
        }
    }
}

/// Messages are of the same number, order and lengths whatever the inputs are.
///
/// # Panics
/// If they differ.
pub fn lengths_do_not_depend_on_secrets(subject: &Subject) {
    for (what, program) in programs(subject) {
        let skeleton =
            |inputs: u64| case(subject, &program, inputs).run(&Draws::fixed(inputs)).trace.skeleton();
        assert_eq!(skeleton(1), skeleton(2), "{what}");
    }
}

/// Seeded runs send byte for byte what they sent when the baseline was kept. With `TACIT_BASELINE=write` in the
/// environment the file is written anew, for a change of what is sent that is meant.
///
/// # Panics
/// If a byte differs, or the file can't be read or written.
pub fn baseline(subject: &Subject) {
    let mut now =
        String::from("# from to sha256-of-messages, by program; see tacit_testkit::conformance::wire\n");
    for (name, numbers) in [
        ("select", Numbers::int(16)),
        ("truncate_far", Numbers::fixed(48, 16)),
        ("argmax", Numbers::int(7)),
        ("matmul", Numbers::int(31)),
        ("equal", Numbers::int(62)),
        ("branch", Numbers::int(7)),
    ] {
        // Elsewhere a branch is operations like any others.
        if name == "branch" && !subject.protocol.capabilities().offers(Feature::Branches) {
            continue;
        }
        let program = sample(name, numbers, 65.min(subject.longest));
        let run = case(subject, &program, 1).run(&Draws::fixed(1));
        run.outcomes();
        // Writing into a string can't fail.
        let _ = write!(now, "\n{name}\n{}", run.trace.hashes());
    }
    let path = subject.baseline.display();
    if std::env::var(VARIABLE).is_ok_and(|value| value == "write") {
        std::fs::write(&subject.baseline, &now).unwrap_or_else(|error| panic!("can't write {path}: {error}"));
    }
    let kept = std::fs::read_to_string(&subject.baseline)
        .unwrap_or_else(|error| panic!("can't read {path}: {error}; {VARIABLE}=write makes it"));
    assert_eq!(kept, now, "other bytes than {path} says; if that is meant, run with {VARIABLE}=write");
}

/// One of every operation, some of more than one message a stage, and some of many operations.
fn programs(subject: &Subject) -> Vec<(String, Program)> {
    let mut programs = Vec::new();
    for name in catalogue::names() {
        programs.push((name.to_owned(), sample(name, Numbers::int(7), 65.min(subject.longest))));
    }
    for name in ["mul", "less", "truncate", "from_bool"] {
        let len = tacit_engine::columns_per_message(31) + 1;
        if len > subject.longest {
            continue;
        }
        programs.push((format!("{name} in pieces"), sample(name, Numbers::int(31), len)));
    }
    for seed in 0..20 {
        programs.push((
            format!("random program {seed}"),
            generate::program(&mut Rng::new(seed), subject.parties, 14, 9),
        ));
    }
    let mut cut = subject.cut();
    programs.retain(|(_, program)| subject.offers(program) && cut.takes());
    programs
}

fn sample(name: &str, numbers: Numbers, len: usize) -> Program {
    let to = [Recipient::All, Recipient::Role("bob".into())];
    catalogue::program(name, numbers, len, ["P1", "alice"], &to).expect("defined for these numbers")
}

fn case(subject: &Subject, program: &Program, seed: u64) -> Case {
    let inputs = generate::inputs(&program.input_types(), &mut Rng::new(seed));
    let lowered = subject.lowered(program);
    subject.case(lowered.plan, &inputs)
}
