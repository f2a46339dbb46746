//! A server and the model's owner, or a server and the client, put together what they have: of the other's secret they
//! see what the prediction tells, and nothing else (section 5.1).
//!
//! Whoever is told an output may know what follows from it and from its own values; so inputs and output are the same in
//! all runs, and what is received besides has to be uniform whatever they are.

use tacit_astra::Astra;
use tacit_program::{Builder, Data, Kind, Program, Range, Recipient, Value, lower};
use tacit_testkit::Case;
use tacit_testkit::conformance::{Subject, views};

/// The first client, as the plan names it first.
const CLIENT: usize = 3;
/// The second.
const OWNER: usize = 4;

const SUBJECT: Subject = Subject {
    protocol: &Astra::IN_ORDER,
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: std::path::PathBuf::new(),
};

/// What the model tells of its score.
#[derive(Clone, Copy, Debug)]
enum Tells {
    Score,
    Sign,
}

/// `w . z + b > 0` or `w . z + b` of each of two queries of two features, in a ring of eight bits.
fn prediction(tells: Tells) -> Program {
    let mut build = Builder::new();
    let small = Range::new(-3, 3);
    let queries = build.input("client", "queries", Kind::Int, &[2, 2], small).unwrap();
    let weights = build.input("owner", "weights", Kind::Int, &[2], small).unwrap();
    let bias = build.input("owner", "bias", Kind::Int, &[], Range::new(-40, 40)).unwrap();
    let products = build.matmul(queries, weights).unwrap();
    let mut result = build.add(products, bias).unwrap();
    if let Tells::Sign = tells {
        let zero = build.constant(&Value { shape: vec![], data: Data::Int(vec![0]) }, Kind::Int).unwrap();
        result = build.less(zero, result).unwrap();
    }
    build.reveal(result, Recipient::Role("client".into())).unwrap();
    build.finish().unwrap()
}

/// Queries, weights and bias.
const INPUTS: [(&[i64], &[i64], i64); 3] =
    [(&[3, -2, 0, 1], &[1, -3], 7), (&[0, 0, 0, 0], &[-3, 2], -40), (&[-3, 3, 1, 2], &[0, 0], 0)];

/// A prediction on some of these inputs.
fn case(tells: Tells, (queries, weights, bias): (&[i64], &[i64], i64)) -> Case {
    let plan = lower(&prediction(tells), SUBJECT.protocol.native()).unwrap().plan;
    let raw = |values: &[i64]| values.iter().map(|&value| value as u64).collect::<Vec<_>>();
    let case = Case::new(SUBJECT.protocol, plan, &[raw(queries), raw(weights), raw(&[bias])]);
    assert_eq!((case.name(CLIENT), case.name(OWNER)), ("client", "owner"));
    case
}

/// How many bits each server sees together with the owner or the client.
fn seen(other: usize, tells: Tells) -> Vec<usize> {
    let mut seen = Vec::new();
    for server in 0..3 {
        let bits = INPUTS.map(|inputs| {
            let case = case(tells, inputs);
            views::together(&SUBJECT, &case, &[server, other])
                .unwrap_or_else(|leak| panic!("P{server} and {}, {tells:?}: {leak}", case.name(other)))
        });
        assert!(bits.iter().all(|&one| one == bits[0]), "as many bits whatever the inputs");
        seen.push(bits[0]);
    }
    seen
}

#[test]
fn a_server_and_the_owner_learn_nothing_of_the_queries() {
    // P_0 has nothing to do online. The evaluators see the masked inputs (4 + 2 + 1 elements), and each its share of two
    // products from the other; P_2 P_0's share of them, too.
    assert_eq!(seen(OWNER, Tells::Score), [0, 8 * (7 + 2), 8 * (7 + 2)]);
    assert!(seen(OWNER, Tells::Sign)[1] > 8 * (7 + 2));
}

#[test]
fn a_server_and_the_client_learn_the_prediction_and_nothing_else_of_the_model() {
    // With P_0 the client sees one share of the two results, which the other makes the output.
    assert_eq!(seen(CLIENT, Tells::Score), [8 * 2, 8 * (7 + 2), 8 * (7 + 2)]);
    assert_eq!(seen(CLIENT, Tells::Sign)[0], 2);
}

#[test]
fn what_two_servers_see_together_is_noticed() {
    for servers in [[0, 1], [0, 2]] {
        assert!(views::together(&SUBJECT, &case(Tells::Score, INPUTS[0]), &servers).is_err());
    }
}
