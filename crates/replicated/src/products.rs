//! AND, products and matrix products: one element from every party to the next.
//!
//! `P_i` computes `z_i = x_i y_i + x_i y_(i-1) + x_(i-1) y_i + rho_i - rho_(i-1)` and sends it to `P_(i+1)`,
//! where `rho_i` is the stream of `k_i` (Li et al. 2023, equation 2; Araki et al. 2016, section 2.3). The three
//! masks sum to zero and the nine products of components are each in one `z_i`. `P_(i+1)` doesn't hold
//! `k_(i-1)`, so `rho_(i-1)` hides `z_i` from it.
//!
//! **Parts that are zero.** Which components of a product's operands are zero is known where these are made of single
//! components, as the bits of numbers are ([`tacit_program::plan::Op::parts`]). A party whose three terms are all zero
//! sends nothing, and what would hide it is left out: `z_i` has `rho_i` if `P_(i+1)` sends, and `-rho_(i-1)` if `P_i` does.
//! So where `P_i` doesn't send, `P_i` and `P_(i+1)` both know `z_i`, and the sum of the masks still is zero.
//!
//! With information-theoretic zero-sharing the masks are fresh randomness: see [`crate::fresh`].

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use crate::zero_sharing::ZeroSharing;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Buffer, Element, bits};
use tacit_program::plan::{Components, OpKind, Rows};
use tacit_session::At;
use tacit_threeparty::products::{BLOCK_BYTES, Products, Results, Slice};
use tacit_threeparty::{Arithmetic, Party, next, prev};

/// Who sends anything for a product.
#[derive(Clone, Copy)]
pub(crate) struct Sends {
    pub(crate) me: bool,
    pub(crate) prev: bool,
    pub(crate) next: bool,
}

impl Sends {
    const fn all(self) -> bool {
        self.me && self.prev && self.next
    }
}

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
        let sends = self.sends(job);
        section(Section::Randomness, || match self.zero_sharing {
            ZeroSharing::Computational => {
                let (draw, block) = (Self::draw(job, 0), place.block::<E>());
                let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
                if sends.all() {
                    return (arithmetic.difference)(key, prev_key, draw, block, z);
                }
                if sends.next {
                    key.fill_elements(draw, block, z);
                } else {
                    z.fill(E::ZERO);
                }
                let prev = &mut self.party.prev.make(place.reg).words_mut()[place.bank.clone()];
                if sends.me && !sends.prev {
                    prev_key.fill_elements(draw, block, prev);
                    (arithmetic.sub)(z, prev);
                } else if sends.me {
                    let mut hides = vec![E::ZERO; z.len()];
                    prev_key.fill_elements(draw, block, &mut hides);
                    (arithmetic.sub)(z, &hides);
                }
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
        let sends = self.sends(job);
        if !sends.prev {
            let (reg, bytes) = (results.reg(), results.bytes(&self.party.plan));
            self.party.prev.make(reg).bytes_mut()[bytes].fill(0);
        }
        let mut out = self.party.own.take(results.reg());
        if !sends.me {
            self.unsent(job, &results, &mut out)?;
            self.party.own.put(results.reg(), out);
            return Ok(());
        }
        let message = self.part(job, kind, &mut out, true)?;
        #[cfg(feature = "planted")]
        let message = if crate::planted::results_tapped(job.op, out.bytes_mut()) {
            self.party.message_of(job, &results, &out)
        } else {
            message
        };
        self.party.own.put(results.reg(), out);
        self.send(job, next(self.me), message)
    }

    /// Who sends anything for a job's product.
    pub(crate) fn sends(&self, job: &Job) -> Sends {
        let parts = match self.zero_sharing {
            ZeroSharing::Computational => self.party.plan.op(job.op).parts(),
            ZeroSharing::InformationTheoretic => Components::ALL,
        };
        let [me, prev, next] = [self.me, prev(self.me), next(self.me)].map(|party| parts.has(party));
        Sends { me, prev, next }
    }

    /// This party's component of results for which it sends nothing: what hides the next party's, or zeros.
    fn unsent(&mut self, job: &Job, results: &Results, out: &mut Buffer) -> Result<(), Error> {
        let Results::Elements(reg, cols) = results else {
            unreachable!("only products of numbers have parts that are zero")
        };
        with_element!(self.party.plan.register(*reg).domain, E => {
            for from in cols.clone().step_by(BLOCK_BYTES / E::DRAWN) {
                let bank = from..cols.end.min(from + BLOCK_BYTES / E::DRAWN);
                let place = Slice { reg: *reg, bank: bank.clone(), first: from };
                self.mask::<E>(job, &place, &Arithmetic::NUMBERS, &mut out.words_mut()[bank])?;
            }
        });
        Ok(())
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
        let mut message = Vec::new();
        if self.sends(job).prev {
            message = self.recv(job, prev(self.me), results.message_bytes(&self.party.plan, job))?;
            section(Section::Receiving, || {
                let out = self.party.prev.make(results.reg()).bytes_mut();
                results.unpack(&self.party.plan, job, &message, out);
            });
        }
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
