//! What every operation sends, message by message.

use tacit_engine::executor::output_groups;
use tacit_engine::{Checks, Participants};
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::{InputOp, OpKind, OutputOp, Plan, Reg};

use super::dealer::SEED_BYTES;
use super::{FIRST, macs};

/// Bits of a count of draws.
const COUNT_BITS: u64 = 64;

pub(super) fn price(
    plan: &Plan,
    participants: &Participants,
    authenticated: bool,
    step: Step<'_>,
) -> Vec<(Phase, Flow)> {
    let (phase, flows) = match step {
        Step::Seeds { .. } => return Vec::new(),
        Step::Input(step) if authenticated => (Phase::Input, masked_input(plan, participants, step)),
        Step::Input(step) => (Phase::Input, input(plan, participants, step)),
        Step::Stage { op, stage } => {
            (Phase::Online, operation(plan, &op.kind, stage, participants.parties()))
        }
        Step::Output(step) if authenticated => (Phase::Output, checked_output(plan, participants, step)),
        Step::Output(step) => (Phase::Output, output(plan, participants, step)),
    };
    in_phase(phase, flows).collect()
}

/// Two masked operands, or what is opened, from all to all.
fn operation(plan: &Plan, kind: &OpKind, stage: u32, parties: usize) -> Vec<Flow> {
    let bits = |reg: Reg| plan.register(reg).len() as u64 * plan.register(reg).domain.bits();
    let masked = match kind {
        OpKind::And { dst, .. } => 2 * u64::from(dst.count) * plan.register(dst.reg).cols as u64,
        OpKind::Mul { dst, .. } => 2 * bits(*dst),
        OpKind::MatMul { a, b, .. } => bits(*a) + bits(*b),
        OpKind::Circuit { circuit, .. } => {
            2 * circuit.layers[stage as usize].ands.len() as u64 * kind.extent(plan) as u64
        }
        OpKind::Open { dst, .. } => bits(*dst),
        OpKind::Random { .. } => return Vec::new(),
        OpKind::Split { .. }
        | OpKind::Inject { .. }
        | OpKind::Shift { .. }
        | OpKind::Msb { .. }
        | OpKind::Shuffle { .. } => {
            unreachable!("plans ask for what the protocol offers")
        }
    };
    to_all(masked, parties)
}

fn input(plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
    let register = plan.register(input.reg);
    let from = participants.endpoint(input.owner);
    if from < participants.parties() {
        return Vec::new();
    }
    vec![Flow { from, to: FIRST, bits: register.len() as u64 * register.domain.bits() }]
}

/// What is left of it under a mask, to all; from all before, a client's mask with its proof.
fn masked_input(plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
    let register = plan.register(input.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let (owner, parties) = (participants.endpoint(input.owner), 0..participants.parties());
    let is_client = owner >= participants.parties();
    let masks = parties.clone().filter(|_| is_client).map(|from| Flow { from, to: owner, bits: 3 * bits });
    let told = parties.filter(|&to| to != owner).map(|to| Flow { from: owner, to, bits });
    masks.chain(told).collect()
}

/// What is opened to all, and what clients are told of it by each; of an output for one alone with its mask and the proof.
fn checked_output(plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
    let register = plan.register(output.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let parties = participants.parties();
    let vectors = if super::single(participants, output).is_some() { 4 } else { 1 };
    let to_client =
        |to: usize| (0..parties).map(move |from| Flow { from, to, bits: vectors * bits }).collect::<Vec<_>>();
    let told = participants.clients_that_learn(output.to).flat_map(to_client);
    to_all(bits, parties).into_iter().chain(told).collect()
}

fn output(plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
    let register = plan.register(output.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let parties = participants.parties();
    let learners = (0..parties).filter(|&to| participants.learns(to, output.to));
    let learners = learners.chain(participants.clients_that_learn(output.to));
    let to_one = |to| (0..parties).filter(move |&from| from != to).map(move |from| Flow { from, to, bits });
    learners.flat_map(to_one).collect()
}

/// Receipts of seeds before all else; counts of draws at the end, or all checks of MACs.
pub(super) fn checks(plan: &Plan, parties: usize, authenticated: bool) -> Checks {
    let mut checks = Checks::default();
    let receipt = |from| Flow { from, to: FIRST, bits: 8 * SEED_BYTES as u64 };
    let others = (0..parties).filter(|&party| party != FIRST);
    checks.round(Phase::Offline, others.map(receipt).collect());
    if authenticated {
        let times = plan.checks() + output_groups(plan).len() as u64;
        checks.extend(macs::cost(parties, times));
    } else {
        checks.round(Phase::Verify, to_all(COUNT_BITS, parties));
    }
    checks
}

pub(super) fn to_all(bits: u64, parties: usize) -> Vec<Flow> {
    let to_others = |from| (0..parties).filter(move |&to| to != from).map(move |to| Flow { from, to, bits });
    (0..parties).flat_map(to_others).collect()
}
