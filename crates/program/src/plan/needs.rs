//! What steps and operations need of a protocol.

use super::steps::{Local, OpKind, Opening, Operand};
use crate::capabilities::{Feature, Features};

/// What a local step needs beyond its registers.
pub(super) const fn of_step(step: &Local) -> Features {
    match step {
        Local::BitComponent { .. } | Local::ShiftComponents { .. } => {
            Features::NONE.with(Feature::ComponentSteps)
        }
        Local::Gather { .. } => Features::NONE.with(Feature::Gather),
        Local::Insertion(_) => Features::NONE.with(Feature::Insertion),
        _ => Features::NONE,
    }
}

/// What an operation needs beyond its registers.
pub(super) fn of_operation(kind: &OpKind) -> Features {
    let feature = match kind {
        OpKind::And { .. } => Feature::And,
        OpKind::Mul { .. } => Feature::Mul,
        OpKind::MatMul { .. } => Feature::MatMul,
        OpKind::Split { .. } => Feature::Split,
        OpKind::Inject { .. } => Feature::Inject,
        OpKind::Shift { .. } => Feature::Shift,
        OpKind::Msb { .. } => Feature::Msb,
        OpKind::Random { .. } => Feature::Random,
        OpKind::PairMask { .. } | OpKind::Compose { .. } => Feature::Compose,
        OpKind::Shuffle { .. } => Feature::Shuffle,
        OpKind::Open { how: Opening::Masked, .. } => Feature::MaskedOpening,
        OpKind::Open { how: Opening::Verified, .. } => Feature::VerifiedOpening,
        OpKind::Circuit { inputs, .. } => {
            let by_component = |input: &Operand| matches!(input, Operand::Component { .. });
            let all = Features::NONE.with(Feature::Circuit);
            return if inputs.iter().any(by_component) { all.with(Feature::ComponentOperands) } else { all };
        }
    };
    Features::NONE.with(feature)
}
