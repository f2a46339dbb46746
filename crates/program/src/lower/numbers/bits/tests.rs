use std::ops::RangeInclusive;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::element::MANY;
use super::gates::digits;
use super::*;
use crate::lower::lowering::Lowering;
use crate::plan::{self, Form, OpKind, Plan};
use crate::testing::{self, Clear};
use crate::{
    Builder, Capabilities, Dtype, Fault, Modulus, Program, ProgramError, Range, Recipient, Source, lower,
    reference,
};

fn seeded(seed: u64) -> TestRng {
    let mut bytes = [11; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// A program of one result from inputs of one dtype, one range and some shapes.
fn program(
    kind: Dtype,
    ends: RangeInclusive<i128>,
    shapes: &[&[usize]],
    result: impl Fn(&mut Builder, &[NodeId]) -> Result<NodeId, ProgramError>,
) -> Program {
    let mut build = Builder::new();
    let range = if kind.is_ranged() { Range::new(*ends.start(), *ends.end()) } else { None };
    let mut input =
        |(at, shape): (usize, &&[usize])| build.input("alice", &at.to_string(), kind, shape, range);
    let ids: Vec<NodeId> = shapes.iter().enumerate().map(|place| input(place).unwrap()).collect();
    let node = result(&mut build, &ids).unwrap();
    build.reveal(node, Recipient::All).unwrap();
    build.finish().unwrap()
}

/// The plan of a program, which was run on some inputs, ends of their ranges among them.
fn checked(program: &Program) -> Plan {
    let mut rng = seeded(1);
    for _ in 0..5 {
        let inputs = testing::inputs(&program.input_types(), &mut rng);
        testing::check(program, Capabilities::BITS, &inputs, seeded(rng.next_u64()));
    }
    lower(program, Capabilities::BITS).unwrap().plan
}

/// ANDs in all, and rounds if all instances go together.
fn costs(plan: &Plan) -> (usize, u32) {
    let ands = |op: &plan::Op| match &op.kind {
        OpKind::Circuit { circuit, .. } => circuit.ands() as usize * op.kind.extent(plan),
        other => panic!("{other:?} is no circuit"),
    };
    let deepest = |level: &plan::Level| {
        let circuits = level.stages.iter().map(|stage| plan.ops[stage.op as usize].kind.layers(0).end);
        circuits.max().unwrap_or(0)
    };
    (plan.ops.iter().map(ands).sum(), plan.levels.iter().map(deepest).sum())
}

const INT64: RangeInclusive<i128> = -(1 << 63)..=(1 << 63) - 1;
const WORD: Dtype = Dtype::Modular(Modulus::PowerOfTwo(64));

#[test]
fn operations_on_64_bits_cost_what_the_decision_record_says() {
    type Make = fn(&mut Builder, &[NodeId]) -> Result<NodeId, ProgramError>;
    let operations: [(&str, Dtype, Make); 9] = [
        ("sum, difference", WORD, |b, x| b.add(x[0], x[1])),
        ("sum, difference", WORD, |b, x| b.sub(x[0], x[1])),
        ("product", WORD, |b, x| b.mul(x[0], x[1])),
        ("square", WORD, |b, x| b.mul(x[0], x[0])),
        ("comparison", Dtype::Int, |b, x| b.less(x[0], x[1])),
        ("equality", Dtype::Int, |b, x| b.equal(x[0], x[1])),
        ("smaller or larger of two", Dtype::Int, |b, x| b.maximum(x[0], x[1])),
        ("max(x, 0)", Dtype::Int, |b, x| b.relu(x[0])),
        ("comparison with 0", Dtype::Int, |b, x| {
            let zero = b.public(Dtype::Int, vec![], vec![0])?;
            b.less(x[0], zero)
        }),
    ];
    let record = include_str!("../../../../../../docs/adr/0007-numbers-as-bits.md");
    let mut missing = Vec::new();
    let mut row = |name: &str, costs: [(usize, u32); 2]| {
        let [few, many] = costs.map(|(ands, depth)| format!("{} | {depth}", grouped(ands)));
        let row = format!("| {name} | {few} | {many} |");
        if !record.contains(&row) {
            missing.push(row);
        }
    };
    for (name, kind, make) in operations {
        row(
            name,
            [1, MANY].map(|count| {
                let plan = lower(&program(kind, INT64, &[&[count], &[count]], make), Capabilities::BITS)
                    .unwrap()
                    .plan;
                let (ands, depth) = costs(&plan);
                (ands / count, depth)
            }),
        );
    }
    for (name, kind, ends, terms) in [
        ("dot product of 784, modulo 2^64", WORD, INT64, 784),
        ("dot product of 784, of 16 bits", Dtype::Int, -(1 << 15)..=(1 << 15) - 1, 784),
        ("sum of 784, of 16 bits", Dtype::Int, -(1 << 15)..=(1 << 15) - 1, 0),
    ] {
        row(
            name,
            [1, MANY].map(|count| {
                let shape = [count, 784];
                let program = program(kind, ends.clone(), &[&shape, &shape], |b, x| {
                    if terms == 0 {
                        return b.sum(x[0], Some(&[1]), false);
                    }
                    let (row, column) = (b.reshape(x[0], &[-1, 1, 784])?, b.reshape(x[1], &[-1, 784, 1])?);
                    b.matmul(row, column)
                });
                let (ands, depth) = costs(&lower(&program, Capabilities::BITS).unwrap().plan);
                (ands / count, depth)
            }),
        );
    }
    row(
        "dot product of 784, of 16 bits by public 8",
        [1, MANY].map(|count| {
            let program = program(Dtype::Int, -(1 << 15)..=(1 << 15) - 1, &[&[count, 784]], |b, x| {
                let factors =
                    b.public(Dtype::Int, vec![784], (0..784).map(|at| at * 77 % 255 - 127).collect())?;
                b.matmul(x[0], factors)
            });
            let (ands, depth) = costs(&lower(&program, Capabilities::BITS).unwrap().plan);
            (ands / count, depth)
        }),
    );
    assert!(missing.is_empty(), "the record should say\n{}", missing.join("\n"));
}

/// A number with commas.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

proptest! {
    #[test]
    fn digits_are_those_of_the_number_and_no_two_are_neighbours(number: i128, width in 1usize..=128) {
        let unused = 128 - width as u32;
        for number in [number, number >> 64, number >> 120, i128::MAX, i128::MIN, -1, 0] {
            let (mut sum, mut last) = (0_i128, None);
            for (place, negative) in digits(number, width) {
                let weight = 1_i128 << place;
                sum = if negative { sum.wrapping_sub(weight) } else { sum.wrapping_add(weight) };
                prop_assert!(last.is_none_or(|last| place > last + 1), "neighbours at {place}");
                last = Some(place);
            }
            prop_assert_eq!(sum << unused, number << unused);
        }
    }
}

#[test]
fn a_number_has_as_many_bits_as_its_range_takes() {
    for (ends, bits, signed) in [
        ((0, 0), 1, false),
        ((0, 1), 1, false),
        ((0, 255), 8, false),
        ((3, 256), 9, false),
        ((-1, 0), 1, true),
        ((-1, 1), 2, true),
        ((-128, 127), 8, true),
        ((-128, 128), 9, true),
        ((-129, 0), 9, true),
        ((-9, -5), 5, true),
        ((-(1 << 63), (1 << 63) - 1), 64, true),
    ] {
        let range = Range::new(ends.0, ends.1).unwrap();
        assert_eq!(Format::of_range(range), Format { bits, signed }, "{ends:?}");
        let input = program(Dtype::Int, ends.0..=ends.1, &[&[3]], |_, x| Ok(x[0]));
        let plan = checked(&input);
        assert_eq!(plan.inputs[0].form, Form::Bits { width: bits as u8, signed });
        assert_eq!(plan.register(plan.inputs[0].reg).len(), 3 * bits);
    }
}

#[test]
fn every_operation_is_right_at_the_ends_of_every_width() {
    for bits in [1, 2, 7, 8, 31, 32, 33, 61, 62] {
        let end = 1 << (bits - 1);
        for ends in [-end..=end - 1, 0..=2 * end - 1, -end..=0] {
            for len in [1, 63, 64, 65] {
                checked(&program(Dtype::Int, ends.clone(), &[&[len], &[len]], |b, x| {
                    let (less, same) = (b.less(x[0], x[1])?, b.equal(x[0], x[1])?);
                    let (min, max) = (b.minimum(x[0], x[1])?, b.maximum(x[0], x[1])?);
                    let chosen = b.select(less, max, min)?;
                    let low = b.public(Dtype::Int, vec![], vec![-3])?;
                    let high = b.public(Dtype::Int, vec![], vec![end - 1])?;
                    let clipped = b.clip(chosen, low, high)?;
                    let relu = b.relu(clipped)?;
                    let halved = b.shift_right(relu, 1)?;
                    let far = b.shift_right(halved, 62)?;
                    let same = b.add(same, far)?;
                    b.concatenate(&[halved, same], 0)
                }));
            }
        }
    }
    for ends in [-(1 << 62)..=(1 << 62) - 1, INT64] {
        checked(&program(Dtype::Int, ends, &[&[5, 13], &[5, 13]], |b, x| {
            let (less, same) = (b.less(x[0], x[1])?, b.equal(x[0], x[1])?);
            let (min, max) = (b.minimum(x[0], x[1])?, b.maximum(x[0], x[1])?);
            let (first, second) = (b.select(less, max, min)?, b.select(same, min, max)?);
            let (place, most) = (b.argmax(first, Some(0), true)?, b.max(second, Some(0), true)?);
            b.concatenate(&[place, most], 0)
        }));
    }
    for bits in [1, 2, 63, 64, 65, 127, 128] {
        let kind = Dtype::Modular(Modulus::PowerOfTwo(bits));
        checked(&program(kind, INT64, &[&[65], &[65]], |b, x| {
            let last = Modulus::PowerOfTwo(bits).last() as i128;
            let factors =
                b.public(kind, vec![65], (0..65).map(|at| if at % 2 == 0 { last } else { 1 }).collect())?;
            let (sum, product) = (b.add(x[0], x[1])?, b.mul(x[0], x[1])?);
            let negative = b.neg(sum)?;
            let scaled = b.mul(negative, factors)?;
            let square = b.mul(product, product)?;
            let all = b.sub(square, scaled)?;
            b.sum(all, None, true)
        }));
    }
}

#[test]
fn public_factors_cost_the_digits_that_they_have() {
    let ends = -(1 << 31)..=(1 << 31) - 1;
    for (factor, expected) in [(0, 0), (1, 0), (2, 0), (1 << 20, 0), (-1, 31), (3, 34), (7, 36), (85, 100)] {
        let program = program(Dtype::Int, ends.clone(), &[&[MANY]], |b, x| {
            let factor = b.public(Dtype::Int, vec![], vec![factor])?;
            b.mul(x[0], factor)
        });
        let plan = lower(&program, Capabilities::BITS).unwrap().plan;
        let ands = costs(&plan).0 / MANY;
        assert_eq!(ands, expected, "ANDs for a factor of {factor}");
    }
    for factor in [0, 1, -1, 3, -7, 85, i64::MAX.into(), i64::MIN.into(), 0x5555_5555] {
        checked(&program(WORD, INT64, &[&[65]], |b, x| {
            let factor = b.public(Dtype::Int, vec![], vec![factor])?;
            b.mul(x[0], factor)
        }));
    }
}

#[test]
fn sums_of_more_terms_than_a_circuit_takes_are_right() {
    for (len, bits) in
        [(1, 5), (2, 5), (GROUPED - 1, 1), (GROUPED, 1), (GROUPED + 1, 1), (1640, 5), (300, 62)]
    {
        let end = 1 << (bits - 1);
        let ends = if bits == 1 { 0..=1 } else { -end / 300..=end / 300 };
        for shape in [[1, len], [3, len]] {
            checked(&program(Dtype::Int, ends.clone(), &[&shape], |b, x| b.sum(x[0], Some(&[1]), false)));
        }
    }
    let bools = program(Dtype::Bool, 0..=1, &[&[GROUPED + 3]], |b, x| b.sum(x[0], None, false));
    // Less one AND for every carry that can't be.
    assert!(costs(&checked(&bools)).0 < GROUPED + 3 + 200);
}

const GROUPED: usize = 1 << 13;

#[test]
fn products_of_matrices_are_right_in_groups_and_in_slabs() {
    for (m, k, n) in [(1, 784, 1), (3, 33, 2), (2, 65, 3), (5, 7, 4)] {
        for (kind, ends) in [(Dtype::Int, -(1 << 15)..=(1 << 15) - 1), (WORD, INT64), (Dtype::Int, 0..=9)] {
            checked(&program(kind, ends, &[&[m, k], &[k, n]], |b, x| b.matmul(x[0], x[1])));
        }
    }
    let product = program(Dtype::Int, -9..=9, &[&[2, 5, 6], &[2, 6, 3]], |b, x| b.matmul(x[0], x[1]));
    let inputs = testing::inputs(&product.input_types(), &mut seeded(2));
    let expected = reference::run(&product, &inputs).unwrap();
    let mut depths = Vec::new();
    for slab_bits in [1, 200, 1000, usize::MAX] {
        let mut lowering = Lowering::new(&product, Capabilities::BITS);
        lowering.slab_bits = slab_bits;
        let lowered = lowering.run(false).unwrap();
        let outputs = Clear::run(&lowered.plan, &inputs, seeded(3));
        assert_eq!(crate::decode(&lowered.outputs[0], &outputs[0]).unwrap(), expected[0]);
        let plan = &lowered.plan;
        depths.push(plan.depth());
        // The operands of one sum of six products are no slab to be cut.
        for level in &plan.levels {
            let operands = level.stages.iter().flat_map(|stage| plan.ops[stage.op as usize].kind.reads());
            let bits: usize = operands.map(|reg| plan.register(reg).len()).sum();
            assert!(bits <= slab_bits.max(6 * 10), "{bits} bits in slabs of {slab_bits}");
        }
    }
    assert!(depths.is_sorted_by(|a, b| a > b), "{depths:?}");
}

#[test]
fn public_matrices_and_vectors_are_parts_of_circuits_while_they_are_few() {
    let mut rng = seeded(5);
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[5], &[5]),
        (&[3, 5], &[5]),
        (&[5], &[5, 2]),
        (&[3, 5], &[5, 2]),
        (&[4, 3, 5], &[5, 2]),
        (&[4, 3, 5], &[4, 5, 2]),
        (&[4, 1, 3, 5], &[2, 5, 2]),
        (&[3, 5], &[4, 5, 2]),
        (&[2, 1000], &[1000, 2]),
    ];
    for (a_shape, b_shape) in shapes {
        for public in [0, 1] {
            let mut build = Builder::new();
            let mut operand = |place: usize, shape: &[usize]| {
                if public == place {
                    // Zeros alone in some rows and columns.
                    let raw = (0..shape.iter().product())
                        .map(|at: usize| at as i128 % 5 * rng.random_range(-2..=1));
                    return build.public(Dtype::Int, shape.to_vec(), raw.collect()).unwrap();
                }
                build.input("alice", "x", Dtype::Int, shape, Range::new(-900, 900)).unwrap()
            };
            let (a, b) = (operand(0, a_shape), operand(1, b_shape));
            let product = build.matmul(a, b).unwrap();
            build.reveal(product, Recipient::All).unwrap();
            checked(&build.finish().unwrap());
        }
    }
    // Of a secret factor of 8 bits each takes a product and a sum, of a public one a third of them takes a sum.
    let layer = |public: bool| {
        let mut build = Builder::new();
        let x =
            build.input("alice", "x", Dtype::Int, &[5, 64], Range::new(-(1 << 15), (1 << 15) - 1)).unwrap();
        let w = if public {
            let raw = (0..64 * 10).map(|at: i128| at * 77 % 255 - 127).collect();
            build.public(Dtype::Int, vec![64, 10], raw).unwrap()
        } else {
            build.input("bob", "w", Dtype::Int, &[64, 10], Range::new(-127, 127)).unwrap()
        };
        let product = build.matmul(x, w).unwrap();
        build.reveal(product, Recipient::All).unwrap();
        costs(&checked(&build.finish().unwrap())).0
    };
    let (public, secret) = (layer(true), layer(false));
    assert!(5 * public < secret, "{public} ANDs by public weights, {secret} by secret ones");
}

#[test]
fn too_many_public_factors_are_shared() {
    let odd =
        |len: usize| (0..len as i128).map(|at| (at * 0x5bd1_e995_7f4a_7c15).rem_euclid(1 << 64)).collect();
    for (m, k, n) in [(2, 20, 21), (3, 2, 2)] {
        let few = m == 3;
        let matrix = program(WORD, INT64, &[&[m, k]], |b, x| {
            let factors = b.public(WORD, vec![k, n], odd(k * n))?;
            b.matmul(x[0], factors)
        });
        let vector = program(WORD, INT64, &[&[m, k * n]], |b, x| {
            let factors = b.public(WORD, vec![k * n], odd(k * n))?;
            b.mul(x[0], factors)
        });
        for program in [matrix, vector] {
            let plan = checked(&program);
            let mut steps = plan.levels.iter().flat_map(|level| &level.local);
            let shared = steps.any(|step| matches!(step, Local::Constant { .. }));
            assert_eq!(shared, !few);
        }
    }
}

#[test]
fn public_factors_are_repeated_along_the_axes_that_they_have_not() {
    for own in [&[7][..], &[3, 1], &[1, 7], &[2, 1, 7], &[2, 3, 1], &[2, 1, 1], &[2, 3, 7]] {
        let len = own.iter().product::<usize>() as i128;
        checked(&program(Dtype::Int, -99..=99, &[&[3, 7], &[2, 3, 7]], |b, x| {
            let factors = b.public(Dtype::Int, own.to_vec(), (0..len).map(|at| at * 5 - 9).collect())?;
            let (small, large) = (b.mul(x[0], factors)?, b.mul(factors, x[1])?);
            b.add(small, large)
        }));
    }
}

#[test]
fn an_owner_can_give_any_bits_and_gets_what_circuits_make_of_them() {
    let digits = program(Dtype::Int, 0..=9, &[&[2], &[2]], |b, x| {
        let (zero, nine) = (b.public(Dtype::Int, vec![], vec![0])?, b.public(Dtype::Int, vec![], vec![9])?);
        let (clipped, place) = (b.clip(x[0], zero, nine)?, b.argmax(x[0], None, true)?);
        let (sum, product) = (b.add(x[0], x[1])?, b.mul(x[0], x[1])?);
        b.concatenate(&[clipped, place, sum, product], 0)
    });
    let lowered = lower(&digits, Capabilities::BITS).unwrap();
    assert_eq!(lowered.plan.inputs[0].form, Form::Bits { width: 4, signed: false });
    for (a, b) in [([15, 15], [15, 10]), ([9, 15], [12, 0]), ([10, 11], [12, 13])] {
        let outputs = Clear::run(&lowered.plan, &[a.to_vec(), b.to_vec()], seeded(4));
        let place = u64::from(a[1] > a[0]);
        // A sum up to 18 has five bits, a product up to 81 seven.
        let [sums, products] = [[0, 1].map(|at| (a[at] + b[at]) % 32), [0, 1].map(|at| a[at] * b[at] % 128)];
        assert_eq!(outputs[0], [&a.map(|digit| digit.min(9))[..], &[place], &sums, &products].concat());
        let decoded = crate::decode(&lowered.outputs[0], &outputs[0]);
        assert_eq!(decoded.is_ok(), outputs[0].iter().all(|number| *number <= 81));
    }
}

#[test]
fn no_step_asks_for_rings() {
    for seed in 0..200 {
        let mut rng = seeded(seed);
        let program = testing::program(&mut rng, 12);
        if testing::has_bits(&program) {
            let plan = lower(&program, Capabilities::BITS).unwrap().plan;
            assert!(plan.registers.iter().all(|register| register.domain == Domain::Bits));
        }
    }
}

#[test]
fn a_prime_modulus_is_refused_at_the_line_that_has_it() {
    for modulus in [Modulus::Mersenne61, Modulus::Prime128] {
        let mut build = Builder::new();
        build.at(Source { file: "p.py".into(), line: 7, text: "x".into() });
        let x = build.input("alice", "x", Dtype::Modular(modulus), &[2], None).unwrap();
        build.reveal(x, Recipient::All).unwrap();
        let error = lower(&build.finish().unwrap(), Capabilities::BITS).unwrap_err();
        assert_eq!(error.at.line, 7);
        assert!(matches!(*error.fault, Fault::NotOffered { operation: "input", .. }));
        assert!(error.to_string().contains("modulo 2^k"), "{error}");
    }
}

#[test]
fn independent_operations_share_rounds() {
    let both = program(Dtype::Int, -100..=100, &[&[5], &[5], &[5], &[5]], |b, x| {
        let (first, second) = (b.less(x[0], x[1])?, b.less(x[2], x[3])?);
        b.and(first, second)
    });
    let plan = lower(&both, Capabilities::BITS).unwrap().plan;
    assert_eq!(plan.levels.iter().filter(|level| !level.stages.is_empty()).count(), 2);
    assert_eq!(plan.levels[0].stages.len(), 2);
}
