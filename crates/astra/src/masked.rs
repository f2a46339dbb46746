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
use crate::flat::{Batch, halves, pack, unpack};
use crate::groups::{Group, LEFT, RESULT, RIGHT};
use crate::state::AstraEngine;
use crate::step;
use crate::triples::unnoted;
use tacit_engine::wire::message_bytes;
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Element, matrix, ring};
use tacit_program::plan::{Domain, MatrixShape, OpKind, Reg};
use tacit_session::{At, Session};
use tacit_threeparty::Arithmetic;
use tacit_threeparty::products::Slice;

/// Elements of a message of matrices.
const PIECE: usize = 8192;

/// Rows of a product of matrices between two looks at the links.
const TICK_ROWS: usize = 32;

impl AstraEngine {
    /// `P_1` and `P_2`, as soon as a job has begun: show `P_0` its operands.
    pub(crate) fn show_operands(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match (Group::of(&self.party.plan, job, kind), kind) {
            (Some(group), _) => self.show_group(&group),
            (None, &OpKind::MatMul { a, b, dst, .. }) if job.last => {
                with_element!(self.party.domain(dst), E => self.show_matrices::<E>(job, a, b, dst))
            }
            _ => Ok(()),
        }
    }

    /// `P_1` and `P_2`, when a job is finished: note what `P_0` should have computed.
    pub(crate) fn note_results(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match (Group::of(&self.party.plan, job, kind), kind) {
            (Some(group), _) => self.note_group(&group),
            (None, &OpKind::MatMul { a, b, shape, dst }) if job.last => {
                with_element!(self.party.domain(dst), E => self.note_matrices::<E>(job, a, b, shape, dst)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// `P_0`: computes along on a job's masked operands.
    pub(crate) fn compute_masked(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match (Group::of(&self.party.plan, job, kind), kind) {
            (Some(group), _) => self.compute_group(&group),
            (None, &OpKind::MatMul { a, b, shape, dst }) if job.last => {
                with_element!(self.party.domain(dst), E => self.compute_matrices::<E>(job, a, b, shape, dst))
            }
            (None, &OpKind::Msb { dst, .. }) if job.stage == 0 => {
                self.expect_msbs(job, dst);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `P_1` and `P_2`: show `P_0` the operands of some products.
    pub(crate) fn show_group(&mut self, group: &Group<'_>) -> Result<(), Error> {
        match group.batch.domain {
            Domain::Bits => self.show(group, &Arithmetic::<u64>::BITS),
            domain => with_element!(domain, E => self.show(group, &Arithmetic::<E>::NUMBERS)),
        }
    }

    /// `P_1` and `P_2`: note what `P_0` should have computed of some products.
    pub(crate) fn note_group(&mut self, group: &Group<'_>) {
        match group.batch.domain {
            Domain::Bits => self.note_expected(group, &Arithmetic::<u64>::BITS),
            domain => with_element!(domain, E => self.note_expected(group, &Arithmetic::<E>::NUMBERS)),
        }
    }

    /// `P_0`: computes along on the masked operands of some products.
    pub(crate) fn compute_group(&mut self, group: &Group<'_>) -> Result<(), Error> {
        match group.batch.domain {
            Domain::Bits => self.compute(group, &Arithmetic::<u64>::BITS),
            domain => with_element!(domain, E => self.compute(group, &Arithmetic::<E>::NUMBERS)),
        }
    }

    /// `P_1` sends masked operands, left ones and then right ones; `P_2` notes them.
    fn show<E: Element>(&mut self, group: &Group<'_>, arithmetic: &Arithmetic<E>) -> Result<(), Error> {
        let batch = &group.batch;
        if unnoted(batch.domain) {
            return Ok(());
        }
        let mut masked = vec![E::ZERO; 2 * batch.words()];
        let drawn = [(LEFT, Drawn::LeftDelta), (RIGHT, Drawn::RightDelta)];
        for (masked, (which, drawn)) in halves(&mut masked).into_iter().zip(drawn) {
            self.fill_deltas(batch, drawn, masked);
            (arithmetic.add)(masked, &self.vector(group, which, 0));
        }
        let message = self.party.session.mesh().buffer(message_bytes(batch.domain, 2 * batch.count));
        let message = pack(batch.domain, &masked, 2, batch.count, message);
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

    /// `P_1` and `P_2`: note `m_z - m_x m_y + delta_z`.
    fn note_expected<E: Element>(&mut self, group: &Group<'_>, arithmetic: &Arithmetic<E>) {
        if unnoted(group.batch.domain) {
            return;
        }
        let [x, y, mut results] = [LEFT, RIGHT, RESULT].map(|which| self.vector(group, which, 0));
        (arithmetic.mul_sub)(&x, &y, &mut results);
        let deltas = self.deltas(&group.batch, Drawn::ResultDelta);
        (arithmetic.add)(&mut results, &deltas);
        self.note_packed(&group.batch, &results);
    }

    /// `P_0`: receives masked operands and notes what results from them.
    fn compute<E: Element>(&mut self, group: &Group<'_>, arithmetic: &Arithmetic<E>) -> Result<(), Error> {
        let batch = &group.batch;
        self.draw_result_masks::<E>(group);
        if unnoted(batch.domain) {
            return Ok(());
        }
        let [l_x, l_y, l_z] = [LEFT, RIGHT, RESULT].map(|which| self.mask_sum(group, which, arithmetic));
        let message = self.recv_shown(shown_at(batch), message_bytes(batch.domain, 2 * batch.count))?;
        let mut shown: Vec<E> = unpack(batch.domain, &message, 2, batch.count);
        self.party.session.mesh().recycle(message);
        let [x, y] = halves(&mut shown);
        (arithmetic.add)(x, &l_x);
        (arithmetic.add)(y, &l_y);
        let mut results = self.less_known(batch, arithmetic, &l_z)?;
        (arithmetic.mul_add)(x, &l_y, &mut results);
        (arithmetic.mul_add)(y, &l_x, &mut results);
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
        let domain = self.party.domain(dst);
        let batch = Self::sum_batch(job, domain, 0, 0);
        let [x, y] = [a, b].map(|reg| self.party.plan.register(reg).cols);
        let mut masked = vec![E::ZERO; x + y];
        let (left, right) = masked.split_at_mut(x);
        for (out, reg, drawn) in [(left, a, Drawn::LeftDelta), (right, b, Drawn::RightDelta)] {
            self.fill_deltas(&Batch { count: out.len(), ..batch }, drawn, out);
            ring::add_assign(out, self.party.component(0).get(reg).words());
        }
        for (piece, entries) in (0..).zip(masked.chunks(PIECE)) {
            let message = self.party.session.mesh().buffer(message_bytes(domain, entries.len()));
            let message = pack(domain, entries, 1, entries.len(), message);
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
        self.draw_masks::<E>(job, &Slice { reg: dst, bank: 0..z, first: 0 });
        let [l_x, l_y, l_z] =
            [(a, x), (b, y), (dst, z)].map(|(reg, cols)| self.party.sum_of::<E>(reg, 0..cols));
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
        ring::add_assign(left, &l_x);
        ring::add_assign(right, &l_y);
        let mut results = self.less_known(&batch, &Arithmetic::NUMBERS, &l_z)?;
        multiply(&mut self.party.session, shape, left, &l_y, &mut results)?;
        multiply(&mut self.party.session, shape, &l_x, right, &mut results)?;
        self.note_packed(&batch, &results);
        Ok(())
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
