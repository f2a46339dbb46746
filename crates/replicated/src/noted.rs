//! What the proofs of products are about: the words of a job, as they stand in the banks once its message has arrived.

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::verify::{Operation, Outputs, Words, noted};
use std::borrow::Cow;
use std::ops::Range;
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::Element;
use tacit_program::plan::{MatrixShape, OpKind, Reg};
use tacit_threeparty::{next, prev};

impl ReplicatedEngine {
    /// Notes a job's products, and goes on with the proofs of what is complete. Masks are expanded again.
    pub(crate) fn note_products(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        if planted(Mistake::ProductsUnnoted) {
            return Ok(());
        }
        let plan = self.party.plan.clone();
        for (operation, first) in noted(&plan, job) {
            self.note_product(job, kind, &operation, first);
            let Some(verified) = &mut self.verified else { return Ok(()) };
            verified.proofs.go_on(&mut self.party.session)?;
        }
        Ok(())
    }

    /// Notes an operation, from the row `first` of a job's results on.
    fn note_product(&mut self, job: &Job, kind: &OpKind, operation: &Operation, first: usize) {
        let dst = kind.writes()[0];
        with_element!(self.party.plan.register(dst).domain, E => {
            let places = Places::of(kind, operation, first);
            let masks = self.masks_of::<E>(job, operation, &places.results);
            let held = [self.me, prev(self.me)];
            let banks = [&self.party.own, &self.party.prev];
            let words = |at: usize, reg: Reg, range: &Range<usize>| &banks[at].get(reg).words::<E>()[range.clone()];
            let operand = |which: usize| {
                let (reg, range) = &places.operands[which];
                [0, 1].map(|at| match (operation.has[which].has(held[at]), &places.order) {
                    (false, _) => Cow::default(),
                    (true, None) => Cow::Borrowed(words(at, *reg, range)),
                    (true, Some(order)) => Cow::Owned(order.terms(which, words(at, *reg, range))),
                })
            };
            let z = [0, 1].map(|at| {
                let is_proved = operation.is_proved_by(held[at]);
                if is_proved { Cow::Borrowed(words(at, dst, &places.results)) } else { Cow::default() }
            });
            let noted = Words { x: operand(0), y: operand(1), z, masks };
            if let Some(verified) = &mut self.verified {
                verified.proofs.note(*operation, &noted);
            }
        });
    }

    /// What hides the messages for some results, where there is one.
    fn masks_of<E: Element>(
        &mut self,
        job: &Job,
        operation: &Operation,
        results: &Range<usize>,
    ) -> [Cow<'static, [E]>; 2] {
        let (draw, sends) = (Self::draw(job, 0), self.sends(job));
        // From the block on in which the first one is.
        let before = results.start % (16 / E::DRAWN).max(1);
        let first = ((results.start - before) * E::DRAWN / 16) as u64;
        let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
        [(key, next(self.me), sends.next), (prev_key, self.me, sends.me)].map(|(stream, sender, is_sent)| {
            if !operation.is_proved_by(sender) {
                return Cow::default();
            }
            let mut drawn = vec![E::ZERO; before + results.len()];
            if is_sent {
                stream.refill(draw, first, &mut drawn);
            }
            drawn.drain(..before);
            Cow::Owned(drawn)
        })
    }
}

/// Where an operation's elements are.
struct Places {
    operands: [(Reg, Range<usize>); 2],
    results: Range<usize>,
    /// How terms follow one another, if not as their elements do.
    order: Option<Order>,
}

impl Places {
    fn of(kind: &OpKind, operation: &Operation, first: usize) -> Self {
        let in_line =
            |[a, b]: [(Reg, Range<usize>); 2], results| Self { operands: [a, b], results, order: None };
        match (kind, operation.outputs) {
            (&OpKind::MatMul { a, b, shape, .. }, Outputs::Matrix { m, k, n }) => {
                let index = first / shape.m;
                in_line(
                    [(a, index * m * k..(index + 1) * m * k), (b, index * k * n..(index + 1) * k * n)],
                    index * m * n..(index + 1) * m * n,
                )
            }
            // Scalar products, each of a pair of its own.
            (
                &OpKind::MatMul { a, b, shape: MatrixShape { m: 1, k, n: 1, .. }, .. },
                Outputs::Each { count, .. },
            ) => {
                let terms = first * k..(first + count) * k;
                in_line([(a, terms.clone()), (b, terms)], first..first + count)
            }
            // Of each scalar product a row of the left matrix, and a column of the right one.
            (&OpKind::MatMul { a, b, shape, .. }, Outputs::Each { count, .. }) => {
                let MatrixShape { m, k, n, .. } = shape;
                let rows = first..first + count / n;
                let matrices = rows.start / m..(rows.end - 1) / m + 1;
                Self {
                    operands: [
                        (a, rows.start * k..rows.end * k),
                        (b, matrices.start * k * n..matrices.end * k * n),
                    ],
                    results: rows.start * n..rows.end * n,
                    order: Some(Order { shape, rows }),
                }
            }
            (&OpKind::Mul { a, b, .. }, Outputs::Each { count, .. }) => {
                let cols = first..first + count;
                in_line([(a, cols.clone()), (b, cols.clone())], cols)
            }
            _ => unreachable!("only products are noted"),
        }
    }
}

/// Rows of products of small matrices, whose scalar products are proved one by one.
struct Order {
    shape: MatrixShape,
    rows: Range<usize>,
}

impl Order {
    /// The terms, one after the other, of rows of the left matrices, or of the right matrices.
    fn terms<E: Element>(&self, which: usize, words: &[E]) -> Vec<E> {
        let MatrixShape { m, k, n, .. } = self.shape;
        if which == 0 {
            return words.chunks(k).flat_map(|row| row.iter().cycle().take(n * k).copied()).collect();
        }
        let first = self.rows.start / m;
        let columns = |row: usize| {
            let matrix = &words[(row / m - first) * k * n..][..k * n];
            (0..n).flat_map(move |column| matrix.iter().skip(column).step_by(n).copied())
        };
        self.rows.clone().flat_map(columns).collect()
    }
}
