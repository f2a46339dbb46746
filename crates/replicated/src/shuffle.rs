//! Shuffles: an order from each pair of parties, one after another (Laur, Willemson, Zhang 2011; Araki et al. 2021).
//!
//! **A turn.** In turn `t` the parties `P_t` and `P_(t+1)` draw an order `pi` from the stream that they share. The third,
//! `P_(t+2) = P_(t-1)`, doesn't know it. Components of the result `y = pi(x)` are
//!
//! - `y_(t-1) = r`, from the stream of `P_t` and `P_(t-1)`, which hold component `t-1`,
//! - `y_(t+1) = s`, from the stream of `P_(t+1)` and `P_(t-1)`, which hold component `t+1`,
//! - `y_t = a + b`, where `P_t` computes `a = pi(x_t + x_(t-1)) - r`, `P_(t+1)` computes `b = pi(x_(t+1)) - s`, and they exchange
//!   these.
//!
//! So `y_0 + y_1 + y_2 = pi(x_0 + x_1 + x_2)`. The third party receives nothing.
//!
//! **Secrecy.** `P_(t+1)` doesn't know `r`, nor `P_t` `s`, so `a` and `b` are uniform to whoever receives them, whatever `x` and
//! `pi` are. After the three turns the order is `pi_2 pi_1 pi_0`, and each party lacks one of the three: to it the whole is
//! uniform. In `replicated` that holds if all follow the protocol; in `replicated-malicious` each turn is proved
//! ([`crate::turns`]).
//!
//! **Cost.** An element to and fro in each turn: two from each party for every element of every column, and three rounds.
//!
//! **Orders.** Fisher and Yates's, with places from 128 bits each: the statistical distance from the uniform order of `n` blocks is
//! below `n^2 / 2^129` for each turn.

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::step;
use crate::turns::{Column, Turn, of_elements, words};
use crate::verify::{Shuffled, noted};
use std::ops::Range;
use tacit_engine::bank::Bank;
use tacit_engine::wire::{message_bytes, message_of, unpack_columns};
use tacit_engine::{Error, Job, bytes_of, vector, with_element};
use tacit_kernel::{Buffer, Element, bits, ring};
use tacit_program::plan::{Domain, Reg, Register};
use tacit_session::{Draw, PrssStream};
use tacit_threeparty::products::Products;
use tacit_threeparty::{PARTIES, next, prev};

/// Blocks of a stream that are drawn at a time.
const DRAWN: usize = 1 << 12;

/// Bytes of a stream's block.
const BLOCK: usize = 16;

/// Who exchanges parts with a party in a turn; `None` for the party that doesn't know the order.
pub(crate) const fn partner(me: usize, turn: u32) -> Option<usize> {
    let turn = turn as usize;
    if me == turn {
        Some(next(me))
    } else if me == next(turn) {
        Some(prev(me))
    } else {
        None
    }
}

impl ReplicatedEngine {
    /// The first job of a turn makes all that this party has of the result; each sends its blocks of the part that is due. While
    /// the last ones travel the next turn's order is drawn.
    pub(crate) fn shuffle_begin(
        &mut self,
        job: &Job,
        cols: &[Reg],
        blocks: usize,
        dst: &[Reg],
    ) -> Result<(), Error> {
        if job.batch == 0 {
            self.turn(job, cols, blocks, dst)?;
        }
        if let Some(partner) = partner(self.me, job.stage) {
            let mut message = Vec::new();
            for &dst in dst {
                let shape = self.party.plan.register(dst);
                let part = self.part(job).get(dst);
                message.extend(message_of(shape, part, &elements(job, blocks, shape)));
            }
            self.send(job, partner, message)?;
        }
        if job.last && (job.stage as usize) < PARTIES - 1 {
            let next = self.order(job.op, job.stage + 1, blocks);
            self.orders.extend(next.map(|order| (job.op, order)));
        }
        Ok(())
    }

    /// The order of a turn; `None` if this party doesn't know it.
    fn order(&mut self, op: u32, turn: u32, blocks: usize) -> Option<Vec<u32>> {
        let partner = partner(self.me, turn)?;
        Some(order(self.key(partner), draw(op, turn), blocks))
    }

    /// Adds the partner's blocks; notes a turn that has ended.
    pub(crate) fn shuffle_finish(&mut self, job: &Job, blocks: usize, dst: &[Reg]) -> Result<(), Error> {
        self.add_part(job, blocks, dst)?;
        if job.last { self.note_turn(job, blocks, dst) } else { Ok(()) }
    }

    /// Adds the partner's blocks, where there is one.
    fn add_part(&mut self, job: &Job, blocks: usize, dst: &[Reg]) -> Result<(), Error> {
        let Some(partner) = partner(self.me, job.stage) else { return Ok(()) };
        let pieces: Vec<(Register, Range<usize>)> = dst
            .iter()
            .map(|&dst| self.party.plan.register(dst))
            .map(|shape| (shape, elements(job, blocks, shape)))
            .collect();
        let bytes = pieces.iter().map(|(shape, range)| message_bytes(shape.domain, range.len()));
        let message = self.recv(job, partner, bytes.sum())?;
        let mut rest = &message[..];
        for (&dst, (shape, range)) in dst.iter().zip(pieces) {
            let (own, after) = rest.split_at(message_bytes(shape.domain, range.len()));
            rest = after;
            let piece = Register { cols: range.len(), ..shape };
            let mut given = Buffer::new(bytes_of(shape.domain, range.len()));
            unpack_columns(piece, own, 0..range.len(), &mut given);
            let part = self.part(job);
            let mut out = part.take(dst);
            add_at(shape.domain, &mut out, range.start, &given);
            part.put(dst, out);
        }
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// What this party makes in a turn by itself, in the memory of the result: masks, and its part under them.
    fn turn(&mut self, job: &Job, cols: &[Reg], blocks: usize, dst: &[Reg]) -> Result<(), Error> {
        let order = self.orders.remove(&job.op).or_else(|| self.order(job.op, job.stage, blocks));
        let draw = draw(job.op, job.stage);
        let is_first = self.me == job.stage as usize;
        let (mut block, mut columns) = (0, Vec::new());
        for (&from, &dst) in cols.iter().zip(dst) {
            let shape = self.party.plan.register(dst);
            let from = if job.stage == 0 { from } else { dst };
            let x = self.verified.is_some().then(|| {
                let x = [&self.party.own, &self.party.prev].map(|bank| bank.get(from));
                Column::new(shape, x)
            });
            let (next, prev) = (next(self.me), prev(self.me));
            let mask = |engine: &mut Self, whose, out: &mut Buffer| {
                mask(engine.key(whose), draw, block, shape, out);
            };
            let (own, other) = match &order {
                Some(order) if is_first => {
                    let mut other = self.party.prev.take(dst);
                    if from != dst {
                        other.bytes_mut().copy_from_slice(self.party.prev.get(from).bytes());
                    }
                    vector::add_assign(shape, &mut other, self.party.own.get(from));
                    let mut part = self.party.own.take(dst);
                    vector::in_order(shape, &other, order, &mut part);
                    mask(self, prev, &mut other);
                    vector::sub_assign(shape, &mut part, &other);
                    (part, other)
                }
                Some(order) => {
                    let mut part = self.party.prev.take(dst);
                    vector::in_order(shape, self.party.own.get(from), order, &mut part);
                    let mut own = self.party.own.take(dst);
                    mask(self, next, &mut own);
                    vector::sub_assign(shape, &mut part, &own);
                    (own, part)
                }
                None => {
                    let (mut own, mut other) = (self.party.own.take(dst), self.party.prev.take(dst));
                    mask(self, next, &mut own);
                    mask(self, prev, &mut other);
                    (own, other)
                }
            };
            let part = order.is_some().then_some(if is_first { &own } else { &other });
            columns.extend(x.map(|x| x.with_part(shape, part)));
            self.party.own.put(dst, own);
            self.party.prev.put(dst, other);
            block += drawn_bytes(shape).div_ceil(BLOCK) as u64;
            self.party.session.mesh().tick()?;
        }
        if let Some(verified) = &mut self.verified {
            verified.turns.insert(job.op, Turn { order, columns });
        }
        Ok(())
    }
}

impl ReplicatedEngine {
    /// Notes the columns of a turn that has ended, and goes on with the proofs of what is complete.
    fn note_turn(&mut self, job: &Job, blocks: usize, dst: &[Reg]) -> Result<(), Error> {
        let plan = self.party.plan.clone();
        let turn = self.verified.as_mut().and_then(|verified| verified.turns.remove(&job.op));
        let Some(Turn { order, columns }) = turn.filter(|_| !planted(Mistake::ShuffleUnnoted)) else {
            return Ok(());
        };
        let part = (self.me + PARTIES - job.stage as usize) % PARTIES;
        for ((operation, at), column) in noted(&plan, job).into_iter().zip(columns) {
            let shape = plan.register(dst[at]);
            let order =
                order.as_ref().map(|order| of_elements(order, shape.cols / blocks)).unwrap_or_default();
            let after = [&self.party.own, &self.party.prev].map(|bank| bank.get(dst[at]));
            let words = words(part, &order, shape, column, after);
            let Some(verified) = &mut self.verified else { return Ok(()) };
            verified.proofs.note_shuffled(operation, &words, Shuffled { order: order.into(), part });
            verified.proofs.go_on(&mut self.party.session)?;
        }
        Ok(())
    }

    /// The component of the result that a party which knows the order has a part of, and then the partner's too.
    fn part(&mut self, job: &Job) -> &mut Bank {
        if self.me == job.stage as usize { &mut self.party.own } else { &mut self.party.prev }
    }
}

/// Where the randomness of a turn is drawn.
fn draw(op: u32, turn: u32) -> Draw {
    Draw { part: step::OPERATION + turn as u16, op }
}

/// A uniformly random order: block after block comes to the end, or to an earlier place whose block goes to the end instead.
fn order(stream: &mut PrssStream, draw: Draw, blocks: usize) -> Vec<u32> {
    if planted(Mistake::ShuffleInPlace) {
        return (0..blocks as u32).collect();
    }
    let mut order = vec![0; blocks];
    let mut drawn = vec![[0; BLOCK]; DRAWN.min(blocks)];
    // Places first, so that the machine has many of the order's far reads under way at a time.
    let mut places = vec![0; drawn.len()];
    for first in (0..blocks).step_by(DRAWN) {
        let count = DRAWN.min(blocks - first);
        stream.fill(draw, first as u64, drawn[..count].as_flattened_mut());
        for ((place, word), bound) in places.iter_mut().zip(&drawn[..count]).zip(first as u64 + 1..) {
            *place = below(u128::from_le_bytes(*word), bound) as usize;
        }
        for (&place, at) in places[..count].iter().zip(first..) {
            order[at] = order[place];
            order[place] = at as u32;
        }
    }
    if planted(Mistake::ShuffleTwice)
        && let [first, .., last] = &mut order[..]
    {
        *first = *last;
    }
    order
}

/// `floor(word * bound / 2^128)`.
const fn below(word: u128, bound: u64) -> u64 {
    let bound = bound as u128;
    let low = ((word & u64::MAX as u128) * bound) >> 64;
    (((word >> 64) * bound + low) >> 64) as u64
}

/// A vector of a stream, from a block on.
fn mask(stream: &mut PrssStream, draw: Draw, block: u64, shape: Register, out: &mut Buffer) {
    match shape.domain {
        Domain::Bits => stream.fill(draw, block, out.bytes_mut()),
        domain => with_element!(domain, E => stream.fill_elements::<E>(draw, block, out.words_mut())),
    }
    if planted(Mistake::ShuffleUnmasked) {
        out.bytes_mut().fill(0);
    }
}

/// Bytes of a stream that such a vector takes.
fn drawn_bytes(shape: Register) -> usize {
    match shape.domain {
        Domain::Bits => bytes_of(shape.domain, shape.cols),
        domain => with_element!(domain, E => shape.cols * E::DRAWN),
    }
}

/// The elements of a register that stand in a job's blocks.
fn elements(job: &Job, blocks: usize, shape: Register) -> Range<usize> {
    let length = shape.cols / blocks;
    job.cols.start * length..job.cols.end * length
}

/// Adds elements to those from `start` on; of bits that is the first of a block of a row.
fn add_at(domain: Domain, out: &mut Buffer, start: usize, given: &Buffer) {
    match domain {
        Domain::Bits => {
            let given = given.words::<u64>();
            bits::xor_assign(&mut out.words_mut()[start / 64..][..given.len()], given);
        }
        domain => with_element!(domain, E => {
            let given = given.words::<E>();
            ring::add_assign(&mut out.words_mut::<E>()[start..start + given.len()], given);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_below_its_bound() {
        assert_eq!(below(u128::MAX, 1), 0);
        for bound in [2, 3, 1 << 28] {
            assert_eq!((below(0, bound), below(u128::MAX, bound)), (0, bound - 1));
            // Each place has as many words, but for one.
            let word = u128::MAX / u128::from(bound);
            assert_eq!([0, 1].map(|more| below(word + more, bound)), [0, 1]);
        }
    }

    /// 24 orders of four blocks, 24,000 draws: a chi-squared statistic of 23 degrees of freedom, above 72 with probability 6e-7.
    #[test]
    fn orders_are_uniform() {
        let mut stream = PrssStream::new(&[7; 16], 0);
        let mut counts = std::collections::HashMap::new();
        for op in 0..24_000 {
            let draw = Draw { part: step::OPERATION, op };
            *counts.entry(order(&mut stream, draw, 4)).or_insert(0_i64) += 1;
        }
        assert_eq!(counts.len(), 24);
        let statistic = counts.values().map(|count| (count - 1000).pow(2) as f64 / 1000.0).sum::<f64>();
        assert!(statistic < 72.0, "{statistic}");
    }
}
