//! Why truncation here is exact.
//!
//! The usual probabilistic truncation opens `x + r` for a random `r`, shifts it, and takes `r >> d` off again. It rounds up with
//! the right probability, but not independently of what was opened: with the same `r` for mask and for rounding, whoever saw `x +
//! r` knows, given `x`, which way it went, and so which output goes with which opening (Li et al. 2023, section 5.2;
//! Catrina and de Hoogh's protocol, their Protocol 1).
//!
//! The first two tests show that, so that nobody brings it back for its price; the third holds ours against
//! `floor((x + half) / 2^d)`. The last ones are about where that ends: at `2^(k-2)` in a ring of k bits. From there on the result
//! depends on how a number is shared, so it isn't only wrong; programs that could get there are refused, or end.

use std::collections::BTreeSet;

use tacit_engine::{Error, Protocol};
use tacit_program::plan::Domain;
use tacit_program::{Builder, Capabilities, Dtype, Fault, Feature, Program, Range, Recipient, decode, lower};
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::{Case, Draws, Rng};

/// Bits that are taken off.
const D: u32 = 8;

/// Protocol 1: what is opened, and the result.
fn probabilistic(x: u64, rng: &mut Rng) -> (u64, u64) {
    // Short of the ring's end, so that the sum doesn't wrap.
    let r = rng.word() >> 1;
    let opened = x.wrapping_add(r);
    (opened, (opened >> D).wrapping_sub(r >> D))
}

/// Functionality 2: rounds up with probability `(x mod 2^d) / 2^d`, by a coin of its own; and a mask that has
/// nothing to do with it.
fn ideal(x: u64, rng: &mut Rng) -> (u64, u64) {
    let up = rng.word() % (1 << D) < x % (1 << D);
    (x.wrapping_add(rng.word() >> 1), (x >> D) + u64::from(up))
}

/// How often each of both roundings happens, given the opened value's low bits: below those of `x`, or not.
fn roundings(x: u64, truncate: impl Fn(u64, &mut Rng) -> (u64, u64)) -> [[u32; 2]; 2] {
    let mut rng = Rng::new(1);
    let mut counts = [[0; 2]; 2];
    for _ in 0..10_000 {
        let (opened, result) = truncate(x, &mut rng);
        let wrapped = usize::from(opened % (1 << D) < x % (1 << D));
        counts[wrapped][(result - (x >> D)) as usize] += 1;
    }
    counts
}

#[test]
fn the_opened_value_fixes_how_probabilistic_truncation_rounds() {
    for x in [1_u64 << 20 | 0x40, 1 << 30 | 0x80, 12_345 << D | 0xc0] {
        let expected_up = 10_000.0 * (x % (1 << D)) as f64 / f64::from(1 << D);
        let [not_wrapped, wrapped] = roundings(x, probabilistic);
        // Each way as often as it should be, to six standard deviations ...
        assert!((f64::from(wrapped[1]) - expected_up).abs() < 300.0, "{wrapped:?}");
        // ... but always up where the low bits wrapped, and always down where they didn't.
        assert_eq!((not_wrapped[1], wrapped[0]), (0, 0));

        // What a simulator, who knows x and the output's distribution but not its coin, would have to match.
        let [not_wrapped, wrapped] = roundings(x, ideal);
        assert!(not_wrapped.iter().chain(&wrapped).all(|&count| count > 300), "{not_wrapped:?} {wrapped:?}");
    }
}

/// What `P_1` has after Protocol 1 among three parties: two components of `x`, and `x + r`, for which the others gave it
/// theirs. Its components of `r` and of `r^d` are uniform beside that.
struct View {
    x: [u64; 2],
    opened: u64,
}

impl View {
    /// How the result was rounded, for whoever knows `x`, as a distinguisher does: up if the low bits of `x + r` are below
    /// those of `x`.
    fn predicts(&self, x: u64) -> u64 {
        u64::from(self.opened % (1 << D) < x % (1 << D))
    }
}

/// Components whose sum is a number.
fn shared(number: u64, rng: &mut Rng) -> [u64; 3] {
    let [first, second] = [rng.word(), rng.word()];
    [first, second, number.wrapping_sub(first).wrapping_sub(second)]
}

fn sum(components: [u64; 3]) -> u64 {
    components.into_iter().fold(0, u64::wrapping_add)
}

/// Protocol 1 in components of three parties: the view of `P_1`, and the result that components add up to.
fn protocol_1(x: [u64; 3], rng: &mut Rng) -> (View, u64) {
    let mask = rng.word() >> 1;
    let [r, truncated_r] = [mask, mask >> D].map(|number| shared(number, rng));
    let opened = sum([0, 1, 2].map(|at| x[at].wrapping_add(r[at])));
    let known = [opened >> D, 0, 0];
    let result = sum([0, 1, 2].map(|at| known[at].wrapping_sub(truncated_r[at])));
    (View { x: [x[0], x[1]], opened }, result)
}

/// Functionality 2's result, and what a simulator can say of the same view, which knows neither `x` nor the coin.
fn functionality_2(x: [u64; 3], rng: &mut Rng) -> (View, u64) {
    let (_, result) = ideal(sum(x), rng);
    (View { x: [x[0], x[1]], opened: rng.word() >> 1 }, result)
}

/// The proof of theorem 5.2.1, with its `x = 2^(d-1)`: Protocol 1's view says every time which of both results it was. An
/// ideal coin is guessed half of the time.
#[test]
fn the_view_of_one_party_predicts_every_rounding_of_probabilistic_truncation() {
    const RUNS: usize = 10_000;
    let x = 1 << (D - 1);
    let mut rng = Rng::new(2);
    let components = shared(x, &mut rng);
    let mut right = |run: fn([u64; 3], &mut Rng) -> (View, u64)| {
        let mut counts = [0_usize; 2];
        let mut right = 0_usize;
        for _ in 0..RUNS {
            let (view, result) = run(components, &mut rng);
            assert_eq!(view.x, components[..2], "the input's components are the same in every run");
            counts[result as usize] += 1;
            right += usize::from(view.predicts(x) == result);
        }
        assert!(counts.iter().all(|count| count.abs_diff(RUNS / 2) <= RUNS / 40), "{counts:?}");
        right
    };
    assert_eq!(right(protocol_1), RUNS);
    let guessed = right(functionality_2);
    assert!(guessed.abs_diff(RUNS / 2) <= RUNS / 40, "{guessed}");
}

#[test]
fn ours_is_the_exact_quotient_whatever_is_drawn() {
    // |x| up to the guard: 2^(k-2) and no further, with the rounding's half.
    for (width, by) in [(8_u32, 1), (8, 4), (16, 7), (32, 13), (64, 1), (64, 16), (64, 32)] {
        let limit = 1_i128 << (width - 2);
        let half = 1_i128 << (by - 1);
        let (lo, hi) = (-limit, limit - 1 - half);
        let mut build = Builder::new();
        let frac = by as u8;
        let range = Range::new(lo, hi);
        let x = build.input("alice", "x", Dtype::Fixed { frac }, &[64], range).unwrap();
        let rounded = build.rescale(x, 0).unwrap();
        build.reveal(rounded, Recipient::All).unwrap();
        let program = build.finish().unwrap();

        let mut rng = Rng::new(u64::from(width));
        let edges =
            [lo, lo + 1, hi, hi - 1, 0, 1, -1, half, half - 1, -half, -half - 1, 1 << by, (1 << by) - 1];
        let inputs: Vec<i128> = (0..64)
            .map(|at| edges.get(at).map_or_else(|| rng.edgy(lo, hi), |&edge| edge.clamp(lo, hi)))
            .collect();
        let words: Vec<u64> = inputs.iter().map(|&x| x as u64).collect();
        let expected: Vec<i64> = inputs.iter().map(|&x| ((x + half) >> by) as i64).collect();
        for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
            let lowered = lower(&program, capabilities).unwrap();
            let words = std::slice::from_ref(&words);
            let case = Case::new(&Replicated::COMPUTATIONAL, 3, lowered.plan, words);
            for seed in 0..20 {
                for outcome in case.run(&Draws::fixed(seed)).outcomes() {
                    let got = outcome.outputs[0].as_ref().map(tacit_engine::Clear::to_words).unwrap();
                    let got = decode(&lowered.outputs[0], &got).unwrap();
                    let expected = tacit_program::Data::Int(expected.clone());
                    assert_eq!(got.data, expected, "2^{by} in {width} bits, seed {seed}, {capabilities:?}");
                }
            }
        }
    }
}

/// Bits that are taken off at the border.
const BY: u8 = 3;

/// How often a number is shared in a run, and usual runs.
const TIMES: usize = 1024;
const RUNS: u64 = 4;

/// A number of an owner who says that it is in a range, shared so often, without its last bits. It is assumed to be in another range, if in one.
fn shifted(owned: (i128, i128), assumed: Option<(i128, i128)>) -> Result<Program, Fault> {
    let mut build = Builder::new();
    let range = |(lo, hi)| Range::new(lo, hi).expect("a range");
    let mut x = build.input("alice", "x", Dtype::Int, &[TIMES], Some(range(owned))).unwrap();
    if let Some(assumed) = assumed {
        x = build.assume(x, range(assumed)).unwrap();
    }
    let short = build.shift_right(x, BY).map_err(|error| *error.fault)?;
    build.reveal(short, Recipient::All).unwrap();
    Ok(build.finish().unwrap())
}

/// All that comes of a number in some runs; nothing for those that end as it is outside of its range.
fn results(
    program: &Program,
    x: i128,
    capabilities: Capabilities,
    protocol: &'static dyn Protocol,
    runs: u64,
) -> BTreeSet<Option<i64>> {
    let lowered = lower(program, capabilities).unwrap();
    let case = Case::new(protocol, 3, lowered.plan, &[vec![x as u64; TIMES]]);
    let result = |seed| -> BTreeSet<Option<i64>> {
        let run = case.run(&Draws::fixed(seed));
        let result = &run.endings[0].as_ref().expect("it came").result;
        match result {
            Ok(outcome) => {
                let output = outcome.outputs[0].as_ref().expect("it is for all");
                let elements = output.to_elements(case.plan.outputs[0].form).into_iter();
                // Elements of rings have no sign.
                let rest = if output.domain() == Domain::Bits { 0 } else { 64 - output.domain().bits() };
                elements.map(|element| Some((element << rest) as i64 >> rest)).collect()
            }
            Err(Error::OutsideAssumed) => BTreeSet::from([None]),
            Err(error) => panic!("{x}, seed {seed}: {error}"),
        }
    };
    (0..runs).flat_map(result).collect()
}

/// What should come of it.
fn right(x: i128) -> BTreeSet<Option<i64>> {
    BTreeSet::from([Some((x >> BY) as i64)])
}

/// The ends of what a ring of so many bits truncates.
fn ends(width: u32) -> (i128, i128) {
    let limit = 1 << (width - 2);
    (-limit, limit - 1)
}

/// Whoever gives a number that isn't in the range which it said makes the result depend on shares, in a protocol that takes its
/// word: the farther outside, the more shares give a wrong one. The last numbers inside give what they should, whatever their
/// shares are.
#[test]
fn beyond_the_border_the_result_depends_on_how_a_number_is_shared() {
    for width in [8, 16, 32, 64] {
        let (lo, hi) = ends(width);
        let program = shifted((lo, hi), None).unwrap();
        for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
            let of = |x, runs| results(&program, x, capabilities, &Replicated::COMPUTATIONAL, runs);
            for x in [lo, hi] {
                assert_eq!(of(x, RUNS), right(x), "{x} in {width} bits, {capabilities:?}");
            }
            let half = hi / 2 + 1;
            for x in [lo - half, hi + half] {
                assert!(of(x, RUNS).len() > 1, "{x} in {width} bits, {capabilities:?}");
            }
            // The first number outside: one share in 2^(k-1) is enough, and of three components 16 in 2^2k.
            if width == 8 {
                assert!(of(hi + 1, 40).len() > 1, "{capabilities:?}");
            }
        }
    }
}

/// A range that is longer by one number takes a wider ring, where it is as right as any other; where there is none it is refused.
#[test]
fn a_range_beyond_the_border_is_refused_or_takes_a_wider_ring() {
    for width in [8, 16, 32] {
        let (lo, hi) = ends(width);
        for longer in [(lo - 1, hi), (lo, hi + 1)] {
            let program = shifted(longer, None).unwrap();
            for x in [longer.0, longer.1] {
                for capabilities in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
                    let got = results(&program, x, capabilities, &Replicated::COMPUTATIONAL, RUNS);
                    assert_eq!(got, right(x), "{x}, {capabilities:?}");
                }
            }
        }
    }
    let (lo, hi) = ends(64);
    for longer in [(lo - 1, hi), (lo, hi + 1)] {
        assert!(matches!(shifted(longer, None), Err(Fault::TruncationGuard { bits: 62, .. })), "{longer:?}");
    }
}

/// A number that is assumed to be short enough ends the run from the border on, whatever its shares are.
#[test]
fn a_number_that_is_assumed_to_be_short_enough_ends_the_run_from_the_border_on() {
    let inside = ends(64);
    let program = shifted((i64::MIN.into(), i64::MAX.into()), Some(inside)).unwrap();
    let in_rings = [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS]
        .map(|capabilities| capabilities.with(Feature::Guard));
    let verified = &ReplicatedMalicious::SOUNDNESS_50;
    let cases: [(Capabilities, &dyn Protocol); 4] = [
        (in_rings[0], &Replicated::COMPUTATIONAL),
        (in_rings[1], &Replicated::COMPUTATIONAL),
        (in_rings[1], verified),
        (verified.capabilities(), verified),
    ];
    for (capabilities, protocol) in cases {
        let of = |x| results(&program, x, capabilities, protocol, RUNS);
        for x in [inside.0, inside.1] {
            assert_eq!(of(x), right(x), "{x}, {}", protocol.spec().name);
        }
        for x in [inside.0 - 1, inside.1 + 1, i64::MIN.into(), i64::MAX.into()] {
            assert_eq!(of(x), BTreeSet::from([None]), "{x}, {}", protocol.spec().name);
        }
    }
}

/// Where owners are held to the ranges that they say, whoever gives a number beyond the border, or between the range and the border,
/// gives the least one of the range.
#[test]
fn an_owner_who_is_held_to_a_range_gives_no_number_beyond_the_border() {
    let (lo, hi) = ends(64);
    let capabilities = Capabilities::THREE_COMPONENTS.holding_ranges();
    for (last, protocol) in [
        (hi, &Replicated::COMPUTATIONAL as &dyn Protocol),
        (hi - 100, &Replicated::COMPUTATIONAL),
        (hi, &ReplicatedMalicious::SOUNDNESS_50),
    ] {
        let program = shifted((lo, last), None).unwrap();
        let of = |x| results(&program, x, capabilities, protocol, RUNS);
        for x in [lo, last] {
            assert_eq!(of(x), right(x), "{x}");
        }
        for x in [lo - 1, last + 1, hi + 1, hi + hi / 2, i64::MAX.into()] {
            assert_eq!(of(x), right(lo), "{x}");
        }
    }
}
