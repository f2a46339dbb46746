//! The inputs of a plan that have to be shown to be in their ranges: numbers that are given bit by bit ([`Digits`]).

use crate::planted::{Mistake, planted};
pub(crate) use tacit_client::digits::Digits;
use tacit_program::plan::{InputOp, Plan};

/// All of them, with their digits.
pub(crate) fn ranged(plan: &Plan) -> Vec<(u32, Digits)> {
    let digits = |(index, input)| Some((index, digits_of(plan, input)?));
    (0..).zip(&plan.inputs).filter_map(digits).collect()
}

/// Those of an input, if it has to be shown to be in its range.
pub(crate) fn digits_of(plan: &Plan, input: &InputOp) -> Option<Digits> {
    plan.proved_range(input).filter(|_| !planted(Mistake::RangesUnproved)).map(Digits::of)
}
