use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::plan::{self, Local, OpKind, Plan, Stage, To, Width};
use crate::testing::{self, Clear};
use crate::{
    Builder, Capabilities, Dtype, Fault, Feature, Index, Lowered, Modulus, NodeId, Numbers, Program, Range,
    Recipient, lower,
};

fn seeded(seed: u64) -> TestRng {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

proptest! {
    #![proptest_config(testing::cases(400))]

    /// Every node of a random program, against the reference.
    #[test]
    fn a_plan_computes_what_its_program_means(seed: u64, steps in 1usize..14) {
        let mut rng = seeded(seed);
        let program = testing::program(&mut rng, steps);
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        if testing::is_beyond_rings(&program, Capabilities::TWO_COMPONENTS) {
            return Ok(());
        }
        testing::check(&program, Capabilities::TWO_COMPONENTS, &inputs, rng);
    }

    /// The same with three additive components, by ANDs and products alone.
    #[test]
    fn products_compute_what_a_program_means(seed: u64, steps in 1usize..14) {
        let mut rng = seeded(seed);
        let program = testing::program(&mut rng, steps);
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        if testing::is_beyond_rings(&program, Capabilities::THREE_COMPONENTS) {
            return Ok(());
        }
        let plan = testing::check(&program, Capabilities::THREE_COMPONENTS, &inputs, rng).plan;
        prop_assert!(only_products(&plan));
    }

    /// The same where the engine has MSB extraction of its own.
    #[test]
    fn signs_compute_what_a_program_means(seed: u64, steps in 1usize..14) {
        let mut rng = seeded(seed);
        let program = testing::program(&mut rng, steps);
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        if testing::is_beyond_rings(&program, Capabilities::TWO_COMPONENTS.with(Feature::Msb)) {
            return Ok(());
        }
        testing::check(&program, Capabilities::TWO_COMPONENTS.with(Feature::Msb), &inputs, rng.clone());
        let plan = testing::check(&program, Capabilities::THREE_COMPONENTS.with(Feature::Msb), &inputs, rng).plan;
        let by_two =
            |kind: &OpKind| matches!(kind, OpKind::Split { .. } | OpKind::Inject { .. } | OpKind::Shift { .. });
        prop_assert!(!plan.ops.iter().any(|op| by_two(&op.kind)));
    }

    /// The same with numbers as bits.
    #[test]
    fn circuits_on_bits_compute_what_a_program_means(seed: u64, steps in 1usize..14) {
        let mut rng = seeded(seed);
        let program = testing::program(&mut rng, steps);
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        if testing::has_bits(&program) {
            testing::check(&program, Capabilities::BITS, &inputs, rng);
        } else {
            let error = lower(&program, Capabilities::BITS).unwrap_err();
            assert!(matches!(*error.fault, Fault::NotOffered { .. }), "{error}");
        }
    }
}

/// A program of one result from inputs of one dtype, one range, one shape.
fn program(
    kind: Dtype,
    bits: (i128, i128),
    shape: &[usize],
    inputs: usize,
    result: impl Fn(&mut Builder, &[NodeId]) -> Result<NodeId, crate::ProgramError>,
) -> Program {
    let mut build = Builder::new();
    let range = if kind.is_ranged() { Range::new(bits.0, bits.1) } else { None };
    let ids: Vec<NodeId> =
        (0..inputs).map(|i| build.input("alice", &format!("{i}"), kind, shape, range).unwrap()).collect();
    let node = result(&mut build, &ids).unwrap();
    build.reveal(node, Recipient::All).unwrap();
    build.finish().unwrap()
}

/// Checks a program on many inputs, ends of the range among them.
fn checked(program: &Program) -> Lowered {
    checked_for(program, Capabilities::TWO_COMPONENTS)
}

fn checked_for(program: &Program, capabilities: Capabilities) -> Lowered {
    let mut rng = seeded(1);
    for _ in 0..20 {
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        testing::check(program, capabilities, &inputs, seeded(rng.next_u64()));
    }
    lower(program, capabilities).unwrap()
}

/// Whether a plan asks for ANDs, circuits and products alone.
fn only_products(plan: &Plan) -> bool {
    plan.ops.iter().all(|op| {
        matches!(
            op.kind,
            OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. } | OpKind::Circuit { .. }
        )
    })
}

/// Elements of products.
fn products(plan: &Plan) -> usize {
    let elements = plan.ops.iter().map(|op| match op.kind {
        OpKind::Mul { .. } | OpKind::MatMul { .. } => op.kind.extent(plan),
        _ => 0,
    });
    elements.sum()
}

/// ANDs for one column of one element.
fn ands(plan: &Plan) -> u32 {
    let ands = plan.ops.iter().map(|op| match &op.kind {
        OpKind::And { dst, .. } => dst.count,
        OpKind::Circuit { circuit, .. } => circuit.ands() as u32,
        _ => 0,
    });
    ands.sum()
}

/// Rounds of a plan whose circuits have few instances: a level's are those of its deepest circuit, or one.
fn rounds(plan: &Plan) -> usize {
    let rounds = |stage: &Stage| match &plan.ops[stage.op as usize].kind {
        OpKind::Circuit { circuit, .. } => circuit.depth() as usize,
        _ => 1,
    };
    plan.levels.iter().map(|level| level.stages.iter().map(rounds).max().unwrap_or(0)).sum()
}

fn count(plan: &Plan, which: fn(&OpKind) -> bool) -> usize {
    plan.ops.iter().filter(|op| which(&op.kind)).count()
}

fn copies(plan: &Plan) -> usize {
    let steps = plan.levels.iter().flat_map(|level| &level.local);
    steps.filter(|step| matches!(step, Local::Copy { .. })).count()
}

/// The range whose differences just fit the signed numbers of a width.
fn half(width: Width) -> (i128, i128) {
    let end = 1i128 << (width.bits() - 2);
    (-end + 1, end - 1)
}

#[test]
fn a_comparison_takes_the_ands_and_rounds_that_it_should() {
    for (width, expected_ands, expected_rounds) in
        [(Width::W8, 16, 5), (Width::W16, 39, 6), (Width::W32, 86, 7), (Width::W64, 181, 8)]
    {
        for shape in [&[1][..], &[63], &[64], &[65]] {
            let less = program(Dtype::Int, half(width), shape, 2, |build, x| build.less(x[0], x[1]));
            let plan = checked(&less).plan;
            assert_eq!((ands(&plan), rounds(&plan)), (expected_ands, expected_rounds), "{width:?}");
            let zero = program(Dtype::Int, half(width), shape, 1, |build, x| {
                let zero = build.public(Dtype::Int, vec![], vec![0])?;
                build.greater_equal(x[0], zero)
            });
            // A number has a bit less than a difference.
            let plan = checked(&zero).plan;
            assert_eq!((ands(&plan), rounds(&plan)), (expected_ands - 3, expected_rounds), "{width:?}");
        }
    }
}

#[test]
fn numbers_of_all_64_bits_are_compared_by_three_signs() {
    let whole = Range::of_width(Width::W64);
    let less = program(Dtype::Int, (whole.lo(), whole.hi()), &[65], 2, |build, x| build.less(x[0], x[1]));
    let plan = checked(&less).plan;
    assert_eq!((ands(&plan), rounds(&plan)), (3 * 181 + 1, 9));
    let max = program(Dtype::Int, (whole.lo(), whole.hi()), &[5, 7], 1, |build, x| {
        build.argmax(x[0], Some(0), false)
    });
    checked(&max);
    let public = program(Dtype::Int, (whole.lo(), whole.hi()), &[8], 1, |build, x| {
        let (min, max) = (i64::MIN.into(), i64::MAX.into());
        let c = build.public(Dtype::Int, vec![8], vec![min, max, 0, -1, 1, 5, min + 1, 7])?;
        build.maximum(x[0], c)
    });
    checked(&public);
}

#[test]
fn both_bounds_of_a_clip_share_their_rounds() {
    let clipped = program(Dtype::Int, (-1000, 1000), &[9], 1, |build, x| {
        let low = build.public(Dtype::Int, vec![], vec![-7])?;
        let high = build.public(Dtype::Int, vec![], vec![300])?;
        build.clip(x[0], low, high)
    });
    let plan = checked(&clipped).plan;
    // A sign in a ring of 16 bits, an injection, a product.
    assert_eq!(rounds(&plan), 6 + 2 + 1);
}

#[test]
fn a_narrow_range_is_compared_at_its_ends() {
    for width in [Width::W8, Width::W16, Width::W32] {
        // One more than fits the difference, so that the ring widens.
        let (lo, hi) = half(width);
        let wider = program(Dtype::Int, (lo - 1, hi + 1), &[64], 2, |build, x| build.less(x[0], x[1]));
        let plan = checked(&wider).plan;
        assert!(ands(&plan) > [16, 39, 86][width as usize]);
    }
}

#[test]
fn equality_takes_one_and_less_than_it_has_bits() {
    for width in Width::ALL {
        for kind in [Dtype::Int, Dtype::Modular(Modulus::PowerOfTwo(width.bits()))] {
            let whole = Range::of_width(width);
            let equal = program(kind, (whole.lo(), whole.hi()), &[65], 2, |build, x| build.equal(x[0], x[1]));
            let plan = checked(&equal).plan;
            assert_eq!(ands(&plan), u32::from(width.bits()) - 1);
            assert_eq!(rounds(&plan), 1 + width.bits().ilog2() as usize);
        }
    }
}

#[test]
fn a_truncation_is_exact_for_every_shift_and_takes_what_it_should() {
    for width in Width::ALL {
        let guard = 1i128 << (width.bits() - 2);
        for by in 1..=width.bits() - 2 {
            let floor =
                program(Dtype::Int, (-guard, guard - 1), &[65], 1, |build, x| build.shift_right(x[0], by));
            let plan = checked(&floor).plan;
            let d = u32::from(by);
            let log = d.next_power_of_two().ilog2();
            assert_eq!(ands(&plan), 3 * d - 2 - log, "{width:?} by {by}");
            assert_eq!(rounds(&plan), 4 + log as usize);
            assert_eq!(count(&plan, |op| matches!(op, OpKind::Inject { .. })), 1);
            assert!(matches!(plan.ops[0].kind, OpKind::Shift { .. }));
        }
        for by in 1..=(width.bits() - 3).min(32) {
            let half = 1i128 << (by - 1);
            let kind = Dtype::Fixed { frac: by };
            let ends = (-guard, guard - 1 - half);
            let nearest = program(kind, ends, &[65], 1, |build, x| build.rescale(x[0], 0));
            assert_eq!(checked(&nearest).plan.registers[0].domain, crate::plan::Domain::Ring(width));
        }
    }
}

#[test]
fn by_three_components_a_comparison_takes_full_adders_more() {
    for (width, expected_ands, expected_rounds) in
        [(Width::W8, 20, 5), (Width::W16, 51, 6), (Width::W32, 114, 7), (Width::W64, 241, 8)]
    {
        for shape in [&[1][..], &[63], &[64], &[65]] {
            let less = program(Dtype::Int, half(width), shape, 2, |build, x| build.less(x[0], x[1]));
            let plan = checked_for(&less, Capabilities::THREE_COMPONENTS).plan;
            assert_eq!((ands(&plan), rounds(&plan)), (expected_ands, expected_rounds), "{width:?}");
            assert!(only_products(&plan));
        }
        let zero = program(Dtype::Int, half(width), &[65], 1, |build, x| {
            let zero = build.public(Dtype::Int, vec![], vec![0])?;
            let (equal, relu) = (build.equal(x[0], zero)?, build.relu(x[0])?);
            build.select(equal, x[0], relu)
        });
        checked_for(&zero, Capabilities::THREE_COMPONENTS);
    }
    let whole = Range::of_width(Width::W64);
    let max = program(Dtype::Int, (whole.lo(), whole.hi()), &[5, 7], 1, |build, x| {
        let (place, most) = (build.argmax(x[0], Some(0), true)?, build.max(x[0], Some(0), true)?);
        build.concatenate(&[place, most], 0)
    });
    checked_for(&max, Capabilities::THREE_COMPONENTS);
}

#[test]
fn where_signs_are_offered_a_comparison_takes_nothing_else_and_two_rounds() {
    for width in Width::ALL {
        let less = program(Dtype::Int, half(width), &[65], 2, |build, x| build.less(x[0], x[1]));
        let plan = checked_for(&less, Capabilities::TWO_COMPONENTS.with(Feature::Msb)).plan;
        assert!(matches!(plan.ops[..], [crate::plan::Op { kind: OpKind::Msb { .. }, .. }]), "{width:?}");
        assert_eq!(plan.depth(), 2);
        // What would overflow: by the signs of both and of the difference, and an AND.
        let whole = Range::of_width(width);
        let far = program(Dtype::Int, (whole.lo(), whole.hi()), &[65], 2, |build, x| build.less(x[0], x[1]));
        let plan = checked_for(&far, Capabilities::TWO_COMPONENTS.with(Feature::Msb)).plan;
        assert_eq!(
            count(&plan, |op| matches!(op, OpKind::Msb { .. })),
            if width == Width::W64 { 3 } else { 1 }
        );
    }
}

#[test]
fn by_three_components_equality_takes_twice_the_ands_and_no_more_rounds() {
    for width in Width::ALL {
        for kind in [Dtype::Int, Dtype::Modular(Modulus::PowerOfTwo(width.bits()))] {
            let whole = Range::of_width(width);
            let equal = program(kind, (whole.lo(), whole.hi()), &[65], 2, |build, x| build.equal(x[0], x[1]));
            let plan = checked_for(&equal, Capabilities::THREE_COMPONENTS).plan;
            assert_eq!(ands(&plan), 2 * (u32::from(width.bits()) - 1));
            assert_eq!(rounds(&plan), 1 + width.bits().ilog2() as usize);
        }
    }
}

#[test]
fn by_three_components_a_truncation_is_exact_for_every_shift() {
    for width in Width::ALL {
        let guard = 1i128 << (width.bits() - 2);
        for by in 1..=width.bits() - 2 {
            let floor =
                program(Dtype::Int, (-guard, guard - 1), &[65], 1, |build, x| build.shift_right(x[0], by));
            let plan = checked_for(&floor, Capabilities::THREE_COMPONENTS).plan;
            assert!(only_products(&plan));
            let d = u32::from(by);
            let log = (d - 1).max(1).next_power_of_two().ilog2();
            let expected = if by == 1 { (4, 65 * 4, 4) } else { (4 * d - 2 - log, 65 * 5, 4 + log as usize) };
            assert_eq!((ands(&plan), products(&plan), rounds(&plan)), expected, "{width:?} by {by}");
        }
        for by in 1..=(width.bits() - 3).min(32) {
            let ends = (-guard, guard - 1 - (1 << (by - 1)));
            let kind = Dtype::Fixed { frac: by };
            checked_for(
                &program(kind, ends, &[65], 1, |build, x| build.rescale(x[0], 0)),
                Capabilities::THREE_COMPONENTS,
            );
        }
    }
}

#[test]
fn conversions_of_64_bits_cost_what_the_decision_record_says() {
    type Make = fn(&mut Builder, &[NodeId]) -> Result<NodeId, crate::ProgramError>;
    let end = half(Width::W64);
    let int = |make: Make| program(Dtype::Int, end, &[1], 2, make);
    let truncation = |by| program(Dtype::Int, end, &[1], 1, move |build, x| build.shift_right(x[0], by));
    let wide = Dtype::Modular(Modulus::PowerOfTwo(64));
    let rows = [
        ("comparison", int(|build, x| build.less(x[0], x[1]))),
        ("equality", int(|build, x| build.equal(x[0], x[1]))),
        ("injection of a bit", program(Dtype::Bool, end, &[1], 1, |build, x| build.astype(x[0], wide))),
        ("truncation by 1", truncation(1)),
        ("truncation by 16", truncation(16)),
        ("truncation by 32", truncation(32)),
        ("larger of two", int(|build, x| build.maximum(x[0], x[1]))),
        ("max(x, 0)", int(|build, x| build.relu(x[0]))),
    ];
    let record = include_str!("../../../../docs/adr/0010-three-addends.md");
    let mut missing = String::new();
    for (name, program) in rows {
        let [two, three] =
            [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS].map(|capabilities| {
                let plan = lower(&program, capabilities).unwrap().plan;
                (ands(&plan), products(&plan), conversions(&plan), rounds(&plan))
            });
        assert!(three.2.is_empty(), "{name}");
        let row = format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |\n",
            two.0, two.1, two.2, two.3, three.0, three.1, three.3
        );
        if !record.contains(&row) {
            missing += &row;
        }
    }
    assert!(missing.is_empty(), "the record should say\n{missing}");
}

/// Operations for two additive components alone, in their order.
fn conversions(plan: &Plan) -> String {
    let name = |op: &crate::plan::Op| match op.kind {
        OpKind::Split { bits, .. } => Some(format!("split of {bits}")),
        OpKind::Shift { .. } => Some("shift".to_owned()),
        OpKind::Inject { .. } => Some("inject".to_owned()),
        _ => None,
    };
    plan.ops.iter().filter_map(name).collect::<Vec<_>>().join(", ")
}

#[test]
fn an_input_is_held_to_its_range_as_the_page_of_the_protocol_says() {
    let shifted = program(Dtype::Int, (-(1 << 16), 1 << 16), &[1], 1, |build, x| build.shift_right(x[0], 1));
    let [held, free] = [Capabilities::THREE_COMPONENTS.holding_ranges(), Capabilities::THREE_COMPONENTS]
        .map(|capabilities| lower(&shifted, capabilities).unwrap().plan);
    let bits = held.register(held.inputs[0].reg).domain.bits();
    assert_eq!((bits, ands(&held) - ands(&free), products(&held) - products(&free)), (32, 119, 3));
}

#[test]
fn a_fixed_point_product_is_truncated_once_after_the_sum() {
    let end = 1 << 24;
    let product =
        program(Dtype::Fixed { frac: 16 }, (-end, end), &[9, 9], 2, |build, x| build.matmul(x[0], x[1]));
    let plan = checked(&product).plan;
    assert_eq!(count(&plan, |op| matches!(op, OpKind::Shift { .. })), 1);
    assert_eq!(rounds(&plan), 1 + 4 + 4);
}

#[test]
fn a_public_integral_factor_needs_no_truncation() {
    let end = 1 << 24;
    let kind = Dtype::Fixed { frac: 16 };
    for (raw, truncations) in [(3 << 16, 0), ((3 << 16) + 1, 1)] {
        let product = program(kind, (-end, end), &[9], 1, |build, x| {
            let c = build.public(kind, vec![], vec![raw])?;
            build.mul(x[0], c)
        });
        assert_eq!(count(&checked(&product).plan, |op| matches!(op, OpKind::Shift { .. })), truncations);
    }
}

#[test]
fn what_shares_a_condition_shares_its_injection() {
    let both = program(Dtype::Int, (-100, 100), &[65], 3, |build, x| {
        let c = build.less(x[0], x[1])?;
        let first = build.select(c, x[0], x[2])?;
        let second = build.select(c, x[1], x[2])?;
        build.add(first, second)
    });
    let plan = checked(&both).plan;
    assert_eq!(count(&plan, |op| matches!(op, OpKind::Inject { .. })), 1);
    assert_eq!(count(&plan, |op| matches!(op, OpKind::Mul { .. })), 2);
}

#[test]
fn what_looks_at_one_sign_extracts_it_once() {
    let both = program(Dtype::Int, (-60, 60), &[65], 1, |build, x| {
        let (relu, abs) = (build.relu(x[0])?, build.abs(x[0])?);
        build.add(relu, abs)
    });
    // The range takes seven bits.
    assert_eq!(ands(&checked(&both).plan), 13);
}

#[test]
fn a_tournament_is_as_deep_as_it_has_levels_and_as_dear_as_it_has_matches() {
    for length in [1usize, 2, 3, 5, 8, 9, 10] {
        let levels = length.next_power_of_two().ilog2() as usize;
        let max = program(Dtype::Int, (-63, 63), &[4, length], 1, |build, x| build.max(x[0], Some(1), false));
        let plan = checked(&max).plan;
        let matches = plan.ops.iter().filter_map(|op| match &op.kind {
            OpKind::Mul { dst, .. } => Some(plan.register(*dst).cols),
            _ => None,
        });
        assert_eq!(matches.sum::<usize>(), 4 * (length - 1));
        // A sign, an injection, a product.
        assert_eq!(rounds(&plan), levels * (5 + 2 + 1));
        let arg =
            program(Dtype::Int, (-2, 2), &[4, length], 1, |build, x| build.argmax(x[0], Some(1), false));
        // The first level's indices are public, so that the last of two levels is one product shorter.
        assert_eq!(rounds(&checked(&arg).plan), levels * 7 - usize::from(levels == 1));
        for which in [Builder::min, Builder::max, Builder::argmin] {
            checked(&program(Dtype::Int, (-1, 1), &[length, 3], 1, |build, x| {
                which(build, x[0], Some(0), true)
            }));
        }
        let any = program(Dtype::Bool, (0, 1), &[length, 65], 1, |build, x| build.max(x[0], Some(0), false));
        assert_eq!(rounds(&checked(&any).plan), levels);
    }
}

#[test]
fn views_are_free_and_only_what_is_needed_in_order_is_copied() {
    let reshaped = program(Dtype::Int, (0, 9), &[4, 6], 1, |build, x| {
        let flat = build.reshape(x[0], &[2, 12])?;
        let row = build.index(flat, &[Index::NewAxis, Index::Ellipsis])?;
        build.sum(row, Some(&[0, 1]), false)
    });
    assert_eq!(copies(&checked(&reshaped).plan), 0);
    let turned = program(Dtype::Int, (0, 9), &[4, 6], 1, |build, x| {
        let turned = build.transpose(x[0], None)?;
        let every = build.index(turned, &[Index::Slice { start: None, stop: None, step: -2 }])?;
        let wide = build.broadcast_to(every, &[2, 3, 4])?;
        build.neg(wide)
    });
    assert_eq!(copies(&checked(&turned).plan), 1);
}

#[test]
fn operands_of_a_matrix_product_are_rows_columns_and_batches() {
    let shapes: [(&[usize], &[usize]); 8] = [
        (&[5], &[5]),
        (&[3, 5], &[5]),
        (&[5], &[5, 2]),
        (&[3, 5], &[5, 2]),
        (&[4, 3, 5], &[5, 2]),
        (&[4, 3, 5], &[4, 5, 2]),
        (&[4, 1, 3, 5], &[2, 5, 2]),
        (&[3, 5], &[4, 5, 2]),
    ];
    let mut rng = seeded(3);
    for (a_shape, b_shape) in shapes {
        for public in [None, Some(0), Some(1)] {
            let mut build = Builder::new();
            let mut operand = |build: &mut Builder, place: usize, shape: &[usize]| {
                if public == Some(place) {
                    let raw = (0..shape.iter().product()).map(|_| rng.random_range(-9..9)).collect();
                    return build.public(Dtype::Int, shape.to_vec(), raw).unwrap();
                }
                build.input("alice", &place.to_string(), Dtype::Int, shape, Range::new(-9, 9)).unwrap()
            };
            let (a, b) = (operand(&mut build, 0, a_shape), operand(&mut build, 1, b_shape));
            let product = build.matmul(a, b).unwrap();
            build.reveal(product, Recipient::All).unwrap();
            let plan = checked(&build.finish().unwrap()).plan;
            assert_eq!(rounds(&plan), usize::from(public.is_none()));
        }
    }
}

#[test]
fn inputs_keep_their_order_and_outputs_their_recipients() {
    let mut build = Builder::new();
    let unused = build.input("bob", "unused", Dtype::Bool, &[3], None).unwrap();
    let a = build.input("alice", "a", Dtype::Int, &[2], Range::new(0, 300)).unwrap();
    let seven = build.public(Dtype::Int, vec![2], vec![7, 9]).unwrap();
    build.reveal(a, Recipient::Role("carol".into())).unwrap();
    build.reveal(seven, Recipient::All).unwrap();
    assert_eq!(unused.number(), 0);
    let lowered = lower(&build.finish().unwrap(), Capabilities::TWO_COMPONENTS).unwrap();
    assert_eq!(lowered.plan.roles, ["bob", "alice", "carol"]);
    assert_eq!(lowered.plan.inputs.len(), 2);
    assert_eq!(lowered.inputs[1].name, "a");
    assert_eq!(lowered.outputs[0].to, To::One(2));
    assert_eq!(lowered.outputs[0].width, Some(Width::W16));
    let outputs = Clear::run(&lowered.plan, &[vec![0, 1, 0], vec![300, 5]], seeded(0));
    assert_eq!(outputs, [[300, 5], [7, 9]]);
}

#[test]
fn an_engine_without_conversions_is_refused_at_the_line_that_needs_them() {
    let mut build = Builder::new();
    let a = build.input("alice", "a", Dtype::Int, &[2], Range::new(0, 9)).unwrap();
    build.at(crate::Source { file: "p.py".into(), line: 4, text: "abs(a)".into() });
    let b = build.abs(a).unwrap();
    build.reveal(b, Recipient::All).unwrap();
    let error = lower(
        &build.finish().unwrap(),
        Capabilities { numbers: Numbers::ElementsAlone, ..Capabilities::TWO_COMPONENTS },
    )
    .unwrap_err();
    assert_eq!((error.at.line, error.at.text.as_str()), (4, "abs(a)"));
    assert!(matches!(*error.fault, Fault::NotOffered { operation: "abs", .. }));
}

/// Products whose exact ones leave a ring of 64 bits, and results that don't.
#[test]
fn long_products_are_rounded_in_rings() {
    let ends = |low, high| Range::new(low, high).unwrap();
    for (a, b) in
        [(ends(-(1 << 38), 1 << 38), ends(0, 1 << 36)), (ends(0, 1 << 45), ends(-(1 << 30), 1 << 30))]
    {
        let mut build = Builder::new();
        let kind = Dtype::Fixed { frac: 16 };
        let a = build.input("alice", "a", kind, &[3, 5], Some(a)).unwrap();
        let b = build.input("bob", "b", kind, &[5], Some(b)).unwrap();
        let [each, square] = [[a, b], [b, b]].map(|[a, b]| build.mul(a, b).unwrap());
        let sums = build.matmul(a, b).unwrap();
        for result in [each, square, sums] {
            build.reveal(result, Recipient::All).unwrap();
        }
        let program = build.finish().unwrap();
        let mut rng = seeded(5);
        for way in [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS] {
            let inputs = testing::inputs(&program.input_types(), &mut rng);
            let plan = testing::check(&program, way, &inputs, seeded(6)).plan;
            let ands = |op: &plan::Op| {
                if let OpKind::Circuit { circuit, .. } = &op.kind { circuit.ands() } else { 0 }
            };
            assert!(plan.ops.iter().map(ands).all(|ands| ands < 500), "no product is a circuit");
        }
    }
}
