//! What a client receives of an output tells it the output and nothing else.
//!
//! A party's input has a component that is zero, and a product's components depend on its factors: the three
//! components of a result can tell more than their sum. So what the client gets has to be a fresh sharing: any two
//! of the three messages uniform, and the third what they leave of the output.

use std::sync::Arc;

use tacit_program::plan::{Domain, Width};
use tacit_program::{Builder, Capabilities, Dtype, NodeId, Program, Range, Recipient, lower};
use tacit_replicated::step;
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::conformance::views::hidden;
use tacit_testkit::sample::{BitRow, Sample};
use tacit_testkit::{Case, Draws, Run};

/// The client who learns; it comes after three parties and alice.
const CAROL: usize = 4;

/// An output for carol alone, of inputs of a party and of alice.
fn program(build: impl Fn(&mut Builder, NodeId, NodeId) -> NodeId) -> Program {
    let mut builder = Builder::new();
    let a = builder.input("P1", "a", Dtype::Int, &[2], Range::new(-8, 7)).unwrap();
    let b = builder.input("alice", "b", Dtype::Int, &[2], Range::new(-8, 7)).unwrap();
    let result = build(&mut builder, a, b);
    builder.reveal(result, Recipient::Role("carol".into())).unwrap();
    builder.finish().unwrap()
}

/// What each party sends carol for the output.
fn messages(run: &Run) -> [&[u8]; 3] {
    run.outcomes();
    [0, 1, 2].map(|party| {
        let mut outputs = run.trace.link(party, CAROL).filter(|delivery| delivery.at.part == step::OUTPUT);
        outputs.next().expect("every party sends a share").payload.as_slice()
    })
}

fn sum(domain: Domain, messages: [&[u8]; 3]) -> Vec<u8> {
    let bytes = (0..messages[0].len()).map(|at| messages.map(|message| message[at]));
    match domain {
        Domain::Bits => bytes.map(|[a, b, c]| a ^ b ^ c).collect(),
        Domain::Ring(Width::W8) => bytes.map(|[a, b, c]| a.wrapping_add(b).wrapping_add(c)).collect(),
        Domain::Ring(_) | Domain::Modular(_) => panic!("elements here are bytes"),
    }
}

fn check(program: &Program, inputs: [[i64; 2]; 2]) {
    let plan = lower(program, Capabilities::TWO_COMPONENTS).unwrap().plan;
    let case = Case::new(
        &Replicated::COMPUTATIONAL,
        3,
        plan,
        &inputs.map(|words| words.map(|word| word as u64).to_vec()),
    );
    assert_eq!(case.name(CAROL), "carol");
    let output = case.plan.register(case.plan.outputs[0].reg);
    let bits = output.cols * output.domain.bits() as usize;
    let low: Vec<usize> = (0..2 * bits).step_by(output.domain.bits() as usize).collect();
    let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
        Arc::new(hidden(&case, CAROL, |_, _, _| false));
    let times = (0..Sample::runs_for(2 * bits, low.len()) as u64)
        .map(|run| (case.world(), Draws::varying(1, run, Arc::clone(&hidden))));
    let (mut pairs, mut sums) = ([(0, 1), (1, 2), (2, 0)].map(|pair| (pair, Sample::default())), Vec::new());
    for run in case.run_each(times) {
        let messages = messages(&run);
        sums.push(sum(output.domain, messages));
        for ((first, second), sample) in &mut pairs {
            let mut row = BitRow::default();
            row.extend(messages[*first], bits);
            row.extend(messages[*second], bits);
            sample.push(row);
        }
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "the output is the same in every run");
    for (pair, sample) in pairs {
        assert_eq!(sample.check(&low), Ok(()), "the messages of {pair:?}");
    }
}

#[test]
fn a_partys_own_input() {
    let program = program(|_, a, _| a);
    check(&program, [[3, -8], [0, 7]]);
    check(&program, [[0, 0], [5, 5]]);
}

#[test]
fn a_sum_and_a_product() {
    check(&program(|build, a, b| build.add(a, b).unwrap()), [[3, -8], [0, 7]]);
    // One output, and factors that have nothing else in common.
    for inputs in [[[0, 0], [7, -3]], [[5, -8], [0, 0]]] {
        check(&program(|build, a, b| build.mul(a, b).unwrap()), inputs);
    }
}

#[test]
fn bits_of_a_comparison() {
    for inputs in [[[3, -8], [4, 7]], [[-1, 0], [0, 1]]] {
        check(&program(|build, a, b| build.less(a, b).unwrap()), inputs);
    }
}

/// Each party's input has a component that is zero. Of two outputs together the components as they are would tell P2's
/// input, of which the outputs tell only what it is added to.
#[test]
fn several_outputs_of_parties_inputs() {
    let mut builder = Builder::new();
    let range = Range::new(0, 1);
    let [a, b, c] =
        ["P0", "P1", "P2"].map(|owner| builder.input(owner, "x", Dtype::Bool, &[8], range).unwrap());
    for other in [a, b] {
        let sum = builder.xor(other, c).unwrap();
        builder.reveal(sum, Recipient::Role("carol".into())).unwrap();
    }
    let plan = lower(&builder.finish().unwrap(), Capabilities::BITS).unwrap().plan;
    for bit in [0, 1] {
        let inputs = vec![vec![bit; 8]; 3];
        let case = Case::new(&ReplicatedMalicious::SOUNDNESS_50, 3, plan.clone(), &inputs);
        let carol = 3;
        let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
            Arc::new(hidden(&case, carol, |_, _, _| false));
        let times = (0..Sample::runs_for(32, 32) as u64)
            .map(|run| (case.world(), Draws::varying(1, run, Arc::clone(&hidden))));
        let mut sample = Sample::default();
        for run in case.run_each(times) {
            run.outcomes();
            let mut row = BitRow::default();
            for party in [0, 1] {
                let outputs = run.trace.link(party, carol).filter(|one| one.at.part == step::OUTPUT);
                outputs.for_each(|one| row.extend(&one.payload, 8));
            }
            sample.push(row);
        }
        assert_eq!(sample.check(&(0..32).collect::<Vec<_>>()), Ok(()), "inputs of {bit}");
    }
}
