//! What a party knows of products that it has computed and that are not yet proved: 64 bytes for each, and less where
//! components are zero by the plan.

use super::super::counts::Counts;
use super::shuffled::Shuffled;
use super::statement::{Operation, Outputs, Side, longest};
use crate::planted::{Mistake, planted};
use std::borrow::Cow;
use tacit_engine::Job;
use tacit_kernel::Element;
use tacit_program::plan::{Components, MatrixShape, Modulus, OpKind, Plan, Reg};
use tacit_threeparty::{PARTIES, next, prev};

/// Elements of vectors over F_p for a word of ANDs that a batch has: 2^18 for 2^16, which are 2^17 products, whose words are
/// 8 MB. Some seven batches are under way at a time.
const ELEMENTS: usize = 4;

/// The most elements that the vectors of a batch have: the soundness has their rounds.
pub(crate) const MOST_ELEMENTS: usize = 1 << 24;

/// The most that the sizes of a batch's operations add up to: the quotients' format has room for as much.
const MOST_SIZE: u64 = 1 << 40;

/// Words of products of matrices that a batch notes for each of its words of ANDs, unless it has a single one: as many as of
/// products, 8 MB in the usual batch. Elements are few beside them.
const NOTED_WORDS: usize = 16;

/// Outputs of a product of matrices up to which their scalar products are proved one by one.
const FEW_OUTPUTS: usize = 64;

/// Elements that some scalar products, which are noted as one operation, have at most, unless it is a single one.
const PIECE: usize = 1 << 16;

/// The operations that a job adds to the log, each with its first row: of matrices the last job of an operation adds one
/// for each product. The last job of a shuffle's turn adds one for each column, with its number.
pub(crate) fn noted(plan: &Plan, job: &Job) -> Vec<(Operation, usize)> {
    let op = plan.op(job.op);
    let (kind, has) = (&op.kind, op.operands);
    let shift_of = |reg: Reg| match plan.register(reg).domain.modulus() {
        Modulus::PowerOfTwo(bits) => 64_u32.checked_sub(bits.into()),
        _ => None,
    };
    if let OpKind::Shuffle { dst, .. } = kind {
        let column = |(at, &reg): (usize, &Reg)| {
            let outputs = Outputs::Shuffled { count: plan.register(reg).len() };
            shift_of(reg)
                .filter(|_| job.last)
                .map(|shift| (Operation { outputs, shift, has: [Components::ALL; 2] }, at))
        };
        return dst.iter().enumerate().filter_map(column).collect();
    }
    let Some(shift) = shift_of(kind.writes()[0]) else { return Vec::new() };
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

/// Whether a product of matrices, or a column that is shuffled, is too large for a proof.
pub(crate) fn is_too_large(plan: &Plan, kind: &OpKind) -> bool {
    match *kind {
        OpKind::MatMul { shape: MatrixShape { m, k, n, .. }, .. } => {
            let size = (m as u128 * n as u128) * (3 * k as u128 + 3);
            2 * k > MOST_ELEMENTS || size > u128::from(MOST_SIZE)
        }
        OpKind::Shuffle { ref cols, .. } => cols.iter().any(|&reg| plan.register(reg).len() > MOST_ELEMENTS),
        _ => false,
    }
}

/// Where batches end: before an operation with which they would be too large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    elements: usize,
    words: usize,
}

/// Batches of which memory is kept: one is filled while another is proved. More are there where one operation fills several.
const SPARE: usize = 2;

/// How much a batch has.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// Of each party's vectors.
    elements: [usize; PARTIES],
    /// Of what isn't a product of matrices.
    outputs: usize,
    /// That a party notes of products of matrices.
    words: usize,
    size: u64,
}

impl Extent {
    fn and(self, operation: &Operation) -> Self {
        let elements = std::array::from_fn(|prover| self.elements[prover] + operation.length(prover));
        let (outputs, words) = if operation.is_matrix() {
            (0, 2 * operation.operands().iter().sum::<usize>() + 4 * operation.count())
        } else {
            (operation.count(), 0)
        };
        Self {
            elements,
            outputs: self.outputs + outputs,
            words: self.words + words,
            size: self.size + operation.size(),
        }
    }

    /// The length of the batch's vectors, as [`longest`] has it.
    fn longest(self) -> usize {
        self.elements.into_iter().fold(1, usize::max)
    }
}

impl Limits {
    /// Those of batches that have so many words of ANDs at most, if they have ANDs.
    pub(crate) const fn of(batch_words: usize) -> Self {
        Self { elements: ELEMENTS * batch_words, words: NOTED_WORDS * batch_words }
    }

    /// An operation more; `None` if it has to begin another batch.
    fn with(self, extent: Extent, operation: &Operation) -> Option<Extent> {
        let more = extent.and(operation);
        let most = more.longest().max(more.outputs);
        (most <= self.elements && more.words <= self.words && more.size <= MOST_SIZE).then_some(more)
    }
}

/// Where the batches of some operations end.
#[derive(Debug)]
pub(crate) struct Cut {
    limits: Limits,
    last: Option<Extent>,
    /// The elements of each batch that is complete.
    complete: Vec<usize>,
}

impl Cut {
    /// Of none yet.
    pub(crate) const fn new(limits: Limits) -> Self {
        Self { limits, last: None, complete: Vec::new() }
    }

    /// An operation more.
    pub(crate) fn add(&mut self, operation: &Operation) {
        let more = self.last.and_then(|last| self.limits.with(last, operation));
        if more.is_none() {
            self.complete.extend(self.last.map(Extent::longest));
        }
        self.last = Some(more.unwrap_or_else(|| Extent::default().and(operation)));
    }

    /// The lengths of each batch's vectors, once no operation is added any more.
    pub(crate) fn end(mut self) -> Vec<usize> {
        self.complete.extend(self.last.map(Extent::longest));
        self.complete
    }
}

/// What a party has of an operation; nothing of components that are zero by the plan, and of messages that nobody sends.
#[derive(Clone, Default)]
pub(crate) struct Words<'a, E: Element = u64> {
    /// `x_i` and `x_(i-1)`.
    pub(crate) x: [Cow<'a, [E]>; 2],
    /// `y_i` and `y_(i-1)`.
    pub(crate) y: [Cow<'a, [E]>; 2],
    /// `z_i`, which it sent, and `z_(i-1)`, which it received.
    pub(crate) z: [Cow<'a, [E]>; 2],
    /// `rho_i` and `rho_(i-1)`.
    pub(crate) masks: [Cow<'a, [E]>; 2],
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
    pub(crate) fn note<E: Element>(&mut self, operation: Operation, words: &Words<'_, E>) {
        self.room_for(&operation);
        self.last.note(operation, words);
    }

    /// Begins another batch, if this one has no room for an operation.
    fn room_for(&mut self, operation: &Operation) {
        let alone = Extent::default().and(operation);
        let more = self.limits.with(self.extent, operation).filter(|_| !self.last.operations.is_empty());
        if more.is_none() {
            let whole = self.rest();
            self.complete.extend(whole);
        }
        self.extent = more.unwrap_or(alone);
    }

    /// Notes a column after a turn of a shuffle. Its words are `x`, and for `z` and the masks what the left and the right
    /// verifier of each proof has beside it ([`super::shuffled`]).
    pub(crate) fn note_shuffled(&mut self, operation: Operation, words: &Words<'_>, shuffled: Shuffled) {
        self.room_for(&operation);
        self.last.note_shuffled(operation, words, shuffled);
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
        batch.shuffles.clear();
        [&mut batch.x, &mut batch.y, &mut batch.e, &mut batch.masks]
            .into_iter()
            .flatten()
            .for_each(Vec::clear);
        self.spare.push(batch);
    }
}

/// An element of a ring of 64 bits at most.
fn word_of<E: Element>(element: E) -> u64 {
    element.to_u128() as u64
}

/// Products that are proved together.
#[derive(Clone)]
pub(crate) struct Batch {
    me: usize,
    pub(crate) operations: Vec<Operation>,
    /// Of the own component, and of the previous one.
    x: [Vec<u64>; 2],
    y: [Vec<u64>; 2],
    /// Of the own messages' relation, and of the previous party's.
    e: [Vec<u64>; 2],
    masks: [Vec<u64>; 2],
    shuffles: Vec<Shuffled>,
}

impl Batch {
    pub(super) fn new(me: usize) -> Self {
        let (operations, x, y, e, masks, shuffles) = Default::default();
        Self { me, operations, x, y, e, masks, shuffles }
    }

    /// The length of its vectors.
    pub(crate) fn length(&self) -> usize {
        longest(&self.operations)
    }

    /// How much it proves.
    pub(crate) fn counts(&self) -> Counts {
        self.operations.iter().fold(Counts::default(), |sum, operation| sum.and(operation.counts()))
    }

    pub(super) fn note_shuffled(&mut self, operation: Operation, words: &Words<'_>, shuffled: Shuffled) {
        self.note(operation, words);
        self.shuffles.push(shuffled);
    }

    pub(super) fn note<E: Element>(&mut self, operation: Operation, words: &Words<'_, E>) {
        let low = u64::MAX >> operation.shift;
        let add = |to: &mut Vec<u64>, from: &[E]| to.extend(from.iter().map(|&word| word_of(word) & low));
        for (side, prover) in [self.me, prev(self.me)].into_iter().enumerate() {
            let [x, y, z, masks] = [&words.x, &words.y, &words.z, &words.masks].map(|of| &*of[side]);
            let low_of_e = if side == 1 && planted(Mistake::ReducedOneSide) { u64::MAX } else { low };
            add(&mut self.x[side], x);
            add(&mut self.y[side], y);
            add(&mut self.masks[side], masks);
            let multiplies = operation.has.iter().all(|has| has.has(prover));
            if let (Outputs::Each { inner: 1, .. }, true) =
                (operation.outputs, multiplies && z.len() == masks.len())
            {
                // At once, of what is read anyhow.
                let terms = z.iter().zip(masks).zip(x.iter().zip(y));
                self.e[side].extend(terms.map(|((&z, &mask), (&x, &y))| {
                    word_of(z).wrapping_sub(word_of(mask)).wrapping_sub(word_of(x).wrapping_mul(word_of(y)))
                        & low_of_e
                }));
                continue;
            }
            let first = self.e[side].len();
            add(&mut self.e[side], z);
            let e = &mut self.e[side][first..];
            if let Outputs::Shuffled { .. } = operation.outputs {
                continue;
            }
            e.iter_mut().zip(masks).for_each(|(e, &mask)| *e = e.wrapping_sub(word_of(mask)) & low);
            if let (Outputs::Each { inner, .. }, true) = (operation.outputs, multiplies) {
                let terms = inner.max(1);
                for ((e, x), y) in e.iter_mut().zip(x.chunks(terms)).zip(y.chunks(terms)) {
                    let products = x.iter().zip(y).map(|(&x, &y)| word_of(x).wrapping_mul(word_of(y)));
                    *e = products.fold(*e, u64::wrapping_sub) & low;
                }
            }
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

    /// What a corrupt prover looks at once its quotients are computed.
    #[cfg(feature = "planted")]
    pub(super) fn noted<'a>(
        &'a mut self,
        number: u32,
        seed: [u8; 32],
        quotients: &'a mut [[i128; super::statement::COEFFICIENTS]],
    ) -> crate::planted::NotedProducts<'a> {
        crate::planted::NotedProducts { me: self.me, number, seed, e: &mut self.e[0], quotients }
    }

    fn side<'a>(&'a self, prover: usize, left: bool, of: usize, e: &'a [u64]) -> Side<'a> {
        let (operations, shuffles) = (&self.operations, &self.shuffles);
        let ahead = (prover + PARTIES - self.me) % PARTIES;
        Side { prover, left, operations, x: &self.x[of], y: &self.y[of], e, shuffles, ahead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch of matrices ends where its words are many, though their elements are few; log and cost alike.
    #[test]
    fn matrices_of_many_words_share_no_batch() {
        let matrix = |k| Operation {
            outputs: Outputs::Matrix { m: 512, k, n: 64 },
            shift: 0,
            has: [Components::ALL; 2],
        };
        let limits = Limits::of(1 << 16);
        // Two of 2^19 words less some, one more, one that is too large beside any other, and a small one.
        let operations = [256, 256, 256, 1 << 12, 1].map(matrix);
        let (mut log, mut cut) = (Log::new(limits, 0), Cut::new(limits));
        for operation in &operations {
            log.note(*operation, &Words::<u64>::default());
            cut.add(operation);
        }
        let last = log.rest();
        let batches: Vec<Batch> = std::iter::from_fn(|| log.full()).chain(last).collect();
        assert_eq!(cut.end(), [1024, 512, 1 << 13, 2]);
        assert_eq!(batches.iter().map(Batch::length).collect::<Vec<_>>(), [1024, 512, 1 << 13, 2]);
    }
}
