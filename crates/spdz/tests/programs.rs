//! Programs on live preprocessing, among two parties, three and five: results, costs, and what is told to whom.

use tacit_engine::Protocol;
use tacit_program::{Builder, Dtype, Modulus, Program, ProgramError, Range, Recipient, lower};
use tacit_spdz::MASCOT;
use tacit_testkit::conformance::catalogue::{self, Numbers};
use tacit_testkit::conformance::{Subject, cost};
use tacit_testkit::{Case, Draws, Rng, generate};

fn subject(parties: usize) -> Subject {
    Subject { broadcasts: true, ..Subject::new(&MASCOT, parties) }
}

/// A product and a comparison of a party's numbers and a client's, for all, for a party and for a client.
fn program() -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let range = Range::new(-100, 90);
    let a = build.input("P0", "a", Dtype::Int, &[3], range)?;
    let b = build.input("alice", "b", Dtype::Int, &[3], range)?;
    let product = build.mul(a, b)?;
    let less = build.less(product, a)?;
    build.reveal(product, Recipient::All)?;
    build.reveal(less, Recipient::Role("P1".into()))?;
    build.reveal(less, Recipient::Role("bob".into()))?;
    build.finish()
}

/// Runs a program, and compares what comes out with the clear result; how many outputs came out.
fn checked(program: &Program, parties: usize) -> usize {
    let plan = lower(program, MASCOT.capabilities()).expect("the protocol has all of it").plan;
    let inputs = generate::inputs(&program.input_types(), &mut Rng::new(5));
    let case = Case::new(&MASCOT, parties, plan, &inputs);
    let run = case.run_and_compare(&Draws::fixed(1));
    run.outcomes().iter().flat_map(|outcome| &outcome.outputs).flatten().count()
}

#[test]
fn a_program_end_to_end() {
    for parties in [2, 3, 5] {
        let seen = checked(&program().expect("it is well formed"), parties);
        assert_eq!(seen, parties + 4, "all three outputs, at whoever learns them");
    }
}

/// As many as there may be: a product, and bits of both factors.
#[test]
fn sixteen_parties_end_to_end() {
    let program = || {
        let mut build = Builder::new();
        let [a, b] =
            ["P0", "P15"].map(|owner| build.input(owner, owner, Dtype::Int, &[2], Range::new(-9, 9)));
        let product = build.mul(a?, b?)?;
        build.reveal(product, Recipient::All)?;
        build.finish()
    };
    assert_eq!(checked(&program().expect("it is well formed"), *MASCOT.spec.parties.end()), 16);
}

#[test]
fn costs_are_exact() {
    let program = program().expect("it is well formed");
    for parties in [2, 3] {
        cost::check(&subject(parties), &program, "a product and a comparison");
    }
}

/// Fixed point whose exact products have 95 bits, beyond what a mask of 40 bits more hides, and a remainder.
#[test]
fn products_without_slack() -> Result<(), ProgramError> {
    let mut build = Builder::new();
    let kind = Dtype::Fixed { frac: 32 };
    let a = build.input("P0", "a", kind, &[1], Range::new(-1 << 47, (1 << 47) - 1))?;
    let b = build.input("P1", "b", kind, &[1], Range::new(0, 1 << 47))?;
    let product = build.mul(a, b)?;
    build.reveal(product, Recipient::All)?;
    let program = build.finish()?;
    for parties in [2, 3] {
        assert_eq!(checked(&program, parties), parties);
        cost::check(&subject(parties), &program, "a product without slack");
    }
    Ok(())
}

/// Quotients by secrets and a root, whose circuits are products of bits that openings give.
#[test]
fn functions_of_secrets() -> Result<(), ProgramError> {
    let mut build = Builder::new();
    let kind = Dtype::Fixed { frac: 2 };
    let a = build.input("P0", "a", kind, &[2], Range::new(-20, 20))?;
    let b = build.input("alice", "b", kind, &[1], Range::new(-5, 5))?;
    let n = build.input("P1", "n", Dtype::Int, &[2], Range::new(1, 6))?;
    let m = build.input("P0", "m", Dtype::Int, &[2], Range::new(-9, 20))?;
    let made = [build.ratio(a, b)?, build.sqrt(a)?, build.quotient(m, n)?, build.remainder(m, n)?];
    for result in made {
        build.reveal(result, Recipient::All)?;
    }
    let program = build.finish()?;
    assert_eq!(checked(&program, 2), 4 * 3, "all four results at both parties and the client");
    cost::check(&subject(3), &program, "functions of secrets");
    Ok(())
}

/// Results and costs of an operation of the suite's catalogue on three elements: a comparison of more takes gigabytes of
/// messages, which a world keeps.
fn operation(name: &str, numbers: Numbers, parties: usize) {
    let to = [Recipient::All, Recipient::Role("carol".into())];
    let Ok(program) = catalogue::program(name, numbers, 3, ["P0", "alice"], &to) else { return };
    if lower(&program, MASCOT.capabilities()).is_ok() {
        checked(&program, parties);
        cost::check(&subject(parties), &program, name);
    }
}

/// The model tenants have them all, in all sizes.
#[test]
fn operations() {
    for name in ["matmul", "equal", "select", "divide"] {
        operation(name, Numbers::int(7), 2);
    }
    operation("mul", Numbers::modular(Modulus::Prime128), 3);
    operation("truncate", Numbers::fixed(16, 5), 2);
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn all_operations() {
    for name in catalogue::names() {
        for numbers in [Numbers::int(16), Numbers::fixed(31, 8), Numbers::modular(Modulus::Prime128)] {
            operation(name, numbers, 2);
            operation(name, numbers, 3);
        }
    }
}
