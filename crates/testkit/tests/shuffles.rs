//! Shuffles, by a whole protocol: that orders are uniform, and that a view would show a missing mask.

use std::collections::HashMap;

use tacit_engine::{Clear, Protocol};
use tacit_program::plan::{Builder, OpKind, To, Width};
use tacit_replicated::Replicated;
use tacit_replicated::planted::{Mistake, plant};
use tacit_testkit::conformance::{Subject, views};
use tacit_testkit::{Altered, Case, Draws};

/// Shuffles of four numbers each, in one run.
const SHUFFLES: usize = 480;

fn subject(protocol: &'static dyn Protocol) -> Subject {
    Subject::new(protocol, 3)
}

/// 24 orders, each expected 20 times: a chi-squared statistic of 23 degrees of freedom, which is above 72 with probability 6e-7.
#[test]
fn orders_of_four_elements_are_uniform() {
    let mut build = Builder::new();
    let owner = build.role("P0");
    let numbers = build.ring(Width::W8, 4);
    build.input(owner, numbers);
    for _ in 0..SHUFFLES {
        let shuffled = build.ring(Width::W8, 4);
        build.interact(OpKind::Shuffle { cols: vec![numbers], blocks: 4, turns: 3, dst: vec![shuffled] });
        build.output(shuffled, To::All);
    }
    let run =
        Case::new(&Replicated::COMPUTATIONAL, 3, build.finish(), &[vec![0, 1, 2, 3]]).run(&Draws::fixed(1));
    let outcomes = run.outcomes();
    let mut counts = HashMap::new();
    for order in outcomes[0].outputs.iter().flatten().map(Clear::to_words) {
        *counts.entry(order).or_insert(0) += 1;
    }
    assert_eq!(counts.values().sum::<usize>(), SHUFFLES);
    assert_eq!(counts.len(), 24);
    let expected = (SHUFFLES / 24) as f64;
    let statistic = counts.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum::<f64>();
    assert!(statistic < 72.0, "{statistic}");
}

#[test]
#[should_panic(expected = "shuffle: [")]
fn a_part_without_its_mask_is_seen() {
    let bare = Altered::beginning_with(&Replicated::COMPUTATIONAL, |_| plant(&[Mistake::ShuffleUnmasked]));
    views::operation(&subject(bare), "shuffle");
}
