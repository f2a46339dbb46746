use super::*;
use crate::testing;
use crate::{Dtype, Range, Uses, reference};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

const COUNT: usize = 3;

fn ints(build: &mut Builder, owner: &str, name: &str, shape: &[usize]) -> NodeId {
    build.input(owner, name, Dtype::Int, shape, Range::new(-9, 9)).unwrap()
}

fn clients(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn why(result: Result<Instances, ProgramError>) -> &'static str {
    match *result.unwrap_err().fault {
        Fault::Instances { what } => what,
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Each instance gives what the one program gives on its inputs, whatever the others' are.
    #[test]
    fn an_instance_means_what_the_program_means(seed: u64, steps in 1usize..12) {
        let mut bytes = [5; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut program = testing::program(&mut rng, steps);
        program.outputs.iter_mut().for_each(|output| output.to = Recipient::Role("carol".into()));
        let given: Vec<Vec<Vec<u64>>> =
            (0..COUNT).map(|_| testing::inputs(&program.input_types(), &mut rng)).collect();
        let several = program.times(COUNT, &clients(&["alice", "carol"])).unwrap();
        let mut all = vec![Vec::new(); several.program.inputs().len()];
        for (at, given) in given.iter().enumerate() {
            for (input, words) in given.iter().enumerate() {
                // What the party bob gives is the same for all: that of the last instance.
                all[several.input(input, at)].clone_from(words);
            }
        }
        let together = reference::run(&several.program, &all).unwrap();
        for at in 0..COUNT {
            let own: Vec<_> = (0..given[at].len()).map(|input| all[several.input(input, at)].clone()).collect();
            let alone = reference::run(&program, &own).unwrap();
            for (output, value) in alone.iter().enumerate() {
                prop_assert_eq!(&together[several.output(output, at)], value);
            }
        }
        prop_assert_eq!(&Program::from_bytes(&several.program.to_bytes()).unwrap(), &several.program);
    }
}

#[test]
fn what_parties_give_is_there_once_and_a_body_is_repeated_for_all_at_once() {
    let mut build = Builder::new();
    let (model, row) = (ints(&mut build, "P0", "model", &[4]), ints(&mut build, "guest", "row", &[4]));
    let doubled = build.add(model, model).unwrap();
    let sums = build.mul(doubled, row).unwrap();
    let start = build.sum(row, None, false).unwrap();
    let low = build.sum(model, None, false).unwrap();
    let states = build.repeat(4, &[start, low], &[sums], |build, states, steps| {
        let sum = build.add(states[0], steps[0])?;
        let ends = [-99, 99].map(|end| build.public(Dtype::Int, vec![], vec![end]).unwrap());
        Ok(vec![build.clip(sum, ends[0], ends[1])?, build.clip(states[1], ends[0], ends[1])?])
    });
    let states = states.unwrap();
    build.reveal(states[0], Recipient::Role("guest".into())).unwrap();
    build.reveal(states[1], Recipient::All).unwrap();
    build.reveal(low, Recipient::Role("guest".into())).unwrap();
    let program = build.finish().unwrap();
    let several = program.times(COUNT, &clients(&["guest"])).unwrap();
    let owners: Vec<String> = several.program.input_types().into_iter().map(|input| input.owner).collect();
    assert_eq!(owners, ["P0", "guest 0", "guest 1", "guest 2"]);
    assert_eq!((several.program.loops.len(), several.program.loops[0].carry.len()), (1, COUNT + 1));
    let to: Vec<String> = several.program.outputs().iter().map(|output| output.to.to_string()).collect();
    let guests = ["guest 0", "guest 1", "guest 2"];
    assert_eq!(to, [&guests[..], &["all"], &guests].concat());
    assert_eq!([several.output(0, 2), several.output(1, 2), several.output(2, 1)], [2, 3, 5]);
}

#[test]
fn each_instance_has_an_order_of_its_own() {
    let mut build = Builder::new();
    let table = ints(&mut build, "P0", "table", &[8]);
    let shuffled = build.shuffle(&[table]).unwrap()[0];
    build.reveal(shuffled, Recipient::Role("guest".into())).unwrap();
    let several = build.finish().unwrap().times(COUNT, &clients(&["guest"])).unwrap();
    let nodes: std::collections::BTreeSet<NodeId> =
        several.program.outputs().iter().map(|output| output.node).collect();
    assert_eq!(nodes.len(), COUNT);
}

#[test]
fn what_all_would_learn_or_keep_is_refused() {
    let guest = clients(&["guest"]);
    let mut build = Builder::new();
    let row = ints(&mut build, "guest", "row", &[2]);
    build.reveal(row, Recipient::All).unwrap();
    assert!(why(build.finish().unwrap().times(2, &guest)).contains("everybody"));

    let mut build = Builder::new();
    let row = ints(&mut build, "guest", "row", &[2]);
    build.keep(row, "rows", Uses::default()).unwrap();
    assert!(why(build.finish().unwrap().times(2, &guest)).contains("keeps"));

    let mut build = Builder::new();
    let rows = [ints(&mut build, "guest", "row", &[2]), ints(&mut build, "guest 1", "row", &[2])];
    let sum = build.add(rows[0], rows[1]).unwrap();
    build.reveal(sum, Recipient::Role("guest".into())).unwrap();
    let program = build.finish().unwrap();
    assert!(why(program.times(2, &guest)).contains("name"));
}
