//! Products with public numbers and quotients by them, in rings: limb by limb, with a truncation for each
//! ([`crate::rounded`] says why that is exact).

use super::arrange::Weights;
use super::term::Term;
use super::{Lowering, View, width_of};
use crate::operations::Operation;
use crate::plan::{Domain, Layout, Reg, Width};
use crate::program::NodeId;
use crate::rounded::{Chain, Elementwise, Multiples, Stage, raise};
use crate::types::{Range, Type};

/// What a node is made by, and how.
#[derive(Clone, Debug)]
pub(super) struct Scaling {
    pub(super) multiples: Multiples,
    pub(super) width: Width,
    chain: Chain,
}

impl Scaling {
    /// Of a secret node that is such a product or quotient; else `None`.
    pub(super) fn of(operation: &Operation, operand: &Type, result: &Type) -> Option<Self> {
        let multiples = Multiples::of(operation, operand.range)?;
        let (width, chain) = multiples.in_rings([operand.len(), result.len()]);
        Some(Self { multiples, width, chain })
    }

    /// How often a plan has the public numbers: as limbs of multipliers, for each part of the operand, and of offsets.
    pub(super) fn copies(&self) -> usize {
        (self.chain.parts.len() + 1) * (self.chain.stages.len() + 1)
    }
}

impl Lowering<'_> {
    /// `floor((m x + c) / 2^s)`.
    ///
    /// Costs a truncation of the operand for each part of it but the lowest, all at the same time, and then one of the
    /// result for each stage, one after the other.
    pub(super) fn rounded(&mut self, id: NodeId, operation: &Operation, operand: NodeId, ty: &Type) -> Reg {
        let domain = self.domain(id);
        let Some(Scaling { multiples, chain: Chain { parts, stages }, .. }) = self.scalings.get(&id).cloned()
        else {
            unreachable!("every product with public numbers is planned");
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
                let weight = Term::splat((1_u128 << by).wrapping_neg(), domain, self.len_of(&higher));
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
        let offset = factors(operation, multiples.offset_above(), ty, domain);
        let mut total = self.add(&offset, &carry);
        for (part, x) in parts.iter().zip(&cuts) {
            total = self.plus_multiple(total, operation, operand, x, multiples.above(part), ty);
        }
        self.register(&total)
    }

    /// `floor(x / 2^by)`, for an x in this range, the width of which is that of its ring at most.
    ///
    /// It is raised to be not negative and shifted. If the range takes all bits of the ring, numbers below 0 are raised by
    /// half of it instead, which takes their sign.
    fn floor(&mut self, x: &Term, range: Range, by: u8) -> Term {
        let (domain, len) = (self.domain_of(x), self.len_of(x));
        let bits = width_of(domain).bits();
        let by_all = raise(range, by.into());
        let (raised, lowered) = if range.hi() + by_all < 1 << (bits - 1) {
            (Term::splat(by_all as u128, domain, len), Term::splat((-(by_all >> by)) as u128, domain, len))
        } else {
            let sign = self.sign(x);
            let sign = self.register(&sign);
            let negative = Term::Secret(self.inject(sign, width_of(domain)));
            let times = |power: u8| Term::splat(1 << power, domain, len);
            let raised = self.mul(&negative, &times(bits - 1));
            let above = self.mul(&negative, &times(bits - 1 - by));
            (raised, self.neg(&above))
        };
        let raised = self.add(x, &raised);
        let raised = self.register(&raised);
        let shifted = self.shift(raised, by);
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
