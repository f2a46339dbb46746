//! What a run shows corrupt parties, bit by bit.

use std::collections::BTreeMap;

use tacit_engine::Security;
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Domain, OpKind};
use tacit_session::step;

use super::Leak;
use crate::conformance::Subject;
use crate::sample::BitRow;
use crate::{Case, Delivery, Run};

/// A message of more bits is looked at where it begins and where it ends. Masks that repeat do so from the beginning
/// of a message, a tile or a block on, and few bits need few runs.
const LONG: usize = 512;

/// Bits of a long message's ends.
const ENDS: usize = 8;

/// What a run shows a corrupt party while inputs are shared and operations run.
pub(super) struct View {
    pub(super) bits: BitRow,
    /// The lowest bit of each element: in these a product of ring elements is a product of bits.
    pub(super) low: Vec<usize>,
}

impl View {
    /// Of a run in which somebody deviates what comes after the first check in the middle of it is left out: it may end
    /// there.
    pub(super) fn new(
        subject: &Subject,
        case: &Case,
        corrupt: &[usize],
        run: &Run,
        deviates: bool,
    ) -> Result<Self, Leak> {
        let unsure = if deviates { after_first_check(case) } else { Vec::new() };
        let mut view = Self { bits: BitRow::default(), low: Vec::new() };
        // Of each stage and link, the bits that are still to come.
        let mut left = BTreeMap::new();
        let verified = case.protocol.spec().security != Security::SemiHonest;
        let bare = verified && corrupt.iter().any(|&one| one < case.parties());
        for &to in corrupt {
            let last = last_share(case, corrupt, to, run);
            for delivery in run.trace.received(to) {
                let among_parties = delivery.from.max(to) < case.parties();
                if corrupt.contains(&delivery.from) && (among_parties || draws_seeds(case, delivery.from)) {
                    continue;
                }
                let contents = match last {
                    Some(_) if delivery.at.part == step::OUTPUT && bare => None,
                    Some(last) if delivery.at.part == step::OUTPUT => {
                        let counts = delivery.from != last && !corrupt.contains(&delivery.from);
                        counts.then(|| of_output(case, delivery))
                    }
                    _ => contents(case, delivery),
                };
                let Some(Contents { stage, bits, element }) = contents else { continue };
                if stage.1.is_some() && unsure.contains(&stage.0) {
                    continue;
                }
                // What all receive alike counts once.
                if subject.broadcasts && to < case.parties() && to != corrupt[0] {
                    continue;
                }
                if stage.1.is_some() && case.plan.op(stage.0).region != 0 {
                    // Arms share messages, which are whole bytes of each; unless one has the message alone.
                    let whole = 8 * delivery.payload.len();
                    let alone = bits.next_multiple_of(8) == whole;
                    view.push(delivery, if alone { bits } else { whole }, element)?;
                    continue;
                }
                let left = left.entry((stage, delivery.from, to)).or_insert(bits);
                let count = (8 * delivery.payload.len()).min(*left);
                assert_eq!(
                    delivery.payload.len(),
                    count.div_ceil(8),
                    "{} is longer than declared",
                    delivery.at
                );
                *left -= count;
                view.push(delivery, count, element)?;
            }
        }
        assert!(left.values().all(|&left| left == 0), "less came than declared");
        Ok(view)
    }

    /// Adds a message of so many bits.
    fn push(&mut self, delivery: &Delivery, count: usize, element: usize) -> Result<(), Leak> {
        let payload = &delivery.payload;
        if !padding_is_zero(payload, count) {
            return Err(Leak::Padding(delivery.at));
        }
        let seen = |bit: &usize| count <= LONG || *bit < ENDS || *bit >= count - ENDS;
        for bit in (0..count).filter(seen) {
            if bit % element == 0 {
                self.low.push(self.bits.len());
            }
            self.bits.push(payload[bit / 8] >> (bit % 8) & 1 == 1);
        }
        Ok(())
    }
}

/// Whether an endpoint is a client that draws the seeds of its inputs' masks itself.
fn draws_seeds(case: &Case, endpoint: usize) -> bool {
    endpoint >= case.parties()
        && case.price(Step::Seeds { client: endpoint }).iter().any(|(_, flow)| flow.from == endpoint)
}

/// Who sends a client the last share of its outputs, of those that aren't corrupt; `None` of a party.
fn last_share(case: &Case, corrupt: &[usize], to: usize, run: &Run) -> Option<usize> {
    let shares = run.trace.deliveries().iter().filter(|one| one.to == to && one.at.part == step::OUTPUT);
    let outside = shares.map(|one| one.from).filter(|from| !corrupt.contains(from));
    outside.max().filter(|_| to >= case.parties())
}

/// What a step sends in a phase.
fn flows(case: &Case, phase: Phase, step: Step<'_>) -> Vec<Flow> {
    let sent = case.price(step).into_iter().filter(|(of, _)| *of == phase);
    sent.map(|(_, flow)| flow).collect()
}

/// What a client's share of an output is.
fn of_output(case: &Case, delivery: &Delivery) -> Contents {
    let output = &case.plan.outputs[delivery.at.op as usize];
    let flows = flows(case, Phase::Output, Step::Output(output));
    Contents::new(delivery, (delivery.at.op, None), &flows, case.plan.register(output.reg).domain.bits())
}

/// What a message belongs to.
struct Contents {
    /// An operation and its stage; an input.
    stage: (u32, Option<u32>),
    /// How many bits the stage has on this link by the protocol's own account. They may go in several messages, all
    /// but the last of which are whole bytes.
    bits: usize,
    /// Bits of an element.
    element: usize,
}

impl Contents {
    fn new(delivery: &Delivery, stage: (u32, Option<u32>), flows: &[Flow], element: u64) -> Self {
        let of_link = |flow: &&Flow| (flow.from, flow.to) == (delivery.from, delivery.to);
        let bits = flows.iter().filter(of_link).map(|flow| flow.bits as usize).sum();
        Self { stage, bits, element: element as usize }
    }
}

/// What a message belongs to; `None` if that is no input or operation.
fn contents(case: &Case, delivery: &Delivery) -> Option<Contents> {
    let (plan, at) = (&case.plan, delivery.at);
    let (stage, flows, element) = if let Some((op, stage)) = delivery.stage(plan) {
        let op = &plan.op(op);
        let domain = match &op.kind {
            OpKind::And { .. } | OpKind::Split { .. } | OpKind::Msb { .. } | OpKind::Circuit { .. } => {
                Domain::Bits
            }
            OpKind::Mul { dst, .. }
            | OpKind::MatMul { dst, .. }
            | OpKind::Inject { dst, .. }
            | OpKind::Shift { dst, .. }
            | OpKind::Open { dst, .. }
            | OpKind::Random { dst, .. }
            | OpKind::PairMask { dst, .. }
            | OpKind::Compose { dst, .. } => plan.register(*dst).domain,
            OpKind::Shuffle { dst, .. } => plan.register(dst[0]).domain,
        };
        ((at.op, Some(stage)), flows(case, Phase::Online, Step::Stage { op, stage }), domain.bits())
    } else if at.part == step::INPUT {
        let input = &plan.inputs[at.op as usize];
        let flows = flows(case, Phase::Input, Step::Input(input));
        ((at.op, None), flows, plan.register(input.reg).domain.bits())
    } else {
        return None;
    };
    Some(Contents::new(delivery, stage, &flows, element))
}

/// Operations of the levels from the first one on before which all is checked.
fn after_first_check(case: &Case) -> Vec<u32> {
    let visits = case.plan.visits().skip_while(|visit| !case.plan.opens_verified(visit.level));
    visits.flat_map(|visit| visit.stages().collect::<Vec<_>>()).map(|stage| stage.op).collect()
}

fn padding_is_zero(payload: &[u8], bits: usize) -> bool {
    bits.is_multiple_of(8) || payload.last().is_none_or(|last| last >> (bits % 8) == 0)
}
