//! AND, products and matrix products: one element from every party to the next.
//!
//! `P_i` computes `z_i = x_i y_i + x_i y_(i-1) + x_(i-1) y_i + rho_i - rho_(i-1)` and sends it to `P_(i+1)`,
//! where `rho_i` is the stream of `k_i` (Li et al. 2023, equation 2; Araki et al. 2016, section 2.3). The three
//! masks sum to zero and the nine products of components are each in one `z_i`. `P_(i+1)` doesn't hold
//! `k_(i-1)`, so `rho_(i-1)` hides `z_i` from it.
//!
//! With information-theoretic zero-sharing the masks are fresh randomness: see [`crate::fresh`].

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::zero_sharing::ZeroSharing;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_kernel::{Element, bits};
use tacit_program::plan::{OpKind, Rows};
use tacit_session::At;
use tacit_threeparty::products::{Products, Results, Slice};
use tacit_threeparty::{Arithmetic, Party, next, prev};

impl Products for ReplicatedEngine {
    fn party(&mut self) -> &mut Party {
        &mut self.party
    }

    fn at(&self, job: &Job) -> At {
        Self::at(job)
    }

    /// Fills `z` with this party's part of a sharing of zero. Where that doesn't come from streams, it is what was
    /// received less what this party drew, which `prev` holds.
    fn mask<E: Element>(
        &mut self,
        job: &Job,
        place: &Slice,
        arithmetic: &Arithmetic<E>,
        z: &mut [E],
    ) -> Result<(), Error> {
        section(Section::Randomness, || match self.zero_sharing {
            ZeroSharing::Computational => {
                let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
                (arithmetic.difference)(key, prev_key, Self::draw(job, 0), place.block::<E>(), z);
            }
            ZeroSharing::InformationTheoretic => {
                z.fill(E::ZERO);
                (arithmetic.sub)(z, &self.party.prev.get(place.reg).words()[place.bank.clone()]);
            }
        });
        Ok(())
    }
}

impl ReplicatedEngine {
    pub(crate) fn product_begin(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        let results = Results::of(job, kind);
        if self.zero_sharing == ZeroSharing::InformationTheoretic {
            self.draw_fresh(job, &results)?;
        }
        if let (&OpKind::And { a, b, dst }, true) = (kind, self.notes_ands()) {
            return self.noted_and(job, a, b, dst);
        }
        let mut out = self.party.own.take(results.reg());
        let message = self.part(job, kind, &mut out, true)?;
        self.party.own.put(results.reg(), out);
        self.send(job, next(self.me), message)
    }

    /// Whether ANDs outside of circuits are proved.
    fn notes_ands(&self) -> bool {
        self.verified.is_some() && !planted(Mistake::AndsUnnoted)
    }

    /// As [`Self::product_begin`] of ANDs, and notes what the proofs will be about.
    fn noted_and(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let cols = self.party.plan.register(dst.reg).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        let draw = Self::draw(job, 0);
        let mut masks = [0, 1].map(|_| vec![0_u64; dst.count as usize * words.len()]);
        let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
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
        for (bank, rows) in
            [(&self.party.own, a), (&self.party.own, b), (&self.party.prev, a), (&self.party.prev, b)]
        {
            let stride = row_words(bank.shape(rows.reg).cols);
            let plane = noted.next().expect("a plane for every bit that is noted");
            bits::pack_rows(bank.get(rows.reg).words(), stride, Bank::stack(rows), job.cols.clone(), plane);
        }
        let all = Rows::run(dst.reg, 0, dst.count);
        for (plane, masks) in noted.zip(&masks) {
            bits::pack_rows(masks, words.len(), Bank::stack(all), 0..job.cols.len(), plane);
        }
        let mut out = self.party.own.take(dst.reg);
        for index in 0..dst.count {
            let start = dst.row(index) as usize * stride;
            let z = &mut out.words_mut::<u64>()[start + words.start..start + words.end];
            let mask = index as usize * words.len()..(index as usize + 1) * words.len();
            bits::xor(&masks[0][mask.clone()], &masks[1][mask], z);
            let [x, y] = [a, b].map(|rows| &self.party.own.row(rows, index)[words.clone()]);
            let [x_prev, y_prev] = [a, b].map(|rows| &self.party.prev.row(rows, index)[words.clone()]);
            bits::cross(x, x_prev, y, y_prev, z);
        }
        let message = self.party.message_of(job, &Results::Rows(dst), &out);
        self.party.own.put(dst.reg, out);
        self.send(job, next(self.me), message)
    }

    pub(crate) fn product_finish(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        let results = Results::of(job, kind);
        if self.zero_sharing == ZeroSharing::InformationTheoretic {
            self.add_fresh(job, prev(self.me), &results)?;
            return self.add_fresh(job, next(self.me), &results);
        }
        let message = self.recv(job, prev(self.me), results.message_bytes(&self.party.plan, job))?;
        section(Section::Receiving, || {
            let out = self.party.prev.make(results.reg()).bytes_mut();
            results.unpack(&self.party.plan, job, &message, out);
        });
        if matches!(kind, OpKind::And { .. })
            && self.notes_ands()
            && let Some(verified) = &mut self.verified
        {
            verified.proofs.finish(&message);
            verified.proofs.go_on(&mut self.party.session)?;
        }
        if matches!(kind, OpKind::Mul { .. } | OpKind::MatMul { .. }) && self.verified.is_some() {
            self.note_products(job, kind)?;
        }
        self.party.session.mesh().recycle(message);
        Ok(())
    }
}
