//! What every operation sends, message by message. The conformance suite holds it against the links' counters.

use crate::compose::{Third, thirds};
use crate::openings::DIGEST_BYTES;
use crate::scheme::{SCHEME, held_streams};
use crate::zero_sharing::ZeroSharing;
use tacit_engine::Participants;
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::{Components, InputOp, Op, OpKind, Plan, Reg, Register};
use tacit_threeparty::cost::{SEED_BITS, bits_of, result_bits};
use tacit_threeparty::{PARTIES, Scheme, next, prev};

/// What a step of a run sends; the scheme says whether outputs are confirmed.
pub(crate) fn price(
    scheme: &Scheme,
    zero_sharing: ZeroSharing,
    plan: &Plan,
    participants: &Participants,
    step: Step<'_>,
) -> Vec<(Phase, Flow)> {
    let (phase, flows) = match step {
        Step::Stage { op, stage } => (Phase::Online, operation(scheme, plan, op, stage, zero_sharing)),
        Step::Seeds { client } => (Phase::Input, seeds(client)),
        Step::Input(given) => (Phase::Input, input(plan, participants, given)),
        Step::Output(output) => (Phase::Output, scheme.output_flows(plan, participants, output)),
    };
    in_phase(phase, flows).collect()
}

fn operation(scheme: &Scheme, plan: &Plan, op: &Op, stage: u32, zero_sharing: ZeroSharing) -> Vec<Flow> {
    let kind = &op.kind;
    let bits = result_bits(plan, kind, stage);
    match kind {
        // An element or a bit of each from everybody who has a part to the next.
        OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. } | OpKind::Circuit { .. } => {
            product(bits, op.parts(), zero_sharing)
        }
        // Only P_1 has a number to share bit by bit.
        OpKind::Split { .. } => vec![Flow { from: 1, to: 0, bits }],
        OpKind::Inject { .. } => select(bits, 1, stage),
        OpKind::Shift { .. } => select(bits, 2, stage),
        OpKind::PairMask { .. } => vec![],
        OpKind::Compose { dst, .. } => composed(plan, *dst, stage),
        OpKind::Shuffle { cols, .. } => {
            cols.iter().flat_map(|&reg| shuffled(bits_of(plan, reg), stage as usize)).collect()
        }
        // The component that a party lacks.
        OpKind::Open { .. } => {
            let mut flows: Vec<Flow> = (0..PARTIES).map(|from| Flow { from, to: prev(from), bits }).collect();
            if scheme.confirmed && bits > 0 {
                let digest = |from| Flow { from, to: next(from), bits: 8 * DIGEST_BYTES as u64 };
                flows.extend((0..PARTIES).map(digest));
            }
            flows
        }
        OpKind::Msb { .. } | OpKind::Random { .. } => unreachable!("the protocol doesn't offer it"),
    }
}

/// A product of a number of P_1's with a bit of P_2's and P_0's: `given` elements from P_1, then one each way
/// between the other two.
fn select(bits: u64, given: u64, stage: u32) -> Vec<Flow> {
    match stage {
        0 => vec![Flow { from: 1, to: 0, bits: given * bits }, Flow { from: 2, to: 0, bits }],
        _ => vec![Flow { from: 0, to: 2, bits }],
    }
}

/// A part of each element, to and fro between the two parties that know a turn's order.
fn shuffled(bits: u64, turn: usize) -> [Flow; 2] {
    let (from, to) = (turn, next(turn));
    [Flow { from, to, bits }, Flow { from: to, to: from, bits }]
}

/// A number for each of a third, from one of the two that know its mask to the party that doesn't, and then back.
fn composed(plan: &Plan, dst: Reg, stage: u32) -> Vec<Flow> {
    let Register { domain, cols, .. } = plan.register(dst);
    let flow = |third: Third| {
        let (from, to) = (third.masked(), third.shown());
        let (from, to) = if stage == 0 { (from, to) } else { (to, from) };
        Flow { from, to, bits: third.cols.len() as u64 * domain.bits() }
    };
    thirds(0..cols, cols).map(flow).collect()
}

fn input(plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
    let (bits, from) = (bits_of(plan, input.reg), participants.endpoint(input.owner));
    let to = |to| Flow { from, to, bits };
    if from < PARTIES { vec![to(prev(from))] } else { SCHEME.holders(SCHEME.masked).map(to).to_vec() }
}

fn seeds(client: usize) -> Vec<Flow> {
    let seeds = |to| held_streams(to).count() as u64;
    (0..PARTIES).map(|to| Flow { from: client, to, bits: seeds(to) * SEED_BITS }).collect()
}

/// From everybody to the previous party and to the next.
pub(crate) fn to_both(back: u64, forth: u64) -> Vec<Flow> {
    (0..PARTIES)
        .flat_map(|from| {
            [Flow { from, to: prev(from), bits: back }, Flow { from, to: next(from), bits: forth }]
        })
        .collect()
}

/// A bit or an element from everybody who has a part of it to the next. Where masks don't come from streams everybody has, and
/// sends a mask to the one before.
fn product(bits: u64, parts: Components, zero_sharing: ZeroSharing) -> Vec<Flow> {
    let forth = (0..PARTIES).map(|from| Flow { from, to: next(from), bits });
    match zero_sharing {
        ZeroSharing::Computational => forth.filter(|flow| parts.has(flow.from)).collect(),
        ZeroSharing::InformationTheoretic => {
            forth.chain((0..PARTIES).map(|from| Flow { from, to: prev(from), bits })).collect()
        }
    }
}
