//! Every pair of numbers of few bits, under every way to bits, against what functions mean.

use std::sync::Arc;

use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::{
    Builder, Capabilities, Data, Dtype, Feature, Field, NodeId, Pieces, Piecewise, ProgramError, Range,
    Recipient, testing,
};

const WAYS: [Capabilities; 5] = [
    Capabilities::TWO_COMPONENTS,
    Capabilities::TWO_COMPONENTS.without(Feature::Inject).with(Feature::Compose),
    Capabilities::THREE_COMPONENTS,
    Capabilities::BITS,
    Capabilities::masked_opening(Field::Fp128),
];

/// What a function makes of all pairs of numbers of two ranges.
fn all(
    kind: Dtype,
    ranges: [(i64, i64); 2],
    make: impl Fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>,
) -> Vec<(i64, i64, f64)> {
    let pairs = (ranges[0].0..=ranges[0].1).flat_map(|a| (ranges[1].0..=ranges[1].1).map(move |b| (a, b)));
    let pairs: Vec<(i64, i64)> = pairs.collect();
    let mut build = Builder::new();
    let mut input = |name, (low, high): (i64, i64)| {
        build.input("alice", name, kind, &[pairs.len()], Range::new(low.into(), high.into())).unwrap()
    };
    let (a, b) = (input("a", ranges[0]), input("b", ranges[1]));
    let result = make(&mut build, a, b).unwrap();
    build.reveal(result, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    let inputs = [
        pairs.iter().map(|pair| pair.0.cast_unsigned()).collect(),
        pairs.iter().map(|pair| pair.1.cast_unsigned()).collect::<Vec<u64>>(),
    ];
    for way in WAYS {
        testing::check(&program, way, &inputs, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    }
    let Data::Float(results) = crate::reference::run(&program, &inputs).unwrap()[0].data.clone() else {
        panic!("fixed point")
    };
    pairs.into_iter().zip(results).map(|((a, b), result)| (a, b, result)).collect()
}

#[test]
fn quotients_are_the_nearest() {
    let kind = Dtype::Fixed { frac: 3 };
    for ranges in [[(-9, 9), (-7, 7)], [(0, 20), (0, 6)], [(-5, 3), (2, 9)], [(1, 9), (-4, -1)]] {
        for (a, b, result) in all(kind, ranges, Builder::ratio) {
            let divisor = if b == 0 { 1 } else { b };
            let nearest = (a as f64 / divisor as f64 * 8.0 + 0.5).floor() / 8.0;
            assert!((result - nearest).abs() < 1e-9, "{a} / {b}: {result}");
        }
    }
}

#[test]
fn what_is_beyond_a_quotient_is_its_end() {
    let kind = Dtype::Fixed { frac: 30 };
    let end = (1_i64 << 47) as f64;
    let unit = f64::from(1 << 30);
    let (low, high) = ((1 << 40) - 2, 1 << 40);
    for (a, b, result) in all(kind, [(low, high), (-3, 3)], Builder::ratio) {
        let divisor = if b == 0 { 1.0 } else { b as f64 };
        let nearest = (a as f64 / divisor * unit + 0.5).floor().clamp(-end, end - 1.0);
        assert!((result * unit - nearest).abs() < 0.5, "{a} / {b}");
    }
}

#[test]
fn parts_are_quotients_of_fewer_digits() {
    let kind = Dtype::Fixed { frac: 3 };
    for (a, b, result) in all(kind, [(-9, 9), (0, 9)], Builder::part) {
        let nearest = (a as f64 / b.max(1) as f64 * 8.0 + 0.5).floor().clamp(-16.0, 15.0) / 8.0;
        assert!((result - nearest).abs() < 1e-9, "{a} / {b}: {result}");
    }
}

#[test]
fn roots_are_the_nearest() {
    for (frac, range) in [(1, (-9, 300)), (4, (0, 255)), (5, (0, 1000))] {
        let unit = f64::from(1 << frac);
        for (a, _, result) in all(Dtype::Fixed { frac }, [range, (0, 0)], |b, x, _| b.sqrt(x)) {
            let root = (a.max(0) as f64 / unit).sqrt();
            assert!((result - root).abs() * unit <= 0.5, "the root of {a}: {result}");
        }
    }
}

#[test]
fn pieces_are_found_at_their_ends_and_beyond() {
    let even = |low, high| Pieces::Even { low, high, bits: 3 };
    for (pieces, count) in
        [(even(-20, 19), 5), (even(-3, 30), 5), (Pieces::Octaves { bits: 5, parts: 2 }, 20)]
    {
        let coefficients = (0..3 * count).map(|at| [40 * at, 7 - at, at % 5 - 2][at as usize % 3]).collect();
        let function = Arc::new(Piecewise::new(pieces, 2, 1, 3, coefficients).unwrap());
        let of = function.clone();
        for (a, _, result) in
            all(Dtype::Int, [(-40, 40), (0, 0)], move |b, x, _| b.piecewise(x, function.clone(), 1))
        {
            assert!((result * 2.0 - of.at(a.into()) as f64).abs() < 0.5, "{a}");
        }
    }
}

#[test]
fn coefficients_below_the_guard_are_rounded_away() {
    for coefficients in [[0; 4], [1; 4], [-8; 4]] {
        let even = Pieces::Even { low: -8, high: 7, bits: 2 };
        let function = Arc::new(Piecewise::new(even, 0, 4, 1, coefficients.into()).unwrap());
        let of = function.clone();
        for (a, _, result) in
            all(Dtype::Int, [(-8, 7), (0, 0)], move |b, x, _| b.piecewise(x, function.clone(), 1))
        {
            assert!((result * 2.0 - of.at(a.into()) as f64).abs() < 0.5, "{a}");
        }
    }
}

#[test]
fn functions_whose_tables_are_wrong_are_refused() {
    let even = Pieces::Even { low: 0, high: 15, bits: 2 };
    assert!(Piecewise::new(even, 2, 0, 2, (0..8).collect()).is_some());
    assert!(Piecewise::new(even, 2, 0, 2, (0..9).collect()).is_none());
    assert!(Piecewise::new(even, 3, 0, 2, (0..8).collect()).is_none());
    assert!(Piecewise::new(Pieces::Octaves { bits: 3, parts: 3 }, 0, 0, 1, (0..24).collect()).is_none());
    assert!(Piecewise::new(Pieces::Even { low: 1, high: 0, bits: 2 }, 0, 0, 1, [].into()).is_none());
    assert!(Piecewise::new(even, 2, 0, 1, [i64::MIN, 0, 0, 0].into()).is_none());
}
