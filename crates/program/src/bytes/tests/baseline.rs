//! Every operation's canonical bytes, pinned by the hash of a small program that has it.

use super::*;
use crate::{Data, Index, Modulus, Pieces, Piecewise, ProgramError, Value};
use std::fmt::Write;
use std::sync::Arc;

/// What programs are made of: an input of each dtype.
struct Inputs {
    bit: NodeId,
    int: NodeId,
    other: NodeId,
    fixed: NodeId,
}

type Made = Result<NodeId, ProgramError>;

fn float(shape: &[usize], number: f64) -> Value {
    Value { shape: shape.to_vec(), data: Data::Float(vec![number; shape.iter().product()]) }
}

/// An operation's name, and what makes it.
type Case = (&'static str, fn(&mut Builder, &Inputs) -> Made);

const CASES: [Case; 58] = [
    ("input", |_, x| Ok(x.int)),
    ("constant", |b, x| {
        let raw = b.public(Dtype::Int, vec![3], vec![-1, 0, 1])?;
        b.add(x.int, raw)
    }),
    ("add", |b, x| b.add(x.int, x.other)),
    ("sub", |b, x| b.sub(x.int, x.other)),
    ("neg", |b, x| b.neg(x.int)),
    ("mul", |b, x| b.mul_raw(x.int, x.other)),
    ("matmul", |b, x| {
        let turned = b.transpose(x.other, None)?;
        b.matmul(x.int, turned)
    }),
    ("sum", |b, x| b.sum(x.int, Some(&[1]), true)),
    ("less", |b, x| b.less(x.int, x.other)),
    ("equal", |b, x| b.equal(x.int, x.other)),
    ("and", |b, x| b.and(x.bit, x.bit)),
    ("or", |b, x| b.or(x.bit, x.bit)),
    ("xor", |b, x| b.xor(x.bit, x.bit)),
    ("not", |b, x| b.not(x.bit)),
    ("where", |b, x| b.select(x.bit, x.int, x.other)),
    ("minimum", |b, x| b.minimum(x.int, x.other)),
    ("maximum", |b, x| b.maximum(x.int, x.other)),
    ("min", |b, x| b.min(x.int, Some(1), false)),
    ("max", |b, x| b.max(x.int, Some(0), true)),
    ("argmin", |b, x| b.argmin(x.int, Some(1), false)),
    ("argmax", |b, x| b.argmax(x.int, Some(0), true)),
    ("abs", |b, x| b.abs(x.int)),
    ("relu", |b, x| b.relu(x.int)),
    ("of bools", |b, x| b.astype(x.bit, Dtype::Modular(Modulus::PowerOfTwo(32)))),
    ("scale", |b, x| b.rescale(x.int, 5)),
    ("truncate down", |b, x| b.astype(x.fixed, Dtype::Int)),
    ("truncate to the nearest", |b, x| b.rescale(x.fixed, 3)),
    ("shift right", |b, x| b.shift_right(x.int, 2)),
    ("reshape", |b, x| b.reshape(x.int, &[3, -1])),
    ("transpose", |b, x| b.transpose(x.int, Some(&[1, 0]))),
    ("slice", |b, x| b.index(x.int, &[Index::At(1), Index::Slice { start: None, stop: None, step: -2 }])),
    ("broadcast", |b, x| b.broadcast_to(x.int, &[4, 2, 3])),
    ("concatenate", |b, x| b.concatenate(&[x.int, x.other, x.int], 1)),
    ("clip", |b, x| {
        let (low, high) =
            (b.public(Dtype::Int, vec![], vec![-4])?, b.public(Dtype::Int, vec![3], vec![5, 6, 7])?);
        b.clip(x.int, low, high)
    }),
    ("circuit", |b, x| {
        let mut circuit = tacit_circuit::Builder::new();
        let (left, right) = (circuit.input(3), circuit.input(3));
        let both = circuit.and(left[0], right[2]);
        let circuit = Arc::new(circuit.finish(vec![vec![both, left[1]]]));
        Ok(b.circuit(&circuit, &[x.bit, x.bit])?[0])
    }),
    ("times", |b, x| b.scale(x.fixed, &float(&[3], 0.1))),
    ("quotient down", |b, x| b.floor_divide(x.int, &Value { shape: vec![], data: Data::Int(vec![7]) })),
    ("quotient to the nearest", |b, x| b.divide(x.fixed, &float(&[], -1.5))),
    ("by a matrix", |b, x| b.weigh(x.fixed, &float(&[3, 2], 0.3), false)),
    ("a matrix by", |b, x| b.weigh(x.fixed, &float(&[4, 2], 0.7), true)),
    ("quotient", |b, x| by_positive(b, x, Builder::quotient)),
    ("remainder", |b, x| by_positive(b, x, Builder::remainder)),
    ("repeat", |b, x| {
        let rows = b.repeat(2, &[x.fixed], &[x.fixed], |b, states, rows| {
            let sum = b.add(states[0], rows[0])?;
            Ok(vec![b.assume(sum, Range::point(0).hull(Range::point(70)))?])
        });
        Ok(rows?[0])
    }),
    ("assume", |b, x| b.assume(x.other, Range::point(3))),
    ("windows", |b, x| b.windows(x.int, &[2, 2], Some(&[1, 0]))),
    ("shuffle", |b, x| Ok(b.shuffle(&[x.int, x.fixed])?[1])),
    ("long product", |b, x| {
        let long = b.rescale(x.fixed, 48)?;
        b.mul(long, long)
    }),
    ("long product of matrices", |b, x| {
        let long = b.rescale(x.fixed, 48)?;
        let turned = b.transpose(long, None)?;
        b.matmul(long, turned)
    }),
    ("raw", |b, x| b.raw_as(x.fixed, 3)),
    ("ratio", |b, x| b.ratio(x.fixed, x.int)),
    ("root", |b, x| b.sqrt(x.fixed)),
    ("function by even pieces", |b, x| {
        let pieces = Pieces::Even { low: -4, high: 11, bits: 3 };
        let function = Piecewise::new(pieces, 2, 1, 2, vec![1, 2, -3, 4].into()).unwrap();
        b.piecewise(x.int, function.into(), 8)
    }),
    ("function by octaves", |b, x| {
        let pieces = Pieces::Octaves { bits: 3, parts: 1 };
        let function = Piecewise::new(pieces, 1, 0, 1, (0..6).collect()).unwrap();
        b.piecewise(x.other, function.into(), 8)
    }),
    ("sort", |b, x| Ok(b.sort(x.int, &[])?[0])),
    ("sort of several", |b, x| Ok(b.sort(x.int, &[x.fixed])?[1])),
    ("narrow", |b, x| b.narrow(x.other, Range::point(3))),
    ("known bools", |b, _| b.known("bits", Dtype::Bool, &[2, 3], None)),
    ("known numbers", |b, _| b.known("numbers", Dtype::Fixed { frac: 8 }, &[3], Range::new(-7, 900))),
];

fn by_positive(b: &mut Builder, x: &Inputs, divide: fn(&mut Builder, NodeId, NodeId) -> Made) -> Made {
    let one = b.public(Dtype::Int, vec![], vec![1])?;
    let divisor = b.maximum(x.other, one)?;
    divide(b, x.int, divisor)
}

fn program(make: fn(&mut Builder, &Inputs) -> Made) -> Program {
    let mut build = Builder::new();
    let mut input = |name, kind: Dtype, range| build.input("alice", name, kind, &[2, 3], range).unwrap();
    let inputs = Inputs {
        bit: input("bit", Dtype::Bool, None),
        int: input("int", Dtype::Int, Range::new(-9, 9)),
        other: input("other", Dtype::Int, Range::new(0, 200)),
        fixed: input("fixed", Dtype::Fixed { frac: 8 }, Range::new(-900, 900)),
    };
    let result = make(&mut build, &inputs).unwrap();
    build.reveal(result, Recipient::Role("bob".into())).unwrap();
    build.finish().unwrap()
}

#[test]
fn every_operation_has_the_bytes_that_it_always_had() {
    let mut table = String::new();
    let mut codes = std::collections::BTreeSet::new();
    for (name, make) in CASES {
        let program = program(make);
        assert_eq!(Program::from_bytes(&program.to_bytes()).as_ref(), Ok(&program), "{name}");
        codes.extend(program.nodes.iter().map(|node| node.operation.entry().code));
        let hex = program.hash().map(|byte| format!("{byte:02x}")).concat();
        writeln!(table, "{hex} {name}").unwrap();
    }
    // Kept values and arms of branches have tests of their own.
    assert!(
        codes.into_iter().eq((0..=49).chain(52..=57).chain(64..=66).chain([90])),
        "an operation has no case"
    );
    let baseline = include_str!("../../../../../vectors/programs/operations.txt");
    assert_eq!(table, baseline, "a released program would have another hash");
}
