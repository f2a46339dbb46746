use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::plan::{OpKind, Plan};
use crate::testing;
use crate::{
    Builder, Capabilities, Data, Dtype, Fault, Feature, Lowered, NodeId, Program, ProgramError, Range,
    Recipient, Value, reference,
};

const OFFERED: [Capabilities; 5] = [
    Capabilities::TWO_COMPONENTS,
    Capabilities::TWO_COMPONENTS.with(Feature::Msb),
    Capabilities::THREE_COMPONENTS,
    Capabilities::THREE_COMPONENTS.with(Feature::Msb),
    Capabilities::BITS,
];

fn seeded(seed: u64) -> TestRng {
    let mut bytes = [9; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn float(x: f64) -> Value {
    Value { shape: vec![], data: Data::Float(vec![x]) }
}

fn int(x: i64) -> Value {
    Value { shape: vec![], data: Data::Int(vec![x]) }
}

/// A program of one input and one result.
fn program(
    kind: Dtype,
    range: Range,
    shape: &[usize],
    result: impl Fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>,
) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("alice", "x", kind, shape, Some(range))?;
    let result = result(&mut build, x)?;
    build.reveal(result, Recipient::All)?;
    build.finish()
}

/// Checks every way of lowering, and gives the plans.
fn checked(program: &Program, raw: &[i128]) -> [Lowered; 5] {
    let inputs = [raw.iter().map(|&raw| raw as u64).collect()];
    OFFERED.map(|capabilities| testing::check(program, capabilities, &inputs, seeded(3)))
}

/// The raw results, by the reference.
fn results(program: &Program, raw: &[i128]) -> Vec<i128> {
    let inputs = [raw.iter().map(|&raw| raw as u64).collect()];
    let node = program.outputs()[0].node;
    reference::trace(program, &inputs).unwrap().swap_remove(node.index())
}

fn truncations(plan: &Plan) -> usize {
    plan.ops.iter().filter(|op| matches!(op.kind, OpKind::Shift { .. })).count()
}

/// Makes a result of an input.
type Make = fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>;

/// Truncations and rounds in rings; ANDs and rounds of bits, of few elements and of many.
type Costs = [(usize, u32); 3];

const FIXED: Dtype = Dtype::Fixed { frac: 16 };

/// `floor(n / d + 1/2)`.
fn nearest(n: i128, d: i128) -> i128 {
    (2 * n + d).div_euclid(2 * d)
}

#[test]
fn every_byte_by_every_small_number() {
    let range = Range::new(-128, 127).unwrap();
    let all: Vec<i128> = (-128..=127).collect();
    let kind = Dtype::Fixed { frac: 4 };
    for d in (1..=40).chain([63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 511, 1000]) {
        for d in [d, -d] {
            let quotient = program(kind, range, &[256], |build, x| build.divide(x, &int(d))).unwrap();
            let expected: Vec<i128> =
                all.iter().map(|x| nearest(x * i128::from(d.signum()), d.abs().into())).collect();
            assert_eq!(results(&quotient, &all), expected, "by {d}");
            checked(&quotient, &all);
            let product =
                program(kind, range, &[256], |build, x| build.scale(x, &float(d as f64 / 64.0))).unwrap();
            let expected: Vec<i128> = all.iter().map(|x| nearest(x * i128::from(d), 64)).collect();
            assert_eq!(results(&product, &all), expected, "times {d} / 64");
            checked(&product, &all);
            let floor =
                program(Dtype::Int, range, &[256], |build, x| build.floor_divide(x, &int(d))).unwrap();
            let expected: Vec<i128> =
                all.iter().map(|x| (x * i128::from(d.signum())).div_euclid(d.abs().into())).collect();
            assert_eq!(results(&floor, &all), expected, "// {d}");
            checked(&floor, &all);
        }
    }
}

/// Ends of ranges, what is next to them, and what is nearest to a tie.
fn edges(range: Range, d: i128) -> Vec<i128> {
    let near = |x: i128| (x - 2..=x + 2).filter(|x| range.holds(*x));
    let middle =
        [0, range.lo() / 2, range.hi() / 3, d, -d, d / 2, -d / 2, range.hi() / d * d, range.lo() / d * d];
    let ties = [range.hi() - d, range.lo() + d].map(|x| x.div_euclid(d) * d + d / 2);
    let ends = near(range.lo()).chain(near(range.hi()));
    let all = ends.chain(middle.into_iter().chain(ties).flat_map(near)).collect::<Vec<_>>();
    all.into_iter().cycle().take(70).collect()
}

#[test]
fn quotients_are_exact_up_to_the_ends_of_all_ranges() {
    let ends = [7, 16, 31, 46, 61, 62, 63].map(|bits| 1_i128 << bits);
    for end in ends {
        let ranges =
            [(-end, end - 1), (0, end - 1), (1 - end, 0), (end - end / 16, end - 1), (-end, end / 7)];
        for range in ranges.map(|(lo, hi)| Range::new(lo, hi).unwrap()) {
            for d in [1, 2, 7, 1 << 18, 1_000_000, (1 << 53) + 1, i64::MAX] {
                let raw = edges(range, d.into());
                let quotient = program(FIXED, range, &[70], |build, x| build.divide(x, &int(d))).unwrap();
                let expected: Vec<i128> = raw.iter().map(|&x| nearest(x, d.into())).collect();
                assert_eq!(results(&quotient, &raw), expected, "{range:?} / {d}");
                checked(&quotient, &raw);
                let floor =
                    program(Dtype::Int, range, &[70], |build, x| build.floor_divide(x, &int(d))).unwrap();
                let expected: Vec<i128> = raw.iter().map(|&x| x.div_euclid(d.into())).collect();
                assert_eq!(results(&floor, &raw), expected, "{range:?} // {d}");
                checked(&floor, &raw);
            }
        }
    }
}

#[test]
fn factors_and_divisors_are_taken_to_their_last_bit() {
    let raw: Vec<i128> =
        [0, 1, -1, 5, -5, 6_553_600, (1 << 61) - 1, -(1 << 61), 1 << 40, 987_654_321_012_345].into();
    let range = Range::new(-(1 << 61), 1 << 61).unwrap();
    for by in [
        0.1,
        1e-6,
        1.0 / 3.0,
        0.999_999_999_999_999_9,
        1.0 - f64::EPSILON,
        2.5,
        -0.7,
        1e-17,
        3.999,
        2_f64.powi(-40),
    ] {
        let product = program(FIXED, range, &[10], |build, x| build.scale(x, &float(by))).unwrap();
        // A float is m / 2^e, with e up to 120 here; in two steps, so that 128 bits hold it.
        let e = 60;
        let m = by * 2_f64.powi(e);
        let (high, rest) = (m.floor() as i128, m - m.floor());
        let low = rest * 2_f64.powi(60);
        assert!(high != 0 && low.fract().abs() < f64::MIN_POSITIVE, "{by}");
        let low = low as i128;
        let expected: Vec<i128> = raw
            .iter()
            .map(|x| {
                // floor((x high 2^60 + x low + 2^119) / 2^120).
                let carried = x * high + ((x * low) >> 60) + (1 << 59);
                carried >> 60
            })
            .collect();
        assert_eq!(results(&product, &raw), expected, "times {by}");
        checked(&product, &raw);
        if by.abs() > 1e-10 {
            let quotient = program(FIXED, Range::new(-(1 << 29), 1 << 29).unwrap(), &[3], |build, x| {
                build.divide(x, &float(by))
            });
            checked(&quotient.unwrap(), &[-(1 << 29), 7, 1 << 29]);
        }
    }
}

#[test]
fn most_products_and_quotients_take_one_truncation() {
    let hundred = 100 << 16;
    let range = Range::new(-hundred, hundred).unwrap();
    let raw = [0, 1, -1, hundred, -hundred, 65_536, 12_345, -99_999];
    let one: [(&str, Make); 6] = [
        ("times 0.1", |build, x| build.scale(x, &float(0.1))),
        ("times 0.5", |build, x| build.scale(x, &float(0.5))),
        ("by 3", |build, x| build.divide(x, &int(3))),
        ("by 1000", |build, x| build.divide(x, &int(1000))),
        ("by 1e6", |build, x| build.divide(x, &float(1e6))),
        ("by 2^18", |build, x| build.divide(x, &float(2_f64.powi(18)))),
    ];
    for (name, make) in one {
        let program = program(FIXED, range, &[8], make).unwrap();
        assert_eq!(truncations(&checked(&program, &raw)[0].plan), 1, "{name}");
    }
    let none = program(FIXED, range, &[8], |build, x| build.scale(x, &float(3.0))).unwrap();
    assert_eq!(truncations(&checked(&none, &raw)[0].plan), 0);
    // Of all bits of a ring the parts, and every limb.
    let whole = Range::of_width(crate::plan::Width::W64);
    let raw = [whole.lo(), whole.hi(), 0, -1, 1, 1 << 62, -(1 << 62), 12_345];
    for (by, expected) in [(int(1 << 18), 2), (int(1_000_000), 4), (float(1.0 / 0.3), 5)] {
        let far = program(FIXED, whole, &[8], |build, x| build.divide(x, &by)).unwrap();
        assert_eq!(truncations(&checked(&far, &raw)[0].plan), expected, "{by:?}");
    }
}

#[test]
fn means_are_rounded_once() {
    for (count, hi) in [(3, 1_i128 << 60), (1000, 1_000_000_000 << 16), (10_000, 1_000_000_000 << 16), (7, 9)]
    {
        let range = Range::new(0, hi).unwrap();
        let mean = program(FIXED, range, &[count], |build, x| {
            let sum = build.sum(x, None, false)?;
            build.divide(sum, &int(count as i64))
        })
        .unwrap();
        let raw: Vec<i128> =
            (0..count as i128).map(|at| (at * 0x5bd1_e995_7f4a_7c15).rem_euclid(hi + 1)).collect();
        assert_eq!(results(&mean, &raw), [nearest(raw.iter().sum(), count as i128)]);
        checked(&mean, &raw);
    }
}

#[test]
fn the_ring_is_as_narrow_as_a_product_leaves_it() {
    use crate::plan::{Domain, Width};
    for (bits, divisor, expected) in [
        (4, 4, Width::W8),
        (4, 3, Width::W16),
        (8, 3, Width::W32),
        (16, 3, Width::W64),
        (30, 256, Width::W32),
    ] {
        let range = Range::new(0, (1 << bits) - 1).unwrap();
        let quotient = program(FIXED, range, &[2], |build, x| build.divide(x, &int(divisor))).unwrap();
        let plans = checked(&quotient, &[0, (1 << bits) - 1]);
        assert_eq!(plans[0].plan.registers[0].domain, Domain::Ring(expected), "{bits} bits by {divisor}");
    }
}

#[test]
fn what_cannot_be_is_refused_at_its_line() {
    let range = Range::new(-(1 << 40), 1 << 40).unwrap();
    let fault = |kind, make: &dyn Fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>| {
        *program(kind, range, &[2], make).unwrap_err().fault
    };
    assert_eq!(fault(FIXED, &|build, x| build.divide(x, &int(0))), Fault::DivisionByZero);
    let vanished = fault(FIXED, &|build, x| build.scale(x, &float(1e-13)));
    assert_eq!(vanished, Fault::Vanishes { value: 1e-13, frac: 16 });
    assert_eq!(vanished.to_string(), "1e-13 would become 0 here, to the nearest multiple of 2^-16");
    assert!(matches!(
        fault(FIXED, &|build, x| build.scale(x, &float(1e10))),
        Fault::Overflow { operation: "*", .. }
    ));
    assert!(matches!(
        fault(FIXED, &|build, x| build.divide(x, &float(1e-9))),
        Fault::Overflow { operation: "/", .. }
    ));
    assert!(matches!(fault(FIXED, &|build, x| build.scale(x, &float(f64::NAN))), Fault::Constant(_)));
    assert!(matches!(
        fault(Dtype::Int, &|build, x| build.scale(x, &float(0.5))),
        Fault::NotDefined { operation: "*", .. }
    ));
    assert!(matches!(
        fault(Dtype::Int, &|build, x| build.divide(x, &int(2))),
        Fault::NotDefined { operation: "/", .. }
    ));
    let weights = |numbers: &[f64]| Value { shape: vec![numbers.len()], data: Data::Float(numbers.to_vec()) };
    for numbers in [&[0.5, 1e30][..], &[1e300, -1e300], &[1e9, 0.1]] {
        let weighed = fault(FIXED, &|build, x| build.weigh(x, &weights(numbers), false));
        assert!(matches!(weighed, Fault::Overflow { operation: "@", .. }), "{weighed:?}");
    }
    assert!(matches!(
        fault(FIXED, &|build, x| build.weigh(x, &weights(&[0.5; 3]), false)),
        Fault::Shapes { .. }
    ));
    // What is nothing but 0 can be multiplied by anything.
    let zero = program(FIXED, Range::point(0), &[2], |build, x| build.scale(x, &float(1e300))).unwrap();
    checked(&zero, &[0, 0]);
}

#[test]
fn many_different_numbers_have_a_shift_in_common() {
    let count = crate::rounded::SOUGHT + 5;
    let range = Range::new(-1000, 1 << 20).unwrap();
    let divisors = Value { shape: vec![count], data: Data::Int((1..=count as i64).collect()) };
    let quotients = program(FIXED, range, &[count], |build, x| build.divide(x, &divisors)).unwrap();
    let raw: Vec<i128> = (0..count as i128).map(|at| at * 7919 % (1 << 20) - 1000).collect();
    let expected: Vec<i128> = raw.iter().zip(1..).map(|(&x, d)| nearest(x, d)).collect();
    assert_eq!(results(&quotients, &raw), expected);
    checked(&quotients, &raw);
}

proptest! {
    #![proptest_config(testing::cases(100))]

    /// Sums of products with public matrices of all shapes, against sums of integers.
    #[test]
    fn weighed_sums_are_rounded_once(seed: u64, bits in 1u32..60, terms in 1usize..6, columns in 1usize..4, left: bool) {
        let mut rng = seeded(seed);
        let end = 1_i128 << bits;
        let range = Range::new(-end, end - 1).unwrap();
        // Weights of 40 bits with a fraction of 50.
        let weights: Vec<i64> = (0..terms * columns).map(|_| rng.random_range(-(1 << 40)..1 << 40)).collect();
        let numbers = weights.iter().map(|&weight| weight as f64 / 2_f64.powi(50)).collect();
        let (own, shape) = if left { (vec![terms, 2], vec![columns, terms]) } else { (vec![2, terms], vec![terms, columns]) };
        let matrix = Value { shape, data: Data::Float(numbers) };
        let sums = program(FIXED, range, &own, |build, x| build.weigh(x, &matrix, left)).unwrap();
        let raw: Vec<i128> = (0..2 * terms).map(|_| rng.random_range(-end..end)).collect();
        let (x, w) = (|row: usize, at: usize| if left { raw[at * 2 + row] } else { raw[row * terms + at] },
            |at: usize, column: usize| i128::from(if left { weights[column * terms + at] } else { weights[at * columns + column] }));
        let sum = |row: usize, column: usize| {
            let sum: i128 = (0..terms).map(|at| x(row, at) * w(at, column)).sum();
            nearest(sum, 1 << 50)
        };
        let expected: Vec<i128> = if left {
            (0..columns).flat_map(|column| (0..2).map(move |row| (row, column))).map(|(r, c)| sum(r, c)).collect()
        } else {
            (0..2).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(r, c)| sum(r, c)).collect()
        };
        prop_assert_eq!(results(&sums, &raw), expected);
        checked(&sums, &raw);
    }
}

/// ANDs for one element where numbers are bits, and rounds; of few instances, or of many.
fn circuits(make: &dyn Fn(usize) -> Program, many: bool) -> (usize, u32) {
    let instances = if many { 1 << 14 } else { 1 };
    let plan = crate::lower(&make(instances), Capabilities::BITS).unwrap().plan;
    let ands = plan.ops.iter().map(|op| match &op.kind {
        OpKind::Circuit { circuit, .. } => circuit.ands() as usize * op.kind.extent(&plan),
        other => panic!("{other:?} is no circuit"),
    });
    let depth = plan.levels.iter().map(|level| {
        level.stages.iter().map(|stage| plan.ops[stage.op as usize].kind.layers(0).end).max().unwrap_or(0)
    });
    (ands.sum::<usize>() / instances, depth.sum())
}

/// Truncations, and rounds by two additive components.
fn rings(program: &Program) -> (usize, u32) {
    let plan = crate::lower(program, Capabilities::TWO_COMPONENTS).unwrap().plan;
    let rounds = plan.levels.iter().map(|level| {
        let rounds = level.stages.iter().map(|stage| match &plan.ops[stage.op as usize].kind {
            OpKind::Circuit { circuit, .. } => circuit.depth(),
            _ => 1,
        });
        rounds.max().unwrap_or(0)
    });
    (truncations(&plan), rounds.sum())
}

#[test]
fn costs_are_what_the_decision_record_says() {
    let hundred = Range::new(-(100 << 16), 100 << 16).unwrap();
    let far = Range::new(0, 1 << 61).unwrap();
    let whole = Range::of_width(crate::plan::Width::W64);
    let total = |count: i128| Range::new(0, (count * 1_000_000_000) << 16).unwrap();
    let cases: [(Range, Make, Costs); 9] = [
        (hundred, |build, x| build.divide(x, &int(4)), [(1, 5), (42, 5), (21, 21)]),
        (hundred, |build, x| build.divide(x, &int(3)), [(1, 9), (438, 10), (290, 45)]),
        (hundred, |build, x| build.divide(x, &float(0.3)), [(1, 9), (500, 10), (337, 48)]),
        (hundred, |build, x| build.scale(x, &float(0.1)), [(1, 9), (421, 10), (275, 45)]),
        (far, |build, x| build.scale(x, &float(0.1)), [(3, 27), (2131, 12), (1666, 110)]),
        (far, |build, x| build.divide(x, &float(1e6)), [(4, 36), (1936, 18), (1338, 161)]),
        (total(1000), |build, x| build.divide(x, &int(1000)), [(3, 28), (1618, 18), (1119, 154)]),
        (total(10_000), |build, x| build.divide(x, &int(10_000)), [(4, 35), (1967, 18), (1412, 159)]),
        (whole, |build, x| build.divide(x, &float(3.7)), [(5, 55), (3557, 24), (2506, 236)]),
    ];
    for (case, (range, make, expected)) in cases.into_iter().enumerate() {
        let of = |instances: usize| program(FIXED, range, &[instances], make).unwrap();
        assert_eq!([rings(&of(1)), circuits(&of, false), circuits(&of, true)], expected, "case {case}");
    }
}
