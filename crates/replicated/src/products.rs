//! AND, products and matrix products: one element from every party to the next.
//!
//! `P_i` computes `z_i = x_i y_i + x_i y_(i-1) + x_(i-1) y_i + rho_i - rho_(i-1)` and sends it to `P_(i+1)`,
//! where `rho_i` is the stream of `k_i` (Li et al. 2023, equation 2; Araki et al. 2016, section 2.3). The three
//! masks sum to zero and the nine products of components are each in one `z_i`. `P_(i+1)` doesn't hold
//! `k_(i-1)`, so `rho_(i-1)` hides `z_i` from it.
//!
//! With information-theoretic zero-sharing the masks are fresh randomness: see [`crate::fresh`].

use crate::engine::{ReplicatedEngine, words_of};
use crate::planted::{Mistake, planted};
use crate::{ZeroSharing, next, prev};
use std::ops::Range;
use tacit_engine::bank::{Bank, row_words};
use tacit_engine::profile::{Section, section};
use tacit_engine::wire::{message_bytes, pack_columns, unpack_columns};
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Element, bits, ring};
use tacit_program::plan::{MatrixShape, Reg, Rows};
use tacit_session::Session;

/// Bytes of masks that are drawn at once: they stay in the first cache until they are used.
const BLOCK_BYTES: usize = 8 << 10;

impl ReplicatedEngine {
    pub(crate) fn and_begin(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let cols = self.plan.register(dst.reg).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        let draw = Self::draw(job, 0);
        if self.zero_sharing == ZeroSharing::InformationTheoretic {
            self.draw_rows(job, dst)?;
        }
        if self.verified.is_some() && !planted(Mistake::AndsUnnoted) {
            return self.noted_and(job, a, b, dst);
        }
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
                match self.zero_sharing {
                    ZeroSharing::Computational => {
                        let block = ((index as usize * stride + from) * 8 / 16) as u64;
                        section(Section::Randomness, || {
                            key.xor(prev_key, draw, block, bytemuck::cast_slice_mut(&mut row[from..to]));
                        });
                    }
                    ZeroSharing::InformationTheoretic => {
                        row[from..to].copy_from_slice(&prev_bank.row(dst, index)[from..to]);
                    }
                }
                let z = &mut row[from..to];
                section(Section::Gates, || {
                    bits::cross(&x[from..to], &x_prev[from..to], &y[from..to], &y_prev[from..to], z);
                });
                from = to;
            }
        }
        self.own.put(dst.reg, out);
        self.send_rows(job, next(self.me), dst)
    }

    /// As [`Self::and_begin`], and notes what the proofs will be about.
    fn noted_and(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let cols = self.plan.register(dst.reg).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        let draw = Self::draw(job, 0);
        let mut masks = [0, 1].map(|_| vec![0_u64; dst.count as usize * words.len()]);
        let (key, prev_key) = self.session.two_streams(next(self.me), prev(self.me));
        for (stream, masks) in [key, prev_key].into_iter().zip(&mut masks) {
            for (index, row) in masks.chunks_exact_mut(words.len()).enumerate() {
                let block = ((index * stride + words.start) * 8 / 16) as u64;
                stream.fill(draw, block, bytemuck::cast_slice_mut(row));
            }
        }
        let bits = dst.count as usize * job.cols.len();
        let proofs = &mut self.verified.as_mut().expect("only verified ANDs are noted").proofs;
        let mut noted = proofs
            .begin(bits.div_ceil(64))
            .map(|plane| &mut bytemuck::cast_slice_mut(plane)[..bits.div_ceil(8)])
            .into_iter();
        for (bank, rows) in [(&self.own, a), (&self.own, b), (&self.prev, a), (&self.prev, b)] {
            let stride = row_words(bank.shape(rows.reg).cols);
            let plane = noted.next().expect("a plane for every bit that is noted");
            bits::pack_rows(bank.get(rows.reg).words(), stride, Bank::stack(rows), job.cols.clone(), plane);
        }
        let all = Rows::run(dst.reg, 0, dst.count);
        for (plane, masks) in noted.zip(&masks) {
            bits::pack_rows(masks, words.len(), Bank::stack(all), 0..job.cols.len(), plane);
        }
        let mut out = self.own.take(dst.reg);
        for index in 0..dst.count {
            let start = dst.row(index) as usize * stride;
            let z = &mut out.words_mut::<u64>()[start + words.start..start + words.end];
            let mask = index as usize * words.len()..(index as usize + 1) * words.len();
            bits::xor(&masks[0][mask.clone()], &masks[1][mask], z);
            let [x, y] = [a, b].map(|rows| &self.own.row(rows, index)[words.clone()]);
            let [x_prev, y_prev] = [a, b].map(|rows| &self.prev.row(rows, index)[words.clone()]);
            bits::cross(x, x_prev, y, y_prev, z);
        }
        self.own.put(dst.reg, out);
        self.send_rows(job, next(self.me), dst)
    }

    pub(crate) fn and_finish(&mut self, job: &Job, dst: Rows) -> Result<(), Error> {
        match self.zero_sharing {
            ZeroSharing::Computational => {
                let message = self.recv_bits(job, prev(self.me), dst.count)?;
                self.store_rows(job, &message, dst);
                if let Some(verified) = self.verified.as_mut().filter(|_| !planted(Mistake::AndsUnnoted)) {
                    verified.proofs.finish(&message);
                    verified.proofs.go_on(&mut self.session)?;
                }
                self.session.mesh().recycle(message);
                Ok(())
            }
            ZeroSharing::InformationTheoretic => {
                self.add_rows(job, prev(self.me), dst)?;
                self.add_rows(job, next(self.me), dst)
            }
        }
    }

    pub(crate) fn mul_begin(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        if self.zero_sharing == ZeroSharing::InformationTheoretic {
            self.draw_elements(job, dst, job.cols.clone())?;
        }
        let mut out = self.own.take(dst);
        with_element!(self.domain(dst), E => {
            let (x, y) = (self.own.get(a).words::<E>(), self.own.get(b).words::<E>());
            let (x_prev, y_prev) = (self.prev.get(a).words::<E>(), self.prev.get(b).words::<E>());
            for from in job.cols.clone().step_by(BLOCK_BYTES / E::DRAWN) {
                let range = from..job.cols.end.min(from + BLOCK_BYTES / E::DRAWN);
                let z = &mut out.words_mut::<E>()[range.clone()];
                section(Section::Randomness, || {
                    mask(&mut self.session, self.zero_sharing, &self.prev, job, dst, from, z);
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
        });
        self.own.put(dst, out);
        self.send_elements(job, next(self.me), dst, job.cols.clone())
    }

    pub(crate) fn mul_finish(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        self.recv_products(job, dst, job.cols.clone())
    }

    pub(crate) fn matmul_begin(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        let range = job.cols.start * shape.n..job.cols.end * shape.n;
        if self.zero_sharing == ZeroSharing::InformationTheoretic {
            self.draw_elements(job, dst, range.clone())?;
        }
        let mut out = self.own.take(dst);
        with_element!(self.domain(dst), E => {
            let z = &mut out.words_mut::<E>()[range.clone()];
            mask(&mut self.session, self.zero_sharing, &self.prev, job, dst, range.start, z);
            let mesh = self.session.mesh();
            let operands = [a, b].map(|reg| [self.own.get(reg).words::<E>(), self.prev.get(reg).words::<E>()]);
            self.right.multiply(job, shape, operands[0], operands[1], z, &mut || Ok(mesh.tick()?))?;
        });
        self.own.put(dst, out);
        self.send_elements(job, next(self.me), dst, range)
    }

    pub(crate) fn matmul_finish(&mut self, job: &Job, shape: MatrixShape, dst: Reg) -> Result<(), Error> {
        self.recv_products(job, dst, job.cols.start * shape.n..job.cols.end * shape.n)
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

    /// Sends columns of this party's own component.
    fn send_elements(&mut self, job: &Job, to: usize, reg: Reg, cols: Range<usize>) -> Result<(), Error> {
        section(Section::Sending, || send_elements(&mut self.session, &self.own, job, to, reg, cols))
    }

    /// Receives what completes columns of a product.
    fn recv_products(&mut self, job: &Job, dst: Reg, cols: Range<usize>) -> Result<(), Error> {
        match self.zero_sharing {
            ZeroSharing::Computational => section(Section::Receiving, || {
                let message = self.recv_elements(job, prev(self.me), dst, &cols)?;
                unpack_columns(self.plan.register(dst), &message, cols, self.prev.make(dst));
                self.session.mesh().recycle(message);
                Ok(())
            }),
            ZeroSharing::InformationTheoretic => {
                self.add_elements(job, prev(self.me), dst, cols.clone())?;
                self.add_elements(job, next(self.me), dst, cols)
            }
        }
    }

    pub(crate) fn recv_elements(
        &mut self,
        job: &Job,
        from: usize,
        reg: Reg,
        cols: &Range<usize>,
    ) -> Result<Vec<u8>, Error> {
        let bytes = message_bytes(self.domain(reg), cols.len());
        Ok(self.session.mesh().recv(from, Self::at(job), bytes)?)
    }
}

/// Fills `z` with this party's part of a sharing of zero, for elements of `dst` from `start` on; where it doesn't come
/// from streams, with the part that this party drew, which `prev` holds.
fn mask<E: Element>(
    session: &mut Session,
    zero_sharing: ZeroSharing,
    prev_bank: &Bank,
    job: &Job,
    dst: Reg,
    start: usize,
    z: &mut [E],
) {
    match zero_sharing {
        ZeroSharing::Computational => {
            let me = session.me();
            let (key, prev_key) = session.two_streams(next(me), prev(me));
            key.sub(prev_key, ReplicatedEngine::draw(job, 0), (start * E::DRAWN / 16) as u64, z);
        }
        ZeroSharing::InformationTheoretic => {
            let drawn = &prev_bank.get(dst).words::<E>()[start..start + z.len()];
            ring::neg(drawn, z);
        }
    }
}

/// Packs columns of a bank and sends them.
pub(crate) fn send_elements(
    session: &mut Session,
    bank: &Bank,
    job: &Job,
    to: usize,
    reg: Reg,
    cols: Range<usize>,
) -> Result<(), Error> {
    let shape = bank.shape(reg);
    let mut message = session.mesh().buffer(message_bytes(shape.domain, cols.len()));
    pack_columns(shape, bank.get(reg), cols, &mut message);
    Ok(session.mesh().send_vec(to, ReplicatedEngine::at(job), message)?)
}

/// Packs rows of a bank and sends them.
pub(crate) fn send_rows(
    session: &mut Session,
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
