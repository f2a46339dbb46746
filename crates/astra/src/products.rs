//! AND, products and matrix products: one element offline, two online (figures 3 and 11).
//!
//! With components, `x y = (x_0 + x_1 + x_2)(y_0 + y_1 + y_2)`, and `m_z = x y - z_1 - z_2`, where `z_1` and `z_2` are
//! drawn. Each party computes the three of the nine terms whose components it has ([`tacit_engine::cross`]):
//!
//! - `P_0`, offline: `x_2 y_2 + x_2 y_1 + x_1 y_2`. It sends this less `g`, which it draws with `P_1`, to `P_2`.
//! - `P_1`: `x_1 y_1 + x_1 y_0 + x_0 y_1 + g - z_1`, sent to `P_2`.
//! - `P_2`: `x_0 y_0 + x_0 y_2 + x_2 y_0 - z_2` and what `P_0` sent, sent to `P_1`.
//!
//! The sum is `m_z`. The paper's `gamma_(x y)` is `P_0`'s part with `x_1 y_1`, which `P_1` adds itself here. What `P_2` gets
//! offline is hidden by `g`, which it doesn't know; what `P_1` and `P_2` get online is hidden by `z_2` and `z_1`: `m_z`
//! is uniform to either. A product of matrices or vectors is one element for each entry of the result.

use crate::engine::{AstraEngine, Drawn, Walk, words_of};
use std::ops::Range;
use tacit_engine::bank::{Bank, row_words};
use tacit_engine::profile::{Section, section};
use tacit_engine::wire::{message_bytes, pack_columns};
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Buffer, Element, bits, pack, ring};
use tacit_program::plan::{MatrixShape, Reg, Rows};

/// Bytes of masks that are drawn at once: they stay in the first cache until they are used.
const BLOCK_BYTES: usize = 8 << 10;

/// Where some elements of a result are: in the banks, and among the operation's draws and shares.
pub(crate) struct Slice {
    pub(crate) reg: Reg,
    pub(crate) bank: Range<usize>,
    /// The first one's number.
    pub(crate) first: usize,
}

impl AstraEngine {
    pub(crate) fn and_begin(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let cols = self.plan.register(dst.reg).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        // Where the part's rows are: of P_0 one after another, of the others where m's are.
        let all = Rows::run(dst.reg, 0, dst.count);
        let (rows, part_stride, cols) = match self.me {
            0 => (all, words.len(), 0..job.cols.len()),
            _ => (dst, stride, job.cols.clone()),
        };
        let mut part = self.take_part(dst.reg, dst.count as usize * words.len() * 8);
        for index in 0..dst.count {
            let row = dst.row(index) as usize * stride;
            for from in words.clone().step_by(BLOCK_BYTES / 8) {
                let range = from..words.end.min(from + BLOCK_BYTES / 8);
                let bank = row + range.start..row + range.end;
                let start = rows.row(index) as usize * part_stride + cols.start / 64 + from - words.start;
                let z = &mut part.words_mut::<u64>()[start..start + range.len()];
                let place = Slice { reg: dst.reg, bank, first: index as usize * stride + from };
                self.mask_part(job, &place, z, bits::xor_assign)?;
                section(Section::Gates, || {
                    let [x, y] = [a, b].map(|rows| &self.first.row(rows, index)[range.clone()]);
                    let [x_s, y_s] = [a, b].map(|rows| &self.second.row(rows, index)[range.clone()]);
                    bits::cross(x, x_s, y, y_s, z);
                });
            }
        }
        section(Section::Sending, || {
            let message = self.pack_rows(&part, rows, part_stride, cols);
            self.send_part(job, message)
        })?;
        self.put_part(dst.reg, part);
        Ok(())
    }

    pub(crate) fn and_finish(&mut self, job: &Job, from: usize, dst: Rows) -> Result<(), Error> {
        let cols = self.plan.register(dst.reg).cols;
        let stride = row_words(cols);
        let message = self.recv_part(job, from, (dst.count as usize * job.cols.len()).div_ceil(8))?;
        section(Section::Receiving, || {
            if self.walk == Walk::Offline {
                return self.keep_and_shares(job, dst, &message);
            }
            let words = words_of(&job.cols, cols);
            let mut theirs = vec![0; dst.count as usize * words.len()];
            let rows = Bank::stack(Rows::run(0, 0, dst.count));
            bits::unpack_rows(&message, &mut theirs, words.len(), rows, 0..job.cols.len());
            let masked = self.bank(0).make(dst.reg).words_mut();
            for (index, theirs) in (0..dst.count).zip(theirs.chunks_exact(words.len().max(1))) {
                let row = dst.row(index) as usize * stride;
                bits::xor_assign(&mut masked[row + words.start..row + words.end], theirs);
            }
            Ok::<(), Error>(())
        })?;
        self.session.mesh().recycle(message);
        Ok(())
    }

    /// `P_2`: keeps its shares of a job's ANDs.
    pub(crate) fn keep_and_shares(&mut self, job: &Job, dst: Rows, message: &[u8]) -> Result<(), Error> {
        let stride = row_words(self.plan.register(dst.reg).cols);
        let shares = bytemuck::cast_slice_mut(self.ahead()?.shares_mut(job.op));
        let rows = Bank::stack(Rows::run(0, 0, dst.count));
        bits::unpack_rows(message, shares, stride, rows, job.cols.clone());
        Ok(())
    }

    pub(crate) fn mul_begin(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        let (first, domain) = (self.first_of_part(&job.cols), self.domain(dst));
        let mut part = self.take_part(dst, with_element!(domain, E => job.cols.len() * E::BYTES));
        with_element!(domain, E => {
            for from in job.cols.clone().step_by(BLOCK_BYTES / E::DRAWN) {
                let range = from..job.cols.end.min(from + BLOCK_BYTES / E::DRAWN);
                let z = &mut part.words_mut::<E>()[range.start - first..range.end - first];
                let place = Slice { reg: dst, bank: range.clone(), first: from };
                self.mask_part::<E>(job, &place, z, ring::sub_assign)?;
                section(Section::Gates, || {
                    let [x, y] = [a, b].map(|reg| &self.first.get(reg).words::<E>()[range.clone()]);
                    let [x_s, y_s] = [a, b].map(|reg| &self.second.get(reg).words::<E>()[range.clone()]);
                    ring::cross(x, x_s, y, y_s, z);
                });
            }
        });
        self.send_elements(job, dst, part, job.cols.clone())
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
        let (first, domain) = (self.first_of_part(&range), self.domain(dst));
        let mut part = self.take_part(dst, with_element!(domain, E => range.len() * E::BYTES));
        with_element!(domain, E => {
            let z = &mut part.words_mut::<E>()[range.start - first..range.end - first];
            let place = Slice { reg: dst, bank: range.clone(), first: range.start };
            self.mask_part::<E>(job, &place, z, ring::sub_assign)?;
            let mesh = self.session.mesh();
            let operands = [a, b].map(|reg| [&self.first, &self.second].map(|bank| bank.get(reg).words::<E>()));
            section(Section::Gates, || {
                self.right.multiply(job, shape, operands[0], operands[1], z, &mut || Ok(mesh.tick()?))
            })?;
        });
        self.send_elements(job, dst, part, range)
    }

    /// Receives elements of a product: shares offline, the other evaluator's part online.
    pub(crate) fn elements_finish(
        &mut self,
        job: &Job,
        from: usize,
        dst: Reg,
        cols: Range<usize>,
    ) -> Result<(), Error> {
        let shape = self.plan.register(dst);
        let message = self.recv_part(job, from, message_bytes(shape.domain, cols.len()))?;
        section(Section::Receiving, || {
            with_element!(shape.domain, E => {
                let bits = shape.domain.bits() as u32;
                if self.walk == Walk::Offline {
                    let shares = bytemuck::cast_slice_mut::<u8, E>(self.ahead()?.shares_mut(job.op));
                    pack::unpack(&message, bits, &mut shares[cols]);
                } else {
                    let mut theirs = Buffer::of_words::<E>(cols.len());
                    pack::unpack(&message, bits, theirs.words_mut::<E>());
                    ring::add_assign(&mut self.bank(0).make(dst).words_mut::<E>()[cols], theirs.words());
                }
            });
            Ok::<(), Error>(())
        })?;
        self.session.mesh().recycle(message);
        Ok(())
    }

    /// Where a job's part of a product is computed: where `m` will be; of `P_0`, which has no `m`, in memory for that part
    /// alone, of so many bytes.
    fn take_part(&mut self, dst: Reg, bytes: usize) -> Buffer {
        if self.me != 0 {
            return self.bank(0).take(dst);
        }
        let mut part = std::mem::take(&mut self.part);
        part.reuse(bytes);
        part
    }

    fn put_part(&mut self, dst: Reg, part: Buffer) {
        if self.me == 0 {
            self.part = part;
        } else {
            self.bank(0).put(dst, part);
        }
    }

    /// The column that is the first in such memory.
    fn first_of_part(&self, cols: &Range<usize>) -> usize {
        if self.me == 0 { cols.start } else { 0 }
    }

    /// Draws the masks of some elements of a result, and begins this party's part with what hides it; `minus`
    /// subtracts.
    fn mask_part<E: Element>(
        &mut self,
        job: &Job,
        place: &Slice,
        z: &mut [E],
        minus: fn(&mut [E], &[E]),
    ) -> Result<(), Error> {
        let block = (place.first * E::DRAWN / 16) as u64;
        let draw = |drawn| Self::draw(job, drawn);
        section(Section::Randomness, || {
            match self.me {
                0 => {
                    let one = &mut self.second.make(place.reg).words_mut::<E>()[place.bank.clone()];
                    self.streams[1].fill_elements(draw(Drawn::Share), block, one);
                    z.fill(E::ZERO);
                    minus(z, one);
                }
                1 => self.streams[0].fill_elements(draw(Drawn::Share), block, z),
                _ => {
                    let shares = self.ahead.as_ref().ok_or_else(no_material)?.shares(job.op);
                    z.copy_from_slice(&bytemuck::cast_slice(shares)[place.first..place.first + z.len()]);
                }
            }
            self.draw_masks::<E>(job, place);
            if self.me != 0 {
                let me = self.me;
                minus(z, &self.bank(me).get(place.reg).words()[place.bank.clone()]);
            }
            Ok(())
        })
    }

    /// Draws the masks of some elements of a result, as far as this party holds them.
    pub(crate) fn draw_masks<E: Element>(&mut self, job: &Job, place: &Slice) {
        let block = (place.first * E::DRAWN / 16) as u64;
        for component in self.held_masks() {
            // Whom this party shares the key of the component with.
            let other = if self.me == 0 { component } else { 0 };
            let bank = if component == 2 - self.me { &mut self.first } else { &mut self.second };
            let masks = &mut bank.make(place.reg).words_mut::<E>()[place.bank.clone()];
            self.streams[other].fill_elements(Self::draw(job, Drawn::Mask), block, masks);
        }
    }

    fn send_elements(&mut self, job: &Job, dst: Reg, part: Buffer, cols: Range<usize>) -> Result<(), Error> {
        let first = self.first_of_part(&cols);
        section(Section::Sending, || {
            let shape = self.plan.register(dst);
            let mut message = self.session.mesh().buffer(message_bytes(shape.domain, cols.len()));
            pack_columns(shape, &part, cols.start - first..cols.end - first, &mut message);
            self.send_part(job, message)
        })?;
        self.put_part(dst, part);
        Ok(())
    }

    /// Columns of rows of bits as a message.
    pub(crate) fn pack_rows(
        &mut self,
        data: &Buffer,
        rows: Rows,
        stride: usize,
        cols: Range<usize>,
    ) -> Vec<u8> {
        let bytes = (rows.count as usize * cols.len()).div_ceil(8);
        let mut message = self.session.mesh().buffer(bytes);
        message.resize(bytes, 0);
        bits::pack_rows(data.words(), stride, Bank::stack(rows), cols, &mut message);
        message
    }

    /// Sends this party's part of a product: `P_0` to `P_2`, these two to each other.
    pub(crate) fn send_part(&mut self, job: &Job, message: Vec<u8>) -> Result<(), Error> {
        let (to, at) = (self.receiver(), self.at(job));
        Ok(self.session.mesh().send_vec(to, at, message)?)
    }

    pub(crate) fn recv_part(&mut self, job: &Job, from: usize, bytes: usize) -> Result<Vec<u8>, Error> {
        let at = self.at(job);
        Ok(section(Section::Receiving, || self.session.mesh().recv(from, at, bytes))?)
    }
}

/// A walk on masked values that nothing was made for.
pub(crate) fn no_material() -> Error {
    Error::Refused("no material was loaded".to_owned())
}
