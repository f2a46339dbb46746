//! Products with public numbers and quotients by them: limb by limb, each a sum of few words whose low bits go
//! ([`crate::rounded`]). Mostly there is one.

use super::gates::Columns;
use super::number::Number;
use super::operand::Known;
use super::operand::Term;
use crate::lower::lowering::Lowering;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::Operand;
use crate::ratio::Elementwise;
use crate::rounded::Stage;
use crate::types::Type;
use crate::width::Format;

impl Lowering<'_> {
    /// `floor((m x + c) / 2^s)`.
    pub(super) fn rounded_numbers(
        &mut self,
        id: NodeId,
        operation: &Operation,
        operand: NodeId,
        ty: &Type,
    ) -> Number {
        let Some(multiples) = self.scalings.get(&id).map(|scaling| scaling.multiples.clone()) else {
            unreachable!("every product with public numbers is planned");
        };
        let x = self.number(operand);
        let mut carry: Option<Number> = None;
        for stage in multiples.in_bits() {
            let [factors, offsets] = multiples.signed(&stage);
            let sum = self.stage(&x, operation, &factors, &offsets, carry.as_ref(), &stage, ty);
            carry = Some(self.shifted(&sum, stage.bits as usize));
        }
        let (quotient, format) = (carry.unwrap_or(x), Format::of(ty));
        // A bound on the sums in between can be wider than that of the result.
        if quotient.format().bits > format.bits { self.formatted(&quotient, format) } else { quotient }
    }

    /// A stage's sums.
    #[expect(clippy::too_many_arguments, reason = "a stage has that many parts")]
    fn stage(
        &mut self,
        x: &Number,
        operation: &Operation,
        factors: &[i128],
        offsets: &[i128],
        carry: Option<&Number>,
        stage: &Stage,
        ty: &Type,
    ) -> Number {
        let format = Format::of_range(stage.sum);
        let own = match operation {
            Operation::Weigh { matrix, left } => {
                let weights = Known { shape: matrix.shape(), raw: factors };
                let sums = self.weighed_numbers(x, &weights, *left, format);
                let sums = self.reshaped(&sums, &ty.shape);
                return self.plus(&sums, offsets[0], carry, format);
            }
            _ => match Elementwise::of(operation) {
                Some(elementwise) => elementwise.numbers.shape(),
                None => unreachable!("this operation has public numbers"),
            },
        };
        if let (&[factor], &[offset]) = (factors, offsets) {
            if (factor, offset, carry.is_some()) == (1, 0, false) {
                return x.broadcast(&ty.shape);
            }
            let mut terms = vec![self.each(&x.broadcast(&ty.shape))];
            terms.extend(carry.map(|carry| self.each(carry)));
            let sums = self.evaluate(&terms, ty.len(), |b, style, words| {
                let mut columns = Columns::new(format.bits);
                columns.multiple(b, &words[0], factor);
                columns.constant(offset);
                columns.words(b, &words[1..]);
                columns.total(b, style)
            });
            return Number::whole(sums, &ty.shape, format);
        }
        let factors = Known { shape: own, raw: factors };
        if let Some(sums) = self.multiples(x, &factors, offsets, carry, &ty.shape, format) {
            return sums;
        }
        let offsets = Known { shape: own, raw: offsets };
        let mut terms = vec![self.each(&x.broadcast(&ty.shape))];
        terms.extend([factors, offsets].map(|known| self.public_operand(&known, known.format(), &ty.shape)));
        terms.extend(carry.map(|carry| self.each(carry)));
        let sums = self.evaluate(&terms, ty.len(), |b, style, words| {
            let mut columns = Columns::new(format.bits);
            columns.product(b, &words[0], &words[1]);
            columns.words(b, &words[2..]);
            columns.total(b, style)
        });
        Number::whole(sums, &ty.shape, format)
    }

    /// Numbers with a public one and perhaps others added.
    fn plus(&mut self, x: &Number, offset: i128, carry: Option<&Number>, format: Format) -> Number {
        if offset == 0 && carry.is_none() {
            return x.clone();
        }
        let shape = x.layout.shape[..x.rank()].to_vec();
        let mut terms = vec![self.each(x)];
        terms.extend(carry.map(|carry| self.each(carry)));
        let sums = self.evaluate(&terms, shape.iter().product(), |b, style, words| {
            let mut columns = Columns::new(format.bits);
            columns.constant(offset);
            columns.words(b, words);
            columns.total(b, style)
        });
        Number::whole(sums, &shape, format)
    }

    /// All elements of a number as a circuit's operand.
    fn each(&mut self, number: &Number) -> Term {
        Term::Register(Operand::Each(self.laid(number)), number.format())
    }
}
