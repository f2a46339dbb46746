//! What the proofs of products are about: the words of a job, as they stand in the banks once its message has arrived.

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::verify::{Operation, Outputs, Words, noted};
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
            let words = self.words(job, kind, &operation, first);
            let Some(verified) = &mut self.verified else { return Ok(()) };
            verified.proofs.note(operation, words);
            verified.proofs.go_on(&mut self.party.session)?;
        }
        Ok(())
    }

    /// An operation's words, from the row `first` of a job's results on.
    fn words(&mut self, job: &Job, kind: &OpKind, operation: &Operation, first: usize) -> Words {
        let dst = kind.writes()[0];
        match (kind, operation.outputs) {
            (&OpKind::MatMul { a, b, shape, .. }, Outputs::Matrix { m, k, n }) => {
                let index = first / shape.m;
                self.words_of(
                    (job, operation),
                    [(a, index * m * k..(index + 1) * m * k), (b, index * k * n..(index + 1) * k * n)],
                    (dst, index * m * n..(index + 1) * m * n),
                    |words| words,
                    |words| words,
                )
            }
            // Scalar products, each of a pair of its own.
            (
                &OpKind::MatMul { a, b, shape: MatrixShape { m: 1, k, n: 1, .. }, .. },
                Outputs::Each { count, .. },
            ) => {
                let terms = first * k..(first + count) * k;
                let operands = [(a, terms.clone()), (b, terms)];
                self.words_of((job, operation), operands, (dst, first..first + count), |x| x, |y| y)
            }
            (
                &OpKind::MatMul { a, b, shape: MatrixShape { m, k, n, .. }, .. },
                Outputs::Each { count, .. },
            ) => {
                // Of each scalar product a row of the left matrix, and a column of the right one.
                let rows = first..first + count / n;
                let matrices = rows.start / m..(rows.end - 1) / m + 1;
                let left = |words: Vec<u64>| -> Vec<u64> {
                    words.chunks(k).flat_map(|row| row.iter().cycle().take(n * k).copied()).collect()
                };
                let right = |words: Vec<u64>| -> Vec<u64> {
                    let matrix = |row: usize| &words[(row / m - matrices.start) * k * n..][..k * n];
                    let columns = |row: usize| {
                        let matrix = matrix(row);
                        (0..n).flat_map(move |column| matrix.iter().skip(column).step_by(n).copied())
                    };
                    rows.clone().flat_map(columns).collect()
                };
                self.words_of(
                    (job, operation),
                    [(a, rows.start * k..rows.end * k), (b, matrices.start * k * n..matrices.end * k * n)],
                    (dst, rows.start * n..rows.end * n),
                    left,
                    right,
                )
            }
            (&OpKind::Mul { a, b, .. }, Outputs::Each { count, .. }) => {
                let cols = first..first + count;
                self.words_of(
                    (job, operation),
                    [(a, cols.clone()), (b, cols.clone())],
                    (dst, cols),
                    |x| x,
                    |y| y,
                )
            }
            _ => unreachable!("only products are noted"),
        }
    }

    /// Elements of registers, as words; `left` and `right` put those of the operands in the order of the terms.
    fn words_of(
        &mut self,
        (job, operation): (&Job, &Operation),
        [a, b]: [(Reg, Range<usize>); 2],
        (dst, results): (Reg, Range<usize>),
        left: impl Fn(Vec<u64>) -> Vec<u64>,
        right: impl Fn(Vec<u64>) -> Vec<u64>,
    ) -> Words {
        with_element!(self.party.plan.register(dst).domain, E => {
            let (draw, held) = (Self::draw(job, 0), [self.me, prev(self.me)]);
            let sends = self.sends(job);
            // From the block on in which the first one is.
            let before = results.start % (16 / E::DRAWN).max(1);
            let first = ((results.start - before) * E::DRAWN / 16) as u64;
            let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
            // What hides a message is there where one is.
            let hidden = [(key, next(self.me), sends.next), (prev_key, self.me, sends.me)];
            let masks = hidden.map(|(stream, sender, is_sent)| {
                if !operation.is_proved_by(sender) {
                    return Vec::new();
                }
                let mut drawn = vec![E::ZERO; before + results.len()];
                if is_sent {
                    stream.refill(draw, first, &mut drawn);
                }
                words_of(&drawn[before..])
            });
            let banks = [&self.party.own, &self.party.prev];
            let of = |at: usize, reg: Reg, range: &Range<usize>| {
                words_of(&banks[at].get(reg).words::<E>()[range.clone()])
            };
            let operand = |which: usize, (reg, range): &(Reg, Range<usize>), order: &dyn Fn(Vec<u64>) -> Vec<u64>| {
                [0, 1].map(|at| {
                    let has = operation.has[which].has(held[at]);
                    if has { order(of(at, *reg, range)) } else { Vec::new() }
                })
            };
            let z = [0, 1].map(|at| {
                if operation.is_proved_by(held[at]) { of(at, dst, &results) } else { Vec::new() }
            });
            Words { x: operand(0, &a, &left), y: operand(1, &b, &right), z, masks }
        })
    }
}

/// Elements of a ring of 64 bits at most, as words.
fn words_of<E: Element>(elements: &[E]) -> Vec<u64> {
    elements.iter().map(|element| element.to_u128() as u64).collect()
}
