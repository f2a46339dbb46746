//! AND, products and matrix products: one element from every party to the next.
//!
//! `P_i` computes `z_i = x_i y_i + x_i y_(i-1) + x_(i-1) y_i + rho_i - rho_(i-1)` and sends it to `P_(i+1)`,
//! where `rho_i` is the stream of `k_i` (Li et al. 2023, equation 2; Araki et al. 2016, section 2.3). The three
//! masks sum to zero and the nine products of components are each in one `z_i`. `P_(i+1)` doesn't hold
//! `k_(i-1)`, so `rho_(i-1)` hides `z_i` from it.

use crate::engine::{ReplicatedEngine, words_of};
use crate::{next, prev};
use std::any::Any;
use tacit_engine::bank::{Bank, row_words};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_kernel::matrix::Packed;
use tacit_kernel::{Word, bits, matrix, ring};
use tacit_program::plan::{MatrixShape, Reg, Rows};
use tacit_session::Stream;

/// Bytes of masks that are drawn at once: they stay in the first cache until they are used.
const BLOCK_BYTES: usize = 8 << 10;

/// Left matrices with fewer rows, dot products above all, don't earn what packing the right ones takes.
const ROWS_WORTH_PACKING: usize = 8;

/// The right matrices of a product, packed: `y_i + y_(i-1)` and `y_i`.
pub(crate) struct Prepared {
    op: u32,
    index: usize,
    /// Two `Packed` of the ring's word.
    packed: Box<dyn Any + Send>,
}

impl ReplicatedEngine {
    pub(crate) fn and_begin(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let cols = self.plan.register(dst.reg).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        let draw = Self::draw(job, 0);
        let mut out = self.own.take(dst.reg);
        let (own, prev_bank) = (&self.own, &self.prev);
        let (key, prev_key) = self.session.two_streams(next(self.me), prev(self.me));
        for index in 0..dst.count {
            let start = dst.row(index) as usize * stride;
            let row = &mut out.words_mut::<u64>()[start..start + stride];
            let (x, x_prev) = (own.row(a, index), prev_bank.row(a, index));
            let (y, y_prev) = (own.row(b, index), prev_bank.row(b, index));
            let mut from = words.start;
            while from < words.end {
                let to = words.end.min(from + BLOCK_BYTES / 8);
                let block = ((index as usize * stride + from) * 8 / 16) as u64;
                let z = &mut row[from..to];
                section(Section::Randomness, || {
                    key.xor(prev_key, draw, block, bytemuck::cast_slice_mut(z));
                });
                section(Section::Gates, || {
                    bits::cross(&x[from..to], &x_prev[from..to], &y[from..to], &y_prev[from..to], z);
                });
                from = to;
            }
        }
        self.own.put(dst.reg, out);
        self.send_rows(job, next(self.me), dst)
    }

    pub(crate) fn and_finish(&mut self, job: &Job, dst: Rows) -> Result<(), Error> {
        let message = self.recv_bits(job, prev(self.me), dst.count)?;
        self.store_rows(job, &message, dst);
        self.session.mesh().recycle(message);
        Ok(())
    }

    pub(crate) fn mul_begin(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        let mut out = self.own.take(dst);
        with_word!(self.width(dst), W => {
            let (x, y) = (self.own.get(a).words::<W>(), self.own.get(b).words::<W>());
            let (x_prev, y_prev) = (self.prev.get(a).words::<W>(), self.prev.get(b).words::<W>());
            let (key, prev_key) = self.session.two_streams(next(self.me), prev(self.me));
            let step = BLOCK_BYTES / W::BYTES;
            for from in job.cols.clone().step_by(step) {
                let range = from..job.cols.end.min(from + step);
                let z = &mut out.words_mut::<W>()[range.clone()];
                section(Section::Randomness, || {
                    key.sub(prev_key, Self::draw(job, 0), (from * W::BYTES / 16) as u64, z);
                });
                section(Section::Gates, || {
                    ring::cross(
                        &x[range.clone()],
                        &x_prev[range.clone()],
                        &y[range.clone()],
                        &y_prev[range],
                        z,
                    );
                });
            }
            let bytes = &out.bytes()[job.cols.start * W::BYTES..job.cols.end * W::BYTES];
            section(Section::Sending, || self.session.mesh().send(next(self.me), Self::at(job), bytes))?;
        });
        self.own.put(dst, out);
        Ok(())
    }

    pub(crate) fn mul_finish(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let width = self.width(dst).bytes();
        self.recv_elements(job, dst, job.cols.start * width, job.cols.end * width)
    }

    pub(crate) fn matmul_begin(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        let mut out = self.own.take(dst);
        let mut prepared = self.prepared.take();
        with_word!(self.width(dst), W => {
            let range = job.cols.start * shape.n..job.cols.end * shape.n;
            let z = &mut out.words_mut::<W>()[range.clone()];
            let (key, prev_key) = self.session.two_streams(next(self.me), prev(self.me));
            zero_share(key, prev_key, job, range.start, z);
            let own = (self.own.get(a).words::<W>(), self.own.get(b).words::<W>());
            let prev_words = (self.prev.get(a).words::<W>(), self.prev.get(b).words::<W>());
            let mesh = self.session.mesh();
            let mut both = Vec::new();
            let mut row = job.cols.start;
            while row < job.cols.end {
                // The rows of the job that belong to one matrix of the batch.
                let index = row / shape.m;
                let end = job.cols.end.min((index + 1) * shape.m);
                let left = row * shape.k..end * shape.k;
                let product = &mut z[(row - job.cols.start) * shape.n..(end - job.cols.start) * shape.n];
                // x_i (y_i + y_(i-1)) + x_(i-1) y_i: two products for three terms.
                if shape.m < ROWS_WORTH_PACKING {
                    let range = index * shape.k * shape.n..(index + 1) * shape.k * shape.n;
                    let right = &own.1[range.clone()];
                    both.resize(range.len(), W::ZERO);
                    ring::add(right, &prev_words.1[range], &mut both);
                    matrix::matmul(&own.0[left.clone()], &both, product, end - row, shape.k, shape.n);
                    matrix::matmul(&prev_words.0[left], right, product, end - row, shape.k, shape.n);
                } else {
                    let (right, both) =
                        right_matrices::<W>(&mut prepared, job.op, index, shape, own.1, prev_words.1);
                    both.multiply(&own.0[left.clone()], product, end - row);
                    mesh.tick()?;
                    right.multiply(&prev_words.0[left], product, end - row);
                }
                mesh.tick()?;
                row = end;
            }
            let bytes = range.start * W::BYTES..range.end * W::BYTES;
            self.session.mesh().send(next(self.me), Self::at(job), &out.bytes()[bytes])?;
        });
        self.prepared = if job.last { None } else { prepared };
        self.own.put(dst, out);
        Ok(())
    }

    pub(crate) fn matmul_finish(&mut self, job: &Job, shape: MatrixShape, dst: Reg) -> Result<(), Error> {
        let row = shape.n * self.width(dst).bytes();
        self.recv_elements(job, dst, job.cols.start * row, job.cols.end * row)
    }

    /// Sends rows of this party's own components.
    pub(crate) fn send_rows(&mut self, job: &Job, to: usize, rows: Rows) -> Result<(), Error> {
        let bank = &self.own;
        send_rows(&mut self.session, bank, job, to, rows)
    }

    /// Receives bits for `count` rows of a job's columns.
    pub(crate) fn recv_bits(&mut self, job: &Job, from: usize, count: u32) -> Result<Vec<u8>, Error> {
        let bytes = (count as usize * job.cols.len()).div_ceil(8);
        Ok(section(Section::Receiving, || self.session.mesh().recv(from, Self::at(job), bytes))?)
    }

    /// Stores rows of bits as the previous party's components.
    fn store_rows(&mut self, job: &Job, message: &[u8], rows: Rows) {
        let stride = row_words(self.plan.register(rows.reg).cols);
        let words = self.prev.make(rows.reg).words_mut();
        section(Section::Receiving, || {
            bits::unpack_rows(message, words, stride, Bank::stack(rows), job.cols.clone());
        });
    }

    fn recv_elements(&mut self, job: &Job, dst: Reg, from: usize, to: usize) -> Result<(), Error> {
        section(Section::Receiving, || {
            let message = self.session.mesh().recv(prev(self.me), Self::at(job), to - from)?;
            self.prev.make(dst).bytes_mut()[from..to].copy_from_slice(&message);
            self.session.mesh().recycle(message);
            Ok(())
        })
    }
}

/// Packs rows of a bank and sends them.
pub(crate) fn send_rows(
    session: &mut tacit_session::Session,
    bank: &Bank,
    job: &Job,
    to: usize,
    rows: Rows,
) -> Result<(), Error> {
    section(Section::Sending, || {
        let stride = row_words(bank.shape(rows.reg).cols);
        let bytes = (rows.count as usize * job.cols.len()).div_ceil(8);
        let mut message = session.mesh().buffer(bytes);
        message.resize(bytes, 0);
        let words = bank.get(rows.reg).words();
        bits::pack_rows(words, stride, Bank::stack(rows), job.cols.clone(), &mut message);
        Ok(session.mesh().send_vec(to, ReplicatedEngine::at(job), message)?)
    })
}

/// Fills `z` with a sharing of zero, for elements from `start` on.
fn zero_share<W: Word>(key: &mut Stream, prev_key: &mut Stream, job: &Job, start: usize, z: &mut [W]) {
    key.sub(prev_key, ReplicatedEngine::draw(job, 0), (start * W::BYTES / 16) as u64, z);
}

/// `y_i` and `y_i + y_(i-1)` of one matrix of the batch, packed; kept from one job to the next.
fn right_matrices<'a, W: Word>(
    prepared: &'a mut Option<Prepared>,
    op: u32,
    index: usize,
    shape: MatrixShape,
    own: &[W],
    prev: &[W],
) -> &'a (Packed<W>, Packed<W>) {
    let fits = prepared.as_ref().is_some_and(|prepared| {
        prepared.op == op && prepared.index == index && prepared.packed.is::<(Packed<W>, Packed<W>)>()
    });
    if !fits {
        let range = index * shape.k * shape.n..(index + 1) * shape.k * shape.n;
        let mut sum = vec![W::ZERO; range.len()];
        ring::add(&own[range.clone()], &prev[range.clone()], &mut sum);
        let packed = (Packed::new(&own[range], shape.k, shape.n), Packed::new(&sum, shape.k, shape.n));
        *prepared = Some(Prepared { op, index, packed: Box::new(packed) });
    }
    prepared
        .as_ref()
        .and_then(|prepared| prepared.packed.downcast_ref())
        .expect("the matrices were packed with this word just now or before")
}
