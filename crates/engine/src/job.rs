//! The unit of work between the executor and an engine: a part of one operation that fills about one message.

use crate::with_element;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use tacit_circuit::Layered;
use tacit_client::wire::columns_per_message;
pub(crate) use tacit_client::wire::{ALIGNMENT, MESSAGE_BYTES};
use tacit_kernel::Element;
use tacit_program::plan::{Op, OpKind, Plan, Stage};

/// Some columns of one stage of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The operation's address ([`Plan::op`]).
    pub op: u32,
    /// Which stage; of a circuit, which layer.
    pub stage: u32,
    /// Which of the stage's jobs, from 0; the messages' part of the address.
    pub batch: u32,
    /// The columns: numbers of the result, or columns of bits with all their rows; for a matrix product, rows of
    /// the results, counted through the whole batch of matrices; for a shuffle, blocks of the result.
    pub cols: Range<usize>,
    /// Whether this is the stage's last job.
    pub last: bool,
}

/// Blocks that are shuffled start at multiples of this many, and so do their bits in a row at its blocks of 128.
const SHUFFLED: usize = 128;

/// The least rows of a matrix product in one job: below, reading the right matrix would dominate.
const MATRIX_ROWS: usize = 64;

/// About the most bytes that such rows may have: they travel as one message.
const MATRIX_BYTES: usize = 8 << 20;

/// Cuts a stage into jobs.
pub fn jobs(plan: &Plan, op: u32, stage: u32) -> impl Iterator<Item = Job> {
    let (extent, grain) = extent_and_grain(plan, &plan.op(op).kind, stage);
    let count = extent.div_ceil(grain);
    (0..count).map(move |batch| Job {
        op,
        stage,
        batch: batch as u32,
        cols: batch * grain..extent.min((batch + 1) * grain),
        last: batch + 1 == count,
    })
}

/// The address of the operation that is computed when so many of a run's jobs are finished. Jobs count from the first again
/// where material was made in the run, and in further parts of a stream.
pub fn at_work(plan: &Plan, finished: usize) -> Option<u32> {
    let counted = || {
        let stages = plan.visits().flat_map(|visit| visit.stages().collect::<Vec<_>>());
        stages.map(|stage| (stage.op, jobs(plan, stage.op, stage.stage.into()).count()))
    };
    let all: usize = counted().map(|(_, jobs)| jobs).sum();
    let mut left = finished.checked_rem(all)?;
    for (op, jobs) in counted() {
        left = match left.checked_sub(jobs) {
            Some(left) => left,
            None => return Some(op),
        };
    }
    None
}

/// Cuts stages of one level into jobs that are begun and finished together: those of operations in arms that exclude one
/// another ([`Plan::exclude_each_other`]), if they have the same columns. Any other job stands by itself.
pub(crate) fn arms(plan: &Plan, stages: &[Stage]) -> impl Iterator<Item = Vec<Job>> {
    let jobs_of = |stage: &Stage| jobs(plan, stage.op, stage.stage.into());
    let region = |stage: &Stage| plan.op(stage.op).region;
    let alike = |one: &Stage, other: &Stage| {
        plan.exclude_each_other(region(one), region(other))
            && jobs_of(one).map(|job| job.cols).eq(jobs_of(other).map(|job| job.cols))
    };
    let mut groups: Vec<Vec<Stage>> = Vec::new();
    for stage in stages {
        let mut fits = groups.iter_mut().filter(|group| group.iter().all(|other| alike(other, stage)));
        match if region(stage) == 0 { None } else { fits.next() } {
            Some(group) => group.push(*stage),
            None => groups.push(vec![*stage]),
        }
    }
    groups.into_iter().flat_map(move |group| {
        let mut jobs: Vec<_> = group.iter().map(|stage| jobs(plan, stage.op, stage.stage.into())).collect();
        std::iter::from_fn(move || jobs.iter_mut().map(Iterator::next).collect::<Option<Vec<Job>>>())
    })
}

/// Bytes that a circuit's tile should have with two components a wire: some of them, and the messages under way,
/// fit the second cache together.
const TILE_BYTES: usize = 320 << 10;

/// Bytes that the tiles under way may have at most, where the window alone would allow more.
const TILES_BYTES: usize = 256 << 20;

/// The least columns of a tile: what a row's block of randomness is for.
const ROW_BITS: usize = 128;

/// Messages that are shorter cost more than what they carry, as those of circuits with an AND in a layer would be:
/// for these a tile may have more bytes, [`LARGE_TILE_BYTES`]. Few of its rows are read more than once.
const LEAST_BYTES: usize = 8 << 10;
const LARGE_TILE_BYTES: usize = 4 << 20;

/// Instances that are evaluated together, from layer to layer.
fn tile_columns(circuit: &Layered) -> usize {
    let by_memory = |bytes: usize| bytes * 8 / (2 * circuit.slots as usize);
    let by_message = |bytes: usize| circuit.depth() as usize * bytes * 8 / (circuit.ands() as usize).max(1);
    let most = by_message(MESSAGE_BYTES).max(ALIGNMENT);
    let least = by_message(LEAST_BYTES).min(by_memory(LARGE_TILE_BYTES));
    let columns = by_memory(TILE_BYTES).max(least).min(most);
    if columns < ALIGNMENT { ROW_BITS } else { columns / ALIGNMENT * ALIGNMENT }
}

/// Whether a stage is a circuit's, which goes on from layer to layer by itself.
pub(crate) fn is_circuit(plan: &Plan, stage: Stage) -> bool {
    matches!(plan.op(stage.op).kind, OpKind::Circuit { .. })
}

/// How deep the circuit of an operation is; 0 for other operations.
pub(crate) fn depth(plan: &Plan, op: u32) -> u32 {
    match &plan.op(op).kind {
        OpKind::Circuit { circuit, .. } => circuit.depth(),
        _ => 0,
    }
}

/// Tiles of some circuits that are under way at a time: as many as fill the plan's window with the messages of a
/// layer, if each is like the average of them all. Two at least, but for tiles that would take too much memory.
pub(crate) fn tiles_under_way(plan: &Plan, stages: &[Stage]) -> usize {
    let (mut tiles, mut bytes, mut memory) = (0, 0, 0);
    for stage in stages {
        if let OpKind::Circuit { circuit, .. } = &plan.op(stage.op).kind {
            for job in jobs(plan, stage.op, 0) {
                let columns = job.cols.len();
                tiles += 1;
                bytes += circuit.ands() as usize * columns / 8 / (circuit.depth() as usize).max(1);
                memory = memory.max(2 * circuit.slots as usize * columns.div_ceil(8));
            }
        }
    }
    plan.window.saturating_mul(tiles).div_ceil(bytes.max(1)).max(2).min(TILES_BYTES / memory.max(1)).max(1)
}

/// Rounds that some stages of one level take: those of the longest chain of tiles that wait for one another's place
/// in the window, or one, of what isn't a circuit; none if none of it has any message.
pub fn rounds(plan: &Plan, stages: &[Stage], speaks: impl Fn(&Op, u32) -> bool) -> u64 {
    let (circuits, others): (Vec<Stage>, Vec<Stage>) =
        stages.iter().partition(|stage| is_circuit(plan, **stage));
    let mut places = BinaryHeap::from(vec![Reverse(0); tiles_under_way(plan, &circuits)]);
    for tiles in arms(plan, &circuits) {
        let deepest = tiles.iter().map(|job| depth(plan, job.op)).max().unwrap_or(0);
        if deepest > 0
            && let Some(Reverse(chain)) = places.pop()
        {
            places.push(Reverse(chain + u64::from(deepest)));
        }
    }
    let longest = places.into_iter().map(|Reverse(chain)| chain).max().unwrap_or(0);
    let speaks = |stage: &Stage| speaks(plan.op(stage.op), stage.stage.into());
    longest.max(u64::from(others.iter().any(speaks)))
}

fn extent_and_grain(plan: &Plan, kind: &OpKind, stage: u32) -> (usize, usize) {
    let register = |reg| plan.register(reg);
    let ring_bits = |reg| register(reg).domain.bits();
    match kind {
        OpKind::And { dst, .. } => (register(dst.reg).cols, columns_per_message(u64::from(dst.count))),
        OpKind::Split { s, bits, .. } => (register(*s).cols, columns_per_message(u64::from(*bits))),
        OpKind::Mul { dst, .. }
        | OpKind::Inject { dst, .. }
        | OpKind::Open { dst, .. }
        | OpKind::Random { dst, .. } => (register(*dst).cols, columns_per_message(ring_bits(*dst))),
        // A mask takes no message: its columns are numbers, as those that are composed with it.
        OpKind::PairMask { bits, .. } => (kind.extent(plan), columns_per_message(u64::from(*bits))),
        OpKind::Compose { dst, .. } => (kind.extent(plan), columns_per_message(ring_bits(*dst))),
        OpKind::Shift { dst, .. } => (register(*dst).cols, columns_per_message(2 * ring_bits(*dst))),
        // A block's bits are bounded, so that the fewest blocks still are one message.
        OpKind::Shuffle { cols, blocks, .. } => {
            let bits = cols.iter().map(|&reg| register(reg).len() as u64 * ring_bits(reg)).sum::<u64>();
            let block_bits = (bits / (*blocks).max(1) as u64).max(1);
            (*blocks, (MESSAGE_BYTES * 8 / block_bits as usize / SHUFFLED).max(1) * SHUFFLED)
        }
        // What is sent first is hundreds of bytes for each number; a bit comes back.
        OpKind::Msb { dst, .. } => {
            (register(*dst).cols, if stage == 0 { ALIGNMENT } else { columns_per_message(1) })
        }
        OpKind::Circuit { circuit, .. } => (kind.extent(plan), tile_columns(circuit)),
        OpKind::MatMul { shape, dst, .. } => {
            let bits = shape.n * ring_bits(*dst) as usize;
            let row_bytes = (bits / 8).max(1);
            let rows = (MESSAGE_BYTES / row_bytes).max(MATRIX_ROWS);
            // Blocks of randomness are 16 bytes, and a message is a whole number of bytes: a job's first entry must
            // start both. It does at every 16th row, and where long rows have to be few at any that so many bytes
            // and bits end before.
            let drawn = with_element!(register(*dst).domain, E => shape.n * E::DRAWN);
            let (block, byte) = (16 >> drawn.trailing_zeros().min(4), 8 >> bits.trailing_zeros().min(3));
            let whole = block.max(byte);
            let few = (MATRIX_BYTES / row_bytes).max(1).next_multiple_of(whole);
            (shape.batch * shape.m, rows.next_multiple_of(16).min(few))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tacit_program::plan::{Builder, MatrixShape, Modulus, Operand, Rows, To, Width};

    #[test]
    fn jobs_cover_an_operation_without_gap_or_overlap() {
        for cols in [0, 1, 511, 512, 8191, 8192, 8193, 100_000] {
            let mut builder = Builder::new();
            let [a, b, c] = std::array::from_fn(|_| builder.ring(Width::W64, cols));
            builder.interact(OpKind::Mul { a, b, dst: c });
            builder.output(c, To::All);
            let plan = builder.finish();
            let jobs: Vec<Job> = jobs(&plan, 0, 0).collect();
            let mut next = 0;
            for job in &jobs {
                assert_eq!(job.cols.start, next);
                assert!(job.cols.start.is_multiple_of(ALIGNMENT));
                assert!(job.cols.len() * 8 <= MESSAGE_BYTES);
                next = job.cols.end;
            }
            assert_eq!(next, cols);
            assert_eq!(jobs.iter().filter(|job| job.last).count(), usize::from(cols > 0));
        }
    }

    /// A chain of `depth` ANDs of two bits.
    fn chain(depth: usize) -> Arc<Layered> {
        let mut build = tacit_circuit::Builder::new();
        let bits = build.input(2);
        let last = (0..depth).fold(bits[0], |last, _| {
            let both = build.and(last, bits[1]);
            build.xor(both, bits[0])
        });
        Arc::new(Layered::new(&build.finish(vec![vec![last]])))
    }

    #[test]
    fn arms_of_the_same_columns_go_together() {
        let mut builder = Builder::new();
        let condition = builder.bits(1, 1);
        let regions = [0, 1, 2].map(|arm| builder.region(0, Rows::one(condition, 0), arm));
        let wide = columns_per_message(1) + 1;
        for (region, cols) in [(0, 9), (1, wide), (1, 9), (2, wide), (2, wide), (3, wide)] {
            builder.in_region(if region == 0 { 0 } else { regions[region - 1] });
            let [a, b] = [(); 2].map(|()| builder.bits(1, cols));
            let [rows, dst] = [a, b].map(|reg| Rows::one(reg, 0));
            builder.interact(OpKind::And { a: rows, b: rows, dst });
        }
        let plan = builder.finish();
        let together = arms(&plan, &plan.levels[0].stages);
        let together: Vec<Vec<(u32, u32)>> =
            together.map(|jobs| jobs.iter().map(|job| (job.op, job.batch)).collect()).collect();
        let expected: [&[(u32, u32)]; 6] = [
            &[(0, 0)],
            &[(1, 0), (3, 0), (5, 0)],
            &[(1, 1), (3, 1), (5, 1)],
            &[(2, 0)],
            &[(4, 0)],
            &[(4, 1)],
        ];
        assert_eq!(together, expected);
    }

    #[test]
    fn what_is_small_shares_its_rounds_and_what_is_large_takes_turns() {
        let circuit = chain(5);
        assert_eq!(circuit.depth(), 5);
        let level = |columns: &[usize]| {
            let mut builder = Builder::new();
            let [x, product] = std::array::from_fn(|_| builder.ring(Width::W64, 3));
            builder.interact(OpKind::Mul { a: x, b: x, dst: product });
            for &cols in columns {
                let (bits, dst) = (builder.bits(2, cols), builder.bits(1, cols));
                let (circuit, inputs) = (circuit.clone(), vec![Operand::Rows(bits)]);
                builder.interact(OpKind::Circuit { circuit, inputs, dst });
            }
            builder.finish()
        };
        let rounds_of = |plan: &Plan| rounds(plan, &plan.levels[0].stages, |_, _| true);
        assert_eq!(rounds_of(&level(&[])), 1, "a product alone");
        assert_eq!(rounds_of(&level(&[1; 100])), 5, "products and small circuits share their rounds");
        let tile = tile_columns(&circuit);
        let plan = level(&[tile * 10]);
        let places = tiles_under_way(&plan, &plan.levels[0].stages);
        assert!(places < 10, "{places} tiles fill the window");
        assert_eq!(rounds_of(&plan), 5 * 10_u64.div_ceil(places as u64));
        let with_window = |window| rounds_of(&Plan { window, ..plan.clone() });
        assert_eq!(with_window(1), 5 * 5, "two tiles at least");
        assert_eq!(with_window(usize::MAX), 5, "all tiles");
    }

    #[test]
    fn messages_of_any_modulus_end_with_a_byte() {
        let moduli = (1..=128).map(Modulus::PowerOfTwo).chain([Modulus::Mersenne61, Modulus::Prime128]);
        for modulus in moduli {
            for n in [1, 3, 100_001] {
                let (mut builder, domain) = (Builder::new(), modulus.domain());
                let shape = MatrixShape { batch: 1, m: 2000, k: 1, n };
                let [a, b, c] = [2000, n, 2000 * n].map(|cols| builder.row(domain, cols));
                builder.interact(OpKind::MatMul { a, b, shape, dst: c });
                builder.output(c, To::All);
                let drawn = with_element!(domain, E => E::DRAWN);
                for job in jobs(&builder.finish(), 0, 0) {
                    let first = job.cols.start * n;
                    assert!((first * drawn).is_multiple_of(16), "{modulus}, {n} columns");
                    assert!((first * modulus.bits() as usize).is_multiple_of(8), "{modulus}, {n} columns");
                }
            }
        }
    }

    /// A circuit with an AND in a layer has a tile of which a layer is a message worth sending, and one with many has
    /// a small tile.
    #[test]
    fn tiles_have_messages_that_are_worth_sending() {
        let mut narrow = tacit_circuit::Builder::new();
        let wires = narrow.input(128);
        let last = wires.iter().copied().reduce(|last, wire| narrow.and(last, wire));
        let narrow = Layered::new(&narrow.finish(vec![last.into_iter().collect()]));
        let columns = tile_columns(&narrow);
        assert!(columns / 8 >= LEAST_BYTES && 2 * narrow.slots as usize * columns / 8 <= LARGE_TILE_BYTES);
        let mut wide = tacit_circuit::Builder::new();
        let wires = wide.input(1024);
        let both = (0..512).map(|at| wide.and(wires[at], wires[at + 512])).collect();
        let wide = Layered::new(&wide.finish(vec![both]));
        let columns = tile_columns(&wide);
        assert!(2 * wide.slots as usize * columns / 8 <= TILE_BYTES && 512 * columns / 8 >= LEAST_BYTES);
    }

    #[test]
    fn tiles_under_way_fit_their_memory() {
        // A chain has many tiles under way, for little is sent of each.
        let mut chain = tacit_circuit::Builder::new();
        let wires = chain.input(2500);
        let last = wires.iter().copied().reduce(|last, wire| chain.and(last, wire));
        let circuit = Arc::new(Layered::new(&chain.finish(vec![last.into_iter().collect()])));
        let memory = 2 * circuit.slots as usize * tile_columns(&circuit) / 8;
        let mut builder = Builder::new();
        let (a, dst) = (builder.bits(1, 2500 << 20), builder.bits(1, 1 << 20));
        builder.interact(OpKind::Circuit { circuit, inputs: vec![Operand::Each(a)], dst });
        let plan = builder.finish();
        let places = tiles_under_way(&plan, &plan.levels[0].stages);
        assert!(places > 50 && places * memory <= TILES_BYTES, "{places} tiles of {memory} bytes");
    }

    #[test]
    fn matrix_jobs_are_whole_rows() {
        let mut builder = Builder::new();
        let shape = MatrixShape { batch: 2, m: 100, k: 3, n: 1000 };
        let a = builder.ring(Width::W64, 600);
        let b = builder.ring(Width::W64, 6000);
        let c = builder.ring(Width::W64, 200_000);
        builder.interact(OpKind::MatMul { a, b, shape, dst: c });
        builder.output(c, To::All);
        let plan = builder.finish();
        let rows: usize = jobs(&plan, 0, 0).map(|job| job.cols.len()).sum();
        assert_eq!(rows, 200);
    }

    #[test]
    fn long_rows_are_few_and_start_at_a_block() {
        for (width, n) in [(Width::W64, 140_001), (Width::W64, 3_000_000), (Width::W8, 200_003)] {
            let (mut builder, bytes) = (Builder::new(), n * width.bytes());
            let shape = MatrixShape { batch: 1, m: 64, k: 1, n };
            let [a, b, c] = [64, n, 64 * n].map(|cols| builder.ring(width, cols));
            builder.interact(OpKind::MatMul { a, b, shape, dst: c });
            builder.output(c, To::All);
            let plan = builder.finish();
            for job in jobs(&plan, 0, 0) {
                assert!((job.cols.start * bytes).is_multiple_of(16));
                assert!(job.cols.len() * bytes <= 64 << 20, "{} rows of {bytes} bytes", job.cols.len());
            }
        }
    }
}
