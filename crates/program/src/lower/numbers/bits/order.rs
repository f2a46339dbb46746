//! Keys of sorts as bits, and comparisons of them.

use std::sync::Arc;

use tacit_circuit::arith::{self, Style};
use tacit_circuit::{self as circuit};

use super::element::style;
use super::gates::{Columns, Word, less};
use super::operand::Term;
use crate::lower::lowering::Lowering;
use crate::lower::sort::{Keys, NUMBERS};
use crate::node::NodeId;
use crate::plan::{Domain, Insertion, Local, Operand, Public, Reg};
use crate::types::{Dtype, Range};
use crate::width::Format;

impl Lowering<'_> {
    /// The elements of a matrix as words that are in order as unsigned numbers, and all different: the place of each
    /// among all, in the lowest bits, and above it the element, with its sign the other way around. Above both is the
    /// number of the row of the matrix, if it has several.
    pub(in crate::lower) fn sort_keys(&mut self, id: NodeId, length: usize) -> Keys {
        let rows = self.ty(id).len();
        let places = bits_below(rows);
        let (mut b, mut inputs) = (circuit::Builder::new(), Vec::new());
        let style = style(rows);
        let mut word = if self.capabilities.numbers.are_bits() || self.ty(id).kind == Dtype::Bool {
            let number = self.number(id);
            let Format { bits, signed } = number.format();
            inputs.push(Operand::Each(self.laid(&number)));
            Word { bits: b.input(bits as u32), signed }
        } else {
            match self.additive_operand(id, &self.ty(id).shape, &mut b, &mut inputs) {
                Some(operand) => operand.sum(&mut b, style),
                None => unreachable!("what sorts has a way from numbers to bits"),
            }
        };
        if let Some(sign) = word.bits.last_mut().filter(|_| word.signed) {
            *sign = b.not(*sign);
        }
        let above = bits_below(rows / length);
        let bits = places + word.bits.len() + above;
        let block = Keys::block(bits);
        let zero = b.constant(false);
        let mut output = vec![zero; places];
        output.extend(&word.bits);
        output.resize(block, zero);
        let keys = self.fresh(Domain::Bits, rows * block);
        self.evaluate_circuit(&Arc::new(b.finish(vec![output])), inputs, keys);
        let mut reg = self.numbered(keys, block, 1, 0);
        if above > 0 {
            reg = self.numbered(reg, block, length, (places + word.bits.len()) as u32);
        }
        Keys { reg, bits, block }
    }

    /// The place of each element of a matrix, as a number: its column, and above it its row.
    pub(in crate::lower) fn sort_places(&mut self, rows: usize, length: usize) -> Reg {
        let known = self.plan.public(NUMBERS, rows);
        let above = bits_below(length) as u32;
        self.plan.local(Local::Insertion(Insertion::Places { rows: length, above, dst: known }));
        let places = self.fresh(NUMBERS, rows);
        self.plan.local(Local::Constant { value: Public::Register(known), dst: places });
        places
    }

    /// The same words as of [`Lowering::sort_keys`], of elements and [`Lowering::sort_places`] that were shuffled.
    pub(in crate::lower) fn shuffled_keys(
        &mut self,
        id: NodeId,
        length: usize,
        elements: Reg,
        places: Reg,
    ) -> Keys {
        let rows = self.ty(id).len();
        let (below, above) = (bits_below(length), bits_below(rows / length));
        let (mut b, mut inputs) = (circuit::Builder::new(), Vec::new());
        let Format { bits, signed } = Format::of(self.ty(id));
        // All inputs come before the first gate.
        let [element, place] = [(elements, bits), (places, below + above)]
            .map(|(reg, bits)| self.words_of_elements(reg, bits, &mut b, &mut inputs));
        let style = style(rows);
        let [mut element, place] = [(element, bits), (place, below + above)].map(|(words, bits)| {
            let mut columns = Columns::new(bits);
            columns.words(&mut b, &words);
            columns.total(&mut b, style)
        });
        if let Some(sign) = element.last_mut().filter(|_| signed) {
            *sign = b.not(*sign);
        }
        let (column, row) = place.split_at(below);
        let mut output = [column, &element, row].concat();
        let bits = output.len();
        let block = Keys::block(bits);
        output.resize(block, b.constant(false));
        let reg = self.fresh(Domain::Bits, rows * block);
        self.evaluate_circuit(&Arc::new(b.finish(vec![output])), inputs, reg);
        Keys { reg, bits, block }
    }

    /// What sums to the low bits of a register's elements, as inputs of a circuit.
    fn words_of_elements(
        &mut self,
        a: Reg,
        bits: usize,
        b: &mut circuit::Builder,
        inputs: &mut Vec<Operand>,
    ) -> Vec<Word> {
        let operands = match self.plan.shape(a).domain {
            Domain::Bits => vec![Operand::Each(a)],
            _ => {
                self.components_of(a, bits as u32).unwrap_or_else(|| unreachable!("numbers have components"))
            }
        };
        let words = operands.iter().map(|_| Word { bits: b.input(bits as u32), signed: false }).collect();
        inputs.extend(operands);
        words
    }

    /// Words with public numbers in bits that were 0: the number of each block of so many words, from a bit on.
    fn numbered(&mut self, a: Reg, block: usize, words: usize, at: u32) -> Reg {
        let cols = self.plan.shape(a).cols;
        let (numbers, dst) = (self.plan.public(Domain::Bits, cols), self.fresh(Domain::Bits, cols));
        self.plan.local(Local::Insertion(Insertion::Numbers { block, words, at, dst: numbers }));
        self.plan.local(Local::XorPublic { a, c: Public::Register(numbers), dst });
        dst
    }

    /// Whether each element is in a range.
    pub(in crate::lower) fn numbers_within(&mut self, id: NodeId, range: Range) -> Reg {
        let number = self.number(id);
        let term = Term::Register(Operand::Each(self.laid(&number)), number.format());
        self.evaluate(&[term], self.ty(id).len(), |b, style, words| {
            let [low, high] = [range.lo(), range.hi()].map(|end| Word::constant(b, end));
            let below = less(b, style, &words[0], &low);
            let above = less(b, style, &high, &words[0]);
            let [not_below, not_above] = [below, above].map(|outside| b.not(outside));
            vec![b.and(not_below, not_above)]
        })
    }

    /// Whether words are less than others.
    pub(in crate::lower) fn less_of_words(&mut self, sides: [Reg; 2], keys: Keys, count: usize) -> Reg {
        let format = Format { bits: keys.block, signed: false };
        let terms = sides.map(|reg| Term::Register(Operand::Each(reg), format));
        let few = self.capabilities.proofs.is_some_and(|proofs| count >= proofs.many);
        self.evaluate(&terms, count, |b, style, words| {
            let style = if few { Style::Small } else { style };
            let [x, y] = [0, 1].map(|side| &words[side].bits[..keys.bits]);
            vec![arith::less(b, style, x, y)]
        })
    }
}

/// Bits of the numbers below `count`.
const fn bits_below(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}
