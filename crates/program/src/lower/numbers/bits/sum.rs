//! Sums over axes, matrix products, and products of more bits than values have.
//!
//! A circuit takes some terms and has an instance for every place of the result and every such group of terms; what
//! the groups have is summed in turn. So circuits stay small however many terms there are.

use tacit_circuit::arith::Style;
use tacit_circuit::{self as circuit, Wire};

use super::element::element;
use super::gates::{Columns, Word};
use super::number::Number;
use super::operand::Known;
use super::operand::Term;
use crate::lower::lowering::Lowering;
use crate::node::NodeId;
use crate::operations::{FlatConv, Operation, Rounding, exact_product};
use crate::plan::Operand;
use crate::plan::{MatrixShape, Reg};
use crate::shape::{self, Span};
use crate::types::Type;
use crate::width::Format;

/// Bits that a group's terms have together, or ANDs that its products have.
const GROUP: usize = 1 << 13;

/// Adds a term, made of a word of each operand.
type AddTerm = fn(&mut Columns, &mut circuit::Builder, &[Word]);

impl Lowering<'_> {
    /// Sums over some axes.
    pub(super) fn sum_numbers(&mut self, id: NodeId, axes: &[usize], ty: &Type) -> Number {
        let operand = self.ty(id);
        let kept: Vec<usize> = (0..operand.rank()).filter(|axis| !axes.contains(axis)).collect();
        let terms = axes.iter().map(|&axis| operand.shape[axis]).product();
        let number = self.number(id).transpose(&[&kept, axes].concat());
        let number = self.reshaped(&number, &[ty.len(), terms]);
        let total = self.total(number, Format::of(ty));
        self.reshaped(&total, &ty.shape)
    }

    /// Products of matrices.
    pub(super) fn multiply_matrices(&mut self, operands: &[NodeId], ty: &Type) -> Number {
        let (a, b) = (operands[0], operands[1]);
        let format = Format::of(ty);
        let products = match (self.ty(a).secret, self.ty(b).secret) {
            (true, true) => {
                let (a, b) = (self.number(a), self.number(b));
                self.products_of_matrices(&a, &b, format)
            }
            (left_is_secret, _) => {
                let (secret, public) = if left_is_secret { (a, b) } else { (b, a) };
                let (number, weights) = (self.number(secret), self.known(public));
                self.weighed_numbers(&number, &weights, !left_is_secret, format)
            }
        };
        self.reshaped(&products, &ty.shape)
    }

    /// Windows by filters: as a product of matrices for each group.
    pub(super) fn convolve_numbers(&mut self, operands: &[NodeId], ty: &Type) -> Number {
        let (a, b) = (operands[0], operands[1]);
        let flat = FlatConv::known(&self.ty(a).shape, &self.ty(b).shape);
        let format = Format::of(ty);
        let windows = if self.ty(a).secret { self.number(a) } else { self.shared(&self.known(a)) };
        let windows = self.reshaped(&windows, &flat.left());
        let products = if self.ty(b).secret {
            let filters = self.number(b);
            let filters = self.reshaped(&filters, &flat.right());
            self.products_of_matrices(&windows, &filters, format)
        } else {
            let shape = flat.right();
            let filters = Known { shape: &shape, ..self.known(b) };
            self.weighed_numbers(&windows, &filters, false, format)
        };
        self.reshaped(&products, &flat.result)
    }

    /// A product of up to 126 bits, rounded: exactly, then truncated.
    pub(super) fn wide_number_product(
        &mut self,
        operands: &[NodeId],
        matrix: bool,
        by: u8,
        ty: &Type,
    ) -> Number {
        let Ok((kind, shape, range)) = exact_product(matrix, &[self.ty(operands[0]), self.ty(operands[1])])
        else {
            unreachable!("typing has looked at the product");
        };
        let exact = Type { kind, shape, range, secret: true };
        let product = if matrix {
            self.multiply_matrices(operands, &exact)
        } else {
            Number::whole(self.elementwise(&Operation::Mul, operands, &exact), &ty.shape, Format::of(&exact))
        };
        let term = Term::Register(Operand::Each(self.laid(&product)), product.format());
        let (truncate, format) = (Operation::Truncate { by, rounding: Rounding::Nearest }, Format::of(ty));
        let reg = self
            .evaluate(&[term], ty.len(), |b, style, words| element(&truncate, b, style, words, format.bits));
        Number::whole(reg, &ty.shape, format)
    }

    /// Numbers by public matrices, which stand on the right or on the left; in any shape of as many elements as the
    /// product has.
    pub(super) fn weighed_numbers(
        &mut self,
        number: &Number,
        weights: &Known<'_>,
        left: bool,
        format: Format,
    ) -> Number {
        let own = &number.layout.shape[..number.rank()];
        let (a, b) = if left { (weights.shape, own) } else { (own, weights.shape) };
        let Ok(shapes) = shape::matmul(a, b) else {
            unreachable!("typing checked the shapes");
        };
        if let Some(products) = self.by_constant_matrix(number, weights, left, &shapes, format) {
            return products;
        }
        let weights = self.shared(weights);
        let (a, b) = if left { (&weights, number) } else { (number, &weights) };
        self.products_of_matrices(a, b, format)
    }

    /// An instance for every entry and group of terms.
    fn products_of_matrices(&mut self, a: &Number, b: &Number, format: Format) -> Number {
        let own = |number: &Number| number.layout.shape[..number.rank()].to_vec();
        let Ok(shapes) = shape::matmul(&own(a), &own(b)) else {
            unreachable!("typing checked the shapes");
        };
        let MatrixShape { m, k, n, .. } = shapes.matrix;
        let (a, b) = (self.matrices_of(a, m, k), self.matrices_of(b, k, n));
        let full = [&shapes.batch[..], &[m, n, k]].concat();
        let turned = |number: &Number, order: [usize; 3]| {
            let batch = number.rank() - 3;
            let order: Vec<usize> = (0..batch).chain(order.map(|axis| batch + axis)).collect();
            number.transpose(&order).broadcast(&full)
        };
        // Rows, columns, terms.
        let (a, b) = (turned(&a, [0, 2, 1]), turned(&b, [2, 1, 0]));
        self.dots(&a, &b, format)
    }

    /// Sums of products along the last axis. Both operands are repeated for every sum that they have a part in; so
    /// that memory holds it, large ones go slab by slab.
    fn dots(&mut self, a: &Number, b: &Number, format: Format) -> Number {
        let axis = a.rank() - 1;
        let (x, y) = (a.format(), b.format());
        let (terms, outer) = (a.layout.shape[axis], &a.layout.shape[..axis]);
        let longest = (0..axis).max_by_key(|&axis| outer[axis]).filter(|&axis| outer[axis] > 1);
        let repeated = outer.iter().product::<usize>().saturating_mul(terms * (x.bits + y.bits));
        if let Some(longest) = longest
            && repeated > self.slab_bits
        {
            return self.slabs(a, b, longest, format);
        }
        let each = (GROUP / (x.bits * y.bits)).clamp(1, terms);
        let groups = terms.div_ceil(each);
        let each = terms.div_ceil(groups);
        let product = Format { bits: x.bits + y.bits, signed: x.signed || y.signed };
        let add: AddTerm = |columns, b, words| columns.product(b, &words[0], &words[1]);
        let sums = self.groups(&[a.clone(), b.clone()], each, partial(product, each, format), add);
        self.total(sums, format)
    }

    /// Both halves of an axis, one after the other.
    fn slabs(&mut self, a: &Number, b: &Number, axis: usize, format: Format) -> Number {
        let outer = a.rank() - 1;
        let length = a.layout.shape[axis];
        let order: Vec<usize> = std::iter::once(axis).chain((0..outer).filter(|&at| at != axis)).collect();
        let before = self.slab;
        let half = |start, count| Span { start, step: 1, count };
        let mut halves = Vec::with_capacity(2);
        for span in [half(0, length / 2), half(length / 2, length - length / 2)] {
            let sums = self.dots(&a.part(axis, span), &b.part(axis, span), format);
            self.slab = Some(sums.reg);
            halves.push(sums.transpose(&order));
        }
        self.slab = before;
        let mut back = vec![0; outer];
        order.iter().enumerate().for_each(|(place, &at)| back[at] = place);
        self.stacked(&halves).transpose(&back)
    }

    /// An operand's matrices, with an axis of one place behind them.
    fn matrices_of(&mut self, number: &Number, rows: usize, columns: usize) -> Number {
        let batch = &number.layout.shape[..number.rank().saturating_sub(2)];
        self.reshaped(number, &[batch, &[rows, columns, 1]].concat())
    }

    /// The sums over the last axis, which is there no more, as numbers of a format that holds them.
    pub(super) fn total(&mut self, mut number: Number, format: Format) -> Number {
        let add: AddTerm = |columns, b, words| columns.word(b, &words[0]);
        loop {
            let rank = number.rank();
            let terms = number.layout.shape[rank - 1];
            if terms == 1 {
                let shape = number.layout.shape[..rank - 1].to_vec();
                let number = self.reshaped(&number, &shape);
                return self.formatted(&number, format);
            }
            let own = number.format();
            let groups = terms.div_ceil((GROUP / own.bits).max(2));
            let each = terms.div_ceil(groups);
            number = self.groups(&[number], each, partial(own, each, format), add);
        }
    }

    /// Sums over groups of `each` terms along the last axis, of which the last one may have fewer.
    fn groups(&mut self, operands: &[Number], each: usize, format: Format, add: AddTerm) -> Number {
        let axis = operands[0].rank() - 1;
        let outer = operands[0].layout.shape[..axis].to_vec();
        let terms = operands[0].layout.shape[axis];
        let (whole, rest) = (terms / each, terms % each);
        let count: usize = outer.iter().product();
        let mut sums = |from: usize, groups: usize, each: usize| {
            let span = Span { start: from, step: 1, count: groups * each };
            let parts: Vec<Number> = operands.iter().map(|operand| operand.part(axis, span)).collect();
            self.group(&parts, count * groups, each, format, add)
        };
        let first = Number::whole(sums(0, whole, each), &[&outer[..], &[whole]].concat(), format);
        if rest == 0 {
            return first;
        }
        let last = Number::whole(sums(whole * each, 1, rest), &[&[1], &outer[..]].concat(), format);
        let order: Vec<usize> = std::iter::once(axis).chain(0..axis).collect();
        let back: Vec<usize> = (1..=axis).chain([0]).collect();
        self.stacked(&[first.transpose(&order), last]).transpose(&back)
    }

    /// The register of sums of `each` terms that follow one another.
    fn group(
        &mut self,
        parts: &[Number],
        instances: usize,
        each: usize,
        format: Format,
        add: AddTerm,
    ) -> Reg {
        let mut terms = Vec::with_capacity(parts.len());
        for part in parts {
            let Format { bits, signed } = part.format();
            terms.push(Term::Register(Operand::Each(self.laid(part)), Format { bits: bits * each, signed }));
        }
        let sum = |b: &mut circuit::Builder, style: Style, all: &[Word]| {
            let mut columns = Columns::new(format.bits);
            let all: Vec<Vec<Word>> = all.iter().map(|all| split(all, each)).collect();
            for term in 0..each {
                let words: Vec<Word> = all.iter().map(|words| words[term].clone()).collect();
                add(&mut columns, b, &words);
            }
            columns.total(b, style)
        };
        self.evaluate(&terms, instances, sum)
    }
}

/// So many words that follow one another.
pub(super) fn split(all: &Word, count: usize) -> Vec<Word> {
    let word = |bits: &[Wire]| Word { bits: bits.to_vec(), signed: all.signed };
    all.bits.chunks(all.bits.len() / count).map(word).collect()
}

/// A format for sums of `terms` numbers, not wider than that of the whole sum, modulo which they may be reckoned.
pub(super) fn partial(own: Format, terms: usize, whole: Format) -> Format {
    let bits = own.bits + terms.next_power_of_two().ilog2() as usize;
    if bits < whole.bits { Format { bits, ..own } } else { whole }
}
