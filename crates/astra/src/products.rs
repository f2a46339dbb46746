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
use crate::seats::other_holder;
use crate::state::{AstraEngine, no_material};
use tacit_engine::bank::words_of;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{OpKind, Reg};
use tacit_session::At;
use tacit_threeparty::products::{Products, Results, Slice};
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
        let block = place.block::<E>();
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
    pub(crate) fn product_begin(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        let results = Results::of(job, kind);
        let mut part = self.take_part(job, &results);
        let message = self.part(job, kind, &mut part, self.me != 0)?;
        self.put_part(results.reg(), part);
        self.send(job, self.receiver(), message)
    }

    /// Receives a job's part of results: shares offline, the other evaluator's part online.
    pub(crate) fn results_finish(&mut self, job: &Job, from: usize, results: &Results) -> Result<(), Error> {
        let message = self.recv(job, from, results.message_bytes(&self.party.plan, job))?;
        section(Section::Receiving, || {
            if self.walk == Walk::Offline {
                return self.keep_shares(job, results, &message);
            }
            results.add(self.party.component_mut(0), job, &message);
            Ok(())
        })?;
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// `P_2`: keeps its shares of a job's results.
    pub(crate) fn keep_shares(&mut self, job: &Job, results: &Results, message: &[u8]) -> Result<(), Error> {
        let plan = self.party.plan.clone();
        results.alone().unpack(&plan, job, message, self.ahead()?.shares_mut(job.op));
        Ok(())
    }

    /// Where a job's part of a product is computed: where `m` will be; of `P_0`, which has no `m`, in memory for that part
    /// alone.
    fn take_part(&mut self, job: &Job, results: &Results) -> Buffer {
        if self.me != 0 {
            return self.party.component_mut(0).take(results.reg());
        }
        let shape = self.party.plan.register(results.reg());
        let bytes = match results {
            Results::Rows(rows) => rows.count as usize * words_of(&job.cols, shape.cols).len() * 8,
            Results::Elements(_, cols) => with_element!(shape.domain, E => cols.len() * E::BYTES),
        };
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
        for component in self.held_masks() {
            let stream = &mut self.streams[other_holder(self.me, component)];
            let masks = self.party.component_mut(component).make(place.reg).words_mut::<E>();
            let masks = &mut masks[place.bank.clone()];
            stream.fill_elements(Self::draw(job, Drawn::Mask), place.block::<E>(), masks);
        }
    }
}
