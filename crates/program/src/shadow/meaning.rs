//! What each operation means: exact fractions of its operands' values, and the one rounding that it documents.
//!
//! Nothing here is shared with the reference or with what plans are made by: neither raw values nor their fraction
//! bits, shifts, limbs or widths.

use num_bigint::BigInt;
use num_integer::Integer;

use crate::operations::Rounding;
use crate::operations::{Operation, Tensor};
use crate::ratio::saturated;
use crate::rational::Rational;
use crate::types::{Dtype, Type};

/// A node's elements, as a program has them: the raw values of what the operation means, rounded as it documents.
pub(super) fn apply(operation: &Operation, operands: &[(&Type, &[i128])], ty: &Type) -> Vec<i128> {
    let exact = |&(ty, raw): &(&Type, &[i128])| -> Vec<Rational> {
        raw.iter().map(|&raw| number(ty.kind, raw)).collect()
    };
    let numbers: Vec<Vec<Rational>> = operands.iter().map(exact).collect();
    let tensors = operands.iter().zip(&numbers).map(|((ty, _), data)| Tensor { shape: &ty.shape, data });
    let entry = operation.entry();
    let step = Rational::binary(1.into(), -i32::from(ty.kind.frac()));
    let half = Rational::binary(1.into(), -1);
    let raw = |number: Rational| {
        let steps = number.div(&step);
        match entry.rounding {
            Some(Rounding::Nearest) => saturated(&steps.add(&half).floor()),
            Some(Rounding::Floor) => saturated(&steps.floor()),
            None => {
                let whole = steps.floor();
                debug_assert!(steps.sub(&Rational::whole(whole.clone())).is_zero(), "{operation:?} is exact");
                reduced(ty.kind, &whole)
            }
        }
    };
    entry.exact(&tensors.collect::<Vec<_>>(), ty).into_iter().map(raw).collect()
}

/// The number that a raw value stands for.
fn number(kind: Dtype, raw: i128) -> Rational {
    match kind {
        Dtype::Modular(_) => Rational::whole((raw as u128).into()),
        _ => Rational::binary(raw.into(), -i32::from(kind.frac())),
    }
}

/// An integer as a raw value.
fn reduced(kind: Dtype, whole: &BigInt) -> i128 {
    match kind {
        Dtype::Modular(modulus) => {
            let rest = whole.mod_floor(&(BigInt::from(modulus.last()) + 1));
            u128::try_from(rest).unwrap_or_default() as i128
        }
        Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => saturated(whole),
    }
}
