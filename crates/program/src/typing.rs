//! The type of a node, from its operation and the types of its operands.
//!
//! Every node of every program passes through [`infer`], whether a front end builds it or a file holds it.

use crate::error::Fault;
use crate::modulus::Modulus;
use crate::plan::{MatrixShape, Width};
use crate::program::{Extreme, Operation, Rounding};
use crate::rounded::{Elementwise, saturated, weighed};
use crate::shape::{self, MatMulShape};
use crate::types::{Dtype, Range, Type};
use tacit_circuit::{Circuit, Gate};

/// The type of what an operation makes. Inputs and constants declare theirs and don't come here.
pub(crate) fn infer(operation: &Operation, operands: &[&Type]) -> Result<Type, Fault> {
    let (kind, shape, range) = match operation {
        Operation::Input { .. } | Operation::Constant(_) => {
            Err(Fault::Arity { operation: operation.name(), given: operands.len() })
        }
        Operation::Add
        | Operation::Sub
        | Operation::Neg
        | Operation::Mul
        | Operation::MatMul
        | Operation::Sum { .. } => arithmetic(operation, operands),
        Operation::Times(_) | Operation::Over { .. } | Operation::Weigh { .. } => {
            rounded(operation, operands)
        }
        Operation::Less
        | Operation::Equal
        | Operation::And
        | Operation::Or
        | Operation::Xor
        | Operation::Not
        | Operation::Where
        | Operation::Pick(_)
        | Operation::Clip
        | Operation::Extremum { .. }
        | Operation::ArgExtremum { .. }
        | Operation::Abs
        | Operation::Relu => choice(operation, operands),
        Operation::FromBool { .. }
        | Operation::Scale { .. }
        | Operation::Truncate { .. }
        | Operation::ShiftRight { .. } => conversion(operation, operands),
        Operation::Reshape { .. }
        | Operation::Transpose { .. }
        | Operation::Slice { .. }
        | Operation::BroadcastTo { .. }
        | Operation::Concatenate { .. } => arrangement(operation, operands),
        Operation::Circuit(circuit) => evaluation(circuit, operation.name(), operands),
    }?;
    shape::check(&shape)?;
    let secret = operands.iter().any(|operand| operand.secret);
    settle(operation.name(), Type { kind, shape, range, secret })
}

/// Dtype, shape and range of a result.
type Parts = (Dtype, Vec<usize>, Range);

/// Sums and products.
fn arithmetic(operation: &Operation, operands: &[&Type]) -> Result<Parts, Fault> {
    let name = operation.name();
    match (operation, operands) {
        (Operation::Add, &[a, b]) => {
            let kind = common(name, a, b, number)?;
            Ok((kind, shape::broadcast(name, &a.shape, &b.shape)?, a.range.add(b.range)))
        }
        (Operation::Sub, &[a, b]) => {
            let kind = common(name, a, b, number)?;
            Ok((kind, shape::broadcast(name, &a.shape, &b.shape)?, a.range.sub(b.range)))
        }
        (Operation::Neg, &[a]) => Ok((number(name, a.kind)?, a.shape.clone(), a.range.neg())),
        (Operation::Mul, &[a, b]) => {
            let same = std::ptr::eq(a, b);
            let range = if same { a.range.square() } else { a.range.mul(b.range) };
            Ok((product(name, a, b)?, shape::broadcast(name, &a.shape, &b.shape)?, range))
        }
        (Operation::MatMul, &[a, b]) => {
            let shapes = shape::matmul(&a.shape, &b.shape)?;
            repeated(&shapes, b.rank())?;
            Ok((product(name, a, b)?, shapes.result, a.range.mul(b.range).times(shapes.matrix.k)))
        }
        (Operation::Sum { axes, keepdims }, &[a]) => {
            let shape = reduced(a, axes, *keepdims)?;
            let terms = a.len() / shape.iter().product::<usize>();
            Ok((number(name, a.kind)?, shape, a.range.times(terms)))
        }
        _ => Err(Fault::Arity { operation: name, given: operands.len() }),
    }
}

/// Products with public numbers and quotients by them.
fn rounded(operation: &Operation, operands: &[&Type]) -> Result<Parts, Fault> {
    let name = operation.name();
    let &[a] = operands else { return Err(Fault::Arity { operation: name, given: operands.len() }) };
    let integers = matches!(operation, Operation::Over { rounding: Rounding::Floor, .. });
    match a.kind {
        Dtype::Int if integers => {}
        Dtype::Fixed { .. } if !integers => {}
        kind => return Err(Fault::NotDefined { operation: name, kind }),
    }
    if let Operation::Weigh { matrix, left } = operation {
        if let Some(number) = matrix.numbers().iter().find(|number| number.to_float().abs() >= 2_f64.powi(64))
        {
            let number = Range::point(saturated(&number.scaled(0)));
            return Err(Fault::Overflow { operation: name, range: number, frac: 0 });
        }
        let own = matrix.shape();
        shape::check(own)?;
        let (x, y) = if *left { (own, &a.shape[..]) } else { (&a.shape[..], own) };
        let shapes = shape::matmul(x, y)?;
        repeated(&shapes, y.len())?;
        return Ok((a.kind, shapes.result, weighed(matrix, *left, a.range)));
    }
    let Some(elementwise) = Elementwise::of(operation) else {
        return Err(Fault::Arity { operation: name, given: operands.len() });
    };
    let Elementwise { numbers, rounding, .. } = elementwise;
    shape::check(numbers.shape())?;
    if matches!(operation, Operation::Over { .. }) && numbers.numbers().iter().any(|number| number.is_zero())
    {
        return Err(Fault::DivisionByZero);
    }
    let ends = numbers.numbers().iter().flat_map(|&number| {
        let ratio = elementwise.ratio(number);
        [a.range.lo(), a.range.hi()].map(|end| Range::point(saturated(&ratio.of(end, rounding))))
    });
    let range = ends.reduce(Range::hull).unwrap_or(a.range);
    Ok((a.kind, shape::broadcast(name, &a.shape, numbers.shape())?, range))
}

/// Comparisons, logic, and what chooses by them.
fn choice(operation: &Operation, operands: &[&Type]) -> Result<Parts, Fault> {
    let name = operation.name();
    match (operation, operands) {
        (Operation::Less, &[a, b]) => {
            common(name, a, b, ordered)?;
            Ok((Dtype::Bool, shape::broadcast(name, &a.shape, &b.shape)?, Dtype::Bool.whole()))
        }
        (Operation::Equal, &[a, b]) => {
            common(name, a, b, |name, kind| number(name, with_bits(name, kind)?))?;
            Ok((Dtype::Bool, shape::broadcast(name, &a.shape, &b.shape)?, Dtype::Bool.whole()))
        }
        (Operation::And | Operation::Or | Operation::Xor, &[a, b]) => {
            let kind = common(name, a, b, bool)?;
            Ok((kind, shape::broadcast(name, &a.shape, &b.shape)?, kind.whole()))
        }
        (Operation::Not, &[a]) => Ok((bool(name, a.kind)?, a.shape.clone(), a.range)),
        (Operation::Where, &[c, a, b]) => {
            bool(name, c.kind)?;
            let kind = common(name, a, b, with_bits)?;
            let arms = shape::broadcast(name, &a.shape, &b.shape)?;
            Ok((kind, shape::broadcast(name, &c.shape, &arms)?, a.range.hull(b.range)))
        }
        (Operation::Pick(which), &[a, b]) => {
            let kind = common(name, a, b, ordered)?;
            let range = match which {
                Extreme::Min => a.range.min(b.range),
                Extreme::Max => a.range.max(b.range),
            };
            Ok((kind, shape::broadcast(name, &a.shape, &b.shape)?, range))
        }
        (Operation::Clip, &[a, low, high]) => {
            let kind = common(name, a, low, ordered)?;
            common(name, a, high, ordered)?;
            if low.range.hi() > high.range.lo() {
                return Err(Fault::CrossedBounds { low: low.range, high: high.range });
            }
            let range = a.range.max(low.range).min(high.range);
            let bounds = shape::broadcast(name, &low.shape, &high.shape)?;
            Ok((kind, shape::broadcast(name, &a.shape, &bounds)?, range))
        }
        (Operation::Extremum { axis, keepdims, .. }, &[a]) => {
            if a.kind != Dtype::Bool {
                ordered(name, a.kind)?;
            }
            Ok((a.kind, reduced(a, &[*axis], *keepdims)?, a.range))
        }
        (Operation::ArgExtremum { axis, keepdims, .. }, &[a]) => {
            ordered(name, a.kind)?;
            let shape = reduced(a, &[*axis], *keepdims)?;
            let last = a.shape[*axis] as i128 - 1;
            Ok((Dtype::Int, shape, Range::point(0).hull(Range::point(last))))
        }
        (Operation::Abs, &[a]) => Ok((ordered(name, a.kind)?, a.shape.clone(), a.range.abs())),
        (Operation::Relu, &[a]) => Ok((ordered(name, a.kind)?, a.shape.clone(), a.range.relu())),
        _ => Err(Fault::Arity { operation: name, given: operands.len() }),
    }
}

/// From one dtype to another.
fn conversion(operation: &Operation, operands: &[&Type]) -> Result<Parts, Fault> {
    let name = operation.name();
    match (operation, operands) {
        (Operation::FromBool { wrapping }, &[a]) => {
            bool(name, a.kind)?;
            let kind = wrapping.map_or(Dtype::Int, |width| Dtype::Modular(Modulus::PowerOfTwo(width.bits())));
            Ok((kind, a.shape.clone(), kind_range(kind, a.range)))
        }
        (Operation::Scale { by }, &[a]) => {
            let frac = ordered(name, a.kind)?
                .frac()
                .checked_add(*by)
                .filter(|frac| (1..=62).contains(by) && *frac <= 64);
            let frac = frac.ok_or(Fault::Shift { operation: name, by: *by, kind: a.kind })?;
            Ok((Dtype::with_frac(frac), a.shape.clone(), a.range.mul(Range::point(1 << by))))
        }
        (Operation::Truncate { by, rounding }, &[a]) => {
            let frac = ordered(name, a.kind)?.frac().checked_sub(*by).filter(|_| *by > 0);
            let frac = frac.ok_or(Fault::Shift { operation: name, by: *by, kind: a.kind })?;
            Ok((Dtype::with_frac(frac), a.shape.clone(), shifted(name, a, *by, *rounding)?))
        }
        (Operation::ShiftRight { by }, &[a]) => {
            if a.kind != Dtype::Int {
                return Err(Fault::NotDefined { operation: name, kind: a.kind });
            }
            if *by == 0 {
                return Err(Fault::Shift { operation: name, by: 0, kind: a.kind });
            }
            Ok((a.kind, a.shape.clone(), shifted(name, a, *by, Rounding::Floor)?))
        }
        _ => Err(Fault::Arity { operation: name, given: operands.len() }),
    }
}

/// The same elements in other places.
fn arrangement(operation: &Operation, operands: &[&Type]) -> Result<Parts, Fault> {
    let name = operation.name();
    match (operation, operands) {
        (Operation::Reshape { shape }, &[a]) => {
            shape::check(shape)?;
            if shape.iter().product::<usize>() != a.len() {
                let to = shape.iter().map(|&length| length as i64).collect();
                return Err(Fault::Reshape { from: a.shape.clone(), to });
            }
            Ok((a.kind, shape.clone(), a.range))
        }
        (Operation::Transpose { axes }, &[a]) => {
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(0..a.rank()) {
                return Err(Fault::Permutation { axes: axes.clone(), rank: a.rank() });
            }
            Ok((a.kind, axes.iter().map(|&axis| a.shape[axis]).collect(), a.range))
        }
        (Operation::Slice { spans }, &[a]) => {
            if spans.len() != a.rank() {
                return Err(Fault::TooManyIndices { rank: a.rank() });
            }
            for (axis, (span, &length)) in spans.iter().zip(&a.shape).enumerate() {
                let reach = (span.count as i128 - 1).max(0) * span.step as i128;
                let last = span.start as i128 + reach;
                let outside = span.start >= length || last < 0 || last >= length as i128;
                if span.count > 0 && (outside || span.step.unsigned_abs() > length) {
                    return Err(Fault::Index { index: last as i64, axis, length });
                }
            }
            Ok((a.kind, spans.iter().map(|span| span.count).collect(), a.range))
        }
        (Operation::BroadcastTo { shape }, &[a]) => {
            shape::check(shape)?;
            if shape::broadcast(name, &a.shape, shape)? != *shape {
                return Err(Fault::Shapes { operation: name, a: a.shape.clone(), b: shape.clone() });
            }
            Ok((a.kind, shape.clone(), a.range))
        }
        (Operation::Concatenate { axis }, [first, rest @ ..]) => {
            let mut shape = first.shape.clone();
            let mut range = first.range;
            let length = shape.get(*axis).copied();
            let mut length = length.ok_or(Fault::Axis { axis: *axis as i64, rank: first.rank() })?;
            for other in rest {
                common(name, first, other, |_, kind| Ok(kind))?;
                let joins = other.rank() == shape.len()
                    && (0..shape.len()).all(|at| at == *axis || other.shape[at] == shape[at]);
                if !joins {
                    return Err(Fault::Shapes {
                        operation: name,
                        a: first.shape.clone(),
                        b: other.shape.clone(),
                    });
                }
                length = length.saturating_add(other.shape[*axis]);
                range = range.hull(other.range);
            }
            shape[*axis] = length;
            Ok((first.kind, shape, range))
        }
        _ => Err(Fault::Arity { operation: name, given: operands.len() }),
    }
}

/// ANDs that a layer may have: 32 MiB of messages on the fewest instances that go together.
const MAX_LAYER: usize = 1 << 21;

/// ANDs of the widest layer if each runs as soon as it can.
fn widest_layer(circuit: &Circuit) -> usize {
    let mut layers = vec![0; circuit.gates().len() + 1];
    let depths = circuit.depths();
    for (gate, depth) in circuit.gates().iter().zip(&depths[circuit.input_bits()..]) {
        layers[*depth as usize] += usize::from(matches!(gate, Gate::And(..)));
    }
    layers.into_iter().max().unwrap_or(0)
}

/// A circuit on bit-vectors.
fn evaluation(circuit: &Circuit, name: &'static str, operands: &[&Type]) -> Result<Parts, Fault> {
    let widths = circuit.inputs();
    if widths.is_empty() || widths.contains(&0) || circuit.output_bits() == 0 {
        return Err(Fault::EmptyCircuit);
    }
    if widths.len() != operands.len() {
        return Err(Fault::CircuitInputs { expected: widths.len(), given: operands.len() });
    }
    let mut instances = Vec::new();
    for (input, (&width, operand)) in widths.iter().zip(operands).enumerate() {
        bool(name, operand.kind)?;
        match operand.shape.split_last() {
            Some((&last, batch)) if last == width as usize => {
                instances = shape::broadcast(name, &instances, batch)?;
            }
            _ => return Err(Fault::CircuitInput { input, bits: width, shape: operand.shape.clone() }),
        }
    }
    let (ands, count) = (widest_layer(circuit), instances.iter().product::<usize>());
    if ands > MAX_LAYER {
        return Err(Fault::CircuitWidth { ands, limit: MAX_LAYER });
    }
    // A message's address has the number of the tile, of 128 instances at least, times the depth.
    let depth = circuit.depth();
    if (count as u64 / 128 + 1).saturating_mul(depth.into()) > u32::MAX.into() {
        return Err(Fault::CircuitMessages { instances: count, depth });
    }
    instances.push(circuit.output_bits());
    Ok((Dtype::Bool, instances, Dtype::Bool.whole()))
}

/// The range of a modular result is all of its ring; that of any other has to fit in 64 bits.
fn settle(operation: &'static str, ty: Type) -> Result<Type, Fault> {
    let Type { kind, range, .. } = ty;
    if !kind.is_ranged() {
        return Ok(Type { range: kind.whole(), ..ty });
    }
    if kind.frac() > 64 {
        return Err(Fault::Fraction { frac: kind.frac() });
    }
    if kind.whole().covers(range) {
        Ok(ty)
    } else {
        Err(Fault::Overflow { operation, range, frac: kind.frac() })
    }
}

fn kind_range(kind: Dtype, range: Range) -> Range {
    if kind.is_ranged() { range } else { kind.whole() }
}

type Check = fn(&'static str, Dtype) -> Result<Dtype, Fault>;

/// The dtype of both operands, which has to be the same.
fn common(operation: &'static str, a: &Type, b: &Type, check: Check) -> Result<Dtype, Fault> {
    check(operation, a.kind)?;
    check(operation, b.kind)?;
    if a.kind == b.kind { Ok(a.kind) } else { Err(Fault::Kinds { operation, a: a.kind, b: b.kind }) }
}

fn bool(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind == Dtype::Bool { Ok(kind) } else { Err(Fault::NotDefined { operation, kind }) }
}

fn number(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind == Dtype::Bool { Err(Fault::NotDefined { operation, kind }) } else { Ok(kind) }
}

/// A dtype whose elements can be turned into bits, or are bits.
fn with_bits(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    match kind {
        Dtype::Modular(modulus) if modulus.width().is_none() => Err(Fault::NotDefined { operation, kind }),
        _ => Ok(kind),
    }
}

fn ordered(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind.is_ranged() { Ok(kind) } else { Err(Fault::NotDefined { operation, kind }) }
}

/// The dtype of a raw product.
fn product(operation: &'static str, a: &Type, b: &Type) -> Result<Dtype, Fault> {
    number(operation, a.kind)?;
    number(operation, b.kind)?;
    match (a.kind.is_ranged(), b.kind.is_ranged()) {
        (true, true) => Ok(Dtype::with_frac(a.kind.frac().saturating_add(b.kind.frac()))),
        _ => common(operation, a, b, number),
    }
}

/// Refuses a matrix product whose operands are repeated too often along the other's batch axes; a matrix on the right
/// stays one.
fn repeated(shapes: &MatMulShape, right_rank: usize) -> Result<(), Fault> {
    let MatrixShape { batch, m, k, n } = shapes.matrix;
    shape::check(&[batch, m, k])?;
    if right_rank > 2 { shape::check(&[batch, k, n]) } else { Ok(()) }
}

fn reduced(a: &Type, axes: &[usize], keepdims: bool) -> Result<Vec<usize>, Fault> {
    let rank = a.rank();
    for (place, &axis) in axes.iter().enumerate() {
        if axis >= rank {
            return Err(Fault::Axis { axis: axis as i64, rank });
        }
        if place > 0 && axes[place - 1] >= axis {
            return Err(Fault::AxisTwice { axis });
        }
    }
    Ok(shape::reduce(&a.shape, axes, keepdims))
}

/// The range after a division by 2^by, if the operand leaves the guard bit free: |x| < 2^62, the rounding's
/// half included.
fn shifted(operation: &'static str, a: &Type, by: u8, rounding: Rounding) -> Result<Range, Fault> {
    if by > 62 {
        return Err(Fault::Shift { operation, by, kind: a.kind });
    }
    let half = match rounding {
        Rounding::Floor => 0,
        Rounding::Nearest => 1i128 << (by - 1),
    };
    let raised = a.range.add(Range::point(half));
    if guarded(raised, Width::W64) {
        Ok(raised.shift_right(by))
    } else {
        Err(Fault::TruncationGuard { operation, range: a.range, frac: a.kind.frac() })
    }
}

/// Whether `-2^(k-2) <= x < 2^(k-2)`, so that adding 2^(k-2) makes it one that `Shift` takes.
pub(crate) fn guarded(range: Range, width: Width) -> bool {
    let limit = 1i128 << (width.bits() - 2);
    -limit <= range.lo() && range.hi() < limit
}
