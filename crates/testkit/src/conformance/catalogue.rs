//! One small program for every operation, on operands of any kind and length.

use std::sync::Arc;

use tacit_circuit::{self as circuit, Circuit};
use tacit_program::plan::Width;
use tacit_program::{
    Builder, Data, Dtype, Index, Modulus, NodeId, Program, ProgramError, Range, Recipient, Value,
};

/// A program in the making: it has those inputs that its operation asks for.
pub struct Operands {
    build: Builder,
    numbers: Numbers,
    len: usize,
    owners: [String; 2],
}

/// What the operands' elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Their kind.
    pub kind: Dtype,
    /// Their raw values, for a kind that has ranges.
    pub range: Option<Range>,
}

impl Numbers {
    /// Integers of `bits` bits, the sign included.
    pub fn int(bits: u32) -> Self {
        Self { kind: Dtype::Int, range: signed(bits) }
    }

    /// Fixed-point numbers of `bits` bits, the sign and `frac` fraction bits included.
    pub fn fixed(bits: u32, frac: u8) -> Self {
        Self { kind: Dtype::Fixed { frac }, range: signed(bits) }
    }

    /// Integers modulo 2^k.
    pub fn wrapping(width: Width) -> Self {
        Self::modular(Modulus::PowerOfTwo(width.bits()))
    }

    /// Integers to any modulus.
    pub fn modular(modulus: Modulus) -> Self {
        Self { kind: Dtype::Modular(modulus), range: None }
    }

    /// A few of every kind and ring width.
    pub fn all() -> Vec<Self> {
        let ints = [3, 4, 7, 8, 13, 15, 16, 31, 32, 60, 62, 63, 64].map(Self::int);
        let fixed = [(8, 4), (16, 5), (31, 8), (48, 16)].map(|(bits, frac)| Self::fixed(bits, frac));
        let wrapping = Width::ALL.map(Self::wrapping);
        let odd = [1, 2, 7, 9, 31, 33, 61, 63, 65, 127, 128].map(Modulus::PowerOfTwo);
        let moduli = odd.into_iter().chain([Modulus::Mersenne61, Modulus::Prime128]).map(Self::modular);
        ints.into_iter().chain(fixed).chain(wrapping).chain(moduli).collect()
    }
}

fn signed(bits: u32) -> Option<Range> {
    let half = 1_i128 << (bits - 1);
    Range::new(-half, half - 1)
}

impl Operands {
    /// The first operand: a vector.
    fn a(&mut self) -> Result<NodeId, ProgramError> {
        self.shaped(0, &[self.len])
    }

    /// The second: a vector.
    fn b(&mut self) -> Result<NodeId, ProgramError> {
        self.shaped(1, &[self.len])
    }

    /// Both.
    fn ab(&mut self) -> Result<(NodeId, NodeId), ProgramError> {
        Ok((self.a()?, self.b()?))
    }

    /// Numbers in another shape than a vector.
    fn shaped(&mut self, place: usize, shape: &[usize]) -> Result<NodeId, ProgramError> {
        let Numbers { kind, range } = self.numbers;
        self.build.input(&self.owners[place].clone(), ["a", "b"][place], kind, shape, range)
    }

    /// The first operand as a vector of fixed point.
    fn fixed(&mut self) -> Result<NodeId, ProgramError> {
        let a = self.a()?;
        self.with_fraction(a)
    }

    /// Integers as fixed point.
    fn with_fraction(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        match self.numbers.kind {
            Dtype::Int => self.build.astype(a, Dtype::Fixed { frac: 1 }),
            _ => Ok(a),
        }
    }

    /// Bits: the first operand's, the second's, or (2) a condition's.
    fn bits(&mut self, place: usize) -> Result<NodeId, ProgramError> {
        let (owner, name) = (self.owners[place % 2].clone(), ["p", "q", "c"][place]);
        self.build.input(&owner, name, Dtype::Bool, &[self.len], None)
    }

    /// A public value of the operands' kind, small whole numbers, positive and (where there are any) negative.
    fn public(&mut self, shape: &[usize]) -> Result<NodeId, ProgramError> {
        let len = shape.iter().product::<usize>() as i64;
        let small = |at: i64| at % 3 - 1;
        let data = match self.numbers.kind {
            Dtype::Fixed { .. } => Data::Float((0..len).map(|at| small(at) as f64 * 0.5).collect()),
            Dtype::Modular(modulus) => {
                Data::Wide((0..len).map(|at| modulus.reduce(small(at).into())).collect())
            }
            Dtype::Bool | Dtype::Int => Data::Int((0..len).map(small).collect()),
        };
        self.build.constant(&Value { shape: shape.to_vec(), data }, self.numbers.kind)
    }

    /// Rows of three elements, at least one.
    fn rows(&self) -> usize {
        self.len.div_ceil(3)
    }
}

/// A circuit of three layers, of 1, 3 and 1 ANDs: (p, q) of 2 and 3 bits to one bit and to three.
pub(crate) fn circuit() -> Arc<Circuit> {
    let mut build = circuit::Builder::new();
    let (p, q) = (build.input(2), build.input(3));
    let first = build.and(p[0], q[0]);
    let mixed = build.xor(first, p[1]);
    let flipped = build.not(mixed);
    let second = [(mixed, q[1]), (flipped, q[2]), (mixed, q[2])].map(|(a, b)| build.and(a, b));
    let sum = build.xor(second[0], second[1]);
    let third = build.and(sum, second[2]);
    Arc::new(build.finish(vec![vec![third], vec![flipped, sum, p[0]]]))
}

/// A name, and how to build the operation.
type Sample = (&'static str, fn(&mut Operands) -> Result<NodeId, ProgramError>);

static SAMPLES: [Sample; 46] = [
    ("input", Operands::a),
    ("input_bits", |o| o.bits(0)),
    ("circuit", |o| {
        let owners = o.owners.clone();
        let p = o.build.input(&owners[0], "p", Dtype::Bool, &[o.len, 2], None)?;
        let q = o.build.input(&owners[1], "q", Dtype::Bool, &[3], None)?;
        let outputs = o.build.circuit(&circuit(), &[p, q])?;
        o.build.concatenate(&outputs, -1)
    }),
    ("circuit_public", |o| {
        let owner = o.owners[0].clone();
        let p = o.build.input(&owner, "p", Dtype::Bool, &[o.len, 2], None)?;
        let bits =
            Value { shape: vec![o.len, 3], data: Data::Bool((0..3 * o.len).map(|at| at % 5 < 2).collect()) };
        let q = o.build.constant(&bits, Dtype::Bool)?;
        let outputs = o.build.circuit(&circuit(), &[p, q])?;
        o.build.concatenate(&outputs, -1)
    }),
    ("add", |o| {
        let (a, b) = o.ab()?;
        o.build.add(a, b)
    }),
    ("sum", |o| {
        let rows = o.rows();
        let a = o.shaped(0, &[3, rows])?;
        o.build.sum(a, Some(&[0]), false)
    }),
    ("sub_public", |o| {
        let (a, c) = (o.a()?, o.public(&[o.len])?);
        let negative = o.build.neg(a)?;
        o.build.sub(negative, c)
    }),
    ("mul", |o| {
        let (a, b) = o.ab()?;
        o.build.mul_raw(a, b)
    }),
    ("square", |o| {
        let a = o.a()?;
        o.build.mul_raw(a, a)
    }),
    ("mul_public", |o| {
        let (a, c) = (o.a()?, o.public(&[o.len])?);
        o.build.mul_raw(a, c)
    }),
    ("dot", |o| {
        let (a, b) = o.ab()?;
        o.build.matmul(a, b)
    }),
    ("matmul", |o| {
        let rows = o.rows();
        let (a, b) = (o.shaped(0, &[rows, 3])?, o.shaped(1, &[3, 2])?);
        o.build.matmul(a, b)
    }),
    ("matmul_batch", |o| {
        let rows = o.rows();
        let (a, b) = (o.shaped(0, &[2, rows, 2])?, o.shaped(1, &[2, 2, 1])?);
        o.build.matmul(a, b)
    }),
    ("matmul_public", |o| {
        let rows = o.rows();
        let (a, c) = (o.shaped(0, &[rows, 3])?, o.public(&[3, 2])?);
        o.build.matmul(a, c)
    }),
    ("and", |o| {
        let (p, q) = (o.bits(0)?, o.bits(1)?);
        o.build.and(p, q)
    }),
    ("or", |o| {
        let (p, q) = (o.bits(0)?, o.bits(1)?);
        o.build.or(p, q)
    }),
    ("not_xor", |o| {
        let (p, q) = (o.bits(0)?, o.bits(1)?);
        let differ = o.build.xor(p, q)?;
        o.build.not(differ)
    }),
    ("less", |o| {
        let (a, b) = o.ab()?;
        o.build.less(a, b)
    }),
    ("less_equal", |o| {
        let (a, c) = (o.a()?, o.public(&[o.len])?);
        o.build.less_equal(a, c)
    }),
    ("equal", |o| {
        let (a, b) = o.ab()?;
        o.build.equal(a, b)
    }),
    ("not_equal", |o| {
        let (a, c) = (o.a()?, o.public(&[1])?);
        o.build.not_equal(a, c)
    }),
    ("select", |o| {
        let (a, b) = o.ab()?;
        let c = o.bits(2)?;
        o.build.select(c, a, b)
    }),
    ("select_bits", |o| {
        let (p, q, c) = (o.bits(0)?, o.bits(1)?, o.bits(2)?);
        o.build.select(c, p, q)
    }),
    ("minimum", |o| {
        let (a, b) = o.ab()?;
        o.build.minimum(a, b)
    }),
    ("maximum", |o| {
        let (a, c) = (o.a()?, o.public(&[1])?);
        o.build.maximum(a, c)
    }),
    ("max", |o| {
        let rows = o.rows();
        let a = o.shaped(0, &[rows, 3])?;
        o.build.max(a, Some(1), false)
    }),
    ("max_bits", |o| {
        let p = o.bits(0)?;
        o.build.max(p, None, false)
    }),
    ("argmax", |o| {
        let rows = o.rows();
        let a = o.shaped(0, &[rows, 3])?;
        o.build.argmax(a, Some(1), false)
    }),
    ("argmin", |o| {
        let a = o.a()?;
        o.build.argmin(a, None, true)
    }),
    ("absolute", |o| {
        let a = o.a()?;
        o.build.abs(a)
    }),
    ("relu", |o| {
        let a = o.a()?;
        o.build.relu(a)
    }),
    ("from_bool", |o| {
        let (p, kind) = (o.bits(0)?, o.numbers.kind);
        o.build.astype(p, kind)
    }),
    ("truncate", |o| truncated(o, 1)),
    ("truncate_far", |o| truncated(o, 4)),
    ("scale", |o| {
        let a = o.fixed()?;
        o.build.scale(a, &Value { shape: vec![], data: Data::Float(vec![-0.3]) })
    }),
    ("divide", |o| {
        let a = o.fixed()?;
        let divisors = (0..o.len as i64).map(|at| at % 5 * 2 - 5).collect();
        o.build.divide(a, &Value { shape: vec![o.len], data: Data::Int(divisors) })
    }),
    ("weigh", |o| {
        let rows = o.rows();
        let a = o.shaped(0, &[rows, 3])?;
        let a = o.with_fraction(a)?;
        let weights = vec![0.1, -0.75, 0.5, 0.3, 1e-3, 0.0];
        o.build.weigh(a, &Value { shape: vec![3, 2], data: Data::Float(weights) }, false)
    }),
    ("arrange", |o| {
        let (a, b) = o.ab()?;
        let joined = o.build.stack(&[a, b], 0)?;
        let turned = o.build.transpose(joined, None)?;
        let backwards = Index::Slice { start: None, stop: None, step: -1 };
        let taken = o.build.index(turned, &[backwards, Index::Ellipsis])?;
        let flat = o.build.reshape(taken, &[-1])?;
        o.build.mul_raw(flat, flat)
    }),
    ("windows", |o| {
        // A convolution: two kernels of 2 x 2 over every place where they fit.
        let rows = o.rows() + 1;
        let (image, kernels) = (o.shaped(0, &[rows, 4])?, o.shaped(1, &[2, 2, 2])?);
        let windows = o.build.windows(image, &[2, 2], None)?;
        let windows = o.build.reshape(windows, &[-1, 4])?;
        let kernels = o.build.reshape(kernels, &[4, 2])?;
        o.build.matmul(windows, kernels)
    }),
    ("shuffle", |o| {
        let (a, b) = o.ab()?;
        let shuffled = o.build.shuffle(&[a, b])?;
        o.build.matmul(shuffled[0], shuffled[1])
    }),
    ("shuffle_bits", |o| {
        // Of rows of two, and of bits beside them.
        let (a, p) = (o.shaped(0, &[o.len, 2])?, o.bits(0)?);
        let shuffled = o.build.shuffle(&[a, p])?;
        let backwards = Index::Slice { start: None, stop: None, step: -1 };
        let turned = o.build.index(shuffled[0], &[Index::Ellipsis, backwards])?;
        let condition = o.build.reshape(shuffled[1], &[-1, 1])?;
        let chosen = o.build.select(condition, shuffled[0], turned)?;
        o.build.sum(chosen, Some(&[0]), false)
    }),
    ("sort", |o| {
        let (a, count) = (o.a()?, o.len as i64);
        let keys = o.build.reshape(a, &[1, count])?;
        Ok(o.build.sort(keys, &[])?[0])
    }),
    ("sort_too", |o| {
        // By bits, of which many are equal: rows of two, or bits, as a network has no choice between integers to some moduli.
        let (p, count) = (o.bits(0)?, o.len as i64);
        let keys = o.build.reshape(p, &[1, count])?;
        let rows = if o.numbers.range.is_some() {
            o.shaped(1, &[1, o.len, 2])?
        } else {
            let q = o.bits(1)?;
            o.build.reshape(q, &[1, count])?
        };
        Ok(o.build.sort(keys, &[rows])?[1])
    }),
    ("repeat", |o| {
        let (rows, is_ranged) = (o.rows(), o.numbers.range.is_some());
        let (a, b) = (o.shaped(0, &[3, rows])?, o.shaped(1, &[rows])?);
        let made = o.build.repeat(3, &[b, b], &[a], |build, states, steps| {
            let next = build.repeat(2, &[states[0]], &[], |build, inner, _| {
                let (a, b) = (inner[0], steps[0]);
                Ok(vec![if is_ranged { build.maximum(a, b) } else { build.mul_raw(a, b) }?])
            })?;
            Ok(vec![next[0], states[0]])
        })?;
        o.build.stack(&made, 0)
    }),
    ("assume", |o| {
        // How far the larger one of two is above one of them.
        let (a, b) = o.ab()?;
        let most = o.build.maximum(a, b)?;
        let above = o.build.sub(most, a)?;
        let Some(range) = o.numbers.range else { return Ok(above) };
        let highest = Range::point(range.hi() - range.lo());
        o.build.assume(above, Range::point(0).hull(highest))
    }),
    ("branch", |o| {
        // One of two ANDs; and one with another branch inside, of one AND or two.
        let (p, q, conditions) = (o.bits(0)?, o.bits(1)?, o.bits(2)?);
        let [c, d] = [0, -1].map(|at| o.build.index(conditions, &[Index::At(at)]));
        let (c, d) = (c?, d?);
        let (set, not) = (o.build.if_set(c, p)?, o.build.unless_set(c, p)?);
        let (deep, flat) = (o.build.if_set(d, not)?, o.build.unless_set(d, not)?);
        let twice = |build: &mut Builder, a| {
            let both = build.and(a, q)?;
            let other = build.xor(both, p)?;
            build.or(other, a)
        };
        let (set, deep, flat) = (twice(&mut o.build, set)?, twice(&mut o.build, deep)?, o.build.or(flat, q)?);
        let not = o.build.select(d, deep, flat)?;
        o.build.select(c, set, not)
    }),
];

/// Integers are rounded down, fixed-point numbers to the nearest.
fn truncated(o: &mut Operands, by: u8) -> Result<NodeId, ProgramError> {
    let a = o.a()?;
    match o.numbers.kind {
        Dtype::Fixed { frac } => o.build.rescale(a, frac.saturating_sub(by)),
        Dtype::Bool | Dtype::Int | Dtype::Modular(_) => o.build.shift_right(a, by),
    }
}

/// Operations that take thousands of ANDs for an element, or many operations, where numbers are bits: messages of 65 are
/// many, too.
const LONG_ENOUGH: [&str; 5] = ["divide", "repeat", "sort", "sort_too", "windows"];

/// The operations' names, in order.
pub fn names() -> Vec<&'static str> {
    SAMPLES.iter().map(|(name, _)| *name).collect()
}

/// The program of an operation on operands of `len` elements (in matrices about so many), given by these two
/// and revealed to `to`, one after another.
///
/// # Errors
/// If the operation isn't defined for such numbers, or could leave its range.
///
/// # Panics
/// If there is no operation of this name.
pub fn program(
    name: &str,
    numbers: Numbers,
    len: usize,
    owners: [&str; 2],
    to: &[Recipient],
) -> Result<Program, ProgramError> {
    let Some((_, build)) = SAMPLES.iter().find(|(known, _)| *known == name) else {
        panic!("the catalogue has no operation {name:?}");
    };
    let len = if LONG_ENOUGH.contains(&name) { len.min(65) } else { len };
    let mut operands = Operands { build: Builder::new(), numbers, len, owners: owners.map(str::to_owned) };
    let result = build(&mut operands)?;
    for recipient in to {
        operands.build.reveal(result, recipient.clone())?;
    }
    operands.build.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_defined_for_some_numbers_of_eight_and_of_more_bits() {
        for name in names() {
            let to = [Recipient::All];
            let made = |numbers| program(name, numbers, 2, ["P0", "alice"], &to).is_ok();
            assert!(made(Numbers::int(3)), "{name}");
            assert!(Numbers::all().into_iter().filter(|&numbers| made(numbers)).count() > 8, "{name}");
        }
    }
}
