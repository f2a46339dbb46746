//! What every operation sends, message by message. The conformance suite holds it against the links' counters.

use crate::verified::DIGEST_BITS;
use crate::{PARTIES, ZeroSharing, next, prev};
use tacit_engine::{Checks, Participants};
use tacit_program::cost::{Flow, Phase};
use tacit_program::plan::{InputOp, OpKind, OutputOp, Plan, Reg};

/// Bits of a seed.
const SEED_BITS: u64 = 128;

/// Bits of a count of draws.
const COUNT_BITS: u64 = 64;

pub(crate) fn operation(plan: &Plan, kind: &OpKind, stage: u32, zero_sharing: ZeroSharing) -> Vec<Flow> {
    let bits = |reg: Reg| plan.register(reg).len() as u64 * plan.register(reg).domain.bits();
    match kind {
        OpKind::And { dst, .. } => {
            product(u64::from(dst.count) * plan.register(dst.reg).cols as u64, zero_sharing)
        }
        OpKind::Mul { dst, .. } | OpKind::MatMul { dst, .. } => product(bits(*dst), zero_sharing),
        // Only P_1 has a number to share bit by bit.
        OpKind::Split { s, bits, .. } => {
            vec![Flow { from: 1, to: 0, bits: u64::from(*bits) * plan.register(*s).cols as u64 }]
        }
        // A bit of every AND of a layer from everybody to the next.
        OpKind::Circuit { circuit, .. } => {
            let ands = circuit.layers[stage as usize].ands.len() as u64;
            product(ands * kind.extent(plan) as u64, zero_sharing)
        }
        OpKind::Inject { dst, .. } => select(bits(*dst), 1, stage),
        OpKind::Shift { dst, .. } => select(bits(*dst), 2, stage),
        OpKind::Msb { .. } => unreachable!("lowering takes signs by circuits here"),
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

pub(crate) fn input(plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
    let register = plan.register(input.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let from = participants.endpoint(input.owner);
    if from < PARTIES {
        vec![Flow { from, to: prev(from), bits }]
    } else {
        vec![Flow { from, to: 2, bits }, Flow { from, to: 0, bits }]
    }
}

pub(crate) fn seeds(client: usize) -> Vec<Flow> {
    [(0, 1), (1, 2), (2, 1)].map(|(to, seeds)| Flow { from: client, to, bits: seeds * SEED_BITS }).to_vec()
}

pub(crate) fn output(plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
    let register = plan.register(output.reg);
    let bits = register.len() as u64 * register.domain.bits();
    let parties = (0..PARTIES).filter(|&to| participants.learns(to, output.to));
    let clients = participants.clients_that_learn(output.to);
    parties
        .map(|to| Flow { from: prev(to), to, bits })
        .chain(clients.flat_map(|to| (0..PARTIES).map(move |from| Flow { from, to, bits })))
        .collect()
}

/// What confirms an output: a digest from the next party's other neighbour; for clients from every party, and with it
/// its acceptance.
pub(crate) fn output_digests(participants: &Participants, output: &OutputOp) -> Vec<Flow> {
    let parties = (0..PARTIES).filter(|&to| participants.learns(to, output.to));
    let clients = participants.clients_that_learn(output.to);
    parties
        .map(|to| Flow { from: next(to), to, bits: DIGEST_BITS })
        .chain(clients.flat_map(|to| (0..PARTIES).map(move |from| Flow { from, to, bits: 2 * DIGEST_BITS })))
        .collect()
}

pub(crate) fn checks() -> Checks {
    let mut checks = Checks::default();
    checks.round(Phase::Verify, to_both(COUNT_BITS, COUNT_BITS));
    checks
}

/// From everybody to the previous party and to the next.
pub(crate) fn to_both(back: u64, forth: u64) -> Vec<Flow> {
    (0..PARTIES)
        .flat_map(|from| {
            [Flow { from, to: prev(from), bits: back }, Flow { from, to: next(from), bits: forth }]
        })
        .collect()
}

/// A bit or an element from everybody to the next; a mask to the one before, where it doesn't come from a stream.
fn product(bits: u64, zero_sharing: ZeroSharing) -> Vec<Flow> {
    let forth = (0..PARTIES).map(|from| Flow { from, to: next(from), bits });
    match zero_sharing {
        ZeroSharing::Computational => forth.collect(),
        ZeroSharing::InformationTheoretic => {
            forth.chain((0..PARTIES).map(|from| Flow { from, to: prev(from), bits })).collect()
        }
    }
}
