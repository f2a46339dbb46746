//! Sorts by opened comparisons: what is opened is that of a random order, whatever the keys are.

use std::collections::HashMap;

use tacit_program::plan::OpKind;
use tacit_program::{Builder, Dtype, Range, Recipient, lower};
use tacit_replicated::Replicated;
use tacit_testkit::{Case, Draws};

/// Sorts of four rows each, in one run.
const SORTS: usize = 480;

/// How often each outcome of the six comparisons came: all pairs of four rows.
fn outcomes(keys: [u64; 4]) -> HashMap<u64, usize> {
    let mut build = Builder::new();
    let input = build.input("P0", "keys", Dtype::Int, &[1, 4], Range::new(0, 9)).unwrap();
    for _ in 0..SORTS {
        let sorted = build.sort(input, &[]).unwrap()[0];
        build.reveal(sorted, Recipient::All).unwrap();
    }
    let capabilities = tacit_engine::Protocol::capabilities(&Replicated::COMPUTATIONAL);
    let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
    let case = Case::new(&Replicated::COMPUTATIONAL, 3, plan, &[keys.to_vec()]);
    let run = case.run(&Draws::fixed(1));
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    assert!(run.outcomes()[0].outputs.iter().flatten().all(|output| output.to_words() == expected));
    // Each party sends another its own component: together they are what is opened.
    let mut opened: HashMap<u32, u64> = HashMap::new();
    for delivery in run.trace.deliveries() {
        if let Some((op, _)) = delivery.stage(&case.plan)
            && matches!(case.plan.op(op).kind, OpKind::Open { .. })
        {
            let component = u64::from_le_bytes(delivery.payload[..8].try_into().unwrap());
            *opened.entry(op).or_default() ^= component;
        }
    }
    assert_eq!(opened.len(), SORTS);
    let mut counts = HashMap::new();
    opened.into_values().for_each(|bits| *counts.entry(bits).or_insert(0) += 1);
    counts
}

/// 24 orders, each expected 20 times: a chi-squared statistic of 23 degrees of freedom, which is above 72 with probability 6e-7.
/// Equal keys are told apart by their places, so that no other outcome comes.
#[test]
fn outcomes_are_those_of_uniform_orders_whatever_the_keys() {
    for keys in [[1, 2, 3, 4], [4, 3, 2, 1], [7, 7, 7, 7], [5, 0, 5, 0]] {
        let counts = outcomes(keys);
        assert_eq!(counts.values().sum::<usize>(), SORTS);
        assert_eq!(counts.len(), 24, "{keys:?}");
        let expected = (SORTS / 24) as f64;
        let deviation = |&count: &usize| (count as f64 - expected).powi(2) / expected;
        let statistic = counts.values().map(deviation).sum::<f64>();
        assert!(statistic < 72.0, "{keys:?}: {statistic}");
    }
}
