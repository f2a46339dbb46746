//! Programs on live preprocessing, among two parties, three and five: results, costs, and what is refused.

use tacit_engine::Protocol;
use tacit_gmw::GMW;
use tacit_program::{Builder, Dtype, Fault, Program, ProgramError, Range, Recipient, lower};
use tacit_testkit::conformance::{Subject, cost};
use tacit_testkit::{Case, Draws, Rng, generate};

fn subject(protocol: &'static dyn Protocol, parties: usize) -> Subject {
    Subject { broadcasts: true, ..Subject::new(protocol, parties) }
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

/// As many ANDs as take several batches of transfers, and for the last of them messages of corrections that are cut.
fn many_ands() -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let shape = [300_000];
    let a = build.input("P0", "a", Dtype::Bool, &shape, None)?;
    let b = build.input("P1", "b", Dtype::Bool, &shape, None)?;
    let both = build.and(a, b)?;
    build.reveal(both, Recipient::All)?;
    build.finish()
}

/// Runs a program, and compares what comes out with the clear result; how many outputs came out.
fn checked(protocol: &'static dyn Protocol, program: &Program, parties: usize) -> usize {
    let plan = lower(program, protocol.capabilities()).expect("the protocol has all of it").plan;
    let inputs = generate::inputs(&program.input_types(), &mut Rng::new(5));
    let case = Case::new(protocol, parties, plan, &inputs);
    let run = case.run_and_compare(&Draws::fixed(1));
    run.outcomes().iter().flat_map(|outcome| &outcome.outputs).flatten().count()
}

#[test]
fn a_program_end_to_end() {
    for parties in [2, 3, 5, 8] {
        let seen = checked(&GMW, &program().expect("it is well formed"), parties);
        assert_eq!(seen, parties + 4, "all three outputs, at whoever learns them");
    }
}

#[test]
fn costs_are_exact() {
    for parties in [2, 3, 4] {
        cost::check(
            &subject(&GMW, parties),
            &program().expect("it is well formed"),
            "a product, a comparison",
        );
        cost::check(&subject(&GMW, parties), &many_ands().expect("it is well formed"), "many ANDs");
    }
}

#[test]
fn trees_of_every_height_give_triples_at_their_price() {
    let program = program().expect("it is well formed");
    for height in GMW.parameters()[0].values {
        let protocol = GMW.with_parameter("ot-height", height).expect("there are trees of this height");
        assert_eq!(protocol.value("ot-height"), *height);
        let protocol: &'static dyn Protocol = &**Box::leak(Box::new(protocol));
        checked(protocol, &program, 2);
        cost::check(&subject(protocol, 3), &program, height);
    }
}

#[test]
fn a_product_of_too_many_ands_is_refused_with_their_number() {
    let product_of = |side: usize, squared: bool| -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let range = Range::new(0, (1 << 15) - 1);
        let a = build.input("P0", "a", Dtype::Int, &[side, side], range)?;
        let b = if squared { a } else { build.input("P1", "b", Dtype::Int, &[side, side], range)? };
        let product = build.matmul(a, b)?;
        build.reveal(product, Recipient::All)?;
        build.finish()
    };
    let product = |side| product_of(side, false);
    let ands = |side: u64| side.pow(3) * 15 * 15;
    let limit = GMW.capabilities.product_ands;
    let error =
        lower(&product(200).expect("it is well formed"), GMW.capabilities).expect_err("it is too dear");
    assert_eq!(*error.fault, Fault::TooManyAnds { operation: "@", ands: ands(200), limit });
    assert!(ands(160) < limit && ands(200) > limit);
    assert!(lower(&product(160).expect("it is well formed"), GMW.capabilities).is_ok());
    // A matrix by itself isn't squares of its elements: it has as many products.
    let error =
        lower(&product_of(200, true).expect("it is well formed"), GMW.capabilities).expect_err("as dear");
    assert_eq!(*error.fault, Fault::TooManyAnds { operation: "@", ands: ands(200), limit });
}
