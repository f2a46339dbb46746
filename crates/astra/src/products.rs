//! AND, products and matrix products: one element offline, two online (figures 3 and 11).
//!
//! With components, `x y = (x_0 + x_1 + x_2)(y_0 + y_1 + y_2)`, and `m_z = x y - z_1 - z_2`, where `z_1` and `z_2` are
//! drawn. Each party computes the three of the nine terms whose components it has ([`tacit_threeparty::products`]):
//!
//! - `P_0`, offline: `x_2 y_2 + x_2 y_1 + x_1 y_2`. It sends this less `g`, which it draws with `P_1`, to `P_2`.
//! - `P_1`: `x_1 y_1 + x_1 y_0 + x_0 y_1 + g - z_1`, sent to `P_2`.
//! - `P_2`: `x_0 y_0 + x_0 y_2 + x_2 y_0 - z_2` and what `P_0` sent, sent to `P_1`.
//!
//! The sum is `m_z`. The paper's `gamma_(x y)` is `P_0`'s part with `x_1 y_1`, which `P_1` adds itself here. What `P_2` gets
//! offline is hidden by `g`, which it doesn't know; what `P_1` and `P_2` get online is hidden by `z_2` and `z_1`: `m_z`
//! is uniform to either. A product of matrices or vectors is one element for each entry of the result.

use crate::draws::{Drawn, Walk};
use crate::state::{AstraEngine, no_material};
use std::ops::Range;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::wire::message_bytes;
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Buffer, Element, bits, pack};
use tacit_program::plan::{MatrixShape, Reg, Rows};
use tacit_session::At;
use tacit_threeparty::products::{Products, Slice, add_columns, add_rows, entries, rows_bytes};
use tacit_threeparty::{Arithmetic, Party};

impl Products for AstraEngine {
    fn party(&mut self) -> &mut Party {
        &mut self.party
    }

    fn at(&self, job: &Job) -> At {
        self.address(job)
    }

    /// Draws the masks of the elements, too.
    fn mask<E: Element>(
        &mut self,
        job: &Job,
        place: &Slice,
        arithmetic: &Arithmetic<E>,
        z: &mut [E],
    ) -> Result<(), Error> {
        let block = (place.first * E::DRAWN / 16) as u64;
        let draw = |drawn| Self::draw(job, drawn);
        section(Section::Randomness, || {
            match self.me {
                0 => {
                    let one = &mut self.party.prev.make(place.reg).words_mut::<E>()[place.bank.clone()];
                    self.streams[1].fill_elements(draw(Drawn::Share), block, one);
                    z.fill(E::ZERO);
                    (arithmetic.sub)(z, one);
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
                (arithmetic.sub)(z, &self.party.component_mut(me).get(place.reg).words()[place.bank.clone()]);
            }
            Ok(())
        })
    }
}

impl AstraEngine {
    pub(crate) fn and_begin(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let words = words_of(&job.cols, self.party.plan.register(dst.reg).cols).len();
        let mut part = self.take_part(dst.reg, dst.count as usize * words * 8);
        let message = self.part_of_ands(job, [a, b], dst, &mut part, self.me != 0)?;
        self.put_part(dst.reg, part);
        self.send(job, self.receiver(), message)
    }

    pub(crate) fn and_finish(&mut self, job: &Job, from: usize, dst: Rows) -> Result<(), Error> {
        let message = self.recv(job, from, rows_bytes(job, dst.count))?;
        section(Section::Receiving, || {
            if self.walk == Walk::Offline {
                return self.keep_and_shares(job, dst, &message);
            }
            add_rows(self.party.component_mut(0), job, dst, &message);
            Ok(())
        })?;
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// `P_2`: keeps its shares of a job's ANDs.
    pub(crate) fn keep_and_shares(&mut self, job: &Job, dst: Rows, message: &[u8]) -> Result<(), Error> {
        let stride = row_words(self.party.plan.register(dst.reg).cols);
        let shares = bytemuck::cast_slice_mut(self.ahead()?.shares_mut(job.op));
        let rows = Bank::stack(Rows::run(0, 0, dst.count));
        bits::unpack_rows(message, shares, stride, rows, job.cols.clone());
        Ok(())
    }

    pub(crate) fn mul_begin(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        let bytes = with_element!(self.party.domain(dst), E => job.cols.len() * E::BYTES);
        let mut part = self.take_part(dst, bytes);
        let message = self.part_of_products(job, [a, b], dst, &mut part, self.me != 0)?;
        self.put_part(dst, part);
        self.send(job, self.receiver(), message)
    }

    pub(crate) fn matmul_begin(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        let bytes = with_element!(self.party.domain(dst), E => entries(job, shape).len() * E::BYTES);
        let mut part = self.take_part(dst, bytes);
        let message = self.part_of_matrices(job, [a, b], shape, dst, &mut part, self.me != 0)?;
        self.put_part(dst, part);
        self.send(job, self.receiver(), message)
    }

    /// Receives elements of a product: shares offline, the other evaluator's part online.
    pub(crate) fn elements_finish(
        &mut self,
        job: &Job,
        from: usize,
        dst: Reg,
        cols: Range<usize>,
    ) -> Result<(), Error> {
        let shape = self.party.plan.register(dst);
        let message = self.recv(job, from, message_bytes(shape.domain, cols.len()))?;
        section(Section::Receiving, || {
            if self.walk == Walk::Online {
                add_columns(self.party.component_mut(0), dst, cols, &message);
                return Ok(());
            }
            let bits = shape.domain.bits() as u32;
            with_element!(shape.domain, E => {
                let shares = bytemuck::cast_slice_mut::<u8, E>(self.ahead()?.shares_mut(job.op));
                pack::unpack(&message, bits, &mut shares[cols]);
            });
            Ok::<(), Error>(())
        })?;
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// Where a job's part of a product is computed: where `m` will be; of `P_0`, which has no `m`, in memory for that part
    /// alone, of so many bytes.
    fn take_part(&mut self, dst: Reg, bytes: usize) -> Buffer {
        if self.me != 0 {
            return self.party.component_mut(0).take(dst);
        }
        let mut part = std::mem::take(&mut self.part);
        part.reuse(bytes);
        part
    }

    fn put_part(&mut self, dst: Reg, part: Buffer) {
        if self.me == 0 {
            self.part = part;
        } else {
            self.party.component_mut(0).put(dst, part);
        }
    }

    /// Draws the masks of some elements of a result, as far as this party holds them.
    pub(crate) fn draw_masks<E: Element>(&mut self, job: &Job, place: &Slice) {
        let block = (place.first * E::DRAWN / 16) as u64;
        for component in self.held_masks() {
            // Whom this party shares the key of the component with.
            let other = if self.me == 0 { component } else { 0 };
            let bank = if component == 2 - self.me { &mut self.party.own } else { &mut self.party.prev };
            let masks = &mut bank.make(place.reg).words_mut::<E>()[place.bank.clone()];
            self.streams[other].fill_elements(Self::draw(job, Drawn::Mask), block, masks);
        }
    }
}
