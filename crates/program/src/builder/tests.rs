use super::*;
use crate::modulus::Modulus;
use crate::reference;
use crate::shape::Index;
use crate::value::Data;

const FIXED: Dtype = Dtype::Fixed { frac: 8 };

fn int(build: &mut Builder, name: &str, shape: &[usize], lo: i128, hi: i128) -> NodeId {
    build.input("alice", name, Dtype::Int, shape, Range::new(lo, hi)).unwrap()
}

fn fault(result: Result<NodeId, ProgramError>) -> Fault {
    *result.unwrap_err().fault
}

fn ints(shape: &[usize], data: &[i64]) -> Value {
    Value { shape: shape.to_vec(), data: Data::Int(data.to_vec()) }
}

fn bools(shape: &[usize], data: &[bool]) -> Value {
    Value { shape: shape.to_vec(), data: Data::Bool(data.to_vec()) }
}

fn floats(shape: &[usize], data: &[f64]) -> Value {
    Value { shape: shape.to_vec(), data: Data::Float(data.to_vec()) }
}

/// What an expression of inputs comes to; the inputs take the dtypes and shapes of the values.
fn evaluate(
    values: &[Value],
    make: impl Fn(&mut Builder, &[NodeId]) -> Result<NodeId, ProgramError>,
) -> Result<Value, ProgramError> {
    let mut build = Builder::new();
    let mut ids = Vec::new();
    for (number, value) in values.iter().enumerate() {
        let (kind, range) = match value.data {
            Data::Bool(_) => (Dtype::Bool, None),
            Data::Int(_) => (Dtype::Int, Range::new(-1000, 1000)),
            Data::Unsigned(_) => (Dtype::Modular(Modulus::PowerOfTwo(8)), None),
            Data::Wide(_) => (Dtype::Modular(Modulus::Prime128), None),
            Data::Float(_) => (FIXED, Range::new(-256_000, 256_000)),
        };
        ids.push(build.input("alice", &number.to_string(), kind, &value.shape, range)?);
    }
    let result = make(&mut build, &ids)?;
    build.reveal(result, Recipient::All)?;
    let program = build.finish()?;
    let words: Vec<Vec<u64>> = program
        .input_types()
        .iter()
        .zip(values)
        .map(|(ty, value)| crate::encode(ty, value).unwrap())
        .collect();
    Ok(reference::run(&program, &words).unwrap().remove(0))
}

#[test]
fn arithmetic_is_numpys() {
    let a = ints(&[2, 3], &[1, 2, 3, -4, 5, -6]);
    let b = ints(&[3], &[10, 20, 30]);
    let both = [a, b];
    let value = |make: fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>| {
        evaluate(&both, |build, x| make(build, x[0], x[1])).unwrap()
    };
    assert_eq!(value(Builder::add), ints(&[2, 3], &[11, 22, 33, 6, 25, 24]));
    assert_eq!(value(Builder::sub), ints(&[2, 3], &[-9, -18, -27, -14, -15, -36]));
    assert_eq!(value(Builder::mul), ints(&[2, 3], &[10, 40, 90, -40, 100, -180]));
    assert_eq!(value(Builder::matmul), ints(&[2], &[140, -120]));
    assert_eq!(value(|build, a, _| build.neg(a)), ints(&[2, 3], &[-1, -2, -3, 4, -5, 6]));
    assert_eq!(value(|build, a, _| build.abs(a)), ints(&[2, 3], &[1, 2, 3, 4, 5, 6]));
    assert_eq!(value(|build, a, _| build.relu(a)), ints(&[2, 3], &[1, 2, 3, 0, 5, 0]));
    assert_eq!(value(|build, a, _| build.shift_right(a, 1)), ints(&[2, 3], &[0, 1, 1, -2, 2, -3]));
    assert_eq!(value(|build, a, _| build.sum(a, None, false)), ints(&[], &[1]));
    assert_eq!(value(|build, a, _| build.sum(a, Some(&[-1]), true)), ints(&[2, 1], &[6, -5]));
    assert_eq!(value(|build, a, _| build.sum(a, Some(&[0]), false)), ints(&[3], &[-3, 7, -3]));
    assert_eq!(value(|build, a, _| build.sum(a, Some(&[]), false)), ints(&[2, 3], &[1, 2, 3, -4, 5, -6]));
}

#[test]
fn the_type_of_a_product_does_not_follow_from_public_values() {
    for (public, product, dot) in [([2.0, 3.0], [8.0, -15.0], -7.0), ([2.5, 3.0], [10.0, -15.0], -5.0)] {
        let of_both = [ints(&[2], &[4, -5]), floats(&[2], &[4.0, -5.0])];
        for secret in of_both {
            let (x, weights) = ([secret], floats(&[2], &public));
            let typed = |build: &mut Builder, id| {
                assert_eq!(build.type_of(id)?.kind, FIXED);
                Ok(id)
            };
            let value = evaluate(&x, |build, x| {
                let weights = build.constant(&weights, FIXED)?;
                let made = build.mul(x[0], weights)?;
                typed(build, made)
            });
            assert_eq!(value.unwrap(), floats(&[2], &product));
            let value = evaluate(&x, |build, x| {
                let weights = build.constant(&weights, FIXED)?;
                let made = build.matmul(weights, x[0])?;
                typed(build, made)
            });
            assert_eq!(value.unwrap(), floats(&[], &[dot]));
            let value = evaluate(&x, |build, x| {
                let (places, filters) = (build.reshape(x[0], &[1, 1, 2])?, build.constant(&weights, FIXED)?);
                let filters = build.reshape(filters, &[1, 2, 1])?;
                let made = build.conv(places, filters)?;
                typed(build, made)
            });
            assert_eq!(value.unwrap(), floats(&[1, 1, 1], &[dot]));
        }
    }
}

#[test]
fn comparisons_and_choices_are_numpys() {
    let both = [ints(&[4], &[1, 5, 3, -2]), ints(&[4], &[1, 4, 4, 9])];
    let value = |make: fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>| {
        evaluate(&both, |build, x| make(build, x[0], x[1])).unwrap()
    };
    assert_eq!(value(Builder::less), bools(&[4], &[false, false, true, true]));
    assert_eq!(value(Builder::less_equal), bools(&[4], &[true, false, true, true]));
    assert_eq!(value(Builder::greater), bools(&[4], &[false, true, false, false]));
    assert_eq!(value(Builder::greater_equal), bools(&[4], &[true, true, false, false]));
    assert_eq!(value(Builder::equal), bools(&[4], &[true, false, false, false]));
    assert_eq!(value(Builder::not_equal), bools(&[4], &[false, true, true, true]));
    assert_eq!(value(Builder::minimum), ints(&[4], &[1, 4, 3, -2]));
    assert_eq!(value(Builder::maximum), ints(&[4], &[1, 5, 4, 9]));
    let chosen = value(|build, a, b| {
        let c = build.less(a, b)?;
        build.select(c, b, a)
    });
    assert_eq!(chosen, ints(&[4], &[1, 5, 4, 9]));
    let clipped = value(|build, a, _| {
        let (low, high) =
            (build.constant(&ints(&[], &[0]), Dtype::Int)?, build.constant(&ints(&[], &[4]), Dtype::Int)?);
        build.clip(a, low, high)
    });
    assert_eq!(clipped, ints(&[4], &[1, 4, 3, 0]));
    let crossed = value(|build, a, _| {
        let (low, high) =
            (build.constant(&ints(&[], &[4]), Dtype::Int)?, build.constant(&ints(&[], &[0]), Dtype::Int)?);
        build.clip(a, low, high)
    });
    assert_eq!(crossed, ints(&[4], &[0, 0, 0, 0]));
    let largest = value(|build, a, _| {
        let one = build.max(a, None, false)?;
        build.max(one, None, true)
    });
    assert_eq!(largest, ints(&[], &[5]));
}

#[test]
fn logic_is_numpys_and_bools_count_as_0_and_1() {
    let both = [bools(&[4], &[true, true, false, false]), bools(&[4], &[true, false, true, false])];
    let value = |make: fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>| {
        evaluate(&both, |build, x| make(build, x[0], x[1])).unwrap()
    };
    assert_eq!(value(Builder::and), bools(&[4], &[true, false, false, false]));
    assert_eq!(value(Builder::or), bools(&[4], &[true, true, true, false]));
    assert_eq!(value(Builder::xor), bools(&[4], &[false, true, true, false]));
    assert_eq!(value(Builder::equal), bools(&[4], &[true, false, false, true]));
    assert_eq!(value(|build, a, _| build.not(a)), bools(&[4], &[false, false, true, true]));
    assert_eq!(value(Builder::add), ints(&[4], &[2, 1, 1, 0]));
    assert_eq!(value(Builder::less), bools(&[4], &[false, false, true, false]));
    assert_eq!(value(Builder::maximum), bools(&[4], &[true, true, true, false]));
    assert_eq!(value(|build, a, _| build.sum(a, None, false)), ints(&[], &[2]));
    assert_eq!(value(|build, a, _| build.max(a, None, false)), bools(&[], &[true]));
    assert_eq!(value(|build, a, _| build.min(a, None, true)), bools(&[1], &[false]));
    assert_eq!(value(|build, a, _| build.argmin(a, None, false)), ints(&[], &[2]));
    assert_eq!(value(|build, a, b| build.select(a, b, a)), bools(&[4], &[true, false, false, false]));
}

#[test]
fn the_first_of_equal_extremes_wins() {
    let value = |make: fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>| {
        evaluate(&[ints(&[2, 4], &[3, 7, 7, 3, -1, -5, 0, -5])], |build, x| make(build, x[0])).unwrap()
    };
    assert_eq!(value(|build, a| build.argmax(a, Some(1), false)), ints(&[2], &[1, 2]));
    assert_eq!(value(|build, a| build.argmin(a, Some(-1), true)), ints(&[2, 1], &[0, 1]));
    assert_eq!(value(|build, a| build.argmin(a, None, false)), ints(&[], &[5]));
    assert_eq!(value(|build, a| build.argmax(a, None, true)), ints(&[1, 1], &[1]));
    assert_eq!(value(|build, a| build.max(a, Some(0), false)), ints(&[4], &[3, 7, 7, 3]));
    assert_eq!(value(|build, a| build.min(a, None, true)), ints(&[1, 1], &[-5]));
}

#[test]
fn elements_move_as_numpys_do() {
    let value = |make: fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>| {
        evaluate(&[ints(&[2, 3], &[1, 2, 3, 4, 5, 6])], |build, x| make(build, x[0])).unwrap()
    };
    let back = Index::Slice { start: None, stop: None, step: -1 };
    assert_eq!(value(|build, a| build.reshape(a, &[3, -1])), ints(&[3, 2], &[1, 2, 3, 4, 5, 6]));
    assert_eq!(value(|build, a| build.transpose(a, None)), ints(&[3, 2], &[1, 4, 2, 5, 3, 6]));
    assert_eq!(value(|build, a| build.index(a, &[Index::At(-1)])), ints(&[3], &[4, 5, 6]));
    let turned = evaluate(&[ints(&[2, 3], &[1, 2, 3, 4, 5, 6])], |build, x| {
        build.index(x[0], &[Index::Ellipsis, back, Index::NewAxis])
    });
    assert_eq!(turned.unwrap(), ints(&[2, 3, 1], &[3, 2, 1, 6, 5, 4]));
    let row = |build: &mut Builder, a| build.index(a, &[Index::At(0)]);
    assert_eq!(
        value(|build, a| {
            let first = build.index(a, &[Index::At(0)])?;
            build.broadcast_to(first, &[2, 3])
        }),
        ints(&[2, 3], &[1, 2, 3, 1, 2, 3])
    );
    assert_eq!(
        value(|build, a| build.windows(a, &[2], Some(&[-1]))),
        ints(&[2, 2, 2], &[1, 2, 2, 3, 4, 5, 5, 6])
    );
    let stacked = evaluate(&[ints(&[2, 3], &[1, 2, 3, 4, 5, 6])], |build, x| {
        let first = row(build, x[0])?;
        build.stack(&[first, first], -1)
    });
    assert_eq!(stacked.unwrap(), ints(&[3, 2], &[1, 1, 2, 2, 3, 3]));
    assert_eq!(
        value(|build, a| build.concatenate(&[a, a], 1)),
        ints(&[2, 6], &[1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6])
    );
    assert_eq!(value(|build, a| build.concatenate(&[a, a], 0)).shape, [4, 3]);
}

#[test]
fn fixed_point_products_round_to_nearest_with_ties_up() {
    let unit = 1.0 / 256.0;
    // The exact products are 1.5, 0.5, -0.5, -1.5 and 2.25 units.
    let factors = [
        floats(&[5], &[0.5, 0.5, -0.5, -0.5, 0.75]),
        floats(&[5], &[3.0 * unit, unit, unit, 3.0 * unit, 3.0 * unit]),
    ];
    let product = evaluate(&factors, |build, x| build.mul(x[0], x[1])).unwrap();
    assert_eq!(product, floats(&[5], &[2.0 * unit, unit, 0.0, -unit, 2.0 * unit]));
    // A dot product is rounded once: 1.5 + 0.5 - 0.5 - 1.5 + 2.25 is 2.25 units.
    let dot = evaluate(&factors, |build, x| build.matmul(x[0], x[1])).unwrap();
    assert_eq!(dot, floats(&[], &[2.0 * unit]));
    let floor = evaluate(&factors[..1], |build, x| build.astype(x[0], Dtype::Int)).unwrap();
    assert_eq!(floor, ints(&[5], &[0, 0, -1, -1, 0]));
}

#[test]
fn kinds_meet_as_documented() {
    let mut build = Builder::new();
    let whole = int(&mut build, "i", &[2], -5, 5);
    let fixed = build.input("alice", "f", FIXED, &[2], Range::new(-256, 256)).unwrap();
    let fine = build.input("alice", "g", Dtype::Fixed { frac: 12 }, &[2], Range::new(-256, 256)).unwrap();
    let bit = build.input("alice", "b", Dtype::Bool, &[2], None).unwrap();
    let mut kind = |make: &dyn Fn(&mut Builder) -> Result<NodeId, ProgramError>| {
        let node = make(&mut build).unwrap();
        build.type_of(node).unwrap().kind
    };
    assert_eq!(kind(&|build| build.add(whole, fixed)), FIXED);
    assert_eq!(kind(&|build| build.add(fine, fixed)), Dtype::Fixed { frac: 12 });
    assert_eq!(kind(&|build| build.mul(fine, fixed)), Dtype::Fixed { frac: 12 });
    assert_eq!(kind(&|build| build.mul(whole, fixed)), FIXED);
    assert_eq!(kind(&|build| build.mul(bit, fixed)), FIXED);
    assert_eq!(kind(&|build| build.mul_raw(fixed, fine)), Dtype::Fixed { frac: 20 });
    assert_eq!(kind(&|build| build.matmul_raw(fixed, fine)), Dtype::Fixed { frac: 20 });
    assert_eq!(kind(&|build| build.add(bit, bit)), Dtype::Int);
    assert_eq!(kind(&|build| build.select(bit, whole, fixed)), FIXED);
    assert_eq!(kind(&|build| build.concatenate(&[bit, whole, fixed], 0)), FIXED);
    assert_eq!(kind(&|build| build.astype(bit, FIXED)), FIXED);
    let third = floats(&[], &[1.0 / 3.0]);
    // A public factor's fraction bits don't show in the result.
    assert_eq!(
        kind(&|build| {
            let c = build.constant(&third, Dtype::Fixed { frac: 30 })?;
            build.mul(fixed, c)
        }),
        FIXED
    );
    assert_eq!(
        kind(&|build| {
            let c = build.constant_beside(&third, fixed)?;
            build.add(fixed, c)
        }),
        FIXED
    );
}

#[test]
fn wrapping_integers_wrap_and_have_no_order() {
    let bytes = |data: &[u64]| Value { shape: vec![data.len()], data: Data::Unsigned(data.to_vec()) };
    let both = [bytes(&[250, 3]), bytes(&[10, 5])];
    let value = |make: fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>| {
        evaluate(&both, |build, x| make(build, x[0], x[1])).unwrap()
    };
    assert_eq!(value(Builder::add), bytes(&[4, 8]));
    assert_eq!(value(Builder::sub), bytes(&[240, 254]));
    assert_eq!(value(Builder::mul), bytes(&[196, 15]));
    assert_eq!(value(|build, a, _| build.neg(a)), bytes(&[6, 253]));
    assert_eq!(value(Builder::equal), bools(&[2], &[false, false]));
    assert_eq!(
        value(|build, a, _| {
            let minus_one = build.constant(&ints(&[], &[-1]), Dtype::Int)?;
            build.mul(a, minus_one)
        }),
        bytes(&[6, 253])
    );
    let mut build = Builder::new();
    let kind = Dtype::Modular(Modulus::PowerOfTwo(8));
    let a = build.input("alice", "a", kind, &[2], None).unwrap();
    let narrow = build.input("alice", "b", Dtype::Modular(Modulus::PowerOfTwo(16)), &[2], None).unwrap();
    let whole = int(&mut build, "i", &[2], 0, 5);
    assert!(matches!(fault(build.less(a, a)), Fault::NotDefined { operation: "<", .. }));
    assert!(matches!(fault(build.max(a, None, false)), Fault::NotDefined { operation: "max", .. }));
    assert!(matches!(fault(build.abs(a)), Fault::NotDefined { operation: "abs", .. }));
    assert!(matches!(fault(build.add(a, narrow)), Fault::Kinds { .. }));
    assert!(matches!(fault(build.add(a, whole)), Fault::Kinds { .. }));
    assert!(build.less(a, a).unwrap_err().hint().unwrap().contains("no order"));
}

#[test]
fn moduli_have_sums_and_products_and_refuse_the_rest() {
    let last = u128::MAX - 159;
    let wide = |data: &[u128]| Value { shape: vec![data.len()], data: Data::Wide(data.to_vec()) };
    let squares = evaluate(&[wide(&[last, 3])], |build, x| build.mul(x[0], x[0]));
    assert_eq!(squares, Ok(wide(&[1, 9])));
    // A negative public integer counts from the modulus down.
    let less = evaluate(&[wide(&[0, 7])], |build, x| {
        let minus_eight = build.constant(&ints(&[], &[-8]), Dtype::Int)?;
        build.add(x[0], minus_eight)
    });
    assert_eq!(less, Ok(wide(&[last - 7, last])));

    let beside = evaluate(&[wide(&[0, 7])], |build, x| {
        let minus_one = build.constant_beside(&ints(&[], &[-1]), x[0])?;
        build.mul(x[0], minus_one)
    });
    assert_eq!(beside, Ok(wide(&[0, last - 6])));

    let mut build = Builder::new();
    let kinds = [Modulus::PowerOfTwo(9), Modulus::Mersenne61, Modulus::PowerOfTwo(128)].map(Dtype::Modular);
    for (at, kind) in kinds.into_iter().enumerate() {
        let a = build.input("alice", &format!("a{at}"), kind, &[2], None).unwrap();
        let bit = build.input("alice", &format!("bit{at}"), Dtype::Bool, &[2], None).unwrap();
        assert!(matches!(fault(build.less(a, a)), Fault::NotDefined { operation: "<", .. }));
        let equal = build.equal(a, a).unwrap_err();
        assert!(matches!(*equal.fault, Fault::NotDefined { operation: "==", .. }));
        assert!(equal.hint().unwrap().contains("sums and products alone"), "{equal}");
        assert!(equal.to_string().contains(&format!("is not defined for {kind}")), "{equal}");
        assert!(matches!(fault(build.select(bit, a, a)), Fault::NotDefined { operation: "where", .. }));
        assert!(matches!(fault(build.add(a, bit)), Fault::Kinds { operation: "+", .. }));
        assert!(matches!(fault(build.astype(bit, kind)), Fault::Kinds { operation: "astype", .. }));
        assert!(matches!(fault(build.shift_right(a, 1)), Fault::NotDefined { operation: ">>", .. }));
        let public = build.constant(&bools(&[], &[true]), Dtype::Bool).unwrap();
        assert_eq!(build.add(a, public).and_then(|sum| build.type_of(sum).cloned()).unwrap().kind, kind);
    }
    let display = kinds.map(|kind| kind.to_string());
    assert_eq!(display, ["mod 2^9", "mod 2^61-1", "mod 2^128"]);
    for modulus in [Modulus::PowerOfTwo(0), Modulus::PowerOfTwo(129)] {
        let refused = build.input("alice", "bad", Dtype::Modular(modulus), &[2], None);
        assert!(matches!(fault(refused), Fault::Modulus { .. }));
    }
}

#[test]
fn overflow_is_refused_with_the_line_and_the_range() {
    let mut build = Builder::new();
    let a = int(&mut build, "a", &[4], 0, 1 << 40);
    build.at(Source { file: "square.py".into(), line: 7, text: "a * a".into() });
    let error = build.mul(a, a).unwrap_err();
    assert_eq!(error.at.line, 7);
    let text = error.to_string();
    assert!(text.starts_with("square.py:7: a * a\n"), "{text}");
    assert!(text.contains("from 0 to 1208925819614629174706176"), "{text}");
    assert!(text.contains("hint: declare a narrower range"), "{text}");
    assert!(text.contains("with np.clip(x, low, high)"), "{text}");
    let full = build.input("alice", "full", Dtype::Int, &[4], None).unwrap();
    for result in [build.add(full, full), build.neg(full), build.abs(full), build.sum(full, None, false)] {
        assert!(matches!(fault(result), Fault::Overflow { .. }));
    }
    // Differences that don't fit are still compared.
    assert!(build.less(full, full).is_ok());
    let big = build.input("alice", "big", FIXED, &[4], Range::new(0, (1 << 31) - 1)).unwrap();
    assert!(build.mul(big, big).is_ok());
    let bigger = build.input("alice", "bigger", FIXED, &[4], Range::new(0, 1 << 31)).unwrap();
    let product = build.mul(bigger, bigger).unwrap();
    let made = &build.nodes[product.index()].operation;
    assert_eq!(*made, Operation::WideProduct { matrix: false, by: 8 });
    let raw = build.mul_raw(bigger, bigger).unwrap();
    assert!(matches!(fault(build.rescale(raw, 0)), Fault::TruncationGuard { bits: 62, .. }));
}

#[test]
fn ranges_narrow_where_the_operation_does() {
    let mut build = Builder::new();
    let a = int(&mut build, "a", &[4], -10, 5);
    let mut range = |make: &dyn Fn(&mut Builder) -> Result<NodeId, ProgramError>| {
        let node = make(&mut build).unwrap();
        let range = build.type_of(node).unwrap().range;
        (range.lo(), range.hi())
    };
    assert_eq!(range(&|build| build.mul(a, a)), (0, 100));
    assert_eq!(range(&|build| build.abs(a)), (0, 10));
    assert_eq!(range(&|build| build.relu(a)), (0, 5));
    assert_eq!(range(&|build| build.shift_right(a, 2)), (-3, 1));
    assert_eq!(range(&|build| build.sum(a, None, false)), (-40, 20));
    assert_eq!(range(&|build| build.argmax(a, None, false)), (0, 3));
    assert_eq!(range(&|build| build.matmul(a, a)), (-200, 400));
}

type Compare = fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>;

#[test]
fn misuse_is_refused() {
    let mut build = Builder::new();
    let a = int(&mut build, "a", &[2, 3], 0, 9);
    let bit = build.input("alice", "b", Dtype::Bool, &[2], None).unwrap();
    assert!(matches!(fault(build.add(a, bit)), Fault::Shapes { .. }));
    assert!(matches!(fault(build.matmul(a, a)), Fault::Shapes { .. }));
    let signs: [(&str, Compare); 4] = [
        ("<", Builder::less),
        ("<=", Builder::less_equal),
        (">", Builder::greater),
        (">=", Builder::greater_equal),
    ];
    for (sign, compare) in signs {
        let says = format!("`{sign}`: shapes (2, 3) and (2,) don't go together");
        assert_eq!(fault(compare(&mut build, a, bit)).to_string(), says);
    }
    assert!(matches!(fault(build.and(a, a)), Fault::NotDefined { operation: "&", .. }));
    assert!(matches!(fault(build.not(a)), Fault::NotDefined { operation: "~", .. }));
    assert!(matches!(fault(build.select(a, a, a)), Fault::NotDefined { operation: "where", .. }));
    assert!(matches!(fault(build.sum(a, Some(&[2]), false)), Fault::Axis { .. }));
    assert!(matches!(fault(build.sum(a, Some(&[1, -1]), false)), Fault::AxisTwice { .. }));
    assert!(matches!(fault(build.transpose(a, Some(&[0, 0]))), Fault::Permutation { .. }));
    assert!(matches!(fault(build.reshape(a, &[5])), Fault::Reshape { .. }));
    assert!(matches!(fault(build.broadcast_to(a, &[3])), Fault::Shapes { .. }));
    assert!(matches!(fault(build.broadcast_to(a, &[1 << 20, 1 << 20, 2, 3])), Fault::Elements { .. }));
    for (lengths, axes) in [(&[3, 1][..], None), (&[0, 1], None), (&[2], None), (&[4, 1], Some(&[1, 0][..]))]
    {
        assert!(matches!(fault(build.windows(a, lengths, axes)), Fault::Windows { .. }), "{lengths:?}");
    }
    assert!(matches!(fault(build.windows(a, &[1], Some(&[2]))), Fault::Axis { .. }));
    assert!(matches!(fault(build.windows(a, &[1; 7], Some(&[0; 7]))), Fault::Rank { rank: 9 }));
    assert!(matches!(fault(build.windows(a, &[usize::MAX], Some(&[0]))), Fault::Windows { .. }));
    assert!(matches!(fault(build.concatenate(&[], 0)), Fault::NoOperands { .. }));
    assert!(matches!(fault(build.concatenate(&[a, bit], 0)), Fault::Shapes { .. }));
    assert!(matches!(fault(build.stack(&[a, bit], 0)), Fault::Shapes { .. }));
    assert!(matches!(fault(build.clip(a, a, a)), Fault::SecretBounds));
    let tiny = Value { shape: vec![2], data: Data::Float(vec![0.0, 1e-6]) };
    assert!(matches!(
        fault(build.constant(&tiny, Dtype::Fixed { frac: 16 })),
        Fault::Vanishes { frac: 16, .. }
    ));
    assert!(matches!(fault(build.astype(a, Dtype::Bool)), Fault::Kinds { .. }));
    assert!(matches!(fault(build.shift_right(a, 63)), Fault::Shift { .. }));
    assert!(matches!(fault(build.neg(NodeId::new(999))), Fault::UnknownNode { node: 999 }));
    let empty = [Index::Slice { start: Some(2), stop: Some(1), step: 1 }];
    assert!(matches!(fault(build.index(a, &empty)), Fault::Empty { .. }));
    let input = |build: &mut Builder, name: &str, kind, range| build.input("alice", name, kind, &[2], range);
    assert!(matches!(fault(input(&mut build, "a", Dtype::Int, None)), Fault::InputTwice { .. }));
    assert!(matches!(fault(input(&mut build, "", Dtype::Int, None)), Fault::Name { .. }));
    assert!(matches!(fault(input(&mut build, "x", Dtype::Fixed { frac: 33 }, None)), Fault::Fraction { .. }));
    assert!(matches!(fault(input(&mut build, "x", Dtype::Fixed { frac: 0 }, None)), Fault::Fraction { .. }));
    assert!(matches!(fault(input(&mut build, "x", Dtype::Bool, Range::new(0, 0))), Fault::Range { .. }));
    assert!(matches!(fault(input(&mut build, "x", Dtype::Int, Range::new(0, 1 << 63))), Fault::Range { .. }));
    let nan = build.constant(&floats(&[], &[f64::NAN]), FIXED);
    assert!(matches!(fault(nan), Fault::Constant(_)));
    assert!(matches!(fault(build.constant_beside(&floats(&[], &[0.5]), a)), Fault::Constant(_)));
    assert!(matches!(*build.finish().unwrap_err().fault, Fault::NothingRevealed));
}

#[test]
fn public_values_fold_and_unused_nodes_go() {
    let mut build = Builder::new();
    let a = int(&mut build, "a", &[2], 0, 9);
    let (two, three) =
        (build.constant(&ints(&[], &[2]), Dtype::Int), build.constant(&ints(&[], &[3]), Dtype::Int));
    let six = build.mul(two.unwrap(), three.unwrap()).unwrap();
    assert_eq!(build.constant_of(six).unwrap(), Some(ints(&[], &[6])));
    assert_eq!(build.constant_of(a).unwrap(), None);
    let product = build.mul(a, six).unwrap();
    build.neg(product).unwrap();
    build.reveal(product, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    let operations: Vec<_> = program.nodes().iter().map(|node| node.operation.name()).collect();
    assert_eq!(operations, ["input", "constant", "*"]);
}

#[test]
fn each_node_knows_its_line() {
    let mut build = Builder::new();
    let line = |line| Source { file: "p.py".into(), line, text: "x".repeat(5000) };
    build.at(line(1));
    let a = int(&mut build, "a", &[2], 0, 9);
    build.at(line(2));
    let b = build.neg(a).unwrap();
    build.at(line(3));
    build.reveal(b, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    assert_eq!(program.source(program.inputs()[0]).line, 1);
    assert_eq!(program.source(program.outputs()[0].node).line, 2);
    assert_eq!(program.output_source(&program.outputs()[0]).line, 3);
    assert_eq!(program.sources()[0].text.len(), MAX_TEXT);
}

/// Operands that are repeated along the other's batch axes are bounded like any value.
#[test]
fn the_batch_of_a_matrix_product_is_bounded() {
    let mut build = Builder::new();
    let square = int(&mut build, "square", &[1 << 8, 1 << 8], 0, 1);
    let columns = int(&mut build, "columns", &[1 << 20, 1 << 8, 1], 0, 1);
    let Fault::Elements { shape } = fault(build.matmul(square, columns)) else { panic!("another fault") };
    assert_eq!(shape, [1 << 20, 1 << 8, 1 << 8]);
    let rows = int(&mut build, "rows", &[1 << 20, 1, 1 << 8], 0, 1);
    assert!(build.matmul(rows, square).is_ok());
}

#[test]
fn circuits_that_are_too_wide_or_have_too_many_messages_are_refused() {
    let wide = |ands: usize| {
        let mut circuit = tacit_circuit::Builder::new();
        let bits = circuit.input(2100);
        let pairs = bits.iter().flat_map(|a| bits.iter().map(move |b| (a, b))).filter(|(a, b)| a < b);
        let wires = pairs.take(ands).map(|(&a, &b)| circuit.and(a, b)).collect();
        std::sync::Arc::new(circuit.finish(vec![wires]))
    };
    let mut build = Builder::new();
    let bits = build.input("alice", "bits", Dtype::Bool, &[2100], None).unwrap();
    assert!(build.circuit(&wide(1 << 21), &[bits]).is_ok());
    let error = build.circuit(&wide((1 << 21) + 1), &[bits]).unwrap_err();
    assert_eq!(*error.fault, Fault::CircuitWidth { ands: (1 << 21) + 1, limit: 1 << 21 });

    let mut circuit = tacit_circuit::Builder::new();
    let bits = circuit.input(2);
    let (mut p, mut q) = (bits[0], bits[1]);
    for _ in 0..5000 {
        let both = circuit.and(p, q);
        (p, q) = (q, circuit.xor(p, both));
    }
    let deep = std::sync::Arc::new(circuit.finish(vec![vec![p]]));
    let many = build.input("alice", "many", Dtype::Bool, &[1 << 27, 2], None).unwrap();
    let error = build.circuit(&deep, &[many]).unwrap_err();
    assert!(matches!(*error.fault, Fault::CircuitMessages { instances: 134_217_728, .. }), "{error}");
}
