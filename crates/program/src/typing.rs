//! The type of a node, from its operation and the types of its operands.
//!
//! Every node of every program passes through [`infer`], whether a front end builds it or a file holds it.

use crate::error::Fault;
use crate::operations::Operation;
use crate::shape;
use crate::types::Type;

/// The type of what an operation makes. Inputs and constants declare theirs and don't come here.
pub(crate) fn infer(operation: &Operation, operands: &[&Type]) -> Result<Type, Fault> {
    let entry = operation.entry();
    let (kind, shape, range) = entry.infer(operands)?;
    shape::check(&shape)?;
    let secret = entry.secret || operands.iter().any(|operand| operand.secret);
    settle(entry.name, Type { kind, shape, range, secret })
}

/// The range of a modular result is all of its ring; that of any other has to fit in 64 bits.
fn settle(operation: &'static str, ty: Type) -> Result<Type, Fault> {
    let Type { kind, range, .. } = ty;
    if !kind.is_ranged() {
        return Ok(Type { range: kind.whole(), ..ty });
    }
    if kind.frac() > 64 {
        return Err(Fault::Fraction { frac: kind.frac() });
    }
    if kind.whole().covers(range) {
        Ok(ty)
    } else {
        Err(Fault::Overflow { operation, range, frac: kind.frac() })
    }
}
