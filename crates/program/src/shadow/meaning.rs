//! What each operation means: exact fractions of its operands' values, and the one rounding that it documents.
//!
//! Nothing here is shared with the reference or with what plans are made by: neither raw values nor their fraction
//! bits, shifts, limbs or widths.

use num_bigint::BigInt;
use num_integer::Integer;

use super::rational::Rational;
use crate::plan::{Layout, MatrixShape};
use crate::program::{Extreme, Operation, Rounding};
use crate::real::{Real, Reals};
use crate::rounded::saturated;
use crate::shape;
use crate::types::{Dtype, Type};
use tacit_circuit::Circuit;

/// A node's elements, as a program has them: the raw values of what the operation means, rounded as it documents.
pub(super) fn apply(operation: &Operation, operands: &[(&Type, &[i128])], ty: &Type) -> Vec<i128> {
    let clear = |&(ty, raw): &(&Type, &[i128])| Clear {
        shape: ty.shape.clone(),
        numbers: raw.iter().map(|&raw| number(ty.kind, raw)).collect(),
    };
    let operands: Vec<Clear> = operands.iter().map(clear).collect();
    let step = Rational::binary(1.into(), -i32::from(ty.kind.frac()));
    let half = Rational::binary(1.into(), -1);
    let raw = |number: Rational| {
        let steps = number.div(&step);
        match rounding(operation) {
            Some(Rounding::Nearest) => saturated(&steps.add(&half).floor()),
            Some(Rounding::Floor) => saturated(&steps.floor()),
            None => {
                let whole = steps.floor();
                debug_assert!(steps.sub(&Rational::whole(whole.clone())).is_zero(), "{operation:?} is exact");
                reduced(ty.kind, &whole)
            }
        }
    };
    meaning(operation, &operands, ty).into_iter().map(raw).collect()
}

/// How an operation rounds; `None` if it is exact.
const fn rounding(operation: &Operation) -> Option<Rounding> {
    match operation {
        Operation::Times(_) | Operation::Weigh { .. } => Some(Rounding::Nearest),
        Operation::Over { rounding, .. } | Operation::Truncate { rounding, .. } => Some(*rounding),
        Operation::ShiftRight { .. } => Some(Rounding::Floor),
        _ => None,
    }
}

/// A tensor of fractions.
struct Clear {
    shape: Vec<usize>,
    numbers: Vec<Rational>,
}

impl Clear {
    fn walk(&self, layout: &Layout) -> Vec<Rational> {
        layout.places().map(|place| self.numbers[place].clone()).collect()
    }

    fn spread(&self, shape: &[usize]) -> Vec<Rational> {
        self.walk(&Layout::whole(&self.shape).broadcast(shape))
    }
}

/// The number that a raw value stands for.
fn number(kind: Dtype, raw: i128) -> Rational {
    match kind {
        Dtype::Modular(_) => Rational::whole((raw as u128).into()),
        _ => Rational::binary(raw.into(), -i32::from(kind.frac())),
    }
}

/// An integer as a raw value.
fn reduced(kind: Dtype, whole: &BigInt) -> i128 {
    match kind {
        Dtype::Modular(modulus) => {
            let rest = whole.mod_floor(&(BigInt::from(modulus.last()) + 1));
            u128::try_from(rest).unwrap_or_default() as i128
        }
        Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => saturated(whole),
    }
}

fn bit(set: bool) -> Rational {
    Rational::whole(set.into())
}

fn is_set(bit: &Rational) -> bool {
    !bit.is_zero()
}

fn real(number: Real) -> Rational {
    Rational::binary(number.mantissa().into(), number.exponent().into())
}

fn reals(numbers: &Reals) -> Clear {
    Clear {
        shape: numbers.shape().to_vec(),
        numbers: numbers.numbers().iter().map(|&number| real(number)).collect(),
    }
}

fn meaning(operation: &Operation, operands: &[Clear], ty: &Type) -> Vec<Rational> {
    let both = |f: &dyn Fn(&Rational, &Rational) -> Rational, a: &Clear, b: &Clear| -> Vec<Rational> {
        a.spread(&ty.shape).iter().zip(&b.spread(&ty.shape)).map(|(a, b)| f(a, b)).collect()
    };
    let pairs = |f: &dyn Fn(&Rational, &Rational) -> Rational| both(f, &operands[0], &operands[1]);
    let logic = |f: fn(bool, bool) -> bool| pairs(&|a, b| bit(f(is_set(a), is_set(b))));
    let each = |f: &dyn Fn(&Rational) -> Rational| operands[0].numbers.iter().map(f).collect();
    let walk =
        |change: &dyn Fn(&Layout) -> Layout| operands[0].walk(&change(&Layout::whole(&operands[0].shape)));
    match operation {
        Operation::Input { .. } | Operation::Constant(_) => vec![],
        Operation::Add => pairs(&Rational::add),
        Operation::Sub => pairs(&Rational::sub),
        Operation::Neg => each(&Rational::neg),
        Operation::Mul => pairs(&Rational::mul),
        Operation::MatMul => matmul(&operands[0], &operands[1]),
        Operation::Times(numbers) => both(&Rational::mul, &operands[0], &reals(numbers)),
        Operation::Over { divisors, .. } => both(&Rational::div, &operands[0], &reals(divisors)),
        Operation::Weigh { matrix, left: false } => matmul(&operands[0], &reals(matrix)),
        Operation::Weigh { matrix, left: true } => matmul(&reals(matrix), &operands[0]),
        Operation::Sum { axes, .. } => rows(&operands[0], axes).iter().map(|row| sum(row)).collect(),
        Operation::Less => pairs(&|a, b| bit(a.less(b))),
        Operation::Equal => pairs(&|a, b| bit(a.sub(b).is_zero())),
        Operation::And => logic(|a, b| a && b),
        Operation::Or => logic(|a, b| a || b),
        Operation::Xor => logic(|a, b| a != b),
        Operation::Not => each(&|a| bit(!is_set(a))),
        Operation::Where => {
            let [c, a, b] = [0, 1, 2].map(|at| operands[at].spread(&ty.shape));
            let choices = c.iter().zip(a.into_iter().zip(b));
            choices.map(|(c, (a, b))| if is_set(c) { a } else { b }).collect()
        }
        Operation::Pick(which) => pairs(&|a, b| if beats(b, a, *which) { b.clone() } else { a.clone() }),
        Operation::Clip => {
            let [a, low, high] = [0, 1, 2].map(|at| operands[at].spread(&ty.shape));
            let bounds = low.into_iter().zip(high);
            let clipped = a.into_iter().zip(bounds).map(|(a, (low, high))| {
                if a.less(&low) {
                    low
                } else if high.less(&a) {
                    high
                } else {
                    a
                }
            });
            clipped.collect()
        }
        Operation::Extremum { which, axis, .. } => {
            rows(&operands[0], &[*axis]).iter().map(|row| row[first(row, *which)].clone()).collect()
        }
        Operation::ArgExtremum { which, axis, .. } => {
            let places = rows(&operands[0], &[*axis]);
            places.iter().map(|row| Rational::whole(first(row, *which).into())).collect()
        }
        Operation::Abs => each(&|a| if a.less(&bit(false)) { a.neg() } else { a.clone() }),
        Operation::Relu => each(&|a| if a.less(&bit(false)) { bit(false) } else { a.clone() }),
        // The same numbers: finer, coarser, of another dtype.
        Operation::FromBool { .. } | Operation::Scale { .. } | Operation::Truncate { .. } => {
            operands[0].numbers.clone()
        }
        Operation::ShiftRight { by } => {
            let power = Rational::binary(1.into(), -i32::from(*by));
            each(&|a| a.mul(&power))
        }
        Operation::Reshape { .. } => operands[0].numbers.clone(),
        Operation::Transpose { axes } => walk(&|layout| layout.transpose(axes)),
        Operation::Slice { spans } => walk(&|layout| layout.slice(spans)),
        Operation::BroadcastTo { shape } => walk(&|layout| layout.broadcast(shape)),
        Operation::Concatenate { axis } => joined(operands, *axis),
        Operation::Circuit(circuit) => evaluated(circuit, operands, ty),
    }
}

fn sum(terms: &[Rational]) -> Rational {
    terms.iter().fold(bit(false), |sum, term| sum.add(term))
}

/// Whether the right one of two is more extreme.
fn beats(right: &Rational, left: &Rational, which: Extreme) -> bool {
    match which {
        Extreme::Max => left.less(right),
        Extreme::Min => right.less(left),
    }
}

/// The first place of a row's extreme.
fn first(row: &[Rational], which: Extreme) -> usize {
    (1..row.len()).fold(0, |best, place| if beats(&row[place], &row[best], which) { place } else { best })
}

/// The elements that differ along these axes alone, row by row.
fn rows(a: &Clear, axes: &[usize]) -> Vec<Vec<Rational>> {
    let kept = (0..a.shape.len()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let terms = axes.iter().map(|&axis| a.shape[axis]).product();
    a.walk(&Layout::whole(&a.shape).transpose(&order)).chunks(terms).map(<[Rational]>::to_vec).collect()
}

fn matmul(a: &Clear, b: &Clear) -> Vec<Rational> {
    let Ok(shapes) = shape::matmul(&a.shape, &b.shape) else {
        unreachable!("typing checked the shapes");
    };
    let MatrixShape { batch, m, k, n } = shapes.matrix;
    let matrices = |a: &Clear, rows: usize, columns: usize| {
        let own = &a.shape[..a.shape.len().saturating_sub(2)];
        let full = [&shapes.batch[..], &[rows, columns]].concat();
        a.walk(&Layout::whole(&[own, &[rows, columns]].concat()).broadcast(&full))
    };
    let (left, right) = (matrices(a, m, k), matrices(b, k, n));
    let mut product = Vec::with_capacity(batch * m * n);
    for line in 0..batch * m {
        let row = &left[line * k..(line + 1) * k];
        for column in 0..n {
            let others = right[line / m * k * n + column..].iter().step_by(n);
            product.push(sum(&row.iter().zip(others).map(|(x, y)| x.mul(y)).collect::<Vec<_>>()));
        }
    }
    product
}

fn joined(operands: &[Clear], axis: usize) -> Vec<Rational> {
    let outer: usize = operands[0].shape[..axis].iter().product();
    let block = |at: usize| {
        operands.iter().flat_map(move |operand| {
            let length = operand.numbers.len() / outer;
            operand.numbers[at * length..(at + 1) * length].iter().cloned()
        })
    };
    (0..outer).flat_map(block).collect()
}

/// A circuit's outputs, instance after instance.
fn evaluated(circuit: &Circuit, operands: &[Clear], ty: &Type) -> Vec<Rational> {
    let batch = &ty.shape[..ty.rank() - 1];
    let bits = |(operand, &width): (&Clear, &u32)| -> Vec<bool> {
        operand.spread(&[batch, &[width as usize]].concat()).iter().map(is_set).collect()
    };
    let inputs: Vec<Vec<bool>> = operands.iter().zip(circuit.inputs()).map(bits).collect();
    let instance = |at: usize| {
        let own = inputs
            .iter()
            .zip(circuit.inputs())
            .map(|(bits, &width)| bits[at * width as usize..(at + 1) * width as usize].to_vec());
        match circuit.evaluate(&own.collect::<Vec<_>>()) {
            Ok(outputs) => outputs.into_iter().flatten().map(bit),
            Err(_) => unreachable!("typing checked the inputs' widths"),
        }
    };
    (0..batch.iter().product()).flat_map(instance).collect()
}
