//! For tests: plans executed in the clear, random programs, random inputs.

mod clear;

use proptest::prelude::*;
use proptest::test_runner::TestRng;

pub(crate) use clear::Clear;

use crate::plan::Modulus;
use crate::value::words_of;
use crate::{
    Builder, Capabilities, Data, Dtype, Fault, Index, InputType, Lowered, NodeId, Operation, Pieces,
    Piecewise, Program, Range, Recipient, Value,
};

/// So many cases, unless the environment variable `PROPTEST_CASES` says how many: long tests draw more.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    if told { ProptestConfig::default() } else { ProptestConfig::with_cases(usual) }
}

/// Lowers a program to what is offered, executes its plan with every node revealed, and compares all with the
/// reference.
pub(crate) fn check(
    program: &Program,
    capabilities: Capabilities,
    inputs: &[Vec<u64>],
    rng: TestRng,
) -> Lowered {
    let lowered = crate::lower_for_debug(program, capabilities).expect("all is offered");
    let outputs = Clear::run(&lowered.plan, inputs, rng);
    let wrong =
        crate::first_difference(program, &lowered, inputs, &outputs).expect("inputs are in their ranges");
    assert_eq!(wrong, None);
    crate::lower(program, capabilities).expect("all is offered")
}

/// Whether a program needs no arithmetic modulo a prime.
pub(crate) fn has_bits(program: &Program) -> bool {
    let prime = |kind| matches!(kind, Dtype::Modular(Modulus::Mersenne61 | Modulus::Prime128));
    !program.nodes().iter().any(|node| node.ty.secret && prime(node.ty.kind))
}

/// Whether a program has a product of matrices that is too long for what rings round.
pub(crate) fn is_beyond_rings(program: &Program, capabilities: Capabilities) -> bool {
    let is_long = |node: &crate::Node| matches!(node.operation, Operation::WideProduct { matrix: true, .. });
    let refused = |error: crate::ProgramError| matches!(*error.fault, Fault::TruncationGuard { .. });
    program.nodes().iter().any(is_long) && crate::lower(program, capabilities).is_err_and(refused)
}

/// Inputs of the declared types: ends of their ranges, and values between them.
pub(crate) fn inputs(types: &[InputType], rng: &mut TestRng) -> Vec<Vec<u64>> {
    let mut draw = |ty: &InputType| {
        if let Dtype::Modular(modulus) = ty.kind {
            return element(rng, modulus) as i128;
        }
        let (lo, hi) = (ty.range.lo(), ty.range.hi());
        match rng.random_range(0..6u8) {
            0 => lo,
            1 => hi,
            2 => 0.clamp(lo, hi),
            3 => rng.random_range(-2..=2).clamp(lo, hi),
            _ => rng.random_range(lo..=hi),
        }
    };
    let words = |ty: &InputType| {
        let len: usize = ty.shape.iter().product();
        (0..len).flat_map(|_| words_of(draw(ty)).into_iter().take(ty.kind.limbs())).collect()
    };
    types.iter().map(words).collect()
}

/// A random program of `steps` operations over a few inputs. What the builder refuses is left out.
pub(crate) fn program(rng: &mut TestRng, steps: usize) -> Program {
    let mut build = Builder::new();
    let mut pool = Vec::new();
    for number in 0..rng.random_range(2..5u8) {
        let shape = shape(rng);
        let kind = kind(rng);
        let range = range(rng, kind);
        let owner = ["alice", "bob"][number as usize % 2];
        pool.push(build.input(owner, &format!("x{number}"), kind, &shape, range).unwrap());
    }
    for number in 0..steps {
        build.at(crate::Source { file: "p.py".into(), line: number as u32, text: String::new() });
        if let Some(node) = step(&mut build, &pool, rng) {
            pool.push(node);
        }
    }
    build.reveal(pool[pool.len() - 1], Recipient::All).unwrap();
    for &node in &pool {
        if rng.random_range(0..3u8) == 0 {
            build.reveal(node, Recipient::Role("carol".into())).unwrap();
        }
    }
    build.finish().unwrap()
}

/// The ends of a modulus's elements, and some between.
fn element(rng: &mut TestRng, modulus: Modulus) -> u128 {
    match rng.random_range(0..4u8) {
        0 => modulus.last(),
        1 => modulus.reduce_unsigned(rng.random_range(0..3)),
        _ => modulus.reduce_unsigned(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())),
    }
}

fn shape(rng: &mut TestRng) -> Vec<usize> {
    let shapes: [&[usize]; 9] = [&[], &[1], &[3], &[4], &[2, 3], &[3, 1], &[65], &[2, 1, 4], &[4, 4]];
    shapes[rng.random_range(0..shapes.len())].to_vec()
}

fn kind(rng: &mut TestRng) -> Dtype {
    match rng.random_range(0..8u8) {
        0 | 1 => Dtype::Bool,
        2..=4 => Dtype::Int,
        5 | 6 => Dtype::Fixed { frac: rng.random_range(1..=20) },
        _ => {
            let exponents =
                [1, 2, 7, 8, 9, 16, 31, 32, 33, 61, 63, 64, 65, 127, 128].map(Modulus::PowerOfTwo);
            let fields = [Modulus::Mersenne61, Modulus::Prime128];
            Dtype::Modular(exponents.into_iter().chain(fields).nth(rng.random_range(0..17)).unwrap())
        }
    }
}

fn range(rng: &mut TestRng, kind: Dtype) -> Option<Range> {
    if !kind.is_ranged() {
        return None;
    }
    let bits = [1, 3, 7, 8, 13, 15, 16, 29, 31, 32, 61, 63][rng.random_range(0..12)];
    let end = 1i128 << bits;
    Some(match rng.random_range(0..4u8) {
        0 => Range::new(-end, end - 1).unwrap(),
        1 => Range::new(0, end - 1).unwrap(),
        2 => Range::new(1 - end, 0).unwrap(),
        _ => Range::new(-(end / 2), end / 4).unwrap(),
    })
}

fn constant(build: &mut Builder, rng: &mut TestRng) -> NodeId {
    let kind = kind(rng);
    let range = range(rng, kind).unwrap_or(kind.whole());
    let shape = shape(rng);
    let len = shape.iter().product();
    let mut raw = || match kind {
        Dtype::Modular(modulus) => element(rng, modulus) as i128,
        _ => rng.random_range(range.lo()..=range.hi()),
    };
    let raw = (0..len).map(|_| raw()).collect();
    build.public(kind, shape, raw).unwrap()
}

/// A factor, a divisor or a weight.
fn real(rng: &mut TestRng, not_zero: bool) -> f64 {
    let sign = if rng.random_range(0..3u8) == 0 { -1.0 } else { 1.0 };
    let number = match rng.random_range(0..9u8) {
        0 => [0.1, 0.01, 1e-6, 1.0 / 3.0, 1e6, 0.3, 1e-3][rng.random_range(0..7)],
        1 => f64::from(rng.random_range(1..20)),
        2 => f64::from(rng.random_range(1..1_000_000)),
        3 => 2_f64.powi(rng.random_range(-40..40)),
        4 => f64::from(rng.random_range(1..1 << 16)) / 65536.0,
        5 => rng.random_range(0.0..1.0),
        6 if !not_zero => 0.0,
        7 => rng.random_range(0.5..1.0) * 2_f64.powi(rng.random_range(-70..40)),
        _ => rng.random_range(0.01..100.0),
    };
    sign * if not_zero && number == 0.0 { 1.0 } else { number }
}

/// Factors or divisors, of a shape of their own.
fn reals(rng: &mut TestRng, not_zero: bool) -> Value {
    let shape = if rng.random_range(0..2u8) == 0 { vec![] } else { shape(rng) };
    let len = shape.iter().product();
    if rng.random_range(0..5u8) == 0 {
        let least = i64::from(not_zero);
        let end = 1 << [3, 8, 40, 62][rng.random_range(0..4)];
        return Value { shape, data: Data::Int((0..len).map(|_| rng.random_range(least..end)).collect()) };
    }
    Value { shape, data: Data::Float((0..len).map(|_| real(rng, not_zero)).collect()) }
}

/// Windows along an axis, or along all.
fn windows(
    build: &mut Builder,
    a: NodeId,
    axis: Option<i64>,
    rng: &mut TestRng,
) -> Result<NodeId, crate::ProgramError> {
    let shape = build.type_of(a)?.shape.clone();
    let lengths: Vec<usize> = shape.iter().map(|&length| rng.random_range(1..=length.max(2))).collect();
    let one = &lengths[..lengths.len().min(1)];
    match axis {
        None => build.windows(a, &lengths, None),
        Some(axis) => build.windows(a, one, Some(&[axis])),
    }
}

/// A function by pieces.
fn function(rng: &mut TestRng) -> Piecewise {
    let (parts, places) = (rng.random_range(0..4u8), rng.random_range(0..9u8));
    let bits = parts + places + 1 + rng.random_range(0..9u8);
    let low = rng.random_range(-1000..1000);
    let (pieces, count) = if rng.random_range(0..2u8) == 0 {
        let high = low + rng.random_range(0..8i64 << bits);
        (Pieces::Even { low, high, bits }, ((high - low) >> bits) as usize + 1)
    } else {
        (Pieces::Octaves { bits, parts }, usize::from(bits) << parts)
    };
    let terms = rng.random_range(1..4);
    let coefficients = (0..count * terms).map(|_| rng.random_range(-1_000_000..1_000_000)).collect();
    Piecewise::new(pieces, places, rng.random_range(0..5), terms, coefficients).unwrap()
}

/// A vector or a matrix that `a` can be multiplied by, from the right or from the left.
fn weights(build: &Builder, a: NodeId, rng: &mut TestRng) -> Result<(Value, bool), crate::ProgramError> {
    let own = build.type_of(a)?.shape.clone();
    let left = rng.random_range(0..3u8) == 0;
    let axis = if left && own.len() > 1 { own.len() - 2 } else { own.len().saturating_sub(1) };
    let terms = own.get(axis).copied().unwrap_or(1);
    let columns = rng.random_range(1..4);
    let shape = match (rng.random_range(0..4u8), left) {
        (0, _) => vec![terms],
        (1, true) => vec![2, columns, terms],
        (1, false) => vec![2, terms, columns],
        (_, true) => vec![columns, terms],
        (_, false) => vec![terms, columns],
    };
    let small = rng.random_range(0..2u8) == 0;
    let data = (0..shape.iter().product())
        .map(|_: usize| if small { f64::from(rng.random_range(-99..99)) / 64.0 } else { real(rng, false) });
    Ok((Value { data: Data::Float(data.collect()), shape }, left))
}

/// The mean of all elements.
fn mean(build: &mut Builder, a: NodeId, keepdims: bool) -> Result<NodeId, crate::ProgramError> {
    let count = build.type_of(a)?.len() as i64;
    let sum = build.sum(a, None, keepdims)?;
    build.divide(sum, &Value { shape: vec![], data: Data::Int(vec![count]) })
}

fn step(build: &mut Builder, pool: &[NodeId], rng: &mut TestRng) -> Option<NodeId> {
    let mut pick = |build: &mut Builder| {
        let any = pool[rng.random_range(0..pool.len())];
        if rng.random_range(0..6u8) == 0 { constant(build, rng) } else { any }
    };
    let (a, b, c) = (pick(build), pick(build), pick(build));
    let axis = rng.random_range(-2..3i64);
    let keepdims = rng.random_range(0..2u8) == 0;
    let place = |rng: &mut TestRng| (rng.random_range(0..3u8) > 0).then(|| rng.random_range(-5..5i64));
    let result = match rng.random_range(0..58u8) {
        0 | 1 => build.add(a, b),
        2 => build.sub(a, b),
        3 => build.neg(a),
        4 | 5 => build.mul(a, b),
        6 => build.matmul(a, b),
        7 => build.sum(a, None, keepdims),
        8 => build.sum(a, Some(&[axis]), keepdims),
        9 => build.sum(a, Some(&[0, 2]), keepdims),
        10 => build.less(a, b),
        11 => build.less_equal(a, b),
        12 => build.greater_equal(a, b),
        13 => build.equal(a, b),
        14 => build.not_equal(a, b),
        15 => build.and(a, b),
        16 => build.or(a, b),
        17 => build.xor(a, b),
        18 => build.not(a),
        19 | 20 => build.select(c, a, b),
        21 => build.minimum(a, b),
        22 => build.maximum(a, b),
        23 => build.max(a, (axis < 2).then_some(axis), keepdims),
        24 => build.argmax(a, (axis < 2).then_some(axis), keepdims),
        25 => build.argmin(a, Some(axis), keepdims),
        26 => build.abs(a),
        27 => build.relu(a),
        28 => build.astype(a, kind(rng)),
        29 => build.shift_right(a, rng.random_range(0..40)),
        30 => build.reshape(a, &[-1]),
        31 => build.transpose(a, None),
        32 => {
            let step = [-2, -1, 1, 2, 3][rng.random_range(0..5)];
            let slice = Index::Slice { start: place(rng), stop: place(rng), step };
            let at = Index::At(rng.random_range(-2..2));
            let entries = [[slice, Index::Ellipsis], [Index::Ellipsis, slice], [at, Index::NewAxis]];
            build.index(a, &entries[rng.random_range(0..3)])
        }
        35 | 36 => build.scale(a, &reals(rng, false)),
        37 | 38 => build.divide(a, &reals(rng, true)),
        39 | 40 => {
            let by = reals(rng, true);
            build.floor_divide(a, &by)
        }
        41 | 42 => {
            let matrix = weights(build, a, rng);
            matrix.and_then(|(matrix, left)| build.weigh(a, &matrix, left))
        }
        43 => mean(build, a, keepdims),
        50..=53 => {
            let times = build.type_of(b).ok()?.shape.first().copied().unwrap_or(0) as u32;
            let bound = build.public(Dtype::Int, vec![], vec![99]).unwrap();
            let low = build.public(Dtype::Int, vec![], vec![-99]).unwrap();
            let made = build.repeat(times, &[a, c], &[b], |build, states, steps| {
                let sum = build.add(states[0], steps[0])?;
                let wide = build.clip(sum, low, bound)?;
                let next = build.index(wide, &[Index::Ellipsis])?;
                let next = if keepdims { next } else { build.select(states[1], states[0], next)? };
                Ok(if keepdims { vec![next, states[0]] } else { vec![next, states[1]] })
            });
            made.map(|made| made[usize::from(axis > 0)])
        }
        46..=49 => {
            let end = if keepdims { 1 } else { -1 };
            let bound = build.public(Dtype::Int, vec![], vec![end]).unwrap();
            let divisor = if keepdims { build.maximum(b, bound) } else { build.minimum(b, bound) };
            divisor.and_then(|by| if axis > 0 { build.quotient(a, by) } else { build.remainder(a, by) })
        }
        45 => windows(build, a, keepdims.then_some(axis), rng),
        54 => build.ratio(a, b),
        55 => build.sqrt(a),
        56 => {
            let function = std::sync::Arc::new(function(rng));
            build.piecewise(a, function, rng.random_range(0..20))
        }
        57 => build.raw_as(a, rng.random_range(0..30)),
        33 | 34 => {
            let bounds = [rng.random_range(-100..100), rng.random_range(0..100)];
            let [low, high] = bounds.map(|bound| build.public(Dtype::Int, vec![], vec![bound]));
            build.clip(a, low.unwrap(), high.unwrap())
        }
        _ => {
            if keepdims {
                build.concatenate(&[a, b, c], axis)
            } else {
                build.stack(&[a, b], axis)
            }
        }
    };
    result.ok()
}
