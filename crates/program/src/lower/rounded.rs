//! Products with public numbers and quotients by them: limb by limb, with a truncation for each
//! ([`crate::rounded`] says why that is exact).

use super::arrange::Weights;
use super::lowering::{Lowering, View};
use super::scaling::{Scaling, quotient_by_public};
use super::term::Term;
use crate::error::Fault;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{Domain, Layout, Reg};
use crate::ratio::Elementwise;
use crate::rounded::{Chain, Stage, raise};
use crate::types::{Range, Type};

impl Lowering<'_> {
    /// `floor((m x + c) / 2^s)`.
    ///
    /// Costs a truncation of the operand for each part of it but the lowest, all at the same time, and then one of the
    /// result for each stage, one after the other.
    pub(super) fn rounded(&mut self, id: NodeId, operation: &Operation, operand: NodeId, ty: &Type) -> Reg {
        let domain = self.domain(id);
        let Some(Scaling { multiples, chain, .. }) = self.scalings.get(&id).cloned() else {
            unreachable!("every product with public numbers is planned");
        };
        let Some(Chain { parts, stages }) = chain else {
            let missing = "products and quotients of so many bits; narrower ranges help";
            self.refuse(|operation| Fault::NotOffered { operation, missing });
            return self.fresh(domain, ty.len());
        };
        let mut cuts: Vec<Term> = Vec::with_capacity(parts.len());
        let x = Term::Secret(self.whole(operand));
        for part in &parts {
            let higher = match part.from {
                0 => x.clone(),
                from => self.floor(&x, self.ty(operand).range, from),
            };
            // What a part has of the bits above it goes, once these are known.
            if let Some(lower) = cuts.pop() {
                let by = part.from - parts[cuts.len()].from;
                let weight = Term::integer(-(1 << by), domain, self.len_of(&higher));
                let above = self.mul(&higher, &weight);
                cuts.push(self.add(&lower, &above));
            }
            cuts.push(higher);
        }
        let mut carry = Term::splat(0, domain, ty.len());
        for Stage { from, bits, sum, .. } in &stages {
            let offset = factors(operation, multiples.offset(*from, *bits), ty, domain);
            let mut total = self.add(&offset, &carry);
            for (part, x) in parts.iter().zip(&cuts) {
                total =
                    self.plus_multiple(total, operation, operand, x, multiples.limb(part, *from, *bits), ty);
            }
            carry = self.floor(&total, *sum, *bits as u8);
        }
        let offset = factors(operation, multiples.offset_above(domain), ty, domain);
        let mut total = self.add(&offset, &carry);
        for (part, x) in parts.iter().zip(&cuts) {
            total = self.plus_multiple(total, operation, operand, x, multiples.above(part, domain), ty);
        }
        self.register(&total)
    }

    /// `a // b` or `a % b`. Rings take a circuit. In a field it goes by public numbers alone: the quotient costs what
    /// [`Self::rounded`] does, and what it leaves is `a - b (a // b)`.
    pub(super) fn divided(
        &mut self,
        id: NodeId,
        operation: &Operation,
        operands: &[NodeId],
        ty: &Type,
        domain: Domain,
    ) -> Reg {
        let over = self
            .capabilities
            .numbers
            .field()
            .and_then(|_| quotient_by_public(self.program, self.program.node(id)));
        let Some(over) = over else { return self.by_circuit(operation, operands, ty, domain) };
        let quotient = self.rounded(id, &over, operands[0], ty);
        if *operation == Operation::Divide {
            return quotient;
        }
        let [a, b] = [0, 1].map(|at| self.term(operands[at], &ty.shape, domain));
        let multiple = self.mul(&Term::Secret(quotient), &b);
        let rest = self.sub(&a, &multiple);
        self.register(&rest)
    }

    /// `floor(x / 2^by)`, for an x in this range, the width of which is that of its ring at most.
    ///
    /// It is raised to be not negative and shifted. If the range takes all bits of the ring, numbers below 0 are raised by
    /// half of it instead, which takes their sign.
    fn floor(&mut self, x: &Term, range: Range, by: u8) -> Term {
        let (domain, len) = (self.domain_of(x), self.len_of(x));
        let by_all = raise(range, by.into());
        let overfull = match domain {
            Domain::Ring(width) if range.hi() + by_all >= 1 << (width.bits() - 1) => Some(width.bits()),
            _ => None,
        };
        let (raised, lowered) = if let Some(bits) = overfull {
            let sign = self.sign(x, range);
            let sign = self.register(&sign);
            let negative = Term::Secret(self.inject(sign, domain));
            let times = |power: u8| Term::splat(1 << power, domain, len);
            let raised = self.mul(&negative, &times(bits - 1));
            let above = self.mul(&negative, &times(bits - 1 - by));
            (raised, self.neg(&above))
        } else {
            (Term::integer(by_all, domain, len), Term::integer(-(by_all >> by), domain, len))
        };
        let raised = self.add(x, &raised);
        let raised = self.register(&raised);
        let shifted = self.shift(raised, range.add(Range::point(by_all)), by);
        self.add(&shifted, &lowered)
    }

    /// A sum and the products of a part of the operand with limbs of the multipliers.
    fn plus_multiple(
        &mut self,
        sum: Term,
        operation: &Operation,
        operand: NodeId,
        part: &Term,
        limbs: Vec<u128>,
        ty: &Type,
    ) -> Term {
        if limbs.iter().all(|&limb| limb == 0) {
            return sum;
        }
        let (reg, domain, own) = (self.register(part), self.domain_of(part), &self.ty(operand).shape);
        let layout = Layout::whole(own);
        let product = if let Operation::Weigh { matrix, left } = operation {
            let limbs = Weights { shape: matrix.shape(), words: &limbs };
            Term::Secret(self.weighed(View { reg, layout }, own, &limbs, *left))
        } else {
            let x = Term::Secret(self.gathered(reg, layout.broadcast(&ty.shape)));
            self.mul(&x, &factors(operation, limbs, ty, domain))
        };
        self.add(&sum, &product)
    }
}

/// Public elements, one for all or one for each public number, repeated to the shape of the result.
fn factors(operation: &Operation, words: Vec<u128>, ty: &Type, domain: Domain) -> Term {
    match (&words[..], Elementwise::of(operation)) {
        (&[word], _) => Term::splat(word, domain, ty.len()),
        (_, Some(Elementwise { numbers, .. })) => {
            Term::vector(words, domain).broadcast(numbers.shape(), &ty.shape)
        }
        (_, None) => unreachable!("sums of products have one offset"),
    }
}

#[cfg(test)]
mod tests;
