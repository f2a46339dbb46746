//! What a proof says of a turn of a shuffle: that a column's elements are those from before, in the turn's order.
//!
//! In turn `t` the parties `P_t` and `P_(t+1)` know the order `pi`, and exchange `a = pi(x_t + x_(t-1)) - r` and
//! `b = pi(x_(t+1)) - s` ([`crate::shuffle`]). `P_t` has proved `a` if for every element
//!
//! `D_j = x_(t-1)[pi(j)] - e_j - f_j = 0`, with `e = a - pi(x_t)` at its left verifier `P_(t+1)`, and `f = r` at its right one, `P_(t-1)`;
//!
//! and `P_(t+1)` has proved `b` if
//!
//! `D_j = x_(t+1)[pi(j)] - e_j - f_j = 0`, with `e = s` at its left verifier `P_(t-1)`, and `f = b` at its right one, `P_t`.
//!
//! With weights `w_j` the sum of `w_j x[pi(j)]` is an inner product of `x`, which the verifier that doesn't know the order has, and
//! of the weights, each at the place that its element came from, which the other one has. `P_(t-1)` says nothing, and its statement
//! is that 0 is 0.

use std::ops::Range;
use std::sync::Arc;
use tacit_kernel::prime::{Prime, Weight};

/// What a party knows of a column's turn.
#[derive(Clone)]
pub(crate) struct Shuffled {
    /// Of each element of the result the place that it came from; nothing, if this party doesn't know the order.
    pub(crate) order: Arc<[u32]>,
    /// The party's number less the turn's, modulo 3.
    pub(crate) part: usize,
}

/// A column's words as one side of a proof has them.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    pub(super) shift: u32,
    /// Before the turn.
    pub(super) x: &'a [u64],
    /// `e`, or `f`.
    pub(super) e: &'a [u64],
}

/// What is known of the turn, for the proof of one prover.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    order: &'a [u32],
    /// The prover's number less the turn's, modulo 3.
    prover: usize,
}

impl Shuffled {
    /// Of the proof of the party that is so many places ahead of this one.
    pub(super) fn known(&self, ahead: usize) -> Known<'_> {
        Known { order: &self.order, prover: (self.part + ahead) % 3 }
    }
}

impl Known<'_> {
    /// The left verifier's vector, or the right one's: of weights at places, or of words.
    pub(super) fn vector(
        &self,
        left: bool,
        column: Column<'_>,
        (rows, columns): (&[Weight], &[u64]),
        prime: &Prime,
        out: &mut [u64],
    ) {
        match (self.prover, left) {
            (0, true) | (1, false) => {
                let mut weights = vec![0; columns.len()];
                for (row, places) in rows.iter().zip(self.order.chunks(columns.len().max(1))) {
                    prime.weigh(*row, columns, &mut weights);
                    for (&place, &weight) in places.iter().zip(&weights) {
                        out[place as usize] = weight;
                    }
                }
            }
            (0, false) | (1, true) => {
                for (out, x) in out.iter_mut().zip(column.x) {
                    *out = prime.reduce(u128::from(x << column.shift));
                }
            }
            _ => out.fill(0),
        }
    }

    /// `D / 2^64` of each of these elements, rounded down: the prover's.
    pub(super) fn quotients(&self, left: Column<'_>, right: Column<'_>, outputs: Range<usize>) -> Vec<i128> {
        let x = match self.prover {
            0 => right.x,
            1 => left.x,
            _ => return vec![0; outputs.len()],
        };
        let word = |word: u64| i128::from(word << left.shift);
        let of = |at: usize| (word(x[self.order[at] as usize]) - word(left.e[at]) - word(right.e[at])) >> 64;
        outputs.map(of).collect()
    }
}
