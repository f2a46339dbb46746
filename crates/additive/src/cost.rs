//! What every operation sends, message by message.

use crate::demand::{products, scalings_opened, single};
use crate::ranges::{digits_of, ranged};
use crate::share::FIRST;
use tacit_engine::Participants;
use tacit_program::Feature;
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::{Domain, InputOp, OpKind, OutputOp, Plan, Reg};

/// Bits of a count of draws.
pub(crate) const COUNT_BITS: u64 = 64;

/// Bits of a hash.
pub(crate) const HASH_BITS: u64 = 256;

pub(crate) fn price(
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
        OpKind::MatMul { shape, dst, .. } => 2 * products(*shape) as u64 * plan.register(*dst).domain.bits(),
        OpKind::Circuit { circuit, .. } if plan.needs.has(Feature::ZeroedArms) => {
            scalings_opened(&circuit.layers[stage as usize]) as u64
        }
        OpKind::Circuit { circuit, .. } => {
            2 * circuit.layers[stage as usize].ands.len() as u64 * kind.extent(plan) as u64
        }
        OpKind::Open { dst, .. } => bits(*dst),
        OpKind::Random { .. } => return Vec::new(),
        OpKind::Split { .. }
        | OpKind::Inject { .. }
        | OpKind::Shift { .. }
        | OpKind::Msb { .. }
        | OpKind::PairMask { .. }
        | OpKind::Compose { .. }
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

/// What is left of it under a mask, to all; from all before, a client's mask with its proof. Of numbers in ranges it is their
/// bits, and there is more that a client has to know.
fn masked_input(plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
    let register = plan.register(input.reg);
    let digits = digits_of(plan, input);
    let (count, told, vectors) = match &digits {
        None => (register.cols, register.domain.bits(), 3),
        Some(digits) => (digits.count() * register.cols, Domain::Bits.bits(), 4),
    };
    let (owner, parties) = (participants.endpoint(input.owner), 0..participants.parties());
    let is_client = owner >= participants.parties();
    let masks = vectors * count as u64 * register.domain.bits();
    let masks = parties.clone().filter(|_| is_client).map(|from| Flow { from, to: owner, bits: masks });
    let told =
        parties.filter(|&to| to != owner).map(|to| Flow { from: owner, to, bits: count as u64 * told });
    masks.chain(told).collect()
}

/// What hides the bits of numbers in ranges, to all: elements.
pub(crate) fn bit_masks(plan: &Plan, parties: usize) -> Vec<Flow> {
    let bits = ranged(plan).into_iter().map(|(input, digits)| {
        let register = plan.register(plan.inputs[input as usize].reg);
        (digits.count() * register.cols) as u64 * register.domain.bits()
    });
    to_all(bits.sum(), parties)
}

/// What is opened to all, and what clients are told of it by each; of an output for one alone with its mask and the proof.
fn checked_output(plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
    let register = plan.register(output.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let parties = participants.parties();
    let vectors = if single(participants, output).is_some() { 4 } else { 1 };
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

/// As many bits from all to all.
pub(crate) fn to_all(bits: u64, parties: usize) -> Vec<Flow> {
    let to_others = |from| (0..parties).filter(move |&to| to != from).map(move |to| Flow { from, to, bits });
    (0..parties).flat_map(to_others).collect()
}
