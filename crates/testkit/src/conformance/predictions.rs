//! A server and the model's owner, or a server and the client, put together what they have: of the other's secret they
//! see what the prediction tells, and nothing else.
//!
//! Whoever is told an output may know what follows from it and from its own values; so inputs and output are the same in
//! all runs, and what is received besides has to be uniform whatever they are.

use tacit_program::{Builder, Data, Dtype, Program, Range, Recipient, Value};

use super::{Subject, views};
use crate::Case;

/// The first client, as the plan names it first.
pub const CLIENT: usize = 0;
/// The second.
pub const OWNER: usize = 1;

/// What the model tells of its score.
#[derive(Clone, Copy, Debug)]
pub enum Tells {
    /// The score.
    Score,
    /// Whether it is above zero.
    Sign,
}

/// `w . z + b > 0` or `w . z + b` of each of two queries of two features, in a ring of eight bits.
fn prediction(tells: Tells) -> Program {
    let mut build = Builder::new();
    let small = Range::new(-3, 3);
    let queries = build.input("client", "queries", Dtype::Int, &[2, 2], small).expect("a small program");
    let weights = build.input("owner", "weights", Dtype::Int, &[2], small).expect("a small program");
    let bias = build.input("owner", "bias", Dtype::Int, &[], Range::new(-40, 40)).expect("a small program");
    let products = build.matmul(queries, weights).expect("a small program");
    let mut result = build.add(products, bias).expect("a small program");
    if let Tells::Sign = tells {
        let zero = build
            .constant(&Value { shape: vec![], data: Data::Int(vec![0]) }, Dtype::Int)
            .expect("a small program");
        result = build.less(zero, result).expect("a small program");
    }
    build.reveal(result, Recipient::Role("client".into())).expect("a small program");
    build.finish().expect("a small program")
}

/// Queries, weights and bias.
pub type Inputs = (&'static [i64], &'static [i64], i64);

/// Some of them.
pub const INPUTS: [Inputs; 3] =
    [(&[3, -2, 0, 1], &[1, -3], 7), (&[0, 0, 0, 0], &[-3, 2], -40), (&[-3, 3, 1, 2], &[0, 0], 0)];

/// A prediction on some inputs, as those in [`INPUTS`].
///
/// # Panics
/// If the subject has no means for it.
pub fn case(subject: &Subject, tells: Tells, (queries, weights, bias): Inputs) -> Case {
    let plan = subject.lowered(&prediction(tells)).plan;
    let raw = |values: &[i64]| values.iter().map(|&value| value as u64).collect::<Vec<_>>();
    let case = subject.case(plan, &[raw(queries), raw(weights), raw(&[bias])]);
    let name = |client| case.name(subject.parties + client);
    assert_eq!((name(CLIENT), name(OWNER)), ("client", "owner"));
    case
}

/// How many bits each server sees together with one of the clients, the owner or the client.
///
/// # Panics
/// If what they see tells anything.
pub fn seen(subject: &Subject, other: usize, tells: Tells) -> Vec<usize> {
    let mut seen = Vec::new();
    let other = subject.parties + other;
    for server in 0..subject.parties {
        let bits = INPUTS.map(|inputs| {
            let case = case(subject, tells, inputs);
            views::together(subject, &case, &[server, other])
                .unwrap_or_else(|leak| panic!("P{server} and {}, {tells:?}: {leak}", case.name(other)))
        });
        assert!(bits.iter().all(|&one| one == bits[0]), "as many bits whatever the inputs");
        seen.push(bits[0]);
    }
    seen
}
