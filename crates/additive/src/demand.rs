//! What a plan draws from the dealer, and where an operation's draws lie.
//!
//! All arms of a branch open masked operands of their own, so none share what masks them ([`Arms::Apart`]).

use std::ops::Range;

use tacit_circuit::{Layer, Layered};
use tacit_engine::bank::row_words;
use tacit_engine::layer::first_block;
use tacit_engine::supply::{Arms, Demand, Drawer, SupplyKind};
use tacit_engine::{Job, Participants};
use tacit_program::plan::{Domain, MatrixShape, OpKind, Plan, Register};

use super::single;

/// What a plan draws; with MACs, inputs and outputs for one recipient do so too.
pub(super) fn demand(plan: &Plan, participants: &Participants, authenticated: bool) -> Demand {
    Demand::of(plan, Arms::Apart, |drawer| match drawer {
        Drawer::Op(op) => operation(plan, &plan.op(op).kind).into_iter().collect(),
        Drawer::Input(input) if authenticated => {
            let input = &plan.inputs[input as usize];
            vec![mask(participants.endpoint(input.owner), participants, plan.register(input.reg))]
        }
        Drawer::Output(output) if authenticated => {
            let output = &plan.outputs[output as usize];
            let learner = single(participants, output);
            learner
                .map(|learner| mask(learner, participants, plan.register(output.reg)))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    })
}

fn operation(plan: &Plan, kind: &OpKind) -> Option<(SupplyKind, u64)> {
    let words = || row_words(kind.extent(plan)) as u64;
    Some(match kind {
        OpKind::And { dst, .. } => (BITS, u64::from(dst.count) * words()),
        OpKind::Circuit { circuit, .. } => (BITS, circuit.ands() * words()),
        OpKind::Mul { dst, .. } => {
            (SupplyKind::Triple(plan.register(*dst).domain), items(plan.register(*dst)))
        }
        OpKind::MatMul { shape, dst, .. } => {
            (matrices(plan.register(*dst).domain, *shape), shape.batch as u64)
        }
        OpKind::Random { dst, bits } => {
            (random(plan.register(*dst).domain, *bits), items(plan.register(*dst)))
        }
        _ => return None,
    })
}

/// What hides an input of an endpoint, or an output to it: a mask that a party knows, or of a client's a triple.
pub(super) fn mask(owner: usize, participants: &Participants, shape: Register) -> (SupplyKind, u64) {
    let domain = shape.domain;
    let kind = match u16::try_from(owner) {
        Ok(owner) if usize::from(owner) < participants.parties() => SupplyKind::InputMask { domain, owner },
        _ => SupplyKind::Triple(domain),
    };
    (kind, items(shape))
}

/// Triples for ANDs, 64 side by side.
pub(super) const BITS: SupplyKind = SupplyKind::Triple(Domain::Bits);

/// Elements that nobody knows, or such bits.
pub(super) const fn random(domain: Domain, bits: bool) -> SupplyKind {
    if bits { SupplyKind::RandomBit(domain) } else { SupplyKind::RandomElement(domain) }
}

/// Triples for a product of matrices.
///
/// # Panics
/// If they have more than 65,535 rows or columns: test programs have fewer.
pub(super) fn matrices(domain: Domain, MatrixShape { m, k, n, .. }: MatrixShape) -> SupplyKind {
    let [m, k, n] = [m, k, n].map(|size| u16::try_from(size).expect("the test kit's matrices are small"));
    SupplyKind::MatrixTriple { domain, m, k, n }
}

/// Items that a row of elements takes.
pub(super) fn items(shape: Register) -> u64 {
    columns(shape.domain, 0..shape.cols).end
}

/// The items of some columns of a row, which begin at a whole word.
pub(super) fn columns(domain: Domain, cols: Range<usize>) -> Range<u64> {
    match domain {
        Domain::Bits => {
            let first = cols.start as u64 / 64;
            first..first + row_words(cols.len()) as u64
        }
        _ => cols.start as u64..cols.end as u64,
    }
}

/// The items of a job's columns of so many rows of bits: the jobs before it have as many rows of theirs.
pub(super) fn rows(job: &Job, count: usize) -> Range<u64> {
    let first = (count * job.cols.start / 64) as u64;
    first..first + (count * row_words(job.cols.len())) as u64
}

/// The items of some ANDs of a circuit's layer.
pub(super) fn ands(job: &Job, circuit: &Layered, layer: &Layer, ands: Range<usize>) -> Range<u64> {
    // Blocks are of two words.
    let first = 2 * first_block(job, circuit, layer, ands.start);
    first..first + (ands.len() * row_words(job.cols.len())) as u64
}
