//! `astra-fair`: right, as dear as it says, and fair.

use tacit_astra::AstraFair;
use tacit_engine::Protocol;
use tacit_program::{Builder, Kind, Program, Range, Recipient};
use tacit_testkit::conformance::{Subject, cost, fairness};
use tacit_testkit::links::{Medium, links};
use tacit_testkit::{Case, Draws};

const SUBJECT: fn() -> Subject = || Subject {
    protocol: &AstraFair::IN_ORDER,
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: "none".into(),
};

/// Products of numbers, for each of the parties and one for one of them, or another; the second operand's owner is given.
fn program(len: usize, owner: &str, one: &str) -> Program {
    let mut build = Builder::new();
    let range = Range::new(-50, 50);
    let mut input = |owner: &str| build.input(owner, owner, Kind::Int, &[len], range).unwrap();
    let [a, b, c] = ["P0", owner, "P2"].map(&mut input);
    let product = build.mul(a, b).unwrap();
    let less = build.less(product, c).unwrap();
    for party in ["P0", "P1", "P2"] {
        build.reveal(product, Recipient::Role(party.into())).unwrap();
    }
    build.reveal(less, Recipient::Role(one.into())).unwrap();
    build.reveal(a, Recipient::Role("P2".into())).unwrap();
    build.finish().unwrap()
}

fn lowered(protocol: &'static dyn Protocol, program: &Program) -> Case {
    let len = program.input_types()[0].shape[0] as u64;
    let inputs: Vec<Vec<u64>> = (1..4).map(|owner| (0..len).map(|at| owner * at % 50).collect()).collect();
    let plan = tacit_program::lower(program, protocol.native()).unwrap().plan;
    Case::new(protocol, plan, &inputs)
}

#[test]
fn outputs_are_right_whoever_sits_where() {
    for (roles, comparison) in [
        ("012", "prefix"),
        ("021", "garbled"),
        ("102", "prefix"),
        ("120", "prefix"),
        ("201", "garbled"),
        ("210", "prefix"),
    ] {
        let protocol =
            AstraFair::IN_ORDER.with("roles", roles).unwrap().with("comparison", comparison).unwrap();
        for len in [1, 64, 65, 20_000] {
            let case = lowered(protocol, &program(len, "alice", "P1"));
            let expected = case.run_in_the_clear().unwrap();
            let run = case.run(&Draws::fixed(1));
            for (party, outcome) in run.outcomes()[..3].iter().enumerate() {
                for (got, want) in outcome.outputs.iter().zip(&expected.outputs) {
                    assert!(got.is_none() || got == want, "{roles}, {len}, P{party}");
                }
                let learned = [party == 0, party == 1, party == 2, party == 1, party == 2];
                assert!(outcome.outputs.iter().map(Option::is_some).eq(learned), "{roles}, {len}, P{party}");
            }
        }
    }
}

#[test]
fn costs_are_exact() {
    for len in [1, 7, 65, 513] {
        for (owner, one) in [("P1", "P0"), ("alice", "P1"), ("P1", "P2")] {
            for protocol in [&AstraFair::IN_ORDER, &AstraFair::GARBLED] {
                let subject = Subject { protocol, ..SUBJECT() };
                cost::check(&subject, &program(len, owner, one), &format!("{len}, {one}, {protocol:?}"));
            }
        }
    }
}

#[test]
fn over_links() {
    for medium in [Medium::Memory, Medium::Tcp, Medium::Tls] {
        let case = lowered(&AstraFair::IN_ORDER, &program(65, "P1", "P1"));
        let endings = case.run_over(links(medium, &case), &Draws::fixed(1));
        assert!(endings.iter().flatten().all(|ending| ending.result.is_ok()), "{medium:?}: {endings:?}");
    }
}

#[test]
fn clients_are_refused_outputs() {
    let case = lowered(&AstraFair::IN_ORDER, &program(3, "P1", "bob"));
    for ending in case.run(&Draws::fixed(1)).endings.iter().flatten() {
        assert!(ending.result.as_ref().unwrap_err().to_string().contains("alone"), "{ending:?}");
    }
}

#[test]
fn one_that_deviates() {
    let tally = fairness::random(&SUBJECT(), 0..400);
    assert_eq!(tally.unfair, 0);
    assert!(tally.all > 50 && tally.nobody > 50, "{tally:?}");
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_that_deviate() {
    assert_eq!(fairness::random(&SUBJECT(), 400..2000).unfair, 0);
}
