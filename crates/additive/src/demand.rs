//! What a plan draws from supplies, and where an operation's draws lie.
//!
//! All arms of a branch open masked operands of their own, so none share what masks them ([`Arms::Apart`]); unless what masks
//! them is masked once more, for each arm by itself ([`crate::arms`]).

use crate::arm_masks::{MASK_WORDS, SEED_WORDS};
use crate::preprocessing::Manner;
use crate::ranges::digits_of;
use crate::vectors::row;
use std::collections::BTreeMap;
use std::ops::Range;
use tacit_circuit::{Layer, Layered};
use tacit_engine::bank::row_words;
use tacit_engine::layer::first_block;
use tacit_engine::supply::{Arms, Demand, Drawer, SupplyKind};
use tacit_engine::{Error, Job, Participants};
use tacit_program::Feature;
use tacit_program::plan::{Domain, InputOp, MatrixShape, OpKind, OutputOp, Plan, Register, To};

/// What a plan draws; with MACs, inputs and outputs for one recipient do so too.
///
/// With MACs it draws something, even if nothing is hidden: what is public is opened with a MAC, which needs a key.
/// What reads kept values has the key that they are under.
pub(crate) fn demand(plan: &Plan, participants: &Participants, manner: Manner) -> Demand {
    demand_of_arms(plan, participants, manner, &shared(plan, manner))
}

/// The same, where it is known what arms share.
pub(crate) fn demand_of_arms(
    plan: &Plan,
    participants: &Participants,
    manner: Manner,
    arms: &SharedTriples,
) -> Demand {
    let authenticated = manner.is_authenticated();
    let demand = of_plan(plan, participants, manner, arms, None);
    let field = plan.outputs.first().map(|output| plan.register(output.reg).domain);
    match field.filter(|_| authenticated && demand.is_empty() && plan.kept.is_empty()) {
        Some(field) => of_plan(plan, participants, manner, arms, Some(random(field, false))),
        None => demand,
    }
}

fn of_plan(
    plan: &Plan,
    participants: &Participants,
    manner: Manner,
    (arms, intervals): &SharedTriples,
    for_the_key: Option<SupplyKind>,
) -> Demand {
    let authenticated = manner.is_authenticated();
    let seeds = manner.preprocessing.mask_seeds(participants.parties());
    Demand::of(plan, *arms, |drawer| match drawer {
        Drawer::Op(op) => match intervals.get(&op) {
            // A plan with masks that are too long was refused.
            Some(triples) => {
                masks(triples.end - triples.start, seeds).map(|kind| (kind, 1)).into_iter().collect()
            }
            None => operation(plan, &plan.op(op).kind),
        },
        Drawer::Input(index) if authenticated => input(plan, participants, &plan.inputs[index as usize]),
        Drawer::Output(index) if authenticated => {
            let output = &plan.outputs[index as usize];
            let shape = plan.register(output.reg);
            let mask = single(participants, output).map(|learner| mask(learner, participants, shape));
            mask.into_iter().chain(for_the_key.filter(|_| index == 0).map(|kind| (kind, 1))).collect()
        }
        _ => Vec::new(),
    })
}

/// Whether arms share triples, and which those of each branch do, by what draws its masks.
pub(crate) type SharedTriples = (Arms, BTreeMap<u32, Range<u64>>);

/// What arms of a plan share.
pub(crate) fn shared(plan: &Plan, manner: Manner) -> SharedTriples {
    if manner.arms() != Arms::Shared || !plan.masks_arms() {
        return (Arms::Apart, BTreeMap::new());
    }
    let triples = Demand::of(plan, Arms::Shared, |drawer| match drawer {
        Drawer::Op(op) => operation(plan, &plan.op(op).kind),
        _ => Vec::new(),
    });
    (Arms::Shared, intervals(plan, &triples))
}

/// Words of each mask of all branches of a plan together, at most: 32 MiB, for 2^27 ANDs that arms share. While they are made at
/// full length among `n` parties, memory takes `2 n + 1` times as much, and then four times.
const MOST_WORDS: u64 = 1 << 22;

/// Masks of a branch whose arms share so many items of 64 triples: so many seeds each, or if none at full length.
///
/// # Errors
/// [`Error::Refused`] if they are longer than one item of a supply may be.
pub(crate) fn masks(triples: u64, seeds: usize) -> Result<SupplyKind, Error> {
    let words = match seeds {
        0 => triples.checked_mul(MASK_WORDS as u64),
        seeds => Some((SEED_WORDS * seeds) as u64),
    };
    let words = words.and_then(|words| u32::try_from(words).ok());
    let too_long =
        || Error::Refused(format!("arms of a branch draw {triples} items of 64 triples: too many to mask"));
    Ok(SupplyKind::Masks { words: words.ok_or_else(too_long)? })
}

/// What masks any branch among so many parties, where masks are seeds, however long its arms are.
pub(crate) fn seeds_of_branch(manner: Manner, parties: usize) -> Option<SupplyKind> {
    let seeds = manner.preprocessing.mask_seeds(parties);
    let is_masked = manner.arms() == Arms::Shared && seeds > 0;
    is_masked.then(|| masks(0, seeds).ok()).flatten()
}

/// Refuses a plan of which masks of branches would be too long: those of one, or of all together, which are made at once.
///
/// # Errors
/// [`Error::Refused`], which says how long they would be.
pub(crate) fn refuse_long_arms(plan: &Plan, parties: usize, manner: Manner) -> Result<(), Error> {
    let (_, intervals) = shared(plan, manner);
    refuse_long(intervals.values(), manner.preprocessing.mask_seeds(parties))
}

fn refuse_long<'a>(intervals: impl Iterator<Item = &'a Range<u64>>, seeds: usize) -> Result<(), Error> {
    let mut all: u64 = 0;
    for triples in intervals {
        if let SupplyKind::Masks { words } = masks(triples.end - triples.start, seeds)? {
            all = all.saturating_add(words.into());
        }
    }
    if all <= MOST_WORDS {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "masks for arms of branches take {all} words, and at most {MOST_WORDS} are made at once: arms with \
         triples of their own take none"
    )))
}

/// Which triples arms of a branch share, by what draws its masks: from the first to the last that both draw.
fn intervals(plan: &Plan, triples: &Demand) -> BTreeMap<u32, Range<u64>> {
    let mut arms: BTreeMap<u32, [Option<Range<u64>>; 2]> = BTreeMap::new();
    for op in 0..plan.op_count() {
        let Some(own) = triples.range(Drawer::Op(op), BITS) else { continue };
        for (region, swap) in plan.masked_around(plan.op(op).region) {
            // Each turn of a section has masks of its own. What stands elsewhere than they shares nothing.
            let shift = plan.shift(op);
            if plan.section_of(op - shift) != plan.section_of(swap.op) {
                continue;
            }
            let drawn_by = swap.op + shift;
            let all = &mut arms.entry(drawn_by).or_default()[usize::from(region.arm == 1)];
            let before = all.take().unwrap_or_else(|| own.clone());
            *all = Some(before.start.min(own.start)..before.end.max(own.end));
        }
    }
    let both = arms.into_iter().filter_map(|(op, arms)| {
        let [Some(one), Some(other)] = arms else { return None };
        Some((op, one.start.max(other.start)..one.end.min(other.end)))
    });
    both.filter(|(_, both)| !both.is_empty()).collect()
}

fn operation(plan: &Plan, kind: &OpKind) -> Vec<(SupplyKind, u64)> {
    let cols = kind.extent(plan);
    let drawn = match kind {
        OpKind::And { dst, .. } => (BITS, row_items(dst.count as usize, cols)),
        OpKind::Circuit { circuit, .. } if plan.needs.has(Feature::ZeroedArms) => {
            return scalings(circuit);
        }
        OpKind::Circuit { circuit, .. } => {
            (BITS, circuit.layers.iter().map(|layer| row_items(layer.ands.len(), cols)).sum())
        }
        OpKind::Mul { dst, .. } => {
            (SupplyKind::Triple(plan.register(*dst).domain), items(plan.register(*dst)))
        }
        OpKind::MatMul { shape, dst, .. } => {
            (SupplyKind::Triple(plan.register(*dst).domain), products(*shape) as u64)
        }
        OpKind::Random { dst, bits } => {
            (random(plan.register(*dst).domain, *bits), items(plan.register(*dst)))
        }
        _ => return Vec::new(),
    };
    vec![drawn]
}

/// Products of elements in a product of matrices.
pub(crate) const fn products(MatrixShape { batch, m, k, n }: MatrixShape) -> usize {
    batch * m * k * n
}

/// What hides an input: a mask for each element; or for each bit of it, where it has to be in a range, and a random bit.
pub(crate) fn input(plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<(SupplyKind, u64)> {
    let (owner, shape) = (participants.endpoint(input.owner), plan.register(input.reg));
    match digits_of(plan, input) {
        None => vec![mask(owner, participants, shape)],
        Some(digits) => {
            let bits = row(shape.domain, digits.count() * shape.cols);
            vec![mask(owner, participants, bits), (random(shape.domain, true), items(bits))]
        }
    }
}

/// What hides an input of an endpoint, or an output to it: a mask that a party knows, or of a client's a triple.
pub(crate) fn mask(owner: usize, participants: &Participants, shape: Register) -> (SupplyKind, u64) {
    let domain = shape.domain;
    let kind = match u16::try_from(owner) {
        Ok(owner) if usize::from(owner) < participants.parties() => SupplyKind::InputMask { domain, owner },
        _ => SupplyKind::Triple(domain),
    };
    (kind, items(shape))
}

/// Who alone learns an output, by endpoint.
pub(crate) fn single(participants: &Participants, output: &OutputOp) -> Option<usize> {
    match output.to {
        To::All => None,
        To::One(role) => Some(participants.endpoint(role)),
    }
}

/// Triples for ANDs, 64 side by side.
pub(crate) const BITS: SupplyKind = SupplyKind::Triple(Domain::Bits);

/// Elements that nobody knows, or such bits.
pub(crate) const fn random(domain: Domain, bits: bool) -> SupplyKind {
    if bits { SupplyKind::RandomBit(domain) } else { SupplyKind::RandomElement(domain) }
}

/// Items that a row of elements takes.
fn items(shape: Register) -> u64 {
    columns(shape.domain, 0..shape.cols).end
}

/// The items of some columns of a row, which begin at a whole word.
pub(crate) fn columns(domain: Domain, cols: Range<usize>) -> Range<u64> {
    match domain {
        Domain::Bits => {
            let first = cols.start as u64 / 64;
            first..first + row_words(cols.len()) as u64
        }
        _ => cols.start as u64..cols.end as u64,
    }
}

/// Columns of a block. Rows that are shorter draw triples for their bits alone.
const BLOCK: usize = 128;

/// Items of 64 triples that so many rows of bits draw together: short ones follow one another bit by bit, others are whole
/// blocks.
const fn row_items(count: usize, cols: usize) -> u64 {
    if cols < BLOCK { (count * cols).div_ceil(64) as u64 } else { (count * row_words(cols)) as u64 }
}

/// Whether a job's rows are short: then it has all of their columns, since jobs start at whole blocks.
pub(crate) const fn is_short(job: &Job) -> bool {
    job.cols.start == 0 && job.cols.end < BLOCK
}

/// The items of a job's columns of so many rows of bits: the jobs before it have as many rows of theirs.
pub(crate) fn rows(job: &Job, count: usize) -> Range<u64> {
    if is_short(job) {
        return 0..row_items(count, job.cols.len());
    }
    let first = (count * job.cols.start / 64) as u64;
    first..first + (count * row_words(job.cols.len())) as u64
}

/// The items of some ANDs of a job's layer of a circuit. Of short rows each layer has whole items, and so has each message but
/// the layer's last, which has a multiple of 64 ANDs; its first items come after those of the layers `before`, so many.
pub(crate) fn ands(job: &Job, circuit: &Layered, before: u64, ands: Range<usize>) -> Range<u64> {
    let (layer, cols) = (&circuit.layers[job.stage as usize], job.cols.len());
    if is_short(job) {
        let first = before + row_items(ands.start, cols);
        return first..first + row_items(ands.len(), cols);
    }
    // Blocks are of two words.
    let first = 2 * first_block(job, circuit, layer, ands.start);
    first..first + (ands.len() * row_words(cols)) as u64
}

/// The items of a layer whose rows are short.
pub(crate) fn layer_items(job: &Job, layer: &Layer) -> u64 {
    row_items(layer.ands.len(), job.cols.len())
}

/// What a product with a vector of so many bits draws: 64 of them an item.
pub(crate) fn scaling(length: usize) -> SupplyKind {
    SupplyKind::Scaling { length: length.next_power_of_two() as u16 }
}

/// Items that products with vectors draw in a layer.
pub(crate) fn layer_scalings(layer: &Layer) -> BTreeMap<SupplyKind, u64> {
    let mut counts: BTreeMap<SupplyKind, u64> = BTreeMap::new();
    for ands in layer.scalings() {
        *counts.entry(scaling(ands.len())).or_default() += 1;
    }
    for count in counts.values_mut() {
        *count = count.div_ceil(64);
    }
    counts
}

/// Items that they draw in a circuit.
fn scalings(circuit: &Layered) -> Vec<(SupplyKind, u64)> {
    let mut all: BTreeMap<SupplyKind, u64> = BTreeMap::new();
    for (kind, count) in circuit.layers.iter().flat_map(layer_scalings) {
        *all.entry(kind).or_default() += count;
    }
    all.into_iter().collect()
}

/// Bits that each party opens for them in a layer.
pub(crate) fn scalings_opened(layer: &Layer) -> usize {
    layer.scalings().count() + layer.ands.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tacit_engine::jobs;
    use tacit_engine::layer::pieces;
    use tacit_program::plan::{Builder, Operand};

    #[test]
    fn masks_of_all_branches_together_are_bounded() {
        let each = MOST_WORDS / 2 / MASK_WORDS as u64;
        let refused = |branches: &[Range<u64>], seeds| refuse_long(branches.iter(), seeds).is_err();
        assert!(!refused(&[0..each, 5..5 + each], 0));
        assert!(refused(&[0..each, 5..6 + each], 0));
        assert!(refused(&[0..each, 0..each, 0..1], 0));
        assert!(refused(&[0..u64::MAX, 0..1], 0));
        // Seeds are as long whatever they mask.
        assert!(!refused(&[0..u64::MAX, 0..u64::MAX], 2));
    }

    /// Layers and messages of a circuit follow one another without a gap or overlap, whatever the columns are, and end where
    /// the demand does.
    #[test]
    fn a_circuits_items_follow_one_another() {
        let mut build = tacit_circuit::Builder::new();
        let wires = build.input(9000);
        let made: Vec<_> = wires.windows(2).map(|pair| build.and(pair[0], pair[1])).collect();
        let made: Vec<_> = made.chunks(3).map(|three| build.and(three[0], three[three.len() - 1])).collect();
        let circuit = Arc::new(Layered::new(&build.finish(vec![made])));
        for cols in [1, 3, 63, 64, 127, 128, 129, 600] {
            let mut builder = Builder::new();
            let outputs = circuit.output_slots.len();
            let (a, dst) = (builder.bits(1, 9000 * cols), builder.bits(1, outputs * cols));
            let (circuit, inputs) = (circuit.clone(), vec![Operand::Each(a)]);
            builder.interact(OpKind::Circuit { circuit: circuit.clone(), inputs, dst });
            let plan = builder.finish();
            let mut all: Vec<Range<u64>> = Vec::new();
            let mut before = 0;
            for (stage, layer) in (0..circuit.depth()).zip(&circuit.layers) {
                for job in jobs(&plan, 0, 0).map(|job| Job { stage, ..job }) {
                    all.extend(pieces(layer, &job).map(|(_, piece)| ands(&job, &circuit, before, piece)));
                    before += layer_items(&job, layer);
                }
            }
            all.sort_by_key(|items| items.start);
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start), "{cols}: {all:?}");
            let [(_, count)] = operation(&plan, &plan.op(0).kind)[..] else {
                panic!("it draws triples alone")
            };
            assert_eq!((all[0].start, all[all.len() - 1].end), (0, count), "{cols} columns");
            // A layer's last item may have some left; a block of long rows too.
            let bits = circuit.ands() * cols as u64;
            let most = if cols < BLOCK { bits + 64 * u64::from(circuit.depth()) } else { 2 * bits };
            assert!((bits..=most).contains(&(64 * count)), "{cols} columns: {count}");
        }
    }

    #[test]
    fn masks_are_as_long_as_an_item_may_be() {
        let words = |triples, seeds| masks(triples, seeds).ok();
        assert_eq!(words(3, 0), Some(SupplyKind::Masks { words: 6 }));
        assert_eq!(words((1 << 31) - 1, 0), Some(SupplyKind::Masks { words: u32::MAX - 1 }));
        assert_eq!([1 << 31, (1 << 32) + 1, u64::MAX].map(|triples| words(triples, 0)), [None; 3]);
        // Seeds are as long whatever they mask.
        assert_eq!([words(1, 1), words(u64::MAX, 1)], [Some(SupplyKind::Masks { words: 2 }); 2]);
        assert_eq!(words(1, 2), Some(SupplyKind::Masks { words: 4 }));
    }
}
