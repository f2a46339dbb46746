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
//! With weights `w_j` the sum of `w_j x[pi(j)]` is an inner product of `x`, which the verifier that doesn't know the
//! order has, and of the weights, each at the place that its element came from, which the other one has. `P_(t-1)`
//! says nothing, and its statement is that 0 is 0.

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

/// What a verifier's vector has of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// The weights at places: it knows the order.
    Weights,
    /// The words.
    Words,
    /// Zeros: the prover says nothing.
    Nothing,
}

impl Shuffled {
    /// Of the proof of the party that is so many places ahead of this one.
    pub(super) fn known(&self, ahead: usize) -> Known<'_> {
        Known { order: &self.order, prover: (self.part + ahead) % 3 }
    }
}

impl Known<'_> {
    /// What the left verifier's vector has, or the right one's.
    pub(super) fn moved(&self, left: bool) -> Moved {
        match (self.prover, left) {
            (0, true) | (1, false) => Moved::Weights,
            (0, false) | (1, true) => Moved::Words,
            _ => Moved::Nothing,
        }
    }

    /// The weights of rows and columns, each at the place that its element came from.
    pub(super) fn place(&self, rows: &[Weight], columns: &[Weight], prime: &Prime, out: &mut [u64]) {
        for (row, places) in rows.iter().zip(self.order.chunks(columns.len().max(1))) {
            for (&place, &column) in places.iter().zip(columns) {
                out[place as usize] = prime.times(prime.both(*row, column), 1);
            }
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
