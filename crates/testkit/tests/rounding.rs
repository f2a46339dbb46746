//! Products with public numbers, quotients and means under the protocols for three parties: rounded once, to the
//! nearest, ties up, in ranges that leave no room for a product in 64 bits. What each has to be is reckoned here,
//! with integers of 128 bits.

use tacit_astra::Astra;
use tacit_engine::Protocol;
use tacit_program::plan::Width;
use tacit_program::{
    Builder, Data, Dtype, NodeId, Program, ProgramError, Range, Recipient, Value, decode_raw,
    first_difference, lower, lower_for_debug,
};
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::{Case, Draws, Rng, generate};

const FIXED: Dtype = Dtype::Fixed { frac: 16 };

fn protocols() -> [&'static dyn Protocol; 5] {
    [
        &Replicated::COMPUTATIONAL,
        &ReplicatedMalicious::SOUNDNESS_50,
        &Astra::SEMI_HONEST,
        &Astra::MALICIOUS,
        &Astra::FAIR,
    ]
}

/// A result of a party's numbers, revealed to another one.
fn program(
    range: Range,
    shape: &[usize],
    result: impl Fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>,
) -> Program {
    let mut build = Builder::new();
    let x = build.input("P0", "x", FIXED, shape, Some(range)).unwrap();
    let result = result(&mut build, x).unwrap();
    build.reveal(result, Recipient::Role("P1".into())).unwrap();
    build.finish().unwrap()
}

/// Checks the raw results under all protocols.
fn check(program: &Program, raw: &[i128], expected: &[i128]) {
    let inputs = [raw.iter().map(|&raw| raw as u64).collect()];
    for protocol in protocols() {
        let lowered = lower(program, protocol.capabilities()).unwrap();
        let case = Case::new(protocol, 3, lowered.plan, &inputs);
        let run = case.run(&Draws::fixed(1));
        let output = run.outcomes()[1].outputs[0].as_ref().unwrap().to_elements(case.plan.outputs[0].form);
        let got = decode_raw(&lowered.outputs[0], &output).unwrap();
        assert_eq!(got, expected, "{}", protocol.spec().name);
    }
}

fn float(x: f64) -> Value {
    Value { shape: vec![], data: Data::Float(vec![x]) }
}

fn int(x: i64) -> Value {
    Value { shape: vec![], data: Data::Int(vec![x]) }
}

/// `floor(n / d + 1/2)`.
fn nearest(n: i128, d: i128) -> i128 {
    (2 * n + d).div_euclid(2 * d)
}

#[test]
fn a_billion_by_a_million_is_a_thousand() {
    let range = Range::of_reals(0.0, 2_f64.powi(45), 16).unwrap();
    let raw = [1_000_000_000 << 16, 0, 1, range.hi(), 1_500_000 << 16];
    let quotient = program(range, &[5], |build, x| build.divide(x, &float(1e6)));
    check(&quotient, &raw, &raw.map(|x| nearest(x, 1_000_000)));
    assert_eq!(nearest(raw[0], 1_000_000), 1000 << 16);
    let product = program(range, &[5], |build, x| build.scale(x, &float(0.1)));
    check(&product, &raw, &raw.map(|x| nearest(x * 3_602_879_701_896_397, 1 << 55)));
}

#[test]
fn a_mean_of_thousands_is_the_nearest() {
    for count in [1000, 10_000] {
        let range = Range::of_reals(0.0, 1e9, 16).unwrap();
        let mean = program(range, &[count], |build, x| {
            let sum = build.sum(x, None, false)?;
            build.divide(sum, &int(count as i64))
        });
        let mut rng = Rng::new(count as u64);
        let raw: Vec<i128> = (0..count).map(|_| rng.edgy(range.lo(), range.hi())).collect();
        check(&mean, &raw, &[nearest(raw.iter().sum(), count as i128)]);
    }
}

#[test]
fn a_quarter_of_a_step_is_nothing_and_half_a_step_is_one() {
    for high in [1.0, 2.0, 2_f64.powi(46)] {
        let range = Range::of_reals(-high, high, 16).unwrap();
        let raw = [1 << 16, -1 << 16, 0, 1 << 15];
        let by = |bits: u32| program(range, &[4], |build, x| build.divide(x, &int(1 << bits)));
        check(&by(18), &raw, &[0; 4]);
        check(&by(17), &raw, &[1, 0, 0, 0]);
    }
}

#[test]
fn all_bits_of_a_ring_are_divided() {
    let whole = Range::of_width(Width::W64);
    let raw = [whole.lo(), whole.hi(), whole.lo() + 1, 0, -1, 1, 1 << 62, -1 << 62];
    for d in [3, 1 << 18, 1_000_000, 10_000_019] {
        let quotient = program(whole, &[8], |build, x| build.divide(x, &int(d)));
        check(&quotient, &raw, &raw.map(|x| nearest(x, d.into())));
    }
}

#[test]
fn weighted_sums_are_rounded_once() {
    let range = Range::of_reals(-(2_f64.powi(40)), 2_f64.powi(40), 16).unwrap();
    let raw = [range.lo(), range.hi(), 12_345, -1, 7 << 40, 1];
    // 0.1, -0.75 and 2^-40, in units of 2^-55.
    let weights = [3_602_879_701_896_397, -(3_i128 << 53), 1 << 15];
    let matrix =
        Value { shape: vec![3], data: Data::Float(weights.map(|w| w as f64 / 2_f64.powi(55)).to_vec()) };
    let sums = program(range, &[2, 3], |build, x| build.weigh(x, &matrix, false));
    let sum = |row: &[i128]| nearest(row.iter().zip(weights).map(|(x, w)| x * w).sum(), 1 << 55);
    check(&sums, &raw, &[sum(&raw[..3]), sum(&raw[3..])]);
}

/// Programs with means, variances, weighted sums, factors and divisors of all sorts: every node, against exact fractions.
#[test]
fn random_programs_mean_what_fractions_say() {
    for protocol in &protocols()[..4] {
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let program = generate::program(&mut rng, 3, 12, 5);
            let inputs = generate::inputs(&program.input_types(), &mut rng);
            let Ok(lowered) = lower_for_debug(&program, protocol.capabilities()) else { continue };
            let case = Case::new(*protocol, 3, lowered.plan.clone(), &inputs);
            let run = case.run(&Draws::fixed(seed));
            let outcomes = run.outcomes();
            let outputs = case.plan.outputs.iter().enumerate().map(|(index, output)| {
                let known = outcomes.iter().find_map(|outcome| outcome.outputs[index].as_ref());
                known.map(|clear| clear.to_elements(output.form)).unwrap_or_default()
            });
            let outputs: Vec<Vec<u64>> = outputs.collect();
            let wrong = first_difference(&program, &lowered, &inputs, &outputs).unwrap();
            assert!(wrong.is_none(), "random program {seed} under {}: {wrong:?}", protocol.spec().name);
        }
    }
}
