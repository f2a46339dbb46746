//! Random programs and random inputs.

use crate::conformance::catalogue;
use tacit_program::{
    Builder, Data, Dtype, Index, InputType, Modulus, NodeId, Program, ProgramError, Range, Recipient, Type,
    Uses, Value,
};

use crate::Rng;

/// Who learns outputs, beside everybody: parties, and clients who gave something or nothing.
const RECIPIENTS: [&str; 4] = ["P1", "P0", "alice", "carol"];

/// Moduli of random programs: those of machine words twice as often as others, since more can be done with them.
const MODULI: [Modulus; 21] = {
    use Modulus::PowerOfTwo as Two;
    let (p, q) = (Modulus::Mersenne61, Modulus::Prime128);
    [
        Two(8),
        Two(16),
        Two(32),
        Two(64),
        Two(8),
        Two(16),
        Two(32),
        Two(64),
        Two(1),
        Two(2),
        Two(7),
        Two(9),
        Two(31),
        Two(33),
        Two(61),
        Two(63),
        Two(65),
        Two(127),
        Two(128),
        p,
        q,
    ]
};

/// Words for inputs of these types: often the ends of their ranges, or near zero.
pub fn inputs(types: &[InputType], rng: &mut Rng) -> Vec<Vec<u64>> {
    let words = |ty: &InputType| {
        let len: usize = ty.shape.iter().product();
        let mut raw = || match ty.kind {
            Dtype::Modular(modulus) => rng.element(modulus),
            Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => rng.edgy(ty.range.lo(), ty.range.hi()) as u128,
        };
        let limbs = |raw: u128| [raw as u64, (raw >> 64) as u64].into_iter().take(ty.kind.limbs());
        (0..len).flat_map(|_| limbs(raw())).collect()
    };
    types.iter().map(words).collect()
}

/// A program for so many parties and clients, of at most `steps` operations of all sorts on a few inputs, with arrays
/// of up to `len` elements or a few more. What the builder refuses is left out.
///
/// # Panics
/// If the builder refuses what it has to take.
pub fn program(rng: &mut Rng, parties: usize, steps: usize, len: usize) -> Program {
    let mut growing = Growing { build: Builder::new(), nodes: Vec::new(), parties, len, rng };
    growing.inputs();
    for _ in 0..steps {
        growing.step();
    }
    growing.reveal();
    growing.build.finish().expect("something is revealed")
}

/// The same, which keeps some of what it computes, and what it computes last.
///
/// # Panics
/// If the builder refuses what it has to take.
pub fn keeping(rng: &mut Rng, parties: usize, steps: usize, len: usize) -> Program {
    let mut growing = Growing { build: Builder::new(), nodes: Vec::new(), parties, len, rng };
    growing.inputs();
    for _ in 0..steps {
        growing.step();
    }
    growing.reveal();
    growing.keep();
    growing.build.finish().expect("something is revealed")
}

/// A program that reads all that another one keeps, and nothing else.
///
/// # Panics
/// If the builder refuses what it has to take.
pub fn reading(rng: &mut Rng, parties: usize, steps: usize, len: usize, keeping: &Program) -> Program {
    let mut growing = Growing { build: Builder::new(), nodes: Vec::new(), parties, len, rng };
    for keep in keeping.keeps() {
        let Type { kind, shape, range, .. } = &keeping.node(keep.node).ty;
        // What is declared may be more than what was kept can be.
        let wider = Range::new(range.lo().saturating_sub(9), range.hi().saturating_mul(2));
        let wider = wider.filter(|wider| kind.is_ranged() && kind.whole().covers(*wider));
        let range = wider.filter(|_| growing.rng.one_in(3)).unwrap_or(*range);
        let kept = growing.build.kept(&keep.name, *kind, shape, Some(range));
        growing.nodes.push(kept.expect("what was kept can be read"));
    }
    for _ in 0..steps {
        growing.step();
    }
    growing.reveal();
    growing.build.finish().expect("something is revealed")
}

/// A program under way.
struct Growing<'a> {
    build: Builder,
    nodes: Vec<NodeId>,
    parties: usize,
    len: usize,
    rng: &'a mut Rng,
}

impl Growing<'_> {
    fn inputs(&mut self) {
        let last = format!("P{}", self.parties - 1);
        let all = ["P0", "alice", &last, "bob"];
        let owners = 2 + self.rng.below(all.len() - 1);
        for owner in &all[..owners] {
            let (kind, shape) = (self.kind(), self.shape());
            let range = self.range(kind);
            let input = self.build.input(owner, "x", kind, &shape, range);
            self.nodes.push(input.expect("kinds, shapes and ranges are sound"));
        }
    }

    fn reveal(&mut self) {
        let last = self.nodes[self.nodes.len() - 1];
        self.build.reveal(last, Recipient::All).expect("the node is there");
        for node in self.nodes.clone() {
            if self.rng.one_in(3) {
                let to = Recipient::Role(self.rng.pick(&RECIPIENTS).to_owned());
                self.build.reveal(node, to).expect("the node is there");
            }
        }
    }

    fn keep(&mut self) {
        let last = self.nodes.len() - 1;
        for (place, node) in self.nodes.clone().into_iter().enumerate() {
            if place == last || self.rng.one_in(3) {
                let kept = self.build.keep(node, &format!("v{place}"), Uses::default());
                kept.expect("names differ");
            }
        }
    }

    fn step(&mut self) {
        let (a, b, c) = (self.operand(), self.operand(), self.operand());
        let result = match self.rng.below(5) {
            0 => self.arithmetic(a, b),
            1 => self.comparison(a, b, c),
            2 => self.reduction(a),
            3 => self.rounded(a),
            _ => self.arrangement(a, b, c),
        };
        self.nodes.extend(result);
    }

    fn arithmetic(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        let (kind, by) = (self.kind(), self.rng.below(40) as u8);
        let build = &mut self.build;
        let result = match self.rng.below(9) {
            0 => build.add(a, b),
            1 => build.sub(a, b),
            2 => build.neg(a),
            3 | 4 => product(build, a, b, false),
            5 => product(build, a, b, true),
            6 => build.astype(a, kind),
            7 => build.shift_right(a, by),
            _ => build.rescale(a, by / 2),
        };
        result.ok()
    }

    /// Products with public numbers, quotients by them, means, variances and weighted sums.
    fn rounded(&mut self, a: NodeId) -> Option<NodeId> {
        let result = match self.rng.below(8) {
            0 | 1 => {
                let by = self.reals(false);
                self.build.scale(a, &by)
            }
            2 | 3 => {
                let by = self.reals(true);
                self.build.divide(a, &by)
            }
            4 => {
                let by = self.reals(true);
                self.build.floor_divide(a, &by)
            }
            5 => self.mean(a),
            6 => self.variance(a),
            _ => {
                let (matrix, left) = self.weights(a);
                self.build.weigh(a, &matrix, left)
            }
        };
        result.ok()
    }

    /// The mean of all elements.
    fn mean(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let count = self.build.type_of(a)?.len() as i64;
        let sum = self.build.sum(a, None, false)?;
        self.build.divide(sum, &Value { shape: vec![], data: Data::Int(vec![count]) })
    }

    /// The mean of the squares less the square of the mean.
    fn variance(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let (squares, mean) = (product(&mut self.build, a, a, false)?, self.mean(a)?);
        let square_of_mean = |build: &mut Builder| product(build, mean, mean, false);
        let (mean_of_squares, square_of_mean) = (self.mean(squares)?, square_of_mean(&mut self.build)?);
        self.build.sub(mean_of_squares, square_of_mean)
    }

    /// A vector or a matrix to multiply `a` by, from the right or from the left.
    fn weights(&mut self, a: NodeId) -> (Value, bool) {
        let own = self.build.type_of(a).map(|ty| ty.shape.clone()).unwrap_or_default();
        let left = self.rng.one_in(3);
        let axis = if left && own.len() > 1 { own.len() - 2 } else { own.len().saturating_sub(1) };
        let terms = own.get(axis).copied().unwrap_or(1);
        let columns = 1 + self.rng.below(3);
        let shape = match (self.rng.below(3), left) {
            (0, _) => vec![terms],
            (_, true) => vec![columns, terms],
            (_, false) => vec![terms, columns],
        };
        let data = (0..shape.iter().product::<usize>()).map(|_| self.real(false)).collect();
        (Value { shape, data: Data::Float(data) }, left)
    }

    /// Factors or divisors, of a shape of their own.
    fn reals(&mut self, not_zero: bool) -> Value {
        let shape = if self.rng.one_in(2) { vec![] } else { self.shape() };
        let len = shape.iter().product::<usize>();
        let data = if self.rng.one_in(4) {
            let end = 1 << self.rng.pick(&[3, 8, 40, 62]);
            Data::Int((0..len).map(|_| self.rng.edgy(i128::from(not_zero), end) as i64).collect())
        } else {
            Data::Float((0..len).map(|_| self.real(not_zero)).collect())
        };
        Value { shape, data }
    }

    /// A factor, a divisor or a weight.
    fn real(&mut self, not_zero: bool) -> f64 {
        let unit = (self.rng.word() >> 11) as f64 / 2_f64.powi(53);
        let size = match self.rng.below(6) {
            0 => self.rng.pick(&[0.1, 0.01, 1e-6, 1.0 / 3.0, 1e6, 0.3]),
            1 => 2_f64.powi(self.rng.below(60) as i32 - 30),
            2 => (1 + self.rng.below(1 << 20)) as f64 / 65_536.0,
            3 if !not_zero => 0.0,
            4 => (0.5 + unit) * 2_f64.powi(self.rng.below(70) as i32 - 50),
            _ => 0.5 + unit,
        };
        if self.rng.one_in(3) { -size } else { size }
    }

    fn comparison(&mut self, a: NodeId, b: NodeId, c: NodeId) -> Option<NodeId> {
        let build = &mut self.build;
        let result = match self.rng.below(16) {
            0 => build.less(a, b),
            1 => build.less_equal(a, b),
            2 => build.greater(a, b),
            3 => build.greater_equal(a, b),
            4 => build.equal(a, b),
            5 => build.not_equal(a, b),
            6 => build.and(a, b),
            7 => build.or(a, b),
            8 => build.xor(a, b),
            9 => build.not(a),
            10 => build.minimum(a, b),
            11 => build.maximum(a, b),
            12 | 13 => {
                let (p, q) = (build.stack(&[a, b], -1).ok()?, build.stack(&[b, c, a], -1).ok()?);
                let outputs = build.circuit(&catalogue::circuit(), &[p, q]).ok()?;
                return outputs.last().copied();
            }
            _ => build.select(c, a, b),
        };
        result.ok()
    }

    fn reduction(&mut self, a: NodeId) -> Option<NodeId> {
        let axis = (!self.rng.one_in(3)).then(|| self.rng.below(4) as i64 - 2);
        let axes = axis.map(|axis| vec![axis]);
        let keepdims = self.rng.one_in(2);
        let build = &mut self.build;
        let result = match self.rng.below(7) {
            0 => build.sum(a, axes.as_deref(), keepdims),
            1 => build.max(a, axis, keepdims),
            2 => build.min(a, axis, keepdims),
            3 => build.argmax(a, axis, keepdims),
            4 => build.argmin(a, axis, keepdims),
            5 => build.abs(a),
            _ => build.relu(a),
        };
        result.ok()
    }

    fn arrangement(&mut self, a: NodeId, b: NodeId, c: NodeId) -> Option<NodeId> {
        let axis = self.rng.below(4) as i64 - 2;
        let index = self.index();
        let build = &mut self.build;
        let result = match self.rng.below(5) {
            0 => build.reshape(a, &[-1]),
            1 => build.transpose(a, None),
            2 => build.index(a, &index),
            3 => build.concatenate(&[a, b, c], axis),
            _ => build.stack(&[a, b], axis),
        };
        result.ok()
    }

    fn index(&mut self) -> [Index; 2] {
        let place = |rng: &mut Rng| (!rng.one_in(3)).then(|| rng.below(10) as i64 - 5);
        let (start, stop) = (place(self.rng), place(self.rng));
        let slice = Index::Slice { start, stop, step: self.rng.pick(&[-2, -1, 1, 2, 3]) };
        let at = Index::At(self.rng.below(4) as i64 - 2);
        let choices = [[slice, Index::Ellipsis], [Index::Ellipsis, slice], [at, Index::NewAxis]];
        self.rng.pick(&choices)
    }

    fn operand(&mut self) -> NodeId {
        if self.rng.one_in(6) { self.constant() } else { self.rng.pick(&self.nodes) }
    }

    fn constant(&mut self) -> NodeId {
        let (kind, shape) = (self.kind(), self.shape());
        let range = self.range(kind).unwrap_or(kind.whole());
        let len = shape.iter().product::<usize>();
        if let Dtype::Modular(modulus) = kind {
            let data = Data::Wide((0..len).map(|_| self.rng.element(modulus)).collect());
            return self
                .build
                .constant(&Value { shape, data }, kind)
                .expect("elements are below their modulus");
        }
        let mut raw = || self.rng.edgy(range.lo(), range.hi());
        let data = match kind {
            Dtype::Bool => Data::Bool((0..len).map(|_| raw() == 1).collect()),
            Dtype::Int | Dtype::Modular(_) => Data::Int((0..len).map(|_| raw() as i64).collect()),
            // Floating-point numbers are exact up to 53 bits; a few less leave room for the fraction.
            Dtype::Fixed { frac } => {
                let unit = (1u64 << frac) as f64;
                Data::Float((0..len).map(|_| (raw() >> 16) as f64 / unit).collect())
            }
        };
        self.build.constant(&Value { shape, data }, kind).expect("kinds, shapes and ranges are sound")
    }

    fn shape(&mut self) -> Vec<usize> {
        let len = self.len;
        match self.rng.below(8) {
            0 => vec![],
            1 => vec![1],
            2 | 3 => vec![len],
            4 => vec![2, 3],
            5 => vec![3, 1],
            6 => vec![2, 1, 4],
            _ => vec![4, 4],
        }
    }

    fn kind(&mut self) -> Dtype {
        match self.rng.below(8) {
            0 | 1 => Dtype::Bool,
            2..=4 => Dtype::Int,
            5 | 6 => Dtype::Fixed { frac: 1 + self.rng.below(20) as u8 },
            _ => Dtype::Modular(self.rng.pick(&MODULI)),
        }
    }

    fn range(&mut self, kind: Dtype) -> Option<Range> {
        if !kind.is_ranged() {
            return None;
        }
        let end = 1_i128 << self.rng.pick(&[1, 3, 6, 7, 8, 13, 15, 16, 29, 31, 32, 47, 61, 63]);
        match self.rng.below(4) {
            0 => Range::new(-end, end - 1),
            1 => Range::new(0, end - 1),
            2 => Range::new(1 - end, 0),
            _ => Range::new(-(end / 2), end / 4),
        }
    }
}

/// A product, rounded by an operation of its own: one that is too long for that is refused here, as rings refuse it.
fn product(build: &mut Builder, a: NodeId, b: NodeId, matrix: bool) -> Result<NodeId, ProgramError> {
    let types = [build.type_of(a)?, build.type_of(b)?];
    if types[0].secret != types[1].secret {
        return if matrix { build.matmul(a, b) } else { build.mul(a, b) };
    }
    let frac = types[0].kind.frac().max(types[1].kind.frac());
    let raw = if matrix { build.matmul_raw(a, b) } else { build.mul_raw(a, b) }?;
    build.rescale(raw, frac)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::reference;

    #[test]
    fn programs_run_in_the_clear_and_repeat() {
        for seed in 0..200 {
            let made = program(&mut Rng::new(seed), 3, 12, 5);
            assert_eq!(made, program(&mut Rng::new(seed), 3, 12, 5));
            let inputs = inputs(&made.input_types(), &mut Rng::new(seed));
            assert_eq!(reference::run(&made, &inputs).unwrap().len(), made.outputs().len());
        }
    }
}
