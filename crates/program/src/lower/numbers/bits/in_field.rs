//! Functions whose steps are a circuit on the bits of numbers (quotients by secrets, roots, piecewise polynomials), where numbers
//! are elements of a field. The bits of each operand come of an opening under a mask, the gates are products, and the bits of the
//! result add up to it.

use super::element::{element, style};
use super::gates::Word;
use crate::capabilities::Field;
use crate::lower::circuit::products::{Bits, Source};
use crate::lower::lowering::Lowering;
use crate::lower::numbers::masked::MaskedOpening;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{Layout, Reg};
use crate::types::Type;
use crate::width::Format;
use tacit_circuit::Builder;

impl Lowering<'_> {
    /// The register of what an operation makes of operands, element by element.
    pub(super) fn function_in_field(
        &mut self,
        field: Field,
        operation: &Operation,
        operands: &[NodeId],
        ty: &Type,
    ) -> Reg {
        let (domain, format) = (field.domain(), Format::of(ty));
        let (mut b, mut words, mut wires) = (Builder::new(), Vec::new(), Vec::new());
        for &id in operands {
            let Format { bits, signed } = Format::of(self.ty(id));
            words.push(Word { bits: b.input(bits as u32), signed });
            wires.extend(self.bits_in_field(field, id, &ty.shape));
        }
        let output = element(operation, &mut b, style(ty.len()), &words, format.bits);
        let (circuit, exclusive) = b.finish_marked(vec![output]);
        let a = self.products_of(&circuit, &exclusive, wires, domain, ty.len());
        self.of_bits(a, format, domain, ty.len())
    }

    /// The bits of a node's numbers in two's complement, the lowest first: each for all elements of a shape.
    fn bits_in_field(&mut self, field: Field, id: NodeId, shape: &[usize]) -> Vec<Bits> {
        let (own, domain) = (self.ty(id), field.domain());
        let format = Format::of(own);
        if !own.secret {
            let walk = Layout::whole(&own.shape).broadcast(shape);
            let raw = self.known(id).raw;
            let bit = |at: usize| walk.places().map(|place| raw[place] >> at & 1 == 1).collect();
            return (0..format.bits).map(|at| Bits::public(bit(at))).collect();
        }
        // What is the same for all is taken apart once.
        let alike = own.len() == 1;
        let a = self.term(id, if alike { &own.shape } else { shape }, domain);
        let a = self.register(&a);
        let len = self.plan.shape(a).cols;
        let reg = MaskedOpening(field).bits(self, a, format);
        let source = |bit| Source { reg, offset: bit * len, stride: usize::from(!alike) };
        (0..format.bits).map(|bit| Bits::Secret { from: source(bit), complement: false }).collect()
    }
}
