//! What types of operands have to be.

use crate::error::Fault;
use crate::shape;
use crate::types::{Dtype, Range, Type};

type Check = fn(&'static str, Dtype) -> Result<Dtype, Fault>;

/// The dtype of both operands, which has to be the same.
pub(super) fn common(operation: &'static str, a: &Type, b: &Type, check: Check) -> Result<Dtype, Fault> {
    check(operation, a.kind)?;
    check(operation, b.kind)?;
    if a.kind == b.kind { Ok(a.kind) } else { Err(Fault::Kinds { operation, a: a.kind, b: b.kind }) }
}

/// The dtype and the shape of what two operands of one dtype make element by element.
pub(super) fn pair(operation: &'static str, x: &[&Type], check: Check) -> Result<(Dtype, Vec<usize>), Fault> {
    let kind = common(operation, x[0], x[1], check)?;
    Ok((kind, shape::broadcast(operation, &x[0].shape, &x[1].shape)?))
}

/// Bools.
pub(super) fn bool(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind == Dtype::Bool { Ok(kind) } else { Err(Fault::NotDefined { operation, kind }) }
}

/// Anything else.
pub(super) fn number(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind == Dtype::Bool { Err(Fault::NotDefined { operation, kind }) } else { Ok(kind) }
}

/// Integers with a range.
pub(super) fn integer(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind == Dtype::Int { Ok(kind) } else { Err(Fault::NotDefined { operation, kind }) }
}

/// A dtype whose elements can be turned into bits, or are bits.
pub(super) fn with_bits(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    match kind {
        Dtype::Modular(modulus) if modulus.width().is_none() => Err(Fault::NotDefined { operation, kind }),
        _ => Ok(kind),
    }
}

/// Numbers with a range.
pub(super) fn ordered(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind.is_ranged() { Ok(kind) } else { Err(Fault::NotDefined { operation, kind }) }
}

/// The shape that is left without some axes, which have to be there, ascending.
pub(super) fn reduced(a: &Type, axes: &[usize], keepdims: bool) -> Result<Vec<usize>, Fault> {
    let rank = a.rank();
    for (place, &axis) in axes.iter().enumerate() {
        if axis >= rank {
            return Err(Fault::Axis { axis: axis as i64, rank });
        }
        if place > 0 && axes[place - 1] >= axis {
            return Err(Fault::AxisTwice { axis });
        }
    }
    Ok(shape::reduce(&a.shape, axes, keepdims))
}

/// What the difference of two operands can be, which a comparison looks at.
pub(super) fn difference(x: &[&Type]) -> Range {
    x[0].range.sub(x[1].range)
}

/// Numbers with a range, and bools.
pub(super) fn with_order(operation: &'static str, kind: Dtype) -> Result<Dtype, Fault> {
    if kind == Dtype::Bool { Ok(kind) } else { ordered(operation, kind) }
}
