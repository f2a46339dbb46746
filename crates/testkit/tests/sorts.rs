//! Sorts by opened comparisons: what is opened is that of a random order, whatever the keys are.

use std::collections::HashMap;

use tacit_engine::Protocol;
use tacit_program::plan::{Insertion, Local, OpKind, Plan, Public};
use tacit_program::{Builder, Capabilities, Dtype, Range, Recipient, lower};
use tacit_replicated::planted::{Mistake, plant};
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::{Altered, Case, Delivery, Draws, Fate, Message};

/// Sorts of four rows each, in one run.
const SORTS: usize = 480;

/// A plan of them, of keys so long that four rows have no network.
fn plan(protocol: &dyn Protocol) -> Plan {
    plan_of(protocol, Dtype::Int)
}

fn plan_of(protocol: &dyn Protocol, kind: Dtype) -> Plan {
    sorts(protocol, kind, 4, SORTS)
}

/// So many sorts of the same rows.
fn sorts(protocol: &dyn Protocol, kind: Dtype, rows: usize, count: usize) -> Plan {
    let mut build = Builder::new();
    let range = if kind == Dtype::Bool { None } else { Range::new(0, 1 << 40) };
    let input = build.input("P0", "keys", kind, &[1, rows], range).unwrap();
    for _ in 0..count {
        let sorted = build.sort(input, &[]).unwrap()[0];
        build.reveal(sorted, Recipient::All).unwrap();
    }
    // Numbers, and not bits, which have networks.
    let capabilities = Capabilities { or_bits: None, ..protocol.capabilities() };
    lower(&build.finish().unwrap(), capabilities).unwrap().plan
}

/// Bytes of what confirms a component, where parties may deviate.
const DIGEST: usize = 32;

/// How often each outcome of the six comparisons came: all pairs of four rows.
fn outcomes(protocol: &'static dyn Protocol, plan: Plan, keys: [u64; 4]) -> HashMap<u64, usize> {
    opened(protocol, plan, keys, |words, all| words[0] ^ all)
}

fn words_of(payload: &[u8]) -> Vec<u64> {
    payload.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// How often each value of an opening came, which `join` makes of components.
fn opened(
    protocol: &'static dyn Protocol,
    plan: Plan,
    keys: [u64; 4],
    join: impl Fn(&[u64], u64) -> u64,
) -> HashMap<u64, usize> {
    let case = Case::new(protocol, 3, plan, &[keys.to_vec()]);
    let run = case.run(&Draws::fixed(1));
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    for output in run.outcomes()[0].outputs.iter().flatten() {
        assert_eq!(output.to_words(), expected);
    }
    // Each party sends another its own component: together they are what is opened.
    let mut opened: HashMap<u32, u64> = HashMap::new();
    for delivery in run.trace.deliveries() {
        if let Some((op, _)) = delivery.stage(&case.plan)
            && matches!(case.plan.op(op).kind, OpKind::Open { .. })
            && delivery.payload.len() < DIGEST
        {
            let all = opened.entry(op).or_default();
            *all = join(&words_of(&delivery.payload), *all);
        }
    }
    assert_eq!(opened.len(), SORTS);
    let mut counts = HashMap::new();
    for bits in opened.into_values() {
        *counts.entry(bits).or_insert(0) += 1;
    }
    counts
}

/// 24 orders, each expected 20 times: a chi-squared statistic of 23 degrees of freedom, which is above 72 with probability 6e-7.
fn are_uniform(counts: &HashMap<u64, usize>) -> bool {
    assert_eq!(counts.values().sum::<usize>(), SORTS);
    let expected = (SORTS / 24) as f64;
    let deviation = |&count: &usize| (count as f64 - expected).powi(2) / expected;
    counts.len() == 24 && counts.values().map(deviation).sum::<f64>() < 72.0
}

/// Equal keys are told apart by their places, so that no other outcomes come than those of orders.
#[test]
fn outcomes_are_those_of_uniform_orders_whatever_the_keys() {
    for keys in [[1, 2, 3, 4], [4, 3, 2, 1], [7, 7, 7, 7], [5, 0, 5, 0]] {
        for protocol in [&Replicated::COMPUTATIONAL as &dyn Protocol, &ReplicatedMalicious::SOUNDNESS_50] {
            let counts = outcomes(protocol, plan(protocol), keys);
            assert!(are_uniform(&counts), "{keys:?}: {counts:?}");
        }
    }
}

/// Without places in the low bits of keys outcomes tell which keys are equal, and the test above sees it.
#[test]
fn keys_without_places_are_seen() {
    let mut plan = plan(&Replicated::COMPUTATIONAL);
    for step in plan.levels.iter_mut().flat_map(|level| &mut level.local) {
        if let Local::Insertion(Insertion::Numbers { dst, .. }) = *step {
            *step = Local::Constant { value: Public::Splat(0), dst };
        }
    }
    for keys in [[7, 7, 7, 7], [5, 0, 5, 0]] {
        assert!(!are_uniform(&outcomes(&Replicated::COMPUTATIONAL, plan.clone(), keys)), "{keys:?}");
    }
}

/// Without the shuffle outcomes are those of the keys as they came.
#[test]
fn rows_that_are_not_shuffled_are_seen() {
    let kept = Altered::beginning_with(&Replicated::COMPUTATIONAL, |_| plant(&[Mistake::ShuffleInPlace]));
    let counts = outcomes(kept, plan(kept), [3, 1, 4, 2]);
    assert_eq!(counts.len(), 1);
    assert!(!are_uniform(&counts));
}

/// Adds up components of four ranks, 32 bits each: two bits of each are what is left of them.
fn sum_of_ranks(words: &[u64], all: u64) -> u64 {
    let numbers = words.iter().flat_map(|word| [word & 0xffff_ffff, word >> 32]);
    numbers.enumerate().fold(0, |sum, (row, number)| {
        let known = all >> (16 * row) & 0xffff;
        sum | ((known + number) & 0xffff) << (16 * row)
    })
}

fn ranks(keys: [u64; 4]) -> HashMap<u64, usize> {
    let protocol = &Replicated::COMPUTATIONAL;
    opened(protocol, plan_of(protocol, Dtype::Bool), keys, sum_of_ranks)
}

/// Ranks are different, whatever the bits are, so that no others come than those of orders.
#[test]
fn ranks_are_those_of_uniform_orders_whatever_the_bits() {
    for keys in [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0]] {
        let counts = ranks(keys);
        assert!(are_uniform(&counts), "{keys:?}: {counts:?}");
    }
}

fn is_operation(part: u16) -> bool {
    (tacit_replicated::step::OPERATION..tacit_replicated::step::PROOF_BACK).contains(&part)
}

/// Rows that are sorted by ranks under `replicated-malicious`, too.
const ROWS: usize = 33;

/// What is opened of the ranks of one sort by bools, if a party changes what it tells of a row's product; `None` if they stay
/// closed.
fn ranks_with_a_wrong_product(
    protocol: &'static dyn Protocol,
    corrupt: usize,
    row: usize,
    keys: &[u64],
) -> Option<Vec<u64>> {
    let plan = sorts(protocol, Dtype::Bool, ROWS, 1);
    let all = (0..plan.op_count()).map(|address| (address, &plan.op(address).kind));
    let before = all.take_while(|(_, kind)| !matches!(kind, OpKind::Shuffle { .. }));
    let products = before.filter(|(_, kind)| matches!(kind, OpKind::Mul { .. }));
    let (product, _) = products.last().expect("ranks are products of bits and numbers");
    let case = Case::new(protocol, 3, plan, &[keys.to_vec()]);
    let interceptor = Box::new(move |message: &Message<'_>| {
        let at = message.frame.at;
        if (message.from, at.op) != (corrupt, product) || !is_operation(at.part) {
            return Fate::Deliver;
        }
        let mut frame = message.frame.clone();
        let bytes = frame.payload.len() / ROWS;
        frame.payload[bytes * row] ^= 1;
        Fate::Replace(vec![frame])
    });
    let run = case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1));
    let is_opening = |op: u32| matches!(case.plan.op(op).kind, OpKind::Open { .. });
    let mut components = run.trace.deliveries().iter().filter(|delivery| {
        delivery.stage(&case.plan).is_some_and(|(op, _)| is_opening(op)) && delivery.payload.len() != DIGEST
    });
    let add = |sum: Vec<u64>, delivery: &Delivery| {
        let bytes = delivery.payload.len() / ROWS;
        let numbers = delivery.payload.chunks_exact(bytes).map(|number| u64::from(number[0]));
        sum.iter().zip(numbers).map(|(sum, number)| (sum + number) % 256).collect()
    };
    let first = components.next()?;
    Some(components.fold(add(vec![0; ROWS], first), add))
}

/// One more or less in a row's rank, and the rank that nobody has then is that row's. So ranks are opened after a proof of all
/// products, and not at all here.
#[test]
fn a_wrong_product_would_show_the_rank_of_its_row() {
    let unproved =
        Altered::beginning_with(&ReplicatedMalicious::SOUNDNESS_50, |_| plant(&[Mistake::OpenedUnproved]));
    let keys: Vec<u64> = (0..ROWS as u64).map(|row| row * row % 5 % 2).collect();
    for row in [0, 7, ROWS - 2] {
        let before = |other: usize| (keys[other], other) < (keys[row], row);
        let rank = (0..ROWS).filter(|&other| before(other)).count() as u64;
        let shown = |corrupt: usize| {
            let seen = ranks_with_a_wrong_product(unproved, corrupt, row, &keys).expect("they are opened");
            (0..ROWS as u64).filter(|rank| !seen.contains(rank)).collect::<Vec<_>>()
        };
        // Of a component the shuffle takes one holder's.
        assert!((0..3).any(|corrupt| shown(corrupt) == [rank]), "row {row}");
        for corrupt in 0..3 {
            let seen = ranks_with_a_wrong_product(&ReplicatedMalicious::SOUNDNESS_50, corrupt, row, &keys);
            assert_eq!(seen, None, "row {row}, P{corrupt}");
        }
    }
}
