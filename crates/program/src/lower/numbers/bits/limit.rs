//! Products that are refused: what a protocol takes a product for is stated in its capabilities.

use crate::error::Fault;
use crate::lower::lowering::Lowering;
use crate::node::Node;
use crate::operations::Operation;
use crate::width::Format;

impl Lowering<'_> {
    /// Refuses a product of secrets that takes more ANDs than the protocol makes for one, before it is laid out.
    pub(super) fn refuse_dear(&mut self, node: &Node) {
        let Node { operation, operands, ty, .. } = node;
        let [Some(left), Some(right)] = [0, 1].map(|at| operands.get(at).map(|&id| self.ty(id))) else {
            return;
        };
        if !left.secret || !right.secret {
            return;
        }
        let terms = match operation {
            Operation::Mul | Operation::WideProduct { matrix: false, .. } => 1,
            Operation::MatMul | Operation::WideProduct { matrix: true, .. } => {
                left.shape.last().copied().unwrap_or(1)
            }
            Operation::Conv => right.len() / (right.shape[0] * right.shape[right.rank() - 1]),
            _ => return,
        };
        let [x, y, width] = [left, right, ty].map(|ty| Format::of(ty).bits);
        let width = if let Operation::WideProduct { .. } = operation { x + y } else { width };
        // Bit i by bit j, of those that count modulo 2^width; of squares each pair is one.
        let pairs: usize = (0..x.min(width)).map(|i| y.min(width - i)).sum();
        let elementwise = matches!(operation, Operation::Mul | Operation::WideProduct { matrix: false, .. });
        let squares = elementwise && operands[0] == operands[1];
        let each = if squares { pairs / 2 } else { pairs };
        let ands = (ty.len() as u64).saturating_mul(terms as u64).saturating_mul(each as u64);
        let limit = self.capabilities.product_ands;
        if ands > limit {
            self.refuse(|operation| Fault::TooManyAnds { operation, ands, limit });
        }
    }
}
