use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::{STATISTICAL, room};
use crate::capabilities::Field;
use crate::plan::{Domain, OpKind, Plan};
use crate::testing;
use crate::{
    Builder, Capabilities, Dtype, Fault, NodeId, Program, ProgramError, Range, Recipient, Source, lower,
};
use std::sync::Arc;

const FIELDS: [Field; 2] = [Field::Fp61, Field::Fp128];

fn seeded(seed: u64) -> TestRng {
    let mut bytes = [11; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// A program of one result from inputs of one dtype, one range, one shape.
fn program(
    kind: Dtype,
    (lo, hi): (i128, i128),
    len: usize,
    inputs: usize,
    result: impl Fn(&mut Builder, &[NodeId]) -> Result<NodeId, ProgramError>,
) -> Program {
    let mut build = Builder::new();
    let range = if kind.is_ranged() { Range::new(lo, hi) } else { None };
    let input = |build: &mut Builder, at: usize| build.input("alice", &at.to_string(), kind, &[len], range);
    let ids: Vec<NodeId> = (0..inputs).map(|at| input(&mut build, at).unwrap()).collect();
    build.at(Source { file: "p.py".into(), line: 7, text: "result".into() });
    let node = result(&mut build, &ids).unwrap();
    build.reveal(node, Recipient::All).unwrap();
    build.finish().unwrap()
}

/// Checks a program on many inputs, ends of the range among them; the plan.
fn checked(program: &Program, field: Field) -> Plan {
    let mut rng = seeded(1);
    for _ in 0..20 {
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        testing::check(program, Capabilities::masked_opening(field), &inputs, seeded(rng.next_u64()));
    }
    let plan = lower(program, Capabilities::masked_opening(field)).unwrap().plan;
    assert!(plan.registers.iter().all(|register| register.domain == field.domain()));
    plan
}

/// Random bits, openings, products and rounds, for one element of `len`.
fn costs(plan: &Plan, len: usize) -> [usize; 4] {
    let [mut bits, mut openings, mut products] = [0; 3];
    for op in &plan.ops {
        let count = op.kind.extent(plan) / len;
        match op.kind {
            OpKind::Random { .. } => bits += count,
            OpKind::Open { .. } => openings += count,
            _ => products += count,
        }
    }
    let rounds = plan.levels.iter().filter(|level| {
        level.stages.iter().any(|stage| !matches!(plan.ops[stage.op as usize].kind, OpKind::Random { .. }))
    });
    [bits, openings, products, rounds.count()]
}

fn log2(x: u32) -> usize {
    x.next_power_of_two().ilog2() as usize
}

/// A mask is as long as the number that it hides can be, whatever the author says of it.
#[test]
fn masks_do_not_rest_on_what_authors_assume() {
    let negative = |build: &mut Builder, x| {
        let zero = build.public(Dtype::Int, vec![], vec![0])?;
        build.less(x, zero)
    };
    for field in FIELDS {
        let assumed = program(Dtype::Int, (-127, 127), 5, 1, |build, x| {
            let minus = build.neg(x[0])?;
            let none = build.add(x[0], minus)?;
            let none = build.assume(none, Range::new(-1, 1).unwrap())?;
            negative(build, none)
        });
        let known = program(Dtype::Int, (-1, 1), 5, 1, |build, x| negative(build, x[0]));
        let [assumed, known] = [assumed, known].map(|program| costs(&checked(&program, field), 5)[0]);
        // Two comparisons of the numbers as they can be clip them to what is assumed.
        assert!(assumed > 3 * known, "{assumed} and {known} random bits");
        let wrong =
            program(Dtype::Int, (-127, 127), 5, 1, |build, x| build.assume(x[0], Range::new(-1, 1).unwrap()));
        let plan = lower(&wrong, Capabilities::masked_opening(field)).unwrap().plan;
        let words = |values: [i64; 5]| values.map(|value| value as u64).to_vec();
        let clipped = testing::Clear::run(&plan, &[words([-127, -2, 0, 2, 127])], seeded(3));
        assert_eq!(clipped, [words([-1, -1, 0, 1, 1])]);
    }
}

proptest! {
    #![proptest_config(testing::cases(400))]

    /// Every node of a random program, against the reference; or a refusal at a line.
    #[test]
    fn a_plan_computes_what_its_program_means(seed: u64, steps in 1usize..14) {
        let mut rng = seeded(seed);
        let program = testing::program(&mut rng, steps);
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        let offered = Capabilities::masked_opening(Field::Fp128);
        match lower(&program, offered) {
            Ok(_) => drop(testing::check(&program, offered, &inputs, rng)),
            Err(error) => {
                let rings = |node: &crate::Node| matches!(node.ty.kind, Dtype::Modular(_));
                prop_assert!(matches!(*error.fault, Fault::NotOffered { .. }), "{error}");
                let dear = error.to_string().contains("32,768 products");
                prop_assert!(dear || program.nodes().iter().any(rings), "{error}");
            }
        }
    }
}

#[test]
fn comparisons_cost_what_is_said_and_are_right_at_the_ends() {
    for (field, all) in [(Field::Fp61, &[2u32, 3, 9, 19][..]), (Field::Fp128, &[2, 8, 33, 63])] {
        for &bits in all {
            // The difference of two numbers has a bit more.
            let half = 1 << (bits - 2);
            let less = program(Dtype::Int, (-half, half - 1), 65, 2, |build, x| build.less(x[0], x[1]));
            let [random, openings, products, rounds] = costs(&checked(&less, field), 65);
            let k = bits;
            assert_eq!((random, openings), ((k + STATISTICAL) as usize, 1));
            let expected = 2 * (k as usize - 2) - log2(k - 1);
            assert_eq!((products, rounds), (expected, 1 + log2(k - 1)), "{bits} bits");
            let equal = program(Dtype::Int, (-half, half - 1), 65, 2, |build, x| build.equal(x[0], x[1]));
            let found = costs(&checked(&equal, field), 65);
            assert_eq!(found, [(k + STATISTICAL) as usize, 1, k as usize - 1, 1 + log2(k)], "{bits} bits");
        }
    }
    // What can't be negative isn't compared with 0.
    let relu = program(Dtype::Int, (0, 9), 5, 1, |build, x| build.abs(x[0]));
    assert_eq!(costs(&checked(&relu, Field::Fp61), 5)[1], 0);
}

#[test]
fn a_truncation_is_exact_for_every_shift() {
    for (field, ends, shifts) in [
        (Field::Fp61, (-(1 << 19), (1 << 19) - 1), 1..=19),
        (Field::Fp128, (-(1 << 62), (1 << 62) - 1), 1..=61),
    ] {
        for by in shifts {
            let floor = program(Dtype::Int, ends, 65, 1, |build, x| build.shift_right(x[0], by));
            let bits = 128 - (2 * ends.1 as u128).leading_zeros();
            let found = costs(&checked(&floor, field), 65);
            let m = u32::from(by);
            let products = 2 * (by as usize - 1) - log2(m);
            assert_eq!(found, [(bits + STATISTICAL) as usize, 1, products, 1 + log2(m)], "by {by}");
        }
        for by in 1..=16 {
            let (lo, hi) = ends;
            let kind = Dtype::Fixed { frac: by };
            let nearest = program(kind, (lo, hi - (1 << (by - 1))), 65, 1, |build, x| build.rescale(x[0], 0));
            checked(&nearest, field);
        }
    }
    let all: Vec<u64> = (0..1 << 8).map(|x: u64| x.wrapping_sub(1 << 7)).collect();
    for by in 1..=7 {
        let floor = program(Dtype::Int, (-128, 127), 256, 1, |build, x| build.shift_right(x[0], by));
        for seed in 0..20 {
            let offered = Capabilities::masked_opening(Field::Fp61);
            testing::check(&floor, offered, std::slice::from_ref(&all), seeded(seed));
        }
    }
}

#[test]
fn bools_are_elements_and_logic_is_products() {
    for field in FIELDS {
        let logic = program(Dtype::Bool, (0, 1), 65, 3, |build, x| {
            let (both, either) = (build.and(x[0], x[1])?, build.or(x[1], x[2])?);
            let (apart, not) = (build.xor(both, either)?, build.not(x[0])?);
            let chosen = build.select(not, apart, x[2])?;
            let any = build.max(chosen, Some(0), true)?;
            let all = build.min(apart, Some(0), true)?;
            build.concatenate(&[apart, chosen, any, all], 0)
        });
        assert_eq!(costs(&checked(&logic, field), 65)[1], 0);
    }
}

#[test]
fn a_circuit_is_products_for_each_depth() {
    let mut build = tacit_circuit::Builder::new();
    let (a, b) = (build.input(8), build.input(8));
    let sum = tacit_circuit::arith::add(&mut build, tacit_circuit::arith::Style::Shallow, &a, &b);
    let not = build.not(a[0]);
    let (known, gone) = (build.constant(true), build.and(not, b[3]));
    let circuit = Arc::new(build.finish(vec![sum, vec![not, known, gone]]));
    for (field, instances) in [(Field::Fp61, 1), (Field::Fp61, 3), (Field::Fp128, 65)] {
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Bool, &[instances, 8], None).unwrap();
        let b = build.input("bob", "b", Dtype::Bool, &[8], None).unwrap();
        for result in build.circuit(&circuit, &[a, b]).unwrap() {
            build.reveal(result, Recipient::All).unwrap();
        }
        let plan = checked(&build.finish().unwrap(), field);
        assert!(plan.ops.iter().all(|op| matches!(op.kind, OpKind::Mul { .. })));
        assert!(plan.ops.len() <= 16, "{} products for a shallow sum", plan.ops.len());
    }
}

#[test]
fn what_has_no_room_for_a_mask_is_refused_at_its_line_with_what_helps() {
    for (field, bits) in [(Field::Fp61, 20), (Field::Fp128, 87)] {
        assert_eq!(room(field), bits);
    }
    let equal = |half: i128| program(Dtype::Int, (-half, half - 1), 2, 2, |build, x| build.equal(x[0], x[1]));
    let less = |half: i128| program(Dtype::Int, (-half, half - 1), 2, 2, |build, x| build.less(x[0], x[1]));
    checked(&equal(1 << 18), Field::Fp61);
    checked(&less(1 << 58), Field::Fp61);
    for (program, operation, bits, most) in [(equal(1 << 19), "==", 21, 20), (less(1 << 59), "<", 61, 60)] {
        let error = lower(&program, Capabilities::masked_opening(Field::Fp61)).unwrap_err();
        assert_eq!(error.at.line, 7);
        let field = Field::Fp61;
        assert_eq!(*error.fault, Fault::NoRoomForMask { operation, bits, field, most });
        assert!(error.to_string().contains("2^128-159"), "{error}");
    }
    // Sums and products take no mask.
    let product = program(Dtype::Int, (-(1 << 30), (1 << 30) - 1), 2, 2, |build, x| build.mul(x[0], x[1]));
    checked(&product, Field::Fp128);
}

#[test]
fn other_moduli_are_refused_at_their_line() {
    use crate::Modulus;
    for modulus in [Modulus::PowerOfTwo(8), Modulus::PowerOfTwo(65), Modulus::Mersenne61] {
        let other = program(Dtype::Modular(modulus), (0, 0), 2, 1, |build, x| build.add(x[0], x[0]));
        let error = lower(&other, Capabilities::masked_opening(Field::Fp128)).unwrap_err();
        assert!(matches!(*error.fault, Fault::NotOffered { operation: "input", .. }), "{error}");
    }
    let own = program(Dtype::Modular(Modulus::Mersenne61), (0, 0), 2, 2, |build, x| build.mul(x[0], x[1]));
    checked(&own, Field::Fp61);
    let wrapping = program(Dtype::Bool, (0, 1), 2, 1, |build, x| {
        build.astype(x[0], Dtype::Modular(Modulus::PowerOfTwo(8)))
    });
    let error = lower(&wrapping, Capabilities::masked_opening(Field::Fp128)).unwrap_err();
    assert_eq!(error.at.line, 7);
}

#[test]
fn openings_are_masked_and_random_bits_come_one_level_before() {
    let less = program(Dtype::Int, (-8, 7), 3, 2, |build, x| {
        let below = build.less(x[0], x[1])?;
        let chosen = build.select(below, x[0], x[1])?;
        build.less(chosen, x[0])
    });
    let plan = lower(&less, Capabilities::masked_opening(Field::Fp61)).unwrap().plan;
    let level = |wanted: fn(&OpKind) -> bool| -> Vec<usize> {
        let levels =
            plan.levels.iter().enumerate().filter(|(_, level)| {
                level.stages.iter().any(|stage| wanted(&plan.ops[stage.op as usize].kind))
            });
        levels.map(|(at, _)| at).collect()
    };
    let openings = level(|kind| matches!(kind, OpKind::Open { .. }));
    let random = level(|kind| matches!(kind, OpKind::Random { .. }));
    assert_eq!(openings.len(), 2);
    assert_eq!(random, [openings[0] - 1, openings[1] - 1]);
    assert!(plan.registers.iter().any(|register| register.public));
    assert!(plan.outputs.iter().all(|output| !plan.register(output.reg).public));
    assert_eq!(plan.register(plan.inputs[0].reg).domain, Domain::Modular(Field::Fp61.modulus()));
}

/// Fixed point of 32 fraction bits, or of more, between these raw ends of the 32.
fn fractions(
    end: i128,
    frac: u8,
    result: impl Fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>,
) -> Program {
    program(Dtype::Fixed { frac: 32 }, (-end, end - 1), 65, 2, |build, x| {
        let [a, b] = [build.rescale(x[0], frac)?, build.rescale(x[1], frac)?];
        result(build, a, b)
    })
}

#[test]
fn products_of_64_by_64_bits_are_rounded_exactly() {
    let bits = 128;
    // Exact products of 84, 94, 108 and 124 bits; of the first, a mask of 40 bits more than they have hides them.
    for (end, frac, all) in [(42, 22, 84), (47, 32, 94), (38, 48, 108), (32, 62, 124)] {
        let multiplied = |build: &mut Builder, a, b| build.mul(a, b);
        let product = if frac < 32 {
            let kind = Dtype::Fixed { frac };
            program(kind, (-1 << end, (1 << end) - 1), 65, 2, |build, x| multiplied(build, x[0], x[1]))
        } else {
            fractions(1 << end, frac, multiplied)
        };
        let found = costs(&checked(&product, Field::Fp128), 65);
        let m = u32::from(frac);
        let low = 2 * (m as usize - 1) - log2(m);
        let masked = all + 1 + STATISTICAL;
        let expected = if masked < bits {
            [masked as usize, 1, 1 + low, 2 + log2(m)]
        } else {
            [128, 1, 1 + (2 * 127 - 7) + 2 * low + 1, 1 + 2 + 7]
        };
        assert_eq!(found, expected, "{all} bits");
    }
    // Sums of products, and squares.
    let dot = fractions(1 << 28, 60, Builder::matmul);
    checked(&dot, Field::Fp128);
    let square = fractions(1 << 32, 62, |build, a, _| build.mul(a, a));
    checked(&square, Field::Fp128);
}

#[test]
fn what_is_longer_than_rings_and_fields_round_is_refused_at_its_line() {
    let (dot, product) = (fractions(1 << 28, 60, Builder::matmul), fractions(1 << 47, 32, Builder::mul));
    for rings in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
        let error = lower(&dot, rings).unwrap_err();
        assert_eq!(error.at.line, 7);
        assert!(matches!(*error.fault, Fault::TruncationGuard { operation: "@", bits: 62, .. }), "{error}");
        assert!(error.to_string().contains("choose a protocol that rounds longer products"), "{error}");
    }
    let mut rng = seeded(2);
    for _ in 0..3 {
        let inputs = testing::inputs(&product.input_types(), &mut rng);
        for way in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS, Capabilities::BITS] {
            testing::check(&product, way, &inputs, seeded(3));
        }
    }
    let mut build = Builder::new();
    let end = 1_i128 << 33;
    let x = build.input("alice", "x", Dtype::Fixed { frac: 32 }, &[2], Range::new(-end, end - 1)).unwrap();
    let x = build.rescale(x, 62).unwrap();
    let longer = build.mul(x, x).unwrap_err();
    assert!(matches!(*longer.fault, Fault::TruncationGuard { operation: "*", bits: 126, .. }), "{longer}");
}

/// All shifts in the smaller field, in which half of all masks wrap.
#[test]
fn shifts_without_slack_are_exact() {
    let end = 1_i128 << 59;
    for by in 1..=58 {
        let floor = program(Dtype::Int, (-end, end - 1), 65, 1, |build, x| build.shift_right(x[0], by));
        let found = costs(&checked(&floor, Field::Fp61), 65);
        let m = u32::from(by);
        let low = 2 * (by as usize - 1) - log2(m);
        assert_eq!(found, [61, 1, (2 * 60 - 6) + 2 * low + 1, 2 + 6], "by {by}");
    }
}

/// Whatever is hidden, each half of the field is opened as often, and so are even and odd numbers.
#[test]
fn what_is_opened_without_slack_is_uniform() {
    let product = program(Dtype::Fixed { frac: 32 }, (-1 << 47, (1 << 47) - 1), 2000, 2, |build, x| {
        build.mul(x[0], x[1])
    });
    let mut plan = lower(&product, Capabilities::masked_opening(Field::Fp128)).unwrap().plan;
    let opened = plan.ops.iter().find_map(|op| match op.kind {
        OpKind::Open { dst, how, .. } => Some((dst, how)),
        _ => None,
    });
    let (opened, how) = opened.expect("a truncation opens something");
    assert_eq!(how, crate::plan::Opening::Masked);
    plan.levels.iter_mut().for_each(|level| level.free.retain(|&reg| reg != opened));
    plan.outputs[0].reg = opened;
    plan.outputs[0].form = crate::plan::Form::Elements;
    for (seed, value) in [(1, 0), (2, (1 << 47) - 1), (3, -1_i64 << 47)] {
        let words = vec![value as u64; 2000];
        let opened = &testing::Clear::run(&plan, &[words.clone(), words], seeded(seed))[0];
        for bit in [0, 1, 126, 127] {
            let set = opened.chunks(2).filter(|word| word[bit / 64] >> (bit % 64) & 1 == 1).count();
            // 6.7 standard deviations.
            assert!((850..=1150).contains(&set), "bit {bit} of {value}: {set} of 2000");
        }
    }
}

#[test]
fn quotients_by_public_numbers_and_by_secrets_are_right() {
    for (lo, hi) in [(-100, 100), (i128::from(i64::MIN) + 1, i64::MAX.into())] {
        for divisor in [1, 2, 7, -3, 97] {
            let both = program(Dtype::Int, (lo, hi), 65, 1, |build, x| {
                let by = build.public(Dtype::Int, vec![], vec![divisor])?;
                let (rest, quotient) = (build.remainder(x[0], by)?, build.quotient(x[0], by)?);
                build.concatenate(&[rest, quotient], 0)
            });
            checked(&both, Field::Fp128);
        }
    }
    for (lo, hi) in [(1, 9), (-900, -1)] {
        let secret = program(Dtype::Int, (lo, hi), 65, 2, |build, x| {
            let (rest, quotient) = (build.remainder(x[0], x[1])?, build.quotient(x[0], x[1])?);
            build.concatenate(&[rest, quotient], 0)
        });
        checked(&secret, Field::Fp128);
    }
}

/// Products of a plan for one element of `fixed(16)` below 2^14, and its levels.
fn products(
    make: impl Fn(&mut Builder, &[NodeId]) -> Result<NodeId, ProgramError>,
) -> Result<(usize, usize), ProgramError> {
    let kind = Dtype::Fixed { frac: 16 };
    let program = program(kind, ((-1 << 30) + 1, (1 << 30) - 1), 1, 2, make);
    let plan = lower(&program, Capabilities::masked_opening(Field::Fp128))?.plan;
    let products = plan.ops.iter().filter(|op| matches!(op.kind, OpKind::Mul { .. }));
    Ok((products.map(|op| op.kind.extent(&plan)).sum(), plan.levels.len()))
}

#[test]
fn functions_cost_what_the_page_says() {
    let ratio = products(|build, x| build.ratio(x[0], x[1]));
    let part = products(|build, x| build.part(x[0], x[1]));
    let sqrt = products(|build, x| build.sqrt(x[0]));
    assert_eq!([ratio, part, sqrt].map(Result::unwrap), [(7_070, 400), (4_213, 161), (1_935, 175)]);
}
