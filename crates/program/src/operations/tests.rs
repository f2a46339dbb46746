use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::testing;
use crate::{Builder, Capabilities, Dtype, Fault, NodeId, Program, ProgramError, Range, Recipient};

const ENGINES: [Capabilities; 3] =
    [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS, Capabilities::BITS];

fn int(build: &mut Builder, name: &str, len: usize, (lo, hi): (i128, i128)) -> NodeId {
    build.input("alice", name, Dtype::Int, &[len], Range::new(lo, hi)).unwrap()
}

/// `a // b` and `a % b`.
fn quotient(len: usize, a: (i128, i128), b: (i128, i128)) -> Program {
    let mut build = Builder::new();
    let (a, b) = (int(&mut build, "a", len, a), int(&mut build, "b", len, b));
    for result in [build.quotient(a, b).unwrap(), build.remainder(a, b).unwrap()] {
        build.reveal(result, Recipient::All).unwrap();
    }
    build.finish().unwrap()
}

fn checked(program: &Program, inputs: &[Vec<u64>]) {
    for capabilities in ENGINES {
        testing::check(program, capabilities, inputs, TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]));
    }
}

/// As in Python, where `(a // b) * b + a % b == a` and `a % b` has the sign of `b`.
#[test]
fn quotients_of_all_signs_are_rounded_down() {
    for b in [(1, 9), (-9, -1), (3, 4), (-7, -7)] {
        for a in [(-17, 17), (0, 20), (-20, -3)] {
            let pairs: Vec<(i128, i128)> =
                (a.0..=a.1).flat_map(|a| (b.0..=b.1).map(move |b| (a, b))).collect();
            let program = quotient(pairs.len(), a, b);
            let inputs = [
                pairs.iter().map(|pair| pair.0 as u64).collect(),
                pairs.iter().map(|pair| pair.1 as u64).collect(),
            ];
            let results = crate::reference::trace(&program, &inputs).unwrap();
            let [.., quotients, rests] = &results[..] else { unreachable!() };
            let types: Vec<Range> = program.nodes()[2..].iter().map(|node| node.ty.range).collect();
            for ((&(a, b), &quotient), &rest) in pairs.iter().zip(quotients).zip(rests) {
                assert_eq!(quotient * b + rest, a);
                assert!(if b > 0 { (0..b).contains(&rest) } else { (b + 1..=0).contains(&rest) });
            }
            for (range, values) in types.iter().zip([quotients, rests]) {
                assert_eq!(Some(*range), Range::of_values(values), "{a:?} by {b:?}");
            }
            checked(&program, &inputs);
        }
    }
}

#[test]
fn quotients_are_right_at_the_ends_of_64_bits() {
    let (least, most) = (i64::MIN, i64::MAX);
    let numbers = [least, least + 1, -1, 0, 1, most - 1, most];
    let divisors = [2, 3, most / 2, most - 1, most];
    let pairs: Vec<(i64, i64)> =
        numbers.iter().flat_map(|&a| divisors.iter().map(move |&b| (a, b))).collect();
    let program = quotient(pairs.len(), (least.into(), most.into()), (2, most.into()));
    let inputs = [0, 1].map(|which| pairs.iter().map(|&(a, b)| [a, b][which] as u64).collect());
    checked(&program, &inputs);
}

#[test]
fn one_operand_of_a_quotient_may_be_public() {
    let mut build = Builder::new();
    let a = int(&mut build, "a", 3, (-100, 100));
    let positive = int(&mut build, "b", 3, (1, 100));
    let divisors = build.public(Dtype::Int, vec![3], vec![7, 9, 11]).unwrap();
    let hundred = build.public(Dtype::Int, vec![], vec![100]).unwrap();
    for result in [
        build.remainder(a, divisors).unwrap(),
        build.quotient(a, divisors).unwrap(),
        build.quotient(hundred, positive).unwrap(),
        build.quotient(a, a).unwrap_or(a),
    ] {
        build.reveal(result, Recipient::All).unwrap();
    }
    checked(&build.finish().unwrap(), &[vec![99, -99_i64 as u64, 0], vec![1, 7, 100]]);
}

#[test]
fn a_divisor_that_may_be_0_is_refused() {
    let mut build = Builder::new();
    let (a, b) = (int(&mut build, "a", 1, (0, 9)), int(&mut build, "b", 1, (-1, 9)));
    let fixed = build.input("alice", "x", Dtype::Fixed { frac: 4 }, &[1], Range::new(1, 9)).unwrap();
    let fault = |result: Result<NodeId, ProgramError>| *result.unwrap_err().fault;
    assert_eq!(fault(build.quotient(a, b)), Fault::DivisionByZero);
    assert_eq!(fault(build.remainder(a, b)), Fault::DivisionByZero);
    assert!(
        build
            .remainder(b, fixed)
            .is_err_and(|error| matches!(*error.fault, Fault::Kinds { .. } | Fault::NotDefined { .. }))
    );
    let whole = int(&mut build, "c", 1, (i64::MIN.into(), i64::MAX.into()));
    let minus_one = int(&mut build, "d", 1, (-2, -1));
    assert!(matches!(fault(build.quotient(whole, minus_one)), Fault::Overflow { operation: "//", .. }));
}

/// Any other can stand in an arm of a branch: so a new one that shows its values or rests on their ranges is to say so.
#[test]
fn operations_that_arms_cannot_have_say_why() {
    use crate::operations::Operation as O;
    let (name, range) = (String::new(), Range::new(0, 1).unwrap());
    let refused = [
        O::Input { owner: name.clone(), name: name.clone() },
        O::Kept { name: name.clone() },
        O::Known { name },
        O::State { range },
        O::Step,
        O::Repeat { times: 2 },
        O::After,
        O::Assume { range, watched: true },
        O::Shuffle,
        O::ShuffleToo,
        O::Sort,
        O::SortToo,
    ];
    for operation in refused {
        assert!(operation.entry().no_arm.is_some_and(|why| why.contains("arm")), "{operation:?}");
    }
    for operation in [O::Add, O::Divide, O::Where, O::Within { set: true }, O::Constant([1].into())] {
        assert_eq!(operation.entry().no_arm, None, "{operation:?}");
    }
}
