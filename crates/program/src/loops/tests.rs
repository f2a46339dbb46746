use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;
use crate::Program;
use crate::plan::Plan;
use crate::{
    Builder, Capabilities, Data, Dtype, NodeId, ProgramError, Range, Recipient, Value, reference, testing,
};

const ENGINES: [Capabilities; 3] =
    [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS, Capabilities::BITS];

fn input(build: &mut Builder, name: &str, shape: &[usize], ends: (i128, i128)) -> NodeId {
    build.input("alice", name, Dtype::Int, shape, Range::new(ends.0, ends.1)).unwrap()
}

fn int(build: &mut Builder, number: i64) -> NodeId {
    build.constant(&Value { shape: vec![], data: Data::Int(vec![number]) }, Dtype::Int).unwrap()
}

fn clipped(build: &mut Builder, x: NodeId, end: i64) -> Result<NodeId, ProgramError> {
    let (low, high) = (int(build, -end), int(build, end));
    build.clip(x, low, high)
}

/// `w <- clip(w + x_i, -50, 50)` from 0 on, over the rows of `x`.
fn sums(steps: usize) -> Program {
    let mut build = Builder::new();
    let x = input(&mut build, "x", &[steps, 2], (-20, 20));
    let zero = build.public(Dtype::Int, vec![2], vec![0; 2]).unwrap();
    let add = |build: &mut Builder, states: &[NodeId], rows: &[NodeId]| {
        let sum = build.add(states[0], rows[0])?;
        Ok(vec![clipped(build, sum, 50)?])
    };
    let sum = build.repeat(steps as u32, &[zero], &[x], add).unwrap();
    build.reveal(sum[0], Recipient::All).unwrap();
    build.finish().unwrap()
}

fn run(program: &Program, inputs: &[Vec<u64>]) -> Vec<Value> {
    for capabilities in ENGINES {
        testing::check(program, capabilities, inputs, TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]));
    }
    assert_eq!(Program::from_bytes(&program.to_bytes()).as_ref(), Ok(program));
    reference::run(program, inputs).unwrap()
}

fn words(numbers: &[i64]) -> Vec<u64> {
    numbers.iter().map(|&number| number as u64).collect()
}

#[test]
fn a_body_is_kept_once_and_sees_slice_after_slice() {
    let program = sums(5);
    let outputs = run(&program, &[words(&[1, 20, 2, 20, 3, 20, 4, -20, 5, -20])]);
    assert_eq!(outputs[0].data, Data::Int(vec![15, 10]));
    let sizes = [1, 1000].map(|steps| (sums(steps).nodes().len(), sums(steps).to_bytes().len()));
    assert_eq!(sizes[0], sizes[1]);
}

#[test]
fn a_plan_has_the_steps_of_a_body_once() {
    for capabilities in ENGINES {
        let [few, many] = [2, 1000].map(|steps| crate::lower(&sums(steps), capabilities).unwrap().plan);
        let size = |plan: &Plan| (plan.ops.len(), plan.levels.len(), plan.registers.len());
        assert_eq!(size(&few), size(&many));
        let turns = |plan: &Plan| plan.sections[0].times;
        assert_eq!([turns(&few), turns(&many)], [2, 1000]);
        let turn = few.sections[0].addresses.len() as u32;
        assert_eq!(many.op_count() - few.op_count(), 998 * turn);
    }
}

#[test]
fn states_change_all_at_once_and_bodies_can_hold_others() {
    let mut build = Builder::new();
    let (a, b) = (input(&mut build, "a", &[], (0, 1)), input(&mut build, "b", &[], (0, 1)));
    let start = build.public(Dtype::Int, vec![], vec![0]).unwrap();
    let made = build.repeat(4, &[a, b, start], &[], |build, states, _| {
        // Twice in every step.
        let inner = build.repeat(2, &[states[2]], &[], |build, inner, _| {
            let sum = build.add(inner[0], states[0])?;
            Ok(vec![clipped(build, sum, 100)?])
        })?;
        let sum = build.add(states[0], states[1])?;
        Ok(vec![clipped(build, sum, 30)?, states[0], inner[0]])
    });
    for node in made.unwrap() {
        build.reveal(node, Recipient::All).unwrap();
    }
    let outputs = run(&build.finish().unwrap(), &[words(&[1]), words(&[0])]);
    // 1, 1, 2, 3, 5, and twice the sum of the first four.
    let numbers: Vec<Data> = outputs.into_iter().map(|output| output.data).collect();
    assert_eq!(numbers, [5, 3, 14].map(|number| Data::Int(vec![number])));
}

#[test]
fn a_range_has_to_hold_after_a_step() {
    let mut build = Builder::new();
    let x = input(&mut build, "x", &[2], (0, 9));
    let error =
        build.repeat(3, &[x], &[], |build, states, _| Ok(vec![build.add(states[0], x)?])).unwrap_err();
    assert!(matches!(*error.fault, Fault::Grows { .. }), "{error}");
    assert!(error.to_string().contains("tacit.assume(state, low, high)"), "{error}");
    let range = Range::new(0, 90).unwrap();
    let made = build.repeat(3, &[x], &[], |build, states, _| {
        let sum = build.add(states[0], x)?;
        Ok(vec![build.assume(sum, range)?])
    });
    build.reveal(made.unwrap()[0], Recipient::All).unwrap();
    let program = build.finish().unwrap();
    assert_eq!(program.assumptions().count(), 1);
    assert_eq!(run(&program, &[words(&[2, 9])])[0].data, Data::Int(vec![8, 36]));
}

/// A debug run names the line of an assumption that doesn't hold.
#[test]
fn a_wrong_assumption_is_found_by_a_debug_run() {
    let mut build = Builder::new();
    let x = input(&mut build, "x", &[1], (0, 100));
    build.at(crate::Source { file: "p.py".into(), line: 7, text: "assume".into() });
    let small = build.assume(x, Range::new(0, 10).unwrap()).unwrap();
    build.reveal(small, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    for capabilities in ENGINES {
        for (number, line) in [(10, None), (11, Some(7))] {
            let lowered = crate::lower_for_debug(&program, capabilities).unwrap();
            let inputs = [vec![number]];
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[4; 32]);
            let outputs = testing::Clear::run(&lowered.plan, &inputs, rng);
            let found = crate::first_difference(&program, &lowered, &inputs, &outputs).unwrap();
            assert_eq!(found.map(|difference| difference.at.line), line);
        }
    }
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let refused = |make: &dyn Fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>| {
        let mut build = Builder::new();
        let x = input(&mut build, "x", &[3], (0, 9));
        let made = make(&mut build, x).and_then(|node| {
            build.reveal(node, Recipient::All)?;
            build.clone().finish()
        });
        *made.unwrap_err().fault
    };
    let range = Range::new(0, 9).unwrap();
    // A state after another node of its body.
    assert!(matches!(
        refused(&|b, x| {
            let first = b.state(x, range)?;
            let larger = b.maximum(first, x)?;
            let second = b.state(x, range)?;
            let both = b.minimum(first, second)?;
            b.end_repeat(3, &[first, second], &[both, larger]).map(|made| made[0])
        }),
        Fault::Repeat { what: "its states have to come first" }
    ));
    assert!(matches!(refused(&|b, x| b.state(x, range)), Fault::Repeat { .. }));
    assert!(matches!(refused(&|b, x| b.step(x)), Fault::Repeat { .. }));
    let over = |times| {
        refused(&move |b, x| {
            let state = input(b, "s", &[], (0, 9));
            b.repeat(times, &[state], &[x], |_, _, steps| Ok(vec![steps[0]])).map(|made| made[0])
        })
    };
    assert!(matches!(
        over(2),
        Fault::Repeat { what: "what it goes over has another length than it has steps" }
    ));
    assert!(matches!(over(0), Fault::Arity { .. }));
    let many = refused(&|b, x| {
        b.repeat(1 << 30, &[x], &[], |b, states, _| b.neg(states[0]).and_then(|y| b.neg(y)).map(|y| vec![y]))
            .map(|made| made[0])
    });
    assert!(matches!(many, Fault::TooMany { .. } | Fault::Grows { .. }), "{many:?}");
    let inside = refused(&|b, x| {
        b.repeat(2, &[x], &[], |b, _, _| Ok(vec![input(b, "y", &[3], (0, 9))])).map(|made| made[0])
    });
    assert_eq!(inside, Fault::Repeat { what: "a body can't declare inputs" });
}

#[test]
fn a_plan_has_so_many_operations_in_all_steps() {
    let mut build = Builder::new();
    let x = input(&mut build, "x", &[4096], (0, 9));
    let many = |build: &mut Builder, states: &[NodeId], _: &[NodeId]| {
        let mut made = states.to_vec();
        for _ in 0..20 {
            let largest = build.max(made[0], None, false)?;
            made = vec![build.minimum(made[0], largest)?];
        }
        Ok(made)
    };
    let made = build.repeat(24_000, &[x], &[], many).unwrap();
    build.reveal(made[0], Recipient::All).unwrap();
    let program = build.finish().unwrap();
    let error = crate::lower(&program, Capabilities::TWO_COMPONENTS).err().map(|error| error.to_string());
    assert!(error.as_ref().is_some_and(|error| error.contains("in all steps")), "{error:?}");
}
