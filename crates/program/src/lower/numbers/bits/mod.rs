//! Numbers as bits, for protocols that have no rings: every operation is a circuit, with its elements as instances.
//!
//! A number has as many bits as its range takes, and those modulo 2^k have k; what is reckoned modulo 2^width is
//! exact, since the result is in its range. In a register elements follow one another, each with all of its bits, the
//! lowest first: as circuits write them. So a view of numbers is a view of bits with one more axis, and slices,
//! transposes, broadcasts, bools as numbers and truncation downwards cost nothing.
//!
//! | module | has |
//! | --- | --- |
//! | `gates` | words in circuits |
//! | `sum` | sums over axes, matrix products, long products |
//! | `limit` | products that are refused |
//! | `constants` | products with public numbers that differ from place to place |
//! | `rounded` | products with public numbers that aren't integers, quotients |
//! | `tournament` | extremes along an axis |
//! | `order` | keys of sorts |
//! | `compose` | numbers of the bits of results |
//! | `functions` | quotients, roots, functions by pieces |
//! | `polynomial` | functions by pieces, in rings |
//!
//! An engine with rings takes the same circuits for the few operations that rings have no steps for
//! ([`Lowering::by_circuit`]).
//!
//! What is public and the same for all elements is part of the circuit, and so are other factors if they are few. All
//! else that is public becomes a register.

mod compose;
mod constants;
mod element;
mod functions;
mod gates;
mod in_field;
mod keep;
mod limit;
pub(in crate::lower) mod number;
mod operand;
mod order;
mod polynomial;
mod rounded;
mod sum;
#[cfg(test)]
mod tests;
mod tournament;

use std::sync::Arc;

use tacit_circuit::arith::Style;
use tacit_circuit::{self as circuit, Wire};

use crate::error::Fault;
use crate::lower::lowering::{Lowering, View};
use crate::lower::term::limbs;
use crate::node::{Node, NodeId};
use crate::operations::{Operation, Rounding};
use crate::plan::{Domain, Layout, Local, MatrixShape, Modulus, Operand, Public, Reg, To};
use crate::types::{Dtype, Type};
use crate::width::Format;
use compose::less_mask;
use element::{element, style};
use gates::{Columns, Word};
use number::Number;
use operand::{Known, Term, packed};

impl<'a> Lowering<'a> {
    /// The plan's steps for one secret node that is a number or made of numbers.
    pub(in crate::lower) fn binary(&mut self, id: NodeId, node: &Node) {
        let Node { operation, operands, ty, .. } = node;
        self.refuse_dear(node);
        if self.fault.is_some() {
            return;
        }
        if let Dtype::Modular(Modulus::Mersenne61 | Modulus::Prime128) = ty.kind {
            let missing =
                "arithmetic modulo a prime; it has bits alone, for int, fixed point and integers modulo 2^k";
            return self.refuse(|operation| Fault::NotOffered { operation, missing });
        }
        let number = match operation {
            Operation::Input { owner, .. } => {
                let (owner, format) = (self.plan.role(owner), Format::of(ty));
                let reg = self.fresh(Domain::Bits, ty.len() * format.bits);
                self.plan.input_as(owner, reg, format.form());
                Number::whole(reg, &ty.shape, format)
            }
            Operation::Kept { name } => self.kept_number(name, ty),
            Operation::Known { name } => {
                let format = Format::of(ty);
                let reg = self.public_input(id, name, Domain::Bits, ty.len() * format.bits, format.form());
                Number::whole(reg, &ty.shape, format)
            }
            Operation::FromBool { .. }
            | Operation::Reshape { .. }
            | Operation::Transpose { .. }
            | Operation::Slice { .. }
            | Operation::BroadcastTo { .. }
            | Operation::Windows { .. }
            | Operation::Raw { .. }
            | Operation::Truncate { rounding: Rounding::Floor, .. }
            | Operation::ShiftRight { .. } => self.seen(operation, operands[0]),
            Operation::Concatenate { axis } => self.concatenate_numbers(operands, *axis, ty),
            Operation::Sum { axes, .. } => self.sum_numbers(operands[0], axes, ty),
            Operation::MatMul => self.multiply_matrices(operands, ty),
            Operation::Conv => self.convolve_numbers(operands, ty),
            Operation::WideProduct { matrix, by } => self.wide_number_product(operands, *matrix, *by, ty),
            Operation::Extremum { which, axis, .. } => self.number_extremum(operands[0], *which, *axis, ty),
            Operation::ArgExtremum { which, axis, .. } => {
                self.number_arg_extremum(operands[0], *which, *axis, ty)
            }
            Operation::Mul if let Some(products) = self.by_constants(operands, ty) => products,
            Operation::Times(_) | Operation::Over { .. } | Operation::Weigh { .. } => {
                self.rounded_numbers(id, operation, operands[0], ty)
            }
            Operation::Less | Operation::Equal => {
                let reg = self.elementwise(operation, operands, ty);
                self.views[id.index()] = Some(View { reg, layout: Layout::whole(&ty.shape) });
                return;
            }
            _ => Number::whole(self.elementwise(operation, operands, ty), &ty.shape, Format::of(ty)),
        };
        self.numbers[id.index()] = Some(number);
    }

    /// Reveals a node's numbers.
    pub(in crate::lower) fn output_bits(&mut self, id: NodeId, to: To) {
        let ty = self.ty(id);
        let number = self.number(id);
        let number = self.formatted(&number, Format::of(ty));
        let form = number.format().form();
        let reg = self.laid(&number);
        self.plan.output_as(reg, to, form);
    }

    /// A node's elements; those of a bool are one bit.
    pub(in crate::lower) fn number(&mut self, id: NodeId) -> Number {
        let ty = self.ty(id);
        if let Some(number) = &self.numbers[id.index()] {
            return number.clone();
        }
        if ty.secret {
            let View { reg, mut layout } = self.view(id).clone();
            layout.shape.push(1);
            layout.strides.push(1);
            return Number { reg, layout, signed: false };
        }
        let number = self.constant(&self.known(id), Format::of(ty));
        self.numbers[id.index()] = Some(number.clone());
        number
    }

    /// Public numbers in a register, as a sharing of them.
    fn constant(&mut self, known: &Known<'_>, format: Format) -> Number {
        let Known { shape, raw } = *known;
        let dst = self.fresh(Domain::Bits, raw.len() * format.bits);
        self.plan.local(Local::Constant { value: packed(raw, format), dst });
        Number::whole(dst, shape, format)
    }

    /// Public numbers in a register, of the least format that holds them.
    fn shared(&mut self, known: &Known<'_>) -> Number {
        self.constant(known, known.format())
    }

    /// A public node's elements.
    fn known(&self, id: NodeId) -> Known<'a> {
        let node = self.program.node(id);
        match &node.operation {
            Operation::Constant(raw) => Known { shape: &node.ty.shape, raw },
            _ => unreachable!("what is public is a constant"),
        }
    }

    /// A public node's raw element, if all are the same.
    fn same(&self, id: NodeId) -> Option<i128> {
        let Known { raw, .. } = (!self.ty(id).secret).then(|| self.known(id))?;
        raw.iter().all(|other| *other == raw[0]).then_some(raw[0])
    }

    /// A register that holds a number's elements in order and nothing else.
    fn laid(&mut self, number: &Number) -> Reg {
        self.gathered(number.reg, number.layout.clone())
    }

    /// The same numbers in another format, which holds them.
    pub(in crate::lower) fn formatted(&mut self, number: &Number, format: Format) -> Number {
        let own = number.format();
        if own.bits >= format.bits {
            return number.bits(0, format.bits, format.signed);
        }
        let shape = number.layout.shape[..number.rank()].to_vec();
        let term = Term::Register(Operand::Each(self.laid(number)), own);
        let reg =
            self.evaluate(&[term], shape.iter().product(), |b, _, words| words[0].modulo(b, format.bits));
        Number::whole(reg, &shape, format)
    }

    /// What needs no step: other views of the same bits.
    fn seen(&mut self, operation: &Operation, id: NodeId) -> Number {
        let number = self.number(id);
        match operation {
            Operation::Reshape { shape } => self.reshaped(&number, shape),
            Operation::Truncate { by, .. } | Operation::ShiftRight { by } => {
                self.shifted(&number, usize::from(*by))
            }
            _ => number.walked(|elements| operation.entry().walk(elements)),
        }
    }

    /// Numbers divided by 2^by, rounded down.
    fn shifted(&mut self, number: &Number, by: usize) -> Number {
        let Format { bits, signed } = number.format();
        if by < bits {
            return number.bits(by, bits - by, signed);
        }
        if signed {
            return number.bits(bits - 1, 1, true);
        }
        // Nothing is left.
        let shape = &number.layout.shape[..number.rank()];
        let dst = self.fresh(Domain::Bits, shape.iter().product());
        self.plan.local(Local::Constant { value: Public::Splat(0), dst });
        Number::whole(dst, shape, Format { bits: 1, signed })
    }

    fn reshaped(&mut self, number: &Number, shape: &[usize]) -> Number {
        let full = [shape, &[number.format().bits]].concat();
        match number.layout.reshape(&full) {
            Some(layout) => Number { layout, ..*number },
            None => Number::whole(self.laid(number), shape, number.format()),
        }
    }

    /// The joined axis stands first in memory, so that every operand is one block.
    fn concatenate_numbers(&mut self, operands: &[NodeId], axis: usize, ty: &Type) -> Number {
        let order: Vec<usize> =
            std::iter::once(axis).chain((0..ty.rank()).filter(|&at| at != axis)).collect();
        let format = Format::of(ty);
        let mut blocks = Vec::with_capacity(operands.len());
        for &id in operands {
            let number = if self.ty(id).secret {
                let number = self.number(id);
                self.formatted(&number, format)
            } else {
                self.constant(&self.known(id), format)
            };
            blocks.push(number.transpose(&order));
        }
        let mut back = vec![0; ty.rank()];
        order.iter().enumerate().for_each(|(place, &at)| back[at] = place);
        self.stacked(&blocks).transpose(&back)
    }

    /// Numbers of one format, joined along their first axis.
    fn stacked(&mut self, blocks: &[Number]) -> Number {
        let mut shape = blocks[0].layout.shape[..blocks[0].rank()].to_vec();
        shape[0] = blocks.iter().map(|block| block.layout.shape[0]).sum();
        let format = blocks[0].format();
        let dst = self.fresh(Domain::Bits, shape.iter().product::<usize>() * format.bits);
        let mut at = 0;
        for Number { reg, layout, .. } in blocks {
            self.plan.local(Local::Copy { a: *reg, layout: layout.clone(), at, dst });
            at += layout.len();
        }
        Number::whole(dst, &shape, format)
    }

    /// The register of what is made element by element.
    fn elementwise(&mut self, operation: &Operation, operands: &[NodeId], ty: &Type) -> Reg {
        let width = Format::of(ty).bits;
        let terms: Vec<Term> = operands.iter().map(|&id| self.operand(id, &ty.shape)).collect();
        let factor = |term: &Term| if let Term::Splat(factor) = term { Some(*factor) } else { None };
        let factors: Vec<Option<i128>> = terms.iter().map(factor).collect();
        self.evaluate(&terms, ty.len(), |b, style, words| match operation {
            Operation::Mul => {
                let mut columns = Columns::new(width);
                match (factors[0], factors[1]) {
                    (Some(factor), _) => columns.multiple(b, &words[1], factor),
                    (_, Some(factor)) => columns.multiple(b, &words[0], factor),
                    _ => columns.product(b, &words[0], &words[1]),
                }
                columns.total(b, style)
            }
            _ => element(operation, b, style, words, width),
        })
    }

    /// An operand, broadcast to `shape`. A single element is not repeated.
    fn operand(&mut self, id: NodeId, shape: &[usize]) -> Term {
        if let Some(raw) = self.same(id) {
            return Term::Splat(raw);
        }
        if !self.ty(id).secret {
            return self.public_operand(&self.known(id), Format::of(self.ty(id)), shape);
        }
        let number = self.number(id);
        let format = number.format();
        // What all parties know is an operand as it is.
        let number = match self.known.get(&number.reg) {
            Some(&public) => Number { reg: public, ..number },
            None => number,
        };
        if self.ty(id).len() == 1 && shape.iter().product::<usize>() != 1 {
            return Term::Register(Operand::Same(self.laid(&number)), format);
        }
        Term::Register(Operand::Each(self.laid(&number.broadcast(shape))), format)
    }

    /// The register of a circuit's bits, instance after instance. Operands that are the same register are the same
    /// wires.
    fn evaluate(
        &mut self,
        terms: &[Term],
        instances: usize,
        make: impl FnOnce(&mut circuit::Builder, Style, &[Word]) -> Vec<Wire>,
    ) -> Reg {
        let mut b = circuit::Builder::new();
        let mut inputs: Vec<(Operand, Word)> = Vec::new();
        for term in terms {
            if let Term::Register(operand, Format { bits, signed }) = *term
                && !inputs.iter().any(|(known, word)| (*known, word.signed) == (operand, signed))
            {
                inputs.push((operand, Word { bits: b.input(bits as u32), signed }));
            }
        }
        let mut words = Vec::with_capacity(terms.len());
        for term in terms {
            words.push(match *term {
                Term::Splat(raw) => Word::constant(&mut b, raw),
                Term::Register(operand, Format { signed, .. }) => {
                    match inputs.iter().find(|(known, word)| (*known, word.signed) == (operand, signed)) {
                        Some((_, word)) => word.clone(),
                        None => unreachable!("every register is an input"),
                    }
                }
            });
        }
        let outputs = make(&mut b, style(instances), &words);
        let inputs = inputs.into_iter().map(|(operand, _)| operand).collect();
        self.evaluated(b, inputs, outputs, instances)
    }

    /// The register of a circuit's output, instance after instance.
    fn evaluated(
        &mut self,
        b: circuit::Builder,
        inputs: Vec<Operand>,
        output: Vec<Wire>,
        instances: usize,
    ) -> Reg {
        let dst = self.fresh(Domain::Bits, instances * output.len());
        self.evaluate_circuit(&Arc::new(b.finish(vec![output])), inputs, dst);
        dst
    }

    /// Where numbers are elements: the register of what a circuit makes element by element of the bits of operands. In rings
    /// it costs the sums of their additive components, the circuit, and what makes numbers of the bits of the result.
    pub(in crate::lower) fn by_circuit(
        &mut self,
        operation: &Operation,
        operands: &[NodeId],
        ty: &Type,
        domain: Domain,
    ) -> Reg {
        if let Some(field) = self.capabilities.numbers.field() {
            return self.function_in_field(field, operation, operands, ty);
        }
        if let Operation::Piecewise(function) = operation
            && let Some(result) = self.polynomial(function, operands[0], ty, domain)
        {
            return result;
        }
        let (mut b, mut inputs) = (circuit::Builder::new(), Vec::new());
        let mut given = Vec::with_capacity(operands.len());
        for &id in operands {
            let Some(operand) = self.additive_operand(id, &ty.shape, &mut b, &mut inputs) else {
                let missing = "functions on the bits of secret numbers: quotients by secret ones (by public ones it can), \
                               roots, exp, log and their like";
                self.refuse(|operation| Fault::NotOffered { operation, missing });
                return self.fresh(domain, ty.len());
            };
            given.push(operand);
        }
        let (style, format, len) = (style(ty.len()), Format::of(ty), ty.len());
        let composed = self.to_number(format, domain, len).1.map(|style| {
            let mask = self.pair_mask(domain, len, &inputs);
            inputs.push(Operand::Each(mask));
            (style, mask, b.input(domain.bits() as u32))
        });
        let words: Vec<Word> = given.into_iter().map(|operand| operand.sum(&mut b, style)).collect();
        let output = element(operation, &mut b, style, &words, format.bits);
        if let Some((style, mask, wires)) = composed {
            let result = Word { bits: output, signed: format.signed };
            let difference = less_mask(&mut b, style, &result, &wires);
            let bits = self.evaluated(b, inputs, difference, len);
            return self.composed(bits, mask, domain, len);
        }
        let bits = self.evaluated(b, inputs, output, len);
        let bits = self.inject(bits, domain);
        self.of_bits(bits, format, domain, len)
    }

    /// Numbers from their bits, which are numbers: those of one after those of another.
    fn of_bits(&mut self, a: Reg, format: Format, domain: Domain, len: usize) -> Reg {
        let mut weights: Vec<u128> = (0..format.bits).map(|bit| 1 << bit).collect();
        if let Some(sign) = weights.last_mut().filter(|_| format.signed) {
            *sign = domain.modulus().sub(0, *sign);
        }
        let dst = self.fresh(domain, len);
        let shape = MatrixShape { batch: 1, m: len, k: format.bits, n: 1 };
        self.plan.local(Local::MatMulPublic { a, c: limbs(&weights, domain), left: false, shape, dst });
        dst
    }

    /// An operand in a circuit, as inputs of it; `None` if the protocol has no way to them.
    fn additive_operand(
        &mut self,
        id: NodeId,
        shape: &[usize],
        b: &mut circuit::Builder,
        inputs: &mut Vec<Operand>,
    ) -> Option<AdditiveOperand> {
        let mut input = |operand, Format { bits, signed }| {
            inputs.push(operand);
            Word { bits: b.input(bits as u32), signed }
        };
        if !self.ty(id).secret {
            return Some(match self.operand(id, shape) {
                Term::Splat(raw) => AdditiveOperand::Known(raw),
                Term::Register(operand, format) => AdditiveOperand::Word(input(operand, format)),
            });
        }
        let Format { bits, signed } = Format::of(self.ty(id));
        let a = self.term(id, shape, self.domain(id));
        let a = self.register(&a);
        let operands = self.components_of(a, bits as u32)?;
        let words = operands.into_iter().map(|operand| input(operand, Format { bits, signed: false }));
        Some(AdditiveOperand::Components(words.collect(), signed))
    }
}

/// What an operand of a circuit is the sum of.
enum AdditiveOperand {
    /// A public number, the same for all instances.
    Known(i128),
    /// Itself.
    Word(Word),
    /// The low bits of a number's additive components, as many as the number has; and whether it is signed.
    Components(Vec<Word>, bool),
}

impl AdditiveOperand {
    fn sum(self, b: &mut circuit::Builder, style: Style) -> Word {
        match self {
            Self::Known(raw) => Word::constant(b, raw),
            Self::Word(word) => word,
            Self::Components(words, signed) => {
                let mut columns = Columns::new(words[0].bits.len());
                columns.words(b, &words);
                Word { bits: columns.total(b, style), signed }
            }
        }
    }
}
