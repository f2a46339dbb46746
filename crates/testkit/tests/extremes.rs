//! The largest and the least of numbers whose differences take a bit more than they do.
//!
//! Which of two numbers is larger is the sign of their difference. Of numbers of k bits it has k + 1; in a ring of k bits its sign
//! is wrong where the numbers are far apart, and a pool has a number that isn't its largest. So rings are as wide as differences
//! ask for, and at 64 bits, where there is no wider one, signs of both numbers say more.

use tacit_astra::Astra;
use tacit_engine::Protocol;
use tacit_program::{
    Builder, Capabilities, Dtype, NodeId, ProgramError, Range, Recipient, decode_raw, lower,
};
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::{Case, Draws, Rng};

/// Numbers of a window, and windows.
const WINDOW: usize = 4;
const WINDOWS: usize = 24;

/// Bits of numbers: those of rings.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// All numbers of so many bits.
fn ends(width: u32) -> (i128, i128) {
    (-1 << (width - 1), (1 << (width - 1)) - 1)
}

/// Windows with ends of the range in every place, side by side with numbers far from them and near.
fn numbers(width: u32) -> Vec<i128> {
    let ((lo, hi), mut rng) = (ends(width), Rng::new(width.into()));
    let edges = [lo, hi, lo + 1, hi - 1, -1, 0, 1, lo / 2, lo / 2 - 1, hi / 2 + 1];
    let mut number = |at: usize| match at % 3 {
        0 => edges[at / 3 % edges.len()],
        1 => edges[rng.below(edges.len())],
        _ => rng.edgy(lo, hi),
    };
    (0..WINDOW * WINDOWS).map(&mut number).collect()
}

/// A window's numbers, which are in a column.
fn window(numbers: &[i128], at: usize) -> Vec<i128> {
    numbers.iter().skip(at).step_by(WINDOWS).copied().collect()
}

/// The larger one, by the sign of their difference in a ring of so many bits.
fn by_short_difference(a: i128, b: i128, width: u32) -> i128 {
    let sign = (a - b) >> (width - 1) & 1;
    if sign == 1 { b } else { a }
}

#[test]
fn a_ring_that_is_as_wide_as_the_numbers_has_the_wrong_largest_of_many() {
    for width in WIDTHS {
        let numbers = numbers(width);
        let is_wrong = |at: &usize| {
            let window = window(&numbers, *at);
            let largest = window.iter().copied().reduce(|a, b| by_short_difference(a, b, width));
            largest != window.iter().copied().max()
        };
        assert!((0..WINDOWS).filter(is_wrong).count() > WINDOWS / 4, "{width} bits");
    }
}

/// One result for each window, by all protocols.
fn check(
    width: u32,
    result: impl Fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>,
    expected: impl Fn(&[i128]) -> i128,
) {
    let ((lo, hi), numbers) = (ends(width), numbers(width));
    let mut build = Builder::new();
    let x = build.input("alice", "x", Dtype::Int, &[WINDOW, WINDOWS], Range::new(lo, hi)).unwrap();
    let result = result(&mut build, x).unwrap();
    build.reveal(result, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    let expected: Vec<i128> = (0..WINDOWS).map(|at| expected(&window(&numbers, at))).collect();
    let protocols: [&'static dyn Protocol; 5] = [
        &Replicated::COMPUTATIONAL,
        &ReplicatedMalicious::SOUNDNESS_50,
        &ReplicatedMalicious::FIAT_SHAMIR,
        &Astra::SEMI_HONEST,
        &Astra::MALICIOUS,
    ];
    // In rings, also where numbers would be bits as that costs less.
    let in_rings = [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS];
    let usual = protocols.map(|protocol| (protocol, protocol.capabilities()));
    let by_rings = in_rings.map(|capabilities| (protocols[0], capabilities));
    for (protocol, capabilities) in usual.into_iter().chain(by_rings) {
        let lowered = lower(&program, capabilities).unwrap();
        let words = numbers.iter().map(|&number| number as u64).collect();
        let case = Case::new(protocol, 3, lowered.plan, &[words]);
        let run = case.run(&Draws::fixed(1));
        let output = run.outcomes()[0].outputs[0].as_ref().unwrap().to_elements(case.plan.outputs[0].form);
        let got = decode_raw(&lowered.outputs[0], &output).unwrap();
        assert_eq!(got, expected, "{width} bits, {}, {capabilities:?}", protocol.spec().name);
    }
}

#[test]
fn the_largest_and_the_least_are_right_at_full_range() {
    for width in WIDTHS {
        check(width, |build, x| build.max(x, Some(0), false), |window| *window.iter().max().unwrap());
        check(width, |build, x| build.min(x, Some(0), false), |window| *window.iter().min().unwrap());
    }
}

#[test]
fn their_places_are_right_at_full_range() {
    let place = |window: &[i128], of: Option<&i128>| {
        window.iter().position(|number| Some(number) == of).unwrap() as i128
    };
    for width in WIDTHS {
        check(width, |build, x| build.argmax(x, Some(0), false), |all| place(all, all.iter().max()));
        check(width, |build, x| build.argmin(x, Some(0), false), |all| place(all, all.iter().min()));
    }
}
