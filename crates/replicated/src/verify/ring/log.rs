//! What a party knows of products that it has computed and that are not yet proved: 64 bytes for each, and less where
//! components are zero by the plan.

use super::super::counts::Counts;
use super::statement::{Operation, Outputs, Side, longest};
use tacit_engine::Job;
use tacit_program::plan::{Components, MatrixShape, Modulus, Op, OpKind, Plan};
use tacit_threeparty::{PARTIES, next, prev};

/// Elements of vectors over F_p for a word of ANDs that a batch has: 2^21 for 2^16, which are 2^20 products.
const ELEMENTS: usize = 32;

/// The most elements that the vectors of a batch have: the soundness has their rounds.
const MOST_ELEMENTS: usize = 1 << 24;

/// The most that the sizes of a batch's operations add up to: the quotients' format has room for as much.
const MOST_SIZE: u64 = 1 << 40;

/// Outputs of a product of matrices up to which their scalar products are proved one by one.
const FEW_OUTPUTS: usize = 64;

/// Elements that some scalar products, which are noted as one operation, have at most, unless it is a single one.
const PIECE: usize = 1 << 16;

/// The operations that a job adds to the log, each with its first row: of matrices the last job of an operation adds one
/// for each product.
pub(crate) fn noted(plan: &Plan, job: &Job) -> Vec<(Operation, usize)> {
    let op = plan.op(job.op);
    let (kind, has) = (&op.kind, op.operands);
    let Modulus::PowerOfTwo(bits) = plan.register(kind.writes()[0]).domain.modulus() else {
        return Vec::new();
    };
    let shift = 64 - u32::from(bits);
    match *kind {
        OpKind::Mul { .. } => pieces(job, 1, 1, shift, has),
        OpKind::MatMul { shape, .. } if by_outputs(shape) => pieces(job, shape.n, shape.k, shift, has),
        OpKind::MatMul { shape: MatrixShape { batch, m, k, n }, .. } if job.last => (0..batch)
            .map(|index| {
                let outputs = Outputs::Matrix { m, k, n };
                (Operation { outputs, shift, has: [Components::ALL; 2] }, index * m)
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Scalar products of a job's rows.
fn pieces(job: &Job, n: usize, inner: usize, shift: u32, has: [Components; 2]) -> Vec<(Operation, usize)> {
    let rows = (PIECE / (2 * n * inner).max(1)).max(1);
    let piece = |first: usize| {
        let count = (job.cols.end - first).min(rows) * n;
        (Operation { outputs: Outputs::Each { count, inner }, shift, has }, first)
    };
    job.cols.clone().step_by(rows).map(piece).collect()
}

/// Whether the scalar products of a product of matrices are proved one by one.
fn by_outputs(MatrixShape { m, n, k, .. }: MatrixShape) -> bool {
    m * n == 1 || m * n <= FEW_OUTPUTS && 2 * m * n * k <= PIECE
}

/// Whether an operation is noted as a whole, when its last message has come.
pub(crate) fn proved_at_its_end(kind: &OpKind) -> bool {
    matches!(kind, OpKind::MatMul { shape, .. } if !by_outputs(*shape))
}

/// Whether a product of matrices is too large for a proof.
pub(crate) fn is_too_large(kind: &OpKind) -> bool {
    let OpKind::MatMul { shape: MatrixShape { m, k, n, .. }, .. } = *kind else { return false };
    let size = (m as u128 * n as u128) * (3 * k as u128 + 3);
    2 * k > MOST_ELEMENTS || size > u128::from(MOST_SIZE)
}

/// Where batches end: before an operation with which they would be too large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    elements: usize,
}

/// Batches of which memory is kept: one is filled while another is proved. More are there where one operation fills several.
const SPARE: usize = 2;

/// How much a batch has.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// Of each party's vectors.
    elements: [usize; PARTIES],
    outputs: usize,
    size: u64,
}

impl Extent {
    fn and(self, operation: &Operation) -> Self {
        let elements = std::array::from_fn(|prover| self.elements[prover] + operation.length(prover));
        let outputs = self.outputs + if operation.is_matrix() { 0 } else { operation.count() };
        Self { elements, outputs, size: self.size + operation.size() }
    }

    /// The length of the batch's vectors, as [`longest`] has it.
    fn longest(self) -> usize {
        self.elements.into_iter().fold(1, usize::max)
    }
}

impl Limits {
    /// Those of batches that have so many words of ANDs at most, if they have ANDs.
    pub(crate) const fn of(batch_words: usize) -> Self {
        Self { elements: ELEMENTS * batch_words }
    }

    /// An operation more; `None` if it has to begin another batch.
    fn with(self, extent: Extent, operation: &Operation) -> Option<Extent> {
        let more = extent.and(operation);
        let most = more.longest().max(more.outputs);
        (most <= self.elements && more.size <= MOST_SIZE).then_some(more)
    }
}

/// How much there is to prove of a plan's products.
pub(crate) fn counts(plan: &Plan) -> Counts {
    let of = |(_, address, times): (&Op, u32, u64)| {
        let noted = tacit_engine::jobs(plan, address, 0).flat_map(|job| noted(plan, &job));
        let once = noted.fold(Counts::default(), |sum, (operation, _)| sum.and(operation.counts()));
        Counts { words: 0, elements: times * once.elements, outputs: times * once.outputs }
    };
    plan.counted_ops().map(of).fold(Counts::default(), Counts::and)
}

/// The lengths of the vectors of each batch of a plan's products.
pub(crate) fn batches(plan: &Plan, limits: Limits) -> Vec<usize> {
    let stages = plan.visits().flat_map(|visit| visit.stages().collect::<Vec<_>>());
    let jobs = stages.flat_map(|stage| tacit_engine::jobs(plan, stage.op, stage.stage.into()));
    let (mut all, mut last): (Vec<usize>, Option<Extent>) = (Vec::new(), None);
    for (operation, _) in jobs.flat_map(|job| noted(plan, &job)) {
        let with = |extent| limits.with(extent, &operation);
        let alone = Extent::default().and(&operation);
        last = Some(
            last.and_then(|last| with(last).or_else(|| (all.push(last.longest()), None).1)).unwrap_or(alone),
        );
    }
    all.extend(last.map(Extent::longest));
    all
}

/// What a party has of an operation; nothing of components that are zero by the plan, and of messages that nobody sends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    /// `x_i` and `x_(i-1)`.
    pub(crate) x: [Vec<u64>; 2],
    /// `y_i` and `y_(i-1)`.
    pub(crate) y: [Vec<u64>; 2],
    /// `z_i`, which it sent, and `z_(i-1)`, which it received.
    pub(crate) z: [Vec<u64>; 2],
    /// `rho_i` and `rho_(i-1)`.
    pub(crate) masks: [Vec<u64>; 2],
}

/// Products in the order in which they are finished, which is the same at all parties.
pub(crate) struct Log {
    me: usize,
    limits: Limits,
    extent: Extent,
    last: Batch,
    complete: std::collections::VecDeque<Batch>,
    /// Memory of batches that are proved.
    spare: Vec<Batch>,
}

impl Log {
    /// An empty one of the party `me`.
    pub(crate) fn new(limits: Limits, me: usize) -> Self {
        let (extent, complete, spare) = Default::default();
        Self { me, limits, extent, last: Batch::new(me), complete, spare }
    }

    /// Notes an operation.
    pub(crate) fn note(&mut self, operation: Operation, words: Words) {
        let alone = Extent::default().and(&operation);
        let more = self.limits.with(self.extent, &operation).filter(|_| !self.last.operations.is_empty());
        if more.is_none() {
            let whole = self.rest();
            self.complete.extend(whole);
        }
        self.extent = more.unwrap_or(alone);
        self.last.note(operation, words);
    }

    /// A batch to which no operation is added any more.
    pub(crate) fn full(&mut self) -> Option<Batch> {
        self.complete.pop_front()
    }

    /// What is left at the end.
    pub(crate) fn rest(&mut self) -> Option<Batch> {
        if self.last.operations.is_empty() {
            return None;
        }
        let next = self.spare.pop().unwrap_or_else(|| Batch::new(self.me));
        Some(std::mem::replace(&mut self.last, next))
    }

    /// Takes the memory of a batch that is proved.
    pub(crate) fn reuse(&mut self, mut batch: Batch) {
        if self.spare.len() >= SPARE {
            return;
        }
        batch.operations.clear();
        [&mut batch.x, &mut batch.y, &mut batch.e, &mut batch.masks]
            .into_iter()
            .flatten()
            .for_each(Vec::clear);
        self.spare.push(batch);
    }
}

/// Products that are proved together.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    me: usize,
    pub(crate) operations: Vec<Operation>,
    /// Of the own component, and of the previous one.
    x: [Vec<u64>; 2],
    y: [Vec<u64>; 2],
    /// Of the own messages' relation, and of the previous party's.
    e: [Vec<u64>; 2],
    masks: [Vec<u64>; 2],
}

impl Batch {
    pub(super) fn new(me: usize) -> Self {
        let (operations, x, y, e, masks) = Default::default();
        Self { me, operations, x, y, e, masks }
    }

    /// The length of its vectors.
    pub(crate) fn length(&self) -> usize {
        longest(&self.operations)
    }

    /// How much it proves.
    pub(crate) fn counts(&self) -> Counts {
        self.operations.iter().fold(Counts::default(), |sum, operation| sum.and(operation.counts()))
    }

    pub(super) fn note(&mut self, operation: Operation, words: Words) {
        let Words { x, y, z: mut e, masks } = words;
        let low = u64::MAX >> operation.shift;
        for (side, prover) in [self.me, prev(self.me)].into_iter().enumerate() {
            let e = &mut e[side];
            e.iter_mut().zip(&masks[side]).for_each(|(z, mask)| *z = z.wrapping_sub(*mask));
            if let Outputs::Each { inner, .. } = operation.outputs
                && operation.has.iter().all(|has| has.has(prover))
            {
                for (output, e) in e.iter_mut().enumerate() {
                    for at in output * inner..(output + 1) * inner {
                        *e = e.wrapping_sub(x[side][at].wrapping_mul(y[side][at]));
                    }
                }
            }
        }
        let all = [(&mut self.x, x), (&mut self.y, y), (&mut self.e, e), (&mut self.masks, masks)];
        for (to, from) in all.into_iter().flat_map(|(to, from)| to.iter_mut().zip(from)) {
            to.extend(from.iter().map(|word| word & low));
        }
        self.operations.push(operation);
    }

    /// What the left verifier of this party's own messages has, or the right one.
    pub(crate) fn own(&self, left: bool) -> Side<'_> {
        if left {
            self.side(self.me, true, 0, &self.e[0])
        } else {
            self.side(self.me, false, 1, &self.masks[1])
        }
    }

    /// What this party has of the previous party's messages, as their left verifier.
    pub(crate) fn of_prev(&self) -> Side<'_> {
        self.side(prev(self.me), true, 1, &self.e[1])
    }

    /// What this party has of the next party's messages, as their right verifier.
    pub(crate) fn of_next(&self) -> Side<'_> {
        self.side(next(self.me), false, 0, &self.masks[0])
    }

    fn side<'a>(&'a self, prover: usize, left: bool, of: usize, e: &'a [u64]) -> Side<'a> {
        Side { prover, left, operations: &self.operations, x: &self.x[of], y: &self.y[of], e }
    }
}
