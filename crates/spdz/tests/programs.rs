//! Programs on live preprocessing, among two parties, three and five: results, costs, and what is told to whom.

use tacit_engine::Protocol;
use tacit_program::{Builder, Dtype, Program, ProgramError, Range, Recipient, lower};
use tacit_spdz::MASCOT;
use tacit_testkit::conformance::{Subject, catalogue, cost, equality, lanes, links, wire};
use tacit_testkit::links::Medium;
use tacit_testkit::{Case, Draws, Rng, generate};

fn subject(parties: usize, one_in: usize) -> Subject {
    Subject {
        protocol: &MASCOT,
        parties,
        told: |_, _, _| false,
        fresh_masks: false,
        baseline: "nowhere".into(),
        broadcasts: true,
        sorts: &[],
        one_in,
    }
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

#[test]
fn a_program_end_to_end() {
    for parties in [2, 3, 5] {
        let program = program().expect("it is well formed");
        let plan = lower(&program, MASCOT.capabilities()).expect("the protocol has all of it").plan;
        let inputs = generate::inputs(&program.input_types(), &mut Rng::new(5));
        let case = Case::new(&MASCOT, parties, plan, &inputs);
        let expected = case.run_in_the_clear().expect("nothing can go wrong in the clear").outputs;
        let run = case.run(&Draws::fixed(1));
        let mut seen = 0;
        for outcome in run.outcomes() {
            for (got, want) in outcome.outputs.iter().zip(&expected).filter(|(got, _)| got.is_some()) {
                assert_eq!(got, want, "{parties} parties");
                seen += 1;
            }
        }
        assert_eq!(seen, parties + 4, "all three outputs, at whoever learns them");
    }
}

#[test]
fn costs_are_exact() {
    let program = program().expect("it is well formed");
    for parties in [2, 3] {
        cost::check(&subject(parties, 1), &program, "a product and a comparison");
    }
}

/// One case each: the model tenants have them in all sizes.
#[test]
fn operations() {
    for name in
        ["input", "mul", "dot", "matmul", "less", "equal", "select", "max", "truncate", "divide", "repeat"]
    {
        equality::operation(&subject(2, 1000), name);
    }
}

#[test]
fn addresses_never_repeat() {
    wire::addresses_never_repeat(&subject(2, 40));
}

#[test]
fn lengths_and_order_do_not_depend_on_secrets() {
    wire::lengths_do_not_depend_on_secrets(&subject(2, 40));
}

#[test]
fn lanes_share_nothing() {
    lanes::results_and_addresses(&subject(2, 40));
}

#[test]
fn death() {
    links::death(&subject(2, 40), Medium::Tcp);
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn all_operations() {
    for (parties, one_in) in [(2, 20), (3, 60)] {
        for name in catalogue::names() {
            equality::operation(&subject(parties, one_in), name);
            cost::operation(&subject(parties, one_in), name);
        }
        equality::random_programs(&subject(parties, one_in), 0..400);
        cost::random_programs(&subject(parties, one_in), 0..400);
    }
}
