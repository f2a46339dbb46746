//! Online, for products that are checked: `P_0` computes along on masked values (figure 8, online).
//!
//! `P_1` sends `P_0` `m*_x = m_x + delta_x` and `m*_y = m_y + delta_y` of every product, in step with the walk; `P_2`
//! sends a digest of the same at the end. `P_0` knows `l_x`, `l_y`, `l_z`, the sums of masks, and `c = c_1 + c_2` of
//! the product's triple ([`triples`](crate::triples)). It computes
//!
//! ```text
//! (m*_x + l_x) l_y + (m*_y + l_y) l_x - l_z - c
//!     = m_x l_y + m_y l_x + 2 l_x l_y - l_z + delta_x l_y + delta_y l_x - c
//!     = m_x l_y + m_y l_x + l_x l_y - l_z + delta_z
//!     = m_z - m_x m_y + delta_z
//! ```
//!
//! `P_1` and `P_2` can compute this, too, if they have the same `m_z` and it is right. Digests of it tell them. For an
//! entry of a product of matrices all of this is summed, except `m_z` and `l_z`; each entry of the operands is sent
//! once.
//!
//! The deltas hide what `P_0` is sent. What `P_0` sends, its receivers know.
//!
//! **Order.** `P_0` keeps its digests until that of `P_2` fits all that `P_1` sent. Otherwise `P_1` could send
//! `m*_x + e`, receive a digest of what that makes of a product, and try which value of the other masks gives it.

use crate::draws::Drawn;
use crate::flat::{Batch, halves, pack, sum, unpack};
use crate::state::AstraEngine;
use crate::triples::unnoted;
use std::ops::Range;
use tacit_engine::wire::message_bytes;
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Element, bits, matrix, ring};
use tacit_program::plan::{MatrixShape, OpKind, Reg};
use tacit_session::{At, Session, step};
use tacit_threeparty::Arithmetic;

/// Elements of a message of matrices.
const PIECE: usize = 8192;

/// Rows of a product of matrices between two looks at the links.
const TICK_ROWS: usize = 32;

impl AstraEngine {
    /// `P_1` and `P_2`, as soon as a job has begun: show `P_0` its operands.
    pub(crate) fn show_operands(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match *kind {
            OpKind::And { a, b, dst } => {
                let batch = Self::and_batch(job, dst);
                let mut masked = self.operand_deltas(&batch);
                for (masked, rows) in halves(&mut masked).into_iter().zip([a, b]) {
                    bits::xor_assign(masked, &self.packed(job, rows, 0));
                }
                self.show(&batch, &masked)
            }
            OpKind::Mul { a, b, dst } => with_element!(self.party.domain(dst), E => {
                let batch = self.mul_batch(job, dst);
                let mut masked = self.operand_deltas::<E>(&batch);
                for (masked, reg) in halves(&mut masked).into_iter().zip([a, b]) {
                    ring::add_assign(masked, self.numbers(0, reg, &job.cols));
                }
                self.show(&batch, &masked)
            }),
            OpKind::MatMul { a, b, dst, .. } if job.last => {
                with_element!(self.party.domain(dst), E => self.show_matrices::<E>(job, a, b, dst))
            }
            _ => Ok(()),
        }
    }

    /// `P_1` and `P_2`, when a job is finished: note what `P_0` should have computed.
    pub(crate) fn note_results(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match *kind {
            OpKind::And { a, b, dst } => {
                let mut results = self.packed(job, dst, 0);
                let [x, y] = [a, b].map(|rows| self.packed(job, rows, 0));
                bits::and_xor(&x, &y, &mut results);
                self.note_expected(&Self::and_batch(job, dst), &Arithmetic::BITS, results);
            }
            OpKind::Mul { a, b, dst } => with_element!(self.party.domain(dst), E => {
                let mut results = self.numbers::<E>(0, dst, &job.cols).to_vec();
                let [x, y] = [a, b].map(|reg| self.numbers(0, reg, &job.cols));
                ring::mul_sub(x, y, &mut results);
                self.note_expected(&self.mul_batch(job, dst), &Arithmetic::NUMBERS, results);
            }),
            OpKind::MatMul { a, b, shape, dst } if job.last => {
                with_element!(self.party.domain(dst), E => self.note_matrices::<E>(job, a, b, shape, dst)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// `P_0`: computes along on a job's masked operands.
    pub(crate) fn compute_masked(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match *kind {
            OpKind::And { a, b, dst } => {
                self.draw_and_masks(job, dst);
                let masks =
                    [a, b, dst].map(|rows| sum(self.packed(job, rows, 1), &self.packed(job, rows, 2)));
                self.compute(&Self::and_batch(job, dst), &Arithmetic::BITS, &masks)
            }
            OpKind::Mul { a, b, dst } => with_element!(self.party.domain(dst), E => {
                self.draw_number_masks::<E>(job, dst, job.cols.clone());
                let masks = [a, b, dst].map(|reg| self.number_mask::<E>(reg, &job.cols));
                self.compute(&self.mul_batch(job, dst), &Arithmetic::NUMBERS, &masks)
            }),
            OpKind::MatMul { a, b, shape, dst } if job.last => {
                with_element!(self.party.domain(dst), E => self.compute_matrices::<E>(job, a, b, shape, dst))
            }
            OpKind::Msb { dst, .. } if job.stage == 0 => {
                self.expect_msbs(job, dst);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `P_1` and `P_2`: what they draw for operands, the left ones and then the right ones.
    pub(crate) fn operand_deltas<E: Element>(&mut self, batch: &Batch) -> Vec<E> {
        let mut deltas = vec![E::ZERO; 2 * batch.words()];
        for (out, drawn) in halves(&mut deltas).into_iter().zip([Drawn::LeftDelta, Drawn::RightDelta]) {
            self.fill_deltas(batch, drawn, out);
        }
        deltas
    }

    /// `P_1` sends masked operands, left ones and then right ones; `P_2` notes them.
    pub(crate) fn show<E: Element>(&mut self, batch: &Batch, masked: &[E]) -> Result<(), Error> {
        if unnoted(batch.domain) {
            return Ok(());
        }
        let message = self.party.session.mesh().buffer(message_bytes(batch.domain, 2 * batch.count));
        let message = pack(batch.domain, masked, 2, batch.count, message);
        self.show_message(shown_at(batch), message)
    }

    fn show_message(&mut self, at: At, message: Vec<u8>) -> Result<(), Error> {
        if self.me == 1 {
            let to = self.seats.party(0);
            return Ok(self.party.session.mesh().send_vec(to, at, message)?);
        }
        self.verified().shown(&message);
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// `P_1` and `P_2`: note `m_z - m_x m_y + delta_z`, of which `results` has all but `delta_z`.
    pub(crate) fn note_expected<E: Element>(
        &mut self,
        batch: &Batch,
        arithmetic: &Arithmetic<E>,
        mut results: Vec<E>,
    ) {
        if unnoted(batch.domain) {
            return;
        }
        let deltas = self.deltas(batch, Drawn::ResultDelta);
        (arithmetic.add)(&mut results, &deltas);
        self.note_packed(batch, &results);
    }

    /// `P_0`: receives masked operands and notes what results from them; `masks` are `l_x`, `l_y` and `l_z`.
    pub(crate) fn compute<E: Element>(
        &mut self,
        batch: &Batch,
        arithmetic: &Arithmetic<E>,
        [left, right, mask]: &[Vec<E>; 3],
    ) -> Result<(), Error> {
        if unnoted(batch.domain) {
            return Ok(());
        }
        let message = self.recv_shown(shown_at(batch), message_bytes(batch.domain, 2 * batch.count))?;
        let mut shown: Vec<E> = unpack(batch.domain, &message, 2, batch.count);
        self.party.session.mesh().recycle(message);
        let [x, y] = halves(&mut shown);
        (arithmetic.add)(x, left);
        (arithmetic.add)(y, right);
        let mut results = self.less_known(batch, arithmetic, mask)?;
        (arithmetic.mul_add)(x, right, &mut results);
        (arithmetic.mul_add)(y, left, &mut results);
        self.note_packed(batch, &results);
        Ok(())
    }

    /// What `P_1` shows.
    fn recv_shown(&mut self, at: At, bytes: usize) -> Result<Vec<u8>, Error> {
        let from = self.seats.party(1);
        let shown = self.party.session.mesh().recv(from, at, bytes)?;
        self.verified().shown(&shown);
        Ok(shown)
    }

    /// `P_0`: `-l_z - c` of some results.
    fn less_known<E: Element>(
        &mut self,
        batch: &Batch,
        arithmetic: &Arithmetic<E>,
        mask: &[E],
    ) -> Result<Vec<E>, Error> {
        let known = bytemuck::cast_slice::<u8, E>(self.ahead()?.shares(batch.op));
        let mut results = vec![E::ZERO; batch.words()];
        (arithmetic.sub)(&mut results, &known[batch.first..batch.first + batch.words()]);
        (arithmetic.sub)(&mut results, mask);
        Ok(results)
    }

    fn note_packed<E: Element>(&mut self, batch: &Batch, results: &[E]) {
        let message = self.party.session.mesh().buffer(message_bytes(batch.domain, batch.count));
        let message = pack(batch.domain, results, 1, batch.count, message);
        self.verified().computed(&message, batch.count);
        self.party.session.mesh().recycle(message);
    }

    /// As [`AstraEngine::show`], of whole matrices: the entries of the left ones and then those of the right ones.
    fn show_matrices<E: Element>(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        let [x, y] = [a, b].map(|reg| self.party.plan.register(reg).cols);
        let batch = Self::sum_batch(job, self.party.domain(dst), x, 0);
        let mut right = self.deltas::<E>(&Batch { count: y, ..batch }, Drawn::RightDelta);
        ring::add_assign(&mut right, self.party.component(0).get(b).words());
        for (piece, first) in (0..).zip((0..x + y).step_by(PIECE)) {
            let entries = first..(x + y).min(first + PIECE);
            let left = first.min(x)..entries.end.min(x);
            let mut masked: Vec<E> =
                self.deltas(&Batch { first: left.start, count: left.len(), ..batch }, Drawn::LeftDelta);
            ring::add_assign(&mut masked, &self.party.component(0).get(a).words()[left]);
            masked.extend_from_slice(&right[first.max(x) - x..entries.end.max(x) - x]);
            let message = self.party.session.mesh().buffer(message_bytes(batch.domain, entries.len()));
            let message = pack(batch.domain, &masked, 1, entries.len(), message);
            self.show_message(At { batch: piece, ..shown_at(&batch) }, message)?;
        }
        Ok(())
    }

    /// As [`AstraEngine::note_expected`], of whole matrices.
    fn note_matrices<E: Element>(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        let count = self.party.plan.register(dst).cols;
        let batch = Self::sum_batch(job, self.party.domain(dst), count, 0);
        let mut products = vec![E::ZERO; count];
        let m = if self.me == 2 { &self.party.own } else { &self.party.prev };
        multiply(&mut self.party.session, shape, m.get(a).words(), m.get(b).words(), &mut products)?;
        let mut results = self.deltas(&batch, Drawn::ResultDelta);
        ring::add_assign(&mut results, self.party.component(0).get(dst).words::<E>());
        ring::sub_assign(&mut results, &products);
        self.note_packed(&batch, &results);
        Ok(())
    }

    /// As [`AstraEngine::compute`], of whole matrices.
    fn compute_matrices<E: Element>(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        let [x, y, z] = [a, b, dst].map(|reg| self.party.plan.register(reg).cols);
        self.draw_number_masks::<E>(job, dst, 0..z);
        let mask = self.number_mask::<E>(dst, &(0..z));
        let batch = Self::sum_batch(job, self.party.domain(dst), z, 0);
        let total = x + y;
        let mut shown: Vec<E> = Vec::with_capacity(total);
        for piece in 0..total.div_ceil(PIECE) {
            let count = PIECE.min(total - shown.len());
            let at = At { batch: piece as u32, ..shown_at(&batch) };
            let message = self.recv_shown(at, message_bytes(batch.domain, count))?;
            shown.extend(unpack::<E>(batch.domain, &message, 1, count));
            self.party.session.mesh().recycle(message);
        }
        let (left, right) = shown.split_at_mut(x);
        let [l_x, l_y] = [(a, x), (b, y)].map(|(reg, count)| self.number_mask::<E>(reg, &(0..count)));
        ring::add_assign(left, &l_x);
        ring::add_assign(right, &l_y);
        let mut results = self.less_known(&batch, &Arithmetic::NUMBERS, &mask)?;
        multiply(&mut self.party.session, shape, left, &l_y, &mut results)?;
        multiply(&mut self.party.session, shape, &l_x, right, &mut results)?;
        self.note_packed(&batch, &results);
        Ok(())
    }

    /// `l` of some numbers, of `P_0`.
    fn number_mask<E: Element>(&self, reg: Reg, cols: &Range<usize>) -> Vec<E> {
        let mut mask = vec![E::ZERO; cols.len()];
        ring::add(self.numbers(1, reg, cols), self.numbers(2, reg, cols), &mut mask);
        mask
    }
}

/// `out += a b`, of a batch of matrices.
fn multiply<E: Element>(
    session: &mut Session,
    shape: MatrixShape,
    a: &[E],
    b: &[E],
    out: &mut [E],
) -> Result<(), Error> {
    let MatrixShape { batch, m, k, n } = shape;
    for index in 0..batch {
        let right = &b[index * k * n..(index + 1) * k * n];
        for from in (0..m).step_by(TICK_ROWS) {
            let rows = TICK_ROWS.min(m - from);
            let row = index * m + from;
            let product = &mut out[row * n..(row + rows) * n];
            matrix::matmul(&a[row * k..(row + rows) * k], right, product, rows, k, n);
            session.mesh().tick()?;
        }
    }
    Ok(())
}

/// The address of a message of masked operands.
fn shown_at(batch: &Batch) -> At {
    At { part: batch.at.part + step::MASKED, ..batch.at }
}
