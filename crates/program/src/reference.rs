//! What a program means: exact arithmetic in the clear, node by node.
//!
//! This is the truth that lowering and every protocol are tested against, and what a debug run compares with. It
//! knows nothing of rings but for modular integers. Raw values are the integers that [`crate::encode`] makes; a
//! modular one from 2^127 on stands for itself less 2^128.

use crate::plan::{Layout, MatrixShape};
use crate::program::{Extreme, Node, Operation, Program, Rounding};
use crate::real::Reals;
use crate::rounded::{self, Elementwise, Ratio};
use crate::shape;
use crate::types::{Dtype, Type};
use crate::value::{self, Value, ValueError};
use num_bigint::BigInt;
use tacit_circuit::Circuit;

/// The clear outputs of a program on inputs as [`crate::encode`] makes them, one vector of words for each.
///
/// # Errors
/// If the number of inputs, the length of one, or an element is not as declared.
pub fn run(program: &Program, inputs: &[Vec<u64>]) -> Result<Vec<Value>, ValueError> {
    let values = trace(program, inputs)?;
    let clear = |id: crate::NodeId| {
        let ty = &program.node(id).ty;
        value::to_value(ty.kind, &ty.shape, &values[id.index()])
    };
    Ok(program.outputs().iter().map(|output| clear(output.node)).collect())
}

/// The raw elements of every node, by its number.
///
/// # Errors
/// As for [`run`].
pub fn trace(program: &Program, inputs: &[Vec<u64>]) -> Result<Vec<Vec<i128>>, ValueError> {
    trace_by(apply, program, inputs)
}

/// The raw elements of one node, from its operands', all of which have the types that they should.
type Apply = fn(&Operation, &[(&Type, &[i128])], &Type) -> Vec<i128>;

/// The raw elements of every node, where operations do what `apply` says.
pub(crate) fn trace_by(
    apply: Apply,
    program: &Program,
    inputs: &[Vec<u64>],
) -> Result<Vec<Vec<i128>>, ValueError> {
    let declared = program.input_types();
    if inputs.len() != declared.len() {
        return Err(ValueError::Inputs { given: inputs.len(), declared: declared.len() });
    }
    let mut given = Vec::with_capacity(inputs.len());
    for (ty, words) in declared.iter().zip(inputs) {
        given.push(value::checked_raw(ty.kind, &ty.shape, ty.range, words)?);
    }
    let mut given = given.into_iter();
    let mut values: Vec<Vec<i128>> = Vec::with_capacity(program.nodes().len());
    for Node { operation, operands, ty, .. } in program.nodes() {
        let raw = match operation {
            Operation::Input { .. } => given.next().unwrap_or_default(),
            Operation::Constant(raw) => raw.to_vec(),
            _ => {
                let operands =
                    operands.iter().map(|id| (&program.node(*id).ty, values[id.index()].as_slice()));
                apply(operation, &operands.collect::<Vec<_>>(), ty)
            }
        };
        values.push(raw);
    }
    Ok(values)
}

/// What an operation does. See [`Apply`].
pub(crate) fn apply(operation: &Operation, operands: &[(&Type, &[i128])], ty: &Type) -> Vec<i128> {
    let elementwise = |f: &dyn Fn(i128, i128) -> i128| -> Vec<i128> {
        let (a, b) = (spread(operands[0], &ty.shape), spread(operands[1], &ty.shape));
        a.into_iter().zip(b).map(|(a, b)| raw(ty.kind, f(a, b))).collect()
    };
    let each = |f: &dyn Fn(i128) -> i128| -> Vec<i128> {
        operands[0].1.iter().map(|&a| raw(ty.kind, f(a))).collect()
    };
    match operation {
        Operation::Input { .. } => vec![],
        Operation::Constant(raw) => raw.to_vec(),
        Operation::Add => elementwise(&|a, b| add(ty.kind, a, b)),
        Operation::Sub => elementwise(&|a, b| sub(ty.kind, a, b)),
        Operation::Neg => each(&|a| sub(ty.kind, 0, a)),
        Operation::Mul => elementwise(&|a, b| mul(ty.kind, a, b)),
        Operation::MatMul => matmul(operands[0], operands[1], ty),
        Operation::Times(_) | Operation::Over { .. } => quotients(operation, operands[0], ty),
        Operation::Weigh { matrix, left } => weighed(operands[0], matrix, *left, ty),
        Operation::Sum { axes, .. } => {
            let (rows, terms) = rows(operands[0], axes);
            rows.chunks(terms)
                .map(|row| raw(ty.kind, row.iter().fold(0, |sum, &term| add(ty.kind, sum, term))))
                .collect()
        }
        Operation::Less => elementwise(&|a, b| i128::from(a < b)),
        Operation::Equal => elementwise(&|a, b| i128::from(a == b)),
        Operation::And => elementwise(&|a, b| a & b),
        Operation::Or => elementwise(&|a, b| a | b),
        Operation::Xor => elementwise(&|a, b| a ^ b),
        Operation::Not => each(&|a| 1 - a),
        Operation::Where => {
            let [c, a, b] = [0, 1, 2].map(|operand| spread(operands[operand], &ty.shape));
            let choices = c.into_iter().zip(a.into_iter().zip(b));
            choices.map(|(c, (a, b))| raw(ty.kind, if c == 1 { a } else { b })).collect()
        }
        Operation::Pick(Extreme::Min) => elementwise(&i128::min),
        Operation::Pick(Extreme::Max) => elementwise(&i128::max),
        Operation::Clip => {
            let [a, low, high] = [0, 1, 2].map(|operand| spread(operands[operand], &ty.shape));
            let bounds = low.into_iter().zip(high);
            a.into_iter().zip(bounds).map(|(a, (low, high))| raw(ty.kind, a.max(low).min(high))).collect()
        }
        Operation::Extremum { which, axis, .. } => {
            let (rows, terms) = rows(operands[0], &[*axis]);
            rows.chunks(terms).map(|row| raw(ty.kind, row[first(row, *which)])).collect()
        }
        Operation::ArgExtremum { which, axis, .. } => {
            let (rows, terms) = rows(operands[0], &[*axis]);
            rows.chunks(terms).map(|row| first(row, *which) as i128).collect()
        }
        Operation::Abs => each(&i128::abs),
        Operation::Relu => each(&|a| a.max(0)),
        Operation::Scale { by } => each(&|a| a << by),
        Operation::Truncate { by, rounding: Rounding::Nearest } => each(&|a| (a + (1 << (by - 1))) >> by),
        Operation::Truncate { by, rounding: Rounding::Floor } | Operation::ShiftRight { by } => {
            each(&|a| a >> by)
        }
        Operation::FromBool { .. } | Operation::Reshape { .. } => operands[0].1.to_vec(),
        Operation::Transpose { axes } => {
            Layout::whole(&operands[0].0.shape).transpose(axes).gather(operands[0].1)
        }
        Operation::Slice { spans } => Layout::whole(&operands[0].0.shape).slice(spans).gather(operands[0].1),
        Operation::BroadcastTo { shape } => {
            Layout::whole(&operands[0].0.shape).broadcast(shape).gather(operands[0].1)
        }
        Operation::Circuit(circuit) => evaluated(circuit, operands, ty),
        Operation::Concatenate { axis } => {
            let outer: usize = ty.shape[..*axis].iter().product();
            let mut joined = Vec::with_capacity(ty.len());
            for block in 0..outer {
                for (_, data) in operands {
                    let length = data.len() / outer;
                    joined.extend_from_slice(&data[block * length..(block + 1) * length]);
                }
            }
            joined
        }
    }
}

/// An exact result as a raw value. Ranges, checked when the program was built, say that it fits.
fn raw(kind: Dtype, exact: i128) -> i128 {
    debug_assert!(kind.holds(kind.whole(), exact), "{exact} is out of the range that was checked");
    exact
}

fn add(kind: Dtype, a: i128, b: i128) -> i128 {
    match kind {
        Dtype::Modular(modulus) => modulus.add(a as u128, b as u128) as i128,
        Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => a + b,
    }
}

fn sub(kind: Dtype, a: i128, b: i128) -> i128 {
    match kind {
        Dtype::Modular(modulus) => modulus.sub(a as u128, b as u128) as i128,
        Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => a - b,
    }
}

fn mul(kind: Dtype, a: i128, b: i128) -> i128 {
    match kind {
        Dtype::Modular(modulus) => modulus.mul(a as u128, b as u128) as i128,
        Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => a * b,
    }
}

/// An operand's elements, broadcast.
fn spread((ty, data): (&Type, &[i128]), shape: &[usize]) -> Vec<i128> {
    Layout::whole(&ty.shape).broadcast(shape).gather(data)
}

/// A circuit's outputs, instance after instance.
fn evaluated(circuit: &Circuit, operands: &[(&Type, &[i128])], ty: &Type) -> Vec<i128> {
    let batch = &ty.shape[..ty.rank() - 1];
    let inputs: Vec<Vec<i128>> = operands
        .iter()
        .zip(circuit.inputs())
        .map(|(operand, &width)| spread(*operand, &[batch, &[width as usize]].concat()))
        .collect();
    let one = |instance: usize| {
        let own = inputs.iter().zip(circuit.inputs()).map(|(bits, &width)| {
            let width = width as usize;
            bits[instance * width..(instance + 1) * width].iter().map(|&bit| bit == 1).collect()
        });
        let Ok(outputs) = circuit.evaluate(&own.collect::<Vec<_>>()) else {
            unreachable!("typing checked the inputs' widths");
        };
        outputs.into_iter().flatten().map(i128::from)
    };
    (0..batch.iter().product()).flat_map(one).collect()
}

/// The elements with some axes last, and how many those hold together.
fn rows((ty, data): (&Type, &[i128]), axes: &[usize]) -> (Vec<i128>, usize) {
    let kept = (0..ty.rank()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let turned = Layout::whole(&ty.shape).transpose(&order);
    let terms = axes.iter().map(|&axis| ty.shape[axis]).product();
    (turned.gather(data), terms)
}

/// The first place of a row's extreme.
fn first(row: &[i128], which: Extreme) -> usize {
    let beats = |a: i128, b: i128| if which == Extreme::Max { a > b } else { a < b };
    (1..row.len()).fold(0, |best, place| if beats(row[place], row[best]) { place } else { best })
}

fn matmul(a: (&Type, &[i128]), b: (&Type, &[i128]), ty: &Type) -> Vec<i128> {
    let Ok(shapes) = shape::matmul(&a.0.shape, &b.0.shape) else {
        unreachable!("typing checked the shapes");
    };
    let MatrixShape { batch, m, k, n } = shapes.matrix;
    let (left, right) = matrices(&a.0.shape, &b.0.shape, &shapes);
    let (left, right) = (left.gather(a.1), right.gather(b.1));
    let mut product = Vec::with_capacity(batch * m * n);
    for one in 0..batch {
        for row in 0..m {
            for column in 0..n {
                let terms = (0..k).map(|at| {
                    let (x, y) = (left[(one * m + row) * k + at], right[(one * k + at) * n + column]);
                    mul(ty.kind, x, y)
                });
                product.push(raw(ty.kind, terms.fold(0, |sum, term| add(ty.kind, sum, term))));
            }
        }
    }
    product
}

/// Products with public numbers, or quotients by them.
fn quotients(operation: &Operation, (own, data): (&Type, &[i128]), ty: &Type) -> Vec<i128> {
    let Some(elementwise) = Elementwise::of(operation) else {
        unreachable!("these operations have public numbers");
    };
    let Elementwise { numbers, rounding, .. } = elementwise;
    let ratios: Vec<Ratio> = numbers.numbers().iter().map(|&number| elementwise.ratio(number)).collect();
    let places = Layout::whole(numbers.shape()).broadcast(&ty.shape);
    let each = spread((own, data), &ty.shape).into_iter().zip(places.places());
    each.map(|(x, place)| raw(ty.kind, rounded::saturated(&ratios[place].of(x, rounding)))).collect()
}

/// Sums of products with public numbers.
fn weighed((own, data): (&Type, &[i128]), matrix: &Reals, left: bool, ty: &Type) -> Vec<i128> {
    let (x, weights) = (&own.shape[..], matrix.shape());
    let (left_shape, right_shape) = if left { (weights, x) } else { (x, weights) };
    let Ok(shapes) = shape::matmul(left_shape, right_shape) else {
        unreachable!("typing checked the shapes");
    };
    let MatrixShape { batch, m, k, n } = shapes.matrix;
    let (rows, columns) = matrices(left_shape, right_shape, &shapes);
    let (rows, columns): (Vec<_>, Vec<_>) = (rows.places().collect(), columns.places().collect());
    let fraction = matrix.fraction();
    let weights: Vec<BigInt> = matrix.numbers().iter().map(|number| number.scaled(fraction)).collect();
    let entry = |one: usize, row: usize, column: usize| {
        let terms = (0..k).map(|at| {
            let (i, j) = (rows[(one * m + row) * k + at], columns[(one * k + at) * n + column]);
            if left { &weights[i] * data[j] } else { &weights[j] * data[i] }
        });
        raw(ty.kind, rounded::saturated(&rounded::nearest(terms.sum(), fraction)))
    };
    let entries = (0..batch).flat_map(|one| (0..m).map(move |row| (one, row)));
    let entries = entries.flat_map(|(one, row)| (0..n).map(move |column| (one, row, column)));
    entries.map(|(one, row, column)| entry(one, row, column)).collect()
}

/// Walks over both operands of a matrix product that repeat them over the batch.
fn matrices(a: &[usize], b: &[usize], shapes: &shape::MatMulShape) -> (Layout, Layout) {
    let MatrixShape { m, k, n, .. } = shapes.matrix;
    let walk = |shape: &[usize], rows: usize, columns: usize| {
        let batch = shape.len().saturating_sub(2);
        let own: Vec<usize> = shape[..batch].iter().copied().chain([rows, columns]).collect();
        let full: Vec<usize> = shapes.batch.iter().copied().chain([rows, columns]).collect();
        Layout::whole(&own).broadcast(&full)
    };
    (walk(a, m, k), walk(b, k, n))
}
