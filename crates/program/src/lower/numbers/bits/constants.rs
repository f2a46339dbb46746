//! Products with public numbers that differ from place to place: as parts of circuits, while there are few of them.
//!
//! A factor in a circuit costs a sum for each of its digits, a third of its bits on average; as a public operand it costs a sum
//! for every bit. But every factor makes gates of its own, so that there may be only so many.

use super::gates::{Columns, Word, digits};
use super::number::Number;
use super::operand::{Known, Term, packed};
use super::sum::{partial, split};
use crate::lower::lowering::Lowering;
use crate::node::NodeId;
use crate::plan::Operand;
use crate::plan::{Domain, Layout, Local, Reg};
use crate::shape::{MatMulShape, Span};
use crate::types::Type;
use crate::width::Format;

/// ANDs that the circuits of one operation have together, at most.
const GATES: usize = 1 << 19;

/// Circuits of one operation, at most.
const CIRCUITS: usize = 1 << 10;

/// Bits of the words that one circuit takes.
const BITS: usize = 1 << 13;

impl Lowering<'_> {
    /// Public numbers as an operand of a circuit, broadcast to `shape`. They stay public.
    pub(super) fn public_operand(&mut self, known: &Known<'_>, format: Format, shape: &[usize]) -> Term {
        let raw = Layout::whole(known.shape).broadcast(shape).gather(known.raw);
        let dst = self.plan.public(Domain::Bits, raw.len() * format.bits);
        self.plan.local(Local::Constant { value: packed(&raw, format), dst });
        Term::Register(Operand::Each(dst), format)
    }

    /// Numbers by a public matrix that is no batch of several; `None` if there are too many factors. The product is one of
    /// the matrices of `shapes`, in which the axes stand as they are.
    pub(super) fn by_constant_matrix(
        &mut self,
        number: &Number,
        weights: &Known<'_>,
        left: bool,
        shapes: &MatMulShape,
        format: Format,
    ) -> Option<Number> {
        if weights.shape.len() > 2 {
            return None;
        }
        let (m, k, n) = (shapes.matrix.m, shapes.matrix.k, shapes.matrix.n);
        let raw = weights.raw;
        let factors: Vec<Vec<i128>> = if left {
            raw.chunks(k).map(<[i128]>::to_vec).collect()
        } else {
            (0..n).map(|column| raw.iter().skip(column).step_by(n).copied().collect()).collect()
        };
        let groups = k.div_ceil((BITS / number.format().bits).max(1));
        if factors.len() * groups > CIRCUITS || !affordable(factors.iter().flatten(), number, format) {
            return None;
        }
        let batch = &shapes.batch[..];
        // Axes of the batch, lines of the secret matrix, terms.
        let lines = if left {
            let columns = self.reshaped(number, &[batch, &[k, n]].concat());
            let order: Vec<usize> = (0..batch.len()).chain([batch.len() + 1, batch.len()]).collect();
            columns.transpose(&order)
        } else {
            self.reshaped(number, &[batch, &[m, k]].concat())
        };
        let sums = self.sums_of_multiples(&lines, &factors, weights.format(), format);
        let order: Vec<usize> = if left {
            (1..=batch.len()).chain([0, batch.len() + 1]).collect()
        } else {
            (1..batch.len() + 2).chain([0]).collect()
        };
        Some(sums.transpose(&order))
    }

    /// For each row of factors the sums along the last axis of the products with them: an axis for the rows comes
    /// first.
    fn sums_of_multiples(
        &mut self,
        lines: &Number,
        factors: &[Vec<i128>],
        factor: Format,
        format: Format,
    ) -> Number {
        let axis = lines.rank() - 1;
        let own = lines.format();
        let (outer, terms) = (&lines.layout.shape[..axis], lines.layout.shape[axis]);
        let each = (BITS / own.bits).clamp(1, terms);
        let product = Format { bits: own.bits + factor.bits, signed: own.signed || factor.signed };
        let sum = partial(product, each, format);
        let starts: Vec<usize> = (0..terms).step_by(each).collect();
        let parts: Vec<(Reg, Span)> = starts
            .iter()
            .map(|&start| {
                let span = Span { start, step: 1, count: each.min(terms - start) };
                (self.laid(&lines.part(axis, span)), span)
            })
            .collect();
        let mut blocks = Vec::with_capacity(factors.len() * parts.len());
        for factors in factors {
            for (reg, Span { start, count, .. }) in &parts {
                let term = Term::Register(Operand::Each(*reg), Format { bits: own.bits * count, ..own });
                let factors = &factors[*start..start + count];
                let sums = self.evaluate(&[term], outer.iter().product(), |b, style, all| {
                    let mut columns = Columns::new(sum.bits);
                    for (word, &factor) in split(&all[0], *count).iter().zip(factors) {
                        columns.multiple(b, word, factor);
                    }
                    columns.total(b, style)
                });
                blocks.push(Number::whole(sums, &[&[1], outer].concat(), sum));
            }
        }
        let all = self.stacked(&blocks);
        let all = self.reshaped(&all, &[&[factors.len(), parts.len()], outer].concat());
        let order: Vec<usize> = [0].into_iter().chain(2..outer.len() + 2).chain([1]).collect();
        self.total(all.transpose(&order), format)
    }

    /// A product, element by element, with public factors that differ; `None` if there are too many of them.
    pub(super) fn by_constants(&mut self, operands: &[NodeId], ty: &Type) -> Option<Number> {
        let (a, b) = (operands[0], operands[1]);
        let (secret, public) = if self.ty(b).secret { (b, a) } else { (a, b) };
        if self.ty(public).secret || self.same(public).is_some() {
            return None;
        }
        let (number, factors) = (self.number(secret), self.known(public));
        self.multiples(&number, &factors, &[], None, &ty.shape, Format::of(ty))
    }

    /// Products, element by element, with public factors that are repeated along axes which they haven't, and with as many
    /// offsets and perhaps with other numbers added; `None` if there are too many factors.
    pub(super) fn multiples(
        &mut self,
        number: &Number,
        factors: &Known<'_>,
        offsets: &[i128],
        added: Option<&Number>,
        shape: &[usize],
        format: Format,
    ) -> Option<Number> {
        let Known { shape: own, raw: factors } = *factors;
        let each = (BITS / number.format().bits).max(1);
        if factors.len().div_ceil(each) > CIRCUITS || !affordable(factors.iter(), number, format) {
            return None;
        }
        // The axes along which factors differ go last.
        let new = shape.len() - own.len();
        let (last, first): (Vec<usize>, Vec<usize>) =
            (0..shape.len()).partition(|&axis| axis >= new && own[axis - new] > 1);
        let order = [&first[..], &last].concat();
        let lengths: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let count = shape.iter().product::<usize>() / factors.len();
        let mut lines = Vec::with_capacity(2);
        for number in std::iter::once(number).chain(added) {
            let line = number.broadcast(shape).transpose(&order);
            lines.push(self.reshaped(&line, &[count, factors.len()]));
        }
        let mut blocks = Vec::new();
        for (place, factors) in factors.chunks(each).enumerate() {
            let span = Span { start: place * each, step: 1, count: factors.len() };
            let mut terms = Vec::with_capacity(lines.len());
            for line in &lines {
                let Format { bits, signed } = line.format();
                let reg = self.laid(&line.part(1, span));
                let all = Format { bits: bits * factors.len(), signed };
                terms.push(Term::Register(Operand::Each(reg), all));
            }
            let offsets = offsets.get(span.start..span.start + span.count).unwrap_or(&[]);
            let products = self.evaluate(&terms, count, |b, style, all| {
                let words: Vec<Vec<Word>> = all.iter().map(|all| split(all, factors.len())).collect();
                let element = |(at, &factor): (usize, &i128)| {
                    let mut columns = Columns::new(format.bits);
                    columns.multiple(b, &words[0][at], factor);
                    columns.constant(offsets.get(at).copied().unwrap_or(0));
                    for words in &words[1..] {
                        columns.word(b, &words[at]);
                    }
                    columns.total(b, style)
                };
                factors.iter().enumerate().flat_map(element).collect()
            });
            blocks.push(Number::whole(products, &[count, factors.len()], format).transpose(&[1, 0]));
        }
        let all = self.stacked(&blocks).transpose(&[1, 0]);
        let all = self.reshaped(&all, &lengths);
        let mut back = vec![0; shape.len()];
        order.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
        Some(all.transpose(&back))
    }
}

/// Whether circuits may have all these factors: about so many ANDs as their digits have, times the bits of a word.
fn affordable<'a>(factors: impl Iterator<Item = &'a i128>, number: &Number, format: Format) -> bool {
    let mut left = GATES / number.format().bits;
    for &factor in factors {
        match left.checked_sub(digits(factor, format.bits).count().max(1)) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}
