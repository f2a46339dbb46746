//! What there is to know of an operation: its entry in the table.

use super::parameters::Rounding;
use super::tensor::{Tensor, each, rows};
use crate::error::Fault;
use crate::plan::{Layout, Width};
use crate::rational::Rational;
use crate::types::{Dtype, Range, Type};

/// Dtype, shape and range of a result.
pub(crate) type Parts = (Dtype, Vec<usize>, Range);

type Infer<'a> = Box<dyn Fn(&'static str, &[&Type]) -> Result<Parts, Fault> + 'a>;
type Write<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;
type Ring<'a> = Box<dyn Fn(&[&Type]) -> Width + 'a>;
type RawElement<'a> = Box<dyn Fn(Dtype, &[i128]) -> i128 + 'a>;
type ExactElement<'a> = Box<dyn Fn(&[Rational]) -> Rational + 'a>;
type Elements<'a, T> = Box<dyn Fn(&[Tensor<'_, T>], &Type) -> Vec<T> + 'a>;

/// An operation, to all but lowering. The methods that say what it is can be left out where nothing is to be said.
pub(crate) struct Entry<'a> {
    /// What messages call it: the way it is written in Python.
    pub(crate) name: &'static str,
    /// The byte that stands for it.
    pub(crate) code: u8,
    /// How many operands it takes; `None` for as many as there are, whose number is written.
    pub(crate) operands: Option<usize>,
    /// How its result is rounded; `None` if it is exact.
    pub(crate) rounding: Option<Rounding>,
    /// Whether the result's ring is its own, and not that of the operands.
    pub(crate) apart: bool,
    /// Whether its result is secret though all operands are public.
    pub(crate) secret: bool,
    /// Why it can't stand in an arm of a branch ([`crate::branches`]); `None` if it can.
    pub(crate) no_arm: Option<&'static str>,
    infer: Infer<'a>,
    write: Write<'a>,
    ring: Ring<'a>,
    values: Values<'a>,
}

/// How a result's elements follow from those of operands: as raw values, for the reference, and as exact numbers, for
/// the shadow, which share nothing but the places of elements.
enum Values<'a> {
    /// There are no operands, or the result is one of them or a part of it ([`crate::loops`]).
    None,
    /// Each from the operands' elements at its place; operands broadcast.
    Each(RawElement<'a>, ExactElement<'a>),
    /// Each from the operand's elements along some axes.
    Rows(&'a [usize], RawElement<'a>, ExactElement<'a>),
    /// The operand's, in other places.
    Moved(Box<dyn Fn(&Layout) -> Layout + 'a>),
    /// All from all.
    All(Elements<'a, i128>, Elements<'a, Rational>),
}

impl<'a> Entry<'a> {
    pub(super) fn new(name: &'static str, code: u8, operands: Option<usize>) -> Self {
        Self {
            name,
            code,
            operands,
            rounding: None,
            apart: false,
            secret: false,
            no_arm: None,
            infer: Box::new(|operation, operands| Err(Fault::Arity { operation, given: operands.len() })),
            write: Box::new(|_| {}),
            ring: Box::new(|_| Width::W8),
            values: Values::None,
        }
    }

    /// The dtype, shape and range of its result, from its name and its operands' types.
    pub(super) fn typed(self, infer: impl Fn(&'static str, &[&Type]) -> Result<Parts, Fault> + 'a) -> Self {
        Self { infer: Box::new(infer), ..self }
    }

    /// What of it is written between its code and its operands: its parameters.
    pub(super) fn written(self, write: impl Fn(&mut Vec<u8>) + 'a) -> Self {
        Self { write: Box::new(write), ..self }
    }

    /// How its result is rounded.
    pub(super) fn rounds(self, rounding: Rounding) -> Self {
        Self { rounding: Some(rounding), ..self }
    }

    /// What its ring has to hold beside operands and result.
    pub(super) fn holds(self, range: impl Fn(&[&Type]) -> Range + 'a) -> Self {
        Self { ring: Box::new(move |types| range(types).width().unwrap_or(Width::W64)), ..self }
    }

    /// Its result is in a ring of its own.
    pub(super) fn apart(self) -> Self {
        Self { apart: true, ..self }
    }

    /// Its result is secret though all operands are public.
    pub(super) fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    /// It can't stand in an arm of a branch: where an arm isn't active its values may be anything, and this would show them, or
    /// rests on what they are.
    pub(super) fn not_in_arms(self, why: &'static str) -> Self {
        Self { no_arm: Some(why), ..self }
    }

    /// Its elements, from the operands' at the same place: raw ones, of the result's dtype, and exact ones.
    pub(super) fn each(
        self,
        raw: impl Fn(Dtype, &[i128]) -> i128 + 'a,
        exact: impl Fn(&[Rational]) -> Rational + 'a,
    ) -> Self {
        Self { values: Values::Each(Box::new(raw), Box::new(exact)), ..self }
    }

    /// Its elements, from the operand's along some axes.
    pub(super) fn rows(
        self,
        axes: &'a [usize],
        raw: impl Fn(Dtype, &[i128]) -> i128 + 'a,
        exact: impl Fn(&[Rational]) -> Rational + 'a,
    ) -> Self {
        Self { values: Values::Rows(axes, Box::new(raw), Box::new(exact)), ..self }
    }

    /// Its elements are the operand's, by another walk.
    pub(super) fn moved(self, change: impl Fn(&Layout) -> Layout + 'a) -> Self {
        Self { values: Values::Moved(Box::new(change)), ..self }
    }

    /// Its elements, from all operands and the result's type.
    pub(super) fn all(
        self,
        raw: impl Fn(&[Tensor<'_, i128>], &Type) -> Vec<i128> + 'a,
        exact: impl Fn(&[Tensor<'_, Rational>], &Type) -> Vec<Rational> + 'a,
    ) -> Self {
        Self { values: Values::All(Box::new(raw), Box::new(exact)), ..self }
    }

    /// What it makes of operands of these types.
    pub(crate) fn infer(&self, operands: &[&Type]) -> Result<Parts, Fault> {
        if self.operands.is_some_and(|count| count != operands.len()) {
            return Err(Fault::Arity { operation: self.name, given: operands.len() });
        }
        (self.infer)(self.name, operands)
    }

    /// Writes its parameters.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        (self.write)(out);
    }

    /// The least ring in which it can be reckoned, if operands and result fit.
    pub(crate) fn ring(&self, operands: &[&Type]) -> Width {
        (self.ring)(operands)
    }

    /// A walk that meets the elements of its result, from one that meets its operand's, if they are the same in other
    /// places; else the same walk.
    pub(crate) fn walk(&self, operand: &Layout) -> Layout {
        match &self.values {
            Values::Moved(change) => change(operand),
            _ => operand.clone(),
        }
    }

    /// The raw elements of its result.
    pub(crate) fn raw(&self, operands: &[Tensor<'_, i128>], ty: &Type) -> Vec<i128> {
        let all = match &self.values {
            Values::None => vec![],
            Values::Each(raw, _) => each(operands, &ty.shape, |x| raw(ty.kind, x)),
            Values::Rows(axes, raw, _) => rows(&operands[0], axes, |row| raw(ty.kind, row)),
            Values::Moved(_) => operands[0].walk(&self.walk(&Layout::whole(operands[0].shape))),
            Values::All(raw, _) => raw(operands, ty),
        };
        let holds = |raw: &i128| ty.kind.holds(ty.kind.whole(), *raw);
        debug_assert!(all.iter().all(holds), "`{}` left the range that was checked", self.name);
        all
    }

    /// The exact elements of its result.
    pub(crate) fn exact(&self, operands: &[Tensor<'_, Rational>], ty: &Type) -> Vec<Rational> {
        match &self.values {
            Values::None => vec![],
            Values::Each(_, exact) => each(operands, &ty.shape, exact),
            Values::Rows(axes, _, exact) => rows(&operands[0], axes, exact),
            Values::Moved(_) => operands[0].walk(&self.walk(&Layout::whole(operands[0].shape))),
            Values::All(_, exact) => exact(operands, ty),
        }
    }
}
