//! What a plan has to prove before each of its checks: those before verified openings, and the one before outputs.

use crate::verify::{Counts, Cut, Limits, noted};
use std::collections::HashMap;
use tacit_circuit::Layer;
use tacit_engine::Job;
use tacit_engine::layer::pieces;
use tacit_program::plan::{OpKind, Plan, Stage};

/// What is proved from one check to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) counts: Counts,
    /// The elements of each batch of products.
    pub(crate) batches: Vec<usize>,
}

/// Of each check of a plan, in their order.
pub(crate) fn segments(plan: &Plan, limits: Limits) -> Vec<Segment> {
    let (mut all, mut counts, mut cut) = (Vec::new(), Counts::default(), Cut::new(limits));
    // Of a stage as it is written: all turns of a section have as many.
    let mut words: HashMap<Stage, u64> = HashMap::new();
    for visit in plan.visits() {
        if plan.opens_verified(visit.level) {
            let ended = std::mem::replace(&mut cut, Cut::new(limits));
            all.push(Segment { counts: std::mem::take(&mut counts), batches: ended.end() });
        }
        for (written, stage) in visit.level.stages.iter().zip(visit.stages()) {
            counts.words += *words.entry(*written).or_insert_with(|| words_of(plan, stage));
            let jobs = tacit_engine::jobs(plan, stage.op, stage.stage.into());
            for (operation, _) in jobs.flat_map(|job| noted(plan, &job)) {
                counts = counts.and(operation.counts());
                cut.add(&operation);
            }
        }
    }
    all.push(Segment { counts, batches: cut.end() });
    all
}

/// Words of ANDs that a party notes of a stage: those of every message begin a word.
fn words_of(plan: &Plan, stage: Stage) -> u64 {
    let of = |job: Job| match &plan.op(stage.op).kind {
        OpKind::Circuit { circuit, .. } => {
            circuit.layers.iter().map(|layer| words_of_layer(layer, &job)).sum()
        }
        OpKind::And { dst, .. } => (dst.count as usize * job.cols.len()).div_ceil(64) as u64,
        _ => 0,
    };
    tacit_engine::jobs(plan, stage.op, stage.stage.into()).map(of).sum()
}

/// Words in which the ANDs of a layer of a tile are noted for the proofs.
fn words_of_layer(layer: &Layer, job: &Job) -> u64 {
    pieces(layer, job).map(|(_, ands)| (ands.len() * job.cols.len()).div_ceil(64) as u64).sum()
}
