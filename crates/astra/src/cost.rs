//! What every operation sends, message by message. The conformance suite holds it against the links' counters.

use crate::seats::Seats;
use crate::{PARTIES, signs};
use tacit_engine::{Checks, Roles};
use tacit_program::cost::{Flow, Phase};
use tacit_program::plan::{InputOp, Kind, OutputOp, Plan, Reg};

/// Bits of a seed.
const SEED_BITS: u64 = 128;

/// Bits of a count of draws.
const COUNT_BITS: u64 = 64;

/// From a role to a role.
fn flow(seats: Seats, from: usize, to: usize, bits: u64) -> Flow {
    Flow { from: seats.party(from), to: seats.party(to), bits }
}

/// Whether a stage has messages online: bits of masks are shared ahead of time, and what takes bits back to numbers is
/// done in one round.
pub(crate) fn speaks(kind: &Kind, stage: u32) -> bool {
    match kind {
        Kind::Split { .. } => false,
        Kind::Inject { .. } | Kind::Shift { .. } => stage == 0,
        _ => true,
    }
}

/// Bits of the results of a stage; not of a sign, which is garbled.
fn result_bits(plan: &Plan, kind: &Kind, stage: u32) -> u64 {
    let bits = |reg: Reg| plan.register(reg).len() as u64 * plan.register(reg).domain.bits();
    match kind {
        Kind::And { dst, .. } => u64::from(dst.count) * plan.register(dst.reg).cols as u64,
        Kind::Circuit { circuit, .. } => {
            circuit.layers[stage as usize].ands.len() as u64 * kind.extent(plan) as u64
        }
        Kind::Split { s, bits, .. } => u64::from(*bits) * plan.register(*s).cols as u64,
        Kind::Inject { .. } | Kind::Shift { .. } if stage > 0 => 0,
        kind => bits(kind.writes()[0]),
    }
}

/// An element of every product from `P_0` to `P_2` (figure 3); of a shift two, of a number that is split its bits, of a sign
/// a garbled circuit.
pub(crate) fn offline(seats: Seats, plan: &Plan, kind: &Kind, stage: u32) -> Vec<Flow> {
    if let Kind::Sign { a, .. } = kind {
        let bits = if stage == 0 { signs::garbled_bits(plan, *a) } else { 0 };
        return vec![flow(seats, 0, 2, bits)];
    }
    let numbers = if matches!(kind, Kind::Shift { .. }) { 2 } else { 1 };
    vec![flow(seats, 0, 2, numbers * result_bits(plan, kind, stage))]
}

/// An element of every product from `P_1` and `P_2` to each other (figures 3 and 11); of a sign labels, and then a bit back.
pub(crate) fn operation(seats: Seats, plan: &Plan, kind: &Kind, stage: u32) -> Vec<Flow> {
    if !speaks(kind, stage) {
        return Vec::new();
    }
    if let Kind::Sign { a, dst } = kind {
        return match stage {
            0 => vec![flow(seats, 1, 2, signs::label_bits(plan, *a))],
            _ => vec![flow(seats, 2, 1, plan.register(*dst).cols as u64)],
        };
    }
    let bits = result_bits(plan, kind, stage);
    vec![flow(seats, 1, 2, bits), flow(seats, 2, 1, bits)]
}

/// The masked value, to whoever of `P_1` and `P_2` doesn't own it (figure 1).
pub(crate) fn input(seats: Seats, plan: &Plan, roles: &Roles, input: &InputOp) -> Vec<Flow> {
    let register = plan.register(input.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let from = roles.endpoint(input.owner);
    let evaluators = [1, 2].map(|role| seats.party(role)).into_iter();
    evaluators.filter(|&to| to != from).map(|to| Flow { from, to, bits }).collect()
}

/// The seeds of its masks, to a client.
pub(crate) fn seeds(seats: Seats, client: usize) -> Vec<Flow> {
    [1, 2].map(|role| Flow { from: seats.party(role), to: client, bits: SEED_BITS }).to_vec()
}

/// The component that a party lacks; a client gets two parts of a sum.
pub(crate) fn output(seats: Seats, plan: &Plan, roles: &Roles, output: &OutputOp) -> Vec<Flow> {
    let register = plan.register(output.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let missing = [(1, 0), (2, 1), (1, 2)].map(|(from, to)| flow(seats, from, to, bits)).into_iter();
    let clients = roles.clients_that_learn(output.to);
    missing
        .filter(|flow| roles.learns(flow.to, output.to))
        .chain(clients.flat_map(|to| [1, 2].map(|role| Flow { from: seats.party(role), to, bits })))
        .collect()
}

pub(crate) fn checks(plan: &Plan, roles: &Roles) -> Checks {
    let mut checks = Checks::default();
    let pairs = (0..PARTIES).flat_map(|from| (0..PARTIES).map(move |to| (from, to)));
    let counts = pairs.filter(|(from, to)| from != to).map(|(from, to)| Flow { from, to, bits: COUNT_BITS });
    checks.round(Phase::Verify, counts.collect());
    if roles.clients().iter().any(|&client| roles.gives(plan, client)) {
        // Seeds go to clients before anything comes from them.
        checks.round(Phase::Input, Vec::new());
    }
    checks
}
